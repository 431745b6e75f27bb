// Methods of strings. In: the string and evaluated arguments. Out: a value, or poison after an error.
// Positions count characters, not bytes.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/methods.h"
#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

bool check_texts(Evaluator& ev, const CallArguments& a, size_t least, size_t most) {
  if (!check_count(ev, a, least, most)) return false;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (!a.positional[i].is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[i],
                     {a.name, "a string", describe_kind(a.positional[i])}),
             false;
  }
  return true;
}

// An integer argument; false after an error.
bool integer(Evaluator& ev, const CallArguments& a, size_t i, int64_t& out) {
  Value value = plain(a.positional[i]);
  if (!value.is_integral())
    return ev.fail(Message::kWrongArgument, a.spans[i], {a.name, "an integer", ev.type_text(value)}), false;
  out = value.as_int();
  return true;
}

// Keyword arguments that a method of Python takes, moved to their place; false after an error.
bool place_keywords(Evaluator& ev, CallArguments& a, std::initializer_list<std::string_view> names) {
  for (const CallArguments::Keyword& keyword : a.keywords) {
    auto found = std::find(names.begin(), names.end(), keyword.name);
    auto at = static_cast<size_t>(found - names.begin());
    if (found == names.end())
      return ev.fail(Message::kUnknownParameter, keyword.name_span, {a.name, keyword.name, ""}), false;
    if (at < a.positional.size())
      return ev.fail(Message::kArgumentTwice, keyword.name_span, {a.name, keyword.name}), false;
    while (a.positional.size() < at) a.positional.push_back(Value::none()), a.spans.push_back(a.span);
    a.positional.push_back(keyword.value);
    a.spans.push_back(keyword.span);
  }
  a.keywords.clear();
  return true;
}

// Searches that may compare all of what is wanted at each place.
bool afford_search(Evaluator& ev, const CallArguments& a) {
  ev.spend(a.self.text().size() / 64 * a.positional[0].text().size());
  return ev.step(a.span);
}

Value str_join(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "joined");
  if (!elements) return Value::poison();
  std::string out;
  for (size_t i = 0; i < elements->size(); ++i) {
    if ((*elements)[i].is_poison()) return Value::poison();
    if (!(*elements)[i].is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[0], {"join", "strings", describe_kind((*elements)[i])});
    const std::string& part = (*elements)[i].text();
    if (!ev.check_size(out.size() + a.self.text().size() + part.size(), a.span)) return Value::poison();
    if (i > 0) out += a.self.text();
    out += part;
  }
  return ev.make_string(std::move(out));
}

