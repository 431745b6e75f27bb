// The library modules: fn, types, math, pipeline_def, galatea, under every path that DALI code uses. Out:
// modules by dotted name.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_names.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"

namespace galatea::dsl {
namespace {

// ---- math: static numbers now, data nodes as operators ----

struct MathFunction {
  const char* name;
  int operands;
  double (*one)(double);
};
constexpr MathFunction kMath[] = {{"sqrt", 1, [](double x) { return std::sqrt(x); }},
                                  {"rsqrt", 1, [](double x) { return 1 / std::sqrt(x); }},
                                  {"cbrt", 1, [](double x) { return std::cbrt(x); }},
                                  {"exp", 1, [](double x) { return std::exp(x); }},
                                  {"log", 1, [](double x) { return std::log(x); }},
                                  {"log2", 1, [](double x) { return std::log2(x); }},
                                  {"log10", 1, [](double x) { return std::log10(x); }},
                                  {"abs", 1, [](double x) { return std::fabs(x); }},
                                  {"fabs", 1, [](double x) { return std::fabs(x); }},
                                  {"floor", 1, [](double x) { return std::floor(x); }},
                                  {"ceil", 1, [](double x) { return std::ceil(x); }},
                                  {"sin", 1, [](double x) { return std::sin(x); }},
                                  {"cos", 1, [](double x) { return std::cos(x); }},
                                  {"tan", 1, [](double x) { return std::tan(x); }},
                                  {"asin", 1, [](double x) { return std::asin(x); }},
                                  {"acos", 1, [](double x) { return std::acos(x); }},
                                  {"atan", 1, [](double x) { return std::atan(x); }},
                                  {"sinh", 1, [](double x) { return std::sinh(x); }},
                                  {"cosh", 1, [](double x) { return std::cosh(x); }},
                                  {"tanh", 1, [](double x) { return std::tanh(x); }},
                                  {"asinh", 1, [](double x) { return std::asinh(x); }},
                                  {"acosh", 1, [](double x) { return std::acosh(x); }},
                                  {"atanh", 1, [](double x) { return std::atanh(x); }},
                                  {"pow", 2, nullptr},
                                  {"fpow", 2, nullptr},
                                  {"min", 2, nullptr},
                                  {"max", 2, nullptr},
                                  {"atan2", 2, nullptr},
                                  {"clamp", 3, nullptr}};

Value static_math(Evaluator& ev, const CallArguments& a, const MathFunction& f) {
  const std::string& name = a.name;
  if (f.one) {
    const Value& x = a.positional[0];
    if (name == "abs" && x.is_integral())
      return x.as_int() < 0 ? ev.unary("-", x, a.span) : Value::of(x.as_int());
    double value = f.one(x.as_double());
    if (std::isnan(value) && !std::isnan(x.as_double()))
      return ev.fail(Message::kMathDomain, a.span, {name, repr(x)});
    bool pole = std::isinf(value) && std::isfinite(x.as_double());
    if (pole) return ev.fail(Message::kMathDomain, a.span, {name, repr(x)});
    if (name != "floor" && name != "ceil") return Value::of(value);
    if (std::fabs(value) >= 9.2e18) return ev.fail(Message::kIntegerOverflow, a.span, {repr(x)});
    return Value::of(static_cast<int64_t>(value));
  }
  const Value &x = a.positional[0], &y = a.positional[1];
  auto less = [](const Value& p, const Value& q) { return p.as_double() < q.as_double(); };
  if (name == "min") return less(y, x) ? y : x;
  if (name == "max") return less(x, y) ? y : x;
  if (name == "atan2") return Value::of(std::atan2(x.as_double(), y.as_double()));
  if (name == "clamp") return less(x, y) ? y : less(a.positional[2], x) ? a.positional[2] : x;
  double value = std::pow(x.as_double(), y.as_double());
  bool undefined = std::isnan(value) && !std::isnan(x.as_double()) && !std::isnan(y.as_double());
  bool too_large = std::isinf(value) && std::isfinite(x.as_double()) && std::isfinite(y.as_double());
  if (undefined || too_large)
    return ev.fail(Message::kMathDomain, a.span, {name, repr(x) + " and " + repr(y)});
  return Value::of(value);
}

Value call_math(Evaluator& ev, CallArguments& a) {
  const MathFunction* f = nullptr;
  for (const MathFunction& candidate : kMath) {
    if (a.name == candidate.name) f = &candidate;
  }
  bool log_with_base = a.name == "log" && a.positional.size() == 2;
  if (!a.keywords.empty())
    return ev.fail(Message::kUnknownParameter, a.keywords[0].name_span,
                   {"math." + a.name, a.keywords[0].name, ""});
  if (static_cast<int>(a.positional.size()) != f->operands && !log_with_base) {
    Diagnostic diagnostic =
        diagnose(Message::kArgumentCount, a.span,
                 {"math." + a.name, std::to_string(f->operands), std::to_string(a.positional.size())});
    constexpr std::string_view kOperands[] = {"x", "x, y", "x, low, high"};
    diagnostic.help = fmt::format("write `math.{}({})`", a.name, kOperands[f->operands - 1]);
    return ev.report(std::move(diagnostic));
  }
  bool any_node = false;
  for (Value& value : a.positional) value = plain(value);
  for (size_t i = 0; i < a.positional.size(); ++i) {
    const Value& x = a.positional[i];
    if (x.is_poison()) return Value::poison();
    any_node = any_node || is_data(x);
    bool list_operand = x.is_sequence();
    if (!is_data(x) && !x.is_number() && !list_operand)
      return ev.fail(Message::kWrongArgument, a.spans[i],
                     {"math." + a.name, "a number or a data node", describe_kind(x)});
  }
  if (any_node) {
    if (log_with_base)
      return ev.binary("/", ev.node_operator("math.log", {a.positional[0]}, a.span),
                       Value::of(a.positional[1].is_number() ? std::log(a.positional[1].as_double()) : 1.0),
                       a.span, a.span, a.span);
    return ev.node_operator("math." + a.name, a.positional, a.span);
  }
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (!a.positional[i].is_number())
      return ev.fail(Message::kWrongArgument, a.spans[i],
                     {"math." + a.name, "a number or a data node", describe_kind(a.positional[i])});
  }
  if (log_with_base) {
    double base = a.positional[1].as_double(), x = a.positional[0].as_double();
    if (base <= 0 || base == 1 || x <= 0)
      return ev.fail(Message::kMathDomain, a.span, {"log", repr(a.positional[x <= 0 ? 0 : 1])});
    return Value::of(std::log(x) / std::log(base));
  }
  return static_math(ev, a, *f);
}

Value call_angle(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() != 1 || !a.keywords.empty())
    return ev.fail(Message::kArgumentCount, a.span,
                   {"math." + a.name, "1", std::to_string(a.positional.size())});
  double factor = a.name == "radians" ? std::numbers::pi / 180 : 180 / std::numbers::pi;
  return ev.binary("*", a.positional[0], Value::of(factor), a.span, a.span, a.span);
}

