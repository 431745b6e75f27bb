// Pixel functions: the decorator, and a call. In: a function that returns a function of coordinates, and its
// arguments. Out: one node, whose expression is what the function of coordinates says of one element.
//
// The function itself runs like any other, once a call: its body may use operators. What it returns runs once
// with coordinates for its arguments, on blocks that are taken away afterwards (pixel.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/op/pixel_axes.h"
#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/pixel.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

constexpr std::string_view kPixelOptions[] = {"border", "fill", "size", "channels", "dtype"};
constexpr size_t kMaxReads = 1024, kMaxDepth = 1000;

bool is_option(std::string_view name) {
  return std::find(std::begin(kPixelOptions), std::end(kPixelOptions), name) != std::end(kPixelOptions);
}

}  // namespace

/// What one call was given beside the function's own arguments.
struct Evaluator::PixelCall {
  std::string name;
  Span span;
  kernel::Border border = kernel::Border::kClamp;
  double fill = 0;
  ir::ValueId image = ir::kNoId;  ///< the first one: extents, layout and type of the output are its own
  op::GraphBuilder::NodeSpec spec;
  bool has_size = false, has_channels = false;
  int rank = 0;
};

// @galatea.pixel, @galatea.pixel(border=…), and the second call of the latter with the function.
Value Evaluator::decorate_pixel(CallArguments& arguments) {
  auto* pixel = arena.make<PixelObject>();
  if (arguments.self.is(ValueKind::kPixel)) pixel->options = arguments.self.as<PixelObject>().options;
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    if (!is_option(keyword.name)) {
      auto help = did_you_mean(keyword.name, {std::begin(kPixelOptions), std::end(kPixelOptions)});
      fail(Message::kUnknownParameter, keyword.name_span, {"galatea.pixel", keyword.name, help});
      continue;
    }
    pixel->options.push_back({keyword.name, keyword.value, keyword.span});
  }
  if (arguments.positional.empty())
    return make_builtin(
        "galatea.pixel", [](Evaluator& ev, CallArguments& a) { return ev.decorate_pixel(a); },
        Value(ValueKind::kPixel, pixel));
  if (arguments.positional[0].is_poison()) return Value::poison();
  if (arguments.positional.size() > 1 || !arguments.positional[0].is(ValueKind::kFunction))
    return fail(Message::kPixelOfWhat, arguments.spans.back(), {describe_kind(arguments.positional.back())});
  pixel->function = &arguments.positional[0].as<FunctionObject>();
  for (const Parameter& parameter : *pixel->function->parameters) {
    if (is_option(parameter.name)) return fail(Message::kPixelParameter, parameter.span, {parameter.name});
  }
  return Value(ValueKind::kPixel, pixel);
}

// The arguments that every pixel function takes leave `arguments`.
bool Evaluator::take_pixel_options(PixelCall& call, const PixelObject& pixel, CallArguments& arguments) {
  std::vector<CallArguments::Keyword> options;
  auto is_taken = [&](const CallArguments::Keyword& keyword) { return is_option(keyword.name); };
  std::copy_if(arguments.keywords.begin(), arguments.keywords.end(), std::back_inserter(options), is_taken);
  std::erase_if(arguments.keywords, is_taken);
  for (const PixelObject::Option& option : pixel.options) {
    auto named = [&](const CallArguments::Keyword& keyword) { return keyword.name == option.name; };
    if (std::none_of(options.begin(), options.end(), named))
      options.push_back({option.name, option.value, option.span, option.span});
  }
  const CallArguments::Keyword *border = nullptr, *fill = nullptr;
  for (const CallArguments::Keyword& option : options) {
    if (has_poison(option.value)) return false;
    if (option.value.is(ValueKind::kNone)) continue;
    if (option.name == "border") {
      border = &option;
    } else if (option.name == "fill") {
      fill = &option;
    } else {
      if (!add_argument(*call.spec.op, *call.spec.op->find_arg(option.name), option, call.spec, call.name))
        continue;
      call.has_size = call.has_size || option.name == "size";
      call.has_channels = call.has_channels || option.name == "channels";
    }
  }
  if (border) {
    const std::string mode = border->value.is(ValueKind::kString) ? border->value.text() : "";
    if (mode == "reflect_101")
      call.border = kernel::Border::kReflect101;
    else if (mode == "constant")
      call.border = kernel::Border::kConstant;
    else if (mode != "clamp")
      fail(Message::kPixelOption, border->span,
           {"border", "`\"clamp\"`, `\"reflect_101\"` or `\"constant\"`", type_text(border->value)});
  }
  if (!fill) return true;
  const Value number = plain(fill->value);
  if (!number.is_number() || !std::isfinite(number.as_double()))
    return fail(Message::kPixelOption, fill->span, {"fill", "a number", type_text(number)}), true;
  if (border && call.border != kernel::Border::kConstant)
    return fail(Message::kPixelOption, border->span,
                {"border", "`\"constant\"` where `fill` is given", type_text(border->value)}),
           false;
  call.border = kernel::Border::kConstant;
  call.fill = number.as_double();
  return true;
}

