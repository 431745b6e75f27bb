// In: the tokens of a file. Out: its blocks, statements and comments as lines. See file_formatter.h.
#include "dsl/formatter/file_formatter.h"

#include <algorithm>
#include <array>
#include <set>

#include "dsl/formatter/blank_lines.h"
#include "dsl/formatter/grouping.h"
#include "dsl/formatter/line.h"
#include "dsl/formatter/literals.h"
#include "dsl/formatter/parentheses.h"
#include "dsl/formatter/split.h"
#include "dsl/formatter/token_stream.h"

namespace galatea::dsl::formatter {
namespace {

constexpr int kMostPasses = 6;
/// Lines with more open brackets are kept: the form may add some, and Python reads at most 200.
constexpr int kMostOpenBrackets = 150;

/// Where the statements of a block stand.
struct Place {
  int depth = 0;
  int column = 0;           ///< in the source
  std::string_view indent;  ///< in the source
  bool first = true;        ///< nothing of the block has been written yet
  bool may_have_docstring = false;
};

class FileFormatter {
 public:
  explicit FileFormatter(std::string_view text) : tokens_(text) {}

  std::string run() {
    pending_ = tokens_.gap_before(0);
    Place place;
    place.may_have_docstring = true;
    block(place);
    return lines_.text();
  }

 private:
  void block(Place place);
  void statement(Place& place);
  void simple_statements(Place& place, size_t from, size_t to, bool inline_suite);
  bool compound_head(Place& place, size_t begin, size_t colon, size_t end);
  size_t stub_after(size_t colon, size_t end) const;
  void logical_line(const Place& place, size_t from, size_t to, size_t stub, bool docstring);
  void keep(const Place& place, size_t from, size_t to, const char* stub = "");
  bool nests_too_deeply(size_t from, size_t to) const;
  void keep_region(Place& place, const Comment& off, size_t next_comment);
  std::string kept_text(const Place& place, uint32_t from, uint32_t to, size_t first, size_t last) const;
  void comment_line(Place& place, const Comment& comment);
  void comments_of_block(Place& place);
  bool wants_keeping(size_t from, size_t to) const;
  void next_line(size_t newline);
  std::vector<Node*> make_tokens(size_t from, size_t to);
  void append_tree(Line& line, Node* node);
  void append_comments(Line& line, const std::vector<Comment>& comments);

