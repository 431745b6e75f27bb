// What every operator file needs: the operator and recipe interfaces under short names, and little words for
// scalar expressions.
//
// Comes in: nothing. Goes out: inline helpers over compiler/kernel/expr.h, and helpers that type rules share.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "compiler/op/operator.h"
#include "compiler/op/recipe.h"

namespace galatea::ops {

using kernel::Border;
using kernel::Expr;
using op::ArgKind;
using op::ArgSpec;
using op::Operator;
using op::OperatorKind;
using op::OutputExtents;
using op::RecipeBuilder;
using op::StageRef;
using op::TypeContext;
using Types = Result<std::vector<ir::Type>>;
using Axes = std::vector<Expr>;

// ---- scalar expressions
inline Expr i64(int64_t value) { return kernel::const_int(value); }
inline Expr f32(double value) { return kernel::const_float(value); }
inline Expr f64(double value) { return kernel::const_float(value, DType::kF64); }
/// Floats truncate.
inline Expr to_i64(const Expr& e) { return kernel::convert(e, DType::kI64); }
inline Expr to_f32(const Expr& e) { return kernel::convert(e, DType::kF32); }
inline Expr to_f64(const Expr& e) { return kernel::convert(e, DType::kF64); }
inline Expr absolute(const Expr& e) { return kernel::unary(ScalarOp::kAbs, e); }
inline Expr floor_to_i64(const Expr& e) { return to_i64(kernel::unary(ScalarOp::kFloor, e)); }
inline Expr ceil_to_i64(const Expr& e) { return to_i64(kernel::unary(ScalarOp::kCeil, e)); }
/// Half away from zero: the rounding of extents and anchors.
inline Expr round_to_i64(const Expr& e) { return to_i64(kernel::unary(ScalarOp::kRoundAway, e)); }
inline Expr truth(bool value) { return kernel::const_bool(value); }
/// values[index]; the last value for an index past the end. The index need not be constant.
Expr choose(const Expr& index, const std::vector<Expr>& values);
/// The largest f32 below `value` (finite).
Expr next_below(const Expr& value);

// ---- types
/// A type like `like` but for the element type.
ir::Type with_dtype(ir::Type like, DType dtype);
/// "u8[?,?,3] HWC"-like text for messages.
inline std::string describe(const ir::Type& type) { return ir::to_text(type); }
/// Whether an argument was given and is not per sample.
bool given_static(const TypeContext& ctx, std::string_view name);
/// A list argument, if given, must have 1 or n elements, as far as is known while compiling; n < 0: any number.
Status check_length(const TypeContext& ctx, std::string_view name, int n);
/// A list argument as n scalars of `type`: as RecipeBuilder::arg_list, and vectors whose length only the run
/// tells, which may differ from sample to sample, get a check that it is 1 or n.
std::vector<Expr> list_arg(RecipeBuilder& b, std::string_view name, int n, DType type);
/// The same of a list that must have n elements: one does not stand for all.
std::vector<Expr> exact_list_arg(RecipeBuilder& b, std::string_view name, int n, DType type);
/// The beginning of a list argument that each sample may give in another length.
struct ListPrefix {
  std::vector<Expr> elements;  ///< n of them; past the list's end stands its last one, of none 0
  Expr length;                 ///< i64, of the whole list
};
ListPrefix list_prefix(RecipeBuilder& b, std::string_view name, int n, DType type);
/// Fails samples in which one of an argument's numbers is infinite or no number.
void check_finite(RecipeBuilder& b, std::string_view name, const std::vector<Expr>& numbers);
/// An error, at this argument, where what is known of the extents is beyond any memory.
Status check_addressable(const TypeContext& ctx, const ir::Type& type, const std::string& arg);
/// A number argument as f32, which must be finite.
Expr finite_arg(RecipeBuilder& b, std::string_view name);
/// The same of a factor that may be computed on a GPU, which is not waited for.
Expr finite_factor(RecipeBuilder& b, std::string_view name);
/// Element number i of an input that must have n elements; checked at run time where the type does not say
/// so.
Expr input_element(RecipeBuilder& b, int input, int i, int n);
/// How many elements a list argument has; -1 if a per-sample vector of unknown length.
int64_t length_of(const TypeContext& ctx, std::string_view name);

/// Places of the image axes in a layout; -1 where absent.
struct ImageAxes {
  int h = -1, w = -1, c = -1;
};
ImageAxes image_axes(const Layout& layout);
/// The data axes of filters: all but C.
std::vector<int> data_axes(const Layout& layout, int ndim);

/// Axes named by `axes` (negative counts from the end) or `axis_names`; all axes if neither is given. Both are
/// an error, but where the names win.
Result<std::vector<int>> resolve_axes(const TypeContext& ctx, const ir::Type& type, const Layout& layout,
                                      bool names_win = false);
/// The same in a definition, after the type rule has accepted them.
std::vector<int> resolve_axes(const RecipeBuilder& b, int ndim, const Layout& layout);
/// How many axes `axes` names, a data node of 1-D integers; -1 where only the run tells, sample by sample.
Result<int> count_axes_of_sample(const TypeContext& ctx, int ndim);
/// Those axes.
struct SampleAxes {
  std::vector<Expr> axes;  ///< in 0 .. ndim - 1; -1 past the end, where the sample names fewer
  Expr count;              ///< i64; empty: as many as `axes` has
};
/// A sample that names none of the axes, or one twice, fails.
SampleAxes axes_of_sample(RecipeBuilder& b, int ndim);
/// The elements of an input with one for each of these axes.
std::vector<Expr> input_of_axes(RecipeBuilder& b, int input, const SampleAxes& axes);
/// A list argument with an element for each of these axes, or one for all.
std::vector<Expr> list_of_axes(RecipeBuilder& b, std::string_view name, const SampleAxes& axes, DType type);
/// Of the values, one per axis, that of axis `d`; `otherwise` where the sample does not name it.
Expr value_of_axis(const std::vector<Expr>& axes, int d, const std::vector<Expr>& values, Expr otherwise);

// ---- schema
/// Accepted for compatibility, no numeric effect.
ArgSpec ignored(std::string name, ArgKind kind, ir::Attr default_value, std::string documentation);
/// Known to DALI; refused here, for the reason given.
ArgSpec refused(std::string name, ArgKind kind, std::string reason);
ArgSpec dtype_arg(std::string documentation);
void append(std::vector<ArgSpec>& args, std::vector<ArgSpec> more);
/// Operator::effect: the call with {} replaced by each of three values.
std::vector<std::string> effect(std::string_view call, std::array<std::string_view, 3> values);
/// A pipeline body that decodes the photographs of `data` and returns `expression`, which may use `image`,
/// `encoded` and `label`.
std::string image_example(const std::string& expression);

}  // namespace galatea::ops
