// Merging: one value for what paths left behind, leaf by leaf through lists, tuples, dicts and structs.
//
// In: the values of one variable at the end of each path. Out: a value on the join. Where nodes or numbers
// differ, that is a merge of the graph; containers are made anew, once for the same objects, so that names
// that shared a list on every path share the merged one.
//
// In Python a variable *is* the list of the arm that ran. A merged list can stand for that as long as no
// other name can see the difference: it may not change if, on some path only, it is also a list that was
// there before the branch, or a list that another variable has.
#include "dsl/merges.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/evaluator.h"
#include "dsl/pixel.h"

namespace galatea::dsl {
namespace {

constexpr size_t kMergeBytes = 400;  ///< of a merge in the graph, with its type and its place in Merges

int number_rank(const Value& value) {
  return value.is(ValueKind::kBool) ? 0 : value.is(ValueKind::kInt) ? 1 : 2;
}

DType number_dtype(int rank) { return rank == 0 ? DType::kBool : rank == 1 ? DType::kI32 : DType::kF32; }

// Whether it, or what stands for it after later branches, was changed since it was merged. Only a twin has
// several that stand for it, and they were found unchanged when it became one.
bool was_changed(const ContainerObject* object) {
  while (!object->changed && !object->twin.valid() && !object->merged_into.empty())
    object = object->merged_into[0];
  return object->changed;
}

// From now on neither it nor what stands for it may change.
void mark_twin(ContainerObject& object, Span twin) {
  std::vector<ContainerObject*> open = {&object};
  while (!open.empty()) {
    ContainerObject* next = open.back();
    open.pop_back();
    next->twin = twin;
    std::ranges::copy_if(next->merged_into, std::back_inserter(open),
                         [](const ContainerObject* later) { return !later->twin.valid(); });
  }
}

// "a dict with the keys 'a', 'b'": what tells one arm's value from the other's.
std::string describe_shape(const Value& value) {
  constexpr size_t kMaxShown = 6;
  std::string names;
  auto add = [&](size_t i, const std::string& name) {
    if (i < kMaxShown) names += (i > 0 ? ", " : "") + name;
    if (i == kMaxShown) names += ", …";
  };
  switch (value.kind) {
    case ValueKind::kList:
    case ValueKind::kTuple: {
      size_t size = value.elements().size();
      return fmt::format("a {} of {} element{}", type_name(value), size, size == 1 ? "" : "s");
    }
    case ValueKind::kDict: {
      const auto& entries = value.dict().entries;
      for (size_t i = 0; i < entries.size(); ++i) add(i, repr(entries[i].first));
      return entries.empty() ? "an empty dict"
                             : fmt::format("a dict with the key{} {}", entries.size() == 1 ? "" : "s", names);
    }
    case ValueKind::kStruct: {
      const auto& fields = value.as<StructObject>().fields;
      for (size_t i = 0; i < fields.size(); ++i) add(i, "`" + fields[i].first + "`");
      return fields.empty()
                 ? "an empty struct"
                 : fmt::format("a struct with the field{} {}", fields.size() == 1 ? "" : "s", names);
    }
    case ValueKind::kFunction:
      return "the function `" + value.as<FunctionObject>().name + "`";
    case ValueKind::kBuiltin:
      return "`" + value.as<BuiltinObject>().name + "`";
    case ValueKind::kOperator:
      return "`fn." + value.as<OperatorObject>().path + "`";
    case ValueKind::kDType:
    case ValueKind::kRange:
    case ValueKind::kEnum:
      return "`" + repr(value) + "`";
    default:
      return {};
  }
}

}  // namespace

Value Merges::merge(const std::vector<Value>& values, const MergeContext& context) {
  const Value& first = values.front();
  if (!ev_.step(context.span)) return Value::poison();
  if (context.depth > Walk::kMaxDepth)
    return ev_.fail(Message::kValueTooDeep, context.span, {std::to_string(Walk::kMaxDepth)});
  auto all = [&](auto test) { return std::all_of(values.begin(), values.end(), test); };
  if (!all([](const Value& v) { return !v.is_poison(); })) return Value::poison();
  if (all([&](const Value& v) { return v.same_as(first); })) return first;
  auto is_array = [](const Value& v) { return v.is(ValueKind::kArray); };
  if (all(is_array)) {
    auto same = all_equal(values, context.span);
    if (!same) return Value::poison();
    if (*same) return first;
  }
  if (all([&](const Value& v) { return v.is_node() || v.is_number() || is_array(v); }))
    return merge_nodes(values, context);
  bool same_kind = all([&](const Value& v) { return v.kind == first.kind; });
  if (same_kind && (first.is_sequence() || first.is(ValueKind::kDict) || first.is(ValueKind::kStruct)))
    return merge_containers(values, context);
  auto same = all_equal(values, context.span);
  if (!same) return Value::poison();
  if (*same) return first;
  if (!all([](const Value& v) { return !v.is(ValueKind::kNone); }))
    return fail(Message::kMergeNone, values, context, {});
  return fail(same_kind ? Message::kMergeStatic : Message::kMergeKinds, values, context,
              {describe_kind(first)});
}

// nullopt after an error.
std::optional<bool> Merges::all_equal(const std::vector<Value>& values, Span span) {
  for (const Value& value : values) {
    auto same = ev_.equals(value, values[0], span);
    if (!same || !*same) return same;
  }
  return true;
}

// Nodes, numbers and arrays: unequal numbers promote among themselves and become constants.
Value Merges::merge_nodes(std::vector<Value> values, const MergeContext& context) {
  auto rank_of = [&](const Value& value) {
    if (value.is_number()) return number_rank(value);
    auto chosen = value.is_node() ? of_numbers_.find(value.node) : of_numbers_.end();
    return chosen == of_numbers_.end() ? -1 : chosen->second.rank;
  };
  bool numbers_only = std::ranges::all_of(values, [&](const Value& v) { return rank_of(v) >= 0; });
  int rank = 0;
  for (const Value& value : values) {
    if (numbers_only || value.is_number()) rank = std::max(rank, rank_of(value));
  }
  // Numbers lie where the nodes lie that they meet.
  const bool with_gpu = std::ranges::any_of(
      values, [&](const Value& v) { return v.is_node() && ev_.type_of(v).device == ir::Device::kGpu; });
  const std::string device = with_gpu ? "gpu" : "";
  std::vector<Value> originals = values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_node()) {
      if (numbers_only && rank_of(values[i]) < rank)
        values[i] = raise(values[i], rank, context.join, context.spans[i]);
      if (values[i].is_poison()) return Value::poison();
      continue;
    }
    auto dtype = values[i].is_number() ? std::optional(number_dtype(rank)) : std::nullopt;
    values[i] = constant(values[i], context.join, dtype, device, context.spans[i]);
    if (values[i].is_poison()) return Value::poison();
  }
  ir::Type type = ev_.type_of(values[0]);
  for (const Value& value : values) {
    const ir::Type& other = ev_.type_of(value);
    // Of one element of a pixel function, both sides are computed and one is taken: they promote.
    const bool promotes = ev_.home_of(context.join) != 0 && other.ndim == 0 && type.ndim == 0;
    if (promotes) type.dtype = promote(type.dtype, other.dtype);
    std::string_view difference = promotes                      ? ""
                                  : other.ndim != type.ndim     ? "number of dimensions"
                                  : other.dtype != type.dtype   ? "element type"
                                  : other.layout != type.layout ? "layout"
                                  : other.device != type.device ? "device"
                                                                : "";
    if (!difference.empty()) {
      std::string help = difference == "element type"
                             ? fmt::format("convert one side: `fn.cast(x, dtype=types.{})`",
                                           types_name(promote(type.dtype, other.dtype)))
                         : difference == "number of dimensions"
                             ? "make the dimensions equal with `fn.reshape` or `fn.expand_dims`"
                         : difference == "layout" ? "name the axes alike with `fn.reshape(x, layout=…)`"
                                                  : "move one side with `.cpu()` or `.gpu()`";
      return fail(Message::kMergeTypes, originals, context, {std::string(difference), help});
    }
    for (size_t axis = 0; axis < type.extents.size() && axis < other.extents.size(); ++axis) {
      if (type.extents[axis] != other.extents[axis]) type.extents[axis] = -1;
    }
  }
  std::vector<ir::ValueId> operands;
  for (const Value& value : values) operands.push_back(value.node);
  const ir::ValueId merged = merge_node(context.join, type, operands, context.name, context.span);
  if (merged == ir::kNoId) return Value::poison();
  if (numbers_only) of_numbers_[merged] = {context.join, rank, originals};
  return Value::of_node(merged);
}

