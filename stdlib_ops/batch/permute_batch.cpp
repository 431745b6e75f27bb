// permute_batch: the tensor of another sample of the batch.
//
// Comes in: any tensor, and the place of the sample whose tensor is wanted. Goes out: that tensor; no bytes
// move.
#include <algorithm>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Each sample picks among all of them.
constexpr size_t kMaxPlaces = 4096;

Types permute_types(const TypeContext& ctx) {
  if (ctx.is_per_sample("indices")) {
    if (const ir::Type& type = ctx.arg_type("indices"); type.static_volume() != 1)
      return ctx.error(fmt::format("permute_batch: indices is {}; a sample has one", describe(type)),
                       "give a scalar for each sample, as fn.batch_permutation() does", "indices");
    return std::vector{ctx.input(0)};
  }
  const std::vector<int64_t> places = ctx.integers("indices");
  if (places.empty())
    return ctx.error("permute_batch: indices is an empty list", "name a place for each sample of the batch",
                     "indices");
  if (places.size() > kMaxPlaces)
    return ctx.error(
        fmt::format("permute_batch: indices has {} places, 1 to {} are taken", places.size(), kMaxPlaces),
        "give a scalar for each sample, as fn.batch_permutation() does", "indices");
  if (const auto bad = std::ranges::find_if(places, [](int64_t place) { return place < 0; });
      bad != places.end())
    return ctx.error(fmt::format("permute_batch: {} is no place in a batch", *bad), "places count from 0",
                     "indices");
  return std::vector{ctx.input(0)};
}

Expr place_of_partner(RecipeBuilder& b) {
  if (b.is_per_sample("indices")) return b.arg_list("indices", 1, DType::kI64)[0];
  const int count = b.arg_length("indices");
  const Expr own = b.place_in_batch();
  b.check(own < i64(count),
          fmt::format("indices has {} elements, and none for place {{}} of the batch", count), {own},
          "name a place for each sample of the batch, or take them from fn.batch_permutation()", "indices");
  return choose(own, b.arg_list("indices", count, DType::kI64));
}

}  // namespace

Operator make_permute_batch() {
  Operator op;
  op.name = "permute_batch";
  op.kind = OperatorKind::kNative;
  op.summary = "For each sample the tensor of another one of its batch.";
  op.documentation =
      "out[i] = in[indices[i]], without a copy. Places count from 0 in the batch as it is delivered, samples "
      "that are left out (on_error=\"skip\") included; behind an if they stay what they were, and the "
      "sample wanted must take the same way. See docs/batches.md.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "indices",
              .kind = ArgKind::kIntList,
              .required = true,
              .per_sample = true,
              .documentation = "The place of the sample wanted: a scalar for each sample, or a list with an "
                               "element for each place of the batch. Places may repeat."}};
  op.devices = {"cpu", "gpu"};
  op.sees_batch = [](const ir::Node&) { return true; };
  op.example = image_example("fn.permute_batch(image, indices=fn.batch_permutation()), label");
  op.type_rule = permute_types;
  op.define = [](RecipeBuilder& b) { b.output_of_place(0, 0, place_of_partner(b)); };
  return op;
}

}  // namespace galatea::ops
