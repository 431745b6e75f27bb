// Reads the text form of a graph; the grammar is at the head of reader.h. One function a rule of the grammar.
#include "compiler/ir/text/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "compiler/ir/attr.h"
#include "compiler/ir/text/text_cursor.h"
#include "compiler/ir/text/verifier.h"
#include "compiler/messages/messages.h"
#include "compiler/op/builder.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::ir {
namespace {

class Reader {
 public:
  Reader(const std::string& text, uint32_t file, const op::Registry& registry)
      : in_(text, file), registry_(registry), builder_(graph_, &registry) {}

  Result<Graph> run() {
    GALATEA_TRY(read_header());
    while (!in_.sees('}')) {
      if (in_.at_end()) return in_.error("`}` is expected at the end of the pipeline");
      GALATEA_TRY(read_block());
    }
    GALATEA_TRY(in_.expect('}'));
    if (!in_.at_end()) return in_.error("nothing may follow the pipeline");
    for (const auto& [label, block] : blocks_)
      if (!block.read) return in_.error(fmt::format("^{} is used, but there is no such block", label));
    if (graph_.blocks.empty()) return in_.error("the pipeline has no blocks");
    GALATEA_TRY(resolve_remarks());
    if (auto legal = verify(graph_); !legal) {
      legal.error().kind = ErrorKind::kUser;  // whoever wrote the text has to act
      return std::unexpected(std::move(legal.error()));
    }
    return std::move(graph_);
  }

 private:
  struct BlockEntry {
    BlockId id = kNoId;
    bool read = false;
  };

  // ---- header
  Status read_header() {
    if (!in_.take_word("pipeline")) return in_.error("a graph begins with `pipeline @name(…) {`");
    GALATEA_TRY(in_.expect('@'));
    graph_.name = in_.word();
    GALATEA_TRY(in_.expect('('));
    while (!in_.take(')')) {
      GALATEA_TRY(read_option());
      if (!in_.sees(')')) GALATEA_TRY(in_.expect(','));
    }
    return in_.expect('{');
  }

  Status read_option() {
    std::string key(in_.word());
    if (key.empty()) return in_.error("the name of an option is expected");
    GALATEA_TRY(in_.expect('='));
    PipelineOptions& o = graph_.options;
    if (key == "exact") return read_flag(&o.exact);
    if (key == "on_error") return read_on_error();
    if (key == "device") {
      for (const char* name : {"cpu", "gpu"})
        if (in_.take_word(name)) return o.device = name, Status{};
      return in_.error("`cpu` or `gpu` is expected");
    }
    if (key == "outputs") {
      GALATEA_ASSIGN(Attr names, read_attr());
      if (auto* list = std::get_if<std::vector<std::string>>(&names))
        return graph_.output_names = *list, Status{};
      return in_.error("outputs is a list of texts");
    }
    std::optional<int64_t> value = in_.integer();
    if (!value) return in_.error("an integer is expected");
    bool fits = *value >= 0 && *value <= (1 << 30);
    if (key == "seed")
      o.seed = *value;
    else if (key == "memory_limit")
      o.memory_limit = *value;
    else if (!fits)
      return in_.error(fmt::format("{} is out of range", key));
    else if (key == "batch_size")
      o.batch_size = static_cast<int>(*value);
    else if (key == "num_threads")
      o.num_threads = static_cast<int>(*value);
    else if (key == "prefetch_queue_depth")
      o.prefetch_queue_depth = static_cast<int>(*value);
    else
      return in_.error("there is no option " + key);
    return {};
  }

  Status read_flag(bool* flag) {
    *flag = in_.take_word("true");
    if (!*flag && !in_.take_word("false")) return in_.error("`true` or `false` is expected");
    return {};
  }

  Status read_on_error() {
    static constexpr const char* kNames[] = {"raise", "skip", "replace"};
    for (int k = 0; k < 3; ++k)
      if (in_.take_word(kNames[k])) return graph_.options.on_error = static_cast<OnError>(k), Status{};
    return in_.error("`raise`, `skip` or `replace` is expected");
  }

