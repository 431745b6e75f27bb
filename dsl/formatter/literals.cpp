// Numbers, strings, docstrings, comments. See literals.h.
#include "dsl/formatter/literals.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "dsl/formatter/line.h"

namespace galatea::dsl::formatter {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

std::string_view trim_left(std::string_view text) {
  size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}
std::string_view trim_right(std::string_view text) {
  size_t last = text.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}
std::string_view trim(std::string_view text) { return trim_left(trim_right(text)); }

std::string with_digits_around_point(std::string_view text) {
  size_t point = text.find('.');
  if (point == std::string_view::npos) return std::string(text);
  std::string before(text.substr(0, point)), after(text.substr(point + 1));
  return (before.empty() ? "0" : before) + "." + (after.empty() ? "0" : after);
}

struct StringParts {
  std::string prefix, quote;
  std::string body;
};

StringParts cut_string(std::string_view text) {
  size_t at = text.find_first_of("\"'");
  StringParts parts;
  parts.prefix = text.substr(0, at);
  bool triple = text.size() >= at + 6 && text[at + 1] == text[at] && text[at + 2] == text[at];
  parts.quote = std::string(triple ? 3 : 1, text[at]);
  parts.body = text.substr(at + parts.quote.size(), text.size() - at - 2 * parts.quote.size());
  return parts;
}

bool has_letter(const std::string& prefix, char letter) {
  return std::any_of(prefix.begin(), prefix.end(), [letter](char c) { return lower(c) == letter; });
}

std::string normalize_prefix(const std::string& prefix) {
  std::string out;
  for (char c : prefix) {
    if (c == 'u' || c == 'U') continue;
    out += c == 'R' ? c : lower(c);
  }
  if (out.size() == 2 && lower(out[0]) != 'r') std::swap(out[0], out[1]);
  return out;
}

size_t backslashes_before(std::string_view body, size_t at) {
  size_t count = 0;
  while (count < at && body[at - count - 1] == '\\') ++count;
  return count;
}

// Visits every occurrence of a quote, and whether a backslash escapes it; the result replaces it with its
// backslash.
template <typename Replace>
std::string replace_quotes(std::string_view body, std::string_view quote, Replace replace) {
  std::string out;
  for (size_t i = 0; i < body.size();) {
    if (body.substr(i, quote.size()) != quote) {
      out += body[i++];
      continue;
    }
    replace(out, backslashes_before(body, i) % 2 == 1);
    out += quote;
    i += quote.size();
  }
  return out;
}

std::string without_escapes(std::string_view body, std::string_view quote) {
  return replace_quotes(body, quote, [](std::string& out, bool escaped) {
    if (escaped) out.pop_back();
  });
}

std::string with_escapes(std::string_view body, std::string_view quote) {
  return replace_quotes(body, quote, [](std::string& out, bool escaped) {
    if (!escaped) out += '\\';
  });
}

// Whether an expression of an f-string holds a backslash.
bool has_backslash_in_braces(std::string_view body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '{') continue;
    if (i + 1 < body.size() && body[i + 1] == '{') {
      ++i;
      continue;
    }
    for (int depth = 1; depth > 0 && ++i < body.size();) {
      if (body[i] == '\\') return true;
      if (body[i] == '{') ++depth;
      if (body[i] == '}') --depth;
    }
  }
  return false;
}

// `\xAB` becomes `\xab`, `\N{dash}` becomes `\N{DASH}`.
std::string normalize_escapes(std::string_view body, bool bytes) {
  std::string out(body);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i] != '\\') continue;
    char kind = out[++i];
    size_t digits = kind == 'x' ? 2 : bytes ? 0 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    if (digits > 0 && i + digits < out.size() &&
        std::all_of(out.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    out.begin() + static_cast<std::ptrdiff_t>(i + digits) + 1, is_digit)) {
      for (size_t k = i + 1; k <= i + digits; ++k) out[k] = lower(out[k]);
    } else if (kind == 'N' && !bytes && i + 1 < out.size() && out[i + 1] == '{') {
      size_t close = out.find('}', i);
      if (close == std::string::npos) break;
      for (size_t k = i + 2; k < close; ++k) out[k] = upper(out[k]);
    }
  }
  return out;
}

std::string prefer_double_quotes(const StringParts& parts) {
  const std::string original = parts.prefix + parts.quote + parts.body + parts.quote;
  if (parts.quote == "\"\"\"") return original;
  const std::string quote = parts.quote == "'''" ? "\"\"\"" : parts.quote == "\"" ? "'" : "\"";
  std::string body = parts.body, changed = parts.body;
  if (has_letter(parts.prefix, 'r')) {
    for (size_t at = body.find(quote); at != std::string::npos; at = body.find(quote, at + 1)) {
      if (backslashes_before(body, at) % 2 == 0) return original;
    }
  } else {
    body = without_escapes(body, quote);
    changed = with_escapes(without_escapes(body, parts.quote), quote);
  }
  const std::string kept = parts.prefix + parts.quote + body + parts.quote;
  if (has_letter(parts.prefix, 'f') && has_backslash_in_braces(changed)) return kept;
  if (quote.size() == 3 && changed.ends_with('"') && backslashes_before(changed, changed.size() - 1) % 2 == 0)
    changed.insert(changed.size() - 1, 1, '\\');
  auto escapes = [](const std::string& text) { return std::count(text.begin(), text.end(), '\\'); };
  if (escapes(changed) > escapes(body)) return kept;
  if (escapes(changed) == escapes(body) && parts.quote == "\"") return kept;
  return parts.prefix + quote + changed + quote;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

// Tabs before the text of a line, to stops of four columns.
std::string expand_leading_tabs(const std::string& line) {
  size_t text = line.find_first_not_of(kBlanks);
  if (text == std::string::npos || text == 0) return line;
  std::string out;
  for (size_t i = 0; i < text; ++i) {
    if (line[i] == '\t')
      out.append(kIndent - out.size() % kIndent, ' ');
    else
      out += line[i];
  }
  return out + line.substr(text);
}

std::string reindent_docstring(std::string_view body, const std::string& indent) {
  std::vector<std::string> lines = lines_of(body);
  size_t least = std::numeric_limits<size_t>::max();
  for (std::string& line : lines) line = expand_leading_tabs(line);
  for (size_t i = 1; i < lines.size(); ++i) {
    size_t text = lines[i].find_first_not_of(kBlanks);
    if (text != std::string::npos) least = std::min(least, text);
  }
  std::string out(trim(lines[0]));
  if (least == std::numeric_limits<size_t>::max()) return out;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::string_view text = lines[i].size() > least ? std::string_view(lines[i]).substr(least) : "";
    text = trim_right(text);
    out += '\n';
    if (!text.empty() || i + 1 == lines.size()) out += indent + std::string(text);
  }
  return out;
}

}  // namespace

