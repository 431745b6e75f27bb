// Cutting a line at a pair of brackets. See split_parts.h.
#include <algorithm>

#include "dsl/formatter/split_parts.h"

namespace galatea::dsl::formatter {
namespace {

enum class Part { kHead, kBody, kTail };

enum class AnnotationOf { kNothing, kParameter, kReturn };

AnnotationOf annotation_of(const Node& token) {
  for (const Node* group = token.parent; group; group = group->parent) {
    const Node* before = group->previous_sibling();
    if (before && before->is("->")) return AnnotationOf::kReturn;
    if (group->in(Kind::kParameter)) return AnnotationOf::kParameter;
  }
  return AnnotationOf::kNothing;
}

// Names of an import and parameters of a function get a comma after the last one.
bool wants_trailing_comma(const std::vector<Node*>& tokens, const Line& original, const Node& opening) {
  if (tokens.empty()) return false;
  if (original.is_import()) return true;
  if (!original.is_function() || opening.bracket != '(' || !opening.written()) return false;
  for (const Node* token : tokens) {
    if (token->is(",") && annotation_of(*token) == AnnotationOf::kNothing) return false;
  }
  auto first =
      std::find_if(tokens.begin(), tokens.end(), [](const Node* token) { return token->parent != nullptr; });
  if (first == tokens.end()) return true;
  if (annotation_of(**first) == AnnotationOf::kReturn) return false;
  const Node* after = (*first)->parent->next_sibling();
  return !(after && after->is("|"));
}

// A body of several elements goes one to a line if it ends in a comma, or stands in a display or an import.
bool body_must_split(const Line& body, const Node& opening) {
  if (!opening.parent || body.tokens.empty()) return false;
  const Node* last = body.tokens.back();
  bool comma = last->is(",");
  if (body.tracker.max_priority(comma ? last : nullptr) != kComma) return false;
  return comma || opening.in(Kind::kAtom) || opening.in(Kind::kImportFrom);
}

// The tokens within pairs of brackets that both stand among `tokens`, brackets included.
Omitted within_brackets(const std::vector<Node*>& tokens) {
  Omitted within;
  std::vector<std::pair<char, std::vector<const Node*>>> open;
  auto first = std::find_if(tokens.begin(), tokens.end(), [](const Node* token) { return token->opens(); });
  for (auto it = first; it != tokens.end(); ++it) {
    const Node* token = *it;
    if (token->opens()) {
      open.push_back({token->bracket == '(' ? ')' : token->bracket == '[' ? ']' : '}', {token}});
    } else if (token->closes()) {
      if (open.empty() || open.back().first != token->bracket) break;
      within.insert(open.back().second.begin(), open.back().second.end());
      within.insert(token);
      open.pop_back();
    } else if (!open.empty()) {
      open.back().second.push_back(token);
    }
  }
  return within;
}

Line build_part(NodeStore& store, std::vector<Node*> tokens, const Line& original, const Node& opening,
                Part part) {
  Line line(original.depth);
  Omitted tracked;
  if (part == Part::kBody) {
    line.inside_brackets = true;
    ++line.depth;
    if (wants_trailing_comma(tokens, original, opening)) {
      for (size_t i = tokens.size(); i-- > 0;) {
        if (tokens[i]->kind == Kind::kOwnLine) continue;
        if (!tokens[i]->is(","))
          tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        store.token(Kind::kOperator, ","));
        break;
      }
    }
  } else if (part == Part::kHead) {
    tracked = within_brackets(tokens);
  }
  line.is_cut = original.is_cut && part != Part::kBody;
  for (Node* token : tokens) {
    line.append(token, true, tracked.contains(token));
    for (Node* comment : original.comments_after(token)) line.append(comment, true);
  }
  if (part == Part::kBody) line.must_split = body_must_split(line, opening);
  return line;
}

// A split that moves nothing, or only a bracket, is none.
bool achieves_something(const BracketSplit& split) {
  if (!split.body.empty()) return true;
  std::string tail = split.tail.text();
  tail.erase(0, tail.find_first_not_of(' '));
  return tail.size() >= 3;
}

}  // namespace