// ---- types ----

// types.Constant(value, dtype=None, shape=None, layout=None, device=None)
Value call_constant(Evaluator& ev, CallArguments& a) {
  constexpr std::string_view kNames[] = {"value", "dtype", "shape", "layout", "device"};
  Value parts[5];
  Span spans[5];
  if (a.positional.size() > 5)
    return ev.fail(Message::kArgumentCount, a.span,
                   {"Constant", "1 to 5", std::to_string(a.positional.size())});
  for (size_t i = 0; i < a.positional.size(); ++i) parts[i] = a.positional[i], spans[i] = a.spans[i];
  for (const CallArguments::Keyword& keyword : a.keywords) {
    size_t i = 0;
    while (i < 5 && kNames[i] != keyword.name) ++i;
    if (i == 5) return ev.fail(Message::kUnknownParameter, keyword.name_span, {"Constant", keyword.name, ""});
    parts[i] = keyword.value;
    spans[i] = keyword.span;
  }
  for (const Value& part : parts) {
    if (contains_poison(part)) return Value::poison();
  }
  auto given = [&](size_t i) {
    return !parts[i].is(ValueKind::kUndefined) && !parts[i].is(ValueKind::kNone);
  };
  if (!given(0)) return ev.fail(Message::kArgumentCount, a.span, {"Constant", "1 to 5", "0"});
  if (given(1) && !parts[1].is(ValueKind::kDType))
    return ev.fail(Message::kArgumentKind, spans[1],
                   {"dtype", "a type such as `types.FLOAT`", describe_kind(parts[1])});
  if (given(3) && !parts[3].is(ValueKind::kString))
    return ev.fail(Message::kArgumentKind, spans[3], {"layout", "a string", describe_kind(parts[3])});
  std::vector<int64_t> shape;
  if (given(2)) {
    std::vector<Value> extents = parts[2].is_sequence() ? parts[2].elements() : std::vector<Value>{parts[2]};
    for (const Value& extent : extents) {
      if (!extent.is_integral() || extent.as_int() < 0)
        return ev.fail(Message::kArgumentKind, spans[2],
                       {"shape", "integers that are not negative", describe_kind(extent)});
      shape.push_back(extent.as_int());
    }
  }
  if (given(4)) {
    if (!parts[4].is(ValueKind::kString) || (parts[4].text() != "cpu" && parts[4].text() != "gpu"))
      return ev.fail_device(parts[4], spans[4], "");
    if (parts[4].text() == "gpu") ev.note_device(spans[4], "`device=\"gpu\"`");
  }
  if (parts[0].is_node())
    return ev.fail(Message::kArgumentKind, spans[0],
                   {"Constant", "a number or a list of numbers", ev.type_text(parts[0])});
  // Outside every graph it is an array, which becomes a node where an operator or an output takes it.
  if (!ev.in_pipeline() && !given(2) && !given(3))
    return to_array(ev, parts[0], a.span, given(1) ? std::optional(parts[1].dtype) : std::nullopt);
  return ev.constant_node(parts[0], a.span, given(1) ? std::optional<DType>(parts[1].dtype) : std::nullopt,
                          given(3) ? parts[3].text() : "", shape, given(4) ? parts[4].text() : "");
}

