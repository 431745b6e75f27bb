// `galatea.together(image=…, mask=…, boxes=…, labels=…, points=…)`: what belongs to a picture goes where the
// picture goes. In: operators applied to such a bundle. Out: the bundle of the result.
//
// A bundle is a record, so arms of branches merge it field by field. An operator is applied to its picture;
// what the operator declares of places (op::Places) says what becomes of the rest. Nothing is drawn twice: the
// map of places and the mask come from nodes with the arguments and the key of the picture's.
#include "dsl/bundles.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/attr.h"
#include "compiler/op/places.h"
#include "compiler/op/schema.h"
#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

constexpr std::string_view kBundle = "Together";
// Fields. Those of the user's come out by attribute(); that of the picture is as the user sees it.
constexpr const char *kImage = "image", *kMask = "__mask", *kMap = "__map", *kCorners = "__corners",
                     *kVisible = "__visible", *kLabels = "__labels", *kPoints = "__points",
                     *kInside = "__inside", *kFlatMask = "__flat_mask", *kFormat = "__format",
                     *kRelative = "__relative", *kMinVisible = "__min_visible", *kMaskFill = "__mask_fill";

const Value& field(const Value& bundle, const char* name) {
  const Value* found = bundle.as<StructObject>().find(name);
  GALATEA_CHECK(found != nullptr, std::string("a bundle without ") + name);
  return *found;
}

Value with(Evaluator& ev, const Value& bundle, const std::vector<std::pair<const char*, Value>>& changes) {
  std::vector<std::pair<std::string, Value>> fields = bundle.as<StructObject>().fields;
  for (const auto& [name, value] : changes)
    std::ranges::find(fields, name, &std::pair<std::string, Value>::first)->second = value;
  Value made = ev.make_struct(std::move(fields));
  made.as<StructObject>().type = kBundle;
  return made;
}

bool has_frames(const ir::Type& type) { return type.layout.find('F') >= 0; }
/// Axes of one frame.
int frame_ndim(const ir::Type& type) { return type.ndim - (has_frames(type) ? 1 : 0); }

/// An image, or a sequence of them: rows and columns, and frames and channels or none.
bool is_picture(const ir::Type& type) {
  const std::string axes = type.layout.str();
  return axes.contains('H') && axes.contains('W') && axes.find_first_not_of("FHWC") == std::string::npos;
}

/// Arguments that speak of values, not of places: what a mask has instead.
void speak_of_mask(std::vector<ir::Arg>& args, const op::Operator& op, const ir::Type& mask,
                   const ir::Type& picture, double fill, Span span) {
  constexpr std::string_view kOfValues[] = {
      "interp_type", "min_filter", "mag_filter", "antialias", "cubic_a", "fill_value",    "fill_values",
      "mean",        "std",        "scale",      "shift",     "dtype",   "output_layout", "pad_output"};
  const bool fills = std::ranges::any_of(
      args, [](const ir::Arg& arg) { return arg.name == "fill_value" || arg.name == "fill_values"; });
  std::erase_if(args, [&](const ir::Arg& arg) {
    return std::ranges::find(kOfValues, arg.name) != std::end(kOfValues);
  });
  const auto give = [&](const char* name, ir::Attr value) { args.push_back({name, std::move(value), span}); };
  for (const op::ArgSpec& arg : op.args) {
    if (!arg.refused.empty()) continue;
    const bool has_default = !ir::is_none(arg.default_value);
    if (arg.name == "interp_type") give("interp_type", int64_t{0});
    if (arg.name == "dtype" && has_default) give("dtype", mask.dtype);
    if (arg.name == "output_layout") give("output_layout", std::string());
    if ((arg.name == "fill_value" || arg.name == "fill_values") && (fills || has_default))
      give(arg.name.c_str(),
           arg.kind == op::ArgKind::kFloatList ? ir::Attr(std::vector<double>{fill}) : ir::Attr(fill));
  }
  // Numbers of axes are the picture's.
  if (mask.layout == picture.layout) return;
  const auto axes = std::ranges::find(args, "axes", &ir::Arg::name);
  if (axes == args.end() || axes->is_value() || op.find_arg("axis_names") == nullptr) return;
  std::string names;
  for (int64_t axis : ir::attr_integers(axes->as_attr()))
    names += picture.layout[static_cast<int>(axis < 0 ? axis + picture.ndim : axis)];
  axes->name = "axis_names";
  axes->value = ir::Attr(names);
}

