// Calls of which not all is known: some arguments were refused, or only a run will know them.
//
// Comes in: a call without these arguments, and their names. Goes out: what else is wrong with it, and the types
// of its outputs where they are the same whatever is missing; so that what follows the call is checked as well.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::op {

struct RecoveredCall {
  std::vector<Diagnostic> errors;              ///< about arguments that were not missing
  std::optional<std::vector<ir::Type>> types;  ///< of the outputs; extents that are not known are -1
};

/// The argument at which the error of a call stands; nullptr: it is an error of the whole call.
const ir::Arg* argument_of_error(const GraphBuilder::NodeSpec& call, const Diagnostic& diagnostic);

/// Asks the schema and the type rule with values that the missing arguments may have: what all of the answers
/// agree on is known. `call` does not hold the arguments `missing`. `make_value` gives a value of a rank, as of
/// data, for arguments that may be data.
RecoveredCall recover_call(const ir::Graph& graph, GraphBuilder::NodeSpec call,
                           std::vector<std::string> missing,
                           const std::function<ir::ValueId(DType, int ndim)>& make_value);

/// A node that stands for such a call, or for an argument of one: it takes the same values and gives values of
/// these types, of which nothing else is known. A graph with one can be checked, not compiled.
ir::NodeId add_unknown(ir::Graph& graph, ir::BlockId block, const std::vector<ir::Type>& types,
                       std::vector<ir::ValueId> inputs, Span span);

}  // namespace galatea::op
