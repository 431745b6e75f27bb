// transpose: another order of the axes.
//
// Comes in: any tensor. Goes out: a view whose dimension i is the input's dimension perm[i].
#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

std::vector<int> permutation(int ndim, const std::vector<int64_t>& given, bool is_given) {
  std::vector<int> perm;
  for (int d = 0; d < ndim; ++d)
    perm.push_back(is_given ? static_cast<int>(given[static_cast<size_t>(d)]) : ndim - 1 - d);
  return perm;
}

Types transpose_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const std::vector<int64_t> given = ctx.given("perm") ? ctx.integers("perm") : std::vector<int64_t>{};
  if (ctx.given("perm")) {
    auto sorted = given;
    std::sort(sorted.begin(), sorted.end());
    // What no data can have is said whatever the input is.
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      return ctx.error(
          fmt::format("transpose: perm [{}] names axis {} twice", fmt::join(given, ", "), *twice),
          "name every axis once, from 0", "perm");
    bool valid = static_cast<int>(sorted.size()) == in.ndim;
    for (size_t d = 0; valid && d < sorted.size(); ++d) valid = sorted[d] == static_cast<int64_t>(d);
    if (!valid)
      return ctx.error(fmt::format("transpose: perm [{}] is not a permutation of the {} axes of {}",
                                   fmt::join(given, ", "), in.ndim, describe(in)),
                       "name every axis once, from 0", "perm");
  }
  const auto perm = permutation(in.ndim, given, ctx.given("perm"));
  ir::Type out = in;
  std::string letters = in.layout.str();
  for (size_t d = 0; d < perm.size(); ++d) {
    out.extents[d] = in.extents[static_cast<size_t>(perm[d])];
    if (!in.layout.empty() && ctx.flag("transpose_layout")) letters[d] = in.layout[perm[d]];
  }
  out.layout = Layout(letters);
  if (ctx.given("output_layout")) {
    out.layout = Layout(ctx.text("output_layout"));
    if (!out.layout.empty() && out.layout.size() != in.ndim)
      return ctx.error(
          fmt::format("transpose: output_layout '{}' does not have {} letters", out.layout.str(), in.ndim),
          {}, "output_layout");
  }
  return std::vector{out};
}

/// A picture stays where it is while its axes take their names along.
op::Places transpose_places(const ir::Node& node) {
  const op::Arguments args(*node.op, node.args);
  const bool is_named_so = ir::attr_flag(args.attr("transpose_layout")) && !args.given("output_layout");
  return is_named_so ? op::Places::kKept : op::Places::kUnknown;
}

}  // namespace

Operator make_transpose() {
  Operator op;
  op.name = "transpose";
  op.summary = "Permutes the axes.";
  op.documentation =
      "Dimension i of the output is dimension perm[i] of the input. Nothing is copied: the result is a view.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "perm",
              .kind = ArgKind::kIntList,
              .documentation = "For each output axis the input axis; reversed order if not given."},
             {.name = "transpose_layout",
              .kind = ArgKind::kBool,
              .default_value = true,
              .documentation = "Whether the layout is permuted too."},
             {.name = "output_layout",
              .kind = ArgKind::kLayout,
              .documentation = "The output's layout, instead of the permuted one."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.transpose(image, perm=[2, 0, 1]), label");
  op.type_rule = transpose_types;
  op.places_of = transpose_places;
  op.define = [](RecipeBuilder& b) {
    const auto ndim = static_cast<size_t>(b.input_type(0).ndim);
    const auto perm =
        permutation(static_cast<int>(ndim), b.given("perm") ? b.integers("perm") : std::vector<int64_t>{},
                    b.given("perm"));
    std::vector<Expr> extents;
    for (int d : perm) extents.push_back(b.extent(0, d));
    b.output_view(0, 0, std::move(extents), perm, std::vector<Expr>(ndim, i64(0)),
                  std::vector<Expr>(ndim, i64(1)));
  };
  return op;
}

}  // namespace galatea::ops
