// Caret text of a diagnostic.
//
// Comes in: one diagnostic and the source texts. Goes out: its message, the source lines it speaks of with
// what is marked underlined, then calls, notes and help:
//
//   error[G0201]: `sise` is not an argument of `fn.resize`
//     --> hello.dali-dsl:7:30
//      |
//    7 |     image = fn.resize(image, sise=[64, 64])
//      |             ---------        ^^^^ no argument of this name
//      |             |
//      |             `fn.resize` is called here
//      |
//      = help: did you mean `size`?
//
// Marks within one line share the rows under it. A mark over several lines is drawn as a bracket in a gutter
// of its own between the line numbers and the text, the outermost leftmost.
#include <algorithm>
#include <array>
#include <functional>

#include <fmt/core.h>

#include "base/diagnostic.h"

namespace galatea {
namespace {

enum class Style : uint8_t { kNone, kFrame, kPrimary, kSecondary, kBold, kHelp };

/// One row of characters with styles; writing past its end fills with blanks.
class Row {
 public:
  void put(size_t column, char32_t c, Style style) {
    if (column >= cells_.size()) cells_.resize(column + 1, {U' ', Style::kNone});
    cells_[column] = {c, style};
  }
  void put(size_t column, const std::u32string& text, Style style) {
    for (char32_t c : text) put(column++, c, style);
  }
  void fill(size_t begin, size_t end, char32_t c, Style style) {
    for (size_t i = begin; i < end; ++i) put(i, c, style);
  }
  size_t size() const { return cells_.size(); }
  char32_t at(size_t column) const { return column < cells_.size() ? cells_[column].first : U' '; }
  std::string str(const std::array<std::string_view, 6>& colors) const;

 private:
  std::vector<std::pair<char32_t, Style>> cells_;
};

void append_utf8(std::string& out, char32_t c) {
  auto byte = [&out](uint32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6)), byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12)), byte(0x80 | ((c >> 6) & 0x3F)), byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3F)), byte(0x80 | ((c >> 6) & 0x3F)),
        byte(0x80 | (c & 0x3F));
  }
}

std::string Row::str(const std::array<std::string_view, 6>& colors) const {
  size_t end = cells_.size();
  while (end > 0 && cells_[end - 1].first == U' ') --end;
  std::string out;
  Style current = Style::kNone;
  for (size_t i = 0; i < end; ++i) {
    auto [c, style] = cells_[i];
    if (c == 0) continue;  // the second half of a wide character
    if (style != current && !colors[1].empty()) {
      if (current != Style::kNone) out += "\033[0m";
      out += colors[static_cast<size_t>(style)];
      current = style;
    }
    append_utf8(out, c);
  }
  if (current != Style::kNone) out += "\033[0m";
  return out;
}

/// The next character of a UTF-8 text; what is not UTF-8 gives U+FFFD, byte by byte.
char32_t next_character(std::string_view text, size_t& i) {
  auto first = static_cast<unsigned char>(text[i++]);
  if (first < 0x80) return first;
  int more = first >= 0xF0 && first < 0xF8 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  if (more == 0 || first >= 0xF8 || i + static_cast<size_t>(more) > text.size()) return U'\uFFFD';
  char32_t c = first & (0x3Fu >> more);
  for (int k = 0; k < more; ++k) {
    auto byte = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
    if ((byte & 0xC0) != 0x80) return U'\uFFFD';
    c = (c << 6) | (byte & 0x3F);
  }
  i += static_cast<size_t>(more);
  return c;
}

/// Terminals draw these two columns wide (the East Asian wide blocks and the emoji).
bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

std::u32string to_characters(std::string_view text) {
  std::u32string out;
  for (size_t i = 0; i < text.size();) {
    char32_t c = next_character(text, i);
    // Control characters in a quoted text must not reach the terminal.
    out.push_back((c < 0x20 && c != U'\n') || (c >= 0x7F && c < 0xA0) ? U'\uFFFD' : c);
  }
  return out;
}

