// The splits that split.cpp chooses from; seen by split*.cpp only.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "dsl/formatter/line.h"

namespace galatea::dsl::formatter {

using Lines = std::vector<Line>;
using Omitted = std::set<const Node*>;  ///< closing brackets that are not to be split at

/// A line cut at one pair of brackets: up to the opening one, what stands between them, from the closing one
/// on.
struct BracketSplit {
  Line head, body, tail;
  Node* opening = nullptr;
  Node* closing = nullptr;
};

/// At the last pair of brackets that is not omitted.
std::optional<BracketSplit> split_at_last_brackets(NodeStore& store, const Line& line,
                                                   const Omitted& omitted);
/// At the first pair that holds something: the parameters of a function.
std::optional<Lines> split_at_first_brackets(NodeStore& store, const Line& line);
/// After (or before) every delimiter of the highest priority.
std::optional<Lines> split_at_delimiters(NodeStore& store, const Line& line);
/// Around every comment that has lines of its own.
std::optional<Lines> split_at_comments(const Line& line);
/// The same where nothing else would keep such a comment from sharing a line.
Lines split_at_comments_anyhow(const Line& line);
/// At the last brackets that give a good result.
std::optional<Lines> split_right(NodeStore& store, const Line& line, bool force_brackets);

/// Whether the only thing too long is a comment beside `[`.
bool only_subscript_comment_is_long(const Line& line);
/// Whether the return type asks to be split before the parameters are.
bool return_type_splits_first(const Line& line);
/// Length in characters of a token with its blanks and comments.
int length_with_comments(const Line& line, const Node& token);
void write_bracket(Node& bracket);

}  // namespace galatea::dsl::formatter
