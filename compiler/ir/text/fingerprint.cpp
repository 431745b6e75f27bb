#include "compiler/ir/text/fingerprint.h"

#include <map>
#include <string>

#include "base/checksum.h"
#include "compiler/op/operator.h"

namespace galatea::ir {
namespace {

class Fingerprint {
 public:
  explicit Fingerprint(const Graph& graph) : graph_(graph), order_(graph.topological_order()) {
    blocks_.assign(graph.blocks.size(), kNoId);
    values_.assign(graph.values.size(), kNoId);
    uint32_t number = 0;
    for (const BlockId id : order_) {
      blocks_[id] = number++;
      for (const Merge& merge : graph.block(id).merges) values_[merge.result] = count_++;
      for (const NodeId node : graph.block(id).nodes)
        for (const ValueId output : graph.node(node).outputs) values_[output] = count_++;
    }
  }

  uint64_t run() {
    add(graph_.options.exact ? "exact" : "fast");
    for (const BlockId id : order_) add(graph_.block(id));
    return hash_;
  }

 private:
  void add(std::string_view text) {
    // With its length, so that neighbours cannot trade letters.
    add_number(text.size());
    hash_ = checksum(text, hash_);
  }
  void add_number(uint64_t number) {
    char bytes[8];
    for (char& byte : bytes) {
      byte = static_cast<char>(number & 0xFF);
      number >>= 8;
    }
    hash_ = checksum({bytes, sizeof bytes}, hash_);
  }
  void add_value(ValueId id) { add_number(id < values_.size() ? values_[id] : kNoId); }
  void add_values(const std::vector<ValueId>& ids) {
    add_number(ids.size());
    for (const ValueId id : ids) add_value(id);
  }

  void add(const Block& block) {
    add_number(block.predecessors.size());
    for (const BlockId from : block.predecessors) add_number(blocks_[from]);
    for (const Merge& merge : block.merges) {
      add("merge");
      add_values(merge.operands);
    }
    for (const NodeId id : block.nodes) add(graph_.node(id));
    const Terminator& end = block.terminator;
    add_number(static_cast<uint64_t>(end.kind));
    add_value(end.selector);
    for (const BlockId to : end.targets) add_number(blocks_[to]);
    add_values(end.results);
  }

  void add(const Node& node) {
    if (!node.op) return;
    add(node.op->name);
    add_values(node.inputs);
    // In the order of their names: how a call spells them is no matter.
    std::map<std::string_view, const Arg*> args;
    for (const Arg& arg : node.args)
      if (counts(*node.op, arg)) args.emplace(arg.name, &arg);
    for (const auto& [name, arg] : args) {
      add(name);
      if (arg->is_value())
        add_value(arg->as_value());
      else
        add(to_text(arg->as_attr()));
    }
    for (const ValueId output : node.outputs) {
      const Type& type = graph_.type(output);
      add_number(static_cast<uint64_t>(type.dtype) << 8 | static_cast<uint64_t>(type.ndim));
      add(type.layout.str());
    }
    add_number(node.key);
  }

  static bool counts(const op::Operator& op, const Arg& arg) {
    const op::ArgSpec* spec = op.find_arg(arg.name);
    if (spec && spec->no_effect) return false;
    const bool is_reader = op.source && !op.is_fed();
    if (!is_reader || arg.is_value()) return true;
    return !std::holds_alternative<std::string>(arg.as_attr()) &&
           !std::holds_alternative<std::vector<std::string>>(arg.as_attr());
  }

  const Graph& graph_;
  std::vector<BlockId> order_;
  std::vector<uint32_t> blocks_, values_;  ///< numbers in this order
  uint32_t count_ = 0;
  uint64_t hash_ = checksum("galatea program");
};

}  // namespace

uint64_t fingerprint(const Graph& graph) { return Fingerprint(graph).run(); }

}  // namespace galatea::ir
