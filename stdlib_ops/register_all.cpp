// See register_all.h: the operators of operators.def, in its order.
#include "stdlib_ops/register_all.h"

#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

void add_each(op::Registry& registry, std::vector<op::Operator> table) {
  for (op::Operator& op : table) registry.add(std::move(op));
}

}  // namespace

void register_all(op::Registry& registry) {
#define GALATEA_OPERATOR(name) registry.add(make_##name());
#define GALATEA_OPERATORS(name) add_each(registry, make_##name());
#include "stdlib_ops/operators.def"
#undef GALATEA_OPERATORS
#undef GALATEA_OPERATOR
}

}  // namespace galatea::ops
