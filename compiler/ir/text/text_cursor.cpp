#include "compiler/ir/text/text_cursor.h"

#include <algorithm>
#include <charconv>

#include "compiler/messages/messages.h"

namespace galatea::ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

}  // namespace

void TextCursor::skip() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

bool TextCursor::take(char c) {
  if (!sees(c)) return false;
  ++at_;
  return true;
}

bool TextCursor::more_on_line() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  return at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r' && text_[at_] != '#';
}

bool TextCursor::take_word(std::string_view wanted) {
  skip();
  size_t begin = at_;
  if (word() == wanted) return true;
  at_ = begin;
  return false;
}

bool TextCursor::take_word_here(std::string_view wanted) { return more_on_line() && take_word(wanted); }

std::string_view TextCursor::word() {
  skip();
  size_t begin = at_;
  if (at_ < text_.size() && is_letter(text_[at_]))
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view TextCursor::layout_here(int ndim) {
  if (!more_on_line()) return {};
  const size_t begin = at_;
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_axis = [&](char c) { return (c >= 'A' && c <= 'Z') || c == '*' || is_small(c); };
  while (at_ < text_.size() && is_axis(text_[at_])) ++at_;
  const std::string_view letters = text_.substr(begin, at_ - begin);
  // Small letters may be a word of the line's own.
  const bool is_word_of_line = std::any_of(letters.begin(), letters.end(), is_small) &&
                               (static_cast<int>(letters.size()) != ndim || letters == "gpu" ||
                                (at_ < text_.size() && text_[at_] == '='));
  if (is_word_of_line || (at_ < text_.size() && is_word(text_[at_]))) at_ = begin;
  return text_.substr(begin, at_ - begin);
}

std::string_view TextCursor::number() {
  skip();
  size_t begin = at_;
  while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::optional<int64_t> TextCursor::integer() {
  skip();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (failure != std::errc()) return std::nullopt;
  at_ += static_cast<size_t>(end - begin);
  return value;
}

Result<std::string> TextCursor::quoted() {
  if (!take('"')) return error("a text in double quotes is expected");
  size_t begin = at_ - 1;
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    char c = text_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at_ >= text_.size()) break;
    char escape = text_[at_++];
    unsigned value = 0;
    switch (escape) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '"':
      case '\\':
        out += escape;
        break;
      case 'x': {
        size_t left = std::min<size_t>(2, text_.size() - at_);
        auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + at_ + left, value, 16);
        if (failure != std::errc() || end != text_.data() + at_ + 2)
          return error("\\x needs two hexadecimal digits");
        at_ += 2;
        out += static_cast<char>(value);
        break;
      }
      default:
        return error(std::string("there is no escape \\") + escape);
    }
  }
  if (at_ >= text_.size() || text_[at_] != '"') {
    at_ = begin;
    return error("the text does not end on its line");
  }
  ++at_;
  return out;
}

Status TextCursor::expect(char c) {
  if (take(c)) return {};
  return error(std::string("`") + c + "` is expected here");
}

std::unexpected<Error> TextCursor::error(std::string message, std::string help) {
  skip();
  size_t end = at_;
  while (end < text_.size() && text_[end] != '\n' && text_[end] != ' ' && end - at_ < 40) ++end;
  if (end == at_ && end < text_.size()) ++end;
  Span span{file_, static_cast<uint32_t>(at_), static_cast<uint32_t>(end)};
  return compiler::user_error(compiler::Message::kGraphSyntax, span, message, help);
}

}  // namespace galatea::ir
