// Paths: branches on data, joins, and the merging of what paths leave behind.
//
// In: a condition and two arms, or the paths that ended in a function or loop. Out: one path, with merges
// where values differ. See evaluator.h.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

int number_rank(const Value& value) {
  return value.is(ValueKind::kBool) ? 0 : value.is(ValueKind::kInt) ? 1 : 2;
}

constexpr size_t kMergeBytes = 400;  ///< of a merge in the graph, with its type and its place in merges_

DType number_dtype(int rank) { return rank == 0 ? DType::kBool : rank == 1 ? DType::kI32 : DType::kF32; }

}  // namespace

void Evaluator::enter_block(ir::BlockId block) {
  block_ = block;
  if (builder_ && block != ir::kNoId) builder_->set_insertion_block(block);
}

Path Evaluator::end_path(Value value, Span span) {
  Path path{block_, std::move(frame_->env), region_, value, span, {}};
  frame_->env.clear();
  path.held = HeldBytes(arena, path.env.size() * kBindingBytes);
  block_ = ir::kNoId;
  return path;
}

void Evaluator::take_path(Path path) {
  frame_->env = std::move(path.env);
  region_ = path.region;
  enter_block(path.block);
}

Value Evaluator::join(std::vector<Path> paths, Span span, std::string_view construct, bool merge_values) {
  if (paths.empty()) {
    block_ = ir::kNoId;
    return Value::none();
  }
  if (paths.size() == 1) {
    Value value = paths[0].value;
    take_path(std::move(paths[0]));
    return value;
  }
  if (!graph_has_room(span)) return Value::poison();
  ir::BlockId block = builder_->add_block();
  for (const Path& path : paths) builder_->jump(path.block, block, span);
  enter_block(block);
  merge_envs(paths, block, span, construct);
  if (!merge_values) return Value::none();
  MergeContext context{block, {}, span, construct, {}, 0};
  std::vector<Value> values;
  for (const Path& path : paths) {
    values.push_back(path.value);
    context.spans.push_back(path.span);
  }
  return merge(values, context);
}

void Evaluator::merge_envs(const std::vector<Path>& paths, ir::BlockId block, Span span,
                           std::string_view construct) {
  Env env = paths[0].env;
  spend(env.size() * kWorkPerBinding * paths.size());
  auto add_pending = [&](const std::string& name) {
    auto* pending = arena.make<PendingObject>(paths.size() * sizeof(PendingObject::Arm));
    pending->name = name;
    pending->join = block;
    pending->span = span;
    pending->construct = construct;
    for (const Path& path : paths) {
      auto found = path.env.find(name);
      pending->arms.push_back(found == path.env.end()
                                  ? PendingObject::Arm{}
                                  : PendingObject::Arm{found->second.value, found->second.span});
    }
    env[name] = {Value(ValueKind::kPending, pending), span};
  };
  // Nothing of the graph is built here, so the order of the names does not matter.
  for (const auto& [name, binding] : paths[0].env) {
    auto agrees = [&](const Path& path) {
      auto found = path.env.find(name);
      return found != path.env.end() && found->second.value.same_as(binding.value);
    };
    if (!std::all_of(paths.begin() + 1, paths.end(), agrees)) add_pending(name);
  }
  for (size_t i = 1; i < paths.size(); ++i) {
    for (const auto& [name, binding] : paths[i].env) {
      if (!env.contains(name)) add_pending(name);
    }
  }
  frame_->env = std::move(env);
}