std::string clean(std::string_view text) {
  std::string out;
  for (char32_t c : to_characters(text)) append_utf8(out, c);
  return out;
}

constexpr size_t kWidestLine = 160;

/// Of a line longer than this, only the bytes about its first mark are looked at.
constexpr size_t kLongLine = 4000, kBytesBefore = 400, kBytesAfter = 1600;

/// A source line as the terminal shows it, and where each of its characters is.
struct ShownLine {
  size_t first_byte = 0;        ///< of the line that is shown
  std::u32string cells;         ///< 0 fills the second half of a wide character
  std::vector<size_t> columns;  ///< of each character, and of the end
};

ShownLine show(std::string_view line) {
  ShownLine shown;
  for (size_t i = 0; i < line.size();) {
    char32_t c = next_character(line, i);
    shown.columns.push_back(shown.cells.size());
    if (c == U'\t') {
      do shown.cells.push_back(U' ');
      while (shown.cells.size() % 4 != 0);
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      shown.cells.push_back(U'\uFFFD');
    } else {
      shown.cells.push_back(c);
      if (is_wide(c)) shown.cells.push_back(0);
    }
  }
  shown.columns.push_back(shown.cells.size());
  return shown;
}

/// A marked place of the file being drawn. Lines from 1; columns are those of the terminal, from 0.
struct Mark {
  uint32_t first_line, last_line;
  size_t begin, end;  ///< begin is in first_line, end (exclusive) in last_line
  std::u32string text;
  bool primary;
  size_t depth = 0;         ///< gutter of a mark over several lines
  bool from_start = false;  ///< nothing but blanks before it: the bracket opens in the gutter

  bool multiline() const { return first_line != last_line; }
  Style style() const { return primary ? Style::kPrimary : Style::kSecondary; }
  char32_t sign() const { return primary ? U'^' : U'-'; }
};

/// Draws the marked lines of one file.
class Snippet {
 public:
  Snippet(const SourceFile& file, size_t number_width, const std::array<std::string_view, 6>& colors)
      : file_(file), number_width_(number_width), colors_(colors) {}
  void add(Span span, const std::string& text, bool primary) { marked_.push_back({span, text, primary}); }
  void draw(std::string& out);

 private:
  void place_marks();
  void assign_gutters();
  void cut_long_lines();
  void draw_line(std::string& out, uint32_t line);
  void draw_marks_within(std::string& out, uint32_t line);
  void draw_brackets(std::string& out, uint32_t line);
  Row framed(std::string_view number) const;
  void add_open_brackets(Row& row, uint32_t line, bool after_line) const;
  void emit(std::string& out, const Row& row) const { out += row.str(colors_) + "\n"; }
  size_t gutter_at() const { return number_width_ + 3; }
  size_t text_at() const { return gutter_at() + (num_gutters_ == 0 ? 0 : num_gutters_ + 1); }

  const SourceFile& file_;
  size_t number_width_;
  const std::array<std::string_view, 6>& colors_;
  struct Marked {
    Span span;
    const std::string& text;
    bool primary;
  };
  std::vector<Marked> marked_;
  std::vector<Mark> marks_;
  std::map<uint32_t, ShownLine> lines_;
  size_t num_gutters_ = 0;
  std::map<uint32_t, size_t> cut_;  ///< columns hidden at the left of a long line
};