Value method_move(Evaluator& ev, CallArguments& a) {
  if (!a.positional.empty() || !a.keywords.empty())
    return ev.fail(Message::kBadArgument, a.span, {a.name, "no arguments"});
  const bool gpu = a.name == "gpu";
  if (gpu) ev.note_device(a.span, "`.gpu()`");
  return Bundles(ev).move(a.self, gpu ? ir::Device::kGpu : ir::Device::kCpu, a.span);
}

}  // namespace

bool is_bundle(const Value& value) {
  return value.is(ValueKind::kStruct) && value.as<StructObject>().type == kBundle;
}

Value picture_of(const Value& value) { return is_bundle(value) ? field(value, kImage) : value; }

// ---- made

namespace {

/// The format of boxes that is called otherwise elsewhere, as a help.
std::string format_called(const Value& name) {
  const std::string text = name.is(ValueKind::kString) ? name.text() : "";
  if (text == "coco") return "write `box_format=\"xywh\"`";
  if (text == "pascal_voc" || text == "voc" || text == "ltrb") return "write `box_format=\"xyxy\"`";
  if (text == "albumentations") return "write `box_format=\"xyxy\", relative=True`";
  if (text == "yolo") return "write `box_format=\"cxcywh\", relative=True`";
  return {};
}

/// What one call was given, looked at argument by argument. A mistake of each is reported.
class Given {
 public:
  Given(Evaluator& ev, CallArguments& arguments) : ev_(ev), call_(arguments.span) {
    for (const CallArguments::Keyword& keyword : arguments.keywords) {
      if (std::ranges::find(kNames, keyword.name) == std::end(kNames)) {
        const std::string near = did_you_mean(keyword.name, {std::begin(kNames), std::end(kNames)});
        ev.fail(Message::kUnknownParameter, keyword.name_span, {"galatea.together", keyword.name, near});
        good_ = false;
      }
      if (ev.has_poison(keyword.value)) good_ = false;
      if (!keyword.value.is(ValueKind::kNone)) given_.emplace(keyword.name, keyword);
    }
  }
  bool good() const { return good_; }
  bool has(const std::string& name) const { return given_.contains(name); }
  Value value(const std::string& name) const { return has(name) ? given_.at(name).value : Value::none(); }
  /// Where the argument stands.
  Span span(const std::string& name) const { return has(name) ? given_.at(name).span : call_; }

  Value wrong(const std::string& name, std::string wanted, const std::string& help = "") {
    Diagnostic diagnostic = diagnose(Message::kTogetherArgument, span(name),
                                     {name, std::move(wanted), ev_.type_text(value(name))});
    diagnostic.help = help.empty() && name == "box_format" ? format_called(value(name)) : help;
    good_ = false;
    return ev_.report(std::move(diagnostic));
  }

  Value image() {
    const Value image = picture("image", "", "an image of layout HWC, CHW or HW, or a sequence of them",
                                "a sequence has the layout FHWC: `fn.reshape(x, layout=\"FHWC\")` says so; "
                                "volumes have no boxes");
    if (image.is_node()) is_sequence_ = has_frames(ev_.type_of(image));
    return image;
  }

  /// As the image has been looked at.
  Value mask() {
    if (!is_sequence_) return picture("mask", "", "an image of layout HWC, CHW or HW");
    return picture("mask", "F", "a sequence of layout FHW or FHWC, as the image",
                   "a mask has a frame for each of the image's");
  }

  /// Rows of numbers, FLOAT, on the CPU; integers are converted. None where they were not given. Those of a
  /// sequence may be given per frame.
  Value rows(const std::string& name, int most_axes, int64_t innermost, const char* wanted) {
    Value rows = value(name);
    if (rows.is(ValueKind::kNone)) return rows;
    if (!rows.is_node()) rows = ev_.constant_node(rows, span(name));
    if (!rows.is_node()) return good_ = false, rows;
    if (is_sequence_ && ev_.type_of(rows).ndim == most_axes + 1)
      rows = made("per_frame", {rows}, name, {{"replace", ir::Attr(true), {}}});
    if (rows.is_poison()) return rows;
    if (has_frames(ev_.type_of(rows)) && !is_sequence_)
      return wrong(name, "given for one image, whose layout has no axis F");
    const ir::Type type = ev_.type_of(rows);
    const int ndim = frame_ndim(type);
    const bool fits = ndim >= 2 && ndim <= most_axes && !is_bool(type.dtype) &&
                      (type.extents.back() == innermost || type.extents.back() < 0);
    if (!fits) return wrong(name, wanted);
    if (type.device == ir::Device::kGpu) rows = ev_.move_node(rows, ir::Device::kCpu, span(name));
    if (type.dtype != DType::kF32) rows = made("cast", {rows}, name, {{"dtype", ir::Attr(DType::kF32), {}}});
    return rows;
  }

