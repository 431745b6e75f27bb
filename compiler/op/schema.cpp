#include "compiler/op/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/words.h"
#include "compiler/ir/attr.h"
#include "compiler/messages/messages.h"
#include "compiler/op/devices.h"
#include "compiler/op/lifting.h"
#include "compiler/op/name_for_people.h"
#include "compiler/op/places.h"
#include "runtime/kernel_abi.h"

namespace galatea::op {
namespace {

using compiler::Message;
using compiler::user_error;
using ir::Attr;

using NodeSpec = GraphBuilder::NodeSpec;

/// Integers up to here have a double of their own.
constexpr int64_t kExactlyDouble = int64_t{1} << 53;

std::optional<Attr> to_integer(const Attr& value) {
  if (auto* number = std::get_if<int64_t>(&value)) return Attr(*number);
  if (auto* flag = std::get_if<bool>(&value)) return Attr(int64_t{*flag});
  if (auto* number = std::get_if<double>(&value))
    if (*number == std::floor(*number) && std::abs(*number) <= static_cast<double>(kExactlyDouble))
      return Attr(static_cast<int64_t>(*number));
  return std::nullopt;
}

std::optional<Attr> to_number(const Attr& value) {
  if (auto* number = std::get_if<double>(&value)) return Attr(*number);
  if (auto* flag = std::get_if<bool>(&value)) return Attr(*flag ? 1.0 : 0.0);
  if (auto* number = std::get_if<int64_t>(&value))
    if (*number >= -kExactlyDouble && *number <= kExactlyDouble) return Attr(static_cast<double>(*number));
  return std::nullopt;
}

std::optional<Attr> to_integers(const Attr& value) {
  std::vector<int64_t> out;
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) return Attr(*list);
  if (auto* list = std::get_if<std::vector<double>>(&value)) {
    for (double element : *list) {
      auto converted = to_integer(Attr(element));
      if (!converted) return std::nullopt;
      out.push_back(std::get<int64_t>(*converted));
    }
    return Attr(out);
  }
  // An empty list has no type of its own.
  if (auto* list = std::get_if<std::vector<std::string>>(&value); list && list->empty()) return Attr(out);
  auto scalar = to_integer(value);
  if (!scalar) return std::nullopt;
  out.push_back(std::get<int64_t>(*scalar));
  return Attr(out);
}

std::optional<Attr> to_numbers(const Attr& value) {
  std::vector<double> out;
  if (auto* list = std::get_if<std::vector<double>>(&value)) return Attr(*list);
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    for (int64_t element : *list) {
      auto converted = to_number(Attr(element));
      if (!converted) return std::nullopt;
      out.push_back(std::get<double>(*converted));
    }
    return Attr(out);
  }
  if (auto* list = std::get_if<std::vector<std::string>>(&value); list && list->empty()) return Attr(out);
  auto scalar = to_number(value);
  if (!scalar) return std::nullopt;
  out.push_back(std::get<double>(*scalar));
  return Attr(out);
}

std::optional<Attr> to_texts(const Attr& value) {
  if (std::holds_alternative<std::vector<std::string>>(value)) return value;
  if (auto* text = std::get_if<std::string>(&value)) return Attr(std::vector<std::string>{*text});
  if (auto* list = std::get_if<std::vector<int64_t>>(&value); list && list->empty())
    return Attr(std::vector<std::string>{});
  return std::nullopt;
}

std::optional<Attr> to_dtypes(const Attr& value) {
  if (std::holds_alternative<DType>(value)) return Attr(ir::AttrList{{value}});
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value); numbers && numbers->empty())
    return Attr(ir::AttrList{});
  const auto* list = std::get_if<ir::AttrList>(&value);
  const auto is_dtype = [](const Attr& item) { return std::holds_alternative<DType>(item); };
  return list && std::ranges::all_of(list->items, is_dtype) ? std::optional(value) : std::nullopt;
}

std::optional<Attr> to_enumerator(const Attr& value, int64_t count) {
  auto number = to_integer(value);
  if (!number || std::holds_alternative<bool>(value) || std::holds_alternative<double>(value))
    return std::nullopt;
  int64_t ordinal = std::get<int64_t>(*number);
  return ordinal >= 0 && ordinal < count ? number : std::nullopt;
}

