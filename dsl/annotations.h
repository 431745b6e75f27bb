// What annotations say of values.
#pragma once

#include <string>

#include "dsl/ast.h"

namespace galatea::dsl {

/// The type that an annotation names, as Python calls it: "int" of `Optional[int]` and of `int | None`, "list" of
/// `List[int]`; "" where there is no annotation.
std::string annotated_type(const Expression* annotation);

}  // namespace galatea::dsl
