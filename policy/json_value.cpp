// The reader: nlohmann's SAX events, with places of our own. Each event is one token of the text, so a cursor
// that skips blanks and separators and then steps over the token knows where the token stands.
#include "policy/json_value.h"

#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/json.h"
#include "policy/messages.h"

namespace galatea::policy {
namespace {

using JsonKind = JsonValue::Kind;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Cursor {
 public:
  Cursor(std::string_view text, uint32_t file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
  }

  /// Steps over the next token.
  Span next() {
    at_ = start_of_next(text_.size());
    const size_t begin = at_;
    if (at_ == text_.size()) return span(begin, begin);
    const char first = text_[at_++];
    if (first == '"') {
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
    } else if (is_word(first) || first == '-') {
      while (at_ < text_.size() &&
             (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '+' || text_[at_] == '-'))
        ++at_;
    }
    return span(begin, at_);
  }

  /// What the parser stumbled over after it had read `position` bytes.
  Span offending(size_t position) const {
    const size_t last = std::min(position == 0 ? 0 : position - 1, text_.size());
    const size_t begin = start_of_next(last);
    size_t end = begin + 1;
    while (end < text_.size() && is_word(text_[end - 1]) && is_word(text_[end])) ++end;
    return span(begin, std::min(std::max(position, end), text_.size()));
  }
  /// The separator before a place: a comma, or 0.
  char separator_before(size_t place) const {
    while (place > 0 && is_blank(text_[place - 1])) --place;
    return place > 0 && text_[place - 1] == ',' ? ',' : '\0';
  }

 private:
  size_t start_of_next(size_t bound) const {
    size_t at = at_;
    while (at < bound && (is_blank(text_[at]) || text_[at] == ',' || text_[at] == ':')) ++at;
    return at;
  }
  Span span(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  std::string_view text_;
  uint32_t file_;
  size_t at_ = 0;
};

/// The sentence of nlohmann's exception, without its number and place.
std::string parser_words(std::string what) {
  for (const char* lead : {"] ", "parse error at ", ": "}) {
    if (const size_t at = what.find(lead); at != std::string::npos)
      what = what.substr(at + std::string(lead).size());
  }
  if (const size_t at = what.find("; last read"); at != std::string::npos) {
    const size_t next = what.find(';', at + 1);
    what = what.substr(0, at) + (next == std::string::npos ? "" : what.substr(next));
  }
  return what;
}

class Handler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;

  Handler(std::string_view text, uint32_t file, DiagnosticSink& sink, const JsonLimits& limits)
      : text_(text), cursor_(text, file), sink_(sink), limits_(limits) {}

  bool null() { return put({}); }
  bool boolean(bool value) {
    JsonValue made;
    made.kind = JsonKind::kBool;
    made.boolean = value;
    return put(std::move(made));
  }
  bool number_integer(number_integer_t value) { return put_integer(value); }
  bool number_unsigned(number_unsigned_t value) {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX)) return put_integer(static_cast<int64_t>(value));
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(number_float_t value, const std::string&) {
    JsonValue made;
    made.kind = JsonKind::kNumber;
    made.number = value;
    return put(std::move(made));
  }
  bool string(std::string& value) {
    JsonValue made;
    made.kind = JsonKind::kString;
    made.text = std::move(value);
    return put(std::move(made));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return open(JsonKind::kObject); }
  bool start_array(size_t) { return open(JsonKind::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    const Span span = cursor_.next();
    if (!level.keys.insert(name).second) {
      Diagnostic diagnostic = diagnose(Message::kRepeatedKey, span, {name});
      for (const JsonMember& member : level.value.members)
        if (member.key == name) diagnostic.labels.push_back({member.key_span, "first here"});
      sink_.report(std::move(diagnostic));
    }
    level.value.members.push_back({std::move(name), span, {}});
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    const Span span = cursor_.offending(position);
    auto [words, help] = explain(span);
    if (words.empty()) words = parser_words(error.what());
    sink_.report(diagnose(Message::kNotJson, span, {words, help}));
    return false;
  }

  JsonValue take() { return std::move(root_); }

 private:
  struct Level {
    JsonValue value;
    std::set<std::string> keys;
  };

  bool put_integer(int64_t value) {
    JsonValue made;
    made.kind = JsonKind::kInteger;
    made.integer = value;
    made.number = static_cast<double>(value);
    return put(std::move(made));
  }

  bool put(JsonValue value) {
    value.span = cursor_.next();
    return counted(value.span) && attach(std::move(value));
  }

  bool attach(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (JsonValue& parent = levels_.back().value; parent.kind == JsonKind::kArray) {
      parent.items.push_back(std::move(value));
    } else {
      parent.members.back().value = std::move(value);
    }
    return true;
  }

  bool open(JsonKind kind) {
    Level level;
    level.value.kind = kind;
    level.value.span = cursor_.next();
    if (levels_.size() >= limits_.depth) {
      sink_.report(diagnose(Message::kTooLarge, level.value.span,
                            {fmt::format("lists and objects are nested more than {} deep", limits_.depth)}));
      return false;
    }
    if (!counted(level.value.span)) return false;
    levels_.push_back(std::move(level));
    return true;
  }

  bool close() {
    JsonValue value = std::move(levels_.back().value);
    levels_.pop_back();
    value.span = cover(value.span, cursor_.next());
    return attach(std::move(value));
  }

  bool counted(Span span) {
    if (++count_ <= limits_.values) return true;
    sink_.report(
        diagnose(Message::kTooLarge, span, {fmt::format("it has more than {} values", limits_.values)}));
    return false;
  }

  /// Mistakes that people make in JSON, by what stands there.
  std::pair<std::string, std::string> explain(Span span) const {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return {"it is empty", "`galatea policy convert \"rand_augment(n=2, m=9)\"` writes one to begin with"};
    if (span.begin >= text_.size()) return {"it ends too early", "a bracket or a quote is not closed"};
    std::string_view rest = text_.substr(span.begin);
    const size_t sign = rest[0] == '-' ? 1 : 0;
    size_t length = sign;
    while (length < rest.size() && is_word(rest[length])) ++length;
    const std::string_view word = rest.substr(sign, length - sign);
    if (word == "NaN" || word == "nan" || word == "Infinity" || word == "inf")
      return {fmt::format("it has no `{}`", word), "write a number"};
    if (word == "True" || word == "False" || word == "None")
      return {fmt::format("it has no `{}`", word),
              word == "None" ? "write `null`" : "write it in lower case"};
    if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with("#"))
      return {"it has no comments", "take the comment out"};
    if (rest.starts_with("'")) return {"strings stand in double quotes", "write \"…\""};
    if ((rest.starts_with("]") || rest.starts_with("}")) && cursor_.separator_before(span.begin) == ',')
      return {"a comma stands before the closing bracket", "take the comma out"};
    if (rest[0] == ',' && cursor_.separator_before(span.begin) == ',')
      return {"two commas stand side by side", "take one of them out"};
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (text_.find_first_not_of(" \t\r\n-") == span.begin && !word.empty() &&
        (line.substr(length).starts_with(":") || text_.starts_with("---")))
      return {"it begins as YAML does",
              "write an object, `{\"format\": \"augment-policy\", …}`, with names in double quotes"};
    return {};
  }

