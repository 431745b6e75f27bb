// The graph as text; the grammar is at the head of ir/text/reader.h.
#include "compiler/ir/text/printer.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text_writer.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::ir {
namespace {

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return false;
  return true;
}

class Printer {
 public:
  Printer(const Graph& graph, const SourceMap* sources, const std::vector<std::string>* types = nullptr)
      : graph_(graph), sources_(sources), types_(types), order_(graph.topological_order()) {
    block_number_.assign(graph.blocks.size(), kNoId);
    for (size_t i = 0; i < order_.size(); ++i) block_number_[order_[i]] = static_cast<BlockId>(i);
    name_values();
  }

  std::string run() {
    out_.line(fmt::format("pipeline @{}({}) {{", graph_.name, options()));
    for (BlockId block : order_) print_block(block);
    out_.line("}");
    return out_.take();
  }

  std::vector<std::string> take_names() { return std::move(names_); }

 private:
  /// %variable, %variable.1 for the second of that name, %0, %1, … for values without a (printable) one.
  void name_values() {
    names_.assign(graph_.values.size(), {});
    std::map<std::string, int> used;
    int unnamed = 0;
    auto name = [&](ValueId id) {
      const std::string& variable = graph_.value(id).variable;
      if (!is_name(variable)) {
        names_[id] = fmt::format("%{}", unnamed++);
        return;
      }
      int count = used[variable]++;
      names_[id] = count ? fmt::format("%{}.{}", variable, count) : "%" + variable;
    };
    for (BlockId block : order_) {
      for (const Merge& merge : graph_.block(block).merges) name(merge.result);
      for (NodeId node : graph_.block(block).nodes)
        for (ValueId output : graph_.node(node).outputs) name(output);
    }
  }

  std::string type(ValueId id) const {
    return types_ && !(*types_)[id].empty() ? (*types_)[id] : to_text(graph_.type(id));
  }

  std::string value(ValueId id) const {
    if (id >= names_.size()) return "%<none>";
    return names_[id].empty() ? fmt::format("%<unplaced {}>", id) : names_[id];
  }
  std::string block_name(BlockId id) const {
    return id < block_number_.size() && block_number_[id] != kNoId ? fmt::format("^{}", block_number_[id])
                                                                   : fmt::format("^<unreachable {}>", id);
  }
  template <typename T, typename F>
  std::string list(const std::vector<T>& items, const F& text) const {
    std::string out;
    for (size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + text(items[i]);
    return out;
  }
  std::string values(const std::vector<ValueId>& ids) const {
    return list(ids, [&](ValueId id) { return value(id); });
  }
  std::string blocks(const std::vector<BlockId>& ids) const {
    return list(ids, [&](BlockId id) { return block_name(id); });
  }

  std::string options() const {
    const PipelineOptions& o = graph_.options;
    static constexpr const char* kOnError[] = {"raise", "skip", "replace"};
    std::string out = fmt::format("batch_size={}, num_threads={}, seed={}, prefetch_queue_depth={}",
                                  o.batch_size, o.num_threads, o.seed, o.prefetch_queue_depth);
    if (!o.exact) out += ", exact=false";
    if (o.on_error != OnError::kRaise)
      out += fmt::format(", on_error={}", kOnError[static_cast<int>(o.on_error)]);
    if (o.memory_limit) out += fmt::format(", memory_limit={}", o.memory_limit);
    if (!o.device.empty()) out += ", device=" + o.device;
    if (!graph_.output_names.empty()) out += ", outputs=" + to_text(Attr(graph_.output_names));
    return out;
  }

  /// A comment: where in the pipeline's text this comes from.
  std::string place(Span span) const {
    if (!sources_ || !span.valid()) return {};
    return "  # " + sources_->describe(span);
  }

  void print_block(BlockId id) {
    const Block& block = graph_.block(id);
    out_.line(block_name(id) + (block.predecessors.empty() ? "" : "(" + blocks(block.predecessors) + ")") +
              ":");
    out_.indent();
    for (const Merge& merge : block.merges)
      out_.line(fmt::format("{} = merge({}) : {}{}", value(merge.result), values(merge.operands),
                            type(merge.result), place(merge.span)));
    for (NodeId node : block.nodes) print_node(graph_.node(node));
    print_terminator(block.terminator);
    out_.dedent();
  }

  std::string argument(const Arg& arg) const {
    if (arg.is_value()) return arg.name + "=" + value(arg.as_value());
    // Remarks of passes are lists of values.
    if (auto* ids = std::get_if<std::vector<int64_t>>(&arg.as_attr()); ids && op::is_hidden_arg(arg.name))
      return arg.name + "=[" + list(*ids, [&](int64_t v) { return value(static_cast<ValueId>(v)); }) + "]";
    return arg.name + "=" + to_text(arg.as_attr());
  }

  void print_node(const Node& node) {
    std::string line = node.outputs.empty() ? "" : values(node.outputs) + " = ";
    line += fmt::format("{}({})", node.op ? node.op->name : "<removed>", values(node.inputs));
    if (!node.args.empty())
      line += " {" + list(node.args, [&](const Arg& arg) { return argument(arg); }) + "}";
    if (!node.outputs.empty()) line += " : " + list(node.outputs, [&](ValueId v) { return type(v); });
    if (node.key) line += fmt::format(" key=0x{:x}", node.key);
    if (node.has_own_seed) line += " own_seed";
    if (!node.name.empty()) line += " name=" + to_text(Attr(node.name));
    out_.line(line + place(node.span));
  }

  void print_terminator(const Terminator& end) {
    switch (end.kind) {
      case TerminatorKind::kNone:
        return out_.line("# no end");
      case TerminatorKind::kJump:
        return out_.line("jump " + blocks(end.targets) + place(end.span));
      case TerminatorKind::kBranch:
        return out_.line(
            fmt::format("branch {} {}{}", value(end.selector), blocks(end.targets), place(end.span)));
      case TerminatorKind::kSwitch:
        return out_.line(
            fmt::format("switch {} [{}]{}", value(end.selector), blocks(end.targets), place(end.span)));
      case TerminatorKind::kReturn:
        return out_.line((end.results.empty() ? "return" : "return " + values(end.results)) +
                         place(end.span));
    }
  }

  const Graph& graph_;
  const SourceMap* sources_;
  const std::vector<std::string>* types_;
  std::vector<BlockId> order_;
  std::vector<BlockId> block_number_;
  std::vector<std::string> names_;
  TextWriter out_;
};

}  // namespace

std::string to_text(const Graph& graph) { return Printer(graph, nullptr).run(); }
std::string to_text(const Graph& graph, const SourceMap& sources) { return Printer(graph, &sources).run(); }
std::string to_text(const Graph& graph, const std::vector<std::string>& types) {
  return Printer(graph, nullptr, &types).run();
}
std::vector<std::string> value_names(const Graph& graph) { return Printer(graph, nullptr).take_names(); }

}  // namespace galatea::ir