// A choice among numbers that is made once more, among the same numbers with a wider type: `2 if a else 3`
// where it meets 2.5 (the rest of a chain of `elif`).
Value Merges::raise(const Value& value, int rank, ir::BlockId join, Span span) {
  if (value.is_number()) return constant(value, join, number_dtype(rank), {}, span);
  const OfNumbers choice = of_numbers_.at(value.node);
  if (choice.rank == rank) return value;
  if (!ev_.step(span)) return Value::poison();
  std::vector<ir::ValueId> operands;
  for (const Value& original : choice.values) {
    Value raised = raise(original, rank, choice.join, span);
    if (raised.is_poison()) return raised;
    operands.push_back(raised.node);
  }
  const ir::ValueId merged = merge_node(choice.join, ev_.graph()->type(operands[0]), operands,
                                        ev_.graph()->value(value.node).variable, span);
  if (merged == ir::kNoId) return Value::poison();
  of_numbers_[merged] = {choice.join, rank, choice.values};
  return Value::of_node(merged);
}

// On every path, so that arms stay empty.
Value Merges::constant(const Value& value, ir::BlockId join, std::optional<DType> dtype,
                       const std::string& device, Span span) {
  op::GraphBuilder& builder = ev_.builder();
  const ir::BlockId here = builder.insertion_block();
  builder.set_insertion_block(ev_.home_of(join));
  Value made = ev_.constant_node(value, span, dtype, {}, {}, device);
  builder.set_insertion_block(here);
  return made;
}

