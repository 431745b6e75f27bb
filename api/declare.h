// Texts by which hosts and plug-ins describe operators: ports and arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/port.h"
#include "base/result.h"
#include "compiler/op/operator.h"

namespace galatea::api {

/// "image: u8|f32[h,w,3] HWC".
Result<Port> parse_port(std::string_view text);
/// "radius: int = 3".
Result<op::ArgSpec> parse_argument(std::string_view text);
/// Texts that end with NULL; NULL: none.
Result<std::vector<Port>> parse_ports(const char* const* texts);
Result<std::vector<op::ArgSpec>> parse_arguments(const char* const* texts);
/// What is wrong with an operator's name, or "".
std::string why_no_name(const std::string& name, const op::Registry& registry);

}  // namespace galatea::api