// The value of a variable that paths disagree on, when it is read.
Value Evaluator::resolve(PendingObject& pending, Span use) {
  if (pending.resolved) return pending.result;
  if (pending.resolving || !step(use)) return Value::poison();
  pending.resolving = true;
  MergeContext context{pending.join, {}, pending.span, pending.construct, pending.name, 0};
  std::vector<Value> values;
  bool missing = false;
  for (const PendingObject::Arm& arm : pending.arms) {
    Value value = arm.value;
    if (value.is(ValueKind::kPending)) value = resolve(value.as<PendingObject>(), use);
    missing = missing || value.is(ValueKind::kUndefined);
    values.push_back(value);
    context.spans.push_back(arm.span);
  }
  if (missing && std::none_of(values.begin(), values.end(), [](const Value& v) { return v.is_poison(); })) {
    Diagnostic diagnostic =
        diagnose(Message::kNotOnEveryPath, use, {pending.name, std::string(pending.construct)});
    diagnostic.labels.push_back({pending.span, fmt::format("this {} depends on data", pending.construct)});
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is(ValueKind::kUndefined) && context.spans[i].valid())
        diagnostic.labels.push_back({context.spans[i], "assigned only here"});
    }
    pending.result = report(std::move(diagnostic));
  } else {
    pending.result = missing ? Value::poison() : merge(values, context);
  }
  pending.resolved = true;
  return pending.result;
}

// ---- merging leaf by leaf ----

Value Evaluator::merge(const std::vector<Value>& values, const MergeContext& context) {
  const Value& first = values.front();
  if (!step(context.span)) return Value::poison();
  if (context.depth > Walk::kMaxDepth)
    return fail(Message::kValueTooDeep, context.span, {std::to_string(Walk::kMaxDepth)});
  for (const Value& value : values) {
    if (value.is_poison()) return Value::poison();
    if (value.is(ValueKind::kPending)) {
      std::vector<Value> resolved = values;
      for (Value& v : resolved) {
        if (v.is(ValueKind::kPending)) v = resolve(v.as<PendingObject>(), context.span);
      }
      return merge(resolved, context);
    }
  }
  auto all = [&](auto test) { return std::all_of(values.begin(), values.end(), test); };
  if (all([&](const Value& v) { return v.same_as(first); })) return first;
  if (all([](const Value& v) { return v.is_node() || v.is_number(); })) return merge_nodes(values, context);
  bool same_kind = all([&](const Value& v) { return v.kind == first.kind; });
  if (same_kind && first.is_sequence()) return merge_sequences(values, context);
  if (same_kind && first.is(ValueKind::kDict)) return merge_dicts(values, context);
  if (same_kind && first.is(ValueKind::kStruct)) return merge_structs(values, context);
  bool equal_so_far = true;
  for (const Value& value : values) {
    auto same = equals(value, first, context.span);
    if (!same) return Value::poison();
    equal_so_far = equal_so_far && *same;
  }
  if (equal_so_far) return first;
  if (std::any_of(values.begin(), values.end(), [](const Value& v) { return v.is(ValueKind::kNone); }) &&
      !all([](const Value& v) { return v.is(ValueKind::kNone); }))
    return fail_merge(Message::kMergeNone, values, context, {});
  return fail_merge(same_kind ? Message::kMergeStatic : Message::kMergeKinds, values, context,
                    {describe_kind(first)});
}

// Nodes and numbers: unequal numbers promote among themselves and become constants.
Value Evaluator::merge_nodes(std::vector<Value> values, const MergeContext& context) {
  int rank = 0;
  for (const Value& value : values) {
    if (value.is_number()) rank = std::max(rank, number_rank(value));
  }
  std::vector<Value> originals = values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_node()) continue;
    // The constant goes to the entry, where it is on every path and leaves arms empty.
    ir::BlockId here = builder_->insertion_block();
    builder_->set_insertion_block(0);
    values[i] = constant_node(values[i], context.spans[i], number_dtype(rank));
    builder_->set_insertion_block(here);
    if (values[i].is_poison()) return Value::poison();
  }
  ir::Type type = type_of(values[0]);
  for (const Value& value : values) {
    const ir::Type& other = type_of(value);
    std::string_view difference = other.dtype != type.dtype     ? "element type"
                                  : other.ndim != type.ndim     ? "number of dimensions"
                                  : other.layout != type.layout ? "layout"
                                  : other.device != type.device ? "device"
                                                                : "";
    if (!difference.empty()) {
      std::string_view help = difference == "element type"
                                  ? "convert one side: `fn.cast_like(x, y)` or `fn.cast(x, dtype=…)`"
                              : difference == "number of dimensions"
                                  ? "make the dimensions equal with `fn.reshape` or `fn.expand_dims`"
                              : difference == "layout" ? "name the axes alike with `fn.reshape(x, layout=…)`"
                                                       : "move one side with `.cpu()` or `.gpu()`";
      return fail_merge(Message::kMergeTypes, originals, context,
                        {std::string(difference), std::string(help)});
    }
    for (size_t axis = 0; axis < type.extents.size() && axis < other.extents.size(); ++axis) {
      if (type.extents[axis] != other.extents[axis]) type.extents[axis] = -1;
    }
  }
  std::vector<ir::ValueId> operands;
  for (const Value& value : values) operands.push_back(value.node);
  auto [known, fresh] = merges_.emplace(std::make_pair(context.join, operands), ir::kNoId);
  if (fresh) {
    if (!graph_has_room(context.span)) return Value::poison();
    arena.count(kMergeBytes + operands.size() * 2 * sizeof(ir::ValueId));
    known->second = builder_->add_merge(context.join, std::move(type), operands, context.span);
    graph_->values[known->second].variable = context.name;
  }
  return Value::of_node(known->second);
}

