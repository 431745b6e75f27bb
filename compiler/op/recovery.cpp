// Values for what is missing, one argument at a time; the types on which all answers agree.
#include "compiler/op/recovery.h"

#include <algorithm>
#include <map>

#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

using NodeSpec = GraphBuilder::NodeSpec;

/// Values that an argument may have, such that a type which depends on it differs between some of them. None
/// stands for leaving it out. Empty: nothing can be said without it.
std::vector<ir::Attr> possible_values(const ArgSpec& spec) {
  std::vector<ir::Attr> values;
  if (!spec.required) values.emplace_back(ir::None{});
  const auto add = [&](std::initializer_list<ir::Attr> more) { values.insert(values.end(), more); };
  switch (spec.kind) {
    case ArgKind::kBool:
      add({false, true});
      break;
    case ArgKind::kInt:
    case ArgKind::kInterp:
    case ArgKind::kImageType:
      add({int64_t{1}, int64_t{2}, int64_t{1} << 20});
      break;
    case ArgKind::kFloat:
    case ArgKind::kFloatList:
      add({1.0});
      break;
    case ArgKind::kDType:
      add({DType::kU8, DType::kF32});
      break;
    case ArgKind::kIntList:
      add({std::vector<int64_t>{0}, std::vector<int64_t>{0, 1}});
      break;
    case ArgKind::kString:
    case ArgKind::kStringList:
      add({std::string("?")});
      break;
    case ArgKind::kLayout:
    case ArgKind::kDTypeList:
    case ArgKind::kDict:
    case ArgKind::kAny:
      return {};
  }
  return values;
}

DType dtype_of_data(ArgKind kind) {
  return kind == ArgKind::kFloat || kind == ArgKind::kFloatList || kind == ArgKind::kAny ? DType::kF32
                                                                                         : DType::kI32;
}

/// What all answers say: nothing where they differ in more than extents.
std::optional<std::vector<ir::Type>> common_types(std::vector<std::vector<ir::Type>> answers) {
  if (answers.empty()) return std::nullopt;
  std::vector<ir::Type> common = answers[0];
  for (const std::vector<ir::Type>& answer : answers) {
    if (answer.size() != common.size()) return std::nullopt;
    for (size_t k = 0; k < answer.size(); ++k) {
      ir::Type other = answer[k];
      if (other.ndim != common[k].ndim) return std::nullopt;
      for (size_t d = 0; d < other.extents.size(); ++d)
        if (other.extents[d] != common[k].extents[d]) other.extents[d] = common[k].extents[d] = -1;
      if (other != common[k]) return std::nullopt;
    }
  }
  return common;
}

/// Whether a text speaks of one of the arguments; `size` is not in `fn.resize`, nor `crop` in `fn.crop`.
bool speaks_of(const std::string& text, const std::vector<std::string>& arguments) {
  const auto is_part = [&](size_t at, bool before) {
    const char c = at < text.size() ? text[at] : ' ';
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (before && c == '.');
  };
  for (const std::string& name : arguments)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      if ((at == 0 || !is_part(at - 1, true)) && !is_part(at + name.size(), false)) return true;
  return false;
}

class Recovery {
 public:
  Recovery(const ir::Graph& graph, NodeSpec call, std::vector<std::string> missing,
           const std::function<ir::ValueId(DType, int)>& make_value)
      : graph_(graph), call_(std::move(call)), missing_(std::move(missing)), make_value_(make_value) {}

  RecoveredCall run() {
    while (find_error()) {
    }
    std::vector<std::vector<ir::Type>> answers;
    for (const NodeSpec& spec : possible_calls(false)) {
      NodeSpec asked = spec;
      if (auto types = check_call(graph_, asked)) answers.push_back(std::move(*types));
    }
    found_.types = common_types(std::move(answers));
    return std::move(found_);
  }

