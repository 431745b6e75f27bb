// Paths: branches on data, joins, and the variables that paths leave behind.
//
// In: a condition and two arms, or the paths that ended in a function or loop. Out: one path, on which
// variables that differ are pending until they are read. See evaluator.h; merges.h merges their values.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/evaluator.h"
#include "dsl/pixel.h"

namespace galatea::dsl {

void Evaluator::enter_block(ir::BlockId block) {
  block_ = block;
  if (builder_ && block != ir::kNoId) builder_->set_insertion_block(block);
}

// The variables go with the path: nothing reads them before a join brings some back.
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
  std::vector<uint32_t> regions;
  for (const Path& path : paths) {
    builder_->jump(path.block, block, span);
    regions.push_back(path.region);
  }
  MergeContext context{block, regions_.common(regions), {}, span, construct, {}, 0};
  region_ = regions_.join(std::move(regions));
  enter_block(block);
  merge_envs(paths, context);
  if (!merge_values) return Value::none();
  std::vector<Value> values;
  for (const Path& path : paths) {
    values.push_back(path.value);
    context.spans.push_back(path.span);
  }
  return merges_.merge(values, context);
}

void Evaluator::merge_envs(std::vector<Path>& paths, const MergeContext& context) {
  spend(paths[0].env.size() * kWorkPerBinding * paths.size());
  // Nothing of the graph is built here, so the order of the names does not matter.
  std::vector<std::string> differing;
  for (const auto& [name, binding] : paths[0].env) {
    auto agrees = [&](const Path& path) {
      auto found = path.env.find(name);
      return found != path.env.end() && found->second.value.same_as(binding.value);
    };
    if (!std::all_of(paths.begin() + 1, paths.end(), agrees)) differing.push_back(name);
  }
  for (size_t i = 1; i < paths.size(); ++i) {
    for (const auto& [name, binding] : paths[i].env) {
      if (paths[0].env.try_emplace(name).second) differing.push_back(name);
    }
  }
  frame_->env = std::move(paths[0].env);
  for (const std::string& name : differing) {
    auto* pending = arena.make<PendingObject>(paths.size() * sizeof(PendingObject::Arm));
    pending->name = name;
    pending->join = context.join;
    pending->region = region_;
    pending->origin = context.origin;
    pending->span = context.span;
    pending->construct = context.construct;
    for (size_t i = 0; i < paths.size(); ++i) {
      const Env& env = i == 0 ? frame_->env : paths[i].env;
      auto found = env.find(name);
      Binding binding = found == env.end() ? Binding{} : found->second;
      pending->arms.push_back({binding.value, binding.span, paths[i].span});
    }
    frame_->env[name] = {Value(ValueKind::kPending, pending), context.span};
  }
}

// The value of a variable that paths disagree on, when it is read. Its arms may be pending in turn, as many
// as there were branches: they wait on a stack of ours.
Value Evaluator::resolve(PendingObject& pending, Span use) {
  std::vector<PendingObject*> open = {&pending};
  while (!open.empty()) {
    PendingObject& next = *open.back();
    auto unresolved = [](const PendingObject::Arm& arm) {
      return arm.value.is(ValueKind::kPending) && !arm.value.as<PendingObject>().resolved;
    };
    auto first = std::find_if(next.arms.begin(), next.arms.end(), unresolved);
    if (!next.resolved && first != next.arms.end()) {
      open.push_back(&first->value.as<PendingObject>());
      continue;
    }
    open.pop_back();
    if (next.resolved) continue;
    next.result = resolve_arms(next, use);
    next.resolved = true;
  }
  return pending.result;
}