// Words between blanks, at most limit + 1 of them, counted from the left or from the right.
std::vector<std::u32string> split_blanks(const std::u32string& text, int64_t limit, bool right) {
  std::vector<std::u32string> parts;
  size_t begin = 0, end = text.size();
  for (;;) {
    while (begin < end && is_space(text[begin])) ++begin;
    while (end > begin && is_space(text[end - 1])) --end;
    if (begin == end) break;
    if (limit >= 0 && static_cast<int64_t>(parts.size()) == limit) {
      parts.push_back(text.substr(begin, end - begin));
      break;
    }
    size_t edge = right ? end : begin;
    if (right) {
      while (edge > begin && !is_space(text[edge - 1])) --edge;
      parts.push_back(text.substr(edge, end - edge));
      end = edge;
    } else {
      while (edge < end && !is_space(text[edge])) ++edge;
      parts.push_back(text.substr(begin, edge - begin));
      begin = edge;
    }
  }
  // The rest of a limited split keeps the blanks at its far end.
  bool cut = limit >= 0 && static_cast<int64_t>(parts.size()) == limit + 1;
  if (cut && !right) parts.back() = text.substr(begin);
  if (cut && right) parts.back() = text.substr(0, end);
  if (right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> split_at(const std::string& text, const std::string& separator, int64_t limit,
                                  bool right) {
  std::vector<std::string> parts;
  size_t begin = 0, end = text.size();
  while (limit < 0 || static_cast<int64_t>(parts.size()) < limit) {
    size_t found =
        right ? end < separator.size() ? std::string::npos : text.rfind(separator, end - separator.size())
              : find_text(text, separator, begin);
    if (found == std::string::npos) break;
    if (right) {
      parts.push_back(text.substr(found + separator.size(), end - found - separator.size()));
      end = found;
    } else {
      parts.push_back(text.substr(begin, found - begin));
      begin = found + separator.size();
    }
  }
  parts.push_back(text.substr(begin, end - begin));
  if (right) std::reverse(parts.begin(), parts.end());
  return parts;
}

Value str_split(Evaluator& ev, CallArguments& a) {
  if (!place_keywords(ev, a, {"sep", "maxsplit"}) || !check_count(ev, a, 0, 2)) return Value::poison();
  int64_t limit = -1;
  if (a.positional.size() == 2 && !integer(ev, a, 1, limit)) return Value::poison();
  bool right = a.name == "rsplit";
  // There are at most half as many parts as bytes; each takes about as much as a value.
  if (a.self.text().size() > (1 << 20) && !ev.check_size(a.self.text().size() * sizeof(Value), a.span))
    return Value::poison();
  std::vector<Value> parts;
  if (a.positional.empty() || a.positional[0].is(ValueKind::kNone)) {
    for (const std::u32string& part : split_blanks(decode_utf8(a.self.text()), limit, right))
      parts.push_back(ev.make_string(encode_utf8(part)));
    return ev.make_list(std::move(parts), a.span);
  }
  if (!a.positional[0].is(ValueKind::kString) || a.positional[0].text().empty())
    return ev.fail(Message::kWrongArgument, a.spans[0],
                   {a.name, "a string that is not empty", ev.type_text(a.positional[0])});
  if (right && !afford_search(ev, a)) return Value::poison();
  for (std::string& part : split_at(a.self.text(), a.positional[0].text(), limit, right))
    parts.push_back(ev.make_string(std::move(part)));
  return ev.make_list(std::move(parts), a.span);
}

Value str_partition(Evaluator& ev, CallArguments& a) {
  if (!check_texts(ev, a, 1, 1)) return Value::poison();
  const std::string &text = a.self.text(), &separator = a.positional[0].text();
  if (separator.empty())
    return ev.fail(Message::kWrongArgument, a.spans[0],
                   {a.name, "a string that is not empty", "an empty one"});
  bool right = a.name == "rpartition";
  if (right && !afford_search(ev, a)) return Value::poison();
  size_t at = right ? text.rfind(separator) : find_text(text, separator, 0);
  Value none = ev.make_string("");
  if (at == std::string::npos)
    return right ? ev.make_tuple({none, none, a.self}) : ev.make_tuple({a.self, none, none});
  return ev.make_tuple({ev.make_string(text.substr(0, at)), a.positional[0],
                        ev.make_string(text.substr(at + separator.size()))});
}

Value str_splitlines(Evaluator& ev, CallArguments& a) {
  if (!place_keywords(ev, a, {"keepends"}) || !check_count(ev, a, 0, 1)) return Value::poison();
  bool keep = !a.positional.empty() && truth(a.positional[0]);
  constexpr std::u32string_view kBreaks = U"\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029";
  std::u32string text = decode_utf8(a.self.text());
  std::vector<Value> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find_first_of(kBreaks, begin), text.size());
    size_t next = end == text.size()
                      ? end
                      : end + (text[end] == U'\r' && end + 1 < text.size() && text[end + 1] == U'\n' ? 2 : 1);
    lines.push_back(
        ev.make_string(encode_utf8(std::u32string_view(text).substr(begin, (keep ? next : end) - begin))));
    begin = next;
  }
  return ev.make_list(std::move(lines), a.span);
}

Value str_strip(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 1)) return Value::poison();
  if (!a.positional.empty() && a.positional[0].is(ValueKind::kNone)) a.positional.clear();
  if (!check_texts(ev, a, 0, 1)) return Value::poison();
  std::u32string text = decode_utf8(a.self.text());
  std::u32string blanks = a.positional.empty() ? U"" : decode_utf8(a.positional[0].text());
  auto goes = [&](char32_t c) {
    return a.positional.empty() ? is_space(c) : blanks.find(c) != std::u32string::npos;
  };
  size_t begin = 0, end = text.size();
  while (a.name != "rstrip" && begin < end && goes(text[begin])) ++begin;
  while (a.name != "lstrip" && begin < end && goes(text[end - 1])) --end;
  return ev.make_string(encode_utf8(std::u32string_view(text).substr(begin, end - begin)));
}

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c); }

// Small sigma has another form at the end of a word.
void append_lower(std::u32string& out, const std::u32string& text, size_t i) {
  constexpr char32_t kSigma = U'Σ';
  bool after = i > 0 && is_cased(text[i - 1]), before = i + 1 < text.size() && is_cased(text[i + 1]);
  if (text[i] == kSigma && after && !before)
    out.push_back(U'ς');
  else
    append_case(out, text[i], Case::kLower);
}

