// Operators in Markdown, as short as a pop-up wants them.
#pragma once

#include <string>

#include "compiler/op/operator.h"

namespace galatea::tools::lsp {

/// "fn.resize(image, *, size, …)", whole.
std::string signature_of(const op::Operator& op);
/// What stands for an argument in it: "size: float list = None".
std::string argument_label(const op::ArgSpec& argument);
std::string argument_markdown(const op::ArgSpec& argument);
std::string operator_markdown(const op::Operator& op);

}  // namespace galatea::tools::lsp
