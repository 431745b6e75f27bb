// What a function of coordinates may do beside arithmetic: read elements, ask for extents, convert. In:
// values of one element (pixel.h) and tensors of the sample. Out: values of one element.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/op/pixel_axes.h"
#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/pixel.h"

namespace galatea::dsl {
namespace {

// Stands for an expression in the graph while an element is computed, and only then: it has no definition.
const op::Operator& value_operator() {
  static const op::Operator kOperator = [] {
    op::Operator op;
    op.name = "pixel.value";
    op.internal = true;
    op.args = {{.name = "dtype", .kind = op::ArgKind::kDType, .required = true}};
    op.type_rule = [](const op::TypeContext& ctx) -> Result<std::vector<ir::Type>> {
      ir::Type out;
      out.dtype = ctx.dtype("dtype", DType::kF32);
      return std::vector{out};
    };
    return op;
  }();
  return kOperator;
}

// "y, x, c": as many coordinates as the tensor has dimensions.
std::string coordinates_of(const ir::Type& type) {
  constexpr std::string_view kCoordinates[] = {"y", "x", "c"};
  std::string out;
  for (int d = 0; d < type.ndim; ++d)
    out += (d > 0 ? ", " : "") + (type.ndim == 1 ? std::string("i") : std::string(kCoordinates[d]));
  return out;
}

}  // namespace

Value Evaluator::element_node(const kernel::Expr& e, Span span) {
  if (!graph_has_room(span)) return Value::poison();
  op::GraphBuilder::NodeSpec spec;
  spec.op = &value_operator();
  spec.span = span;
  spec.args.push_back({"dtype", ir::Attr(e.type()), span});
  auto added = builder_->add_node(std::move(spec));
  GALATEA_CHECK(added.has_value(), "an element's value has a type");
  const ir::ValueId value = graph_->node(*added).outputs[0];
  pixel_->define(value, e);
  return Value::of_node(value);
}

// A node that arithmetic made; false after an error.
bool Evaluator::adopt_node(ir::NodeId id, Span span) {
  const ir::Node& node = graph_->node(id);
  if (!pixel_->adopt(id))
    return fail(Message::kPixelWhole, span, {ir::to_text(graph_->type(node.outputs[0]))}), false;
  const bool divides = node.op->name == "arith.floordiv" || node.op->name == "arith.mod";
  if (!divides || is_float(graph_->type(node.outputs[0]).dtype)) return true;
  const kernel::Expr divisor = pixel_->element(node.inputs[1]);
  const bool by_zero = kernel::is_const(divisor) && kernel::const_value(divisor) == 0;
  return !by_zero || (fail(Message::kDivisionByZero, span), false);
}

// values[c]: the element of a short list of numbers, the first or last one outside; nullopt: something else.
std::optional<Value> Evaluator::choose_element(const Value& list, const Value& key, Span span) {
  constexpr size_t kMost = 16;
  const ir::Type& type = type_of(key);
  if (type.ndim != 0 || !is_integral(type.dtype) || is_bool(type.dtype)) return std::nullopt;
  if (list.elements().empty() || list.elements().size() > kMost) return std::nullopt;
  std::vector<kernel::Expr> elements;
  std::optional<DType> common;
  for (const Value& given : list.elements()) {
    const Value value = plain(given);
    if (value.is_poison()) return value;
    if (!value.is_number() && !(value.is_node() && type_of(value).ndim == 0)) return std::nullopt;
    const Value node = value.is_node() ? value : constant_node(value, span);
    if (!node.is_node()) return node;
    elements.push_back(pixel_->element(node.node));
    common = common ? promote(*common, elements.back().type()) : elements.back().type();
  }
  const kernel::Expr at = pixel_->element(key.node);
  kernel::Expr out;
  for (size_t i = elements.size(); i-- > 0;) {
    const kernel::Expr element = kernel::convert(elements[i], *common);
    const kernel::Expr last = kernel::const_int(static_cast<int64_t>(i), at.type());
    out = out ? kernel::select(at <= last, element, out) : element;
  }
  return element_node(out, span);
}

// ---- reads

bool Evaluator::may_read(const Value& base, Span span) {
  const ir::Type& type = type_of(base);
  std::string help;
  if (!op::pixel_axes(type))
    help = "it reads images (HWC, CHW or HW) and tables of up to three dimensions";
  else if (type.dtype == DType::kU64)
    help = "its integers have a sign: `fn.cast(x, dtype=types.INT64)`";
  if (help.empty()) return true;
  fail(Message::kPixelInput, span, {type_text(base), help});
  return false;
}

// The places as i64; nullopt after an error.
std::optional<std::vector<kernel::Expr>> Evaluator::element_indices(const Value& base,
                                                                    const std::vector<Value>& indices,
                                                                    const std::vector<Span>& spans,
                                                                    Span span) {
  const ir::Type& type = type_of(base);
  if (static_cast<int>(indices.size()) != type.ndim) {
    const size_t n = indices.size();
    fail(Message::kPixelRead, span,
         {fmt::format("{} ind{}", n, n == 1 ? "ex" : "ices"), type_text(base),
          fmt::format("`[{}]`", coordinates_of(type))});
    return std::nullopt;
  }
  std::vector<kernel::Expr> out;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Value index = plain(indices[i]);
    if (index.is_poison()) return std::nullopt;
    const bool integer =
        index.is(ValueKind::kInt) || (index.is_node() && type_of(index).ndim == 0 &&
                                      is_integral(type_of(index).dtype) && !is_bool(type_of(index).dtype));
    if (!integer) {
      fail(Message::kPixelIndex, spans[i], {type_text(index)});
      return std::nullopt;
    }
    out.push_back(index.is_node() ? wide_index(pixel_->element(index.node))
                                  : kernel::const_int(index.as_int()));
  }
  return out;
}

