// Arguments of operators. In: keywords with their values. Out: constants and data nodes of a node to be made.
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/attr.h"
#include "compiler/op/schema.h"
#include "dsl/array.h"
#include "dsl/dali_names.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/suggest.h"
#include "dsl/units.h"

namespace galatea::dsl {
namespace {

/// Objects and iterables of the host program. (Functions have an error of their own.)
bool is_host_code(const Value& value) {
  return !value.is_number() && !value.is(ValueKind::kString) && !value.is(ValueKind::kDType) &&
         !value.is(ValueKind::kEnum) && !value.is(ValueKind::kList) && !value.is(ValueKind::kTuple) &&
         !value.is_node();
}

/// Whether a path that `check` does not know leaves everything else known, as no data is read.
bool any_path_will_do(const op::Operator& op, const op::ArgSpec& schema, const CallArguments& arguments) {
  const bool is_text = schema.kind == op::ArgKind::kString || schema.kind == op::ArgKind::kStringList;
  return is_text && std::ranges::all_of(op.types_declared_by, [&](const std::string& name) {
           return std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name) !=
                  arguments.keywords.end();
         });
}

}  // namespace

void Evaluator::add_operator_arguments(const op::Operator& op, CallArguments& arguments,
                                       op::GraphBuilder::NodeSpec& spec, uint64_t key,
                                       std::vector<std::string>& missing) {
  translate_keywords(op, arguments, missing);
  for (CallArguments::Keyword& keyword : arguments.keywords) {
    const op::ArgSpec* schema = op.find_arg(keyword.name);
    const std::string_view* today = schema && schema->refused.empty() && !schema->no_effect
                                        ? nullptr
                                        : renamed_argument(op.name, keyword.name);
    if (today && today->empty()) {
      note(Message::kNoEffect, keyword.name_span,
           {"`" + keyword.name + "`", "DALI does not use it any more"});
      continue;
    }
    bool both = today && std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                                     [&](const auto& other) { return other.name == *today; });
    if (today && !both && op.find_arg(*today)) {
      note(Message::kRenamedArgument, keyword.name_span,
           {"fn." + op.name, keyword.name, std::string(*today)});
      keyword.name = *today;
      schema = op.find_arg(keyword.name);
    }
    if (schema && keyword.value.is(ValueKind::kUnknown) && any_path_will_do(op, *schema, arguments)) {
      spec.args.push_back({keyword.name, ir::Attr(std::string("?")), keyword.span});
      continue;
    }
    const bool is_common = !schema || (keyword.name == "seed" && op.random);
    const bool good = (!is_common || add_common_argument(op, keyword, spec, key)) &&
                      (!schema || add_operator_argument(op, *schema, keyword, spec));
    if (!good) missing.push_back(keyword.name);
  }
  for (const op::ArgSpec& schema : op.args) {
    if (!schema.required) continue;
    bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(), [&](const auto& keyword) {
      return keyword.name == schema.name && !keyword.value.is(ValueKind::kNone);
    });
    // One that was misspelt is told as that.
    if (given || std::ranges::find(missing, schema.name) != missing.end()) continue;
    missing.push_back(schema.name);
    Diagnostic diagnostic =
        diagnose(Message::kMissingOperatorArgument, arguments.span, {"fn." + op.name, schema.name});
    diagnostic.help = "add `" + schema.name + "=…`";
    if (!schema.documentation.empty()) diagnostic.notes.push_back(schema.name + ": " + schema.documentation);
    diagnostic.notes.push_back("the signature is " + operator_signature(op, op.name));
    report(std::move(diagnostic));
  }
}

// False: it has no value, which was reported where it is a mistake.
bool Evaluator::add_operator_argument(const op::Operator& op, const op::ArgSpec& schema,
                                      const CallArguments::Keyword& keyword,
                                      op::GraphBuilder::NodeSpec& spec) {
  if (keyword.value.is(ValueKind::kNone)) return true;
  if (has_poison(keyword.value)) return false;
  if (!schema.refused.empty() && is_host_code(keyword.value))
    return fail_refused_argument(op, schema, keyword.span), false;
  const bool good = add_argument(op, schema, keyword, spec);
  check_unit(op, keyword);
  return good;
}

