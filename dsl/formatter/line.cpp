// Lines and what they know about themselves. See line.h.
#include "dsl/formatter/line.h"

#include <algorithm>
#include <limits>

namespace galatea::dsl::formatter {
namespace {

char closing_of(char opening) { return opening == '(' ? ')' : opening == '[' ? ']' : '}'; }

}  // namespace

int display_width(std::string_view text) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},  {0x3400, 0x4DBF},
                             {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                             {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                             {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  constexpr Range kNothing[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
  auto within = [](uint32_t c, const auto& ranges) {
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [c](Range range) { return range.first <= c && c <= range.last; });
  };
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      width += byte >= 0x20 && byte != 0x7F ? 1 : 0;
      ++i;
      continue;
    }
    size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    uint32_t c = byte & (0xFFu >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k)
      c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    width += within(c, kNothing) ? 0 : within(c, kWide) ? 2 : 1;
    i += length;
  }
  return width;
}

// ---- BracketTracker ----

void BracketTracker::mark(Node* token) {
  if (token->kind == Kind::kComment) return;
  auto opened = [&] {
    for (auto it = open_.rbegin(); it != open_.rend(); ++it) {
      if (it->first == depth_ - 1 && closing_of(it->second->bracket) == token->bracket) return it;
    }
    return open_.rend();
  };
  if (depth_ == 0 && token->closes()) return;
  if (!fors_.empty() && fors_.back() == depth_ && token->is("in")) {
    --depth_;
    fors_.pop_back();
  }
  if (!lambdas_.empty() && lambdas_.back() == depth_ && token->is(":")) {
    --depth_;
    lambdas_.pop_back();
  }
  if (token->closes()) {
    auto found = opened();
    if (found == open_.rend()) return;  // a bracket that was opened on an earlier line
    --depth_;
    token->partner = found->second;
    open_.erase(std::next(found).base());
    if (!token->written()) optional_.push_back(token);
  }
  token->depth = depth_;
  if (depth_ == 0) {
    int before = break_before(*token, previous_);
    if (before != kNoBreak && previous_) {
      delimiters_[previous_] = before;
    } else if (int after = break_after(*token)) {
      delimiters_[token] = after;
    }
  }
  if (token->opens()) {
    open_.emplace_back(depth_, token);
    ++depth_;
    if (!token->written()) optional_.push_back(token);
  }
  previous_ = token;
  if (token->is("lambda")) lambdas_.push_back(++depth_);
  if (token->is("for")) fors_.push_back(++depth_);
}

int BracketTracker::delimiter(const Node* token) const {
  auto found = delimiters_.find(token);
  return found == delimiters_.end() ? kNoBreak : found->second;
}

int BracketTracker::max_priority(const Node* except) const {
  int most = kNoBreak;
  for (const auto& [token, priority] : delimiters_) {
    if (token != except) most = std::max(most, priority);
  }
  return most;
}

int BracketTracker::count(int priority) const {
  return static_cast<int>(std::count_if(delimiters_.begin(), delimiters_.end(),
                                        [&](const auto& entry) { return entry.second == priority; }));
}

// ---- Line ----

void Line::append(Node* token, bool spaced, bool track) {
  if (!tokens.empty() && !spaced) token->blanks = blanks_before(*token);
  if (inside_brackets || !spaced || track) {
    tracker.mark(token);
    if (closes_after_magic_comma(token)) magic_comma = true;
  }
  if (!append_comment(token)) tokens.push_back(token);
}

bool Line::append_alone(Node* token) {
  if (tracker.depth() == 0 || tracker.any_open_for_or_lambda()) {
    if (is_own_line()) return false;
    if (!tokens.empty() && token->kind == Kind::kOwnLine) return false;
  }
  append(token, true);
  return true;
}

// True if the comment stands beside a token of the line.
bool Line::append_comment(Node* comment) {
  if (comment->kind == Kind::kOwnLine && tracker.any_open()) {
    comment->blanks.clear();
    return false;
  }
  if (comment->kind != Kind::kComment) return false;
  if (tokens.empty()) {
    comment->kind = Kind::kOwnLine;
    comment->blanks.clear();
    return false;
  }
  Node* last = tokens.back();
  if (last->bracket == ')' && !last->written() && last->parent && tokens.size() >= 2 &&
      last->parent->children.size() == 3 && last->parent->children[1]->is_token() &&
      !has_own_line_comments()) {
    // Of optional brackets around one token, the comment belongs to the token.
    last = tokens[tokens.size() - 2];
  }
  comments[last].push_back(comment);
  return true;
}

bool Line::closes_after_magic_comma(const Node* closing) const {
  if (!closing->closes() || tokens.empty() || !tokens.back()->is(",")) return false;
  if (closing->bracket == '}') return true;
  if (closing->bracket == ']') {
    return !(closing->in(Kind::kTrailer) && closing->partner &&
             holds_one_element(closing->partner, closing, tokens, '['));
  }
  if (is_import()) return true;
  return closing->partner && !holds_one_element(closing->partner, closing, tokens);
}