// image[y, x, c]
Value Evaluator::read_element(const Value& base, const Expression& selector, Span span) {
  std::vector<const Expression*> parts = {&selector};
  if (selector.kind == ExpressionKind::kTuple) {
    parts.clear();
    for (const ExpressionPtr& operand : selector.operands) parts.push_back(operand.get());
  }
  std::vector<Value> indices;
  std::vector<Span> spans;
  for (const Expression* part : parts) {
    if (part->kind == ExpressionKind::kSlice) {
      Diagnostic diagnostic = diagnose(Message::kPixelIndex, part->span, {"a slice"});
      diagnostic.help = "name one place of each axis; `galatea.sum(range(-1, 2), f)` adds up several";
      report(std::move(diagnostic));
      return Value::poison();
    }
    indices.push_back(eval(*part));
    spans.push_back(part->span);
    if (!alive()) return Value::poison();
  }
  if (!may_read(base, span)) return Value::poison();
  auto places = element_indices(base, indices, spans, span);
  return places ? element_node(pixel_->read(base.node, std::move(*places)), span) : Value::poison();
}

// image.bilinear(y, x, c)
Value Evaluator::read_between(const Value& base, const CallArguments& arguments) {
  if (!pixel_) return fail(Message::kPixelOutside, arguments.span, {".bilinear"});
  if (!arguments.keywords.empty())
    return fail(Message::kUnknownParameter, arguments.keywords[0].name_span,
                {"bilinear", arguments.keywords[0].name, "give the coordinates by position"});
  if (!may_read(base, arguments.span)) return Value::poison();
  const ir::Type& type = type_of(base);
  if (type.ndim < 2 || pixel_->owns(base.node))
    return fail(Message::kPixelInput, arguments.span,
                {type_text(base) + " between pixels", "an image has rows and columns"});
  // Rows and columns are numbers, the channel an integer.
  std::vector<Value> whole = arguments.positional;
  std::vector<kernel::Expr> between;
  for (size_t i = 0; i < whole.size() && i < 2; ++i) {
    const Value at = plain(whole[i]);
    if (at.is_poison()) return Value::poison();
    const bool number = at.is_number() || (at.is_node() && type_of(at).ndim == 0);
    if (!number)
      return fail(Message::kWrongArgument, arguments.spans[i], {"bilinear", "numbers", type_text(at)});
    const Value node = at.is_node() ? at : constant_node(at, arguments.spans[i]);
    if (!node.is_node()) return Value::poison();
    between.push_back(pixel_->element(node.node));
    if (is_bool(between.back().type()) || between.back().type() == DType::kF16)
      between.back() = kernel::convert(between.back(), DType::kF32);
    whole[i] = Value::of(int64_t{0});
  }
  auto places = element_indices(base, whole, arguments.spans, arguments.span);
  if (!places) return Value::poison();
  places->erase(places->begin(), places->begin() + 2);
  return element_node(pixel_->read_between(base.node, between[0], between[1], std::move(*places)),
                      arguments.span);
}

namespace {

Value method_bilinear(Evaluator& evaluator, CallArguments& arguments) {
  return evaluator.read_between(arguments.self, arguments);
}

}  // namespace

// .height, .width, .channels and .bilinear of an image, in a pixel function; nullopt: something else.
std::optional<Value> Evaluator::pixel_attribute(const Value& node, const std::string& name, Span span) {
  if (in_pixel_function_ == 0 && !pixel_) return std::nullopt;
  if (name == "bilinear") return make_builtin("bilinear", method_bilinear, node);
  constexpr std::string_view kNames[] = {"height", "width", "channels"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  const ir::Type& type = type_of(node);
  const auto axes = op::pixel_axes(type);
  const auto coordinate = static_cast<size_t>(found - std::begin(kNames));
  const bool image = type.layout.empty() || (type.layout.contains('H') && type.layout.contains('W'));
  if (!axes || !image || type.ndim < 2 || coordinate >= axes->size())
    return fail(Message::kPixelAxis, span, {type_text(node), name});
  const int dim = (*axes)[coordinate];
  const int64_t known = type.extents[static_cast<size_t>(dim)];
  if (known >= 0) return Value::of(known);
  if (pixel_) return element_node(pixel_->extent(node.node, dim), span);
  const Value shape = node_operator("shapes", {node}, span);
  if (shape.is_poison()) return shape;
  const Value extent = node_operator(
      "index", {shape}, span,
      {{"kinds", ir::Attr(std::vector<std::string>{"int"}), span}, {"at_0", ir::Attr(int64_t{dim}), span}});
  if (extent.is_poison()) return extent;
  return node_operator("cast", {extent}, span, {{"dtype", ir::Attr(DType::kI32), span}});
}

Value Evaluator::convert_element(const Value& value, DType dtype, bool round, Span span) {
  if (type_of(value).ndim != 0) return fail(Message::kPixelWhole, span, {ir::to_text(type_of(value))});
  const kernel::Expr e = pixel_->element(value.node);
  if (dtype == DType::kF32 && e.type() == DType::kF64) return value;
  return element_node(round ? kernel::saturate(e, dtype) : kernel::convert(e, dtype), span);
}

}  // namespace galatea::dsl
