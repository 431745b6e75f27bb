// The sink, the JSON form, and the choice of the word that was meant. Caret text is in diagnostic_text.cpp.
#include "base/diagnostic.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"

namespace galatea {
namespace {

/// Longer words are not typing slips, and would make the comparison slow.
constexpr size_t kLongestWord = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Number of insertions, deletions, replacements and swaps of neighbours (each place edited at most once)
/// between two words; a letter in the other case costs nothing here. More than `limit` is given as limit + 1.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  auto same = [](char x, char y) { return lower(x) == lower(y); };
  while (!a.empty() && !b.empty() && same(a.front(), b.front())) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && same(a.back(), b.back())) a.remove_suffix(1), b.remove_suffix(1);
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
    // Neither this row nor, with a swap, the one before leads to less.
    if (std::min(*std::min_element(last.begin(), last.end()),
                 *std::min_element(before_last.begin(), before_last.end())) > limit)
      return limit + 1;
  }
  return last[b.size()];
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

// ordered_json keeps the order in which the contract lists the keys.
using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

void add_place(Json& object, Span given, const SourceMap& sources) {
  const Span span = sources.resolve(given);
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr) {
    for (const char* key : {"file", "line", "column", "end_line", "end_column"}) object[key] = nullptr;
    return;
  }
  LineColumn begin = file->position(span.begin);
  LineColumn end = file->position(std::max(span.begin, span.end));
  object["file"] = file->name();
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end_line"] = end.line;
  object["end_column"] = end.column;
}

Json label_json(const Label& label, const SourceMap& sources) {
  Json object = Json::object();
  add_place(object, label.span, sources);
  object["text"] = label.text;
  return object;
}

Json call_json(const CallSite& call, const SourceMap& sources) {
  Json object = Json::object();
  const Span span = sources.resolve(call.span);
  const SourceFile* file = sources.file(span.file);
  object["file"] = file ? Json(file->name()) : Json(nullptr);
  object["line"] = file ? Json(file->position(span.begin).line) : Json(nullptr);
  object["function"] = call.function;
  return object;
}

Json edit_json(const Edit& edit, const SourceMap& sources) {
  Json object = Json::object();
  add_place(object, edit.span, sources);
  object["replacement"] = edit.replacement;
  object["certain"] = edit.is_certain;
  return object;
}

Json to_json(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json object = Json::object();
  object["code"] = text_or_null(diagnostic.code);
  object["severity"] = name_of(diagnostic.severity);
  object["message"] = diagnostic.message;
  add_place(object, diagnostic.span, sources);
  // The words beside the carets are a label at the primary place.
  object["labels"] = Json::array();
  if (!diagnostic.span_text.empty()) {
    object["labels"].push_back(label_json({diagnostic.span, diagnostic.span_text}, sources));
  }
  for (const Label& label : diagnostic.labels) object["labels"].push_back(label_json(label, sources));
  object["calls"] = Json::array();
  for (const CallSite& call : diagnostic.calls) object["calls"].push_back(call_json(call, sources));
  object["notes"] = diagnostic.notes;
  object["help"] = text_or_null(diagnostic.help);
  object["edits"] = Json::array();
  for (const Edit& edit : diagnostic.edits) object["edits"].push_back(edit_json(edit, sources));
  return object;
}

}  // namespace

void DiagnosticSink::report(Diagnostic diagnostic) {
  const bool is_error = diagnostic.severity == Severity::kError;
  const Span span = diagnostic.span;
  if (span.valid()) {
    // A note that says something else each time (a `print` in a loop) is another report each time.
    std::string what =
        diagnostic.severity == Severity::kNote ? diagnostic.code + diagnostic.message : diagnostic.code;
    auto key = std::make_tuple(what, span.file, span.begin, span.end);
    auto [found, is_new] = index_.try_emplace(key, diagnostics_.size());
    if (!is_new) {
      // Those dropped for the limit have an index past the end of the list.
      if (found->second < repetitions_.size()) ++repetitions_[found->second];
      return;
    }
    if (is_error && num_errors_ >= limit_) found->second = static_cast<size_t>(-1);
  } else {
    // Without a place, the same message is the same report.
    for (size_t i = 0; i < diagnostics_.size(); ++i) {
      const Diagnostic& other = diagnostics_[i];
      if (!other.span.valid() && other.code == diagnostic.code && other.message == diagnostic.message) return;
    }
  }
  if (is_error) {
    if (num_errors_ >= limit_) {
      ++dropped_;
      return;
    }
    ++num_errors_;
  }
  diagnostics_.push_back(std::move(diagnostic));
  repetitions_.push_back(1);
}

