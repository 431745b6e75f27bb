// Calls: NAME(argument=literal, …), as Python has them; the literals are what policies need.
#include <charconv>

#include <fmt/format.h>

#include "policy/messages.h"
#include "policy/spelling.h"

namespace galatea::policy {
namespace {

class CallParser {
 public:
  explicit CallParser(std::string_view text) : text_(text) {}

  Result<Call> parse() {
    Call call;
    call.name = last_part(word());
    if (call.name.empty()) return problem("it begins with no name");
    if (take('(')) {
      while (!take(')')) {
        GALATEA_TRY(argument(call));
        if (take(',')) continue;
        if (!take(')')) return problem("a comma or `)` is missing");
        break;
      }
    }
    blanks();
    if (at_ < text_.size()) return problem(fmt::format("`{}` follows its end", text_.substr(at_)));
    return call;
  }

 private:
  std::unexpected<Error> problem(const std::string& what) const {
    return policy_error(Message::kBadSpelling, {},
                        {std::string(text_), what, "write a call such as rand_augment(n=2, m=9)"});
  }

  Status argument(Call& call) {
    const size_t begin = at_;
    std::string name = word();
    if (name.empty() || !take('=')) {
      at_ = begin;
      name.clear();
    }
    if (name.empty() && !call.arguments.empty() && !call.arguments.back().name.empty())
      return problem("an argument without a name follows one with a name");
    for (const CallArgument& given : call.arguments)
      if (!name.empty() && given.name == name) return problem(fmt::format("`{}` is given twice", name));
    blanks();
    const bool is_quoted = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    GALATEA_ASSIGN(JsonValue value, literal(0));
    const bool is_variable = value.kind == JsonValue::Kind::kString && !is_quoted;
    call.arguments.push_back({std::move(name), std::move(value), is_variable});
    return {};
  }

  Result<JsonValue> literal(int depth) {
    blanks();
    JsonValue value;
    if (at_ == text_.size()) return problem("it ends too early");
    const char first = text_[at_];
    if (first == '[' || first == '(') {
      if (depth > 4) return problem("its lists are nested too deep");
      const char close = first == '[' ? ']' : ')';
      ++at_;
      value.kind = JsonValue::Kind::kArray;
      while (!take(close)) {
        GALATEA_ASSIGN(JsonValue item, literal(depth + 1));
        value.items.push_back(std::move(item));
        if (take(',')) continue;
        if (!take(close)) return problem("a list is not closed");
        break;
      }
      return value;
    }
    if (first == '"' || first == '\'') {
      const size_t end = text_.find(first, at_ + 1);
      if (end == std::string_view::npos) return problem("a string is not closed");
      value.kind = JsonValue::Kind::kString;
      value.text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return value;
    }
    if (first == '-' || first == '.' || (first >= '0' && first <= '9')) return number();
    const std::string name = last_part(word());
    if (name.empty()) return problem(fmt::format("`{}` is no value", text_.substr(at_, 1)));
    if (name == "None") return value;
    value.kind = name == "True" || name == "False" ? JsonValue::Kind::kBool : JsonValue::Kind::kString;
    value.boolean = name == "True";
    value.text = name;
    return value;
  }

  Result<JsonValue> number() {
    JsonValue value;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value.number);
    if (error != std::errc() || stop == begin) return problem("a number is malformed");
    const std::string_view written(begin, static_cast<size_t>(stop - begin));
    value.kind = JsonValue::Kind::kNumber;
    if (written.find_first_not_of("-0123456789") == std::string_view::npos && written.size() < 18) {
      value.kind = JsonValue::Kind::kInteger;
      value.integer = static_cast<int64_t>(value.number);
    }
    at_ += written.size();
    return value;
  }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Letters, digits, _ and the dots between names.
  std::string word() {
    blanks();
    const size_t begin = at_;
    auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
             (c >= '0' && c <= '9');
    };
    while (at_ < text_.size() && fits(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  static std::string last_part(const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Call> parse_call(std::string_view text) { return CallParser(text).parse(); }

}  // namespace galatea::policy
