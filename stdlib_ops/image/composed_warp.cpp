// composed_warp: what consecutive warps become under exact=False (compiler/passes/compose_warps.h).
//
// Comes in: the image of the first warp, values that the maps are made of, and the maps as texts
// (compiler/kernel/reader.h) over symbols of this node's inputs; one after the other from the output inwards.
// Goes out: one interpolation of the image, behind the canvases of the images that are not made.
//
// The maps are arguments and not operators of their own, so that a graph with them prints and reads back.
#include <optional>

#include "compiler/kernel/reader.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

using kernel::ExprKind;
using kernel::SymbolKind;

constexpr int kMaxInputs = 64;
constexpr size_t kMapElements = 6, kCanvasElements = 3;

Result<Expr> read_text(const std::string& text) {
  SourceMap sources;
  auto out = kernel::read_expr(text, sources);
  if (!out)
    for (Diagnostic& diagnostic : out.error().diagnostics) diagnostic.span = {};
  return out;
}

/// What is wrong with one node of an expression; empty: nothing.
std::string fault(const TypeContext& ctx, const Expr& e) {
  if (e->kind == ExprKind::kConst || e->kind == ExprKind::kOp) return {};
  if (e->kind != ExprKind::kSymbol) return "something that is neither arithmetic nor a symbol of an input";
  if (e->a < 0 || e->a >= ctx.num_inputs()) return "a symbol of something that is no input";
  const ir::Type& type = ctx.input(static_cast<int>(e->a));
  const bool extent =
      e->symbol == SymbolKind::kExtent && e->type == DType::kI64 && e->b >= 0 && e->b < type.ndim;
  const bool element =
      e->symbol == SymbolKind::kElement && e->type == type.dtype && e->b >= 0 && e->b < type.static_volume();
  return extent || element ? "" : fmt::format("a symbol that does not fit input {}", e->a);
}

Status check_texts(const TypeContext& ctx, std::string_view arg, size_t several, DType type) {
  const auto& texts = std::get<std::vector<std::string>>(ctx.attr(arg));
  if (texts.size() % several != 0)
    return ctx.error(fmt::format("composed_warp: {} has {} expressions", arg, texts.size()), {}, arg);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty() && several == kCanvasElements) continue;
    GALATEA_ASSIGN(const Expr e, read_text(texts[i]));
    std::string wrong;
    kernel::for_each_node(e, [&](const Expr& node) {
      if (wrong.empty()) wrong = fault(ctx, node);
    });
    const DType wanted = several == kCanvasElements ? (i % 3 == 2 ? DType::kF32 : DType::kI64) : type;
    if (wrong.empty() && e.type() != wanted) wrong = "a value of the wrong type";
    if (!wrong.empty()) return ctx.error(fmt::format("composed_warp: {} holds {}", arg, wrong), {}, arg);
  }
  return {};
}

/// Checks are runs of texts: condition, message, help, how many values, the values.
constexpr size_t kCheckHead = 4;
constexpr size_t kMaxValues = 8;

/// How many values the check at `first` has; nothing if that is none.
std::optional<size_t> num_values(const std::vector<std::string>& texts, size_t first) {
  if (first + kCheckHead > texts.size() || texts[first + 3].size() != 1) return std::nullopt;
  const auto count = static_cast<size_t>(texts[first + 3][0] - '0');
  if (count > kMaxValues || first + kCheckHead + count > texts.size()) return std::nullopt;
  return count;
}

Status check_checks(const TypeContext& ctx) {
  if (!ctx.given("checks")) return {};
  const auto& texts = std::get<std::vector<std::string>>(ctx.attr("checks"));
  for (size_t i = 0; i < texts.size();) {
    const auto values = num_values(texts, i);
    std::string wrong = values ? "" : "something that is no check";
    for (size_t k = 0; wrong.empty() && k <= *values; ++k) {
      GALATEA_ASSIGN(const Expr e, read_text(texts[k == 0 ? i : i + kCheckHead + k - 1]));
      if (k == 0 && e.type() != DType::kBool) wrong = "a condition of another type";
      kernel::for_each_node(e, [&](const Expr& node) {
        if (wrong.empty()) wrong = fault(ctx, node);
      });
    }
    // One place per value.
    size_t places = 0;
    for (size_t at = 0; wrong.empty() && (at = texts[i + 1].find("{}", at)) != std::string::npos; at += 2)
      ++places;
    if (wrong.empty() && places != *values) wrong = "a message with other values";
    if (!wrong.empty()) return ctx.error(fmt::format("composed_warp: checks hold {}", wrong), {}, "checks");
    i += kCheckHead + *values;
  }
  return {};
}

