// What the whole evaluator shares: errors, limits, making values, iterating and testing static values.
#include "dsl/evaluator.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_names.h"
#include "dsl/bundles.h"
#include "dsl/operator_text.h"
#include "dsl/pixel.h"

namespace galatea::dsl {
namespace {
constexpr std::ptrdiff_t kMaxStackBytes = 44 << 20;  ///< of the 64 MiB that frontend.cpp gives the evaluation

// Texts of the user's may be huge; a report is for people.
void clip(std::string& text) {
  constexpr size_t kMost = 4000;
  if (text.size() <= kMost) return;
  size_t left_out = text.size() - kMost, end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  text += fmt::format("… ({} more bytes)", left_out);
}

// All that a diagnostic says but its help, which says what to write.
std::vector<std::string*> texts_of(Diagnostic& diagnostic) {
  std::vector<std::string*> texts = {&diagnostic.message, &diagnostic.span_text};
  for (std::string& note : diagnostic.notes) texts.push_back(&note);
  for (Label& label : diagnostic.labels) texts.push_back(&label.text);
  return texts;
}

// "u8[?,?,3]" with another name for its elements.
void rename_type(std::string& text, std::string_view from, std::string_view to) {
  const std::string written = std::string(from) + "[";
  for (size_t at = text.find(written); at != std::string::npos; at = text.find(written, at + 1))
    if (at == 0 || text[at - 1] == ' ') text.replace(at, from.size(), to);
}

// Where a type is called as in `types`, it is called so everywhere in the message: not `u8` beside `UINT8`.
void spell_types_alike(Diagnostic& diagnostic) {
  const auto is_named = [&](int type) {
    return diagnostic.message.contains(types_name(static_cast<DType>(type)));
  };
  bool any = false;
  for (int i = 0; i < kNumDTypes; ++i) any = any || is_named(i);
  for (int i = 0; any && i < kNumDTypes; ++i)
    for (std::string* text : texts_of(diagnostic))
      rename_type(*text, short_name(static_cast<DType>(i)), types_name(static_cast<DType>(i)));
}

// Errors of the same words about the same text.
std::string key_of_equal(const Diagnostic& diagnostic, const SourceMap& sources) {
  return diagnostic.code + diagnostic.message + "\n" + source_text(sources, diagnostic.span);
}

}  // namespace

Evaluator::Evaluator(const op::Registry& registry, SourceMap& sources, DiagnosticSink& sink,
                     const FrontendOptions& options)
    : registry_(registry), sources_(sources), sink_(sink), options_(options) {
  stack_base_ = static_cast<const char*>(__builtin_frame_address(0));
  builtins_ = arena.make<ModuleObject>();
  builtins_->name = "builtins";
  add_builtins(*this, builtins_->names);
  add_struct(*this, builtins_->names);
  make_library_modules();
}
Evaluator::~Evaluator() = default;

bool Evaluator::stack_exhausted() const {
  // Not the address of a variable: the address sanitizer keeps those on a heap of its own.
  const std::ptrdiff_t used = stack_base_ - static_cast<const char*>(__builtin_frame_address(0));
  return used > kMaxStackBytes || used < -kMaxStackBytes;
}

// ---- errors and limits ----

Value Evaluator::report(Diagnostic diagnostic) {
  if (diagnostic.calls.empty()) diagnostic.calls = call_chain();
  if (in_library(diagnostic.span)) {
    const Span inside = std::exchange(diagnostic.span, user_span(diagnostic.span));
    add_label(diagnostic, inside, "here in the library");
  }
  // The call that led into the library is the place itself.
  auto is_place = [&](const CallSite& call) {
    return call.span.file == diagnostic.span.file && cover(call.span, diagnostic.span) == call.span;
  };
  if (!calls_.empty() && calls_.back().frame->module->of_library) std::erase_if(diagnostic.calls, is_place);
  const auto is_same = [&](const Diagnostic& other) {
    return other.code == diagnostic.code && other.span == diagnostic.span;
  };
  if (says_nothing_twice_ && std::ranges::any_of(sink_.diagnostics(), is_same)) return Value::poison();
  if (diagnostic.severity == Severity::kError && diagnostic.edits.empty()) suggest_value(diagnostic);
  spell_types_alike(diagnostic);
  clip(diagnostic.message);
  clip(diagnostic.help);
  if (is_told_often(diagnostic)) return Value::poison();
  sink_.report(std::move(diagnostic));
  return Value::poison();
}

// Of thousands of equal errors or warnings a few are shown, so that they hide no others.
bool Evaluator::is_told_often(const Diagnostic& diagnostic) {
  constexpr size_t kMost = 10;
  if (diagnostic.severity == Severity::kNote) return false;
  EqualErrors& equal = equal_errors_[key_of_equal(diagnostic, sources_)];
  const std::pair place(diagnostic.span.file, diagnostic.span.begin);
  if (equal.places.contains(place)) return false;
  if (equal.places.size() == kMost) {
    ++equal.left_out;
    return true;
  }
  equal.places.insert(place);
  return false;
}

void Evaluator::note_equal(std::vector<Diagnostic>& diagnostics) const {
  std::set<std::string> noted;
  for (Diagnostic& diagnostic : diagnostics) {
    const auto equal = equal_errors_.find(key_of_equal(diagnostic, sources_));
    if (equal == equal_errors_.end() || equal->second.left_out == 0 || !noted.insert(equal->first).second)
      continue;
    const size_t places = equal->second.left_out + equal->second.places.size();
    diagnostic.notes.push_back(fmt::format("the same mistake stands at {} places, of which {} are shown",
                                           places, equal->second.places.size()));
  }
}

Value Evaluator::fail(Message message, Span span, std::vector<std::string> arguments) {
  return report(diagnose(message, span, std::move(arguments)));
}

void Evaluator::note(Message message, Span span, std::vector<std::string> arguments) {
  report(diagnose(message, span, std::move(arguments)));
}

bool Evaluator::step(Span span) {
  if (aborted_) return false;
  if (options_.cancelled && options_.cancelled->load(std::memory_order_relaxed)) aborted_ = true;
  work_ += kWorkPerStep;
  const Limits& limits = options_.limits;
  if (too_much_work(span)) return false;
  if (arena.bytes() > static_cast<size_t>(limits.max_total_bytes)) {
    fail(Message::kTooMuchMemory, span, {bytes_text(limits.max_total_bytes)});
    abort(true);
  } else if ((work_ & 255) < kWorkPerStep && stack_exhausted()) {
    fail(Message::kCallsTooDeep, span,
         {calls_.empty() ? "the file" : frame_->call->name, std::to_string(calls_.size())});
    abort(false);
  }
  return !aborted_;
}

void Evaluator::abort(bool for_good) {
  aborted_ = left_some_ = true;
  out_of_budget_ = out_of_budget_ || for_good;
}

bool Evaluator::too_much_work(Span span) {
  int64_t most = options_.limits.max_steps;
  if (work_ <= static_cast<size_t>(most) * kWorkPerStep) return false;
  // A loop that goes on because a value could not grow has been answered.
  if (!size_refused_) fail(Message::kTooManySteps, span, {std::to_string(most)});
  abort(true);
  return true;
}

bool Evaluator::check_size(size_t bytes, Span span) {
  const Limits& limits = options_.limits;
  if (bytes > static_cast<size_t>(limits.max_value_bytes)) {
    fail(Message::kValueTooLarge, span, {bytes_text(limits.max_value_bytes)});
    size_refused_ = true;
    return false;
  }
  if (arena.bytes() + bytes <= static_cast<size_t>(limits.max_total_bytes)) return true;
  if (!aborted_) fail(Message::kTooMuchMemory, span, {bytes_text(limits.max_total_bytes)});
  abort(true);
  return false;
}

void add_label(Diagnostic& diagnostic, Span span, std::string text) {
  auto same = [&](const Label& label) { return label.span == span && label.text == text; };
  if (std::ranges::none_of(diagnostic.labels, same)) diagnostic.labels.push_back({span, std::move(text)});
}

ir::BlockId Evaluator::home_of(ir::BlockId join) const {
  return pixel_ && pixel_->owns_block(join) ? pixel_->first_block() : 0;
}

bool Evaluator::graph_has_room(Span span) {
  auto most = static_cast<size_t>(options_.limits.max_nodes);
  std::string_view what = graph_->nodes.size() >= most    ? "operators"
                          : graph_->blocks.size() >= most ? "branches"
                          : merges_.size() >= most        ? "merged variables"
                                                          : "";
  if (what.empty()) return true;
  if (!aborted_) fail(Message::kTooManyNodes, span, {std::to_string(most), std::string(what)});
  abort(false);
  return false;
}

// ---- walks over values ----

Walk Evaluator::start_walk() const {
  size_t most = static_cast<size_t>(options_.limits.max_steps) * kWorkPerStep;
  return Walk(most > work_ ? most - work_ : 0);
}

bool Evaluator::finish_walk(const Walk& walk, Span span) {
  spend(walk.visited());
  if (walk.end() == Walk::End::kWhole) return true;
  if (walk.end() == Walk::End::kTooDeep)
    fail(Message::kValueTooDeep, span, {std::to_string(Walk::kMaxDepth)});
  else
    too_much_work(span);
  return false;
}

std::optional<bool> Evaluator::equals(const Value& a, const Value& b, Span span) {
  Walk walk = start_walk();
  bool result = equal(a, b, walk);
  return finish_walk(walk, span) ? std::optional(result) : std::nullopt;
}

std::optional<std::string> Evaluator::text_of(const Value& value, Span span, bool as_repr) {
  Walk walk = start_walk();
  std::string text = as_repr ? repr(value, walk) : to_display(value, walk);
  if (!finish_walk(walk, span) || !check_size(text.size(), span)) return std::nullopt;
  return text;
}

std::string Evaluator::key_of(const Value& value) {
  std::string text = key_text(value);
  spend(4 + text.size() / 16);  // the key is made, hashed and looked up
  return text;
}

Value Evaluator::fail_key(const Value& value, Span span) {
  Walk walk = start_walk();
  key_text(value, &walk);
  if (walk.end() != Walk::End::kWhole) return finish_walk(walk, span), Value::poison();
  return fail(Message::kNotHashable, span, {describe_kind(value)});
}

bool Evaluator::has_node(const Value& value) {
  size_t visited = 0;
  bool found = contains_node(value, &visited);
  spend(visited);
  return found;
}

bool Evaluator::has_poison(const Value& value) {
  size_t visited = 0;
  bool found = contains_poison(value, &visited);
  spend(visited);
  return found;
}

// ---- making values ----

Value Evaluator::make_string(std::string text) {
  auto* object = arena.make<StringObject>(text.size());
  object->text = std::move(text);
  return Value(ValueKind::kString, object);
}

Value Evaluator::make_list(std::vector<Value> elements, Span span) {
  auto* object = arena.make<SequenceObject>(elements.size() * sizeof(Value));
  object->elements = std::move(elements);
  object->region = region_;
  object->span = span;
  return Value(ValueKind::kList, object);
}

Value Evaluator::make_tuple(std::vector<Value> elements) {
  auto* object = arena.make<SequenceObject>(elements.size() * sizeof(Value));
  object->elements = std::move(elements);
  return Value(ValueKind::kTuple, object);
}

Value Evaluator::make_dict(Span span) {
  auto* object = arena.make<DictObject>();
  object->region = region_;
  object->span = span;
  object->arena = &arena;
  return Value(ValueKind::kDict, object);
}

Value Evaluator::make_struct(std::vector<std::pair<std::string, Value>> fields) {
  auto* object = arena.make<StructObject>(fields.size() * sizeof(fields[0]));
  object->fields = std::move(fields);
  return Value(ValueKind::kStruct, object);
}

Value Evaluator::make_builtin(std::string name, BuiltinFunction function, Value self, bool is_type) {
  auto* object = arena.make<BuiltinObject>();
  object->name = std::move(name);
  object->function = function;
  object->self = self;
  object->is_type = is_type;
  return Value(ValueKind::kBuiltin, object);
}

// ---- iterating and testing ----

std::optional<std::vector<Value>> Evaluator::iterate(const Value& value, Span span,
                                                     std::string_view purpose) {
  switch (value.kind) {
    case ValueKind::kList:
    case ValueKind::kTuple:
      spend(value.elements().size());
      return value.elements();
    case ValueKind::kDict: {
      std::vector<Value> keys;
      for (const auto& [key, entry] : value.dict().entries) keys.push_back(key);
      spend(keys.size());
      return keys;
    }
    case ValueKind::kRange: {
      const auto& range = value.as<RangeObject>();
      if (range.size() > options_.limits.max_steps) {
        fail(Message::kTooManySteps, span, {std::to_string(options_.limits.max_steps)});
        return std::nullopt;
      }
      spend(static_cast<size_t>(range.size()));
      std::vector<Value> out;
      for (int64_t i = 0; i < range.size(); ++i) out.push_back(Value::of(range.start + i * range.step));
      return out;
    }
    case ValueKind::kString: {
      std::vector<Value> characters;
      const std::string& text = value.text();
      if (static_cast<int64_t>(text.size()) > options_.limits.max_steps) {
        fail(Message::kTooManySteps, span, {std::to_string(options_.limits.max_steps)});
        return std::nullopt;
      }
      spend(text.size() * 4);
      for (size_t i = 0; i < text.size();) {
        size_t end = i + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
        characters.push_back(make_string(text.substr(i, end - i)));
        i = end;
      }
      return characters;
    }
    case ValueKind::kArray:
      if (!value.as<ArrayObject>().shape.empty()) return array_rows(*this, value);
      fail(Message::kNotIterable, span, {describe_kind(value), std::string(purpose)});
      return std::nullopt;
    case ValueKind::kPoison:
    case ValueKind::kUnknown:
      return std::nullopt;
    case ValueKind::kNode: {
      Diagnostic diagnostic = diagnose(Message::kIterateNode, span, {type_text(value), std::string(purpose)});
      // Loops over a tensor's elements, and what does the same to all of them at once.
      if (purpose == "tested")
        diagnostic.help =
            "reduce it: `fn.reductions.max(x) > 0` for `any`, `fn.reductions.min(x) > 0` for `all`";
      else if (purpose == "zipped" || purpose == "mapped" || purpose == "filtered")
        diagnostic.help = "an operator works on all elements at once: call it with the data node itself";
      else if (purpose == "summed")
        diagnostic.help = "write `fn.reductions.sum(x)`";
      else if (purpose == "searched")
        diagnostic.help =
            "write `fn.reductions.max(x)` or `fn.reductions.min(x)`; of two nodes, `math.max(x, y)`";
      else if (purpose == "sorted")
        diagnostic.help =
            "there is no operator that sorts; sort in the host program, or before the data is written";
      report(std::move(diagnostic));
      return std::nullopt;
    }
    case ValueKind::kBuiltin: {
      const auto& function = value.as<BuiltinObject>();
      const bool is_method = function.self.is_node();
      Diagnostic diagnostic =
          diagnose(Message::kNotIterable, span,
                   {is_method ? "the method `" + function.name + "` of a data node" : describe_kind(value),
                    std::string(purpose)});
      diagnostic.help =
          is_method && function.name == "shape"
              ? "the extents are computed per sample: call it, and take them one by one, `x.shape()[0]`"
              : "call it; of extents take elements, as in `image.shape()[0]`";
      if (!is_method && !function.self.is(ValueKind::kNone))
        diagnostic.help = "call it: `" + source_text(sources_, span) + "()`";
      report(std::move(diagnostic));
      return std::nullopt;
    }
    default: {
      Diagnostic diagnostic =
          diagnose(Message::kNotIterable, span, {describe_kind(value), std::string(purpose)});
      if (value.is(ValueKind::kOperatorObject))
        diagnostic.help = "it is made first and called then: add `()` behind it, with its inputs";
      if (purpose == "chosen from")
        diagnostic.help = "write a list of functions: `[" + source_text(sources_, span) + "]`";
      if (value.is(ValueKind::kInt) && purpose == "looped over") {
        const std::string range = "range(" + source_text(sources_, span) + ")";
        diagnostic.help = "write `" + range + "`";
        diagnostic.edits.push_back({span, range, true});
      }
      report(std::move(diagnostic));
      return std::nullopt;
    }
  }
}

bool Evaluator::has_truth(const Value& value, Span span) {
  if (value.is_poison()) return false;
  if (is_bundle(value)) {
    fail(Message::kNotACondition, span, {});
    return false;
  }
  if (!value.is(ValueKind::kArray) || value.as<ArrayObject>().elements.size() == 1) return true;
  size_t size = value.as<ArrayObject>().elements.size();
  fail(Message::kArrayTruth, span, {"a condition", std::to_string(size), "write `x.any()` or `x.all()`"});
  return false;
}

std::optional<bool> Evaluator::static_truth(const Value& value, Span span, std::string_view purpose) {
  if (!has_truth(value, span)) return std::nullopt;
  if (!value.is_node()) return truth(value);
  Diagnostic diagnostic = diagnose(Message::kNodeAsStatic, span, {std::string(purpose), type_text(value)});
  if (const ir::Node* node = graph_->defining_node(value.node); node && !(node->span == span))
    diagnostic.labels.push_back({node->span, "computed per sample here"});
  report(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace galatea::dsl