bool Line::is_import() const { return begins_with("import") || begins_with("from"); }

bool Line::has_own_line_comments() const {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Node* token) { return token->kind == Kind::kOwnLine; });
}

bool Line::has_multiline_strings() const {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Node* token) { return is_multiline_string(*token); });
}

// Strings side by side with comments between them.
bool Line::has_commented_strings() const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i]->kind != Kind::kString || comments_after(tokens[i]).empty()) continue;
    if (i > 0 && tokens[i - 1]->kind == Kind::kString) return true;
    if (i + 1 < tokens.size() && tokens[i + 1]->kind == Kind::kString) return true;
  }
  return false;
}

bool Line::is_chained_assignment() const {
  return std::count_if(tokens.begin(), tokens.end(), [](const Node* token) { return token->is("="); }) > 1;
}

const std::vector<Node*>& Line::comments_after(const Node* token) const {
  static const std::vector<Node*> kNone;
  if (comments.empty()) return kNone;
  auto found = comments.find(token);
  return found == comments.end() ? kNone : found->second;
}

std::string Line::text() const {
  if (tokens.empty()) return {};
  std::string out = tokens[0]->blanks + std::string(static_cast<size_t>(depth * kIndent), ' ');
  out += tokens[0]->text;
  for (size_t i = 1; i < tokens.size(); ++i) out += tokens[i]->blanks + tokens[i]->text;
  if (!comments.empty()) {
    for (const Node* token : tokens) {
      for (const Node* comment : comments_after(token)) out += "  " + comment->text;
    }
  }
  return out;
}

bool Line::fits(int width) const { return fits_as(text(), width); }

bool Line::fits_as(const std::string& out, int width) const {
  if (has_own_line_comments()) return false;
  if (out.find('\n') == std::string::npos) return display_width(out) <= width;
  size_t first = out.find('\n'), last = out.rfind('\n');
  if (display_width(std::string_view(out).substr(0, first)) > width ||
      display_width(std::string_view(out).substr(last + 1)) > width)
    return false;
  return fits_with_multiline_string();
}

// A line with a string of several lines stays together if the string has no neighbours: no comma beside it,
// at its level or around it.
bool Line::fits_with_multiline_string() const {
  constexpr int kUnlimited = std::numeric_limits<int>::max();
  std::set<const Node*> on_line(tokens.begin(), tokens.end());
  std::vector<int> commas;
  const Node* string = nullptr;
  std::set<const Node*> around;  // what holds the string and stands on this line entirely
  int level = kUnlimited;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Node* token = tokens[i];
    auto depth_here = static_cast<size_t>(token->depth);
    if (level == kUnlimited) {
      int had_comma = -1;
      if (depth_here + 1 > commas.size()) {
        commas.resize(commas.size() + 1);
      } else if (depth_here + 1 < commas.size()) {
        had_comma = commas.back();
        commas.pop_back();
      }
      if (had_comma >= 0 && string && string->depth == token->depth + 1) {
        level = token->depth;
        if (had_comma > 0) return false;
      }
    }
    if (token->depth <= level && token->is(",") && depth_here < commas.size()) {
      bool last = i + 1 == tokens.size();
      const Node* before = token->previous_sibling();
      bool trailing = last && (!before || around.contains(before));
      if ((inside_brackets || token->depth > 0) && !trailing) ++commas[depth_here];
    }
    if (level != kUnlimited) level = std::min(level, token->depth);
    if (is_multiline_string(*token)) {
      if (token->in(Kind::kTernary) || (token->parent && token->parent->in(Kind::kDictItems))) return false;
      if (!around.empty()) return false;
      string = token;
      for (const Node* group = token; group; group = group->parent) {
        auto* changeable = const_cast<Node*>(group);
        if (!on_line.contains(first_token(changeable)) || !on_line.contains(last_token(changeable))) break;
        around.insert(group);
      }
    }
  }
  if (around.empty()) return true;
  return std::all_of(commas.begin(), commas.end(), [](int count) { return count == 0; });
}

bool holds_one_element(const Node* opening, const Node* closing, const std::vector<Node*>& tokens,
                       char bracket) {
  if (opening->bracket != bracket || closing->bracket != closing_of(bracket)) return false;
  auto at = std::find(tokens.rbegin(), tokens.rend(), opening);
  if (at == tokens.rend()) return false;
  int commas = 0;
  for (auto token = at.base(); token != tokens.end() && *token != closing; ++token) {
    if ((*token)->depth != closing->depth + 1 || !(*token)->is(",")) continue;
    ++commas;
    if ((*token)->in(Kind::kArguments) || (*token)->in(Kind::kParameters)) return false;
  }
  return commas < 2;
}

}  // namespace galatea::dsl::formatter
