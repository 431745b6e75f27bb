#include "compiler/shape/graph_shapes.h"

#include <fmt/format.h>

#include <cctype>

namespace galatea::shape {

using kernel::integers;
using kernel::SymbolKind;

namespace {

/// Longer texts get a name instead.
constexpr size_t kMaxText = 24;
constexpr int kMaxDepth = 3;

constexpr Wide kMaxBatch = Wide{1} << 31;

}  // namespace

GraphShapes::GraphShapes(const ir::Graph& graph, std::vector<LargestExtent> largest)
    : graph_(graph),
      order_(graph.topological_order()),
      table_(graph, values::TableUse::kAnalysis),
      facts_([this](const kernel::ExprNode& symbol) { return range_of_symbol(symbol); }),
      types_(graph.values.size()) {
  table_.fill();
  // In order, so that what a value is made from has been looked at before it.
  for (ir::BlockId block : order_) {
    for (const ir::Merge& merge : graph.block(block).merges) learn(merge.result);
    for (ir::NodeId id : graph.block(block).nodes) {
      for (const op::NativeScalars& call : table_.lowering(id).native_scalars) learn_results(call, largest);
      for (ir::ValueId output : graph.node(id).outputs) learn(output);
    }
  }
}

void GraphShapes::learn_results(const op::NativeScalars& call, const std::vector<LargestExtent>& largest) {
  for (size_t k = 0; k < call.locals.size() && k < call.ranges.size(); ++k)
    locals_[call.locals[k]] = integers(call.ranges[k].first, call.ranges[k].second);
  // What one of the samples hands over lies where each of them does.
  for (size_t k = 0; k < call.over_batch.size(); ++k) {
    const runtime::BatchOp what = call.over_batch[k];
    if (what == runtime::BatchOp::kMin || what == runtime::BatchOp::kMax)
      locals_[call.locals[k]] = facts_.range(table_.resolve(call.scalars[k]));
    else if (what != runtime::BatchOp::kSum)
      locals_[call.locals[k]] = integers(0, kMaxBatch);
  }
  for (size_t k = 0; k < call.extents_along.size(); ++k)
    for (const LargestExtent& one : largest)
      if (one.axis == call.extents_along[k]) locals_[call.locals[k]] = integers(1, one.extent);
}

void GraphShapes::learn(ir::ValueId value) {
  const values::ValueInfo& info = table_.info(value);
  for (const Expr& element : info.elements) facts_.range(element);
  for (const Expr& extent : info.extents) facts_.range(extent);
  types_[value] = text_of(value);
}

std::optional<ScalarRange> GraphShapes::range_of_symbol(const kernel::ExprNode& symbol) {
  switch (symbol.symbol) {
    case SymbolKind::kExtent:
    case SymbolKind::kElement: {
      if (Expr original = table_.original(symbol)) return facts_.range(original);
      const auto merged = range_of_merge(symbol);
      const bool is_extent = symbol.symbol == SymbolKind::kExtent;
      return merged || !is_extent ? merged : std::optional<ScalarRange>(integers(0, kMaxExtent));
    }
    case SymbolKind::kLocal:
      if (auto found = locals_.find(symbol.a); found != locals_.end()) return found->second;
      return std::nullopt;
    case SymbolKind::kBatchSlot:
      return integers(0, kMaxBatch);
    default:
      return std::nullopt;
  }
}

/// A merged value is one of its operands.
std::optional<ScalarRange> GraphShapes::range_of_merge(const kernel::ExprNode& symbol) {
  const auto value = static_cast<ir::ValueId>(symbol.a);
  const ir::Value& merged = graph_.value(value);
  if (merged.node != ir::kNoId) return std::nullopt;
  const auto at = static_cast<size_t>(symbol.b);
  std::optional<ScalarRange> out;
  for (ir::ValueId operand : graph_.block(merged.block).merges[merged.index].operands) {
    const values::ValueInfo& info = table_.info(operand);
    const std::vector<Expr>& parts = symbol.symbol == SymbolKind::kExtent ? info.extents : info.elements;
    if (at >= parts.size()) return std::nullopt;
    const ScalarRange own = facts_.range(parts[at]);
    out = out ? hull(symbol.type, *out, own) : own;
  }
  return out;
}

// ---- texts

std::string GraphShapes::text_of(ir::ValueId value) {
  const ir::Type& type = graph_.type(value);
  const values::ValueInfo& info = table_.info(value);
  std::string extents;
  for (int d = 0; d < type.ndim; ++d) {
    const char letter = type.layout.empty() ? 'N' : type.layout[d];
    extents += (d ? "," : "") + extent_text(info.extents[static_cast<size_t>(d)], letter);
  }
  return fmt::format("{}[{}]{}{}{}", short_name(type.dtype), extents, type.layout.empty() ? "" : " ",
                     type.layout.str(), type.device == ir::Device::kGpu ? " gpu" : "");
}

std::string GraphShapes::new_name(char letter) {
  const auto base = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const int count = ++used_[base];
  return count == 1 ? std::string(1, base) : fmt::format("{}{}", base, count);
}

/// Its name; for minima, maxima and quotients of what has names, their text.
std::optional<std::string> GraphShapes::unknown_text(int number, int depth) {
  if (auto found = names_.find(number); found != names_.end()) return found->second;
  const Expr e = facts_.unknown(number);
  const bool shown = e->kind == kernel::ExprKind::kOp && e->type == DType::kI64 &&
                     (e->op == ScalarOp::kMin || e->op == ScalarOp::kMax || e->op == ScalarOp::kDiv) &&
                     depth < kMaxDepth;
  if (!shown) return std::nullopt;
  const auto a = known_text(facts_.polynomial(e->args[0]), depth + 1),
             b = known_text(facts_.polynomial(e->args[1]), depth + 1);
  if (!a || !b) return std::nullopt;
  auto bracketed = [](const std::string& text) {
    return text.find_first_of("+-*/") == std::string::npos ? text : "(" + text + ")";
  };
  return e->op == ScalarOp::kDiv ? bracketed(*a) + "/" + bracketed(*b)
                                 : fmt::format("{}({},{})", name_of(e->op), *a, *b);
}

/// In names that exist; nothing where one is missing, or the text would be long.
std::optional<std::string> GraphShapes::known_text(const Polynomial& p, int depth) {
  if (p.is_constant()) return std::to_string(p.constant_value());
  if (auto found = sums_.find(p.terms()); found != sums_.end()) return found->second;
  std::string text, constant;
  for (const auto& [monomial, coefficient] : p.terms()) {
    const bool negative = coefficient < 0;
    const std::string digits = std::to_string(coefficient).substr(negative ? 1 : 0);
    if (monomial.empty()) {
      constant = (negative ? "-" : "+") + digits;
      continue;
    }
    std::string term = digits == "1" ? "" : digits;
    for (int number : monomial) {
      const auto factor = unknown_text(number, depth);
      if (!factor) return std::nullopt;
      term += (term.empty() ? "" : "*") + *factor;
    }
    text += (negative ? "-" : text.empty() ? "" : "+") + term;
  }
  text += constant;
  if (text.size() > kMaxText) return std::nullopt;
  return text;
}

/// Named where it has no text of names that exist. Equal sums share a name.
std::string GraphShapes::extent_text(const Expr& e, char letter) {
  const Polynomial p = facts_.polynomial(e);
  if (auto known = known_text(p, 0)) return *known;
  const std::string name = new_name(letter);
  if (p.is_unknown())
    names_[p.terms().begin()->first[0]] = name;
  else
    sums_[p.terms()] = name;
  return name;
}

}  // namespace galatea::shape