// `"cuda:0"`, `"GPU"`, a number: the device that is meant, and `otherwise` where none is.
Value Evaluator::fail_device(const Value& value, Span span, std::string otherwise) {
  Diagnostic diagnostic = diagnose(Message::kBadDevice, span, {type_text(value)});
  std::string text = value.is(ValueKind::kString) ? value.text() : "";
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool is_number = value.is(ValueKind::kInt) && value.integer >= 0;
  const bool is_gpu = text.starts_with("cuda") || text.starts_with("gpu") || text == "nvidia" || is_number;
  if (const auto near = closest_match(text, {"mixed"}); near && !is_gpu) text = *near;
  if (is_gpu || text == "cpu" || text == "mixed") {
    const std::string meant = is_gpu ? "\"gpu\"" : "\"" + text + "\"";
    diagnostic.help = "write `device=" + meant + "`";
    if (is_gpu && text != "gpu") diagnostic.help += "; which GPU it is, the host decides";
    if (text == "gpu" || text == "cpu" || text == "mixed") diagnostic.edits.push_back({span, meant, true});
  } else {
    diagnostic.help = std::move(otherwise);
  }
  return report(std::move(diagnostic));
}

// Arguments of every operator.
bool Evaluator::add_common_argument(const op::Operator& op, const CallArguments::Keyword& keyword,
                                    op::GraphBuilder::NodeSpec& spec, uint64_t key) {
  const Value& value = keyword.value;
  if (value.is(ValueKind::kNone)) return true;
  if (value.is_poison()) return false;
  if (keyword.name == "device") {
    bool known = value.is(ValueKind::kString) &&
                 (value.text() == "cpu" || value.text() == "gpu" || value.text() == "mixed");
    if (!known) {
      return fail_device(value, keyword.span, "leave it out: the pipeline then runs where its input is"),
             false;
    }
    if (value.text() != "cpu") note_device(keyword.span, "`device=\"" + value.text() + "\"`");
    spec.args.push_back({keyword.name, ir::Attr(value.text()), keyword.span});
    return true;
  }
  if (keyword.name == op::kCompatArg) {
    if (!value.is(ValueKind::kString))
      return fail(Message::kArgumentKind, keyword.span, {"compat", "a string", type_text(value)}), false;
    spec.args.push_back({keyword.name, ir::Attr(value.text()), keyword.span});
    return true;
  }
  if (keyword.name == "name") {
    if (!value.is(ValueKind::kString))
      return fail(Message::kArgumentKind, keyword.span, {"name", "a string", type_text(value)}), false;
    auto [named, fresh] = node_names_.try_emplace(value.text(), keyword.span);
    if (!fresh) {
      Diagnostic diagnostic = diagnose(Message::kNodeNameTaken, keyword.span, {value.text()});
      if (!(named->second == keyword.span)) diagnostic.labels.push_back({named->second, "the first one"});
      report(std::move(diagnostic));
      return false;
    }
    spec.name = value.text();
    return true;
  }
  if (keyword.name == "seed") {
    if (!value.is_integral())
      return fail(Message::kArgumentKind, keyword.span, {"seed", "an integer", type_text(value)}), false;
    if (!op.random)
      return note(Message::kNoEffect, keyword.span, {"`seed`", "fn." + op.name + " draws no random numbers"}),
             true;
    if (value.as_int() < 0) return true;
    // One `seed=` of the user's reaches several draws of the library, which stay independent.
    const bool alone = same_seed_same_draw_ && !in_library(keyword.span);
    if (!alone) note_same_seed(op, value.as_int(), keyword.span);
    spec.has_own_seed = true;
    spec.key = mix_key(static_cast<uint64_t>(value.as_int()), alone ? 0 : key);
    return true;
  }
  if (keyword.name == "preserve") {
    if (!value.is_integral())
      return fail(Message::kArgumentKind, keyword.span, {"preserve", "True or False", type_text(value)}),
             false;
    if (truth(value))
      note(Message::kNoEffect, keyword.span,
           {"`preserve`", "an operator whose outputs are not used does not run"});
    return true;
  }
  return true;  // bytes_per_sample_hint is for an allocator that galatea does not have
}