/// Whether a data node of this dtype can be the argument without losing anything.
bool accepts_dtype(ArgKind kind, DType dtype) {
  switch (kind) {
    case ArgKind::kBool:
    case ArgKind::kInt:
    case ArgKind::kIntList:
    case ArgKind::kInterp:
      return is_integral(dtype);
    case ArgKind::kFloat:
    case ArgKind::kFloatList:
    case ArgKind::kAny:
      return true;
    default:
      return false;
  }
}

/// The run tells where the type does not (RecipeBuilder::check_one_element).
bool can_have_one_element(const ir::Type& type) {
  return std::ranges::all_of(type.extents, [](int64_t extent) { return extent == 1 || extent < 0; });
}

Status check_per_sample(const ir::Graph& graph, const Operator& op, const ArgSpec& spec, const ir::Arg& arg,
                        Span span, const Lifting& lifting) {
  if (!spec.per_sample) return user_error(Message::kNotPerSample, span, display_name(op), arg.name);
  const ir::Type& type = lifting.type(graph, arg.as_value());
  const bool per_frame = graph.type(arg.as_value()).layout.find(kFrameAxis) == 0;
  const bool has_no_frames = per_frame && lifting.of_value(arg.as_value()) == nullptr;
  if (has_no_frames && !takes_list(spec.kind))
    return user_error(Message::kNoFrames, span, display_name(op), arg.name);
  std::string help;
  if (!accepts_dtype(spec.kind, type.dtype)) {
    help = "convert it with fn.cast, which says how to round";
  } else if (spec.kind == ArgKind::kAny) {
    return {};
  } else if (takes_list(spec.kind) ? type.ndim > 1 : !can_have_one_element(type)) {
    help = takes_list(spec.kind) ? "pass a 1-D tensor" : "pick one element, as in `x[0]`";
  } else {
    return {};
  }
  if (has_no_frames) return user_error(Message::kNoFrames, span, display_name(op), arg.name);
  return user_error(Message::kWrongPerSampleType, span, display_name(op), arg.name, describe(spec.kind),
                    to_text(type), help);
}

Status check_arguments(const ir::Graph& graph, NodeSpec& spec, const Lifting& lifting) {
  const Operator& op = *spec.op;
  std::erase_if(spec.args, [](const ir::Arg& arg) { return !arg.is_value() && ir::is_none(arg.as_attr()); });
  std::vector<std::string_view> seen;  // few: looking through them beats a tree
  seen.reserve(spec.args.size());
  for (ir::Arg& arg : spec.args) {
    if (is_hidden_arg(arg.name)) continue;
    Span span = arg.span.valid() ? arg.span : spec.span;
    const ArgSpec* found = op.find_arg(arg.name);
    if (!found) return user_error(Message::kUnknownArgument, span, display_name(op), arg.name);
    if (std::find(seen.begin(), seen.end(), found->name) != seen.end())
      return user_error(Message::kRepeatedArgument, span, display_name(op), arg.name);
    seen.push_back(found->name);
    if (arg.is_value()) {
      if (!found->refused.empty()) return make_error(ErrorKind::kUser, refused_argument(op, *found, span));
      GALATEA_TRY(check_per_sample(graph, op, *found, arg, span, lifting));
    } else {
      GALATEA_TRY(check_static_argument(op, *found, arg, span));
    }
  }
  for (const ArgSpec& arg : op.args)
    if (arg.required && std::find(seen.begin(), seen.end(), arg.name) == seen.end())
      return user_error(Message::kMissingArgument, spec.span, display_name(op), arg.name, arg.documentation);
  return {};
}

std::string plural(int count) { return fmt::format("{} input{}", count, count == 1 ? "" : "s"); }

