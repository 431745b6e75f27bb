// What operators on sound share: see sound.h.
#include "stdlib_ops/sound/sound.h"

#include "runtime/constant_tensor.h"

namespace galatea::ops {

Result<bool> is_squared(const TypeContext& ctx) {
  const int64_t power = ctx.integer("power");
  if (power == 1 || power == 2) return power == 2;
  return ctx.error(fmt::format("{}: power must be 1 or 2, not {}", ctx.op().name, power),
                   "1 gives magnitudes, 2 their squares", "power");
}

int constant_vector(RecipeBuilder& b, const std::string& name, const std::vector<double>& values,
                    DType type) {
  std::vector<Cell> cells;
  for (const double value : values) cells.push_back(cell_from_double(type, value));
  return b.constant_input(name, std::make_shared<runtime::ConstantTensor>(
                                    type, std::vector{static_cast<int64_t>(values.size())}, cells));
}

std::string sound_example(const std::string& expression) {
  return "sound = fn.random.normal(shape=[8000], dtype=types.FLOAT)\nreturn " + expression + "\n";
}

}  // namespace galatea::ops
