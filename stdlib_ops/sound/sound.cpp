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

namespace {

/// How many samples one step along axis d passes; of an empty tensor, some number that divides.
Expr samples_of_step(const Axes& extents, size_t d) {
  Expr samples = i64(1);
  for (size_t k = d + 1; k < extents.size(); ++k) samples = samples * extents[k];
  return max(samples, i64(1));
}

}  // namespace

Samples::Samples(RecipeBuilder& b) : b_(b), extents_(b.extents(0)), count_(i64(1)) {
  for (const Expr& extent : extents_) count_ = count_ * extent;
  if (extents_.size() == 1) return;
  row_ = b.map("samples", b.input_type(0).dtype, {count_}, [&](const Axes& at) {
    Axes place;
    Expr rest = at[0];
    for (size_t d = 0; d + 1 < extents_.size(); ++d) {
      place.push_back(rest / samples_of_step(extents_, d));
      rest = rest % samples_of_step(extents_, d);
    }
    if (!extents_.empty()) place.push_back(rest);
    return b.load(0, place);
  });
}

Expr Samples::number(const Axes& at) const {
  Expr number = i64(0);
  for (size_t d = 0; d < at.size(); ++d) number = number + at[d] * samples_of_step(extents_, d);
  return number;
}

Expr Samples::load(const Expr& number, Border border) const {
  return extents_.size() == 1 ? b_.load(0, {number}, border) : b_.load(row_, {number}, border);
}

std::string sound_example(const std::string& expression) {
  return "sound = fn.random.normal(shape=[8000], dtype=types.FLOAT)\nreturn " + expression + "\n";
}

}  // namespace galatea::ops