Status check_number_of_inputs(const NodeSpec& spec) {
  const Operator& op = *spec.op;
  int given = static_cast<int>(spec.inputs.size());
  if (given >= op.min_inputs && given <= op.max_inputs) return {};
  std::string wanted = op.min_inputs == op.max_inputs
                           ? op.max_inputs == 0 ? "no inputs" : plural(op.max_inputs)
                       : given < op.min_inputs ? "at least " + plural(op.min_inputs)
                                               : "at most " + plural(op.max_inputs);
  auto error = user_error(Message::kWrongNumberOfInputs, spec.span, display_name(op), wanted,
                          fmt::format("{} {}", given, given == 1 ? "is" : "are"));
  std::string names;
  for (const Port& input : op.inputs) names += (names.empty() ? "" : ", ") + input.name;
  if (given < op.min_inputs && op.inputs.size() > 1)
    error.error().diagnostics[0].help = fmt::format("its inputs are {}, in this order", names);
  return error;
}

std::string dtype_names(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (DType dtype : dtypes) names.emplace_back(types_name(dtype));
  return one_of(names);
}

const Port& port_of_input(const Operator& op, size_t k) {
  return op.inputs[std::min(k, op.inputs.size() - 1)];
}

/// What the inputs' known extents say of the names that their ports give them.
Status check_names_of_extents(const ir::Graph& graph, const NodeSpec& spec, const Lifting& lifting) {
  struct Met {
    int64_t extent = -1;
    std::string where;
  };
  std::map<std::string, Met> known;
  for (size_t k = 0; k < spec.inputs.size() && !spec.op->inputs.empty(); ++k) {
    const Port& port = port_of_input(*spec.op, k);
    const ir::Type& type = lifting.type(graph, spec.inputs[k]);
    for (size_t d = 0; d < std::min(port.extents.size(), type.extents.size()); ++d) {
      if (!port.extents[d].is_symbolic() || type.extents[d] < 0) continue;
      const std::string name = port_text("input", k, port.name);
      Met& met = known.try_emplace(port.extents[d].name(), Met{type.extents[d], name}).first->second;
      if (met.extent != type.extents[d])
        return user_error(Message::kWrongInputShape, spec.span, display_name(*spec.op), name, to_text(port),
                          to_text(type),
                          fmt::format("{} is {} in {}", port.extents[d].name(), met.extent, met.where));
    }
  }
  return {};
}

Status check_input(const ir::Graph& graph, const NodeSpec& spec, size_t k, const Lifting& lifting) {
  const Operator& op = *spec.op;
  if (op.inputs.empty()) return {};
  const Port& input = port_of_input(op, k);
  const ir::Type& type = lifting.type(graph, spec.inputs[k]);
  const std::string name = port_text("input", k, input.name);
  if (!input.dtypes.empty() &&
      std::find(input.dtypes.begin(), input.dtypes.end(), type.dtype) == input.dtypes.end())
    return user_error(Message::kWrongInputType, spec.span, display_name(op), name, dtype_names(input.dtypes),
                      std::string(types_name(type.dtype)),
                      input.documentation.starts_with("the bytes of") ? "give it " + input.documentation
                                                                      : "convert it with fn.cast");
  if (input.layouts.empty()) {
    if (accepts(input, type.dtype, type.extents)) return {};
    return user_error(Message::kWrongInputShape, spec.span, display_name(op), name, to_text(input),
                      to_text(type), input.documentation.empty() ? "" : "give it " + input.documentation);
  }
  auto accepted = [&](const std::string& layout) {
    return type.layout.empty() ? static_cast<int>(layout.size()) == type.ndim : type.layout == Layout(layout);
  };
  if (std::any_of(input.layouts.begin(), input.layouts.end(), accepted)) return {};
  std::string help = type.dtype == DType::kU8 && type.ndim == 1
                         ? "the bytes of a file are decoded first: image = fn.decoders.image(…)"
                         : "rearrange the axes with fn.transpose, or name them with fn.reshape(layout=…)";
  std::string given = type.layout.empty() ? fmt::format("a tensor of {} dimension{} without a layout",
                                                        type.ndim, type.ndim == 1 ? "" : "s")
                                          : type.layout.str();
  return user_error(Message::kWrongInputLayout, spec.span, display_name(op), name, one_of(input.layouts),
                    given, help);
}