  TokenStream tokens_;
  NodeStore store_;
  BlankLines lines_;
  size_t at_ = 0;
  Gap pending_;  ///< before the token at at_, the first of a line
};

std::string indentation(int depth) { return std::string(static_cast<size_t>(depth * kIndent), ' '); }

// ---- blocks ----

void FileFormatter::block(Place place) {
  for (;;) {
    switch (tokens_.kind(at_)) {
      case TokenKind::kEnd:
        comments_of_block(place);
        return;
      case TokenKind::kDedent:
        comments_of_block(place);
        ++at_;
        return;
      case TokenKind::kIndent:
      case TokenKind::kNewline:
        ++at_;
        break;
      default:
        statement(place);
    }
  }
}

// The comments after the last statement of a block that stand no further left than the block.
void FileFormatter::comments_of_block(Place& place) {
  size_t count = 0;
  const bool last = tokens_.kind(at_) == TokenKind::kEnd;
  while (count < pending_.comments.size() && (last || pending_.comments[count].column >= place.column)) {
    const Comment comment = pending_.comments[count++];
    if (directive_of(comment.text) == Directive::kOff) return keep_region(place, comment, count);
    comment_line(place, comment);
  }
  pending_.comments.erase(pending_.comments.begin(),
                          pending_.comments.begin() + static_cast<std::ptrdiff_t>(count));
}

void FileFormatter::comment_line(Place& place, const Comment& comment) {
  LineTraits traits;
  traits.depth = place.depth;
  traits.own_line = true;
  traits.directive_on = directive_of(comment.text) == Directive::kOn;
  lines_.add(traits, indentation(place.depth) + comment.text + "\n", comment.empty_lines);
}

void FileFormatter::next_line(size_t newline) {
  at_ = newline + (tokens_.kind(newline) == TokenKind::kNewline ? 1 : 0);
  pending_ = tokens_.gap_before(at_);
}

void FileFormatter::statement(Place& place) {
  for (size_t i = 0; i < pending_.comments.size(); ++i) {
    const Comment comment = pending_.comments[i];
    if (directive_of(comment.text) == Directive::kOff) return keep_region(place, comment, i + 1);
    comment_line(place, comment);
  }
  const size_t begin = at_, end = tokens_.line_end(at_);
  const size_t colon = tokens_.head_colon(begin);
  if (wants_keeping(begin, end)) {
    keep(place, begin, end);
  } else if (colon == end) {
    simple_statements(place, begin, end, false);
  } else if (compound_head(place, begin, colon, end)) {
    return;
  }
  place.first = false;
  next_line(end);
  if (tokens_.kind(at_) == TokenKind::kIndent) {  // of a head that is kept
    Place inner{place.depth + 1, tokens_.column(at_ + 1), tokens_.indent(at_ + 1), true, false};
    ++at_;
    block(inner);
  }
}

// `...`, the whole body of a function or class: where it stands; 0: the body is another.
size_t FileFormatter::stub_after(size_t colon, size_t end) const {
  if (colon + 2 == end && tokens_.word(colon + 1) == "...") return colon + 1;
  if (colon + 1 != end || !tokens_.gap_before(end).comments.empty()) return 0;
  size_t body = end + 1;
  if (body + 3 >= tokens_.size() || tokens_.kind(body) != TokenKind::kIndent) return 0;
  if (tokens_.word(body + 1) != "..." || tokens_.kind(body + 2) != TokenKind::kNewline) return 0;
  if (tokens_.kind(body + 3) != TokenKind::kDedent) return 0;
  const Gap after = tokens_.gap_before(body + 3);
  bool inside = !after.comments.empty() && after.comments[0].column >= tokens_.column(body + 1);
  return tokens_.gap_before(body).comments.empty() && !inside ? body + 1 : 0;
}

// True: at_ stands behind the statement already.
bool FileFormatter::compound_head(Place& place, size_t begin, size_t colon, size_t end) {
  const bool definition = tokens_.word(begin) == "def" || tokens_.word(begin) == "class";
  if (size_t stub = definition ? stub_after(colon, end) : 0) {
    logical_line(place, begin, colon + 1, stub, false);
    place.first = false;
    next_line(tokens_.line_end(stub));
    if (stub > end) ++at_;  // its DEDENT
    return true;
  }
  logical_line(place, begin, colon + 1, 0, false);
  if (colon + 1 == end) return false;
  Place inner{place.depth + 1, 0, {}, true, tokens_.word(begin) == "def"};
  pending_ = {};
  simple_statements(inner, colon + 1, end, true);
  return false;
}

void FileFormatter::simple_statements(Place& place, size_t from, size_t to, bool inline_suite) {
  for (size_t begin = from; begin < to;) {
    size_t end = begin;
    while (end < to && !(tokens_.kind(end) == TokenKind::kOperator && tokens_.word(end) == ";")) ++end;
    const bool alone = begin + 1 == end && tokens_.kind(begin) == TokenKind::kString;
    const bool docstring =
        alone && place.first && may_be_docstring(tokens_.word(begin)) &&
        (place.depth > 0 ? !inline_suite || place.may_have_docstring : place.may_have_docstring);
    if (end > begin) logical_line(place, begin, end, 0, docstring);
    pending_ = {};
    place.first = false;
    begin = end + 1;
  }
}

// ---- lines ----

std::vector<Node*> FileFormatter::make_tokens(size_t from, size_t to) {
  std::vector<Node*> nodes;
  for (size_t i = from; i < to; ++i) {
    std::string text(tokens_.word(i));
    Node* node = nullptr;
    switch (tokens_.kind(i)) {
      case TokenKind::kString:
        node = store_.token(Kind::kString, normalize_string(text));
        break;
      case TokenKind::kInteger:
      case TokenKind::kFloat:
        node = store_.token(Kind::kNumber, normalize_number(text));
        break;
      case TokenKind::kName:
      case TokenKind::kKeyword:
        node = store_.token(Kind::kName, text);
        break;
      default:
        node = store_.token(Kind::kOperator, text);
        if (text.size() == 1 && std::string_view("()[]{}").find(text[0]) != std::string_view::npos)
          node->bracket = text[0];
    }
    if (i > from) node->comments = tokens_.gap_before(i).comments;
    nodes.push_back(node);
  }
  return nodes;
}

void FileFormatter::append_comments(Line& line, const std::vector<Comment>& comments) {
  for (const Comment& comment : comments)
    line.append(store_.token(comment.own_line ? Kind::kOwnLine : Kind::kComment, comment.text));
}

void FileFormatter::append_tree(Line& line, Node* node) {
  if (!node->is_token()) {
    for (Node* child : node->children) append_tree(line, child);
    return;
  }
  append_comments(line, node->comments);
  line.append(node);
}

void FileFormatter::logical_line(const Place& place, size_t from, size_t to, size_t stub, bool docstring) {
  std::vector<Node*> nodes = make_tokens(from, to);
  if (docstring) nodes[0]->text = normalize_docstring(tokens_.word(from), place.depth);
  Node* tree = nests_too_deeply(from, to) ? nullptr : group_line(store_, nodes);
  if (!tree) return keep(place, from, to, stub != 0 ? " ..." : "");
  tree = normalize_parentheses(store_, tree);
  Line line(place.depth);
  append_tree(line, tree);
  LineTraits traits;
  traits.depth = place.depth;
  traits.docstring = docstring;
  traits.decorator = line.begins_with("@");
  traits.function = line.is_function();
  traits.is_class = line.is_class();
  traits.import = line.is_import();
  traits.stub = stub != 0 && traits.function;
  traits.opens_block = stub == 0 && tokens_.word(to - 1) == ":" && tokens_.head_colon(from) == to - 1;
  constexpr std::array kClauses = {"elif", "else", "except", "finally"};
  traits.continues =
      std::any_of(kClauses.begin(), kClauses.end(), [&](const char* word) { return line.begins_with(word); });
  if (stub != 0) {
    Node* dots = store_.token(Kind::kOperator, "...");
    dots->blanks = " ";
    line.append(dots, true);
  }
  size_t last = stub != 0 ? stub + 1 : to;
  if (tokens_.kind(last) == TokenKind::kNewline) append_comments(line, tokens_.gap_before(last).comments);
  std::string text;
  for (const Line& part : split_line(store_, std::move(line))) text += part.text() + "\n";
  lines_.add(traits, std::move(text), pending_.empty_lines);
}

// ---- what is kept as it is written ----

// Lines with `# fmt: skip` at their end, or with `# fmt: off` inside brackets.
bool FileFormatter::wants_keeping(size_t from, size_t to) const {
  for (size_t i = from + 1; i <= to; ++i) {
    for (const Comment& comment : tokens_.gap_before(i).comments) {
      Directive directive = directive_of(comment.text);
      if (directive == Directive::kSkip && i == to) return true;
      if (directive == Directive::kOff || directive == Directive::kSkip) return true;
    }
  }
  return false;
}

bool FileFormatter::nests_too_deeply(size_t from, size_t to) const {
  int depth = 0, most = 0;
  for (size_t i = from; i < to; ++i) {
    if (tokens_.kind(i) != TokenKind::kOperator || tokens_.word(i).size() != 1) continue;
    if (std::string_view("([{").find(tokens_.word(i)[0]) != std::string_view::npos)
      most = std::max(most, ++depth);
    if (std::string_view(")]}").find(tokens_.word(i)[0]) != std::string_view::npos) --depth;
  }
  return most > kMostOpenBrackets;
}

// A logical line, or a part of one up to a colon or semicolon.
void FileFormatter::keep(const Place& place, size_t from, size_t to, const char* stub) {
  std::string_view source = tokens_.text();
  std::string text(source.substr(tokens_.begin(from), tokens_.end(to - 1) - tokens_.begin(from)));
  text += stub;
  LineTraits traits;
  traits.depth = place.depth;
  traits.own_line = traits.kept = true;
  traits.opens_block = tokens_.word(to - 1) == ":";
  traits.import = tokens_.word(from) == "import" || tokens_.word(from) == "from";
  for (const Comment& comment : tokens_.gap_before(to).comments) {
    uint32_t line_end = static_cast<uint32_t>(std::min(source.find('\n', comment.begin), source.size()));
    text = source.substr(tokens_.begin(from), line_end - tokens_.begin(from));
  }
  lines_.add(traits, indentation(place.depth) + text + "\n", pending_.empty_lines);
}

// From `# fmt: off` to `# fmt: on`, or to the end of the block.
void FileFormatter::keep_region(Place& place, const Comment& off, size_t next_comment) {
  const size_t first = at_;
  const uint32_t source_begin = off.begin;
  int nesting = 0;
  size_t at = at_;
  Gap gap = pending_;
  size_t comment = next_comment;
  uint32_t region_end = off.begin;
  {
    uint32_t line_break =
        static_cast<uint32_t>(std::min(tokens_.text().find('\n', off.begin), tokens_.text().size()));
    region_end = line_break;
  }
  for (;;) {
    // Blocks that began in the region may end together with the one around it.
    int dedents = 0;
    while (tokens_.kind(at + static_cast<size_t>(dedents)) == TokenKind::kDedent) ++dedents;
    bool ends = tokens_.kind(at) == TokenKind::kEnd || dedents > nesting;
    for (; comment < gap.comments.size(); ++comment) {
      const Comment& candidate = gap.comments[comment];
      if (ends && tokens_.kind(at) == TokenKind::kDedent && candidate.column < place.column) break;
      if (candidate.column <= place.column && directive_of(candidate.text) == Directive::kOn) {
        ends = true;
        break;
      }
      region_end =
          static_cast<uint32_t>(std::min(tokens_.text().find('\n', candidate.begin), tokens_.text().size()));
    }
    if (ends || comment < gap.comments.size()) {
      while (nesting > 0 && tokens_.kind(at) == TokenKind::kDedent) ++at, --nesting;
      gap.comments.erase(gap.comments.begin(), gap.comments.begin() + static_cast<std::ptrdiff_t>(comment));
      break;
    }
    // Over this line.
    while (tokens_.kind(at) == TokenKind::kIndent || tokens_.kind(at) == TokenKind::kDedent)
      nesting += tokens_.kind(at++) == TokenKind::kIndent ? 1 : -1;
    size_t newline = tokens_.line_end(at);
    region_end = tokens_.begin(newline);
    at = newline + (tokens_.kind(newline) == TokenKind::kNewline ? 1 : 0);
    gap = tokens_.gap_before(at);
    comment = 0;
  }
  LineTraits traits;
  traits.depth = place.depth;
  traits.own_line = traits.kept = true;
  lines_.add(traits, kept_text(place, source_begin, region_end, first, at), off.empty_lines);
  place.first = false;
  at_ = at;
  pending_ = std::move(gap);
}

// The text as it is written; only its logical lines move with the block that they stand in.
std::string FileFormatter::kept_text(const Place& place, uint32_t from, uint32_t to, size_t first,
                                     size_t last) const {
  std::set<uint32_t> movable = {tokens_.line_start(from)};
  for (size_t i = first; i <= last && i < tokens_.size(); ++i) {
    if (!tokens_.begins_line(i)) continue;
    movable.insert(tokens_.line_start(tokens_.begin(i)));
    for (const Comment& comment : tokens_.gap_before(i).comments)
      movable.insert(tokens_.line_start(comment.begin));
  }
  std::string_view source = tokens_.text();
  std::string out;
  for (uint32_t at = tokens_.line_start(from); at < to;) {
    uint32_t stop = static_cast<uint32_t>(std::min({source.find('\n', at), source.size(), size_t{to}}));
    std::string_view line = source.substr(at, stop - at);
    if (movable.contains(at)) {
      size_t blanks = std::min(line.find_first_not_of(" \t"), line.size());
      line.remove_prefix(std::min(blanks, place.indent.size()));
      if (!line.empty()) out += indentation(place.depth);
    }
    out += line;
    out += '\n';
    at = stop + 1;
  }
  return out;
}

}  // namespace

std::string format_text(std::string_view text) {
  std::string before(text), after = FileFormatter(text).run();
  // Commas that a pass adds, and comments that it moves, may ask for another split; the second pass is nearly
  // always the last.
  for (int pass = 1; pass < kMostPasses && after != before; ++pass) {
    before = std::move(after);
    after = FileFormatter(before).run();
  }
  return after;
}

}  // namespace galatea::dsl::formatter