// Whether an argument of another name could take a value that was given.
bool Evaluator::fits(const op::Operator& op, const op::ArgSpec& schema,
                     const CallArguments::Keyword& keyword) const {
  const Value& value = keyword.value;
  if (value.is_node()) return schema.per_sample;
  std::optional<ir::Attr> attr;
  if (value.is(ValueKind::kBool)) attr = ir::Attr(value.boolean);
  if (value.is(ValueKind::kInt)) attr = ir::Attr(value.integer);
  if (value.is(ValueKind::kFloat)) attr = ir::Attr(value.number);
  if (value.is(ValueKind::kString)) attr = ir::Attr(value.text());
  if (value.is(ValueKind::kDType)) attr = ir::Attr(value.dtype);
  if (value.is(ValueKind::kEnum)) attr = ir::Attr(value.as<EnumObject>().value);
  const auto is_text = [](const Value& v) { return v.is(ValueKind::kString); };
  if (value.is_sequence() && !value.elements().empty() && std::ranges::all_of(value.elements(), is_text)) {
    std::vector<std::string> texts;
    for (const Value& text : value.elements()) texts.push_back(text.text());
    attr = ir::Attr(std::move(texts));
  }
  if (const auto numbers = numbers_of(value); numbers && !attr) {
    const bool whole = std::ranges::all_of(value.elements(), &Value::is_integral);
    attr = whole ? ir::Attr(std::vector<int64_t>(numbers->begin(), numbers->end())) : ir::Attr(*numbers);
  }
  if (!attr) return false;
  ir::Arg arg{schema.name, std::move(*attr), keyword.span};
  return op::check_static_argument(op, schema, arg, keyword.span).has_value();
}

// The values of all keywords that together are one argument here, as `low` and `high` are a range; empty: this one
// is alone.
std::string Evaluator::joined_values(const op::Operator& op,
                                     const std::vector<CallArguments::Keyword>& keywords,
                                     std::string_view meant) const {
  std::string joined;
  size_t parts = 0;
  for (const CallArguments::Keyword& other : keywords) {
    const Suggestion* known = op.find_arg(other.name) ? nullptr : known_keyword(op, other.name);
    if (known == nullptr || known->keeps_value || !known->write.starts_with(std::string(meant) + "="))
      continue;
    joined += (parts++ == 0 ? "" : ", ") + source_text(sources_, other.span);
  }
  return parts > 1 ? "[" + joined + "]" : "";
}

// The suggestion for a keyword that the operator does not have; nullptr: there is none, or none for this operator.
const Suggestion* Evaluator::known_keyword(const op::Operator& op, const std::string& name) {
  return find_suggestion(Place::kArgument, op.name, name, [&](const Suggestion& entry) {
    return entry.write.empty() || op.find_arg(argument_of(entry)) != nullptr;
  });
}

// The one argument that the operator requires and the call does not give; nullptr: none, or several.
const op::ArgSpec* Evaluator::missing_argument(const op::Operator& op,
                                               const std::vector<CallArguments::Keyword>& given) {
  const op::ArgSpec* only = nullptr;
  for (const op::ArgSpec& schema : op.args) {
    if (!schema.required ||
        std::ranges::find(given, schema.name, &CallArguments::Keyword::name) != given.end())
      continue;
    if (only) return nullptr;
    only = &schema;
  }
  return only;
}

// Whether a name that shares words with the one that was written may be what was meant: it takes the value.
bool Evaluator::is_likely(const op::Operator& op, const CallArguments::Keyword& keyword,
                          Diagnostic& diagnostic) const {
  const std::string& name = diagnostic.edits.back().replacement;
  const op::ArgSpec* schema = op.find_arg(name);
  const bool is_told = keyword.value.is(ValueKind::kNone) || keyword.value.is_poison();
  if (!schema || is_told || closest_match(keyword.name, {name}) || fits(op, *schema, keyword)) return true;
  diagnostic.help.clear();
  diagnostic.edits.clear();
  return false;
}

