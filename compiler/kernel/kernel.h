// Kernel IR: what is computed, stage by stage, without loops or lanes.
//
// Comes in: stages written by operators' recipes. Goes out: a Kernel for schedule and lowering (loops.h), the
// stage interpreter and the program cache. Semantics before nodes:
//
// - A stage is a total function from its domain (the box [0, extent) per axis) to one element of `type`. A
//   stage may load kernel inputs and earlier stages only. Extents are expressions without axes.
// - map:    value = body(axes).
// - band:   acc = 0; for k in 0 .. taps-1, in order: acc = acc + weight(axes, k) * source(axes, k);
//           value = finish(acc).
//           i16 and i32 accumulators add exactly (weights must make overflow impossible); f32
//           accumulators use acc = fma(weight, source, acc). `source` is converted from its own type by
//           kConvert before the multiplication. `weight` and `source` may use kTap; `source` is a load in
//           which exactly one index (that of `band_axis`) is first(axis) + tap, with a border. Windows
//           (Gaussian, Laplacian) are bands whose weights do not depend on the axis.
// - reduce: value = finish(combine of body(axes, reduce axes) over the reduction box, in `accumulator`).
// Integers wrap and are exact in any order.
//           Sums of floats accumulate in f64: what 6 million elements lose in f32 shows in the third digit,
//           and what they lose in f64 is far below the last digit of the f32 that the result becomes. Their
//           body is f64, or f32 where eight of them may be added in f32 (squares: exact enough, and quicker).
//           Float accumulators (sum, min and max alike: NaN and signed zeros make even min order-dependent)
//           have a fixed tree: element number n (row-major in the reduction box) goes to lane n % 16; each
//           lane combines its elements in order as op(lane, element), starting from the neutral element; then
//           lanes combine as op(lane[i], lane[i+8]), then +4, +2, +1. Of a sum whose body is f32, an element
//           of a lane is a leaf: f64(the next eight of the lane's elements, or what is left, added in order
//           in f32, starting from +0). Neutral: sum +0; min the type's largest
//           value (floats: +inf); max its smallest (floats: -inf). An empty box gives the neutral element.
//           `body` has the type of the accumulator, but for those sums.
// - histogram: the last axis of the domain is the bins:
//           value[…, b] = finish(how many elements r of the reduction box have body(…, r) = b), counted in
//           `accumulator`, an integer, which wraps. `body` is i64 and may use the reduction axes and all axes
//           but the last; an element whose body is not in [0, bins) is counted nowhere.
// - scan:   inclusive prefixes along `scan_axis`: value[…, i, …] = finish(op(…op(op(neutral, body(…, 0, …)),
//           body(…, 1, …))…, body(…, i, …))), from the first element to the last, with the operations and
//           neutral elements of reduce. Integers wrap, so they may be combined in any grouping. `body` has
//           the type of the accumulator.
// - A u8 element type *is* rounded and clamped at that stage, whether it is ever stored or not: a body must
//   have the stage's type, so it ends in a conversion.
// - f16 stages hold halves; bodies compute in f32 and convert.
// - Expressions are strict: both sides of a select are computed (so both may load, and both may raise a
//   flag). A load with a border from an empty target gives any value: operators refuse empty images before
//   their kernels run.
// - A stage on which no output depends is not computed (and raises no flag).
// - Kernels are total: no failure, no allocation. Integer division by zero gives 0 and ORs
// kFlagDivisionByZero into the sample's status word.
//
// Invariant: a canonical kernel holds no names, spans or numeric constants other than structural ones (0, 1,
// channel counts, small windows): every scalar that may vary is a kParam.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/kernel/expr.h"

namespace galatea::kernel {

enum class StageForm : uint8_t { kMap, kBand, kReduce, kHistogram, kScan };
enum class Combiner : uint8_t { kSum, kMin, kMax };

/// Lanes of reductions of floats, and how many elements of a lane make a leaf of a sum whose body is f32.
inline constexpr int kReduceLanes = 16;
inline constexpr int kLeafElements = 8;

/// How one index of one load depends on the stage's element.
enum class Access : uint8_t { kPoint, kAffine, kConstant, kWindow, kBand, kWhole, kGather };

struct Stage {
  std::string name;  ///< for people; dropped in the canonical form
  StageForm form = StageForm::kMap;
  DType type = DType::kF32;
  std::vector<Expr> extents;  ///< i64 each; constants where known
  Expr body;                  ///< all but band
  // band
  int band_axis = 0;  ///< axis of the domain along which the band runs
  Expr first;         ///< i64, may use axis(band_axis) (a load from a table stage, or affine)
  Expr taps;          ///< i64, no axes; at least 1 where the domain is not empty
  Expr weight;
  Expr source;  ///< the load; its band index is first + tap()
  // all but map
  DType accumulator = DType::kF32;
  // reduce, scan
  Combiner combiner = Combiner::kSum;
  // reduce, histogram
  std::vector<Expr> reduce_extents;
  // scan
  int scan_axis = 0;  ///< axis of the domain along which prefixes are taken
  Expr finish;        ///< in terms of kAcc (and axes); empty means: the accumulator, converted to `type`
  Span span;

  int rank() const { return static_cast<int>(extents.size()); }
};

/// A tensor that the kernel reads. Strides come with the call; `dense_axes` says how many innermost axes are
/// known to lie densely (stride 1 innermost, then products), so that rows can be loaded as vectors. Extents
/// are expressions like those of stages.
struct KernelInput {
  std::string name;
  DType type = DType::kU8;
  std::vector<Expr> extents;
  int dense_axes = 0;
};

/// A stage written to an output tensor. Output dimension d is the stage's axis axis_of[d] (so HWC → CHW is
/// {2, 0, 1}).
struct KernelOutput {
  int stage = 0;
  std::vector<int> axis_of;
  bool streaming = false;  ///< straight into the batch: stores need not stay in the cache
  int dense_axes = 0;      ///< of the output tensor, as in KernelInput
};

struct KernelParam {
  std::string name;
  DType type = DType::kI64;
};

struct Kernel {
  std::string name;  ///< "resize+crop_mirror_normalize"
  std::vector<KernelParam> params;
  std::vector<KernelInput> inputs;
  std::vector<Stage> stages;  ///< in order of dependence
  std::vector<KernelOutput> outputs;
};

/// Whether a reduction adds up leaves.
inline bool has_leaves(const Stage& stage) {
  return stage.form == StageForm::kReduce && stage.combiner == Combiner::kSum &&
         stage.accumulator == DType::kF64 && stage.body && stage.body.type() == DType::kF32;
}

/// Text form; read_kernel(to_text(k)) gives an equal kernel.
std::string to_text(const Kernel& kernel);
Result<Kernel> read_kernel(const std::string& text, SourceMap& sources);
/// What is legal: definition before use, types, ranks, forms as described above. The message names the stage.
Status verify(const Kernel& kernel);
/// Names and spans dropped, numbers turned into parameters is the plan's work; this gives equal text for
/// equal canonical kernels.
std::string canonical_text(const Kernel& kernel);
uint64_t hash_of(const Kernel& kernel);

/// The access of index `i` of a load that occurs in stage `stage`.
Access classify(const Kernel& kernel, const Stage& stage, const ExprNode& load, int i);
/// index = scale * axis + offset with scale and offset free of axes: true if so (axis is -1 where no axis
/// occurs).
struct Affine {
  int axis = -1;
  Expr scale, offset;
};
bool match_affine(const Expr& index, Affine* out);
/// Per stage: whether an output depends on it.
std::vector<bool> needed_stages(const Kernel& kernel);

}  // namespace galatea::kernel
