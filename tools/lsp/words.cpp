#include "tools/lsp/words.h"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "dsl/library_texts.h"
#include "tools/lsp/vocabulary.h"

namespace galatea::tools::lsp {
namespace {

struct KnownWord {
  std::string_view name, type, documentation;
};
constexpr KnownWord kKnownWords[] = {
    {"True", "bool", "The condition that holds."},
    {"False", "bool", "The condition that does not hold."},
    {"None", "None", "Nothing: an argument that is not given, an option at its default."},
    {"bool", "type", "`True` or `False`. For a parameter of a pipeline: `--set name=true`."},
    {"int", "type", "A whole number of 64 bits. For a parameter of a pipeline: `--set name=3`."},
    {"float", "type", "A number of 64 bits. For a parameter of a pipeline: `--set name=0.5`."},
    {"str", "type", "A text. For a parameter of a pipeline: `--set name=text`."},
    {"list", "type", "Several values. For a parameter of a pipeline: `--set 'name=[1, 2]'`."},
};

/// Functions of the library and built-in ones, by the names that evaluations give them; `type`: how one is called.
constexpr KnownWord kKnownFunctions[] = {
    {"pipeline_def", "@pipeline_def(batch_size=1, num_threads=1, seed=-1, …)",
     "Makes a function a pipeline. Its body runs once, when the file is compiled; what it returns is computed for "
     "every sample."},
    {"galatea.pixel", "@galatea.pixel(shape=…, dtype=…)",
     "Makes a function of rows and columns an operator: it computes one element, and becomes a kernel."},
    {"galatea.together", "galatea.together(image=…, boxes=…, labels=…, mask=…, points=…)",
     "A picture with what belongs to places in it. Operators that move the picture move all of that with it."},
    {"Constant", "types.Constant(value, dtype=…, shape=…, layout=…)", "The same tensor for every sample."},
    {"len", "len(values)", "How many values there are, when the file is compiled."},
    {"range", "range(start, stop, step)",
     "Whole numbers from `start`, or 0, to before `stop`. A loop over them is unrolled."},
    {"enumerate", "enumerate(values, start=0)", "Pairs of a number and a value."},
    {"zip", "zip(first, second, …)", "Tuples of what stands at the same place in each."},
    {"abs", "abs(x)", "The size of a number, or of each element."},
    {"min", "min(a, b, …)", "The least of numbers, or of data element by element."},
    {"max", "max(a, b, …)", "The largest of numbers, or of data element by element."},
    {"round", "round(x)", "The nearest whole number; halves go to the even one."},
    {"print", "print(values, …)", "Shows values when the file is compiled, not for each sample."},
};

/// What every operator takes, beside its own arguments.
constexpr KnownWord kOfEveryCall[] = {
    {"device", "str = None",
     "Where the call runs: `\"cpu\"`, `\"gpu\"` or `\"mixed\"` (a decoder that reads on the CPU and gives its result "
     "on the GPU). Without it the call runs where its input lies."},
    {"name", "str = None",
     "The name of this call, by which a host finds a reader; no other call may have it."},
    {"seed", "int = None",
     "What the random numbers of this call come from, in place of the pipeline's seed."},
};

std::string markdown_of(std::span<const KnownWord> words, std::string_view name) {
  const auto found = std::ranges::find(words, name, &KnownWord::name);
  if (found == words.end()) return {};
  return fmt::format("`{}: {}`\n\n{}", found->name, found->type, found->documentation);
}

}  // namespace

bool is_pipeline_def(const Names& names, const CallAround& call) {
  constexpr std::string_view kName = "pipeline_def";
  if (call.callee.empty() || call.callee.back() != kName) return false;
  const std::string path = imported_path(names, call.callee, call.callee_span.begin);
  return path.starts_with("nvidia.dali") || path.starts_with("galatea");
}

std::string option_label(const dsl::PipelineOption& option) {
  return fmt::format("{}{}{} = {}", option.name, option.type.empty() ? "" : ": ", option.type,
                     option.default_value);
}

std::string option_markdown(const dsl::PipelineOption& option) {
  return fmt::format(
      "`{}`\n\n{}", option_label(option),
      option.documentation.empty() ? "Accepted for compatibility; has no effect." : option.documentation);
}

std::string constant_or_type_markdown(std::string_view word) { return markdown_of(kKnownWords, word); }
std::string library_function_markdown(std::string_view name) {
  const auto found = std::ranges::find(kKnownFunctions, name, &KnownWord::name);
  if (found == std::end(kKnownFunctions)) return {};
  return fmt::format("```python\n{}\n```\n\n{}", found->type, found->documentation);
}

std::string library_text_markdown(std::string_view name) {
  if (name.empty() || name[0] == '_') return {};
  const std::string head = fmt::format("\ndef {}(", name);
  for (const auto& [path, text] : dsl::library_texts()) {
    const size_t at = text.find(head);
    if (!path.starts_with("auto_aug/") || at == std::string_view::npos) continue;
    std::string module(path);
    std::ranges::replace(module, '/', '.');
    std::string out = fmt::format("Of `galatea.{}`.", module);
    const std::string_view above = text.substr(0, at).substr(text.substr(0, at).rfind('\n') + 1);
    if (above.starts_with("@augmentation(")) out += fmt::format(" `{}`", above);
    constexpr std::string_view kQuotes = "\"\"\"";
    const size_t body = text.find(":\n", at);
    const size_t begin = body == std::string_view::npos ? body : text.find_first_not_of(" \n", body + 1);
    if (begin == std::string_view::npos || !text.substr(begin).starts_with(kQuotes)) return out;
    const std::string_view words = text.substr(begin + kQuotes.size());
    const size_t end = std::min(words.find(kQuotes), words.find("\n\n"));
    if (end == std::string_view::npos) return out;
    out += "\n\n";
    bool blank = false;
    for (const char c : words.substr(0, end)) {
      if (c != ' ' || !blank) out += c == '\n' ? ' ' : c;
      blank = c == ' ' || c == '\n';
    }
    return out;
  }
  return {};
}

std::vector<std::string> quoted_values(std::string_view documentation) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::vector<std::string> words;
  for (size_t open = documentation.find('"'); open != std::string_view::npos;) {
    const size_t close = documentation.find('"', open + 1);
    if (close == std::string_view::npos) break;
    const std::string_view word = documentation.substr(open + 1, close - open - 1);
    const bool is_word = !word.empty() && word.find_first_not_of(kLetters) == std::string_view::npos;
    if (is_word && std::ranges::find(words, word) == words.end()) words.emplace_back(word);
    open = documentation.find('"', close + 1);
  }
  return words.size() > 1 ? words : std::vector<std::string>();
}

std::string call_argument_markdown(std::string_view name) { return markdown_of(kOfEveryCall, name); }

std::string module_markdown(const std::vector<std::string>& modules, const std::string& path) {
  const bool is_module = std::ranges::any_of(
      modules, [&](const std::string& module) { return module == path || module.starts_with(path + "."); });
  return is_module ? "```python\nmodule " + path + "\n```" : "";
}

}  // namespace galatea::tools::lsp
