// segmentation.random_object_bbox: the box around an object of a mask, by chance.
//
// Comes in: a mask of labels. Goes out: where the box begins, and its shape or its end; the object's class. The
// search is stdlib_ops/native/object_bbox.h.
//
// Lists that a sample gives, whose lengths may differ, are inputs of another node: a call with such lists is
// one of segmentation.object_of_lists.
#include <algorithm>
#include <cmath>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/object_bbox.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

const std::vector<DType> kMaskTypes = {DType::kBool, DType::kU8,  DType::kU16, DType::kU32,
                                       DType::kI8,   DType::kI16, DType::kI32};

/// "anchor_shape", "start_end", "box".
template <typename Context>
bool is_one_box(const Context& c) {
  return c.text("format") == "box";
}

Status check_classes(const TypeContext& ctx) {
  for (const char* name : {"classes", "class_weights"})
    if (ctx.is_per_sample(name) && ctx.arg_type(name).ndim > 1)
      return ctx.error(fmt::format("segmentation.random_object_bbox: {} is {}, and takes a list", name,
                                   describe(ctx.arg_type(name))),
                       "one axis: fn.reshape(x, shape=[-1])", name);
  const bool classes = given_static(ctx, "classes"), weights = given_static(ctx, "class_weights");
  if (classes && given_static(ctx, "background")) {
    const std::vector<int64_t> labels = ctx.integers("classes");
    if (std::ranges::find(labels, ctx.integer("background")) != labels.end())
      return ctx.error(fmt::format("segmentation.random_object_bbox: class {} is the background",
                                   ctx.integer("background")),
                       "choose another background, or leave it out of classes", "classes");
  }
  if (!weights) return {};
  const std::vector<double> values = ctx.numbers("class_weights");
  for (const double weight : values)
    if (!(weight >= 0 && std::isfinite(weight)))
      return ctx.error(fmt::format("segmentation.random_object_bbox: a class weight is {}", weight),
                       "weights are finite, and 0 or more", "class_weights");
  if (classes && ctx.integers("classes").size() != values.size())
    return ctx.error(fmt::format("segmentation.random_object_bbox: there are {} class weights for {} classes",
                                 values.size(), ctx.integers("classes").size()),
                     "give one for each class", "class_weights");
  return {};
}

Types object_types(const TypeContext& ctx) {
  const ir::Type& mask = ctx.input(0);
  if (mask.ndim == 0)
    return ctx.error(fmt::format("segmentation.random_object_bbox: {} has no axes", describe(mask)),
                     "a mask has one axis or more");
  const std::string format = ctx.text("format");
  if (format != "anchor_shape" && format != "start_end" && format != "box")
    return ctx.error(fmt::format("segmentation.random_object_bbox: there is no format \"{}\"", format),
                     "formats are \"anchor_shape\", \"start_end\" and \"box\"", "format");
  if (ctx.flag("ignore_class")) {
    for (const char* name : {"classes", "class_weights"})
      if (ctx.given(name))
        return ctx.error(
            fmt::format("segmentation.random_object_bbox: ignore_class and {} exclude each other", name),
            "classes play no part where they are ignored", name);
    if (ctx.flag("output_class"))
      return ctx.error("segmentation.random_object_bbox: ignore_class and output_class exclude each other",
                       "classes play no part where they are ignored", "output_class");
  }
  if (ctx.given("k_largest") && ctx.integer("k_largest") < 1)
    return ctx.error(fmt::format("segmentation.random_object_bbox: k_largest must be at least 1, not {}",
                                 ctx.integer("k_largest")),
                     {}, "k_largest");
  GALATEA_TRY(check_classes(ctx));
  if (ctx.given("threshold")) GALATEA_TRY(check_length(ctx, "threshold", mask.ndim));
  ir::Type corner;
  corner.dtype = DType::kI32;
  corner.ndim = 1;
  corner.extents = {is_one_box(ctx) ? 2 * mask.ndim : mask.ndim};
  std::vector<ir::Type> out(is_one_box(ctx) ? 1 : 2, corner);
  if (ctx.flag("output_class")) {
    ir::Type label;
    label.dtype = DType::kI32;
    out.push_back(label);
  }
  return out;
}

