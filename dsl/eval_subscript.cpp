// Attributes, indices and slices of static values and arrays. In: syntax trees. Out: values.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"
#include "dsl/methods.h"
#include "dsl/pixel.h"
#include "dsl/suggest.h"
#include "dsl/unicode.h"

namespace galatea::dsl {

// The path of what a file takes of a host module, whose parts are not known: `torchvision.transforms.Resize`.
std::optional<std::string> Evaluator::host_path(const Expression& e) const {
  if (e.kind == ExpressionKind::kAttribute) {
    const auto base = host_path(*e.operands[0]);
    if (!base) return std::nullopt;
    std::string path = *base + "." + e.text;
    const auto known = library_.find(path);
    const bool has_names = known != library_.end() && (!known->second->names.empty() ||
                                                       known->second->lookup != ModuleObject::Lookup::kHost);
    return has_names ? std::nullopt : std::optional(std::move(path));
  }
  if (e.kind != ExpressionKind::kName) return std::nullopt;
  for (const Frame* frame = frame_; frame; frame = frame->parent) {
    const auto found = frame->env.find(e.text);
    if (found == frame->env.end()) continue;
    const Value& value = found->second.value;
    const bool is_host = value.is(ValueKind::kModule) &&
                         value.as<ModuleObject>().lookup == ModuleObject::Lookup::kHost &&
                         value.as<ModuleObject>().names.empty();
    return is_host ? std::optional(value.as<ModuleObject>().name) : std::nullopt;
  }
  return std::nullopt;
}

Value Evaluator::eval_attribute(const Expression& e) {
  // Told as a whole: `torchvision.transforms.Resize`, not its first part.
  if (e.operands[0]->kind == ExpressionKind::kAttribute)
    if (const auto path = host_path(e)) return fail_host(*path, e.text_span);
  // A second change of the same list is reported as well; what reads it is silent.
  bool changes = changes_container(e.text);
  const Expression& written = *e.operands[0];
  if (written.kind == ExpressionKind::kName && !knows(written.text)) return fail_unknown_name(written, &e);
  Value base = changes ? eval_spoiled(written) : eval(written);
  if (base.is_poison() && written.kind == ExpressionKind::kName && alive())
    return attribute_of_spoiled(eval_spoiled(written), e);
  if (base.is_poison() || !alive()) return Value::poison();
  return attribute(base, e.text, e.span, e.text_span, &written);
}

// Of a list that holds nobody knows what, the names of methods are known: each wrong one is told once.
Value Evaluator::attribute_of_spoiled(const Value& base, const Expression& e) {
  const bool is_container = base.is(ValueKind::kList) || base.is(ValueKind::kDict);
  if (is_container && !find_method(*this, base, e.text) &&
      missing_methods_.emplace(&base.container(), e.text).second)
    attribute(base, e.text, e.span, e.text_span, e.operands[0].get());
  return Value::poison();
}

Value Evaluator::attribute(const Value& base, const std::string& name, Span span, Span name_span,
                           const Expression* written) {
  if (base.is(ValueKind::kModule)) return module_member(base.as<ModuleObject>(), name, name_span);
  if (base.is_node()) return node_attribute(base, name, span, name_span);
  if (is_bundle(base)) return Bundles(*this).attribute(base, name, span, name_span);
  std::vector<std::string> candidates;
  if (base.is(ValueKind::kStruct)) {
    for (const auto& [field, value] : base.as<StructObject>().fields) {
      if (field == name) return value;
      candidates.push_back(field);
    }
  } else if (base.is(ValueKind::kArray)) {
    if (auto found = array_attribute(*this, base, name)) return *found;
    candidates = array_attribute_names();
  } else if (auto method = find_method(*this, base, name)) {
    return *method;
  } else if (base.is(ValueKind::kFunction) && name == "__name__") {
    return make_string(base.as<FunctionObject>().name);
  } else if (base.is(ValueKind::kEnum) && (name == "name" || name == "value")) {
    const auto& e = base.as<EnumObject>();
    return name == "name" ? make_string(e.name) : Value::of(e.value);
  } else {
    candidates = method_names(base);
  }
  Diagnostic diagnostic = diagnose(Message::kNoAttribute, name_span, {describe_kind(base), name});
  const bool is_key = base.is(ValueKind::kDict) && base.dict().find(key_of(make_string(name)));
  if (const Suggestion* known = find_suggestion(Place::kStaticMember, type_name(base), name);
      known && !is_key)
    diagnostic.help = help_of(*known, "");
  else if (const auto near = is_key
                                 ? closest_match(name, candidates).transform([](auto n) { return Meant{n}; })
                                 : meant_by(name, candidates))
    diagnostic.help = "did you mean `" + near->name + "`?";
  else if (base.is(ValueKind::kDict) && written && base.dict().find(key_of(make_string(name))))
    diagnostic.help = "write `" + source_text(sources_, written->span) + "[\"" + name + "\"]`";
  else if (base.is(ValueKind::kDict))
    diagnostic.help =
        "an element is taken by its key, `d[\"" + name + "\"]`, and set by it: `d[\"key\"] = value`";
  else if (base.is(ValueKind::kTuple) && has_node(base))
    diagnostic.help = "it holds several values: unpack it, as in `image, label = …`";
  else if (base.is(ValueKind::kPipeline))
    diagnostic.help = "building and running belong to the host: `galatea run`, or the C API";
  else if (base.is(ValueKind::kNone) && written && written->kind == ExpressionKind::kName)
    diagnostic.help =
        "give `" + written->text + "` a value, or test it before: `if " + written->text + " is not None:`";
  label_hiding(diagnostic, written);
  return report(std::move(diagnostic));
}

// What an index holds is evaluated for its own mistakes and inputs, though nothing is taken from it.
void Evaluator::eval_unused_selector(const Expression& selector) {
  if (selector.kind != ExpressionKind::kSlice && selector.kind != ExpressionKind::kTuple)
    return void(eval(selector));
  for (const ExpressionPtr& operand : selector.operands)
    if (operand && alive()) eval_unused_selector(*operand);
}

Value Evaluator::eval_subscript(const Expression& e) {
  if (e.operands[0]->kind == ExpressionKind::kGenerator)
    return fail(Message::kUnsupportedSyntax, e.operands[0]->span,
                {"an index of a generator", "write a list: `[… for … in …]`"});
  Value base = eval(*e.operands[0]);
  if (!alive()) return Value::poison();
  const Expression& selector = *e.operands[1];
  if (base.is_poison()) {
    eval_unused_selector(selector);
    return base;
  }
  if (base.is_node() && pixel_ && !pixel_->owns(base.node) && type_of(base).ndim > 0)
    return read_element(base, selector, e.span);
  if (base.is_node()) return node_index(base, selector, e.span);
  if (base.is(ValueKind::kArray)) return eval_array_subscript(base, selector, e.span);
  if (selector.kind == ExpressionKind::kSlice) return eval_slice(base, selector, e.span);
  if (base.is(ValueKind::kBuiltin) && base.as<BuiltinObject>().is_type)
    return base;  // list[int] in an annotation
  Value key = eval(selector);
  if (contains_poison(key) || !alive()) return Value::poison();
  const Value* element = base.is(ValueKind::kStruct) ? base.as<StructObject>().find("__getitem__") : nullptr;
  if (element) {
    CallArguments arguments;
    arguments.positional = {key};
    arguments.spans = {selector.span};
    arguments.span = arguments.callee_span = e.span;
    arguments.callee_text = "[]";
    return call(*element, arguments);
  }
  return index(base, key, e.span);
}

Value Evaluator::fail_not_indexable(const Value& base, const Value& key, Span span) {
  const bool is_method = base.is(ValueKind::kBuiltin) && base.as<BuiltinObject>().self.is_node();
  const std::string method = is_method ? base.as<BuiltinObject>().name : "";
  Diagnostic diagnostic =
      diagnose(Message::kNotIndexable, span,
               {is_method ? "the method `" + method + "` of a data node" : describe_kind(base)});
  if (method == "shape") {
    const std::string written = source_text(sources_, span);
    const size_t end = written.find(".shape");
    const std::string call = end == std::string::npos
                                 ? "x.shape()[0]"
                                 : written.substr(0, end) + ".shape()" + written.substr(end + 6);
    diagnostic.help = "the extents are computed per sample: call it, as in `" + call + "`";
  }
  if (const std::string text = source_text(sources_, span);
      base.is(ValueKind::kStruct) && key.is(ValueKind::kString) && text.ends_with(']')) {
    const std::string written = text.substr(0, text.rfind('[')) + "." + key.text();
    diagnostic.help = "write `" + written + "`";
    diagnostic.edits.push_back({span, written, true});
  } else if (is_bundle(base))
    diagnostic.help = "take them of the picture, `t.image[…]`; `fn.slice` and `fn.crop` cut windows for all";
  return report(std::move(diagnostic));
}

// a[1, :, None]: indices, slices and new axes of an array.
Value Evaluator::eval_array_subscript(const Value& base, const Expression& selector, Span span) {
  using Kind = ArraySelector::Kind;
  std::vector<ArraySelector> selectors;
  auto add = [&](const Value& value, Span at) {
    Value number = plain(value);
    if (number.is_integral() && !number.is(ValueKind::kBool)) {
      selectors.push_back({Kind::kIndex, number, {}});
    } else if (value.is(ValueKind::kNone) || value.is(ValueKind::kNewAxis)) {
      selectors.push_back({Kind::kNewAxis, {}, {}});
    } else if (value.is(ValueKind::kEllipsis)) {
      selectors.push_back({Kind::kEllipsis, {}, {}});
    } else if (value.is(ValueKind::kArray) || value.is(ValueKind::kList)) {
      Value array = to_array(*this, value, at);
      if (array.is_poison()) return false;
      if (is_float(array.as<ArrayObject>().dtype)) return fail(Message::kIndexKind, at, {"a float"}), false;
      selectors.push_back({Kind::kArray, array, {}});
    } else {
      fail(value.is_node() ? Message::kIndexByNode : Message::kIndexKind, at,
           value.is_node() ? std::vector<std::string>{describe_kind(base), type_text(value)}
                           : std::vector<std::string>{describe_kind(value)});
      return false;
    }
    return true;
  };
  std::vector<const Expression*> parts = {&selector};
  if (selector.kind == ExpressionKind::kTuple) {
    parts.clear();
    for (const ExpressionPtr& operand : selector.operands) parts.push_back(operand.get());
  }
  for (const Expression* part : parts) {
    if (part->kind == ExpressionKind::kSlice) {
      ArraySelector slice{Kind::kSlice, {}, {}};
      if (!eval_slice_parts(base, *part, slice.part)) return Value::poison();
      selectors.push_back(slice);
      continue;
    }
    Value value = eval(*part);
    if (value.is_poison() || !alive()) return Value::poison();
    if (!value.is(ValueKind::kTuple) || parts.size() > 1) {
      if (!add(value, part->span)) return Value::poison();
      continue;
    }
    for (const Value& element : value.elements()) {
      if (!add(element, part->span)) return Value::poison();
    }
  }
  const Value result = array_index(*this, base, selectors, span);
  const bool copies =
      std::ranges::any_of(selectors, [](const ArraySelector& s) { return s.kind == Kind::kArray; });
  if (!copies) note_view(base, result);
  return result;
}

Value Evaluator::index(const Value& base, const Value& given_key, Span span) {
  const Value key = base.is(ValueKind::kDict) ? given_key : plain(given_key);
  if (key.is_node() && pixel_ && base.is_sequence())
    if (auto chosen = choose_element(base, key, span)) return *chosen;
  if (key.is_node()) return fail(Message::kIndexByNode, span, {describe_kind(base), type_text(key)});
  if (base.is(ValueKind::kDict)) {
    std::string text = key_of(key);
    if (text.empty()) return fail_key(key, span);
    if (Value* found = base.dict().find(text)) return *found;
    std::vector<std::string> keys;
    for (const auto& [known, value] : base.dict().entries) {
      if (known.is(ValueKind::kString)) keys.push_back(known.text());
    }
    Diagnostic diagnostic = diagnose(Message::kNoKey, span, {repr(key)});
    auto near = key.is(ValueKind::kString) ? closest_match(key.text(), keys) : std::nullopt;
    constexpr size_t kShownKeys = 6;
    if (near)
      diagnostic.help = "did you mean `'" + *near + "'`?";
    else if (!keys.empty() && keys.size() <= kShownKeys)
      diagnostic.help = fmt::format("its keys are `\"{}\"`", fmt::join(keys, "\"`, `\""));
    return report(std::move(diagnostic));
  }
  bool is_text = base.is(ValueKind::kString), is_range = base.is(ValueKind::kRange);
  if (!base.is_sequence() && !is_text && !is_range) return fail_not_indexable(base, key, span);
  if (!key.is_integral()) {
    Diagnostic diagnostic = diagnose(Message::kIndexKind, span, {describe_kind(key)});
    if (base.is(ValueKind::kTuple) && has_node(base))
      diagnostic.help = "it holds several values: unpack it, as in `image, label = …`";
    return report(std::move(diagnostic));
  }
  if (is_text) spend(base.text().size() / 16);
  auto size = is_range
                  ? base.as<RangeObject>().size()
                  : static_cast<int64_t>(is_text ? count_characters(base.text()) : base.elements().size());
  int64_t at = key.as_int() < 0 ? key.as_int() + size : key.as_int();
  if (at < 0 || at >= size)
    return fail(Message::kIndexRange, span,
                {std::to_string(key.as_int()), std::string(type_name(base)), std::to_string(size)});
  if (is_range) return Value::of(base.as<RangeObject>().start + at * base.as<RangeObject>().step);
  return is_text ? make_string(std::string(character_at(base.text(), static_cast<size_t>(at))))
                 : base.elements()[static_cast<size_t>(at)];
}

// The bounds and the step of a slice of a static value; false after an error.
bool Evaluator::eval_slice_parts(const Value& base, const Expression& slice,
                                 std::optional<int64_t> (&parts)[3]) {
  for (size_t i = 0; i < 3; ++i) {
    if (!slice.operands[i]) continue;
    Value part = plain(eval(*slice.operands[i]));
    Span span = slice.operands[i]->span;
    if (part.is_poison() || !alive()) return false;
    if (part.is(ValueKind::kNone)) continue;
    if (part.is_node())
      return fail(Message::kIndexByNode, span, {describe_kind(base), type_text(part)}), false;
    if (!part.is_integral()) return fail(Message::kIndexKind, span, {describe_kind(part)}), false;
    parts[i] = part.as_int();
  }
  return true;
}

// The places that a slice names among `size` elements; nullopt after an error.
std::optional<Evaluator::SlicePlaces> Evaluator::slice_places(const Value& base, const Expression& slice,
                                                              int64_t size, Span span) {
  std::optional<int64_t> parts[3];
  if (!eval_slice_parts(base, slice, parts)) return std::nullopt;
  int64_t step_size = parts[2].value_or(1);
  if (step_size == 0) {
    fail(Message::kZeroStep, span);
    return std::nullopt;
  }
  auto clip = [&](std::optional<int64_t> bound, int64_t absent) {
    if (!bound) return absent;
    int64_t at = *bound < 0 ? *bound + size : *bound;
    return step_size > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  const int64_t begin = clip(parts[0], step_size > 0 ? 0 : size - 1);
  const int64_t end = clip(parts[1], step_size > 0 ? size : -1);
  step_size = std::clamp<int64_t>(step_size, -size - 1, size + 1);
  const int64_t width = step_size > 0 ? end - begin : begin - end, stride = std::abs(step_size);
  return SlicePlaces{begin, std::max<int64_t>((width + stride - 1) / stride, 0), step_size};
}

Value Evaluator::eval_slice(const Value& base, const Expression& slice, Span span) {
  bool is_text = base.is(ValueKind::kString);
  if (!base.is_sequence() && !is_text && !base.is(ValueKind::kRange)) {
    std::optional<int64_t> parts[3];
    if (!eval_slice_parts(base, slice, parts)) return Value::poison();
    return fail_not_indexable(base, {}, span);
  }
  auto elements = iterate(base, span, "sliced");
  if (!elements) return Value::poison();
  const auto places = slice_places(base, slice, static_cast<int64_t>(elements->size()), span);
  if (!places) return Value::poison();
  std::vector<Value> out;
  for (int64_t i = 0; i < places->count; ++i)
    out.push_back((*elements)[static_cast<size_t>(places->begin + i * places->step)]);
  if (is_text) {
    std::string text;
    for (const Value& c : out) text += c.text();
    return make_string(std::move(text));
  }
  return base.is(ValueKind::kTuple) ? make_tuple(std::move(out)) : make_list(std::move(out), span);
}

}  // namespace galatea::dsl
