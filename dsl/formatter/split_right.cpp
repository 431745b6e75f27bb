// Which pair of brackets, counted from the right, a line is best split at. See split_parts.h.
//
// A line like `x = call(a).other(b)` has several pairs. The last one is tried first; if the line before it is
// still too long, the last trailers are taken as one piece and the pair before them is tried. Optional
// brackets are written only if the line without them looks worse.
#include <algorithm>
#include <ranges>

#include "dsl/formatter/split_parts.h"

namespace galatea::dsl::formatter {
namespace {

bool can_be_split(const Line& line) {
  const auto& tokens = line.tokens;
  if (tokens.size() < 2) return false;
  if (tokens[0]->kind != Kind::kString || !tokens[1]->is(".")) return true;
  int calls = 0, dots = 0;
  const Node* next = tokens.back();
  for (size_t i = tokens.size() - 1; i-- > 0;) {
    const Node* token = tokens[i];
    if (token->opens()) {
      if (!next->closes()) return false;
      ++calls;
    } else if (token->is(".")) {
      ++dots;
    } else if (token->kind == Kind::kName) {
      if (!next->is(".") && !next->opens()) return false;
    } else if (!token->closes()) {
      return false;
    }
    if (dots > 1 && calls > 1) return false;
  }
  return true;
}

// Whether the body, beginning with a bracket, fits from the end of that bracket on.
bool opening_can_stay(const Line& line, const Node* first) {
  bool remainder = false;
  int length = kIndent * line.depth;
  for (const Node* token : line.tokens) {
    if (token->text.find('\n') != std::string::npos) return false;
    if (token->closes() && token->partner == first) remainder = true;
    if (!remainder) continue;
    length += length_with_comments(line, *token);
    if (length > kLineWidth) return false;
    if (token->opens()) remainder = false;
  }
  return true;
}

// Whether the body, ending with a bracket, fits up to the beginning of that bracket.
bool closing_can_stay(const Line& line, const Node* last) {
  int length = kIndent * line.depth;
  bool others = false;
  for (const Node* token : line.tokens) {
    if (token->text.find('\n') != std::string::npos) return false;
    length += length_with_comments(line, *token);
    if (token == last->partner) {
      if (others || length <= kLineWidth) return true;
    } else if (token->opens()) {
      others = true;
    }
  }
  return false;
}

// A comment with a line of its own, outside the brackets that are written in the line.
bool has_bare_comment(const Line& line) {
  const Node* closing = nullptr;
  for (auto it = line.tokens.rbegin(); it != line.tokens.rend(); ++it) {
    const Node* token = *it;
    if (closing && token == closing->partner) closing = nullptr;
    if (token->kind == Kind::kOwnLine && !closing) return true;
    if (!closing && token->closes() && token->written() && token->partner &&
        std::find(it, line.tokens.rend(), token->partner) != line.tokens.rend())
      closing = token;
  }
  return false;
}

// Whether the optional brackets around the body may be left out.
bool brackets_can_go(const BracketSplit& split) {
  const Line& line = split.body;
  if (!split.opening->written() && !split.head.comments_after(split.opening).empty()) return false;
  if (has_bare_comment(line)) return false;
  if (!line.tracker.has_delimiters()) return true;
  int priority = line.tracker.max_priority();
  int count = line.tracker.count(priority);
  if (count > 1) return false;
  if (count == 1 && priority == kComma && split.head.begins_with("with")) return false;
  if (priority == kAttribute) return true;
  if (line.tokens.size() < 2) return false;
  const Node* first = line.tokens[0];
  if (first->opens() && !line.tokens[1]->closes() && opening_can_stay(line, first)) return true;
  const Node* last = line.tokens.back();
  const Node* before_last = line.tokens[line.tokens.size() - 2];
  bool closes = last->bracket == ')' || last->bracket == '}' ||
                (last->bracket == ']' && last->parent && !last->in(Kind::kTrailer));
  if (!closes || before_last->opens()) return false;
  return is_multiline_string(*first) || closing_can_stay(line, last);
}

bool prefers_without(const BracketSplit& without, const BracketSplit& with) {
  const auto& head = with.head.tokens;
  if (head.size() < 2 || !head[head.size() - 2]->is("=")) return true;
  if (std::none_of(head.begin(), head.end() - 1,
                   [](const Node* token) { return token->opens() || token->closes(); }))
    return true;
  if (!with.head.fits(kLineWidth - 1)) return true;
  if (with.head.magic_comma) return true;
  auto equals = [](const Line& line) {
    return std::count_if(line.tokens.begin(), line.tokens.end(),
                         [](const Node* token) { return token->is("="); });
  };
  if (equals(with.head) > 1 && equals(with.head) > equals(without.head)) return false;
  for (const Node* token : std::views::reverse(without.head.tokens)) {
    if (token->is("=")) break;
    if (token->closes()) return true;
  }
  return equals(without.head) > 0 && without.head.fits();
}

/// Which trailers are to be taken as one piece: nothing first, then more and more from the right. What is
/// asked for later may depend on brackets that an attempt has written meanwhile.
class OmittedTrailers {
 public:
  explicit OmittedTrailers(const Line& line)
      : line_(line), at_(line.tokens.size()), length_(kIndent * line.depth) {}

