// Empty lines. See blank_lines.h.
#include "dsl/formatter/blank_lines.h"

#include <algorithm>
#include <optional>

namespace galatea::dsl::formatter {

void BlankLines::add(LineTraits traits, std::string text, int empty_lines) {
  Count counted = count(traits, empty_lines);
  if (!blocks_.empty()) counted.before = std::max(0, counted.before - blocks_.back().after);
  if (follows_module_docstring(traits)) counted.before = 1;
  const bool apart = counted.before > 0;
  if (traits.own_line) {
    if (blocks_.empty() ||
        (!last().decorator && (!last().own_line || apart) && (leading_comment_ < 0 || apart)))
      leading_comment_ = static_cast<long>(blocks_.size());
  } else if (!traits.decorator || apart) {
    leading_comment_ = -1;
  }
  blocks_.push_back({traits, std::move(text), counted.before, counted.after});
}

bool BlankLines::follows_module_docstring(const LineTraits& traits) const {
  if (blocks_.empty() || !last().docstring || last().depth != 0 || traits.is_class || traits.function)
    return false;
  return std::all_of(blocks_.begin(), blocks_.end() - 1,
                     [](const Block& block) { return block.traits.own_line; });
}

BlankLines::Count BlankLines::count(const LineTraits& traits, int empty_lines) {
  const int allowed = traits.depth == 0 ? 2 : 1;
  int before = empty_lines;
  // The empty lines at the end of a region that is kept belong to it.
  const bool ends_region = traits.directive_on && !blocks_.empty() && last().kept;
  if (!traits.kept && !ends_region) before = std::min(before, allowed);
  const bool user_had = before > 0;
  std::optional<LineTraits> definition;
  while (!definitions_.empty() && definitions_.back().depth >= traits.depth) {
    definition = definitions_.back();
    definitions_.pop_back();
  }
  if (traits.function || traits.is_class) definitions_.push_back(traits);
  if (blocks_.empty()) return {0, 0};
  if (traits.docstring) {
    if (last().is_class) return {0, 1};
    if (last().opens_block && last().function) return {0, 0};
  }
  if (definition) {
    bool clause = definition->depth > 0 && traits.opens_block && traits.continues;
    before = traits.depth > 0 || clause ? 1 : 2;
  }
  if (traits.decorator || traits.function || traits.is_class)
    return count_definition(traits, before, user_had);
  if (last().import && !traits.import && last().depth == traits.depth)
    return {traits.depth == 0 || before == 0 ? 1 : before, 0};
  return {before, 0};
}

BlankLines::Count BlankLines::count_definition(const LineTraits& traits, int before, bool user_had) {
  if (last().decorator) return {0, 0};
  if (last().depth < traits.depth && (last().is_class || last().function)) return {user_had ? 1 : 0, 0};
  long comment = -1;
  if (last().own_line && last().depth == traits.depth && before == 0) {
    // The comments above a definition move away with it.
    bool movable = leading_comment_ > 0;
    if (movable) {
      const Block& ahead = blocks_[static_cast<size_t>(leading_comment_) - 1];
      movable = !ahead.traits.is_class && !ahead.traits.opens_block &&
                blocks_[static_cast<size_t>(leading_comment_)].before <= 1;
    }
    if (!movable) return {0, 0};
    comment = leading_comment_;
  }
  int lines = traits.depth > 0 ? 1 : 2;
  if (last().stub && !user_had) lines = 0;
  if (comment >= 0) {
    Block& first = blocks_[static_cast<size_t>(comment)];
    first.before = std::max(first.before, lines) - blocks_[static_cast<size_t>(comment) - 1].after;
    lines = 0;
  }
  return {lines, 0};
}

std::string BlankLines::text() const {
  std::string out;
  for (const Block& block : blocks_) {
    out.append(static_cast<size_t>(std::max(0, block.before)), '\n');
    out += block.text;
    if (&block != &blocks_.back()) out.append(static_cast<size_t>(block.after), '\n');
  }
  return out;
}

}  // namespace galatea::dsl::formatter