void define_object(RecipeBuilder& b, bool fed_classes, bool fed_weights) {
  const int ndim = b.input_type(0).ndim;
  native::ObjectBboxOptions options;
  options.ignore_class = b.flag("ignore_class");
  options.has_background = b.given("background");
  if (b.given("k_largest")) options.k_largest = b.integer("k_largest");
  options.fed_classes = fed_classes;
  options.fed_weights = fed_weights;
  if (b.given("classes")) options.classes = b.integers("classes");
  if (b.given("class_weights")) options.weights = b.numbers("class_weights");

  const Expr share = finite_arg(b, "foreground_prob");
  std::vector<Expr> scalars;
  for (int64_t word = 0; word < 4; ++word) scalars.push_back(to_i64(b.random_u32(i64(word))));
  scalars.push_back(select(b.random_unit(i64(4)) < share, i64(1), i64(0)));
  scalars.push_back(to_i64(b.arg("background", DType::kI32)));
  std::vector<Expr> least(static_cast<size_t>(ndim), i64(0));
  if (b.given("threshold")) least = list_arg(b, "threshold", ndim, DType::kI64);
  scalars.insert(scalars.end(), least.begin(), least.end());
  std::vector<int> inputs;
  for (int k = 0; k < b.num_inputs(); ++k) inputs.push_back(k);
  std::vector<Expr> found =
      b.native_scalars(native::kMaskObjectBbox, inputs, std::move(scalars), to_json(options),
                       std::vector<DType>(static_cast<size_t>(2 * ndim + 1), DType::kI64));
  for (Expr& number : found) number = kernel::convert(number, DType::kI32);

  const auto middle = found.begin() + ndim, last = found.end() - 1;
  int outputs = 1;
  if (is_one_box(b)) {
    b.output_scalars(0, {found.begin(), last});
  } else {
    std::vector<Expr> second(middle, last);
    if (b.text("format") == "anchor_shape")
      for (size_t d = 0; d < second.size(); ++d) second[d] = second[d] - found[d];
    b.output_scalars(0, {found.begin(), middle});
    b.output_scalars(1, std::move(second));
    outputs = 2;
  }
  if (b.flag("output_class")) b.output_scalars(outputs, {found.back()});
}

