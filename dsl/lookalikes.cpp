// The table of lookalikes.h. Source of the names: UnicodeData.txt of Unicode 15.
#include "dsl/lookalikes.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

// In the order of the characters.
constexpr Lookalike kTable[] = {
    {0x00A0, " ", "no-break space"},
    {0x00AD, "", "soft hyphen"},
    {0x00B4, "'", "acute accent"},
    {0x00D7, "*", "multiplication sign"},
    {0x00F7, "/", "division sign"},
    {0x0391, "A", "greek capital letter alpha"},
    {0x0392, "B", "greek capital letter beta"},
    {0x0395, "E", "greek capital letter epsilon"},
    {0x0396, "Z", "greek capital letter zeta"},
    {0x0397, "H", "greek capital letter eta"},
    {0x0399, "I", "greek capital letter iota"},
    {0x039A, "K", "greek capital letter kappa"},
    {0x039C, "M", "greek capital letter mu"},
    {0x039D, "N", "greek capital letter nu"},
    {0x039F, "O", "greek capital letter omicron"},
    {0x03A1, "P", "greek capital letter rho"},
    {0x03A4, "T", "greek capital letter tau"},
    {0x03A5, "Y", "greek capital letter upsilon"},
    {0x03A7, "X", "greek capital letter chi"},
    {0x03B1, "a", "greek small letter alpha"},
    {0x03BD, "v", "greek small letter nu"},
    {0x03BF, "o", "greek small letter omicron"},
    {0x03C1, "p", "greek small letter rho"},
    {0x0405, "S", "cyrillic capital letter dze"},
    {0x0406, "I", "cyrillic capital letter byelorussian-ukrainian i"},
    {0x0408, "J", "cyrillic capital letter je"},
    {0x0410, "A", "cyrillic capital letter a"},
    {0x0412, "B", "cyrillic capital letter ve"},
    {0x0415, "E", "cyrillic capital letter ie"},
    {0x041A, "K", "cyrillic capital letter ka"},
    {0x041C, "M", "cyrillic capital letter em"},
    {0x041D, "H", "cyrillic capital letter en"},
    {0x041E, "O", "cyrillic capital letter o"},
    {0x0420, "P", "cyrillic capital letter er"},
    {0x0421, "C", "cyrillic capital letter es"},
    {0x0422, "T", "cyrillic capital letter te"},
    {0x0425, "X", "cyrillic capital letter ha"},
    {0x0430, "a", "cyrillic small letter a"},
    {0x0435, "e", "cyrillic small letter ie"},
    {0x043E, "o", "cyrillic small letter o"},
    {0x0440, "p", "cyrillic small letter er"},
    {0x0441, "c", "cyrillic small letter es"},
    {0x0443, "y", "cyrillic small letter u"},
    {0x0445, "x", "cyrillic small letter ha"},
    {0x0455, "s", "cyrillic small letter dze"},
    {0x0456, "i", "cyrillic small letter byelorussian-ukrainian i"},
    {0x0458, "j", "cyrillic small letter je"},
    {0x0501, "d", "cyrillic small letter komi de"},
    {0x051B, "q", "cyrillic small letter qa"},
    {0x051D, "w", "cyrillic small letter we"},
    {0x061C, "", "arabic letter mark"},
    {0x2002, " ", "en space"},
    {0x2003, " ", "em space"},
    {0x2009, " ", "thin space"},
    {0x200A, " ", "hair space"},
    {0x200B, "", "zero width space"},
    {0x200C, "", "zero width non-joiner"},
    {0x200D, "", "zero width joiner"},
    {0x200E, "", "left-to-right mark"},
    {0x200F, "", "right-to-left mark"},
    {0x2010, "-", "hyphen"},
    {0x2011, "-", "non-breaking hyphen"},
    {0x2012, "-", "figure dash"},
    {0x2013, "-", "en dash"},
    {0x2014, "-", "em dash"},
    {0x2015, "-", "horizontal bar"},
    {0x2018, "'", "left single quotation mark"},
    {0x2019, "'", "right single quotation mark"},
    {0x201A, "'", "single low-9 quotation mark"},
    {0x201B, "'", "single high-reversed-9 quotation mark"},
    {0x201C, "\"", "left double quotation mark"},
    {0x201D, "\"", "right double quotation mark"},
    {0x201E, "\"", "double low-9 quotation mark"},
    {0x201F, "\"", "double high-reversed-9 quotation mark"},
    {0x2024, ".", "one dot leader"},
    {0x2026, "...", "horizontal ellipsis"},
    {0x2028, " ", "line separator"},
    {0x2029, " ", "paragraph separator"},
    {0x202A, "", "left-to-right embedding"},
    {0x202B, "", "right-to-left embedding"},
    {0x202C, "", "pop directional formatting"},
    {0x202D, "", "left-to-right override"},
    {0x202E, "", "right-to-left override"},
    {0x202F, " ", "narrow no-break space"},
    {0x2032, "'", "prime"},
    {0x2033, "\"", "double prime"},
    {0x2044, "/", "fraction slash"},
    {0x2060, "", "word joiner"},
    {0x2066, "", "left-to-right isolate"},
    {0x2067, "", "right-to-left isolate"},
    {0x2068, "", "first strong isolate"},
    {0x2069, "", "pop directional isolate"},
    {0x2192, "->", "rightwards arrow"},
    {0x2212, "-", "minus sign"},
    {0x2215, "/", "division slash"},
    {0x2217, "*", "asterisk operator"},
    {0x2260, "!=", "not equal to"},
    {0x2264, "<=", "less-than or equal to"},
    {0x2265, ">=", "greater-than or equal to"},
    {0x22C5, "*", "dot operator"},
    {0x3000, " ", "ideographic space"},
    {0x3001, ",", "ideographic comma"},
    {0x3002, ".", "ideographic full stop"},
    {0x3010, "[", "left black lenticular bracket"},
    {0x3011, "]", "right black lenticular bracket"},
    {0xFEFF, "", "zero width no-break space, a byte order mark"},
    {0xFF02, "\"", "fullwidth quotation mark"},
    {0xFF07, "'", "fullwidth apostrophe"},
    {0xFF08, "(", "fullwidth left parenthesis"},
    {0xFF09, ")", "fullwidth right parenthesis"},
    {0xFF0A, "*", "fullwidth asterisk"},
    {0xFF0B, "+", "fullwidth plus sign"},
    {0xFF0C, ",", "fullwidth comma"},
    {0xFF0D, "-", "fullwidth hyphen-minus"},
    {0xFF0E, ".", "fullwidth full stop"},
    {0xFF0F, "/", "fullwidth solidus"},
    {0xFF1A, ":", "fullwidth colon"},
    {0xFF1B, ";", "fullwidth semicolon"},
    {0xFF1C, "<", "fullwidth less-than sign"},
    {0xFF1D, "=", "fullwidth equals sign"},
    {0xFF1E, ">", "fullwidth greater-than sign"},
    {0xFF3B, "[", "fullwidth left square bracket"},
    {0xFF3D, "]", "fullwidth right square bracket"},
    {0xFF3F, "_", "fullwidth low line"},
    {0xFF5B, "{", "fullwidth left curly bracket"},
    {0xFF5D, "}", "fullwidth right curly bracket"},
};
static_assert(std::ranges::is_sorted(kTable, {}, &Lookalike::character));

