// Types of what the host feeds: stated in the text, by the host, or left open until data comes. In: the call
// of a source that the host types. Out: its declared type, or the news that there is none yet.
#include <algorithm>

#include "compiler/op/schema.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// The argument's value; nullptr where it was not given.
template <typename T>
const T* given(const ir::GraphBuilder::NodeSpec& spec, std::string_view name) {
  for (const ir::Arg& arg : spec.args)
    if (arg.name == name && !arg.is_value()) return std::get_if<T>(&arg.as_attr());
  return nullptr;
}

}  // namespace

/// Fills in what the host says. False: nobody has said it; then what depends on the input stays unchecked.
bool Evaluator::complete_input_type(ir::GraphBuilder::NodeSpec& spec) {
  const std::string name = spec.name.empty() ? "input" : spec.name;
  const auto* dtype = given<DType>(spec, "dtype");
  const auto* ndim = given<int64_t>(spec, "ndim");
  const auto* layout = given<std::string>(spec, "layout");
  if (layout && layout->empty()) layout = nullptr;
  inputs_.push_back({name, spec.span, std::nullopt});
  std::optional<InputType>& known = inputs_.back().type;
  if (dtype && (ndim || layout)) {
    const Layout axes = layout ? Layout(*layout) : Layout();
    known = InputType{*dtype, ndim ? static_cast<int>(*ndim) : axes.size(), axes};
    return true;
  }
  auto found = options_.input_types.find(name);
  if (found == options_.input_types.end()) {
    note(Message::kLateInput, spec.span, {name});
    return false;
  }
  known = found->second;
  if (!dtype) spec.args.push_back({"dtype", ir::Attr(known->dtype), spec.span});
  if (!ndim) spec.args.push_back({"ndim", ir::Attr(int64_t{known->ndim}), spec.span});
  if (!layout && !ndim && !known->layout.empty()) {
    std::erase_if(spec.args, [](const ir::Arg& arg) { return arg.name == "layout"; });
    spec.args.push_back({"layout", ir::Attr(known->layout.str()), spec.span});
  }
  return true;
}

void Evaluator::fail_refused_argument(const op::Operator& op, const op::ArgSpec& schema, Span span) {
  report(op::refused_argument(op, schema, span));
}

}  // namespace galatea::dsl