/// Turns the spans into marks, once it is known which part of each line is shown.
void Snippet::place_marks() {
  struct Place {
    uint32_t line;
    size_t byte;
  };
  auto start = [this](uint32_t line) {
    return static_cast<size_t>(file_.line(line).data() - file_.text().data());
  };
  auto place = [&](uint32_t offset) {
    const uint32_t line = file_.position(offset).line;
    return Place{line, std::min<size_t>(offset, file_.text().size()) - start(line)};
  };
  std::vector<std::pair<Place, Place>> places;
  std::map<uint32_t, size_t> firsts;
  for (const Marked& marked : marked_) {
    Place begin = place(marked.span.begin), end = place(std::max(marked.span.begin, marked.span.end));
    // A span that ends with a line break ends on the line before it.
    if (end.line > begin.line && end.byte == 0) {
      --end.line;
      end.byte = file_.line(end.line).size();
    }
    places.emplace_back(begin, end);
    auto& first = firsts.try_emplace(begin.line, begin.byte).first->second;
    first = std::min(first, begin.byte);
    if (end.line != begin.line) firsts.try_emplace(end.line, end.byte > 0 ? end.byte - 1 : 0);
  }
  auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  for (auto [line, first] : firsts) {
    std::string_view text = file_.line(line);
    size_t from = 0;
    if (text.size() > kLongLine) {
      from = first > kBytesBefore ? first - kBytesBefore : 0;
      while (from > 0 && continues(text[from])) --from;
      size_t to = std::min(text.size(), first + kBytesAfter);
      while (to < text.size() && continues(text[to])) ++to;
      text = text.substr(from, to - from);
    }
    lines_[line] = show(text);
    lines_[line].first_byte = from;
  }
  auto column = [&](Place at) {
    const ShownLine& shown = lines_[at.line];
    std::string_view text = file_.line(at.line);
    if (at.byte < shown.first_byte) return size_t{0};
    text = text.substr(shown.first_byte, std::min(at.byte - shown.first_byte, kLongLine));
    auto characters = static_cast<size_t>(std::count_if(text.begin(), text.end(), std::not_fn(continues)));
    return shown.columns[std::min(characters, shown.columns.size() - 1)];
  };
  for (size_t i = 0; i < marked_.size(); ++i) {
    const auto& [begin, end] = places[i];
    Mark mark{begin.line,        end.line, column(begin), column(end), to_characters(marked_[i].text),
              marked_[i].primary};
    if (!mark.multiline()) mark.end = std::max(mark.end, mark.begin + 1);
    const std::u32string& cells = lines_[begin.line].cells;
    mark.from_start = lines_[begin.line].first_byte == 0 &&
                      std::all_of(cells.begin(), cells.begin() + static_cast<ptrdiff_t>(mark.begin),
                                  [](char32_t c) { return c == U' '; });
    marks_.push_back(std::move(mark));
  }
}

/// Marks over several lines that overlap get gutters side by side, the longest outermost.
void Snippet::assign_gutters() {
  std::vector<Mark*> tall;
  for (Mark& mark : marks_) {
    if (mark.multiline()) tall.push_back(&mark);
  }
  std::stable_sort(tall.begin(), tall.end(), [](const Mark* a, const Mark* b) {
    return a->last_line - a->first_line > b->last_line - b->first_line;
  });
  for (size_t i = 0; i < tall.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      bool overlap = tall[i]->first_line <= tall[j]->last_line && tall[j]->first_line <= tall[i]->last_line;
      if (overlap) tall[i]->depth = std::max(tall[i]->depth, tall[j]->depth + 1);
    }
    num_gutters_ = std::max(num_gutters_, tall[i]->depth + 1);
  }
  for (Mark* mark : tall) mark->depth = std::min(mark->depth, num_gutters_ - 1);
}

/// Of a line too wide to show, the part about its first mark stays.
void Snippet::cut_long_lines() {
  for (auto& [line, shown] : lines_) {
    if (shown.cells.size() <= kWidestLine) continue;
    size_t first = shown.cells.size();
    for (const Mark& mark : marks_) {
      if (mark.first_line == line)
        first = std::min(first, mark.begin);
      else if (mark.last_line == line)
        first = std::min(first, mark.end > 0 ? mark.end - 1 : 0);
    }
    size_t cut = first > 60 ? first - 40 : 0;
    while (cut > 0 && shown.cells[cut] == 0) --cut;
    shown.cells.erase(0, cut);
    if (cut > 0) shown.cells[0] = U'…';
    if (shown.cells.size() > kWidestLine) {
      shown.cells.resize(kWidestLine);
      shown.cells.back() = U'…';
    }
    auto move = [&](size_t& column) { column = std::min(column > cut ? column - cut : 0, kWidestLine); };
    for (Mark& mark : marks_) {
      if (mark.first_line == line) move(mark.begin);
      if (mark.last_line == line) move(mark.end);
      if (!mark.multiline() && mark.end <= mark.begin) mark.end = mark.begin + 1;
    }
  }
}

