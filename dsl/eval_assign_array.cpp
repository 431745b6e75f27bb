// `a[0, 1:] = values` for static arrays. In: an array, selectors, numbers. Out: the array, changed for all its
// names.
//
// What numpy makes as a view is a copy here, so that a change would be seen by one and not by the other: an array
// of which there are views is not changed, nor one in a branch on data, where it would change for all samples.
#include <algorithm>
#include <array>

#include "dsl/array.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// Functions and methods of numpy that give a view where they can.
bool gives_view(std::string_view name) {
  constexpr std::array<std::string_view, 9> kOfViews = {
      "reshape", "transpose", "ravel", "squeeze", "swapaxes", "moveaxis", "flip", "asarray", "expand_dims"};
  return std::ranges::find(kOfViews, name) != kOfViews.end();
}

bool has_axes(const Value& value) {
  return value.is(ValueKind::kArray) && !value.as<ArrayObject>().shape.empty();
}

}  // namespace

ArrayHome Evaluator::home_of_array() const {
  if (!graph_) return ArrayHome::kFile;
  return regions_.conditional(region_) ? ArrayHome::kSomeSamples : ArrayHome::kPipeline;
}

void Evaluator::note_view(const Value& base, const Value& view) {
  if (!has_axes(base) || !has_axes(view)) return;
  base.as<ArrayObject>().has_views = view.as<ArrayObject>().has_views = true;
}

void Evaluator::note_views_of_call(const CallArguments& arguments, const Value& result) {
  if (!gives_view(arguments.name)) return;
  note_view(arguments.self, result);
  for (const Value& value : arguments.positional) note_view(value, result);
}

void Evaluator::assign_array(const Expression& target, const Value& base, const Value& value) {
  const size_t errors = sink_.num_errors();
  change_array(target, base, value);
  // What it holds now nobody knows.
  const Expression& name = *target.operands[0];
  if (sink_.num_errors() > errors && name.kind == ExpressionKind::kName) poison({name.text});
}

void Evaluator::change_array(const Expression& target, const Value& base, const Value& value) {
  auto& array = base.as<ArrayObject>();
  const Expression& selector = *target.operands[1];
  if (value.is_poison()) return;
  if (array.has_views || array.home != home_of_array() || array.home == ArrayHome::kSomeSamples) {
    fail(Message::kArrayConstant, target.span,
         {"an assignment", array.has_views
                               ? "parts of it have other names: fill a list, and make the array of "
                                 "it, `np.array(xs)`"
                               : "change it where it is made, or make a new one: `np.where(…)`"});
    return;
  }
  // Its places, taken as its elements would be.
  std::vector<Value> numbers;
  for (size_t i = 0; i < array.elements.size(); ++i) numbers.push_back(Value::of(static_cast<int64_t>(i)));
  const Value all = make_array(*this, DType::kI64, array.shape, std::move(numbers));
  const Value chosen = eval_array_subscript(all, selector, target.span);
  if (chosen.is_poison()) return;
  const Value places = to_array(*this, chosen, target.span);
  Value given = to_array(*this, value, selector.span, array.dtype);
  if (places.is_poison() || given.is_poison()) return;
  const std::vector<int64_t>& shape = places.as<ArrayObject>().shape;
  const auto together = broadcast_shapes(given.as<ArrayObject>().shape, shape);
  if (!together || *together != shape) {
    fail(Message::kSliceAssignment, target.span,
         {shape_text(given.as<ArrayObject>().shape), shape_text(shape)});
    return;
  }
  given = broadcast_array(*this, given, shape);
  const auto& from = given.as<ArrayObject>().elements;
  const auto& to = places.as<ArrayObject>().elements;
  spend(to.size());
  for (size_t i = 0; i < to.size(); ++i) array.elements[static_cast<size_t>(to[i].as_int())] = from[i];
}

}  // namespace galatea::dsl
