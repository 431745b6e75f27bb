// Expressions as texts: see composed.h.
#include "stdlib_ops/common/composed.h"

#include <optional>

#include "compiler/kernel/reader.h"

namespace galatea::ops {
namespace {

using kernel::ExprKind;
using kernel::SymbolKind;

constexpr size_t kCheckHead = 4;
constexpr size_t kMaxValues = 8;

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

std::string first_fault(const TypeContext& ctx, const Expr& e) {
  std::string wrong;
  kernel::for_each_node(e, [&](const Expr& node) {
    if (wrong.empty()) wrong = fault(ctx, node);
  });
  return wrong;
}

const std::vector<std::string>& texts_of(const ir::Attr& attr) {
  return std::get<std::vector<std::string>>(attr);
}

/// How many values the check at `first` has; nothing if that is none.
std::optional<size_t> num_values(const std::vector<std::string>& texts, size_t first) {
  if (first + kCheckHead > texts.size() || texts[first + 3].size() != 1) return std::nullopt;
  const auto count = static_cast<size_t>(texts[first + 3][0] - '0');
  if (count > kMaxValues || first + kCheckHead + count > texts.size()) return std::nullopt;
  return count;
}

}  // namespace

size_t num_texts(const TypeContext& ctx, std::string_view arg) { return texts_of(ctx.attr(arg)).size(); }

Status check_text(const TypeContext& ctx, std::string_view arg, const std::string& text, DType type) {
  GALATEA_ASSIGN(const Expr e, read_text(text));
  std::string wrong = first_fault(ctx, e);
  if (wrong.empty() && e.type() != type) wrong = "a value of the wrong type";
  if (!wrong.empty()) return ctx.error(fmt::format("{}: {} holds {}", ctx.op().name, arg, wrong), {}, arg);
  return {};
}

Status check_composed_checks(const TypeContext& ctx) {
  if (!ctx.given("checks")) return {};
  const auto& texts = texts_of(ctx.attr("checks"));
  for (size_t i = 0; i < texts.size();) {
    const auto values = num_values(texts, i);
    std::string wrong = values ? "" : "something that is no check";
    for (size_t k = 0; wrong.empty() && k <= *values; ++k) {
      GALATEA_ASSIGN(const Expr e, read_text(texts[k == 0 ? i : i + kCheckHead + k - 1]));
      if (k == 0 && e.type() != DType::kBool) wrong = "a condition of another type";
      if (wrong.empty()) wrong = first_fault(ctx, e);
    }
    // One place per value.
    size_t places = 0;
    for (size_t at = 0; wrong.empty() && (at = texts[i + 1].find("{}", at)) != std::string::npos; at += 2)
      ++places;
    if (wrong.empty() && places != *values) wrong = "a message with other values";
    if (!wrong.empty())
      return ctx.error(fmt::format("{}: checks hold {}", ctx.op().name, wrong), {}, "checks");
    i += kCheckHead + *values;
  }
  return {};
}

Result<ir::Type> with_known_extents(const TypeContext& ctx, ir::Type type) {
  const auto known = ctx.integers("known_extents");
  if (known.size() != 2) return ctx.error(ctx.op().name + ": known_extents are two", {}, "known_extents");
  const ImageAxes at = image_axes(type.layout);
  type.extents[static_cast<size_t>(at.h)] = known[0];
  type.extents[static_cast<size_t>(at.w)] = known[1];
  return type;
}

ComposedTexts::ComposedTexts(RecipeBuilder& b, std::string_view arg) : b_(b), texts_(texts_of(b.attr(arg))) {}

Expr ComposedTexts::operator()(size_t i) const {
  auto text = read_text(texts_[i]);
  GALATEA_CHECK(text.has_value(), "the type rule has read the expression");
  Expr value = kernel::rewrite(*text, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kSymbol) return {};
    const auto input = static_cast<int>(e->a);
    return e->symbol == SymbolKind::kElement ? b_.element(input, e->b)
                                             : b_.full_extent(input, static_cast<int>(e->b));
  });
  if (!kernel::is_const(value)) return value;
  return kernel::user_constant(value.type(), value->value,
                               (b_.node_id() * 0x9E3779B97F4A7C15U + number_++) << 1 | 1);
}

void ask_composed_checks(RecipeBuilder& b) {
  if (!b.given("checks")) return;
  const ComposedTexts checks(b, "checks");
  const auto& texts = texts_of(b.attr("checks"));
  for (size_t i = 0; i < checks.size();) {
    std::vector<Expr> values;
    for (size_t k = 0; k < *num_values(texts, i); ++k) values.push_back(checks(i + kCheckHead + k));
    b.check(checks(i), checks.text(i + 1), values, checks.text(i + 2));
    i += kCheckHead + values.size();
  }
}

std::vector<ArgSpec> composed_args() {
  return {{.name = "known_extents",
           .kind = ArgKind::kIntList,
           .required = true,
           .documentation = "Rows and columns of the output as far as they are known, else -1."},
          {.name = "checks",
           .kind = ArgKind::kStringList,
           .documentation = "What the nodes asked of their arguments: condition, message, help, the number "
                            "of values, values."}};
}

}  // namespace galatea::ops
