// Loops as text (explain --emit=loops).
//
// Comes in: a LoopKernel. Goes out: indented text in C's manner; variables are v0, v1, …, parameters and
// buffers go by name.
#include <fmt/format.h>

#include <type_traits>

#include "base/text_writer.h"
#include "compiler/kernel/loops.h"

namespace galatea::kernel {

namespace {

class LoopsPrinter {
 public:
  explicit LoopsPrinter(const LoopKernel& kernel) : kernel_(kernel) {}

  std::string run() {
    out_.line(fmt::format("loops \"{}\" {{", kernel_.name));
    out_.indent();
    for (size_t i = 0; i < kernel_.params.size(); ++i)
      out_.line(
          fmt::format("param {}: {}", param_name(static_cast<int>(i)), short_name(kernel_.params[i].type)));
    for (const LoopBuffer& buffer : kernel_.buffers) print_buffer(buffer);
    for (size_t t = 0; t < kernel_.stride_vars.size(); ++t)
      for (size_t d = 0; d < kernel_.stride_vars[t].size(); ++d)
        if (kernel_.stride_vars[t][d] >= 0)
          out_.line(fmt::format("v{} = stride of tensor {} along {}", kernel_.stride_vars[t][d], t, d));
    print_block(kernel_.body);
    out_.dedent();
    out_.line("}");
    return out_.take();
  }

 private:
  void print_buffer(const LoopBuffer& buffer) {
    static constexpr const char* kKinds[] = {"input", "output", "scratch", "shared"};
    std::string text =
        fmt::format("{} {}: {}", kKinds[static_cast<int>(buffer.kind)], buffer.name, short_name(buffer.type));
    if (buffer.kind == BufferKind::kScratch) text += fmt::format("[{}]", show(buffer.elements));
    if (buffer.tensor >= 0) text += fmt::format(" = tensor {}", buffer.tensor);
    out_.line(text);
  }

  std::string param_name(int index) const {
    const std::string& name = kernel_.params[static_cast<size_t>(index)].name;
    return name.empty() ? fmt::format("p{}", index) : name;
  }
  std::string buffer_name(int index) const {
    const bool known = index >= 0 && static_cast<size_t>(index) < kernel_.buffers.size();
    return known ? kernel_.buffers[static_cast<size_t>(index)].name : "?";
  }

  static const char* infix(ScalarOp op) {
    switch (op) {
      case ScalarOp::kAdd:
        return "+";
      case ScalarOp::kSub:
        return "-";
      case ScalarOp::kMul:
        return "*";
      case ScalarOp::kDiv:
        return "/";
      case ScalarOp::kRem:
        return "%";
      case ScalarOp::kAnd:
        return "&";
      case ScalarOp::kOr:
        return "|";
      case ScalarOp::kXor:
        return "^";
      case ScalarOp::kShl:
        return "<<";
      case ScalarOp::kShr:
        return ">>";
      case ScalarOp::kEq:
        return "==";
      case ScalarOp::kNe:
        return "!=";
      case ScalarOp::kLt:
        return "<";
      case ScalarOp::kLe:
        return "<=";
      case ScalarOp::kGt:
        return ">";
      case ScalarOp::kGe:
        return ">=";
      default:
        return nullptr;
    }
  }

  std::string show_const(const ExprNode& e) const {
    if (is_bool(e.type)) return e.value.bits ? "true" : "false";
    if (e.type == DType::kI64) return fmt::format("{}", cell_to_int(e.type, e.value));
    if (is_float(e.type)) return fmt::format("{}:{}", cell_to_double(e.type, e.value), short_name(e.type));
    if (e.type == DType::kU64) return fmt::format("{}:u64", e.value.bits);
    return fmt::format("{}:{}", cell_to_int(e.type, e.value), short_name(e.type));
  }

  std::string show(const Expr& e, bool nested = false) const {
    switch (e->kind) {
      case ExprKind::kConst:
        return show_const(*e);
      case ExprKind::kParam:
        return param_name(e->index);
      case ExprKind::kVar:
        return fmt::format("v{}", e->index);
      case ExprKind::kLoadFlat:
        return fmt::format("{}[{}]", buffer_name(e->index), show(e->args[0]));
      case ExprKind::kPhilox:
        return fmt::format("philox.{}({}, {}, {})", e->index, show(e->args[0]), show(e->args[1]),
                           show(e->args[2]));
      case ExprKind::kOp:
        return show_op(*e, nested);
      default:
        return to_text(e);
    }
  }

