#include "tools/replay_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/scalar_op.h"
#include "dsl/parser.h"
#include "dsl/replay.h"
#include "tools/gather_sheet.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace {

using dsl::Expression;
using dsl::ExpressionKind;
using dsl::Statement;

/// Insertions around and in place of parts of a text.
class TextEdits {
 public:
  explicit TextEdits(std::string text) : text_(std::move(text)) {}

  void replace(uint32_t begin, uint32_t end, std::string with) {
    edits_.push_back({begin, end, 0, std::move(with)});
  }
  void insert(uint32_t at, std::string with) { replace(at, at, std::move(with)); }
  /// Of calls that begin or end together, the longer one is outside.
  void wrap(Span call, std::string before, std::string behind) {
    const auto length = static_cast<int64_t>(call.end) - call.begin;
    edits_.push_back({call.begin, call.begin, -length, std::move(before)});
    edits_.push_back({call.end, call.end, length, std::move(behind)});
  }

  std::string apply() {
    std::ranges::stable_sort(edits_, {}, [](const One& one) { return std::pair(one.begin, one.order); });
    std::string made;
    uint32_t from = 0;
    for (const One& one : edits_) {
      made.append(text_, from, one.begin - from);
      made += one.with;
      from = one.end;
    }
    return made.append(text_, from);
  }

 private:
  struct One {
    uint32_t begin, end;
    int64_t order;  ///< among those at one place
    std::string with;
  };
  std::string text_;
  std::vector<One> edits_;
};

/// "replay", or a name like it that does not stand in the text.
std::string free_name(const std::string& text) {
  std::string name = "replay";
  while (text.contains(name)) name += "_";
  return name;
}

/// A draw as the language writes it; "None" for what cannot be written, and is drawn again.
std::string draw_text(const TracedDraw& draw) {
  if (!draw.value) return "None";
  const std::vector<double> numbers = numbers_of(*draw.value);
  constexpr double kWhole = 9007199254740992.0;  // 2^53: from here on a double may not be the number
  const bool is_exact =
      std::ranges::all_of(numbers, [](double x) { return std::isfinite(x) && std::fabs(x) < kWhole; });
  if (!is_exact) return "None";
  const bool is_whole = !is_float(draw.value->dtype);
  std::vector<std::string> texts;
  for (const double x : numbers)
    texts.push_back(is_whole ? fmt::format("{}", static_cast<int64_t>(x)) : fmt::format("{}", x));
  return draw.value->ndim == 0 ? texts.at(0) : fmt::format("[{}]", fmt::join(texts, ", "));
}

bool is_pipeline_def(const Expression& decorator) {
  const Expression& callee = decorator.kind == ExpressionKind::kCall ? *decorator.operands[0] : decorator;
  return callee.text == "pipeline_def";
}

void write_seed(const Expression& decorator, int64_t seed, const std::string& text, TextEdits& edits) {
  if (decorator.kind != ExpressionKind::kCall)
    return edits.insert(decorator.span.end, fmt::format("(seed={})", seed));
  for (const dsl::Argument& argument : decorator.arguments)
    if (argument.name == "seed")
      return edits.replace(argument.value->span.begin, argument.value->span.end, fmt::format("{}", seed));
  const size_t bracket = text.find('(', decorator.operands[0]->span.end);
  edits.insert(static_cast<uint32_t>(bracket) + 1,
               fmt::format("seed={}{}", seed, decorator.arguments.empty() ? "" : ", "));
}

bool is_yes(const std::string& value) {
  std::string word = value;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word == "true" || word == "1" || word == "yes" || word == "on";
}

/// What stands behind --set NAME=, as the default of the parameter.
std::string default_text(const dsl::Parameter& parameter, const std::string& value) {
  const Expression* type = parameter.annotation.get();
  const Expression* old = parameter.default_value.get();
  const bool is_text = type ? type->text == "str" : old && old->kind == ExpressionKind::kString;
  const bool is_truth =
      type ? type->text == "bool"
           : old && (old->kind == ExpressionKind::kTrue || old->kind == ExpressionKind::kFalse);
  if (is_truth) return is_yes(value) ? "True" : "False";
  std::vector<Diagnostic> mistakes;
  const bool is_literal = dsl::parse_single_expression(0, value, mistakes) && mistakes.empty();
  return is_text || !is_literal ? json_quoted(value) : value;
}

void write_parameters(const Statement& function, const std::vector<std::string>& set, TextEdits& edits) {
  for (const std::string& given : set) {
    const size_t equals = given.find('=');
    for (const dsl::Parameter& parameter : function.parameters) {
      if (parameter.name != given.substr(0, equals)) continue;
      const std::string value = default_text(parameter, given.substr(equals + 1));
      if (const Expression* old = parameter.default_value.get())
        edits.replace(old->span.begin, old->span.end, value);
      else
        edits.insert(parameter.annotation ? parameter.annotation->span.end : parameter.span.end,
                     (parameter.annotation ? " = " : "=") + value);
    }
  }
}

/// Around each call that drew, with its numbers in the order of the draws.
void wrap_draws(const SampleTrace& trace, uint32_t file, const std::string& module, TextEdits& edits) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::string>> calls;  // by where they begin and end
  for (const TracedDraw& draw : trace.draws)
    if (const Span call = dsl::call_in(draw.span, draw.calls, file); call.valid())
      calls[{call.begin, call.end}].push_back(draw_text(draw));
  for (auto& [place, numbers] : calls) {
    while (!numbers.empty() && numbers.back() == "None") numbers.pop_back();
    if (numbers.empty()) continue;
    edits.wrap({file, place.first, place.second}, module + ".with_draws(",
               fmt::format(", {})", fmt::join(numbers, ", ")));
  }
}

/// The imports come behind the text's docstring.
uint32_t place_of_import(const dsl::Module& tree) {
  for (const dsl::StatementPtr& s : tree.body)
    if (s->kind == dsl::StatementKind::kImport || s->kind == dsl::StatementKind::kImportFrom)
      return s->span.begin;
  return tree.body.front()->span.begin;
}

}  // namespace

Result<std::string> replay_file(const SourceMap& sources, const std::string& file, const SampleTrace& trace,
                                const PipelineOptions& options) {
  if (trace.readers.size() != 1) return tool_error(tools::Message::kReplayReaders, trace.readers.size());
  uint32_t number = 1;
  while (sources.file(number) && sources.file(number)->name() != file) ++number;
  const SourceFile* source = sources.file(number);
  GALATEA_CHECK(source, "the pipeline was staged from this file");
  const std::string& text = source->text();
  std::vector<Diagnostic> ignored;
  const std::unique_ptr<dsl::Module> tree = dsl::parse_module(number, text, ignored);

  TextEdits edits(text);
  const std::string name = free_name(text);
  edits.insert(place_of_import(*tree),
               fmt::format("from galatea import replay{}\n", name == "replay" ? "" : " as " + name));

  for (const dsl::StatementPtr& statement : tree->body) {
    if (statement->kind != dsl::StatementKind::kFunction || statement->text != trace.pipeline) continue;
    write_parameters(*statement, options.set, edits);
    for (const dsl::ExpressionPtr& decorator : statement->decorators)
      if (is_pipeline_def(*decorator)) write_seed(*decorator, trace.seed, text, edits);
  }
  if (const Span reader = dsl::call_in(trace.readers[0].span, trace.readers[0].calls, number); reader.valid())
    edits.wrap(reader, name + ".only_sample(",
               fmt::format(", {}, {})", trace.number, trace.readers[0].samples));

  wrap_draws(trace, number, name, edits);
  return edits.apply();
}

}  // namespace galatea::tools
