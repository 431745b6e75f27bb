// Which round brackets the form needs: redundant ones go, optional ones are put where a line may break.
#pragma once

#include "dsl/formatter/node.h"

namespace galatea::dsl::formatter {

/// Rewrites the tree of one line: brackets that add nothing are kept without being written ("optional": the
/// splitter writes them where it breaks the line), and optional ones are put around what a statement keyword
/// or
/// `=` governs. Returns the tree.
Node* normalize_parentheses(NodeStore& store, Node* line);

}  // namespace galatea::dsl::formatter