// The first image, in the order of the parameters.
bool Evaluator::choose_image(PixelCall& call, const FunctionObject& function,
                             const CallArguments& arguments) {
  auto look = [&](const Value& value, Span span) {
    if (call.image != ir::kNoId || !value.is_node() || type_of(value).ndim < 2) return true;
    call.image = value.node;
    return may_read(value, span);
  };
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    if (!look(arguments.positional[i], arguments.spans[i])) return false;
  for (const Parameter& parameter : *function.parameters)
    for (const CallArguments::Keyword& keyword : arguments.keywords)
      if (keyword.name == parameter.name && !look(keyword.value, keyword.span)) return false;
  return true;
}

namespace {

// How many coordinates a function takes; 0: it is no function of coordinates.
int coordinates_of(const FunctionObject& at) {
  int count = 0;
  for (size_t i = 0; i < at.parameters->size(); ++i) {
    if ((*at.parameters)[i].kind >= ParameterKind::kVarArgs) return 0;
    if (at.defaults[i].is(ValueKind::kUndefined)) ++count;
  }
  return count == 2 || count == 3 ? count : 0;
}

// A function of the file that ends without `return`: what its last statement makes is what was meant.
void point_at_last(Diagnostic& diagnostic, const FunctionObject& function) {
  if (!function.body || function.body->empty()) return;
  const Statement& last = *function.body->back();
  if (last.kind == StatementKind::kExpression) {
    diagnostic.labels.push_back({last.span, "computed, but not returned"});
    diagnostic.help = "write `return` before it";
  } else if (last.kind == StatementKind::kFunction) {
    diagnostic.labels.push_back({last.keyword_span, "defined, but not returned"});
    diagnostic.help = fmt::format("end `{}` with `return {}`", function.name, last.text);
  } else {
    diagnostic.help = fmt::format("end `{}` with `return`", function.name);
  }
}

// What to do about an element that is no number.
std::string help_for_element(const Value& value) {
  if (value.is_sequence()) return "";
  if (value.is_node())
    return "read one number of a tensor by its place: `values[c]`, with an index for each dimension";
  return "return a number, such as `image[y, x, c]` or what is computed from it";
}

}  // namespace

Value Evaluator::call_pixel(PixelObject& pixel, CallArguments& arguments) {
  FunctionObject& function = *pixel.function;
  const std::string shown = "the pixel function `" + function.name + "`";
  if (!graph_) return fail(Message::kOutsidePipeline, arguments.span, {shown});
  if (pixel_) return fail(Message::kPixelOperator, arguments.span, {shown});
  std::vector<Value> operands = arguments.positional;
  for (const CallArguments::Keyword& keyword : arguments.keywords) operands.push_back(keyword.value);
  if (std::ranges::any_of(operands, is_bundle)) {
    for (Value& value : arguments.positional) value = picture_of(value);
    for (CallArguments::Keyword& keyword : arguments.keywords) keyword.value = picture_of(keyword.value);
    return Bundles(*this).carry(call_pixel(pixel, arguments), operands, {shown, arguments.span});
  }
  PixelCall call;
  call.name = function.name;
  call.span = arguments.span;
  call.spec.op = registry_.find("pixel");
  call.spec.span = arguments.span;
  if (!call.spec.op) return fail(Message::kMissingOperator, arguments.span, {"pixel"});
  auto poisoned = [this](const auto& value) { return has_poison(value); };
  if (std::any_of(arguments.positional.begin(), arguments.positional.end(), poisoned) ||
      std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                  [&](const auto& keyword) { return poisoned(keyword.value); }))
    return Value::poison();
  if (!take_pixel_options(call, pixel, arguments) || !choose_image(call, function, arguments))
    return Value::poison();

  ++in_pixel_function_;
  Value made = call_function(function, arguments);
  --in_pixel_function_;
  if (made.is_poison() || !alive()) return Value::poison();
  if (!made.is(ValueKind::kFunction)) {
    Diagnostic diagnostic = diagnose(Message::kPixelReturns, function.span, {function.name, type_text(made)});
    if (returned_at_.valid() && function.body)
      diagnostic.labels.push_back({returned_at_, "returned here"});
    else if (made.is(ValueKind::kNone))
      point_at_last(diagnostic, function);
    return report(std::move(diagnostic));
  }
  FunctionObject& at = made.as<FunctionObject>();
  call.rank = coordinates_of(at);
  if (call.rank == 0) {
    const size_t count = at.parameters->size();
    return fail(Message::kPixelCoordinates, at.span,
                {function.name, fmt::format("{} parameter{}", count, count == 1 ? "" : "s")});
  }
  const bool has_channels = call.image != ir::kNoId && graph_->type(call.image).ndim > 2;
  auto no_extents = [&](const std::string& what, const std::string& help) {
    return fail(Message::kPixelExtents, arguments.span, {function.name, what, help});
  };
  if (call.image == ir::kNoId && !call.has_size)
    return no_extents("gets no image whose extents it could have", "give `size=[h, w]`");
  if (call.rank == 3 && !has_channels && !call.has_channels)
    return no_extents("computes elements at (y, x, c), but nothing says how many channels there are",
                      "give `channels=3`, or write `def at(y, x):`");
  if (call.rank == 2 && call.has_channels)
    return no_extents("is given `channels`, but computes elements at (y, x)",
                      "write `def at(y, x, c):`, or leave `channels` out");
  return run_element(call, at, arguments);
}