ir::ValueId Merges::merge_node(ir::BlockId join, const ir::Type& type,
                               const std::vector<ir::ValueId>& operands, const std::string& variable,
                               Span span) {
  const auto place = std::pair(join, operands);
  if (const auto known = nodes_.find(place); known != nodes_.end()) return known->second;
  if (!ev_.graph_has_room(span)) return ir::kNoId;
  ev_.arena.count(kMergeBytes + operands.size() * 2 * sizeof(ir::ValueId));
  const ir::ValueId merged = ev_.builder().add_merge(join, type, operands, span);
  ev_.graph()->values[merged].variable = variable;
  nodes_.emplace(place, merged);
  return merged;
}

// ---- what goes ----

void Merges::forget() {
  nodes_.clear();
  objects_.clear();
  of_numbers_.clear();
}

void Merges::forget(const PixelScope& scope) {
  const ir::BlockId first = scope.first_block();
  nodes_.erase(nodes_.lower_bound({first, {}}), nodes_.end());
  objects_.erase(objects_.lower_bound({first, {}}), objects_.end());
  std::erase_if(of_numbers_, [&](const auto& merge) { return scope.owns(merge.first); });
}

// ---- containers ----

Value Merges::merge_containers(const std::vector<Value>& values, const MergeContext& context) {
  std::vector<const Object*> objects;
  for (const Value& value : values) objects.push_back(value.object);
  // A list may contain itself: it is known before its elements are merged. References stay valid in a map.
  auto [known, fresh] =
      objects_.try_emplace(std::make_pair(context.join, std::move(objects)), Value::poison());
  if (!fresh) return known->second;
  Value& result = known->second;
  if (values[0].is_sequence()) return result = merge_sequences(values, context, result);
  if (values[0].is(ValueKind::kDict)) return result = merge_dicts(values, context, result);
  return result = merge_structs(values, context);
}

Value Merges::merge_sequences(const std::vector<Value>& values, const MergeContext& context, Value& known) {
  size_t size = values[0].elements().size();
  for (const Value& value : values) {
    if (value.elements().size() != size) {
      return fail(
          Message::kMergeLength, values, context,
          {std::string(type_name(value)), std::to_string(size) + (size == 1 ? " element" : " elements"),
           std::to_string(value.elements().size())});
    }
  }
  bool is_list = values[0].is(ValueKind::kList);
  Value merged = is_list ? ev_.make_list({}, context.span) : ev_.make_tuple({});
  if (is_list && !note_sources(values, merged, context)) return Value::poison();
  if (is_list) known = merged;
  for (size_t i = 0; i < size; ++i) {
    std::vector<Value> leaves;
    for (const Value& value : values) leaves.push_back(value.elements()[i]);
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += fmt::format("[{}]", i);
    Value element = merge(leaves, leaf);
    merged.elements().push_back(element);
  }
  ev_.arena.count(size * sizeof(Value));
  return merged;
}

