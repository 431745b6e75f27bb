#include "compiler/shape/graph_shapes.h"

#include <fmt/format.h>

#include <cctype>

namespace galatea::shape {

using kernel::SymbolKind;

namespace {

constexpr Wide kMaxExtent = Wide{1} << 47;
/// Longer texts, and sums of more terms, get a name instead.
constexpr size_t kMaxText = 24;
constexpr int kMaxDepth = 3;

}  // namespace

GraphShapes::GraphShapes(const ir::Graph& graph)
    : graph_(graph),
      order_(graph.topological_order()),
      table_(graph, plan::TableUse::kAnalysis),
      facts_([this](const kernel::ExprNode& symbol) { return range_of_symbol(symbol); }),
      types_(graph.values.size()) {
  table_.fill();
  // In order, so that what a value is made from has been looked at before it.
  for (ir::BlockId block : order_) {
    for (const ir::Merge& merge : graph.block(block).merges) learn(merge.result);
    for (ir::NodeId id : graph.block(block).nodes) {
      for (const op::NativeScalars& call : table_.lowering(id).native_scalars)
        for (size_t k = 0; k < call.locals.size() && k < call.ranges.size(); ++k)
          locals_[call.locals[k]] = integers(call.ranges[k].first, call.ranges[k].second);
      for (ir::ValueId output : graph.node(id).outputs) learn(output);
    }
  }
}

void GraphShapes::learn(ir::ValueId value) {
  const plan::ValueInfo& info = table_.info(value);
  for (const Expr& element : info.elements) facts_.range(element);
  for (const Expr& extent : info.extents) facts_.range(extent);
  types_[value] = text_of(value);
}

std::optional<Range> GraphShapes::range_of_symbol(const kernel::ExprNode& symbol) {
  switch (symbol.symbol) {
    case SymbolKind::kExtent:
    case SymbolKind::kElement: {
      if (Expr original = table_.original(symbol)) return facts_.range(original);
      const auto merged = range_of_merge(symbol);
      const bool is_extent = symbol.symbol == SymbolKind::kExtent;
      return merged || !is_extent ? merged : std::optional<Range>(integers(0, kMaxExtent));
    }
    case SymbolKind::kLocal:
      if (auto found = locals_.find(symbol.a); found != locals_.end()) return found->second;
      return std::nullopt;
    case SymbolKind::kBatchSlot:
      return integers(0, Wide{1} << 31);
    default:
      return std::nullopt;
  }
}

/// A merged value is one of its operands.
std::optional<Range> GraphShapes::range_of_merge(const kernel::ExprNode& symbol) {
  const auto value = static_cast<ir::ValueId>(symbol.a);
  const ir::Value& merged = graph_.value(value);
  if (merged.node != ir::kNoId) return std::nullopt;
  const auto at = static_cast<size_t>(symbol.b);
  std::optional<Range> out;
  for (ir::ValueId operand : graph_.block(merged.block).merges[merged.index].operands) {
    const plan::ValueInfo& info = table_.info(operand);
    const std::vector<Expr>& parts = symbol.symbol == SymbolKind::kExtent ? info.extents : info.elements;
    if (at >= parts.size()) return std::nullopt;
    const Range own = facts_.range(parts[at]);
    out = out ? hull(symbol.type, *out, own) : own;
  }
  return out;
}

// ---- texts

std::string GraphShapes::text_of(ir::ValueId value) {
  const ir::Type& type = graph_.type(value);
  const plan::ValueInfo& info = table_.info(value);
  std::string extents;
  for (int d = 0; d < type.ndim; ++d) {
    const char letter = type.layout.empty() ? 'N' : type.layout[d];
    extents += (d ? "," : "") + extent_text(info.extents[static_cast<size_t>(d)], letter, 0);
  }
  return fmt::format("{}[{}]{}{}{}", short_name(type.dtype), extents, type.layout.empty() ? "" : " ",
                     type.layout.str(), type.device == ir::Device::kGpu ? " gpu" : "");
}

std::string GraphShapes::new_name(char letter) {
  const auto base = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const int count = ++used_[base];
  return count == 1 ? std::string(1, base) : fmt::format("{}{}", base, count);
}

/// min, max and quotients are shown; anything else has a name. Nothing: too long.
std::optional<std::string> GraphShapes::unknown_text(int number, char letter, int depth) {
  if (auto found = names_.find(number); found != names_.end()) return found->second;
  const Expr e = facts_.unknown(number);
  const bool shown = e->kind == kernel::ExprKind::kOp && e->type == DType::kI64 &&
                     (e->op == ScalarOp::kMin || e->op == ScalarOp::kMax || e->op == ScalarOp::kDiv) &&
                     depth < kMaxDepth;
  if (!shown) return names_[number] = new_name(letter);
  const std::string a = extent_text(e->args[0], letter, depth + 1),
                    b = extent_text(e->args[1], letter, depth + 1);
  auto bracketed = [](const std::string& text) {
    return text.find_first_of("+-*/") == std::string::npos ? text : "(" + text + ")";
  };
  std::string text = e->op == ScalarOp::kDiv ? bracketed(a) + "/" + bracketed(b)
                                             : fmt::format("{}({},{})", name_of(e->op), a, b);
  if (text.size() > kMaxText) return std::nullopt;
  return text;
}

std::string GraphShapes::extent_text(const Expr& e, char letter, int depth) {
  const Polynomial p = facts_.polynomial(e);
  if (p.is_constant()) return std::to_string(p.constant_value());
  std::string text, constant;
  bool whole = p.terms().size() <= 4;
  for (const auto& [monomial, coefficient] : p.terms()) {
    const bool negative = coefficient < 0;
    const std::string sign = negative ? "-" : text.empty() ? "" : "+";
    const std::string digits = std::to_string(coefficient).substr(negative ? 1 : 0);
    if (monomial.empty()) {
      constant = (negative ? "-" : "+") + digits;
      continue;
    }
    std::string term;
    for (int number : monomial) {
      auto factor = unknown_text(number, letter, depth);
      whole &= factor.has_value();
      if (factor) term += (term.empty() ? "" : "*") + *factor;
    }
    if (digits != "1") term = digits + "*" + term;
    text += sign + term;
  }
  text += constant;
  if (whole && text.size() <= kMaxText) return text;
  // One name for the whole sum: equal sums share it.
  auto [known, fresh] = sums_.emplace(p.terms(), "");
  if (fresh) known->second = new_name(letter);
  return known->second;
}

}  // namespace galatea::shape