// Reports the keyword. Gives the argument that was meant by it; empty: nobody knows.
std::string Evaluator::fail_unknown_argument(const op::Operator& op, const CallArguments::Keyword& keyword,
                                             const std::vector<CallArguments::Keyword>& beside) {
  std::vector<std::string> names = {"device", "compat", "name", "preserve", "bytes_per_sample_hint"};
  if (op.random) names.emplace_back("seed");
  for (const op::ArgSpec& schema : op.args) {
    if (schema.refused.empty()) names.push_back(schema.name);
  }
  Diagnostic diagnostic =
      diagnose(Message::kUnknownOperatorArgument, keyword.name_span, {"fn." + op.name, keyword.name});
  std::string meant;
  const bool is_spread = keyword.span == keyword.name_span;  // `**options`
  if (const Suggestion* known = known_keyword(op, keyword.name)) {
    meant = argument_of(*known);
    const op::ArgSpec* schema = known->keeps_value ? op.find_arg(meant) : nullptr;
    if (meant.empty()) {
      diagnostic.help = known->words;
    } else if (is_spread) {
      diagnostic.help = "here it is called `" + meant + "`";
    } else if (schema && fits(op, *schema, keyword)) {
      diagnostic.help = "write `" + meant + "=" + source_text(sources_, keyword.span) + "`";
      diagnostic.edits.push_back({keyword.name_span, meant, false});
    } else {
      const std::string joined = joined_values(op, beside, meant);
      diagnostic.help = joined.empty() ? help_of(*known, "") : "write `" + meant + "=" + joined + "`";
    }
  } else if (suggest(diagnostic, keyword.name, names) && is_likely(op, keyword, diagnostic)) {
    meant = diagnostic.edits.back().replacement;
    if (is_spread) diagnostic.edits.clear();
  } else if (const op::ArgSpec* lacks = missing_argument(op, beside); lacks && fits(op, *lacks, keyword)) {
    diagnostic.edits.clear();
    meant = lacks->name;
    diagnostic.help = "did you mean `" + meant + "`, which the call needs?";
    if (!is_spread) diagnostic.edits.push_back({keyword.name_span, meant, false});
  }
  leave_out_if_given(diagnostic, [&](const std::string& name) {
    return std::ranges::find(beside, name, &CallArguments::Keyword::name) != beside.end();
  });
  diagnostic.notes.push_back("the signature is " + operator_signature(op, op.name, meant));
  report(std::move(diagnostic));
  return meant;
}

// Keywords that the operator does not have are told, once for all that mean one argument; those that stand for an
// argument that is not given take its place, so that neither it nor what depends on it is missed.
void Evaluator::translate_keywords(const op::Operator& op, CallArguments& arguments,
                                   std::vector<std::string>& missing) {
  const std::vector<CallArguments::Keyword> written = arguments.keywords;
  const auto is_given = [&](const std::string& name) {
    return std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name) !=
           arguments.keywords.end();
  };
  for (CallArguments::Keyword& keyword : arguments.keywords) {
    if (is_known_keyword(op, keyword.name)) continue;
    const Suggestion* known = known_keyword(op, keyword.name);
    const std::string argument = known ? argument_of(*known) : "";
    const bool is_told =
        !argument.empty() && !known->keeps_value && std::ranges::find(missing, argument) != missing.end();
    const std::string meant = is_told ? argument : fail_unknown_argument(op, keyword, written);
    missing.push_back(keyword.name);
    if (meant.empty()) continue;
    const op::ArgSpec* schema = op.find_arg(meant);
    const bool keeps_value = known == nullptr || known->keeps_value;
    if (schema && keeps_value && !is_given(meant) && fits(op, *schema, keyword)) {
      keyword.name = meant;
    } else {
      missing.push_back(meant);
    }
  }
  std::erase_if(arguments.keywords, [&](const auto& keyword) { return !is_known_keyword(op, keyword.name); });
}

// "types.GRAY" for "gray", where an argument of this kind is wanted; empty: it is none.
std::string Evaluator::type_written(const Value& value, op::ArgKind kind) const {
  if (std::string type = written_as_type(value); !type.empty() || !value.is(ValueKind::kString)) return type;
  const auto lower = [](const std::string& text) {
    std::string out = text;
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
  };
  for (const auto& [name, binding] : library_.at("nvidia.dali.types")->names) {
    const bool is_filter = name.starts_with("INTERP_");
    if (binding.value.is(ValueKind::kEnum) && is_filter == (kind == op::ArgKind::kInterp) &&
        lower(name) == lower(value.text()))
      return "types." + name;
  }
  return {};
}