  std::string show_op(const ExprNode& e, bool nested) const {
    if (const char* sign = infix(e.op)) {
      std::string text = fmt::format("{} {} {}", show(e.args[0], true), sign, show(e.args[1], true));
      return nested ? "(" + text + ")" : text;
    }
    std::string name(name_of(e.op));
    if (e.op == ScalarOp::kConvert)
      name = short_name(e.type);
    else if (is_conversion(e.op))
      name += fmt::format("_{}", short_name(e.type));
    std::string text = name + "(";
    for (size_t i = 0; i < e.args.size(); ++i) text += (i ? ", " : "") + show(e.args[i]);
    return text + ")";
  }

  void print_block(const Block& block) {
    for (const Statement& statement : block)
      std::visit([&](const auto& node) { print(node); }, statement.node);
  }
  void print_body(const Block& block) {
    out_.indent();
    print_block(block);
    out_.dedent();
  }
  std::string typed(int v) const {
    return fmt::format("{} v{}", short_name(kernel_.var_types[static_cast<size_t>(v)]), v);
  }

  void print(const For& node) {
    std::string role = node.role == LoopRole::kVector ? fmt::format(" vector({})", node.lanes)
                       : node.role == LoopRole::kGrid ? " grid"
                       : node.role == LoopRole::kTile ? " tile"
                                                      : "";
    if (node.unroll > 1) role += fmt::format(" unroll({})", node.unroll);
    out_.line(fmt::format("for v{} in {} .. {}{} {{", node.var, show(node.begin), show(node.end), role));
    print_body(node.body);
    out_.line("}");
  }
  void print(const Let& node) { out_.line(fmt::format("let {} = {}", typed(node.var), show(node.value))); }
  void print(const Declare& node) { out_.line(fmt::format("var {} = {}", typed(node.var), show(node.init))); }
  void print(const Assign& node) { out_.line(fmt::format("v{} = {}", node.var, show(node.value))); }
  void print(const Store& node) {
    static constexpr const char* kCombined[] = {"+=", "min=", "max="};
    out_.line(fmt::format("{}[{}] {} {}{}{}", buffer_name(node.buffer), show(node.offset),
                          node.add ? kCombined[static_cast<int>(node.combiner)] : "=", show(node.value),
                          node.streaming ? "  // streaming" : "", node.warp ? "  // by warps" : ""));
  }
  void print(const If& node) {
    out_.line(fmt::format("{} {} {{", node.shortcut ? "if all lanes" : "if", show(node.condition)));
    print_body(node.then_body);
    if (!node.else_body.empty()) {
      out_.line("} else {");
      print_body(node.else_body);
    }
    out_.line("}");
  }
  void print(const Phase& node) {
    out_.line(fmt::format("{}phase \"{}\" {{", node.spread ? "spread " : "", node.name));
    print_body(node.body);
    out_.line("}");
  }
  std::string tables_text(const BandTables& t) const {
    return fmt::format(
        "first={}, weights={}, taps={}, taps_stride={}, width={}, src_width={}, channels={}, source={}",
        buffer_name(t.first), buffer_name(t.weights), show(t.taps), show(t.taps_stride), show(t.width),
        show(t.src_width), t.channels, short_name(t.source_type));
  }
  void print(const BandPrepare& node) {
    out_.line(fmt::format("band_prepare({}, prepared={})", tables_text(node.tables),
                          buffer_name(node.tables.prepared)));
  }
  void print(const BandRow& node) {
    out_.line(fmt::format("band_row({}[{}], step={} -> {}[{}], plane={}, scale={}; {})",
                          buffer_name(node.src), show(node.src_offset), show(node.src_step),
                          buffer_name(node.dst), show(node.dst_offset), show(node.dst_plane), node.scale,
                          tables_text(node.tables)));
  }

  const LoopKernel& kernel_;
  TextWriter out_;
};

}  // namespace

std::string to_text(const LoopKernel& kernel) { return LoopsPrinter(kernel).run(); }

}  // namespace galatea::kernel