  /// Rows beside boxes: a node, or a list of them.
  Value labels() {
    const Value labels = value("labels");
    if (labels.is(ValueKind::kNone)) return labels;
    if (!has("boxes"))
      return wrong("labels", "given with `boxes`, whose labels they are",
                   "a label of the whole image needs no bundle");
    const std::vector<Value> all = labels.is_sequence() ? labels.elements() : std::vector<Value>{labels};
    if (std::ranges::all_of(all, [](const Value& one) { return one.is_node(); })) return labels;
    return wrong("labels", "a data node with a row for each box, or a list of them");
  }

  template <typename Fits>
  Value option(const std::string& name, Value otherwise, const Fits& fits, const char* wanted) {
    if (!has(name)) return otherwise;
    const Value given = plain(value(name));
    return fits(given) ? given : wrong(name, wanted);
  }

  Value made(const std::string& op, const std::vector<Value>& operands, const std::string& name,
             std::vector<ir::Arg> args = {}) {
    for (ir::Arg& arg : args) arg.span = span(name);
    const Value made = ev_.node_operator(op, operands, span(name), std::move(args));
    good_ = good_ && !made.is_poison();
    return made;
  }

 private:
  static constexpr std::string_view kNames[] = {"image",      "mask",     "boxes",       "labels",   "points",
                                                "box_format", "relative", "min_visible", "mask_fill"};

  /// With channels. One without a layout has that of its number of axes, behind `front`.
  Value picture(const std::string& name, const std::string& front, const char* wanted,
                const std::string& help = "") {
    Value picture = value(name);
    if (!picture.is_node()) return wrong(name, "a data node");
    const ir::Type type = ev_.type_of(picture);
    const int ndim = type.ndim - static_cast<int>(front.size());
    if (type.layout.empty() && (ndim == 2 || ndim == 3))
      picture = made("reshape", {picture}, name, {{"layout", text(front + (ndim == 3 ? "HWC" : "HW")), {}}});
    if (picture.is_poison()) return picture;
    const ir::Type& named = ev_.type_of(picture);
    if (!is_picture(named) || (name == "mask" && has_frames(named) != is_sequence_))
      return wrong(name, wanted, help);
    if (named.layout.find('C') >= 0) return picture;
    return made(
        "expand_dims", {picture}, name,
        {{"axes", ir::Attr(std::vector<int64_t>{named.ndim}), {}}, {"new_axis_names", text("C"), {}}});
  }

  static ir::Attr text(std::string words) { return ir::Attr(std::move(words)); }

  Evaluator& ev_;
  Span call_;
  bool good_ = true;
  bool is_sequence_ = false;  ///< the image is
  std::map<std::string, CallArguments::Keyword> given_;
};

bool is_format(const Value& v) {
  return v.is(ValueKind::kString) && (v.text() == "xyxy" || v.text() == "xywh" || v.text() == "cxcywh");
}
bool is_share(const Value& v) { return v.is_number() && v.as_double() >= 0 && v.as_double() <= 1; }
bool is_flag(const Value& v) { return v.is(ValueKind::kBool); }
bool is_number(const Value& v) { return v.is_number(); }

/// The map that moves nothing.
Value unmoved(Evaluator& ev, Span span) {
  std::vector<Value> rows;
  for (int64_t r = 0; r < op::kPlacesRank; ++r) {
    std::vector<Value> row;
    for (int64_t c = 0; c < op::kPlacesRank; ++c) row.push_back(Value::of(r == c ? 1.0 : 0.0));
    rows.push_back(ev.make_list(std::move(row)));
  }
  return ev.constant_node(ev.make_list(std::move(rows)), span, DType::kF64);
}

}  // namespace