void add_types(Evaluator& ev, std::map<std::string, ModuleObject*>& modules, ModuleObject& types) {
  auto add_enum = [&](ModuleObject& where, const char* name, int64_t value) {
    auto* object = ev.arena.make<EnumObject>();
    object->name = name;
    object->value = value;
    Value v(ValueKind::kEnum, object);
    types.names[name] = {v, {}};
    where.names[name] = {v, {}};
  };
  auto submodule = [&](const char* name) {
    auto* module = ev.arena.make<ModuleObject>();
    module->name = std::string("types.") + name;
    types.names[name] = {Value(ValueKind::kModule, module), {}};
    modules["nvidia.dali.types." + std::string(name)] = module;
    return module;
  };
  ModuleObject* dtypes = submodule("DALIDataType");
  for (int i = 0; i < kNumDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    std::string name(types_name(dtype));
    types.names[name] = dtypes->names[name] = {Value::of(dtype), {}};
  }
  types.names["NO_TYPE"] = dtypes->names["NO_TYPE"] = {Value::none(), {}};
  ModuleObject* filters = submodule("DALIInterpType");
  constexpr const char* kFilters[] = {"INTERP_NN",       "INTERP_LINEAR",     "INTERP_CUBIC",
                                      "INTERP_LANCZOS3", "INTERP_TRIANGULAR", "INTERP_GAUSSIAN",
                                      "INTERP_BOX",      "INTERP_HAMMING"};
  for (int64_t i = 0; i < op::kNumFilters; ++i) add_enum(*filters, kFilters[i], i);
  ModuleObject* images = submodule("DALIImageType");
  constexpr const char* kImageTypes[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"};
  for (int64_t i = 0; i < 5; ++i) add_enum(*images, kImageTypes[i], i);
  for (auto [name, layout] :
       {std::pair{"NCHW", "CHW"}, {"NHWC", "HWC"}, {"NFHWC", "FHWC"}, {"NFCHW", "FCHW"}})
    types.names[name] = {ev.make_string(layout), {}};
  types.names["Constant"] = {ev.make_builtin("Constant", call_constant), {}};
  constexpr int64_t kNoDevice = -99999;  // DALI's number for it
  types.names["CPU_ONLY_DEVICE_ID"] = {Value::of(kNoDevice), {}};
}

// ---- pipeline_def, Pipeline, struct ----

Value call_pipeline_def(Evaluator& ev, CallArguments& a) {
  for (const Value& value : a.positional) {
    if (value.is_poison()) return Value::poison();
  }
  if (!a.positional.empty())
    return ev.fail(Message::kBadArgument, a.spans[0],
                   {"pipeline_def", "keyword arguments, as in `@pipeline_def(batch_size=64)`"});
  auto* decorator = ev.arena.make<DecoratorObject>();
  for (const CallArguments::Keyword& keyword : a.keywords) {
    decorator->options.emplace_back(keyword.name, keyword.value);
    decorator->option_spans.push_back(keyword.span);
    decorator->option_name_spans.push_back(keyword.name_span);
  }
  return Value(ValueKind::kDecorator, decorator);
}

Value call_do_not_convert(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() != 1)
    return ev.fail(Message::kArgumentCount, a.span,
                   {"do_not_convert", "1", std::to_string(a.positional.size())});
  return a.positional[0];
}