  /// False: there are no more.
  bool next(Omitted& omitted) {
    if (!started_) {
      started_ = true;
      if (!line_.magic_comma) {
        omitted = omitted_;
        return true;
      }
    }
    if (pending_) {
      const Node* token = pending_;
      pending_ = nullptr;
      if (!take_closing(token)) return false;
    }
    while (!done_ && at_ > 0) {
      --at_;
      if (step(line_.tokens[at_])) {
        omitted = omitted_;
        return true;
      }
    }
    return false;
  }

 private:
  const Node* before() const { return at_ > 0 ? line_.tokens[at_ - 1] : nullptr; }
  bool ends_in_magic_comma(const Node* closing) const {
    return before() && before()->is(",") && closing->partner &&
           !holds_one_element(closing->partner, closing, line_.tokens);
  }
  bool take_closing(const Node* token) {
    if (ends_in_magic_comma(token)) {
      done_ = true;
      return false;
    }
    if (token->written()) {
      opening_ = token->partner;
      closing_ = token;
    }
    return true;
  }
  // True: there is a new set.
  bool step(const Node* token) {
    if (token->text.find('\n') != std::string::npos) return end();
    int length = length_with_comments(line_, *token);
    length_ += length;
    if (length_ > kLineWidth) return end();
    if (token->kind == Kind::kOwnLine || !line_.comments_after(token).empty()) return end();
    if (opening_) {
      if (token == opening_) {
        opening_ = nullptr;
      } else if (token->closes()) {
        if (ends_in_magic_comma(token)) return end();
        inner_.push_back(token);
      }
      return false;
    }
    if (!token->closes()) return false;
    if (before() && before()->opens()) {
      inner_.push_back(token);
      return false;
    }
    if (closing_) {
      omitted_.insert(closing_);
      omitted_.insert(inner_.begin(), inner_.end());
      inner_.clear();
      pending_ = token;
      return true;
    }
    take_closing(token);
    return false;
  }
  bool end() {
    done_ = true;
    return false;
  }

  const Line& line_;
  size_t at_;
  int length_;
  Omitted omitted_;
  std::vector<const Node*> inner_;
  const Node* opening_ = nullptr;
  const Node* closing_ = nullptr;
  const Node* pending_ = nullptr;
  bool started_ = false, done_ = false;
};

// Decides about optional brackets; where they go, the next pair to the left is split instead.
std::optional<Lines> settle(NodeStore& store, BracketSplit split, const Line& line, bool force_brackets,
                            Omitted omitted) {
  // Each round looks one pair further to the left; the last good answer is taken.
  std::vector<BracketSplit> candidates;
  for (;;) {
    candidates.push_back(std::move(split));
    const BracketSplit& current = candidates.back();
    bool optional = current.opening->bracket == '(' && !current.opening->written() &&
                    current.closing->bracket == ')' && !current.closing->written();
    if (force_brackets || !optional || line.is_import() || !brackets_can_go(current)) break;
    omitted.insert(current.closing);
    std::optional<BracketSplit> without = split_at_last_brackets(store, line, omitted);
    if (without && !prefers_without(*without, current)) break;
    if (without) {
      split = std::move(*without);
      continue;
    }
    // Nothing further left: the candidates are judged from the last one back.
    for (;;) {
      const BracketSplit& last = candidates.back();
      bool hopeless = !can_be_split(last.body) && !last.body.fits();
      bool strings = last.head.has_multiline_strings() || last.tail.has_multiline_strings();
      if (line.is_chained_assignment() || (!hopeless && !strings)) break;
      candidates.pop_back();
      if (candidates.empty()) return std::nullopt;
    }
    break;
  }
  BracketSplit& chosen = candidates.back();
  write_bracket(*chosen.opening);
  write_bracket(*chosen.closing);
  Lines lines;
  for (Line* part : {&chosen.head, &chosen.body, &chosen.tail}) {
    if (!part->empty()) lines.push_back(std::move(*part));
  }
  return lines;
}

}  // namespace

std::optional<Lines> split_right(NodeStore& store, const Line& line, bool force_brackets) {
  auto attempt = [&](const Omitted& omitted) -> std::optional<Lines> {
    std::optional<BracketSplit> split = split_at_last_brackets(store, line, omitted);
    if (!split) return std::nullopt;
    return settle(store, std::move(*split), line, force_brackets, omitted);
  };
  std::unordered_map<const Node*, int> column;
  int at = kIndent * line.depth;
  for (const Node* token : line.tokens) {
    column[token] = at;
    at += length_with_comments(line, *token);
  }
  std::optional<Lines> first;
  OmittedTrailers trailers(line);
  for (Omitted omitted; trailers.next(omitted);) {
    if (!omitted.empty()) {
      auto closing = std::find_if(line.tokens.rbegin(), line.tokens.rend(), [&](const Node* token) {
        return token->closes() && !omitted.contains(token);
      });
      const Node* opening = closing == line.tokens.rend() ? nullptr : (*closing)->partner;
      if (opening && opening->written() && column[opening] > kLineWidth) continue;
    }
    std::optional<Lines> lines = attempt(omitted);
    if (!lines) return std::nullopt;
    bool good = lines->front().fits() || (!omitted.empty() && only_subscript_comment_is_long(lines->front()));
    if (good) return lines;
    if (!first && omitted.empty()) first = std::move(lines);
  }
  return first ? std::move(first) : attempt({});
}

}  // namespace galatea::dsl::formatter