  // ---- blocks
  Result<int64_t> read_label() {
    GALATEA_TRY(in_.expect('^'));
    std::optional<int64_t> label = in_.integer();
    if (!label || *label < 0) return in_.error("the number of a block is expected");
    return *label;
  }

  BlockEntry& block_of(int64_t label) {
    BlockEntry& entry = blocks_[label];
    if (entry.id == kNoId) entry.id = builder_.add_block();
    return entry;
  }

  Status read_block() {
    GALATEA_ASSIGN(int64_t label, read_label());
    BlockEntry& entry = block_of(label);
    if (entry.read) return in_.error(fmt::format("^{} stands here a second time", label));
    entry.read = true;
    BlockId id = entry.id;
    builder_.set_insertion_block(id);
    if (in_.take('(')) {
      std::vector<BlockId> order;
      do {
        GALATEA_ASSIGN(int64_t predecessor, read_label());
        order.push_back(block_of(predecessor).id);
      } while (in_.take(','));
      GALATEA_TRY(in_.expect(')'));
      auto& found = graph_.blocks[id].predecessors;
      if (!std::is_permutation(order.begin(), order.end(), found.begin(), found.end()))
        return in_.error(fmt::format("the blocks before this one do not go to ^{} as it says", label),
                         "list every block that goes here once; blocks stand in topological order");
      found = order;
    }
    GALATEA_TRY(in_.expect(':'));
    while (true) {
      GALATEA_ASSIGN(bool ended, read_statement(id));
      if (ended) return {};
    }
  }

  /// True for the end of the block.
  Result<bool> read_statement(BlockId id) {
    size_t begin = in_.position();
    if (in_.take_word("jump")) {
      GALATEA_ASSIGN(BlockId target, read_target());
      builder_.jump(id, target, in_.span_from(begin));
      return true;
    }
    if (in_.take_word("branch")) return read_branch(id, begin);
    if (in_.take_word("switch")) return read_switch(id, begin);
    if (in_.take_word("return")) {
      std::vector<ValueId> results;
      if (in_.more_on_line() && in_.sees('%')) {
        GALATEA_ASSIGN(results, read_values());
      }
      builder_.return_values(id, std::move(results), in_.span_from(begin));
      return true;
    }
    GALATEA_TRY(read_definition(id, begin));
    return false;
  }

  Result<BlockId> read_target() {
    GALATEA_ASSIGN(int64_t label, read_label());
    BlockEntry& entry = block_of(label);
    if (entry.read)
      return in_.error(fmt::format("^{} stands before this block", label),
                       "a graph has no cycles: blocks stand in topological order");
    return entry.id;
  }

  Result<bool> read_branch(BlockId id, size_t begin) {
    GALATEA_ASSIGN(ValueId selector, read_value());
    GALATEA_ASSIGN(BlockId if_true, read_target());
    GALATEA_TRY(in_.expect(','));
    GALATEA_ASSIGN(BlockId if_false, read_target());
    if (if_true == if_false) return in_.error("both ways of the branch are one");
    builder_.branch(id, selector, if_true, if_false, in_.span_from(begin));
    return true;
  }

  Result<bool> read_switch(BlockId id, size_t begin) {
    GALATEA_ASSIGN(ValueId selector, read_value());
    GALATEA_TRY(in_.expect('['));
    std::vector<BlockId> targets;
    do {
      GALATEA_ASSIGN(BlockId target, read_target());
      targets.push_back(target);
    } while (in_.take(','));
    GALATEA_TRY(in_.expect(']'));
    builder_.switch_to(id, selector, std::move(targets), in_.span_from(begin));
    return true;
  }

  // ---- values
  Result<std::string> read_value_name() {
    GALATEA_TRY(in_.expect('%'));
    if (auto number = in_.integer()) return fmt::to_string(*number);
    std::string name(in_.word());
    if (name.empty()) return in_.error("the name of a value is expected");
    return name;
  }

  Result<ValueId> read_value() {
    size_t begin = in_.position();
    GALATEA_ASSIGN(std::string name, read_value_name());
    auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    in_.return_to(begin);
    return in_.error(fmt::format("%{} is not defined before this", name));
  }