Value Bundles::make(CallArguments& a) {
  if (!ev_.in_pipeline()) return ev_.fail(Message::kOutsidePipeline, a.span, {"`galatea.together`"});
  if (a.positional.size() > 1)
    return ev_.fail(Message::kBadArgument, a.spans[1],
                    {"galatea.together", "the image first, and all else by name"});
  if (!a.positional.empty())
    a.keywords.insert(a.keywords.begin(), {"image", a.positional[0], a.spans[0], a.spans[0]});
  Given given(ev_, a);
  if (!given.good()) return Value::poison();
  if (!given.has("image")) return ev_.fail(Message::kMissingArgument, a.span, {"galatea.together", "image"});

  const Value image = given.image();
  if (!image.is_node()) return Value::poison();
  const Value mask = given.has("mask") ? given.mask() : Value::none();
  Value boxes = given.rows("boxes", 2, 4, "boxes as rows of four numbers, FLOAT [n, 4]");
  Value points =
      given.rows("points", 3, 2, "points as rows of x and y, FLOAT [n, 2], or [n, k, 2]: k of each box");
  const Value labels = given.labels();
  const Value format = given.option("box_format", ev_.make_string("xyxy"), is_format,
                                    "`\"xyxy\"`, `\"xywh\"` or `\"cxcywh\"`");
  const Value relative = given.option("relative", Value::of(false), is_flag, "True or False");
  const Value least = given.option("min_visible", Value::of(0.0), is_share, "a number from 0 to 1");
  const Value fill = given.option("mask_fill", Value::of(0.0), is_number, "a number");
  Value map = unmoved(ev_, a.span);
  if (!given.good() || mask.is_poison() || map.is_poison()) return Value::poison();

  // Of a sequence all is per frame, unless boxes and points are given for all frames at once.
  const auto is_per_frame = [&](const Value& rows) {
    return rows.is_node() && has_frames(ev_.type_of(rows));
  };
  const bool has_rows = boxes.is_node() || points.is_node();
  if (has_frames(ev_.type_of(image)) && (is_per_frame(boxes) || is_per_frame(points) || !has_rows)) {
    map = given.made("together.frames", {map, image}, "image");
    if (boxes.is_node()) boxes = given.made("together.frames", {boxes, image}, "boxes");
    if (points.is_node()) points = given.made("together.frames", {points, image}, "points");
  }
  if (!given.good()) return Value::poison();

  const bool is_flat = mask.is_node() && ev_.type_of(given.value("mask")).ndim + 1 == ev_.type_of(mask).ndim;
  Value fitting = Value::none(), corners = Value::none(), visible = Value::none(), pixels = Value::none(),
        inside = Value::none();
  const ir::Arg in_fractions = {"relative", ir::Attr(truth(relative)), {}};
  if (mask.is_node()) fitting = given.made("together.mask", {mask, image}, "mask");
  if (boxes.is_node()) {
    corners = given.made("together.corners", {boxes, image}, "boxes",
                         {in_fractions, {"format", ir::Attr(format.text()), {}}});
    if (corners.is_node()) visible = given.made("together.visible", {corners, image}, "boxes");
  }
  if (points.is_node()) {
    pixels = given.made("together.pixels", {points, image}, "points", {in_fractions});
    if (pixels.is_node()) inside = given.made("together.inside", {pixels, map, image}, "points");
  }
  if (!given.good()) return Value::poison();
  Value bundle = ev_.make_struct({{kImage, image},
                                  {kMask, fitting},
                                  {kMap, map},
                                  {kCorners, corners},
                                  {kVisible, visible},
                                  {kLabels, labels},
                                  {kPoints, pixels},
                                  {kInside, inside},
                                  {kFlatMask, Value::of(is_flat)},
                                  {kFormat, format},
                                  {kRelative, relative},
                                  {kMinVisible, least},
                                  {kMaskFill, fill}});
  bundle.as<StructObject>().type = kBundle;
  return bundle;
}

// ---- carried along

Value Bundles::common(const std::vector<Value>& operands, const Call& call) {
  const auto first = std::ranges::find_if(operands, is_bundle);
  const auto lies_like_first = [&](const Value& other) {
    if (!is_bundle(other)) return true;
    return std::ranges::all_of(first->as<StructObject>().fields, [&](const auto& own) {
      return own.first == kImage || own.second.same_as(field(other, own.first.c_str()));
    });
  };
  if (std::all_of(first, operands.end(), lies_like_first)) return *first;
  return ev_.fail(Message::kBundlesApart, call.span, {call.what});
}