/// A value as a need writes it: "4", "false", "box"; empty: of another kind.
std::string plain_text(const Attr& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return {};
}

/// Whether a need that names an argument is met by this value: a flag that is on, any list, a word but "none".
bool says_something(const Attr& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty() && *text != "none";
  return std::holds_alternative<std::vector<int64_t>>(value) ||
         std::holds_alternative<std::vector<std::string>>(value);
}

/// How many outputs of a call this need stands for (Operator::output_needs).
int64_t outputs_of_need(std::string_view need, const NodeSpec& spec) {
  const auto static_value = [&](std::string_view name) -> const Attr* {
    const auto arg = std::ranges::find(spec.args, name, &ir::Arg::name);
    return arg == spec.args.end() || arg->is_value() ? nullptr : &arg->as_attr();
  };
  if (need.starts_with('*')) {
    const Attr* value = static_value(need.substr(1));
    const auto* number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    return number == nullptr ? 0 : *number;
  }
  if (const size_t unlike = need.find("!="); unlike != std::string_view::npos) {
    const Attr* value = static_value(need.substr(0, unlike));
    return value == nullptr || plain_text(*value) != need.substr(unlike + 2) ? 1 : 0;
  }
  const auto is_given = [&](std::string_view name) {
    const Attr* value = static_value(name);
    if (value != nullptr && says_something(*value)) return true;
    const auto inputs =
        std::span(spec.op->inputs).first(std::min(spec.inputs.size(), spec.op->inputs.size()));
    return std::ranges::find(inputs, name, &Port::name) != inputs.end();
  };
  for (std::string_view names = need; !names.empty();) {
    const size_t bar = names.find('|');
    if (is_given(names.substr(0, bar))) return 1;
    names.remove_prefix(bar == std::string_view::npos ? names.size() : bar + 1);
  }
  return need.empty() ? 1 : 0;
}

/// A value is taken as it is or frame by frame, not both: what a definition says of it has one meaning.
Status check_lifting(const NodeSpec& spec, const Lifting& lifting) {
  if (!lifting.lifts()) return {};
  const auto differs = [&](const LiftedOperand& a, const LiftedOperand* b) {
    return b == nullptr || a.frame_dims != b->frame_dims || a.dims != b->dims;
  };
  bool mixed = false;
  for (const LiftedOperand& a : lifting.operands()) {
    for (size_t k = 0; k < spec.inputs.size(); ++k)
      mixed |= spec.inputs[k] == a.value && differs(a, lifting.of_input(static_cast<int>(k)));
    for (const ir::Arg& arg : spec.args) {
      if (!arg.is_value() || arg.as_value() != a.value) continue;
      const auto named = [&](const LiftedOperand& b) { return b.argument == arg.name; };
      const auto b = std::ranges::find_if(lifting.operands(), named);
      mixed |= differs(a, b == lifting.operands().end() ? nullptr : &*b);
    }
  }
  if (!mixed) return {};
  return user_error(Message::kOperatorRefuses, spec.span, display_name(*spec.op),
                    "one value is taken frame by frame and as a whole", "give the other one another layout");
}

}  // namespace

std::optional<Attr> convert_attr(const Attr& value, ArgKind kind) {
  if (ir::is_none(value)) return value;
  switch (kind) {
    case ArgKind::kAny:
      return ir::is_nested(value) ? std::nullopt : std::optional<Attr>(value);
    case ArgKind::kDict:
      return std::holds_alternative<ir::AttrDict>(value) ? std::optional<Attr>(value) : std::nullopt;
    case ArgKind::kBool: {
      if (std::holds_alternative<bool>(value)) return value;
      auto number = to_integer(value);
      if (number && (*number == Attr(int64_t{0}) || *number == Attr(int64_t{1})))
        return Attr(*number == Attr(int64_t{1}));
      return std::nullopt;
    }
    case ArgKind::kInt:
      return to_integer(value);
    case ArgKind::kFloat:
      return to_number(value);
    case ArgKind::kString:
    case ArgKind::kLayout:
      return std::holds_alternative<std::string>(value) ? std::optional<Attr>(value) : std::nullopt;
    case ArgKind::kDType:
      return std::holds_alternative<DType>(value) ? std::optional<Attr>(value) : std::nullopt;
    case ArgKind::kInterp:
      return to_enumerator(value, kNumFilters);
    case ArgKind::kImageType:
      return to_enumerator(value, 5);
    case ArgKind::kIntList:
      return to_integers(value);
    case ArgKind::kFloatList:
      return to_numbers(value);
    case ArgKind::kStringList:
      return to_texts(value);
    case ArgKind::kDTypeList:
      return to_dtypes(value);
  }
  return std::nullopt;
}

