// Which operators DALI has.
#pragma once

#include <string_view>

namespace galatea::dsl {

bool is_dali_operator(std::string_view path);
/// Whether operators stand below it: "random", "experimental.decoders".
bool is_dali_namespace(std::string_view path);

}  // namespace galatea::dsl
