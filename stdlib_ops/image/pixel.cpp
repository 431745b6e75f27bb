// pixel: what a pixel function of the language becomes, an element computed from its coordinates.
//
// Comes in: images, tables and scalars, and the text of one expression (compiler/kernel/reader.h) over axis0,
// axis1, axis2 (row, column, channel), loads of the inputs in that order, their extents and elements. Goes
// out: one map stage.
//
// The expression is an argument and not an operator of its own, so that a graph with pixel functions prints,
// reads back, merges duplicates and is cached like any other. Everything in the text is checked by the type
// rule: a graph may have been read from a file.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "compiler/ir/attr.h"
#include "compiler/kernel/reader.h"
#include "compiler/op/arguments.h"
#include "compiler/op/pixel_axes.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

using kernel::ExprKind;
using kernel::SymbolKind;
using op::kMaxPixelExtent;

constexpr int kMaxPixelInputs = 64;

Result<Expr> read_body(const std::string& text) {
  SourceMap sources;
  auto body = kernel::read_expr(text, sources);
  if (!body) {
    // Places in this text mean nothing to anybody else.
    for (Diagnostic& diagnostic : body.error().diagnostics) diagnostic.span = {};
  }
  return body;
}

// ---- types

/// What is wrong with one node of the expression; empty: nothing.
std::string fault(const TypeContext& ctx, const Expr& e, int rank) {
  auto has_input = [&](int64_t k) { return k >= 0 && k < ctx.num_inputs(); };
  switch (e->kind) {
    case ExprKind::kConst:
    case ExprKind::kOp:
      return {};
    case ExprKind::kAxis:
      return e->index < rank ? "" : fmt::format("axis{} of {} axes", e->index, rank);
    case ExprKind::kLoad: {
      if (e->target.kind != kernel::LoadTarget::Kind::kInput || !has_input(e->target.index))
        return "a load of something that is no input";
      const ir::Type& type = ctx.input(e->target.index);
      if (e->type != type.dtype || static_cast<int>(e->args.size()) != type.ndim || type.ndim == 0)
        return fmt::format("a load that does not fit input {}", e->target.index);
      return e->border == Border::kNone ? "a load without a border" : "";
    }
    case ExprKind::kSymbol: {
      if (!has_input(e->a)) return "a symbol of something that is no input";
      const ir::Type& type = ctx.input(static_cast<int>(e->a));
      const bool extent = e->symbol == SymbolKind::kExtent && e->type == DType::kI64 && e->b >= 0 &&
                          e->b < static_cast<int64_t>(op::pixel_axes(type)->size());
      const bool element = e->symbol == SymbolKind::kElement && e->type == type.dtype && e->b >= 0 &&
                           e->b < type.static_volume();
      return extent || element ? "" : fmt::format("a symbol that does not fit input {}", e->a);
    }
    default:
      return "something that is neither arithmetic nor a load of an input";
  }
}