Types composed_types(const TypeContext& ctx) {
  GALATEA_TRY(check_checks(ctx));
  GALATEA_TRY(check_texts(ctx, "maps", kMapElements, DType::kF64));
  GALATEA_TRY(check_texts(ctx, "canvases", kCanvasElements, DType::kF32));
  GALATEA_TRY(check_texts(ctx, "extents", 2, DType::kI64));
  const auto count = [&](std::string_view arg) {
    return std::get<std::vector<std::string>>(ctx.attr(arg)).size();
  };
  const size_t maps = count("maps") / kMapElements;
  if (maps == 0 || count("canvases") / kCanvasElements + 1 != maps || count("extents") != 2)
    return ctx.error("composed_warp: there is a canvas between each two maps, and one more map");
  GALATEA_ASSIGN(ir::Type out, warp_type(ctx));
  const auto known = ctx.integers("known_extents");
  const ImageAxes at = image_axes(out.layout);
  if (known.size() != 2) return ctx.error("composed_warp: known_extents are two");
  out.extents[static_cast<size_t>(at.h)] = known[0];
  out.extents[static_cast<size_t>(at.w)] = known[1];
  return std::vector{out};
}

/// Reads the texts in terms of this node's inputs. Numbers are the user's, as they were where they came from.
class Reader {
 public:
  Reader(RecipeBuilder& b, std::string_view arg)
      : b_(b), texts_(std::get<std::vector<std::string>>(b.attr(arg))) {}

  size_t size() const { return texts_.size(); }
  bool is_empty(size_t i) const { return texts_[i].empty(); }
  const std::vector<std::string>& texts() const { return texts_; }
  Expr operator()(size_t i) const {
    auto text = read_text(texts_[i]);
    GALATEA_CHECK(text.has_value(), "the type rule has read the expression");
    Expr value = kernel::rewrite(*text, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kSymbol) return {};
      const auto input = static_cast<int>(e->a);
      return e->symbol == SymbolKind::kElement ? b_.element(input, e->b)
                                               : b_.extent(input, static_cast<int>(e->b));
    });
    if (!kernel::is_const(value)) return value;
    return kernel::user_constant(value.type(), value->value,
                                 (b_.node_id() * 0x9E3779B97F4A7C15U + number_++) << 1 | 1);
  }

 private:
  RecipeBuilder& b_;
  const std::vector<std::string>& texts_;
  mutable uint64_t number_ = 0;
};

/// First `inner`, then `outer`: what an output place of `inner` shows of what `outer` shows.
AffineMap after(const AffineMap& outer, const AffineMap& inner) {
  AffineMap out;
  for (size_t r = 0; r < 2; ++r)
    for (size_t c = 0; c < 3; ++c) {
      out[r][c] = outer[r][0] * inner[0][c] + outer[r][1] * inner[1][c];
      if (c == 2) out[r][c] = out[r][c] + outer[r][2];
    }
  return out;
}

void define_composed(RecipeBuilder& b) {
  const Reader maps(b, "maps"), canvases(b, "canvases"), extents(b, "extents");
  AffineMap whole;
  std::vector<Canvas> behind;
  for (size_t k = 0; k * kMapElements < maps.size(); ++k) {
    AffineMap map;
    for (size_t i = 0; i < kMapElements; ++i) map[i / 3][i % 3] = maps(k * kMapElements + i);
    whole = k == 0 ? map : after(map, whole);
    const size_t at = k * kCanvasElements;
    if (at < canvases.size() && !canvases.is_empty(at + 2))
      behind.push_back({whole, canvases(at), canvases(at + 1), canvases(at + 2)});
  }
  const Expr rows = extents(0), columns = extents(1);
  if (b.given("checks")) {
    const Reader checks(b, "checks");
    for (size_t i = 0; i < checks.size();) {
      std::vector<Expr> values;
      for (size_t k = 0; k < *num_values(checks.texts(), i); ++k)
        values.push_back(checks(i + kCheckHead + k));
      b.check(checks(i), checks.texts()[i + 1], values, checks.texts()[i + 2]);
      i += kCheckHead + values.size();
    }
  }
  b.check((rows >= i64(0)) & (columns >= i64(0)), "{} x {} are no extents of an image", {rows, columns});
  output_warp(b, whole, rows, columns, behind);
}

}  // namespace

Operator make_composed_warp() {
  Operator op;
  op.name = "composed_warp";
  op.summary = "Consecutive warps as one, under exact=False.";
  op.documentation =
      "The product of the maps, interpolated once. Places that fall outside of an image which is not made "
      "show that image's fill value.";
  op.internal = true;
  InputSpec image = warp_input();
  image.layouts.clear();
  image.dtypes.clear();
  op.inputs = {image};
  op.min_inputs = 1;
  op.max_inputs = kMaxInputs;
  op.args = warp_args("");
  append(op.args, {{.name = "maps",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Six expressions a map, rows of the matrix; from the output inwards."},
                   {.name = "canvases",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Rows, columns and fill of each image between two maps; an empty fill "
                                     "where nothing outside is read."},
                   {.name = "extents",
                    .kind = ArgKind::kStringList,
                    .required = true,
                    .documentation = "Rows and columns of the output."},
                   {.name = "known_extents",
                    .kind = ArgKind::kIntList,
                    .required = true,
                    .documentation = "The same as far as they are known, else -1."},
                   {.name = "checks",
                    .kind = ArgKind::kStringList,
                    .documentation = "What the nodes asked of their arguments: condition, message, help, the "
                                     "number of values, values."}});
  op.devices = {"cpu", "gpu"};
  op.type_rule = composed_types;
  op.define = define_composed;
  return op;
}

}  // namespace galatea::ops