  Result<std::vector<ValueId>> read_values() {
    std::vector<ValueId> out;
    do {
      GALATEA_ASSIGN(ValueId value, read_value());
      out.push_back(value);
    } while (in_.take(','));
    return out;
  }

  Status define(const std::string& name, ValueId value) {
    if (!values_.emplace(name, value).second) return in_.error(fmt::format("%{} is defined twice", name));
    // "%image.1": the number only tells it from other values of that variable.
    if (name[0] < '0' || name[0] > '9') graph_.values[value].variable = name.substr(0, name.find('.'));
    return {};
  }

  Status read_definition(BlockId block, size_t begin) {
    std::vector<std::string> names;
    if (in_.sees('%')) {
      do {
        GALATEA_ASSIGN(std::string name, read_value_name());
        names.push_back(std::move(name));
      } while (in_.take(','));
      GALATEA_TRY(in_.expect('='));
    }
    std::string op_name(in_.word());
    if (op_name.empty()) return in_.error("an operator is expected");
    if (op_name == "merge") return read_merge(block, names, begin);
    return read_node(op_name, names, begin);
  }

  Status read_merge(BlockId block, const std::vector<std::string>& names, size_t begin) {
    if (names.size() != 1) return in_.error("a merge has one result");
    GALATEA_TRY(in_.expect('('));
    GALATEA_ASSIGN(std::vector<ValueId> operands, read_values());
    GALATEA_TRY(in_.expect(')'));
    GALATEA_TRY(in_.expect(':'));
    GALATEA_ASSIGN(Type type, read_type());
    auto refuse = [&](std::string message) {
      in_.return_to(begin);
      return in_.error(std::move(message));
    };
    if (!graph_.blocks[block].nodes.empty()) return refuse("merges stand before nodes");
    if (operands.size() != graph_.blocks[block].predecessors.size())
      return refuse("a merge has one operand per block that leads here");
    return define(names[0],
                  builder_.add_merge(block, std::move(type), std::move(operands), in_.span_from(begin)));
  }

  Status read_node(const std::string& op_name, const std::vector<std::string>& names, size_t begin) {
    op::GraphBuilder::NodeSpec spec;
    spec.op = registry_.find(op_name);
    if (!spec.op)
      return compiler::user_error(compiler::Message::kUnknownOperator, in_.span_from(begin), op_name);
    GALATEA_TRY(in_.expect('('));
    if (!in_.sees(')')) {
      GALATEA_ASSIGN(spec.inputs, read_values());
    }
    GALATEA_TRY(in_.expect(')'));
    std::vector<std::pair<std::string, std::vector<std::string>>> remarks;
    if (in_.more_on_line() && in_.take('{')) GALATEA_TRY(read_args(spec, remarks));
    std::vector<Type> types;
    if (in_.more_on_line() && in_.take(':')) {
      do {
        GALATEA_ASSIGN(Type type, read_type());
        types.push_back(std::move(type));
      } while (in_.more_on_line() && in_.take(','));
    }
    GALATEA_TRY(read_suffixes(spec));
    spec.span = in_.span_from(begin);
    GALATEA_ASSIGN(NodeId id, builder_.add_node(std::move(spec)));
    Node& node = graph_.nodes[id];
    if (names.size() != node.outputs.size())
      return in_.error(fmt::format("{} has {} outputs, but {} names stand before it", op_name,
                                   node.outputs.size(), names.size()));
    if (!types.empty() && types.size() != names.size()) return in_.error("one type per output is expected");
    for (size_t k = 0; k < names.size(); ++k) {
      if (!types.empty()) GALATEA_TRY(take_type(graph_.values[node.outputs[k]].type, types[k], node));
      GALATEA_TRY(define(names[k], node.outputs[k]));
    }
    for (auto& [arg, values] : remarks) remarks_.push_back({id, std::move(arg), std::move(values)});
    return {};
  }