Value Merges::merge_dicts(const std::vector<Value>& values, const MergeContext& context, Value& known) {
  const DictObject& first = values[0].dict();
  for (const Value& value : values) {
    for (const auto& [key, entry] : value.dict().entries) {
      if (!values[0].dict().find(ev_.key_of(key)))
        return fail(Message::kMergeKeys, values, context, {repr(key)});
    }
    for (const auto& [key, entry] : first.entries) {
      if (!value.dict().find(ev_.key_of(key))) return fail(Message::kMergeKeys, values, context, {repr(key)});
    }
  }
  Value merged = ev_.make_dict(context.span);
  if (!note_sources(values, merged, context)) return Value::poison();
  known = merged;
  for (const auto& [key, entry] : first.entries) {
    std::vector<Value> leaves;
    for (const Value& value : values) leaves.push_back(*value.dict().find(ev_.key_of(key)));
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += "[" + repr(key) + "]";
    merged.dict().set(ev_.key_of(key), key, merge(leaves, leaf));
  }
  ev_.arena.count(first.entries.size() * 2 * sizeof(Value));
  return merged;
}

Value Merges::merge_structs(const std::vector<Value>& values, const MergeContext& context) {
  std::vector<std::pair<std::string, Value>> fields;
  const auto& first = values[0].as<StructObject>().fields;
  const std::string& type = values[0].as<StructObject>().type;
  for (const Value& value : values) {
    const auto& own = value.as<StructObject>().fields;
    auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (value.as<StructObject>().type != type ||
        !std::equal(own.begin(), own.end(), first.begin(), first.end(), same_name))
      return fail(Message::kMergeKinds, values, context, {"a `struct` with other fields"});
  }
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Value> leaves;
    for (const Value& value : values) leaves.push_back(value.as<StructObject>().fields[i].second);
    MergeContext leaf = context;
    ++leaf.depth;
    if (!leaf.name.empty()) leaf.name += "." + first[i].first;
    fields.emplace_back(first[i].first, merge(leaves, leaf));
  }
  Value merged = ev_.make_struct(std::move(fields));
  merged.as<StructObject>().type = type;
  return merged;
}

// Keeps track of what a merged list or dict stands for. false: it cannot, because it would miss a change.
bool Merges::note_sources(const std::vector<Value>& values, const Value& merged,
                          const MergeContext& context) {
  ContainerObject& target = merged.container();
  for (const Value& value : values) {
    ContainerObject& source = value.container();
    if (std::ranges::find(source.merged_into, &target) != source.merged_into.end()) continue;
    if (std::ranges::any_of(source.merged_into, was_changed)) {
      fail(Message::kMergeChanged, values, context, {std::string(type_name(value))});
      return false;
    }
    // Only what was made on one of the paths cannot be reached by another way.
    bool on_a_path = source.region != context.origin && ev_.regions().within(source.region, context.origin);
    bool alone = on_a_path && source.merged_into.empty() && !source.twin.valid();
    source.merged_into.push_back(&target);
    if (!alone) mark_twin(source, source.twin.valid() ? source.twin : source.span);
  }
  return true;
}

// ---- errors ----

Value Merges::fail(Message message, const std::vector<Value>& values, const MergeContext& context,
                   std::vector<std::string> arguments) {
  std::string what = context.name.empty() ? fmt::format("the value of this {}", context.construct)
                                          : "`" + context.name + "`";
  arguments.insert(arguments.begin(), what);
  auto shown = [&](const Value& value) {
    std::string shape = describe_shape(value);
    return shape.empty() ? ev_.type_text(value) : shape;
  };
  Diagnostic diagnostic = diagnose(message, context.span, std::move(arguments));
  diagnostic.span_text = fmt::format("this {} depends on data", context.construct);
  bool callable = std::ranges::all_of(values, [](const Value& v) {
    return v.is(ValueKind::kFunction) || v.is(ValueKind::kBuiltin) || v.is(ValueKind::kOperator);
  });
  if (callable)
    diagnostic.help = "call it in each branch: what the calls give can differ from sample to sample";
  for (size_t i = 0; i < values.size(); ++i) {
    if (context.spans[i].valid()) add_label(diagnostic, context.spans[i], "here it is " + shown(values[i]));
  }
  // Several variables may fail to merge at one `if`: each is reported at its own last assignment.
  // Of a function, what differs is told at its last `return`.
  const bool returns = context.construct == "`return`";
  if ((returns || !context.name.empty()) && !diagnostic.labels.empty()) {
    Label& last = diagnostic.labels.back();
    std::swap(diagnostic.span, last.span);
    std::swap(diagnostic.span_text, last.text);
    if (returns) diagnostic.labels.pop_back();
  }
  return ev_.report(std::move(diagnostic));
}

}  // namespace galatea::dsl