bool takes_list(ArgKind kind) {
  return kind == ArgKind::kIntList || kind == ArgKind::kFloatList || kind == ArgKind::kStringList ||
         kind == ArgKind::kDTypeList || kind == ArgKind::kDict || kind == ArgKind::kAny;
}

std::string_view kind_name(ArgKind kind) {
  switch (kind) {
    case ArgKind::kBool:
      return "bool";
    case ArgKind::kInt:
      return "int";
    case ArgKind::kFloat:
      return "float";
    case ArgKind::kString:
      return "str";
    case ArgKind::kDType:
      return "dtype";
    case ArgKind::kInterp:
      return "interpolation type";
    case ArgKind::kImageType:
      return "image type";
    case ArgKind::kLayout:
      return "layout";
    case ArgKind::kIntList:
      return "int list";
    case ArgKind::kFloatList:
      return "float list";
    case ArgKind::kStringList:
      return "str list";
    case ArgKind::kDTypeList:
      return "dtype list";
    case ArgKind::kDict:
      return "dict";
    case ArgKind::kAny:
      return "any";
  }
  return "any";
}

std::string describe(ArgKind kind) {
  switch (kind) {
    case ArgKind::kBool:
      return "True or False";
    case ArgKind::kInt:
      return "an integer";
    case ArgKind::kFloat:
      return "a number";
    case ArgKind::kString:
      return "a text";
    case ArgKind::kDType:
      return "an element type";
    case ArgKind::kInterp:
      return "an interpolation type";
    case ArgKind::kImageType:
      return "an image type";
    case ArgKind::kLayout:
      return "a layout";
    case ArgKind::kIntList:
      return "an integer or a list of integers";
    case ArgKind::kFloatList:
      return "a number or a list of numbers";
    case ArgKind::kStringList:
      return "a text or a list of texts";
    case ArgKind::kDTypeList:
      return "an element type or a list of element types";
    case ArgKind::kDict:
      return "a dictionary with texts as keys";
    case ArgKind::kAny:
      return "any value";
  }
  return {};
}

std::string describe(const Attr& value) {
  struct Writer {
    const Attr& attr;
    std::string operator()(ir::None) const { return "None"; }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(int64_t) const { return "the integer " + to_text(attr); }
    std::string operator()(double) const { return "the number " + to_text(attr); }
    std::string operator()(const std::string&) const { return "the text " + to_text(attr); }
    std::string operator()(DType dtype) const {
      return fmt::format("the element type {}", types_name(dtype));
    }
    std::string operator()(const std::vector<int64_t>&) const { return "the list " + to_text(attr); }
    std::string operator()(const std::vector<double>&) const { return "the list " + to_text(attr); }
    std::string operator()(const std::vector<std::string>&) const { return "the list " + to_text(attr); }
    std::string operator()(const ir::AttrList&) const { return "the list " + to_text(attr); }
    std::string operator()(const ir::AttrDict&) const { return "the dictionary " + to_text(attr); }
  };
  std::string out = std::visit(Writer{value}, value);
  return out.size() > 80 ? out.substr(0, 77) + "…" : out;
}