void write_bracket(Node& bracket) {
  if (bracket.bracket != 0) bracket.text = std::string(1, bracket.bracket);
}

std::optional<BracketSplit> split_at_last_brackets(NodeStore& store, const Line& line,
                                                   const Omitted& omitted) {
  std::vector<Node*> head, body, tail;
  std::vector<Node*>* current = &tail;
  Node* opening = nullptr;
  Node* closing = nullptr;
  for (auto it = line.tokens.rbegin(); it != line.tokens.rend(); ++it) {
    Node* token = *it;
    if (current == &body && token == opening) current = body.empty() ? &tail : &head;
    current->push_back(token);
    if (current == &tail && token->closes() && !omitted.contains(token)) {
      opening = token->partner;
      closing = token;
      current = &body;
    }
  }
  if (!opening || !closing || head.empty()) return std::nullopt;
  for (std::vector<Node*>* part : {&head, &body, &tail}) std::reverse(part->begin(), part->end());
  BracketSplit split;
  split.opening = opening;
  split.closing = closing;
  split.head = build_part(store, std::move(head), line, *opening, Part::kHead);
  split.body = build_part(store, std::move(body), line, *opening, Part::kBody);
  split.tail = build_part(store, std::move(tail), line, *opening, Part::kTail);
  if (!achieves_something(split)) return std::nullopt;
  return split;
}

std::optional<Lines> split_at_first_brackets(NodeStore& store, const Line& line) {
  std::vector<Node*> head, body, tail;
  std::vector<Node*>* current = &head;
  Node* opening = nullptr;
  for (Node* token : line.tokens) {
    if (current == &body && token->closes() && token->partner == opening) {
      write_bracket(*token);
      write_bracket(*opening);
      current = body.empty() ? &head : &tail;
    }
    current->push_back(token);
    if (current == &head && token->bracket == '(') {
      opening = token;
      current = &body;
    }
  }
  if (!opening || tail.empty()) return std::nullopt;
  BracketSplit split;
  split.head = build_part(store, std::move(head), line, *opening, Part::kHead);
  split.body = build_part(store, std::move(body), line, *opening, Part::kBody);
  split.tail = build_part(store, std::move(tail), line, *opening, Part::kTail);
  if (!achieves_something(split)) return std::nullopt;
  Lines lines;
  for (Line* part : {&split.head, &split.body, &split.tail}) {
    if (!part->empty()) lines.push_back(std::move(*part));
  }
  return lines;
}

bool return_type_splits_first(const Line& line) {
  std::vector<Node*> type;
  bool inside = false;
  for (Node* token : line.tokens) {
    if (token->is(":")) inside = false;
    if (inside) type.push_back(token);
    if (token->is("->")) inside = true;
  }
  Line result(line.depth);
  Omitted tracked = within_brackets(type);
  for (Node* token : type) result.append(token, true, tracked.contains(token));
  if (result.magic_comma) return true;
  auto first = std::find_if(type.begin(), type.end(), [](const Node* token) { return token->written(); });
  return first != type.end() && (*first)->kind == Kind::kString && !result.fits();
}

int length_with_comments(const Line& line, const Node& token) {
  auto characters = [](const std::string& text) {
    return static_cast<int>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  };
  int length = characters(token.blanks) + characters(token.text);
  for (const Node* comment : line.comments_after(&token)) length += characters(comment->text);
  return length;
}

bool only_subscript_comment_is_long(const Line& line) {
  if (line.empty()) return false;
  Line bare(line.depth);
  bare.tokens = line.tokens;
  if (display_width(bare.text()) > kLineWidth) return false;
  return std::all_of(line.comments.begin(), line.comments.end(), [&](const auto& entry) {
    if (entry.second.empty()) return true;
    bool here = std::find(line.tokens.begin(), line.tokens.end(), entry.first) != line.tokens.end();
    return here && entry.first->bracket == '[';
  });
}

}  // namespace galatea::dsl::formatter