Value Evaluator::merge_sequences(const std::vector<Value>& values, const MergeContext& context) {
  size_t size = values[0].elements().size();
  for (const Value& value : values) {
    if (value.elements().size() != size) {
      return fail_merge(
          Message::kMergeLength, values, context,
          {std::string(type_name(value)), std::to_string(size), std::to_string(value.elements().size())});
    }
  }
  std::vector<Value> merged;
  for (size_t i = 0; i < size; ++i) {
    std::vector<Value> leaves;
    for (const Value& value : values) leaves.push_back(value.elements()[i]);
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += fmt::format("[{}]", i);
    merged.push_back(merge(leaves, leaf));
  }
  return values[0].is(ValueKind::kTuple) ? make_tuple(std::move(merged))
                                         : make_list(std::move(merged), context.span);
}

Value Evaluator::merge_dicts(const std::vector<Value>& values, const MergeContext& context) {
  Value result = make_dict(context.span);
  const auto& entries = values[0].dict().entries;
  for (const Value& value : values) {
    for (const auto& [key, entry] : value.dict().entries) {
      if (!values[0].dict().find(key_of(key)))
        return fail_merge(Message::kMergeKeys, values, context, {repr(key)});
    }
  }
  for (const auto& [key, entry] : entries) {
    std::vector<Value> leaves;
    for (const Value& value : values) {
      Value* found = value.dict().find(key_of(key));
      if (!found) return fail_merge(Message::kMergeKeys, values, context, {repr(key)});
      leaves.push_back(*found);
    }
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += "[" + repr(key) + "]";
    result.dict().set(key_of(key), key, merge(leaves, leaf));
  }
  return result;
}

Value Evaluator::merge_structs(const std::vector<Value>& values, const MergeContext& context) {
  std::vector<std::pair<std::string, Value>> fields;
  const auto& first = values[0].as<StructObject>().fields;
  for (const Value& value : values) {
    const auto& own = value.as<StructObject>().fields;
    auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (!std::equal(own.begin(), own.end(), first.begin(), first.end(), same_name))
      return fail_merge(Message::kMergeKinds, values, context, {"a `struct` with other fields"});
  }
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Value> leaves;
    for (const Value& value : values) leaves.push_back(value.as<StructObject>().fields[i].second);
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += "." + first[i].first;
    fields.emplace_back(first[i].first, merge(leaves, leaf));
  }
  return make_struct(std::move(fields));
}