std::string name_for_people(std::string_view shown) {
  constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"add", "+"},  {"sub", "-"}, {"mul", "*"},    {"div", "/"},  {"floordiv", "//"}, {"mod", "%"},
      {"pow", "**"}, {"and", "&"}, {"or", "|"},     {"xor", "^"},  {"lshift", "<<"},   {"rshift", ">>"},
      {"eq", "=="},  {"ne", "!="}, {"lt", "<"},     {"le", "<="},  {"gt", ">"},        {"ge", ">="},
      {"neg", "-"},  {"pos", "+"}, {"invert", "~"}, {"not", "not"}};
  if (const size_t joint = shown.find('+'); joint != std::string_view::npos)
    return name_for_people(shown.substr(0, joint)) + "+" + name_for_people(shown.substr(joint + 1));
  constexpr std::string_view kArithmetic = "arith.";
  if (shown.starts_with(kArithmetic)) {
    const auto sign = std::ranges::find(kSigns, shown.substr(kArithmetic.size()),
                                        &std::pair<std::string_view, std::string_view>::first);
    return sign == std::end(kSigns) ? "arithmetic" : "arithmetic " + std::string(sign->second);
  }
  if (shown == "index") return "indexing";
  if (shown.starts_with("together.")) return "galatea.together";
  if (shown.ends_with(kPlacesSuffix))
    return std::string(shown.substr(0, shown.size() - kPlacesSuffix.size()));
  return std::string(shown);
}

std::string shown_name(const ir::Node& node) {
  const ir::Arg* function = node.op->name == "pixel"         ? node.find_arg("function")
                            : node.op->name == "cuda_kernel" ? node.find_arg("name")
                                                             : nullptr;
  return function ? ir::attr_text(function->as_attr()) : node.op->name;
}

std::string display_name(const Operator& op) {
  if (!op.internal) return "fn." + op.name;
  if (op.name.starts_with("together.")) return "galatea.together";
  // What follows a picture fails for what the picture's own operator was given.
  if (const auto base = op.name.rfind(kPlacesSuffix); base != std::string::npos)
    return "fn." + op.name.substr(0, base);
  if (op.name == "cuda_kernel") return "galatea.cuda_kernel";
  if (op.name.starts_with("arith.")) return "arithmetic";
  if (op.name == "index") return "indexing";
  if (op.name == "pixel") return "galatea.pixel";
  return op.name.rfind("math.", 0) == 0 ? op.name : "the operator " + op.name;
}

Diagnostic refused_argument(const Operator& op, const ArgSpec& spec, Span span) {
  Diagnostic diagnostic =
      compiler::diagnostic(Message::kRefusedArgument, span, display_name(op), spec.name, spec.refused);
  if (!spec.refused_help.empty()) diagnostic.help = spec.refused_help;
  return diagnostic;
}

std::string value_note(const ir::Graph& graph, ir::ValueId value, const std::string& otherwise,
                       const std::string& type) {
  const std::string& variable = graph.value(value).variable;
  return fmt::format("{} is {}", variable.empty() ? otherwise : "`" + variable + "`", type);
}

Status check_static_argument(const Operator& op, const ArgSpec& spec, ir::Arg& arg, Span span) {
  std::optional<Attr> converted = convert_attr(arg.as_attr(), spec.kind);
  if (!converted) {
    std::string help;
    if (spec.kind == ArgKind::kDType) help = "write a type, as in types.FLOAT";
    if (spec.kind == ArgKind::kInterp) help = "write an interpolation, as in types.INTERP_LINEAR";
    if (spec.kind == ArgKind::kImageType) help = "write an image type, as in types.RGB";
    if (spec.kind == ArgKind::kString || spec.kind == ArgKind::kLayout)
      help = fmt::format("write a text in quotes, as in {}=\"{}\"", arg.name,
                         spec.kind == ArgKind::kLayout ? "HWC" : "…");
    if (spec.kind == ArgKind::kInt || spec.kind == ArgKind::kFloat)
      help = fmt::format("write a number, as in {}=1", arg.name);
    if (spec.kind == ArgKind::kIntList || spec.kind == ArgKind::kFloatList)
      help = fmt::format("write numbers, as in {}=[1, 2]", arg.name);
    if (arg.name == "window_fn")
      help = fmt::format(
          "leave {0} out for Hann's window, or write its values, as in {0}=[0.0, 0.5, 1.0, 0.5]", arg.name);
    if (const auto* text = std::get_if<std::string>(&arg.as_attr());
        text && arg.name == "axes" && op.find_arg("axis_names"))
      help = fmt::format("write `axis_names=\"{}\"`", *text);
    if (spec.kind == ArgKind::kBool) help = fmt::format("write {}=True or {}=False", arg.name, arg.name);
    return user_error(Message::kWrongArgumentType, span, display_name(op), arg.name, describe(spec.kind),
                      describe(arg.as_attr()), help);
  }
  if (!spec.refused.empty() && *converted != spec.default_value)
    return make_error(ErrorKind::kUser, refused_argument(op, spec, span));
  arg.value = std::move(*converted);
  return {};
}