bool Evaluator::add_argument(const op::Operator& op, const op::ArgSpec& schema,
                             const CallArguments::Keyword& keyword, op::GraphBuilder::NodeSpec& spec,
                             std::string_view called) {
  const Value& value = keyword.value;
  if (!has_node(value)) {
    const bool wants_type = schema.kind == op::ArgKind::kDType || schema.kind == op::ArgKind::kInterp ||
                            schema.kind == op::ArgKind::kImageType;
    if (std::string type = wants_type ? type_written(value, schema.kind) : ""; !type.empty()) {
      Diagnostic diagnostic = diagnose(Message::kArgumentKind, keyword.span,
                                       {keyword.name, "a name of `types`", type_text(value)});
      diagnostic.help = "write `" + keyword.name + "=" + type + "`";
      diagnostic.edits.push_back({keyword.span, type, true});
      add_import_of(diagnostic, "types");
      report(std::move(diagnostic));
      return false;
    }
    if (const auto numbers = numbers_of(value); schema.kind == op::ArgKind::kFloat && schema.per_sample &&
                                                value.is_sequence() && numbers->size() == 2) {
      const std::string drawn = "fn.random.uniform(range=" + source_text(sources_, keyword.span) + ")";
      Diagnostic diagnostic =
          diagnose(Message::kArgumentKind, keyword.span, {keyword.name, "a number", type_text(value)});
      diagnostic.help = "to draw it for each sample, write `" + keyword.name + "=" + drawn + "`";
      diagnostic.edits.push_back({keyword.span, drawn, false});
      report(std::move(diagnostic));
      return false;
    }
    const bool nested = schema.kind == op::ArgKind::kDict || schema.kind == op::ArgKind::kDTypeList;
    auto attr = nested ? to_nested_attr(value, keyword.span, keyword.name)
                       : to_attr(value, keyword.span, keyword.name, op::describe(schema.kind));
    if (!attr) return false;
    spec.args.push_back({keyword.name, std::move(*attr), keyword.span});
    return true;
  }
  if (!schema.per_sample) {
    Diagnostic diagnostic = diagnose(Message::kStaticArgument, keyword.span,
                                     {keyword.name, called.empty() ? "fn." + op.name : std::string(called)});
    if (value.is_node()) diagnostic.span_text = type_text(value);
    if (value.is_node() && graph_->defining_node(value.node))
      diagnostic.labels.push_back(
          {graph_->defining_node(value.node)->span, "the value is computed per sample here"});
    std::string others;
    for (const op::ArgSpec& arg : op.args) {
      if (arg.per_sample) others += (others.empty() ? "`" : ", `") + arg.name + "`";
    }
    if (!others.empty()) diagnostic.notes.push_back("arguments that may be data nodes: " + others);
    report(std::move(diagnostic));
    return false;
  }
  Value node = value;
  if (value.is_sequence()) {
    bool nested = std::any_of(value.elements().begin(), value.elements().end(),
                              [](const Value& v) { return v.is_sequence(); });
    if (nested) {
      std::vector<Value> rows;
      for (const Value& row : value.elements())
        rows.push_back(row.is_sequence() ? stack_nodes(row.elements(), keyword.span) : row);
      node = stack_nodes(rows, keyword.span);
    } else {
      node = stack_nodes(value.elements(), keyword.span);
    }
  }
  if (!node.is_node()) {
    if (!node.is_poison())
      fail(Message::kArgumentKind, keyword.span,
           {keyword.name, "a value or a data node", describe_kind(value)});
    return false;
  }
  spec.args.push_back({keyword.name, node.node, keyword.span});
  return true;
}

std::optional<ir::Attr> Evaluator::to_nested_attr(const Value& value, Span span, const std::string& what) {
  size_t values = 0;
  auto attr = to_nested_attr(value, span, what, 0, values);
  spend(values);
  return attr;
}