Types pixel_types(const TypeContext& ctx) {
  const std::string name = ctx.text("function");
  const int64_t rank = ctx.integer("rank"), like = ctx.integer("like");
  if (rank != 2 && rank != 3)
    return ctx.error(fmt::format("{}: images have 2 or 3 axes, not {}", name, rank));
  for (int k = 0; k < ctx.num_inputs(); ++k) {
    if (!op::pixel_axes(ctx.input(k)))
      return ctx.error(fmt::format("{}: a pixel function cannot read {}", name, describe(ctx.input(k))),
                       "it reads images, tables of up to three dimensions, and scalars");
  }
  if (like >= ctx.num_inputs() || (like >= 0 && ctx.input(static_cast<int>(like)).ndim < 2))
    return ctx.error(fmt::format("{}: there is no image {}", name, like));
  GALATEA_TRY(check_length(ctx, "size", 2));
  if (given_static(ctx, "size"))
    for (double n : ctx.numbers("size"))
      if (!(n > 0) || n > static_cast<double>(kMaxPixelExtent))
        return ctx.error(fmt::format("{}: the size {} is not an extent of an image", name, n),
                         fmt::format("extents are at least 1 and at most {}", kMaxPixelExtent), "size");
  if (ctx.given("channels") && (ctx.integer("channels") < 1 || ctx.integer("channels") > kMaxPixelExtent))
    return ctx.error(fmt::format("{}: {} channels", name, ctx.integer("channels")),
                     "an image has at least 1 channel", "channels");
  GALATEA_ASSIGN(const Expr body, read_body(ctx.text("body")));
  std::string wrong;
  kernel::for_each_node(body, [&](const Expr& e) {
    if (wrong.empty()) wrong = fault(ctx, e, static_cast<int>(rank));
  });
  if (!wrong.empty()) return ctx.error(fmt::format("{}: the expression holds {}", name, wrong));

  const ir::Type* image = like >= 0 ? &ctx.input(static_cast<int>(like)) : nullptr;
  ir::Type out;
  out.dtype = ctx.dtype("dtype", image != nullptr ? image->dtype : DType::kF32);
  out.ndim = static_cast<int>(rank);
  out.layout = op::pixel_layout(out.ndim, image);
  out.device = image != nullptr ? image->device : ir::Device::kCpu;
  out.extents.assign(static_cast<size_t>(rank), -1);
  const std::vector<int> at = *op::pixel_axes(out);
  if (image != nullptr) {
    const std::vector<int> from = *op::pixel_axes(*image);
    for (size_t i = 0; i < at.size() && i < from.size(); ++i)
      out.extents[static_cast<size_t>(at[i])] = image->extents[static_cast<size_t>(from[i])];
  } else if (!ctx.given("size")) {
    return ctx.error(fmt::format("{}: neither an image nor a size", name), "give size=[h, w]");
  }
  if (rank == 3 && !ctx.given("channels") && (image == nullptr || image->ndim < 3))
    return ctx.error(fmt::format("{}: the number of channels is not known", name), "give channels=");
  if (ctx.given("size")) {
    for (size_t i = 0; i < 2; ++i) {
      int64_t& extent = out.extents[static_cast<size_t>(at[i])];
      extent = -1;
      if (!given_static(ctx, "size")) continue;
      const auto size = ctx.numbers("size");
      extent = std::max<int64_t>(1, std::llround(static_cast<float>(size[size.size() > 1 ? i : 0])));
    }
  }
  if (rank == 3 && ctx.given("channels")) out.extents[static_cast<size_t>(at[2])] = ctx.integer("channels");
  return std::vector{out};
}

// ---- meaning

/// The expression of the text in terms of this node: coordinates become axes of the stage, and the indices of
/// loads are put into the order of the input's layout.
class Import {
 public:
  Import(RecipeBuilder& b, const std::vector<Expr>& extents) : b_(b), extents_(extents) {
    for (int k = 0; k < b.num_inputs(); ++k) axes_.push_back(*op::pixel_axes(b.input_type(k)));
    at_ = *op::pixel_axes(b.output_type(0));
  }

  Expr body(const Expr& text, const Axes& stage_axes) {
    stage_axes_ = &stage_axes;
    done_.clear();
    numbers_ = 0;
    return run(text);
  }

 private:
  Expr run(const Expr& e) {
    if (auto found = done_.find(e.get()); found != done_.end()) return found->second;
    Expr out = node(e);
    done_.emplace(e.get(), out);
    return out;
  }

  Expr node(const Expr& e) {
    if (e->kind == ExprKind::kAxis)
      return (*stage_axes_)[static_cast<size_t>(at_[static_cast<size_t>(e->index)])];
    if (e->kind == ExprKind::kLoad) return load(e);
    if (e->kind == ExprKind::kSymbol) {
      const auto k = static_cast<int>(e->a);
      if (e->symbol == SymbolKind::kElement) return b_.element(k, e->b);
      return b_.extent(k, axes_[static_cast<size_t>(k)][static_cast<size_t>(e->b)]);
    }
    if (e->kind == ExprKind::kConst) return number(e);
    if (e->args.empty()) return e;
    kernel::Operands args;
    for (const Expr& arg : e->args) args.push_back(run(arg));
    return kernel::detail::with_args(*e, std::move(args));
  }

