// Which operators DALI has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galatea::dsl {

struct RenamedOperator {
  std::string_view from, to;
};
/// The operator that DALI calls so today; empty: `path` is no old name.
std::string_view renamed_operator(std::string_view path);
/// All such paths.
std::vector<std::string> old_operator_names();
/// The argument that DALI calls so today: empty if it has no effect any more, nullptr if `argument` is no old
/// name.
const std::string_view* renamed_argument(std::string_view path, std::string_view argument);
/// The operator of a class of `ops`: "readers.COCO" is "readers.coco".
std::string operator_of_class(std::string_view path);

std::vector<std::string> dali_operator_names();
bool is_dali_operator(std::string_view path);
/// Whether operators stand below it: "random", "experimental.decoders".
bool is_dali_namespace(std::string_view path);

}  // namespace galatea::dsl
