// What a user says of a kernel of his own, read: inputs, outputs, launch, and the functions of the text.
//
// Comes in: texts. Goes out: the same in parts, or what is wrong with one. Nothing here knows which inputs a
// call has.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "compiler/op/text_kernel.h"
#include "stdlib_ops/user/extent_text.h"

namespace galatea::ops {

/// "image: u8[h, w, 3] HWC"; "strength: f32" is one number.
struct KernelPort {
  std::string name;
  DType dtype = DType::kF32;
  bool is_number = false;  ///< without brackets: the function takes it by value
  std::vector<ExtentText> extents;
  Layout layout;
};
/// What is wrong, and what to do.
struct Fault {
  std::string message, help;
  std::string argument = {};  ///< in which it stands
};
/// `is_output`: extents may be any expression; those of an input are a name, a number or "?".
std::expected<KernelPort, Fault> read_kernel_port(std::string_view text, bool is_output);

/// "<<<(ceil_div(w, 16), ceil_div(h, 16)), (16, 16)>>>": blocks and threads along x, y and z.
struct KernelLaunch {
  std::array<ExtentText, 3> grid;
  std::array<int, 3> block = {1, 1, 1};
};
std::expected<KernelLaunch, Fault> read_kernel_launch(std::string_view text);

/// A function `__global__ void NAME(…)` of a text.
struct KernelFunction {
  std::string name;
  std::vector<std::string> parameters;  ///< as written
  size_t word = 0;                      ///< place of `__global__`
  uint32_t line = 1;                    ///< of its name, in the text
};
/// All of them, in order; comments and literals are passed over.
std::vector<KernelFunction> find_kernel_functions(std::string_view text);
/// Line of an `extern __shared__`, whose size nobody would say; 0: there is none.
uint32_t find_unsized_shared(std::string_view text);
/// Line of an `#include`, of which there are none; 0: the text has none.
uint32_t find_include(std::string_view text);
/// Line of a `#define` or `#undef` of what the text around the user's is made of; 0: there is none.
uint32_t find_taken_name(std::string_view text);
/// The element type and the number of dimensions of a parameter that is written
/// `galatea::Tensor<const uint8_t, 3> image`; nothing where it is written otherwise, which may be as good.
struct TensorParameter {
  std::optional<DType> type;  ///< empty: a name that only the compiler knows
  bool is_const = false;
  int rank = -1;
};
std::optional<TensorParameter> read_tensor_parameter(std::string_view parameter);

}  // namespace galatea::ops