  /// Numbers of the text are parameters of the kernel; small integers are places in a window or channels.
  Expr number(const Expr& e) {
    constexpr int64_t kStructure = 16;
    if (is_bool(e->type)) return e;
    const int64_t value = is_float(e->type) ? kStructure + 1 : kernel::const_value(e);
    if (value >= -kStructure && value <= kStructure) return e;
    ++numbers_;
    return kernel::user_constant(e->type, e->value, (b_.node_id() * 0x9E3779B97F4A7C15U + numbers_) << 1 | 1);
  }

  Expr load(const Expr& e) {
    const int input = e->target.index;
    const std::vector<int>& axes = axes_[static_cast<size_t>(input)];
    std::vector<Expr> indices(e->args.size());
    bool inside = true;
    for (size_t i = 0; i < indices.size(); ++i) {
      const int dim = axes[i];
      const Expr index = run(e->args[i]);
      inside = inside && is_inside(index, input, dim);
      indices[static_cast<size_t>(dim)] = index;
    }
    return b_.load(input, std::move(indices), inside ? Border::kNone : e->border, e->fill);
  }

  /// Whether the index lies in the input for every element of the output.
  bool is_inside(const Expr& index, int input, int dim) const {
    const Expr extent = b_.extent(input, dim);
    if (kernel::is_const(index) && kernel::is_const(extent))
      return kernel::const_value(index) >= 0 && kernel::const_value(index) < kernel::const_value(extent);
    if (index->kind != ExprKind::kAxis) return false;
    const Expr& range = extents_[static_cast<size_t>(index->index)];
    if (kernel::is_const(range) && kernel::is_const(extent))
      return kernel::const_value(range) <= kernel::const_value(extent);
    if (range->kind != ExprKind::kSymbol || extent->kind != ExprKind::kSymbol) return same(range, extent);
    auto root = [&](const Expr& symbol) {
      return extent_root(b_.graph(), static_cast<ir::ValueId>(symbol->a), static_cast<int>(symbol->b));
    };
    return root(range) == root(extent);
  }

  RecipeBuilder& b_;
  const std::vector<Expr>& extents_;
  std::vector<std::vector<int>> axes_;  ///< of each input
  std::vector<int> at_;                 ///< dimension of each coordinate
  const Axes* stage_axes_ = nullptr;
  uint64_t numbers_ = 0;  ///< how many numbers of the text came by
  std::unordered_map<const kernel::ExprNode*, Expr> done_;
};

std::vector<Expr> output_extents(RecipeBuilder& b) {
  const std::vector<int> at = *op::pixel_axes(b.output_type(0));
  std::vector<Expr> extents(at.size());
  auto extent_of = [&](size_t coordinate) -> Expr& { return extents[static_cast<size_t>(at[coordinate])]; };
  if (const auto like = static_cast<int>(b.integer("like")); like >= 0) {
    const std::vector<int> from = *op::pixel_axes(b.input_type(like));
    for (size_t i = 0; i < at.size() && i < from.size(); ++i) extent_of(i) = b.extent(like, from[i]);
  }
  if (b.given("size")) {
    const std::array<Expr, 2> size = warp_size(b);
    for (size_t i = 0; i < size.size(); ++i) extent_of(i) = size[i];
  }
  if (at.size() == 3 && b.given("channels")) extent_of(2) = i64(b.integer("channels"));
  return extents;
}

/// Coordinates are i32 in the text, and images whose edge is repeated must have one.
void check_extents(RecipeBuilder& b, const Expr& body, const std::vector<Expr>& extents) {
  auto check = [&](const Expr& extent) {
    b.check(extent <= i64(kMaxPixelExtent),
            fmt::format("an extent of {{}} is too large for a pixel function: at most {}", kMaxPixelExtent),
            {extent});
  };
  Expr empty = truth(false);
  for (const Expr& extent : extents) {
    check(extent);
    empty = empty | equal(extent, i64(0));
  }
  const auto like = static_cast<int>(b.integer("like"));
  const bool own_size = b.given("size") || b.given("channels");
  std::map<int, bool> read;  // by input: with a border that repeats
  kernel::for_each_node(body, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad) read[e->target.index] |= e->border != Border::kConstant;
    if (e->kind == ExprKind::kSymbol && e->symbol == SymbolKind::kExtent && e->a != like)
      read.try_emplace(static_cast<int>(e->a), false);
  });
  for (const auto& [input, repeats] : read) {
    if (input == like && !own_size) continue;
    Expr whole = truth(true);
    for (const Expr& extent : b.extents(input)) {
      check(extent);
      whole = whole & (extent > i64(0));
    }
    if (repeats)
      b.check(whole | empty, fmt::format("input {} has no elements, so that no edge can be repeated", input),
              {}, "give border=\"constant\", or an image that is not empty");
  }
}