  /// The written type may know more or less of the extents than the operator's rule, and must agree in all
  /// else.
  Status take_type(Type& type, const Type& written, const Node& node) {
    Type refined = type;
    for (size_t d = 0; d < refined.extents.size() && d < written.extents.size(); ++d)
      if (refined.extents[d] < 0 || written.extents[d] < 0) refined.extents[d] = written.extents[d];
    if (refined != written) {
      std::string message =
          fmt::format("the type is {}, but {} gives {}", to_text(written), node.op->name, to_text(type));
      return compiler::user_error(compiler::Message::kGraphSyntax, node.span, message,
                                  "leave the type out to take the operator's");
    }
    type = std::move(refined);
    return {};
  }

  Status read_suffixes(op::GraphBuilder::NodeSpec& spec) {
    while (in_.more_on_line()) {
      if (in_.take_word("own_seed")) {
        spec.has_own_seed = true;
      } else if (in_.take_word("key")) {
        GALATEA_TRY(in_.expect('='));
        std::string_view digits = in_.number();
        if (digits.substr(0, 2) != "0x") return in_.error("a key is hexadecimal, as in 0x1f");
        auto [end, failure] = std::from_chars(digits.data() + 2, digits.data() + digits.size(), spec.key, 16);
        if (failure != std::errc() || end != digits.data() + digits.size())
          return in_.error("a key has at most 16 hexadecimal digits");
      } else if (in_.take_word("name")) {
        GALATEA_TRY(in_.expect('='));
        GALATEA_ASSIGN(spec.name, in_.quoted());
      } else {
        return in_.error("`key=`, `own_seed`, `name=` or the end of the line is expected");
      }
    }
    return {};
  }

  Status read_args(op::GraphBuilder::NodeSpec& spec,
                   std::vector<std::pair<std::string, std::vector<std::string>>>& remarks) {
    while (!in_.take('}')) {
      size_t begin = in_.position();
      std::string name(in_.word());
      if (name.empty()) return in_.error("the name of an argument is expected");
      GALATEA_TRY(in_.expect('='));
      if (in_.sees('%')) {
        GALATEA_ASSIGN(ValueId value, read_value());
        spec.args.push_back({name, value, in_.span_from(begin)});
      } else if (op::is_hidden_arg(name) && in_.take('[')) {
        std::vector<std::string> values;
        while (!in_.take(']')) {
          GALATEA_ASSIGN(std::string value, read_value_name());
          values.push_back(std::move(value));
          if (!in_.sees(']')) GALATEA_TRY(in_.expect(','));
        }
        remarks.emplace_back(name, std::move(values));
      } else {
        GALATEA_ASSIGN(Attr attr, read_attr());
        spec.args.push_back({name, std::move(attr), in_.span_from(begin)});
      }
      if (!in_.sees('}')) GALATEA_TRY(in_.expect(','));
    }
    return {};
  }

  /// Remarks name values that may stand later in the text.
  Status resolve_remarks() {
    for (const Remark& remark : remarks_) {
      std::vector<int64_t> ids;
      for (const std::string& name : remark.values) {
        auto found = values_.find(name);
        if (found == values_.end())
          return in_.error(fmt::format("%{} (in {}) is not defined", name, remark.arg));
        ids.push_back(found->second);
      }
      graph_.nodes[remark.node].args.push_back({remark.arg, Attr(ids), {}});
    }
    return {};
  }

  // ---- types and attributes
  /// A number; or "?", or a text of unknowns such as "min(h,224)", which only people read: derived from the
  /// rest, it tells nothing.
  Result<int64_t> read_extent() {
    if (in_.take('?')) return -1;
    const std::optional<int64_t> number = in_.integer();
    bool unknown = false;
    int depth = 0;
    while (true) {
      if (!in_.word().empty()) {
        unknown = true;
      } else if (in_.take('(')) {
        unknown = true;
        ++depth;
      } else if (depth > 0 && in_.take(')')) {
        --depth;
      } else if (in_.take('*') || in_.take('/') || in_.take('+')) {
        unknown = true;
      } else if (!(unknown && in_.integer()) && !(unknown && in_.take('-')) &&
                 !(depth > 0 && in_.take(','))) {
        break;
      }
    }
    if (depth > 0 || (!unknown && (!number || *number < 0))) return in_.error("an extent or `?` is expected");
    return unknown ? -1 : *number;
  }

