// Scalars as CUDA C++ text: types, constants, conversions.
#pragma once

#include <string>

#include "compiler/kernel/expr.h"

namespace galatea::codegen {

std::string c_type(DType type);
/// bool lies in memory as a byte.
std::string memory_type(DType type);
std::string constant_text(const kernel::ExprNode& e);
/// kConvert or kSaturate of what `text` computes.
std::string conversion(const kernel::ExprNode& e, DType from, std::string text);
std::string bitcast(DType to, DType from, const std::string& text);

}  // namespace galatea::codegen