void define_pixel(RecipeBuilder& b) {
  auto read = read_body(b.text("body"));
  GALATEA_CHECK(read.has_value(), "the type rule has read the expression");
  const std::vector<Expr> extents = output_extents(b);
  check_extents(b, *read, extents);
  Import import(b, extents);
  const DType out = b.output_type(0).dtype;
  const StageRef stage = b.map(b.text("function"), out, extents, [&](const Axes& at) {
    Expr value = import.body(*read, at);
    if (out == DType::kF16 || value.type() == DType::kF16) value = to_f32(value);
    return kernel::saturate(value, out);
  });
  b.output_stage(0, stage);
}

// ---- places

/// Whether an index is that coordinate, or a constant distance from it.
bool is_near_axis(const Expr& e, int axis) {
  if (e->kind == ExprKind::kAxis) return e->index == axis;
  if (e->kind != ExprKind::kOp) return false;
  if (e->op == ScalarOp::kConvert) return is_integral(e.type()) && is_near_axis(e->args[0], axis);
  const bool sum = e->op == ScalarOp::kAdd, difference = e->op == ScalarOp::kSub;
  if (!sum && !difference) return false;
  return (kernel::is_const(e->args[1]) && is_near_axis(e->args[0], axis)) ||
         (sum && kernel::is_const(e->args[0]) && is_near_axis(e->args[1], axis));
}

/// An image that is read at the element's own place, and at constant distances from it, stays where it is.
op::Places pixel_places(const ir::Node& node) {
  const op::Arguments args(*node.op, node.args);
  const int64_t like = ir::attr_integer(args.attr("like"));
  auto body = read_body(ir::attr_text(args.attr("body")));
  GALATEA_CHECK(body.has_value(), "the type rule has read the expression");
  bool near = like >= 0 && !args.given("size");
  kernel::for_each_node(*body, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad && e->target.index == like)
      near = near && is_near_axis(e->args[0], 0) && is_near_axis(e->args[1], 1);
  });
  return near ? op::Places::kKept : op::Places::kUnknown;
}

}  // namespace

Operator make_pixel() {
  Operator op;
  op.name = "pixel";
  op.summary = "A function of coordinates, decorated with @galatea.pixel.";
  op.documentation =
      "Every element is the value of one expression over its coordinates, elements of the inputs and "
      "scalars: rounded half to even and clamped to dtype. docs/language.md has the language of pixel "
      "functions.";
  op.internal = true;
  op.inputs = {{.name = "data", .documentation = "an image, a table or a scalar", .any_device = true}};
  op.min_inputs = 0;
  op.max_inputs = kMaxPixelInputs;
  op.args = {{.name = "function",
              .kind = ArgKind::kString,
              .required = true,
              .documentation = "The function's name, for people."},
             {.name = "body",
              .kind = ArgKind::kString,
              .required = true,
              .documentation = "The expression, in the text form of kernels."},
             {.name = "rank",
              .kind = ArgKind::kInt,
              .required = true,
              .documentation = "2: rows and columns; 3: channels too."},
             {.name = "like",
              .kind = ArgKind::kInt,
              .default_value = int64_t{-1},
              .documentation = "The input whose extents, layout and type the output has; negative: none."},
             {.name = "size",
              .kind = ArgKind::kFloatList,
              .per_sample = true,
              .documentation = "Rows and columns of the output, or one number for both."},
             {.name = "channels", .kind = ArgKind::kInt, .documentation = "Channels of the output."},
             dtype_arg("Element type of the output: the image's, or FLOAT without one.")};
  op.devices = {"cpu", "gpu"};
  op.type_rule = pixel_types;
  op.places_of = pixel_places;
  op.define = define_pixel;
  return op;
}

}  // namespace galatea::ops