Row Snippet::framed(std::string_view number) const {
  Row row;
  row.put(number_width_ - std::min(number.size(), number_width_), to_characters(number), Style::kFrame);
  row.put(number_width_ + 1, U'|', Style::kFrame);
  return row;
}

/// The verticals of brackets that are open at a line (or just after it).
void Snippet::add_open_brackets(Row& row, uint32_t line, bool after_line) const {
  for (const Mark& mark : marks_) {
    if (!mark.multiline()) continue;
    bool open = after_line ? mark.first_line <= line && line < mark.last_line
                           : mark.first_line < line && line <= mark.last_line;
    // A bracket that opens under its line is drawn after that row only.
    if (after_line && mark.first_line == line && !mark.from_start) open = false;
    if (open) row.put(gutter_at() + mark.depth, U'|', mark.style());
    if (!after_line && mark.first_line == line && mark.from_start) {
      row.put(gutter_at() + mark.depth, U'/', mark.style());
    }
  }
}

/// The rows under a line for the marks that lie within it: signs, then the words, rightmost mark first.
void Snippet::draw_marks_within(std::string& out, uint32_t line) {
  std::vector<const Mark*> here;
  for (const Mark& mark : marks_) {
    if (!mark.multiline() && mark.first_line == line) here.push_back(&mark);
  }
  if (here.empty()) return;
  std::stable_sort(here.begin(), here.end(),
                   [](const Mark* a, const Mark* b) { return a->begin > b->begin; });
  Row signs = framed("");
  add_open_brackets(signs, line, true);
  for (bool primary : {false, true}) {  // where two overlap, the primary shows
    for (const Mark* mark : here) {
      if (mark->primary == primary)
        signs.fill(text_at() + mark->begin, text_at() + mark->end, mark->sign(), mark->style());
    }
  }
  // The words of the rightmost mark stand beside its signs if nothing else is there.
  std::vector<const Mark*> below;
  bool beside_used = false;
  for (const Mark* mark : here) {
    if (mark->text.empty()) continue;
    bool last = std::all_of(here.begin(), here.end(), [&](const Mark* other) {
      return other == mark ||
             (other->end <= mark->end && (other->begin < mark->begin || other->text.empty()));
    });
    if (last && !beside_used) {
      signs.put(text_at() + mark->end + 1, mark->text, mark->style());
      beside_used = true;
    } else {
      below.push_back(mark);
    }
  }
  emit(out, signs);
  for (size_t i = 0; i < below.size(); ++i) {
    for (int words = i == 0 ? 0 : 1; words < 2; ++words) {  // before the first words, a row of connectors
      Row row = framed("");
      add_open_brackets(row, line, true);
      for (size_t j = below.size(); j-- > i;) row.put(text_at() + below[j]->begin, U'|', below[j]->style());
      if (words == 1) row.put(text_at() + below[i]->begin, below[i]->text, below[i]->style());
      emit(out, row);
    }
  }
}