std::vector<Diagnostic> DiagnosticSink::take() {
  std::vector<Diagnostic> taken = std::move(diagnostics_);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (repetitions_[i] > 1) {
      taken[i].notes.push_back(fmt::format("in {} calls; the first is shown", repetitions_[i]));
    }
  }
  if (dropped_ > 0) {
    Diagnostic more;
    more.severity = Severity::kNote;
    more.message = fmt::format("{} more error{} not shown", dropped_, dropped_ == 1 ? " is" : "s are");
    more.help = "fix the first ones and try again";
    taken.push_back(std::move(more));
  }
  diagnostics_.clear();
  repetitions_.clear();
  index_.clear();
  num_errors_ = dropped_ = 0;
  return taken;
}

Diagnostic resolved(Diagnostic diagnostic, const SourceMap& sources) {
  diagnostic.span = sources.resolve(diagnostic.span);
  for (Label& label : diagnostic.labels) label.span = sources.resolve(label.span);
  for (CallSite& call : diagnostic.calls) call.span = sources.resolve(call.span);
  for (Edit& edit : diagnostic.edits) edit.span = sources.resolve(edit.span);
  return diagnostic;
}

std::string with_edits(const std::string& text, uint32_t file, const std::vector<Diagnostic>& diagnostics,
                       bool uncertain_too, size_t& applied) {
  std::vector<const Edit*> chosen;
  const auto meets = [](const Edit& a, const Edit& b) {
    return a.span == b.span || (a.span.begin < b.span.end && b.span.begin < a.span.end);
  };
  applied = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool fits =
        !diagnostic.edits.empty() && std::ranges::all_of(diagnostic.edits, [&](const Edit& edit) {
          return (edit.is_certain || uncertain_too) && edit.span.file == file &&
                 edit.span.begin <= edit.span.end && edit.span.end <= text.size() &&
                 std::ranges::none_of(chosen, [&](const Edit* other) { return meets(edit, *other); });
        });
    if (!fits) continue;
    for (const Edit& edit : diagnostic.edits) chosen.push_back(&edit);
    ++applied;
  }
  std::ranges::sort(chosen, {}, [](const Edit* edit) { return edit->span.begin; });
  std::string out;
  size_t at = 0;
  for (const Edit* edit : chosen) {
    out += text.substr(at, edit->span.begin - at) + edit->replacement;
    at = edit->span.end;
  }
  return out + text.substr(at);
}

std::string render_json(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) {
  Json document = Json::object();
  document["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : diagnostics)
    document["diagnostics"].push_back(to_json(diagnostic, sources));
  // Texts may quote bytes of a broken file: what is not UTF-8 is replaced instead of refused.
  return json_text(document);
}

std::optional<std::string> closest_match(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  // One slip in three letters; short words may still have one.
  const size_t bound = std::max<size_t>(word.size(), 3) / 3;
  size_t best = bound + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate == word || candidate.size() > kLongestWord) continue;
    const size_t longer = std::max(candidate.size(), word.size());
    if (longer - std::min(candidate.size(), word.size()) > bound) continue;
    const size_t distance = edit_distance(word, candidate, best - 1);
    // Everything replaced is another word, however short.
    if (distance >= longer || distance >= best) continue;
    best = distance;
    nearest = &candidate;
  }
  return nearest ? std::optional<std::string>(*nearest) : std::nullopt;
}

}  // namespace galatea