  Result<Type> read_type() {
    Type type;
    auto dtype = dtype_from_short_name(in_.word());
    if (!dtype) return in_.error("an element type is expected", "as in u8, i32, f32 or bool");
    type.dtype = *dtype;
    GALATEA_TRY(in_.expect('['));
    while (!in_.take(']')) {
      GALATEA_ASSIGN(const int64_t extent, read_extent());
      type.extents.push_back(extent);
      if (!in_.sees(']')) GALATEA_TRY(in_.expect(','));
      if (type.extents.size() > 32) return in_.error("too many dimensions");
    }
    type.ndim = static_cast<int>(type.extents.size());
    type.layout = Layout(in_.layout_here(type.ndim));
    if (!type.layout.empty() && type.layout.size() != type.ndim)
      return in_.error("the layout does not have one letter per dimension");
    if (in_.take_word_here("gpu")) type.device = Device::kGpu;
    return type;
  }

  Result<Attr> read_attr(int depth = 0) {
    if (depth > kMaxAttrDepth) return in_.error("lists and dictionaries lie too deep in each other");
    if (in_.take('{')) return read_dict(depth);
    if (in_.sees('"')) {
      GALATEA_ASSIGN(std::string text, in_.quoted());
      return Attr(std::move(text));
    }
    if (in_.take('[')) return read_list(depth);
    size_t begin = in_.position();
    std::string word(in_.word());
    if (word == "none") return Attr(None{});
    if (word == "true" || word == "false") return Attr(word == "true");
    if (word == "float" || word == "string") {
      GALATEA_TRY(in_.expect('['));
      GALATEA_TRY(in_.expect(']'));
      return word == "float" ? Attr(std::vector<double>{}) : Attr(std::vector<std::string>{});
    }
    if (auto dtype = dtype_from_short_name(word)) return Attr(*dtype);
    in_.return_to(begin);
    return read_number();
  }

  Result<Attr> read_number() {
    size_t begin = in_.position();
    std::string_view text = in_.number();
    const char* last = text.data() + text.size();
    int64_t integer = 0;
    if (auto [end, failure] = std::from_chars(text.data(), last, integer);
        failure == std::errc() && end == last && !text.empty())
      return Attr(integer);
    double number = 0;
    if (auto [end, failure] = std::from_chars(text.data(), last, number);
        failure == std::errc() && end == last && !text.empty())
      return Attr(number);
    in_.return_to(begin);
    return in_.error("a value is expected",
                     "a number, a text in double quotes, true, false, none, an element type or a list");
  }

  Result<Attr> read_list(int depth) {
    std::vector<Attr> items;
    while (!in_.take(']')) {
      GALATEA_ASSIGN(Attr item, read_attr(depth + 1));
      items.push_back(std::move(item));
      if (!in_.sees(']')) GALATEA_TRY(in_.expect(','));
    }
    return list_attr(std::move(items));
  }

  Result<Attr> read_dict(int depth) {
    AttrDict dict;
    while (!in_.take('}')) {
      GALATEA_ASSIGN(std::string name, in_.quoted());
      if (std::ranges::find(dict.entries, name, &std::pair<std::string, Attr>::first) != dict.entries.end())
        return in_.error("the dictionary has \"" + name + "\" twice");
      GALATEA_TRY(in_.expect(':'));
      GALATEA_ASSIGN(Attr value, read_attr(depth + 1));
      dict.entries.emplace_back(std::move(name), std::move(value));
      if (!in_.sees('}')) GALATEA_TRY(in_.expect(','));
    }
    return Attr(std::move(dict));
  }

  struct Remark {
    NodeId node;
    std::string arg;
    std::vector<std::string> values;
  };

  TextCursor in_;
  const op::Registry& registry_;
  Graph graph_;
  op::GraphBuilder builder_;
  std::map<int64_t, BlockEntry> blocks_;
  std::map<std::string, ValueId> values_;
  std::vector<Remark> remarks_;
};

}  // namespace

Result<Graph> read_graph(const std::string& text, SourceMap& sources, const op::Registry& registry) {
  uint32_t file = sources.add("<graph>", text);
  return Reader(text, file, registry).run();
}

}  // namespace galatea::ir