Value call_current(Evaluator& ev, CallArguments& a) {
  if (!a.positional.empty() || !a.keywords.empty())
    return ev.fail(Message::kBadArgument, a.span, {"current", "no arguments"});
  if (!ev.graph()) return ev.fail(Message::kOutsidePipeline, a.span, {"Pipeline.current()"});
  const ir::PipelineOptions& options = ev.graph()->options;
  auto integer = [](int64_t i) { return Value::of(i); };
  return ev.make_struct({{"batch_size", integer(options.batch_size)},
                         {"max_batch_size", integer(options.batch_size)},
                         {"num_threads", integer(options.num_threads)},
                         {"device_id", integer(0)},
                         {"seed", integer(options.seed)},
                         {"prefetch_queue_depth", integer(options.prefetch_queue_depth)},
                         {"exec_pipelined", Value::of(true)},
                         {"exec_async", Value::of(true)}});
}

Value call_struct(Evaluator& ev, CallArguments& a) {
  if (!a.positional.empty())
    return ev.fail(Message::kBadArgument, a.spans[0],
                   {"struct", "keyword arguments, as in `struct(size=224)`"});
  std::vector<std::pair<std::string, Value>> fields;
  for (const CallArguments::Keyword& keyword : a.keywords) fields.emplace_back(keyword.name, keyword.value);
  return ev.make_struct(std::move(fields));
}

Value call_together(Evaluator& ev, CallArguments& a) { return Bundles(ev).make(a); }

Value call_pixel_decorator(Evaluator& ev, CallArguments& a) { return ev.decorate_pixel(a); }
Value call_cuda_kernel(Evaluator& ev, CallArguments& a) { return ev.make_cuda_kernel(a); }

// galatea.sum(range(-1, 2), lambda k: image[y + k, x, c]): from left to right.
Value call_sum(Evaluator& ev, CallArguments& a) {
  if (!a.keywords.empty())
    return ev.fail(Message::kUnknownParameter, a.keywords[0].name_span,
                   {"galatea.sum", a.keywords[0].name, ""});
  if (a.positional.size() != 2)
    return ev.fail(Message::kArgumentCount, a.span,
                   {"galatea.sum", "2 arguments, a range and a function of its elements",
                    std::to_string(a.positional.size())});
  auto elements = ev.iterate(a.positional[0], a.spans[0], "summed over");
  if (!elements) return Value::poison();
  Value total = Value::of(int64_t{0});
  for (size_t i = 0; i < elements->size(); ++i) {
    const Value term = ev.call_back(a.positional[1], {(*elements)[i]}, a, static_cast<uint32_t>(i));
    total = i == 0 ? term : ev.binary("+", total, term, a.span, a.span, a.span);
    if (total.is_poison()) return total;
  }
  return total;
}

// Whether a function cannot be called without what it works on.
bool needs_arguments(const Value& function) {
  if (function.is(ValueKind::kOperator)) return function.as<OperatorObject>().op->min_inputs > 0;
  if (!function.is(ValueKind::kFunction)) return false;
  const auto& own = function.as<FunctionObject>();
  for (size_t i = 0; i < own.parameters->size(); ++i)
    if ((*own.parameters)[i].kind <= ParameterKind::kNormal && own.defaults[i].is(ValueKind::kUndefined))
      return true;
  return false;
}

// galatea.select(functions, index, …): one of the functions, per sample.
Value call_select(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() < 2)
    return ev.fail(
        Message::kArgumentCount, a.span,
        {"select", "at least 2 arguments, functions and an index", std::to_string(a.positional.size())});
  auto functions = ev.iterate(a.positional[0], a.spans[0], "chosen from");
  const Value index = a.positional[1];
  if (!functions || index.is_poison()) return Value::poison();
  const Span index_span = a.spans[1];
  const bool has_more = a.positional.size() > 2 || !a.keywords.empty();
  if (!has_more && !functions->empty() && std::ranges::all_of(*functions, needs_arguments)) {
    Diagnostic diagnostic =
        diagnose(Message::kArgumentCount, a.span,
                 {"select", "functions, an index and what the functions are called with", "2"});
    diagnostic.help = "write `select(functions, index, image)`";
    return ev.report(std::move(diagnostic));
  }
  a.positional.erase(a.positional.begin(), a.positional.begin() + 2);
  a.spans.erase(a.spans.begin(), a.spans.begin() + 2);
  return ev.select(*functions, index, index_span, a);
}

Value call_with_draws(Evaluator& ev, CallArguments& a) { return ev.replay().with_draws(a); }
Value call_only_sample(Evaluator& ev, CallArguments& a) { return ev.replay().only_sample(a); }

}  // namespace