  std::string_view text_;
  Cursor cursor_;
  DiagnosticSink& sink_;
  const JsonLimits& limits_;
  std::vector<Level> levels_;
  JsonValue root_;
  size_t count_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string number_text(double number) {
  if (number == 0) return "0";
  if (std::abs(number) < 1e15 && number == std::trunc(number))
    return fmt::format("{}", static_cast<int64_t>(number));
  return fmt::format("{}", number);
}

std::string describe(const JsonValue& value) {
  constexpr size_t kShown = 40;
  switch (value.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return value.boolean ? "true" : "false";
    case JsonKind::kInteger:
      return fmt::format("{}", value.integer);
    case JsonKind::kNumber:
      return fmt::format("{}", value.number);
    case JsonKind::kString:
      return value.text.size() <= kShown ? fmt::format("\"{}\"", value.text) : "a string";
    case JsonKind::kArray:
      return value.items.empty() ? "an empty list" : "a list";
    case JsonKind::kObject:
      // In a policy such a value is a search space taken for one.
      if (value.members.size() == 1 && value.members[0].key.starts_with("$"))
        return fmt::format("a `{}` of a search space, which `galatea policy search` takes",
                           value.members[0].key);
      return "an object";
  }
  return "";
}

std::optional<JsonValue> read_json(uint32_t file, const SourceMap& sources, DiagnosticSink& sink,
                                   const JsonLimits& limits) {
  const std::string& text = sources.file(file)->text();
  if (text.size() > limits.bytes) {
    sink.report(diagnose(Message::kTooLarge, {file, 0, 0},
                         {fmt::format("{} bytes, and at most {} are read", text.size(), limits.bytes)}));
    return std::nullopt;
  }
  Handler handler(text, file, sink, limits);
  const size_t before = sink.num_errors();
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  if (!parsed || sink.num_errors() != before) return std::nullopt;
  return handler.take();
}

}  // namespace galatea::policy