Value Bundles::carry(const Value& made, const std::vector<Value>& operands, const Call& call) {
  if (made.is(ValueKind::kTuple)) {  // the picture first
    std::vector<Value> all = made.elements();
    all[0] = carry(all[0], operands, call);
    return all[0].is_poison() ? all[0] : ev_.make_tuple(std::move(all));
  }
  if (!made.is_node()) return made;
  const ir::Node* node = ev_.graph()->defining_node(made.node);
  const op::Places places = node ? op::places_of(*node) : op::Places::kUnknown;
  if (places == op::Places::kNone) return made;
  const Value bundle = common(operands, call);
  if (bundle.is_poison()) return bundle;
  const bool is_alike = is_picture(ev_.type_of(made)) &&
                        has_frames(ev_.type_of(made)) == has_frames(ev_.type_of(field(bundle, kImage)));
  if (places == op::Places::kUnknown || !is_alike)
    return ev_.fail(Message::kPlacesUnknown, call.span, {call.what});
  return places == op::Places::kMoved ? carry_moved(made, bundle, call) : with(ev_, bundle, {{kImage, made}});
}

Value Bundles::mask_node(const ir::Node& like, const Value& mask, const Value& fill, Span span) {
  op::GraphBuilder::NodeSpec spec;
  spec.op = like.op;
  spec.inputs = like.inputs;
  spec.inputs[0] = mask.node;
  spec.args = like.args;
  speak_of_mask(spec.args, *like.op, ev_.type_of(mask), ev_.graph()->type(like.inputs[0]), fill.as_double(),
                span);
  spec.span = span;
  spec.key = like.key;
  spec.has_own_seed = like.has_own_seed;
  return ev_.add_node(std::move(spec));
}

Value Bundles::carry_moved(const Value& made, const Value& bundle, const Call& call) {
  const ir::Node node = *ev_.graph()->defining_node(made.node);  // a copy: the graph grows
  op::GraphBuilder::NodeSpec spec;
  spec.op = ev_.registry().find(op::places_name(*node.op));
  spec.inputs = node.inputs;
  spec.args = node.args;
  std::erase_if(spec.args, [](const ir::Arg& arg) { return arg.name == op::kDeviceArg; });
  spec.span = call.span;
  spec.key = node.key;
  spec.has_own_seed = node.has_own_seed;
  const Value step = ev_.add_node(std::move(spec));
  if (step.is_poison()) return step;
  if (ev_.type_of(step).ndim > ev_.type_of(field(bundle, kMap)).ndim)
    return ev_.fail(Message::kFramesApart, call.span, {call.what});
  const Value map = ev_.node_operator("together.compose", {step, field(bundle, kMap), made}, call.span);
  Value mask = field(bundle, kMask), visible = field(bundle, kVisible), inside = field(bundle, kInside);
  if (mask.is_node()) mask = mask_node(node, mask, field(bundle, kMaskFill), call.span);
  if (visible.is_node()) visible = ev_.node_operator("together.visible", {visible, made, step}, call.span);
  if (inside.is_node())
    inside = ev_.node_operator("together.inside", {field(bundle, kPoints), map, made, inside}, call.span);
  for (const Value& value : {map, mask, visible, inside})
    if (value.is_poison()) return Value::poison();
  return with(ev_, bundle,
              {{kImage, made}, {kMask, mask}, {kMap, map}, {kVisible, visible}, {kInside, inside}});
}

Value Bundles::move(const Value& bundle, ir::Device to, Span span) {
  const Value image = ev_.move_node(field(bundle, kImage), to, span);
  Value mask = field(bundle, kMask);
  if (mask.is_node()) mask = ev_.move_node(mask, to, span);
  if (image.is_poison() || mask.is_poison()) return Value::poison();
  return with(ev_, bundle, {{kImage, image}, {kMask, mask}});
}

// ---- taken out

namespace {

Value on_boxes(Evaluator& ev, const char* op, const Value& bundle, Span span) {
  return ev.node_operator(op, {field(bundle, kCorners), field(bundle, kVisible), field(bundle, kMap)}, span,
                          {{"min_visible", ir::Attr(field(bundle, kMinVisible).as_double()), span}});
}

}  // namespace

