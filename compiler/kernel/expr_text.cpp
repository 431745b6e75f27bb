// The text form of expressions (grammar: compiler/kernel/reader.h).
//
// Comes in: an expression DAG. Goes out: text in which a shared operation is written once.
#include "compiler/kernel/expr_text.h"

#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "base/result.h"

namespace galatea::kernel {
namespace {

class ExprPrinter {
 public:
  ExprText run(const Expr& root) {
    for_each_node(root, [&](const Expr& node) {
      for (const Expr& arg : node->args) ++uses_[arg.get()];
    });
    out_.root = text(root);
    return std::move(out_);
  }

 private:
  std::string text(const Expr& e) {
    if (!e) return "none";
    if (auto found = names_.find(e.get()); found != names_.end()) return found->second;
    std::string plain = node_text(e);
    if (e->args.empty() || uses_[e.get()] < 2) return plain;
    std::string name = fmt::format("%{}", out_.bindings.size());
    names_.emplace(e.get(), name);
    out_.bindings.emplace_back(name, std::move(plain));
    return name;
  }

  std::string args_text(const Expr& e) {
    std::string out;
    for (size_t i = 0; i < e->args.size(); ++i) {
      if (i > 0) out += ", ";
      out += text(e->args[i]);
    }
    return out;
  }

  std::string load_text(const Expr& e) {
    std::string out = fmt::format("load({}{}:{}", e->target.kind == LoadTarget::Kind::kInput ? "in" : "stage",
                                  e->target.index, short_name(e->type));
    if (e->border != Border::kNone) out += fmt::format(" {}", name_of(e->border));
    if (e->border == Border::kConstant) out += " " + constant_text(e->type, e->fill);
    if (!e->args.empty()) out += ", " + args_text(e);
    return out + ")";
  }

  std::string node_text(const Expr& e) {
    auto typed = [&](std::string text) { return fmt::format("{}:{}", text, short_name(e->type)); };
    switch (e->kind) {
      case ExprKind::kConst:
        return constant_text(e->type, e->value);
      case ExprKind::kOp:
        if (is_conversion(e->op))
          return fmt::format("{}.{}({})", name_of(e->op), short_name(e->type), args_text(e));
        return fmt::format("{}({})", name_of(e->op), args_text(e));
      case ExprKind::kSymbol:
        return typed(fmt::format("symbol.{}({}, {})", name_of(e->symbol), e->a, e->b));
      case ExprKind::kParam:
        return typed(fmt::format("p{}", e->index));
      case ExprKind::kAxis:
        return fmt::format("axis{}", e->index);
      case ExprKind::kReduceAxis:
        return fmt::format("raxis{}", e->index);
      case ExprKind::kTap:
        return "tap";
      case ExprKind::kAcc:
        return typed("acc");
      case ExprKind::kLoad:
        return load_text(e);
      case ExprKind::kPhilox:
        return fmt::format("philox{}({})", e->index, args_text(e));
      case ExprKind::kVar:
        return typed(fmt::format("v{}", e->index));
      case ExprKind::kLoadFlat:
        return fmt::format("load_flat(b{}:{}, {})", e->index, short_name(e->type), args_text(e));
    }
    GALATEA_CHECK(false, "unknown kind of expression");
    return {};
  }

  std::unordered_map<const ExprNode*, int> uses_;
  std::unordered_map<const ExprNode*, std::string> names_;
  ExprText out_;
};

}  // namespace

ExprText print_expr(const Expr& e) { return ExprPrinter().run(e); }

std::string to_text(const Expr& e) {
  ExprText text = print_expr(e);
  if (text.bindings.empty()) return text.root;
  std::string out = "{ ";
  for (const auto& [name, value] : text.bindings) out += fmt::format("{} = {}; ", name, value);
  return out + text.root + " }";
}

std::string constant_text(DType type, Cell value) {
  if (is_bool(type)) return value.bits != 0 ? "true" : "false";
  if (type == DType::kU64) return fmt::format("{}:u64", value.bits);
  if (is_integral(type)) return fmt::format("{}:{}", static_cast<int64_t>(value.bits), short_name(type));
  double number = cell_to_double(type, value);
  if (std::isnan(number)) return fmt::format("bits(0x{:x}):{}", value.bits, short_name(type));
  // The shortest text that reads back as the same float of this width.
  if (type == DType::kF64) return fmt::format("{}:f64", number);
  return fmt::format("{}:{}", static_cast<float>(number), short_name(type));
}

std::string_view name_of(Border border) {
  switch (border) {
    case Border::kNone:
      return "none";
    case Border::kClamp:
      return "clamp";
    case Border::kReflect101:
      return "reflect_101";
    default:
      return "constant";
  }
}

std::string_view name_of(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kExtent:
      return "extent";
    case SymbolKind::kElement:
      return "element";
    case SymbolKind::kSampleIndex:
      return "sample_index";
    case SymbolKind::kNodeKey:
      return "node_key";
    case SymbolKind::kBatchSlot:
      return "batch_slot";
    default:
      return "local";
  }
}

}  // namespace galatea::kernel
