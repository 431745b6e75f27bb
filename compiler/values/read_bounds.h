// Which part of an input a node reads.
//
// Comes in: a node and one of its inputs. Goes out: a window per dimension, as expressions over symbols of
// the sample program; or nothing, where only the pixels could tell. Found by walking the stages backwards
// (demand.h): every stage is asked for the part of its domain that its readers ask for, and every index of
// every load is evaluated over that part with intervals (interval.h); borders answer for what lies outside.
// A backend that computes stages whole reads no more than this if the stages have been cut down first
// (narrow_stages.h).
//
// Guarantee: whatever the scalars are at run time (NaN and infinities included), every element that the node
// reads lies in the window, and 0 <= begin <= end <= extent holds for each dimension, begin < end where the
// extent is not 0.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/expr.h"

namespace galatea::values {

/// [begin, end) along one dimension; i64 each.
struct Range {
  kernel::Expr begin, end;
};

/// One range per dimension of the input. Empty ranges (all zero) where the node reads no element, just
/// extents.
struct ReadBounds {
  std::vector<Range> ranges;
};

/// The window that `consumer` reads of its input `input`; for a view: the window that it shows.
std::optional<ReadBounds> read_bounds(const ir::Graph& graph, ir::NodeId consumer, int input);

/// The window of `value` that all its readers need together (windows.h). `readers` (may be null) gets their
/// outputs, in order. Nothing if the value leaves the pipeline or some reader's window is unknown.
std::optional<ReadBounds> region_of(const ir::Graph& graph, ir::ValueId value,
                                    std::vector<ir::ValueId>* readers = nullptr);

}  // namespace galatea::values