Value Evaluator::fail_merge(Message message, const std::vector<Value>& values, const MergeContext& context,
                            std::vector<std::string> arguments) {
  std::string what = context.name.empty() ? fmt::format("the value of this {}", context.construct)
                                          : "`" + context.name + "`";
  arguments.insert(arguments.begin(), what);
  Diagnostic diagnostic = diagnose(message, context.span, std::move(arguments));
  diagnostic.span_text = fmt::format("this {} depends on data", context.construct);
  for (size_t i = 0; i < values.size(); ++i) {
    if (context.spans[i].valid())
      diagnostic.labels.push_back({context.spans[i], "here it is " + type_text(values[i])});
  }
  // Several variables may fail to merge at one `if`: each is reported at its own last assignment.
  if (!context.name.empty() && !diagnostic.labels.empty()) {
    Label& last = diagnostic.labels.back();
    std::swap(diagnostic.span, last.span);
    std::swap(diagnostic.span_text, last.text);
  }
  return report(std::move(diagnostic));
}

// ---- branches ----

std::optional<ir::ValueId> Evaluator::selector(const Value& condition, Span span,
                                               std::string_view construct) {
  const ir::Type& type = type_of(condition);
  if (type.ndim != 0) {
    fail(Message::kConditionNotScalar, span, {std::string(construct), ir::to_text(type)});
    return std::nullopt;
  }
  if (!is_float(type.dtype)) return condition.node;
  Value test = node_operator("arith.ne", {condition, Value::of(0.0)}, span);
  if (test.is_poison()) return std::nullopt;
  return test.node;
}

Value Evaluator::branch(const Value& condition, Span condition_span, Span span, std::string_view construct,
                        bool merge_values, const std::function<Value()>& then,
                        const std::function<Value()>& otherwise, Span then_span, Span otherwise_span) {
  std::optional<ir::ValueId> choice = selector(condition, condition_span, construct);
  if (!choice || !graph_has_room(span)) return Value::poison();
  ir::BlockId then_block = builder_->add_block(), otherwise_block = builder_->add_block();
  builder_->branch(block_, *choice, then_block, otherwise_block, condition_span);
  uint32_t region = region_;
  size_t num_returns = frame_->call->returns.size();
  size_t num_jumps = 0;
  for (LoopState* loop : frame_->loops) num_jumps += loop->breaks.size() + loop->continues.size();
  Env env = frame_->env;
  spend(env.size() * kWorkPerBinding * 3);  // it is copied here and for each arm
  HeldBytes held(arena, env.size() * kBindingBytes);
  std::vector<Path> paths;
  conditions_.push_back(condition_span);
  auto run_arm = [&](ir::BlockId block, const std::function<Value()>& arm, Span arm_span) {
    frame_->env = env;
    region_ = ++next_region_;
    region_causes_[region_] = condition_span;
    enter_block(block);
    Value value = arm();
    if (alive()) paths.push_back(end_path(value, arm_span));
  };
  run_arm(then_block, then, then_span);
  run_arm(otherwise_block, otherwise, otherwise_span);
  conditions_.pop_back();
  bool both = paths.size() == 2;
  Value result = join(std::move(paths), span, construct, merge_values);
  if (!both) return result;
  // Where nothing left the arms, all samples are together again and lists made before may change again.
  size_t jumps_now = 0;
  for (LoopState* loop : frame_->loops) jumps_now += loop->breaks.size() + loop->continues.size();
  bool closed = frame_->call->returns.size() == num_returns && jumps_now == num_jumps;
  region_ = closed ? region : ++next_region_;
  region_causes_.try_emplace(region_, condition_span);
  return result;
}

bool Evaluator::may_change(uint32_t region, Span made_at, const Value& container, Span span) {
  if (region == region_ || !graph_) return true;
  if (region == 0) {
    Diagnostic shared = diagnose(Message::kChangeModuleValue, span, {std::string(type_name(container))});
    if (made_at.valid()) shared.labels.push_back({made_at, "made here, outside every pipeline"});
    report(std::move(shared));
    return false;
  }
  Diagnostic diagnostic = diagnose(Message::kChangeInArm, span, {std::string(type_name(container))});
  if (made_at.valid()) diagnostic.labels.push_back({made_at, "made here, for all samples"});
  auto cause = region_causes_.find(region_);
  if (cause != region_causes_.end())
    diagnostic.labels.push_back({cause->second, "from here on, only some samples"});
  report(std::move(diagnostic));
  return false;
}

}  // namespace galatea::dsl