bool is_ascii_letter(std::string_view text) {
  return text.size() == 1 && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

}  // namespace

const Lookalike* find_lookalike(char32_t c) {
  const auto* found = std::ranges::lower_bound(kTable, c, {}, &Lookalike::character);
  return found != std::end(kTable) && found->character == c ? found : nullptr;
}

std::string describe_character(char32_t c) {
  const Lookalike* entry = find_lookalike(c);
  const std::string code = fmt::format("U+{:04X}", static_cast<uint32_t>(c));
  const bool shows = is_printable(c) && !is_space(c) && !(entry && entry->ascii.empty());
  const std::string named = entry ? fmt::format("{}, {}", code, entry->name) : code;
  if (!shows) return named;
  return fmt::format("`{}` ({})", encode_utf8(std::u32string(1, c)), named);
}

std::string advice_for(char32_t c) {
  const Lookalike* entry = find_lookalike(c);
  if (!entry) return "names are made of letters, digits and `_`";
  if (entry->ascii.empty()) return "remove it: it shows nothing";
  if (entry->ascii == " ") return "write a blank";
  return fmt::format("write `{}`", entry->ascii);
}

std::optional<std::string> ascii_twin(std::string_view name) {
  std::string out;
  bool any = false;
  for (const char32_t c : decode_utf8(name)) {
    const Lookalike* entry = c < 0x80 ? nullptr : find_lookalike(c);
    if (entry && is_ascii_letter(entry->ascii)) {
      out += entry->ascii;
      any = true;
    } else {
      append_utf8(out, c);
    }
  }
  if (!any) return std::nullopt;
  return out;
}

std::string describe_twin(std::string_view name) {
  for (const char32_t c : decode_utf8(name)) {
    const Lookalike* entry = c < 0x80 ? nullptr : find_lookalike(c);
    if (entry && is_ascii_letter(entry->ascii))
      return fmt::format("{} is not `{}`", describe_character(c), entry->ascii);
  }
  return "";
}

std::string without_invisible(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    uint32_t code_point = 0;
    const size_t length = std::max<size_t>(utf8_length(name, at, code_point), 1);
    const Lookalike* entry = length > 1 ? find_lookalike(code_point) : nullptr;
    if (entry == nullptr || !entry->ascii.empty()) out += name.substr(at, length);
    at += length;
  }
  return out;
}

}  // namespace galatea::dsl
