// The passes over kernels: which there are, in which order they run, and the runner. None of them changes a
// value by a bit.
//
// Comes in: a verified kernel from the plan. Goes out: a verified kernel that computes the same outputs (and
// raises the same flags), ready for a schedule. Each pass is one file with one function; a pass never calls
// another.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

struct KernelPass {
  std::string_view name;
  std::string_view effect;  ///< one line for people
  void (*run)(Kernel& kernel);
  bool fuses = false;  ///< moves work between stages; left out where nothing shall be fused
};

/// All passes in the order in which they run; a pass may stand there twice.
const std::vector<KernelPass>& kernel_passes();

struct KernelPassOptions {
  bool fuse = true;               ///< false: nothing is inlined, narrowed or sunk (for comparing)
  std::vector<std::string> skip;  ///< names of passes to leave out
  std::string stop_after;         ///< the last pass to run; empty: all
  bool verify_each = false;       ///< after each pass, not after the last alone
  /// Called after each pass that changed the kernel, with the pass and the new kernel (dumps).
  std::function<void(const KernelPass&, const Kernel&)> on_change;
};

/// Runs the passes and verifies what they made; InternalError names the pass that went wrong.
Kernel run_kernel_passes(Kernel kernel, const KernelPassOptions& options = {});

// ---- the passes

/// Stages that no output needs disappear.
void remove_dead_stages(Kernel& kernel);
/// Stages that compute the same are computed once.
void merge_equal_stages(Kernel& kernel);
/// Exact rewrites of expressions: f32(saturate_u8(x)) becomes min(max(round(x), 0), 255), redundant
/// conversions go.
void simplify(Kernel& kernel);
/// Windows with integer weights over small integers add up in i16.
///   band s0:f32 in f32 { weight = load(table, tap)  source = load(in0:u8, …) }   ->   band s0:i16 in i16 {
///   weight = select(eq(tap, 0), 1, -2) … }, read as convert.f32(load(s0:i16, …))
void integer_bands(Kernel& kernel);
/// An output map that permutes the axes of what it reads computes in the order of its source; the output's
/// axis_of permutes.
///   map s1 [C, H, W] { load(s0, axis1, axis2, axis0) }  output s1 [0, 1, 2]   ->   map s1 [H, W, C] {
///   load(s0, axis0, axis1, axis2) }  output s1 [2, 0, 1]
void permute_outputs(Kernel& kernel);
/// A band over a map that takes groups of places apart runs on the groups, and is taken apart itself; so do maps
/// whose result is kept for several readers.
///   map s1 [F, T] { s0[axis1 / 16, axis0, axis1 % 16] }  band s2 [M, T] { source = s1[first + tap, axis1] }   ->
///   band s1 [G, M, 16] { source = s0[axis0, first + tap, axis2] }  map s2 [M, T] { s1[axis1 / 16, axis0, axis1 % 16] }
void regroup_bands(Kernel& kernel);
/// Maps are computed where they are read, where that costs nothing twice.
///   map s0 { f(in0[i]) }  map s1 { g(s0[i]) }   ->   map s1 { g(f(in0[i])) }
void inline_maps(Kernel& kernel);
/// A stage whose only reader wants a window, or the mirror image, computes just that.
///   band s0 [H, W] { first = load(t, axis1) }  map s1 [h, w] { s0[axis0 + p0, p1 - axis1] }   ->   band s0
///   [h, w] { first = load(t, p1 - axis1) … }  map s1 { s0[axis0, axis1] }
void narrow_producers(Kernel& kernel);
/// A map over one band or reduction becomes the last step of that stage.
///   band s0 { … finish = f(acc) }  map s1 { g(s0[i, j]) }   ->   band s1 { … finish = g(f(acc)) }
void sink_into_store(Kernel& kernel);
/// A byte computed from one other byte is looked up in a table that the sample makes first.
///   map s0:u8 { f(in0[i]) }   ->   map s0:u8 [256] { f(u8(axis0)) }  map s1:u8 { s0[in0[i]] }
void tabulate(Kernel& kernel);
/// Integers are computed in the fewest bits that hold every value on the way.
///   saturate.u8(sub(convert.i32(a:u8), convert.i32(b:u8)))   ->   saturate.u8(sub(convert.i16(a),
///   convert.i16(b)))
void narrow_arithmetic(Kernel& kernel);
/// Mathematical functions become basic operations (expand_math.h).
void expand_math_functions(Kernel& kernel);

}  // namespace galatea::kernel
