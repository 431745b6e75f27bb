// What several passes need for looking at and changing stages.
//
// Comes in: stages, expressions. Goes out: readers, substitutions, renumbered kernels.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

/// The expressions of a stage that are computed per element: first, weight, source, body, finish (some may be
/// empty).
std::array<Expr*, 5> element_parts(Stage& stage);
std::array<const Expr*, 5> element_parts(const Stage& stage);

bool is_stage_load(const Expr& e, int stage);
/// The distinct loads of `target` in a stage.
std::vector<Expr> loads_of(const Stage& reader, int target);
/// Numbers of the stages that load `target`.
std::vector<int> readers_of(const Kernel& kernel, int target);
bool is_output(const Kernel& kernel, int stage);
/// -1 unless exactly one stage reads it and it is no output.
int only_reader(const Kernel& kernel, int stage);

/// `replace` is asked for every load, with its indices already rewritten; an empty answer keeps it.
using LoadRewriter = std::function<Expr(const Expr& original, const Operands& indices)>;
Expr rewrite_loads(const Expr& e, const LoadRewriter& replace);
/// axis(d) becomes axes[d].
Expr substitute_axes(const Expr& e, std::span<const Expr> axes);
/// acc becomes `value`.
Expr substitute_accumulator(const Expr& e, const Expr& value);
/// `finish` of a band or reduction, written out.
Expr finish_of(const Stage& stage);

/// An axis taken apart into groups of `size` elements: axis / size, moved perhaps, and axis % size.
struct GroupedAxis {
  int axis = -1;
  Expr size;
  int group = -1, place = -1;  ///< which indices of the load
  bool reduced = false;        ///< an axis along which a reduction adds up
};
/// The first axis that the load's indices take apart so.
std::optional<GroupedAxis> grouped_axis(const ExprNode& load);

bool same_extents(const std::vector<Expr>& a, const std::vector<Expr>& b);
/// How many operations an expression has.
int num_operations(const Expr& e);

}  // namespace galatea::kernel