/// The rows under a line at which marks over several lines open or close.
void Snippet::draw_brackets(std::string& out, uint32_t line) {
  std::vector<const Mark*> opened;
  auto add_verticals = [&](Row& row, const Mark* current) {
    for (const Mark& mark : marks_) {
      if (!mark.multiline() || &mark == current) continue;
      bool open = mark.first_line < line && line < mark.last_line;
      if (mark.last_line == line)
        open = current == nullptr || std::find(opened.begin(), opened.end(), &mark) == opened.end();
      if (mark.first_line == line)
        open = mark.from_start || std::find(opened.begin(), opened.end(), &mark) != opened.end();
      if (open) row.put(gutter_at() + mark.depth, U'|', mark.style());
    }
  };
  // Closing first (innermost first), then opening (outermost first), so that brackets do not cross where
  // avoidable.
  for (bool closing : {true, false}) {
    std::vector<const Mark*> order;
    for (const Mark& mark : marks_) {
      if (!mark.multiline()) continue;
      if (closing ? mark.last_line == line : mark.first_line == line && !mark.from_start)
        order.push_back(&mark);
    }
    std::stable_sort(order.begin(), order.end(), [closing](const Mark* a, const Mark* b) {
      return closing ? a->depth > b->depth : a->depth < b->depth;
    });
    for (const Mark* mark : order) {
      Row row = framed("");
      size_t gutter = gutter_at() + mark->depth;
      size_t at = text_at() + (closing ? (mark->end > 0 ? mark->end - 1 : 0) : mark->begin);
      row.fill(gutter + 1, at, U'_', mark->style());
      if (closing) row.put(gutter, U'|', mark->style());
      row.put(at, mark->sign(), mark->style());
      if (closing && !mark->text.empty()) row.put(at + 2, mark->text, mark->style());
      add_verticals(row, mark);
      opened.push_back(mark);
      emit(out, row);
    }
  }
}

void Snippet::draw_line(std::string& out, uint32_t line) {
  if (!lines_.contains(line)) lines_.emplace(line, show(file_.line(line).substr(0, kLongLine)));
  Row row = framed(std::to_string(line));
  add_open_brackets(row, line, false);
  const std::u32string& cells = lines_[line].cells;
  for (size_t i = 0; i < std::min(cells.size(), kWidestLine); ++i)
    row.put(text_at() + i, cells[i], Style::kNone);
  emit(out, row);
  draw_marks_within(out, line);
  draw_brackets(out, line);
}

void Snippet::draw(std::string& out) {
  place_marks();
  assign_gutters();
  cut_long_lines();
  // Marked lines, and single lines between them; longer gaps are elided.
  std::vector<uint32_t> wanted;
  for (const Mark& mark : marks_) {
    wanted.push_back(mark.first_line);
    wanted.push_back(mark.last_line);
    if (mark.multiline() && mark.last_line - mark.first_line <= 4) {
      for (uint32_t line = mark.first_line; line < mark.last_line; ++line) wanted.push_back(line);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  emit(out, framed(""));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0 && wanted[i] == wanted[i - 1] + 2) {
      draw_line(out, wanted[i] - 1);
    } else if (i > 0 && wanted[i] > wanted[i - 1] + 2) {
      Row row;
      row.put(0, U"...", Style::kFrame);
      add_open_brackets(row, wanted[i], false);
      emit(out, row);
    }
    draw_line(out, wanted[i]);
  }
}

constexpr std::array<std::string_view, 6> kPlain = {"", "", "", "", "", ""};

std::array<std::string_view, 6> colors_for(Severity severity) {
  std::string_view primary = severity == Severity::kError     ? "\033[1;31m"
                             : severity == Severity::kWarning ? "\033[1;33m"
                                                              : "\033[1;32m";
  return {"", "\033[1;34m", primary, "\033[1;34m", "\033[1m", "\033[1;36m"};
}

std::string styled(std::string_view text, Style style, const std::array<std::string_view, 6>& colors) {
  std::string_view color = colors[static_cast<size_t>(style)];
  return color.empty() ? std::string(text) : fmt::format("{}{}\033[0m", color, text);
}

std::string heading(const Diagnostic& diagnostic, const std::array<std::string_view, 6>& colors) {
  std::string word = diagnostic.severity == Severity::kError     ? "error"
                     : diagnostic.severity == Severity::kWarning ? "warning"
                                                                 : "note";
  if (!diagnostic.code.empty()) word += fmt::format("[{}]", diagnostic.code);
  return styled(word, Style::kPrimary, colors) +
         styled(": " + clean(diagnostic.message), Style::kBold, colors) + "\n";
}

