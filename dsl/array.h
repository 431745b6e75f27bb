// Small numpy arrays while staging: what pipelines compute tables and magnitudes with.
//
// Comes in: numbers, nested lists, arrays. Goes out: arrays, which operators take as constants with their
// element type. They follow numpy 2: an array or a numpy scalar keeps its element type, a plain number adapts
// to it, integers wrap. Unlike numpy's, what is sliced out of an array is a copy: so an array may be changed
// (eval_assign_array.cpp) only where nobody could tell. Division by zero is an error.
//
// A numpy scalar is an array without dimensions; `plain` makes it the number that it stands for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "dsl/evaluator.h"
#include "dsl/value.h"

namespace galatea::dsl {

struct ArrayObject : Object {
  ArrayHome home = ArrayHome::kFile;
  bool has_views = false;  ///< something was made of it that is a view in numpy, or it is one itself
  DType dtype = DType::kF64;
  std::vector<int64_t> shape;
  std::vector<Value> elements;  ///< row-major; a bool, an int or a float, as dtype says
};

inline constexpr int64_t kMaxArrayElements = 1'000'000;

/// The type of an operation on two arrays, by numpy's table.
DType numpy_promote(DType a, DType b);
/// The number that a numpy scalar stands for; any other value itself.
Value plain(const Value& value);
Value make_array(Evaluator& evaluator, DType dtype, std::vector<int64_t> shape, std::vector<Value> elements);
/// Numbers, nested lists, ranges and arrays as an array; poison after an error.
Value to_array(Evaluator& evaluator, const Value& value, Span span,
               std::optional<DType> dtype = std::nullopt);
/// The elements in another type; poison after an error.
Value cast_array(Evaluator& evaluator, const Value& array, DType dtype, Span span);
/// The types that numpy gives `value` when it is written as `dtype=`; poison after an error.
std::optional<DType> to_dtype(Evaluator& evaluator, const Value& value, Span span);

/// `op`: an operator of Python's, or one of "minimum", "maximum", "arctan2", "logical_and", "logical_or".
Value array_binary(Evaluator& evaluator, const std::string& op, const Value& a, const Value& b, Span span);
Value array_unary(Evaluator& evaluator, const std::string& op, const Value& a, Span span);
/// The product of vectors or matrices.
Value array_product(Evaluator& evaluator, const Value& a, const Value& b, Span span);
/// The shape that two operands have together; nullopt: they do not fit.
std::optional<std::vector<int64_t>> broadcast_shapes(const std::vector<int64_t>& a,
                                                     const std::vector<int64_t>& b);
Value broadcast_array(Evaluator& evaluator, const Value& array, const std::vector<int64_t>& shape);
/// "(2, 3)".
std::string shape_text(const std::vector<int64_t>& shape);
/// A function of real numbers on each element; integers become floats of sufficient size.
Value array_map(Evaluator& evaluator, const Value& array, double (*function)(double));

/// One selector of `a[…]`.
struct ArraySelector {
  enum class Kind : uint8_t { kIndex, kSlice, kNewAxis, kEllipsis, kArray } kind = Kind::kIndex;
  Value value;                     ///< kIndex: an integer; kArray: integers or bools
  std::optional<int64_t> part[3];  ///< kSlice
};
Value array_index(Evaluator& evaluator, const Value& base, const std::vector<ArraySelector>& selectors,
                  Span span);
/// Rows of an array along its first axis.
std::vector<Value> array_rows(Evaluator& evaluator, const Value& array);
/// An attribute or a method; nullopt: there is none of that name.
std::optional<Value> array_attribute(Evaluator& evaluator, const Value& base, const std::string& name);
std::vector<std::string> array_attribute_names();
/// As numpy's str and repr.
std::string array_display(const Value& array);
std::string array_repr(const Value& array);
Value array_to_lists(Evaluator& evaluator, const Value& array);

/// `np.float32(x)`.
Value call_dtype(Evaluator& evaluator, DType dtype, CallArguments& arguments);

/// The module `numpy`.
void add_numpy(Evaluator& evaluator, std::map<std::string, ModuleObject*>& modules);

}  // namespace galatea::dsl
