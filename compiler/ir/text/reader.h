// Reads the text form of a graph.
//
// Comes in: text. Goes out: a graph, or the first error with its place in the text. Arguments, types of
// inputs and the types that the operators' rules give are checked as when a graph is built, and the whole is
// verified.
//
//   graph  = "pipeline" "@" name "(" [ option { "," option } ] ")" "{" block { block } "}"
//   option = "batch_size" "=" int | "num_threads" "=" int | "seed" "=" int
//          | "prefetch_queue_depth" "=" int | "memory_limit" "=" int | "exact" "=" bool
//          | "on_error" "=" ( "raise" | "skip" | "replace" ) | "outputs" "=" list of strings
//   block  = "^" int [ "(" "^" int { "," "^" int } ")" ] ":" { merge | node } end
//                          the predecessors, in the order of the merges' operands
//   merge  = value "=" "merge" "(" values ")" ":" type
//   node   = [ values "=" ] operator "(" [ values ] ")" [ "{" arg { "," arg } "}" ]
//            [ ":" type { "," type } ] [ "key" "=" hex ] [ "own_seed" ] [ "name" "=" string ]
//   arg    = name "=" ( value | attr )
//                          the remarks of passes (region_from) are "[" values "]", which may stand later
//   attr   = "none" | "true" | "false" | int | float | string | dtype | "[" … "]" | "float[]" | "string[]"
//   end    = "jump" "^" int | "branch" value "^" int "," "^" int
//          | "switch" value "[" "^" int { "," "^" int } "]" | "return" [ values ]
//   type   = dtype "[" [ extent { "," extent } ] "]" [ layout ] [ "gpu" ]
//                          extent: int, "?" or an expression of named extents (read as "?")
//   value  = "%" name [ "." int ] | "%" int
//                          the variable's name; numbers tell equal names apart
//
// Floats have a point, an exponent, or are inf or nan; `#` starts a comment. Blocks stand in topological
// order. Reading and printing gives the text back; block and value ids are numbered as they occur.
#pragma once

#include "compiler/ir/graph.h"

namespace galatea::op {
class Registry;
}  // namespace galatea::op

namespace galatea::ir {

/// Reads and verifies.
Result<Graph> read_graph(const std::string& text, SourceMap& sources, const op::Registry& registry);

}  // namespace galatea::ir