// Runs the function of coordinates beside the pipeline, and makes the node.
Value Evaluator::run_element(PixelCall& call, FunctionObject& at, const CallArguments& arguments) {
  if (!graph_has_room(arguments.span)) return Value::poison();
  const ir::BlockId block = block_;
  const uint32_t region = region_;
  pixel_ = std::make_unique<PixelScope>(*graph_, *builder_, call.image, call.border, call.fill);
  region_ = regions_.split(region_, {}).first;  // what was made before may not be changed
  enter_block(pixel_->first_block());
  CallArguments coordinates;
  for (int i = 0; i < call.rank; ++i) {
    coordinates.positional.push_back(element_node(pixel_->coordinate(i), at.span));
    coordinates.spans.push_back(at.span);
  }
  coordinates.span = coordinates.callee_span = arguments.span;
  coordinates.callee_text = at.name;
  coordinates.ordinal = arguments.ordinal;
  const Value element = call_function(at, coordinates);
  const bool done = alive() && take_element(call, element, at);
  merges_.forget(*pixel_);
  pixel_->remove();
  pixel_.reset();
  region_ = region;
  enter_block(block);
  return done ? add_node(std::move(call.spec)) : Value::poison();
}

// The value of the element becomes the expression of the node; false after an error.
bool Evaluator::take_element(PixelCall& call, const Value& given, const FunctionObject& at) {
  const Value value = plain(given);
  if (value.is_poison()) return false;
  const bool number = value.is_number() || (value.is_node() && type_of(value).ndim == 0);
  if (!number) {
    Diagnostic diagnostic = diagnose(Message::kPixelResult, at.span, {call.name, type_text(value)});
    if (std::string help = help_for_element(value); !help.empty()) diagnostic.help = std::move(help);
    if (returned_at_.valid() && at.body)
      diagnostic.labels.push_back({returned_at_, "returned here"});
    else if (value.is(ValueKind::kNone))
      point_at_last(diagnostic, at);
    report(std::move(diagnostic));
    return false;
  }
  const Value node = value.is_node() ? value : constant_node(value, at.span);
  if (!node.is_node()) return false;
  PixelScope::Finished finished = pixel_->finish(pixel_->element(node.node));
  std::string excess;
  if (finished.reads > kMaxReads)
    excess = fmt::format("reads {} places; {} is the most", finished.reads, kMaxReads);
  else if (finished.depth > kMaxDepth)
    excess = fmt::format("is nested {} operations deep; {} is the most", finished.depth, kMaxDepth);
  if (!excess.empty()) return fail(Message::kPixelTooLarge, at.span, {call.name, excess}), false;
  call.spec.inputs = std::move(finished.inputs);
  auto add = [&](const char* name, ir::Attr attr) { call.spec.args.push_back({name, std::move(attr), {}}); };
  add("function", call.name);
  add("rank", int64_t{call.rank});
  if (call.image != ir::kNoId) add("like", int64_t{0});
  add("body", std::move(finished.body));
  return true;
}

}  // namespace galatea::dsl