Value Evaluator::resolve_arms(PendingObject& pending, Span use) {
  if (!step(use)) return Value::poison();
  MergeContext context{pending.join, pending.origin, {}, pending.span, pending.construct, pending.name, 0};
  std::vector<Value> values;
  bool missing = false, poisoned = false;
  for (const PendingObject::Arm& arm : pending.arms) {
    Value value = arm.value.is(ValueKind::kPending) ? arm.value.as<PendingObject>().result : arm.value;
    missing = missing || value.is(ValueKind::kUndefined);
    poisoned = poisoned || value.is_poison();
    values.push_back(value);
    context.spans.push_back(arm.span);
  }
  if (poisoned) return Value::poison();
  if (!missing) {
    // A list that is merged now is made for the samples of the join, wherever it is read.
    uint32_t region = std::exchange(region_, pending.region);
    Value merged = merges_.merge(values, context);
    region_ = region;
    return merged;
  }
  Diagnostic diagnostic =
      diagnose(Message::kNotOnEveryPath, use, {pending.name, std::string(pending.construct)});
  diagnostic.labels.push_back({pending.span, fmt::format("this {} depends on data", pending.construct)});
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is(ValueKind::kUndefined) && !pending.arms[i].end.valid())
      diagnostic.labels[0].text += ", and has no `else`";
    else if (values[i].is(ValueKind::kUndefined))
      add_label(diagnostic, pending.arms[i].end, fmt::format("`{}` is missing on this path", pending.name));
    else if (context.spans[i].valid())
      add_label(diagnostic, context.spans[i], "assigned only here");
  }
  return report(std::move(diagnostic));
}

// ---- changes ----

bool Evaluator::may_change(const Value& value, Span span) {
  ContainerObject& object = value.container();
  bool together = object.region == region_ || !graph_;
  if (together && !object.twin.valid()) {
    object.changed = true;
    return true;
  }
  if (!together && pixel_ && object.region != 0) {
    fail(Message::kPixelChange, span, {std::string(type_name(value))});
    object.spoiled = true;
    return false;
  }
  bool of_file = !together && object.region == 0;
  Message message = together  ? Message::kChangeTwin
                    : of_file ? Message::kChangeModuleValue
                              : Message::kChangeInArm;
  Diagnostic diagnostic = diagnose(message, span, {std::string(type_name(value))});
  if (together) {
    diagnostic.labels.push_back({object.twin, "for some samples, it is what was made here"});
  } else {
    if (object.span.valid())
      diagnostic.labels.push_back({object.span, of_file ? "made here, outside every pipeline"
                                                : regions_.conditional(object.region)
                                                    ? "made here, for more samples"
                                                    : "made here, for all samples"});
    if (Span cause = regions_.cause(region_); !of_file && cause.valid())
      diagnostic.labels.push_back({cause, "from here on, only some samples"});
  }
  report(std::move(diagnostic));
  object.spoiled = true;
  return false;
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
  const std::vector<ir::BlockId> blocks = {builder_->add_block(), builder_->add_block()};
  builder_->branch(block_, *choice, blocks[0], blocks[1], condition_span);
  return run_arms({{then, then_span}, {otherwise, otherwise_span}}, blocks, condition_span, span, construct,
                  merge_values);
}

Value Evaluator::run_arms(const std::vector<Arm>& arms, const std::vector<ir::BlockId>& blocks,
                          Span condition_span, Span span, std::string_view construct, bool merge_values) {
  Env env = frame_->env;
  // It is copied for each arm but the last, and compared at the join.
  spend(env.size() * kWorkPerBinding * (2 * arms.size() - 1));
  HeldBytes held(arena, env.size() * kBindingBytes);
  std::vector<Path> paths;
  uint32_t rest = region_;
  for (size_t i = 0; i < arms.size(); ++i) {
    const bool last = i + 1 == arms.size();
    auto [region, others] = last ? std::pair(rest, rest) : regions_.split(rest, condition_span);
    rest = others;
    region_ = region;
    enter_block(blocks[i]);
    Value value = arms[i].run();
    if (alive()) paths.push_back(end_path(value, arms[i].span));
    if (!last) frame_->env = i + 2 == arms.size() ? std::move(env) : env;
  }
  return join(std::move(paths), span, construct, merge_values);
}

}  // namespace galatea::dsl