Value str_case(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  std::u32string text = decode_utf8(a.self.text()), out;
  bool in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    bool start = a.name == "title" ? !in_word : a.name == "capitalize" && i == 0;
    bool upper = a.name == "upper" || (a.name == "swapcase" && is_lower(text[i]));
    bool lower = a.name == "lower" || a.name == "title" || a.name == "capitalize" ||
                 (a.name == "swapcase" && is_upper(text[i]));
    if (start)
      append_case(out, text[i], Case::kTitle);
    else if (upper)
      append_case(out, text[i], Case::kUpper);
    else if (lower)
      append_lower(out, text, i);
    else
      out.push_back(text[i]);
    in_word = is_cased(text[i]);
  }
  return ev.make_string(encode_utf8(out));
}

// Start and end of a search, as slices clip them; the part of the text between, and its offset in characters.
bool search_range(Evaluator& ev, const CallArguments& a, std::u32string& text, int64_t& offset) {
  text = decode_utf8(a.self.text());
  auto size = static_cast<int64_t>(text.size());
  int64_t begin = 0, end = size;
  auto bound = [&](size_t i, int64_t& out) {
    if (a.positional.size() <= i || a.positional[i].is(ValueKind::kNone)) return true;
    if (!integer(ev, a, i, out)) return false;
    out = out < 0 ? std::max<int64_t>(out + size, 0) : out;
    return true;
  };
  if (!bound(1, begin) || !bound(2, end)) return false;
  end = std::min(end, size);
  offset = begin;
  // Past the end nothing is found, not even the empty string.
  if (begin > end) return offset = -1, true;
  text = text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  return true;
}

Value str_affix(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 3)) return Value::poison();
  std::u32string text;
  int64_t offset = 0;
  if (!search_range(ev, a, text, offset)) return Value::poison();
  std::vector<Value> options = a.positional[0].is(ValueKind::kTuple) ? a.positional[0].elements()
                                                                     : std::vector<Value>{a.positional[0]};
  bool found = false;
  for (const Value& option : options) {
    if (!option.is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[0],
                     {a.name, "a string or a tuple of strings", describe_kind(option)});
    std::u32string affix = decode_utf8(option.text());
    found =
        found || (offset >= 0 && (a.name == "startswith" ? text.starts_with(affix) : text.ends_with(affix)));
  }
  return Value::of(found);
}

Value str_find(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 3)) return Value::poison();
  if (!a.positional[0].is(ValueKind::kString))
    return ev.fail(Message::kWrongArgument, a.spans[0], {a.name, "a string", describe_kind(a.positional[0])});
  if (!afford_search(ev, a)) return Value::poison();
  std::u32string text, wanted = decode_utf8(a.positional[0].text());
  int64_t offset = 0;
  if (!search_range(ev, a, text, offset)) return Value::poison();
  bool right = a.name.starts_with("r");
  size_t at = offset < 0 ? std::u32string::npos : right ? text.rfind(wanted) : text.find(wanted);
  if (at != std::u32string::npos) return Value::of(static_cast<int64_t>(at) + offset);
  if (a.name.ends_with("index"))
    return ev.fail(Message::kNotInList, a.spans[0], {repr(a.positional[0]), "string"});
  return Value::of(int64_t{-1});
}

Value str_count(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 3)) return Value::poison();
  if (!a.positional[0].is(ValueKind::kString))
    return ev.fail(Message::kWrongArgument, a.spans[0], {a.name, "a string", describe_kind(a.positional[0])});
  if (!afford_search(ev, a)) return Value::poison();
  std::u32string text, wanted = decode_utf8(a.positional[0].text());
  int64_t offset = 0, count = 0;
  if (!search_range(ev, a, text, offset)) return Value::poison();
  if (offset < 0) return Value::of(int64_t{0});
  if (wanted.empty()) return Value::of(static_cast<int64_t>(text.size()) + 1);
  for (size_t at = 0; (at = text.find(wanted, at)) != std::u32string::npos; at += wanted.size()) ++count;
  return Value::of(count);
}

Value str_replace(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 2, 3)) return Value::poison();
  int64_t limit = -1;
  if (a.positional.size() == 3) {
    if (!integer(ev, a, 2, limit)) return Value::poison();
    a.positional.pop_back();
  }
  if (!check_texts(ev, a, 2, 2)) return Value::poison();
  const std::string &text = a.self.text(), &from = a.positional[0].text(), &to = a.positional[1].text();
  std::string out;
  size_t at = 0;
  auto more = [&] { return limit < 0 || (limit > 0 && limit-- > 0); };
  if (from.empty()) {
    // The new text stands before each character and at the end.
    for (char32_t c : decode_utf8(text)) {
      if (more()) out += to;
      append_utf8(out, c);
      if (out.size() > (size_t{1} << 20) && !ev.check_size(out.size(), a.span)) return Value::poison();
    }
    return ev.make_string(more() ? out + to : out);
  }
  for (size_t found; (found = find_text(text, from, at)) != std::string::npos && more();
       at = found + from.size()) {
    out.append(text, at, found - at).append(to);
    if (out.size() > (size_t{1} << 20) && !ev.check_size(out.size(), a.span)) return Value::poison();
  }
  return ev.make_string(out.append(text, at));
}