void Evaluator::make_library_modules() {
  Evaluator& ev = *this;
  std::map<std::string, ModuleObject*>& modules = library_;
  auto add = [&](const std::string& name) {
    auto* module = ev.arena.make<ModuleObject>();
    module->name = name;
    modules[name] = module;
    return module;
  };
  auto as_value = [](ModuleObject* module) { return Binding{Value(ValueKind::kModule, module), {}}; };

  ModuleObject* fn = add("nvidia.dali.fn");
  fn->name = "fn";
  fn->lookup = ModuleObject::Lookup::kOperators;
  ModuleObject* ops = add("nvidia.dali.ops");
  ops->name = "ops";
  ops->lookup = ModuleObject::Lookup::kOperatorObjects;
  ModuleObject* types = add("nvidia.dali.types");
  types->name = "types";
  add_types(ev, modules, *types);

  ModuleObject* math = add("nvidia.dali.math");
  math->name = "math";
  for (const MathFunction& f : kMath) math->names[f.name] = {ev.make_builtin(f.name, call_math), {}};
  for (const char* name : {"radians", "degrees"}) math->names[name] = {ev.make_builtin(name, call_angle), {}};
  for (auto [name, value] : {std::pair{"pi", std::numbers::pi},
                             {"e", std::numbers::e},
                             {"tau", 2 * std::numbers::pi},
                             {"inf", HUGE_VAL},
                             {"nan", std::nan("")}})
    math->names[name] = {Value::of(value), {}};
  modules["math"] = math;

  Binding pipeline_def{ev.make_builtin("pipeline_def", call_pipeline_def), {}};
  ModuleObject* current = ev.arena.make<ModuleObject>();
  current->name = "Pipeline";
  current->names["current"] = {ev.make_builtin("current", call_current), {}};
  ModuleObject* experimental = add("nvidia.dali.pipeline.experimental");
  experimental->names["pipeline_def"] = pipeline_def;
  ModuleObject* pipeline = add("nvidia.dali.pipeline");
  pipeline->names["pipeline_def"] = pipeline_def;
  pipeline->names["Pipeline"] = as_value(current);
  pipeline->names["experimental"] = as_value(experimental);
  pipeline->names["do_not_convert"] = {ev.make_builtin("do_not_convert", call_do_not_convert), {}};
  modules["nvidia.dali.pipeline.Pipeline"] = current;

  ModuleObject* dali = add("nvidia.dali");
  dali->names = {
      {"fn", as_value(fn)},           {"ops", as_value(ops)},           {"types", as_value(types)},
      {"math", as_value(math)},       {"pipeline", as_value(pipeline)}, {"pipeline_def", pipeline_def},
      {"Pipeline", as_value(current)}};
  // Of the interface that is modelled.
  dali->names["__version__"] = {ev.make_string("2.4.0"), {}};
  auto* axis = ev.arena.make<NewAxisObject>();
  dali->names["newaxis"] = {Value(ValueKind::kNewAxis, axis), {}};
  ModuleObject* nvidia = add("nvidia");
  nvidia->names["dali"] = as_value(dali);

  ModuleObject* galatea = add("galatea");
  galatea->names = dali->names;
  galatea->names.erase("__version__");
  galatea->names["struct"] = {ev.make_builtin("struct", call_struct), {}};
  galatea->names["pixel"] = {ev.make_builtin("galatea.pixel", call_pixel_decorator), {}};
  galatea->names["cuda_kernel"] = {ev.make_builtin("galatea.cuda_kernel", call_cuda_kernel), {}};
  galatea->names["sum"] = {ev.make_builtin("galatea.sum", call_sum), {}};
  galatea->names["together"] = {ev.make_builtin("galatea.together", call_together), {}};
  galatea->names["select"] = {ev.make_builtin("select", call_select), {}};
  ModuleObject* replay = add("galatea.replay");
  replay->names["with_draws"] = {ev.make_builtin("with_draws", call_with_draws), {}};
  replay->names["only_sample"] = {ev.make_builtin("only_sample", call_only_sample), {}};
  galatea->names["replay"] = as_value(replay);
  for (const char* name : {"fn", "ops", "types", "math", "pipeline"})
    modules[std::string("galatea.") + name] = modules[std::string("nvidia.dali.") + name];
  add("nvidia.dali.auto_aug");  // their files are read when they are imported (library_files.cpp)
  add("galatea.auto_aug");

  add_numpy(ev, modules);

  add_name_modules(ev, modules);
}

void add_struct(Evaluator& evaluator, Env& names) {
  names["struct"] = {evaluator.make_builtin("struct", call_struct), {}};
}

}  // namespace galatea::dsl