std::string normalize_number(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  if (out.starts_with("0o") || out.starts_with("0b")) return out;
  if (out.starts_with("0x")) {
    std::transform(out.begin() + 2, out.end(), out.begin() + 2, upper);
    return out;
  }
  if (size_t e = out.find('e'); e != std::string::npos) {
    std::string exponent = out.substr(e + 1);
    if (exponent.starts_with("+")) exponent.erase(0, 1);
    return with_digits_around_point(out.substr(0, e)) + "e" + exponent;
  }
  if (out.ends_with("j")) return with_digits_around_point(out.substr(0, out.size() - 1)) + "j";
  return with_digits_around_point(out);
}

std::string normalize_string(std::string_view text) {
  StringParts parts = cut_string(text);
  if (has_letter(parts.prefix, 'f') && has_backslash_in_braces(parts.body)) return std::string(text);
  if (!has_letter(parts.prefix, 'r'))
    parts.body = normalize_escapes(parts.body, has_letter(parts.prefix, 'b'));
  parts.prefix = normalize_prefix(parts.prefix);
  return prefer_double_quotes(parts);
}

bool may_be_docstring(std::string_view text) {
  StringParts parts = cut_string(text);
  return !has_letter(parts.prefix, 'b') && !has_letter(parts.prefix, 'f');
}

std::string normalize_docstring(std::string_view text, int depth) {
  std::string normalized = normalize_string(text);
  // A line break behind a backslash is not one of the text's lines.
  for (size_t at = normalized.find('\\'); at != std::string::npos; at = normalized.find('\\', at + 1)) {
    size_t next = normalized.find_first_not_of(" \t\r\f\v", at + 1);
    if (next != std::string::npos && normalized[next] == '\n') return normalized;
  }
  StringParts parts = cut_string(normalized);
  const std::string indent(static_cast<size_t>(depth * kIndent), ' ');
  const bool multiline = parts.quote.size() == 3 && parts.body.find('\n') != std::string::npos;
  std::string body = multiline ? reindent_docstring(parts.body, indent) : std::string(trim(parts.body));
  bool ends_in_backslash = false;
  if (!body.empty()) {
    if (body.front() == parts.quote[0]) body.insert(0, 1, ' ');
    if (body.back() == parts.quote[0]) body += ' ';
    if (body.back() == '\\' && backslashes_before(body, body.size()) % 2 == 1) {
      body += ' ';
      ends_in_backslash = true;
    }
  } else if (!parts.body.empty()) {
    body = " ";
  }
  std::string close = parts.quote;
  if (parts.quote.size() == 3 && !ends_in_backslash) {
    size_t last_break = body.rfind('\n');
    bool several = last_break != std::string::npos && last_break + 1 < body.size();
    size_t last = last_break == std::string::npos ? body.size() : body.size() - last_break - 1;
    // The closing quotes go to a line of their own rather than beyond the right margin.
    if (several && last + 3 > kLineWidth && indent.size() + 3 <= kLineWidth) close = "\n" + indent + close;
  }
  return normalize_string(parts.prefix + parts.quote + body + close);
}

std::string normalize_comment(std::string_view text) {
  text = trim_right(text);
  if (directive_of(text) != Directive::kNone) return std::string(text);
  std::string content(text.substr(1));
  if (content.starts_with("\xC2\xA0")) content = " " + content.substr(2);
  if (!content.empty() && std::string_view(" !:#'").find(content[0]) == std::string_view::npos)
    content.insert(0, 1, ' ');
  return "#" + content;
}

Directive directive_of(std::string_view comment) {
  // `# reason # fmt: skip` counts too.
  while (!comment.empty()) {
    size_t next = comment.find('#', 1);
    std::string_view part = trim_right(comment.substr(0, next));
    for (std::string_view separator : {";"}) {
      size_t cut = part.find(separator);
      if (cut != std::string_view::npos) part = trim_right(part.substr(0, cut));
    }
    if (part == "# fmt: off" || part == "# fmt:off") return Directive::kOff;
    if (part == "# fmt: on" || part == "# fmt:on") return Directive::kOn;
    if (part == "# fmt: skip" || part == "# fmt:skip") return Directive::kSkip;
    if (next == std::string_view::npos) break;
    comment = comment.substr(next);
  }
  return Directive::kNone;
}

}  // namespace galatea::dsl::formatter