/// A call whose lists are the sample's.
Result<std::optional<ir::NodeId>> expand_object(const op::Expansion& expansion) {
  const TypeContext arguments = expansion.arguments();
  std::vector<ir::ValueId> inputs = {expansion.call.inputs[0]};
  std::vector<ir::Arg> args = expansion.call.args;
  for (const char* name : {"classes", "class_weights"}) {
    if (!arguments.is_per_sample(name)) continue;
    const auto list = std::ranges::find(args, std::string(name), &ir::Arg::name);
    inputs.push_back(list->as_value());
    *list = {name == std::string_view("classes") ? "fed_classes" : "fed_weights", ir::Attr(true), list->span};
  }
  if (inputs.size() == 1) return std::nullopt;
  GALATEA_ASSIGN(const ir::ValueId box,
                 expansion.add("segmentation.object_of_lists", std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(box).node;
}

std::vector<ArgSpec> object_args() {
  return {
      {.name = "ignore_class",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation =
           "Whether each object is as likely; else a class is drawn first, and one of its objects."},
      {.name = "output_class",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation =
           "Whether the object's class is the last output; the background's where there is none."},
      {.name = "foreground_prob",
       .kind = ArgKind::kFloat,
       .default_value = 1.0,
       .per_sample = true,
       .documentation = "How likely an object is taken; else the box is the whole mask."},
      {.name = "classes",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation =
           "Labels that are the foreground; all but the background if not given. Samples may have "
           "lists of different lengths."},
      {.name = "class_weights",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation =
           "How likely each class is, 0 or more, in proportion; of the labels 0, 1, 2, … without "
           "the background if classes is not given. All are as likely if not given."},
      {.name = "background",
       .kind = ArgKind::kInt,
       .default_value = int64_t{0},
       .per_sample = true,
       .documentation =
           "The label that is no object. Where classes holds 0, another label that it does not."},
      {.name = "threshold",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation =
           "The least extent of a box, in pixels: one number, or one for each axis of the mask."},
      {.name = "k_largest",
       .kind = ArgKind::kInt,
       .documentation = "Only so many boxes of the class (with ignore_class of all) are drawn from, the "
                        "largest; of equal ones the first."},
      {.name = "format",
       .kind = ArgKind::kString,
       .default_value = std::string("anchor_shape"),
       .documentation =
           "\"anchor_shape\" and \"start_end\" are two outputs, \"box\" is start and end in one."},
      ignored("cache_objects", ArgKind::kBool, false,
              "Objects are found in one pass over the mask; none are remembered."),
  };
}

Port mask_port() {
  return {.name = "mask", .documentation = "labels, one axis or more", .dtypes = kMaskTypes};
}

}  // namespace

Operator make_segmentation_random_object_bbox() {
  Operator op;
  op.name = "segmentation.random_object_bbox";
  op.summary = "The box around an object of a mask, by chance.";
  op.documentation =
      "An object is a blob of pixels with one label, neighbours along an axis. Of the classes that have an "
      "object no smaller than threshold one is drawn, by class_weights, and one of its objects. Where there is "
      "none, or foreground_prob says so, the box is the whole mask. Outputs: INT32, where the box begins along "
      "each axis of the mask, and its extents or where it ends; with output_class the label, INT32. Labels of "
      "UINT32 masks are taken as INT32.";
  op.kind = OperatorKind::kNative;
  op.inputs = {mask_port()};
  op.min_inputs = op.max_inputs = 1;
  op.output_needs = {"", "format!=box", "output_class"};
  op.args = object_args();
  op.random = true;
  op.example =
      "mask = fn.constant(idata=[0, 0, 1, 1, 2, 0, 0, 1, 0, 2, 0, 0], shape=[3, 4])\n"
      "anchor, shape, label = fn.segmentation.random_object_bbox(mask, class_weights=[1, 3], output_class=True,\n"
      "                                                          foreground_prob=0.9)\n"
      "return fn.slice(mask, anchor, shape, axes=[0, 1]), label\n";
  op.type_rule = object_types;
  op.expand = expand_object;
  op.define = [](RecipeBuilder& b) { define_object(b, false, false); };
  return op;
}

Operator make_segmentation_object_of_lists() {
  Operator op;
  op.name = "segmentation.object_of_lists";
  op.summary = "The box around an object of a mask, of classes that the sample lists.";
  op.documentation =
      "As fn.segmentation.random_object_bbox with classes, class_weights or both as inputs behind the mask.";
  op.kind = OperatorKind::kNative;
  op.inputs = {mask_port(),
               {.name = "list", .documentation = "classes or class_weights", .optional = true},
               {.name = "weights", .documentation = "class_weights", .optional = true}};
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.args = object_args();
  for (const char* name : {"fed_classes", "fed_weights"})
    op.args.push_back({.name = name,
                       .kind = ArgKind::kBool,
                       .default_value = false,
                       .documentation = "Whether an input is this list."});
  op.random = true;
  op.internal = true;
  op.type_rule = object_types;
  op.define = [](RecipeBuilder& b) { define_object(b, b.flag("fed_classes"), b.flag("fed_weights")); };
  return op;
}

}  // namespace galatea::ops