// One object may stand at many places of another, so that few of them can mean very many values.
std::optional<ir::Attr> Evaluator::to_nested_attr(const Value& given, Span span, const std::string& what,
                                                  int depth, size_t& values) {
  const Value value = plain(given);
  if (value.is(ValueKind::kNone)) return ir::Attr(ir::None{});
  if (!value.is_sequence() && !value.is(ValueKind::kDict)) return to_attr(value, span, what);
  auto refuse = [&](std::string wanted, std::string got) {
    fail(Message::kArgumentKind, span, {what, std::move(wanted), std::move(got)});
    return std::nullopt;
  };
  if (value.is_sequence())
    values += value.elements().size();
  else
    values += value.dict().entries.size();
  if (values > ir::kMaxAttrValues)
    return refuse(fmt::format("at most {} values", ir::kMaxAttrValues), "more");
  if (depth >= ir::kMaxAttrDepth)
    return refuse(fmt::format("at most {} levels of lists and dictionaries", ir::kMaxAttrDepth), "more");
  if (value.is_sequence()) {
    std::vector<ir::Attr> items;
    for (const Value& element : value.elements()) {
      auto item = to_nested_attr(element, span, what, depth + 1, values);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    return ir::list_attr(std::move(items));
  }
  ir::AttrDict dict;
  for (const auto& [key, entry] : value.dict().entries) {
    if (!key.is(ValueKind::kString)) return refuse("a dictionary with texts as keys", describe_kind(key));
    auto item = to_nested_attr(entry, span, what + "[" + repr(key) + "]", depth + 1, values);
    if (!item) return std::nullopt;
    dict.entries.emplace_back(key.text(), std::move(*item));
  }
  return ir::Attr(std::move(dict));
}

std::optional<ir::Attr> Evaluator::to_attr(const Value& given, Span span, const std::string& what,
                                           const std::string& wanted) {
  const Value value = plain(given);
  switch (value.kind) {
    case ValueKind::kArray:
      return to_attr(make_list(value.as<ArrayObject>().elements), span, what, wanted);
    case ValueKind::kBool:
      return ir::Attr(value.boolean);
    case ValueKind::kInt:
      return ir::Attr(value.integer);
    case ValueKind::kFloat:
      return ir::Attr(value.number);
    case ValueKind::kString:
      return ir::Attr(value.text());
    case ValueKind::kDType:
      return ir::Attr(value.dtype);
    case ValueKind::kEnum:
      return ir::Attr(value.as<EnumObject>().value);
    case ValueKind::kList:
    case ValueKind::kTuple:
    case ValueKind::kRange: {
      auto elements = iterate(value, span, "");
      if (!elements) return std::nullopt;
      // A matrix is given as nested lists; its numbers in row-major order are what operators take.
      std::vector<Value> flat;
      for (const Value& element : *elements) {
        const std::vector<Value>* row = element.is_sequence()           ? &element.elements()
                                        : element.is(ValueKind::kArray) ? &element.as<ArrayObject>().elements
                                                                        : nullptr;
        if (row)
          std::transform(row->begin(), row->end(), std::back_inserter(flat), plain);
        else
          flat.push_back(element);
      }
      auto all = [&](auto test) { return std::all_of(flat.begin(), flat.end(), test); };
      if (all([](const Value& v) { return v.is_integral() || v.is(ValueKind::kEnum); })) {
        std::vector<int64_t> out;
        for (const Value& v : flat)
          out.push_back(v.is(ValueKind::kEnum) ? v.as<EnumObject>().value : v.as_int());
        return ir::Attr(std::move(out));
      }
      if (all([](const Value& v) { return v.is_number(); })) {
        std::vector<double> out;
        for (const Value& v : flat) out.push_back(v.as_double());
        return ir::Attr(std::move(out));
      }
      if (all([](const Value& v) { return v.is(ValueKind::kString); })) {
        std::vector<std::string> out;
        for (const Value& v : flat) out.push_back(v.text());
        return ir::Attr(std::move(out));
      }
      break;
    }
    default:
      break;
  }
  // Of a list, the element that does not fit says more.
  std::string kind_given = describe_kind(value);
  std::set<std::string> kinds;
  if (value.is_sequence()) {
    for (const Value& element : value.elements()) kinds.insert(describe_kind(element));
    kind_given += fmt::format(" of {}", fmt::join(kinds, " and "));
  }
  Diagnostic diagnostic = diagnose(
      Message::kArgumentKind, span,
      {what, wanted.empty() ? "a number, a string, a type, or a list of numbers or of strings" : wanted,
       kind_given});
  diagnostic.help = kinds.size() > 1 ? "give elements of one kind, as in `" + what + "=[1, 2]`"
                                     : "`galatea ops` shows what each argument takes";
  report(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace galatea::dsl