Value str_remove_affix(Evaluator& ev, CallArguments& a) {
  if (!check_texts(ev, a, 1, 1)) return Value::poison();
  const std::string &text = a.self.text(), &affix = a.positional[0].text();
  if (a.name == "removeprefix")
    return ev.make_string(text.starts_with(affix) ? text.substr(affix.size()) : text);
  return ev.make_string(text.ends_with(affix) ? text.substr(0, text.size() - affix.size()) : text);
}

Value str_pad(Evaluator& ev, CallArguments& a) {
  bool zeros = a.name == "zfill";
  int64_t width = 0;
  if (!check_count(ev, a, 1, zeros ? 1 : 2) || !integer(ev, a, 0, width)) return Value::poison();
  std::string fill = zeros ? "0" : " ";
  if (a.positional.size() == 2) {
    if (!a.positional[1].is(ValueKind::kString) || count_characters(a.positional[1].text()) != 1)
      return ev.fail(Message::kWrongArgument, a.spans[1],
                     {a.name, "one character", ev.type_text(a.positional[1])});
    fill = a.positional[1].text();
  }
  const std::string& text = a.self.text();
  auto size = static_cast<int64_t>(count_characters(text));
  int64_t missing = std::max<int64_t>(width - size, 0);
  if (missing > (1 << 20) && !ev.check_size(static_cast<size_t>(missing) * 4, a.span)) return Value::poison();
  // As CPython centres: the odd blank goes to the left if the width is odd.
  int64_t left = a.name == "ljust" ? 0 : a.name == "center" ? missing / 2 + (missing & width & 1) : missing;
  auto repeat = [&](int64_t count) {
    std::string out;
    for (int64_t i = 0; i < count; ++i) out += fill;
    return out;
  };
  if (zeros && (text.starts_with("-") || text.starts_with("+")))
    return ev.make_string(text.substr(0, 1) + repeat(missing) + text.substr(1));
  return ev.make_string(repeat(left) + text + repeat(missing - left));
}

Value str_test(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  std::u32string text = decode_utf8(a.self.text());
  auto all = [&](auto test) {
    return Value::of(!text.empty() && std::all_of(text.begin(), text.end(), test));
  };
  if (a.name == "isdigit") return all(is_digit);
  if (a.name == "isdecimal") return all(is_decimal);
  if (a.name == "isnumeric") return all(is_numeric);
  if (a.name == "isalpha") return all(is_alpha);
  if (a.name == "isspace") return all(is_space);
  if (a.name == "isalnum")
    return all([](char32_t c) { return is_alpha(c) || is_decimal(c) || is_digit(c) || is_numeric(c); });
  bool upper = a.name == "isupper";
  bool any = std::any_of(text.begin(), text.end(), upper ? is_upper : is_lower);
  bool other = std::any_of(text.begin(), text.end(), upper ? is_lower : is_upper);
  return Value::of(any && !other);
}

constexpr Method kStringMethods[] = {{"format", str_format},
                                     {"join", str_join},
                                     {"split", str_split},
                                     {"rsplit", str_split},
                                     {"splitlines", str_splitlines},
                                     {"partition", str_partition},
                                     {"rpartition", str_partition},
                                     {"strip", str_strip},
                                     {"lstrip", str_strip},
                                     {"rstrip", str_strip},
                                     {"upper", str_case},
                                     {"lower", str_case},
                                     {"title", str_case},
                                     {"capitalize", str_case},
                                     {"swapcase", str_case},
                                     {"startswith", str_affix},
                                     {"endswith", str_affix},
                                     {"replace", str_replace},
                                     {"removeprefix", str_remove_affix},
                                     {"removesuffix", str_remove_affix},
                                     {"find", str_find},
                                     {"rfind", str_find},
                                     {"index", str_find},
                                     {"rindex", str_find},
                                     {"count", str_count},
                                     {"zfill", str_pad},
                                     {"ljust", str_pad},
                                     {"rjust", str_pad},
                                     {"center", str_pad},
                                     {"isdigit", str_test},
                                     {"isdecimal", str_test},
                                     {"isnumeric", str_test},
                                     {"isalpha", str_test},
                                     {"isalnum", str_test},
                                     {"isspace", str_test},
                                     {"isupper", str_test},
                                     {"islower", str_test}};

}  // namespace

std::span<const Method> string_methods() { return kStringMethods; }

}  // namespace galatea::dsl
