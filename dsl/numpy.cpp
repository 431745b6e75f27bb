// The module `numpy`, as far as pipelines compute tables with it, and the methods of arrays. A method is its
// function with the array as the first argument.
#include <cmath>
#include <numbers>

#include "dsl/numpy_functions.h"

namespace galatea::dsl {
using namespace numpy;
namespace {

Value np_seed(Evaluator& ev, CallArguments& a) {
  ev.note(
      Message::kNoEffect, a.span,
      {"`np.random.seed`", "random numbers follow from the seed of the pipeline: `@pipeline_def(seed=…)`"});
  return Value::none();
}

Value np_isinstance_only(Evaluator& ev, CallArguments& a) {
  return ev.fail(Message::kNotCallable, a.span, {"a type of `numpy`"});
}

struct Function {
  const char* name;
  BuiltinFunction function;
};
constexpr Function kFunctions[] = {{"array", np_array},
                                   {"load", np_load},
                                   {"asarray", np_array},
                                   {"zeros", np_filled},
                                   {"ones", np_filled},
                                   {"empty", np_filled},
                                   {"full", np_filled},
                                   {"zeros_like", np_filled_like},
                                   {"ones_like", np_filled_like},
                                   {"full_like", np_filled_like},
                                   {"arange", np_arange},
                                   {"linspace", np_linspace},
                                   {"eye", np_eye},
                                   {"identity", np_eye},
                                   {"reshape", np_reshape},
                                   {"ravel", np_ravel},
                                   {"transpose", np_transpose},
                                   {"stack", np_join},
                                   {"concatenate", np_join},
                                   {"concat", np_join},
                                   {"round", np_round},
                                   {"around", np_round},
                                   {"clip", np_clip},
                                   {"where", np_where},
                                   {"min", np_reduce},
                                   {"max", np_reduce},
                                   {"amin", np_reduce},
                                   {"amax", np_reduce},
                                   {"sum", np_reduce},
                                   {"prod", np_reduce},
                                   {"mean", np_reduce},
                                   {"std", np_reduce},
                                   {"var", np_reduce},
                                   {"any", np_reduce},
                                   {"all", np_reduce},
                                   {"argmin", np_reduce},
                                   {"argmax", np_reduce},
                                   {"cumsum", np_cumsum},
                                   {"dot", np_dot},
                                   {"matmul", np_dot},
                                   {"abs", np_unary},
                                   {"absolute", np_unary},
                                   {"fabs", np_unary},
                                   {"negative", np_unary},
                                   {"sign", np_unary},
                                   {"square", np_unary},
                                   {"logical_not", np_unary},
                                   {"maximum", np_binary},
                                   {"minimum", np_binary},
                                   {"arctan2", np_binary},
                                   {"logical_and", np_binary},
                                   {"logical_or", np_binary},
                                   {"add", np_binary},
                                   {"subtract", np_binary},
                                   {"multiply", np_binary},
                                   {"divide", np_binary},
                                   {"true_divide", np_binary},
                                   {"floor_divide", np_binary},
                                   {"mod", np_binary},
                                   {"remainder", np_binary},
                                   {"power", np_binary},
                                   {"equal", np_binary},
                                   {"not_equal", np_binary},
                                   {"less", np_binary},
                                   {"greater", np_binary},
                                   {"less_equal", np_binary},
                                   {"greater_equal", np_binary},
                                   {"bitwise_and", np_binary},
                                   {"bitwise_or", np_binary}};
constexpr Function kArrayMethods[] = {
    {"astype", np_astype}, {"reshape", np_reshape}, {"tolist", np_tolist},       {"item", np_item},
    {"ravel", np_ravel},   {"flatten", np_ravel},   {"transpose", np_transpose}, {"round", np_round},
    {"clip", np_clip},     {"min", np_reduce},      {"max", np_reduce},          {"sum", np_reduce},
    {"prod", np_reduce},   {"mean", np_reduce},     {"std", np_reduce},          {"var", np_reduce},
    {"any", np_reduce},    {"all", np_reduce},      {"argmin", np_reduce},       {"argmax", np_reduce},
    {"cumsum", np_cumsum}, {"dot", np_dot},         {"copy", np_array}};

// A method: its function, with the array in front.
Value call_method(Evaluator& ev, CallArguments& a) {
  a.positional.insert(a.positional.begin(), a.self);
  a.spans.insert(a.spans.begin(), a.span);
  for (CallArguments::Keyword& keyword : a.keywords) {
    if (a.name == "clip" && keyword.name == "min") keyword.name = "a_min";
    if (a.name == "clip" && keyword.name == "max") keyword.name = "a_max";
  }
  for (const Function& method : kArrayMethods) {
    if (a.name == method.name) return method.function(ev, a);
  }
  return Value::poison();
}

}  // namespace

std::optional<Value> array_attribute(Evaluator& ev, const Value& base, const std::string& name) {
  const auto& array = base.as<ArrayObject>();
  if (name == "dtype") return Value::of(array.dtype);
  if (name == "ndim") return Value::of(static_cast<int64_t>(array.shape.size()));
  if (name == "size") return Value::of(static_cast<int64_t>(array.elements.size()));
  if (name == "shape") {
    std::vector<Value> extents;
    for (int64_t extent : array.shape) extents.push_back(Value::of(extent));
    return ev.make_tuple(std::move(extents));
  }
  if (name == "T") {
    std::vector<size_t> order;
    for (size_t i = array.shape.size(); i-- > 0;) order.push_back(i);
    const Value view = transposed(ev, base, order);
    ev.note_view(base, view);
    return view;
  }
  for (const Function& method : kArrayMethods) {
    if (name == method.name) return ev.make_builtin(name, call_method, base);
  }
  return std::nullopt;
}

std::vector<std::string> array_attribute_names() {
  std::vector<std::string> names = {"dtype", "ndim", "size", "shape", "T"};
  for (const Function& method : kArrayMethods) names.emplace_back(method.name);
  return names;
}

Value call_dtype(Evaluator& ev, DType dtype, CallArguments& a) {
  if (a.positional.size() > 1 || !a.keywords.empty())
    return ev.fail(Message::kArgumentCount, a.span,
                   {"np." + std::string(numpy_name(dtype)), "0 to 1", std::to_string(a.positional.size())});
  if (a.positional.empty()) return to_array(ev, Value::of(int64_t{0}), a.span, dtype);
  return to_array(ev, a.positional[0], a.spans[0], dtype);
}

void add_numpy(Evaluator& ev, std::map<std::string, ModuleObject*>& modules) {
  auto add = [&](const std::string& name) {
    auto* module = ev.arena.make<ModuleObject>();
    module->name = name;
    modules[name] = module;
    return module;
  };
  ModuleObject* numpy = add("numpy");
  for (const Function& f : kFunctions) numpy->names[f.name] = {ev.make_builtin(f.name, f.function), {}};
  for (const char* name : real_functions()) numpy->names[name] = {ev.make_builtin(name, np_real), {}};
  for (int i = 0; i < kNumDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    numpy->names[std::string(numpy_name(dtype))] = {Value::of(dtype), {}};
  }
  for (auto [name, dtype] : {std::pair{"bool_", DType::kBool},
                             {"int_", DType::kI64},
                             {"float_", DType::kF64},
                             {"single", DType::kF32},
                             {"double", DType::kF64},
                             {"half", DType::kF16},
                             {"intc", DType::kI32}})
    numpy->names[name] = {Value::of(dtype), {}};
  for (auto [name, value] :
       {std::pair{"pi", std::numbers::pi}, {"e", std::numbers::e}, {"inf", HUGE_VAL}, {"nan", std::nan("")}})
    numpy->names[name] = {Value::of(value), {}};
  numpy->names["newaxis"] = {Value::none(), {}};
  numpy->names["ndarray"] = {ev.make_builtin("ndarray", np_isinstance_only, Value::none(), true), {}};
  ModuleObject* random = add("numpy.random");
  random->names["seed"] = {ev.make_builtin("seed", np_seed), {}};
  numpy->names["random"] = {Value(ValueKind::kModule, random), {}};
}

}  // namespace galatea::dsl