 private:
  /// Keeps an error of one more argument, which then is missing, too: one that stays whatever the missing ones
  /// are, so far as anybody knows. Errors of the whole call, and those that speak of what is missing, may be
  /// none of the text.
  bool find_error() {
    Error found;
    for (NodeSpec& spec : possible_calls(true)) {
      auto types = check_call(graph_, spec);
      if (types || types.error().kind != ErrorKind::kUser) return false;
      if (found.diagnostics.empty() && is_of_one_argument(types.error())) found = std::move(types.error());
    }
    if (found.diagnostics.empty()) return false;
    missing_.push_back(argument_of_error(call_, found.diagnostics[0])->name);
    std::erase_if(call_.args, [&](const ir::Arg& arg) { return arg.name == missing_.back(); });
    note_types(graph_, call_, found);
    found_.errors.push_back(std::move(found.diagnostics[0]));
    return true;
  }

  bool is_of_one_argument(const Error& error) const {
    return !error.diagnostics.empty() && argument_of_error(call_, error.diagnostics[0]) != nullptr &&
           !speaks_of(error.diagnostics[0].message, missing_);
  }

  std::vector<ir::Arg> values_of(const std::string& name, bool for_errors) {
    const ArgSpec* spec = call_.op->find_arg(name);
    if (spec == nullptr) return {{name, ir::Attr(ir::None{}), {}}};  // one of every operator, or of none
    if (spec->per_sample) {
      const auto [made, is_new] = made_.try_emplace(name, ir::kNoId);
      if (is_new) made->second = make_value_(dtype_of_data(spec->kind), takes_list(spec->kind) ? 1 : 0);
      return {{name, made->second, {}}};
    }
    std::vector<ir::Arg> values;
    for (ir::Attr& value : possible_values(*spec)) values.push_back({name, std::move(value), {}});
    // What depends on it nobody knows; what is wrong beside it is told by the call without it.
    if (values.empty() && for_errors && !spec->required) values.push_back({name, ir::Attr(ir::None{}), {}});
    return values;
  }

  /// The call with the first value of each missing argument, and with each other value of one of them.
  std::vector<NodeSpec> possible_calls(bool for_errors) {
    std::vector<std::vector<ir::Arg>> values;
    NodeSpec first = call_;
    for (const std::string& name : missing_) {
      values.push_back(values_of(name, for_errors));
      if (values.back().empty()) return {};
      first.args.push_back(values.back()[0]);
    }
    std::vector<NodeSpec> calls = {first};
    for (size_t k = 0; k < values.size(); ++k) {
      for (size_t v = 1; v < values[k].size(); ++v) {
        calls.push_back(first);
        calls.back().args[call_.args.size() + k] = values[k][v];
      }
    }
    return calls;
  }

  const ir::Graph& graph_;
  NodeSpec call_;
  std::vector<std::string> missing_;
  const std::function<ir::ValueId(DType, int)>& make_value_;
  std::map<std::string, ir::ValueId> made_;
  RecoveredCall found_;
};

const Operator& unknown_operator() {
  static const Operator kOperator = [] {
    Operator op;
    op.name = "unknown";
    op.kind = OperatorKind::kNative;
    op.internal = true;
    return op;
  }();
  return kOperator;
}

}  // namespace

const ir::Arg* argument_of_error(const NodeSpec& call, const Diagnostic& diagnostic) {
  const auto is_there = [&](const ir::Arg& arg) {
    return arg.span.valid() && arg.span == diagnostic.span && arg.span != call.span;
  };
  const auto found = std::ranges::find_if(call.args, is_there);
  return found == call.args.end() ? nullptr : &*found;
}

RecoveredCall recover_call(const ir::Graph& graph, NodeSpec call, std::vector<std::string> missing,
                           const std::function<ir::ValueId(DType, int)>& make_value) {
  return Recovery(graph, std::move(call), std::move(missing), make_value).run();
}

ir::NodeId add_unknown(ir::Graph& graph, ir::BlockId block, const std::vector<ir::Type>& types,
                       std::vector<ir::ValueId> inputs, Span span) {
  const auto id = static_cast<ir::NodeId>(graph.nodes.size());
  ir::Node node;
  node.op = &unknown_operator();
  node.inputs = std::move(inputs);
  node.block = block;
  node.span = span;
  for (size_t k = 0; k < types.size(); ++k) {
    node.outputs.push_back(static_cast<ir::ValueId>(graph.values.size()));
    graph.values.push_back({types[k], id, block, static_cast<uint32_t>(k), {}});
  }
  graph.nodes.push_back(std::move(node));
  graph.blocks[block].nodes.push_back(id);
  return id;
}

}  // namespace galatea::op
