// Random legal kernels, and the comparison of backends on them.
//
// Comes in: a seed. Goes out: a kernel with parameters and inputs; a backend's disagreement with the stage
// interpreter, shrunk to a small case and printed as kernel text. A new backend is one more entry in a list
// of Backend.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "runtime/kernel_abi.h"

namespace galatea::testing {

/// What runs a kernel. `seed` is for backends with choices of their own (random schedules). Throwing counts
/// as a mismatch.
struct Backend {
  std::string name;
  std::function<void(const kernel::Kernel& kernel, const runtime::KernelCall& call, uint64_t seed)> run;
};

/// How GoogleTest prints a backend.
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

struct FuzzCase {
  kernel::Kernel kernel;
  std::vector<uint64_t> params;
  std::vector<int> extent_params;  ///< which parameters are extents
  uint64_t seed = 0;               ///< of the inputs' values and of the backend's choices
};

FuzzCase make_fuzz_case(uint64_t seed);
/// What differs between the stage interpreter and the backend; nothing if all bytes agree (NaN equals NaN).
std::optional<std::string> find_mismatch(const FuzzCase& c, const Backend& backend);
/// A smaller case that still differs.
FuzzCase shrink(FuzzCase c, const Backend& backend);
/// Kernel text, parameters, extents.
std::string describe(const FuzzCase& c);

}  // namespace galatea::testing