/// "   = note: text", continuation lines aligned under the text.
std::string footer(size_t width, std::string_view word, std::string_view text, Style style,
                   const std::array<std::string_view, 6>& colors) {
  std::string out(width + 1, ' ');
  out += styled("=", Style::kFrame, colors) + " " + styled(word, style, colors) + ": ";
  for (char c : clean(text)) {
    out.push_back(c);
    if (c == '\n') out.append(width + 5 + word.size(), ' ');
  }
  return out + "\n";
}

std::string call_chain(const std::vector<CallSite>& calls, const SourceMap& sources, size_t width,
                       const std::array<std::string_view, 6>& colors) {
  constexpr size_t kShownAtEachEnd = 4;
  std::string out;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.size() > 2 * kShownAtEachEnd + 1 && i == kShownAtEachEnd) {
      size_t hidden = calls.size() - 2 * kShownAtEachEnd;
      out += footer(width, "calls", fmt::format("{} more", hidden), Style::kBold, colors);
      i += hidden - 1;
      continue;
    }
    std::string where = sources.describe(calls[i].span);
    if (where.empty()) where = "an unknown place";
    std::string in = calls[i].function.empty() ? "" : fmt::format(", in `{}`", calls[i].function);
    out += footer(width, "called", fmt::format("at {}{}", where, in), Style::kBold, colors);
  }
  return out;
}

/// Digits of the greatest line number that any snippet will show.
size_t number_width(const Diagnostic& diagnostic, const SourceMap& sources) {
  uint32_t greatest = 1;
  auto look_at = [&](Span span) {
    if (const SourceFile* file = sources.file(span.file)) {
      greatest = std::max(greatest, file->position(std::max(span.begin, span.end)).line);
    }
  };
  look_at(diagnostic.span);
  for (const Label& label : diagnostic.labels) look_at(label.span);
  return std::to_string(greatest).size();
}

}  // namespace

std::string render_text(const Diagnostic& given, const SourceMap& sources, RenderOptions options) {
  const Diagnostic diagnostic = resolved(given, sources);
  const auto colors = options.color ? colors_for(diagnostic.severity) : kPlain;
  const size_t width = number_width(diagnostic, sources);
  std::string out = heading(diagnostic, colors);
  // The primary file first, then those of the labels in their order.
  std::vector<Span> firsts;
  auto note_file = [&](Span span) {
    if (sources.file(span.file) == nullptr) return;
    bool known =
        std::any_of(firsts.begin(), firsts.end(), [&](Span other) { return other.file == span.file; });
    if (!known) firsts.push_back(span);
  };
  note_file(diagnostic.span);
  for (const Label& label : diagnostic.labels) note_file(label.span);
  for (const Span& first : firsts) {
    bool primary_file = first.file == diagnostic.span.file;
    out += std::string(width, ' ') + styled(primary_file ? "--> " : "::: ", Style::kFrame, colors) +
           clean(sources.describe(first)) + "\n";
    Snippet snippet(*sources.file(first.file), width, colors);
    if (primary_file) snippet.add(diagnostic.span, diagnostic.span_text, true);
    for (const Label& label : diagnostic.labels) {
      if (label.span.file == first.file) snippet.add(label.span, label.text, false);
    }
    snippet.draw(out);
  }
  bool has_footer = !diagnostic.calls.empty() || !diagnostic.notes.empty() || !diagnostic.help.empty();
  if (has_footer && !firsts.empty()) {
    out += std::string(width + 1, ' ') + styled("|", Style::kFrame, colors) + "\n";
  }
  out += call_chain(diagnostic.calls, sources, width, colors);
  for (const std::string& note : diagnostic.notes) out += footer(width, "note", note, Style::kBold, colors);
  if (!diagnostic.help.empty()) out += footer(width, "help", diagnostic.help, Style::kHelp, colors);
  return out;
}

}  // namespace galatea