void note_types(const ir::Graph& graph, const NodeSpec& call, Error& error) {
  if (error.diagnostics.empty()) return;
  std::vector<std::string>& notes = error.diagnostics.front().notes;
  auto note = [&](ir::ValueId value, const std::string& otherwise) {
    notes.push_back(value_note(graph, value, otherwise, to_text(graph.type(value))));
  };
  constexpr size_t kMost = 4;
  for (size_t k = 0; k < call.inputs.size() && k < kMost; ++k)
    note(call.inputs[k], "input " + std::to_string(k));
  for (const ir::Arg& arg : call.args)
    if (arg.is_value() && notes.size() < kMost) note(arg.as_value(), "argument " + arg.name);
}

Result<std::vector<ir::Type>> check_call(const ir::Graph& graph, NodeSpec& spec,
                                         std::vector<ir::ValueId>* wanted) {
  remove_frame_inputs(spec);
  GALATEA_TRY(check_number_of_inputs(spec));
  const Lifting lifting(graph, *spec.op, spec.inputs, spec.args);
  GALATEA_TRY(check_lifting(spec, lifting));
  GALATEA_TRY(check_arguments(graph, spec, lifting));
  GALATEA_TRY(check_compat(*spec.op, spec.args, spec.span));
  for (size_t k = 0; k < spec.inputs.size(); ++k) GALATEA_TRY(check_input(graph, spec, k, lifting));
  GALATEA_TRY(check_names_of_extents(graph, spec, lifting));
  append_frame_inputs(spec, lifting);
  GALATEA_CHECK(spec.op->type_rule != nullptr, spec.op->name + " has no type rule");
  auto types = spec.op->type_rule(TypeContext(graph, *spec.op, spec, lifting, wanted));
  if (!types) return types;
  for (ir::Type& type : *types) {
    if (lifting.lifts()) type = lifting.lifted(std::move(type), graph);
    if (type.ndim > runtime::kMaxRank)
      return user_error(
          Message::kOperatorRefuses, spec.span, display_name(*spec.op),
          fmt::format("the result has {} dimensions; tensors have up to {}", type.ndim, runtime::kMaxRank),
          "merge axes with fn.reshape");
    if (type.extents.empty()) type.extents.assign(static_cast<size_t>(type.ndim), -1);
    GALATEA_CHECK(static_cast<int>(type.extents.size()) == type.ndim,
                  spec.op->name + ": extents do not match ndim");
    GALATEA_CHECK(type.layout.empty() || type.layout.size() == type.ndim,
                  spec.op->name + ": layout does not match ndim");
  }
  const std::vector<Port>& ports = spec.op->outputs;
  GALATEA_CHECK(ports.empty() || ports.size() == types->size(), spec.op->name + ": outputs differ in number");
  int64_t needed = 0;
  for (const std::string& need : spec.op->output_needs) needed += outputs_of_need(need, spec);
  GALATEA_CHECK(spec.op->output_needs.empty() || needed == std::ssize(*types),
                spec.op->name + ": outputs are not those that output_needs says");
  for (size_t k = 0; k < ports.size(); ++k)
    GALATEA_CHECK(accepts(ports[k], (*types)[k].dtype, (*types)[k].extents),
                  fmt::format("{}: {} is {}", spec.op->name, port_text("output", k, ports[k].name),
                              to_text((*types)[k])));
  GALATEA_ASSIGN(const ir::Device device, device_of_results(graph, spec));
  for (ir::Type& type : *types) type.device = device;
  return types;
}

}  // namespace galatea::op