Value Bundles::kept_rows(const Value& bundle, const Value& rows, Span span) {
  if (rows.is_sequence()) {
    std::vector<Value> all;
    for (const Value& one : rows.elements()) all.push_back(kept_rows(bundle, one, span));
    return rows.is(ValueKind::kList) ? ev_.make_list(std::move(all), span) : ev_.make_tuple(std::move(all));
  }
  Value marks = on_boxes(ev_, "together.seen", bundle, span);
  if (marks.is_node() && ev_.type_of(marks).ndim == 2)
    marks = ev_.node_operator("together.anywhere", {marks}, span);
  if (marks.is_poison()) return marks;
  const Value count =
      ev_.node_operator("reductions.sum", {marks}, span, {{"dtype", ir::Attr(DType::kI32), span}});
  if (count.is_poison()) return count;
  return ev_.node_operator("together.rows", {rows, marks}, span, {{"count", count.node, span}});
}

Value Bundles::shown_boxes(const Value& bundle, Span span) {
  const Value boxes = on_boxes(ev_, "together.boxes", bundle, span);
  const Value kept = boxes.is_poison() ? boxes : kept_rows(bundle, boxes, span);
  if (kept.is_poison()) return kept;
  return ev_.node_operator("together.format", {kept, field(bundle, kImage)}, span,
                           {{"format", ir::Attr(field(bundle, kFormat).text()), span},
                            {"relative", ir::Attr(truth(field(bundle, kRelative))), span}});
}

Value Bundles::attribute(const Value& bundle, const std::string& name, Span span, Span name_span) {
  const auto missing = [&](const std::string& argument) {
    Diagnostic diagnostic = diagnose(Message::kNoAttribute, name_span, {"this bundle", name});
    diagnostic.help = "give `" + argument + "=` to `galatea.together`";
    return ev_.report(std::move(diagnostic));
  };
  const bool of_boxes = name == "boxes" || name == "labels", of_points = name == "points" || name == "inside";
  if (of_boxes && !field(bundle, kCorners).is_node()) return missing("boxes");
  if (name == "labels" && field(bundle, kLabels).is(ValueKind::kNone)) return missing("labels");
  if (of_points && !field(bundle, kPoints).is_node()) return missing("points");
  if (name == "mask" && !field(bundle, kMask).is_node()) return missing("mask");
  Value value;
  if (name == "image") {
    value = field(bundle, kImage);
  } else if (name == "mask") {
    value = field(bundle, kMask);
    if (field(bundle, kFlatMask).boolean)
      value = ev_.node_operator("squeeze", {value}, span, {{"axis_names", ir::Attr(std::string("C")), span}});
  } else if (name == "boxes") {
    value = shown_boxes(bundle, span);
  } else if (name == "labels") {
    value = kept_rows(bundle, field(bundle, kLabels), span);
  } else if (of_points) {
    const Value points = field(bundle, kPoints);
    value = name == "inside"
                ? field(bundle, kInside)
                : ev_.node_operator("together.points", {points, field(bundle, kMap), field(bundle, kImage)},
                                    span, {{"relative", ir::Attr(truth(field(bundle, kRelative))), span}});
    // Points of boxes are rows beside them.
    const bool of_each_box = frame_ndim(ev_.type_of(points)) == 3 && field(bundle, kCorners).is_node();
    if (of_each_box && !value.is_poison()) value = kept_rows(bundle, value, span);
  } else if (name == "matrix") {
    value = ev_.node_operator("cast", {field(bundle, kMap)}, span, {{"dtype", ir::Attr(DType::kF32), span}});
  } else if (name == "gpu" || name == "cpu") {
    return ev_.make_builtin(name, method_move, bundle);
  } else if (name == "shape") {
    return ev_.attribute(field(bundle, kImage), name, span, name_span);
  } else {
    Diagnostic diagnostic =
        diagnose(Message::kNoAttribute, name_span, {"a bundle of `galatea.together`", name});
    diagnostic.help = did_you_mean(
        name, {"image", "mask", "boxes", "labels", "points", "inside", "matrix", "shape", "gpu", "cpu"});
    return ev_.report(std::move(diagnostic));
  }
  if (value.is_node()) {
    std::string& known = ev_.graph()->values[value.node].variable;
    if (known.empty() || known.contains('.')) known = "." + name;
  }
  return value;
}

}  // namespace galatea::dsl
