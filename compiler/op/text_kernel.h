// A kernel of the user's own: CUDA text that the plan runs as it runs the kernels that it makes.
//
// Comes in: what an operator's definition found in the text (stdlib_ops/user/cuda_kernel.cpp). Goes out: what
// the plan, the code generators (codegen/cuda/text_kernel.h) and messages need. Nothing here says what the
// kernel computes: it reads its inputs whole, and fuses with nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "compiler/kernel/expr.h"

namespace galatea::op {

/// How the text of a kernel writes an element type; halves have no name there.
constexpr std::string_view c_name(DType type) {
  constexpr std::string_view kNames[kNumDTypes] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t",
                                                   "int8_t",  "int16_t",  "int32_t",  "int64_t",
                                                   "",        "float",    "double",   "bool"};
  return kNames[static_cast<int>(type)];
}

struct TextKernel {
  struct Argument {
    DType type = DType::kF32;
    int ndim = 0;
    bool by_value = false;  ///< an input without dimensions: the function takes the number itself
  };
  std::string function;                  ///< its name in the text
  std::string text;                      ///< as the user wrote it, but that `__global__` is `__device__`
  std::string file;                      ///< where the text stands, for messages
  uint32_t line = 1;                     ///< of the text's first character
  std::array<int, 3> block = {1, 1, 1};  ///< threads of a block
  std::vector<Argument> inputs, outputs;
};

/// One more kernel of a lowering: a text, and how many blocks a sample takes along x, y and z (i64, checked
/// to be at least 0 and to have a product below 2^31).
struct TextCall {
  TextKernel kernel;
  std::array<kernel::Expr, 3> grid;
};

}  // namespace galatea::op
