// mixup, cutmix: each sample of the batch mixed with another one, and its label with that one's.
//
// Comes in: data, and perhaps a label: a class, or weights of all classes. Goes out: both mixed.
//
// A call is four nodes: batch_permutation says who the partners are, permute_batch takes their data and labels,
// and mixup.blend or cutmix.paste, which draw the ratio, mix them.
#include <array>
#include <cmath>

#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

enum class Mixing : uint8_t { kBlend, kPaste };

/// Elements of the node's stream. The partner's place is drawn from element 0.
constexpr int64_t kRatioDraw = 4, kCentreDraw = kRatioDraw + kDrawsPerBeta;

/// The label's type: FLOAT weights of the classes.
Result<ir::Type> mixed_label(const TypeContext& ctx, const ir::Type& label) {
  ir::Type out;
  out.dtype = DType::kF32;
  out.ndim = 1;
  out.device = label.device;
  const std::string& name = ctx.op().name;
  if (is_float(label.dtype)) {
    if (label.ndim != 1)
      return ctx.error(
          fmt::format("{}: a label of floats has a weight for each class; it is {}", name, describe(label)),
          "give the class as an integer with num_classes=, or weights as a vector");
    if (ctx.given("num_classes"))
      return ctx.error(fmt::format("{}: num_classes is for labels that are classes; the label is {}", name,
                                   describe(label)),
                       "leave it out", "num_classes");
    out.extents = label.extents;
    return out;
  }
  if (label.static_volume() != 1)
    return ctx.error(fmt::format("{}: the label must be one class or a vector of FLOAT weights; it is {}",
                                 name, describe(label)),
                     "weights: fn.cast(label, dtype=types.FLOAT)");
  if (!ctx.given("num_classes"))
    return ctx.error(fmt::format("{}: how many classes there are is not given", name),
                     "write num_classes=1000, or give the label as weights of all classes");
  const int64_t classes = ctx.integer("num_classes");
  if (classes < 1)
    return ctx.error(fmt::format("{}: num_classes must be at least 1, not {}", name, classes), {},
                     "num_classes");
  out.extents = {classes};
  return out;
}

Types mixed_types(const TypeContext& ctx, Mixing mixing, int label) {
  if (given_static(ctx, "alpha") && !(ctx.number("alpha") > 0 && std::isfinite(ctx.number("alpha"))))
    return ctx.error(
        fmt::format("{}: alpha must be positive and finite, got {}", ctx.op().name, ctx.number("alpha")), {},
        "alpha");
  ir::Type data = ctx.input(0);
  if (ctx.op().find_arg("dtype") != nullptr) {
    data.dtype = ctx.dtype("dtype", data.dtype);
    if (data.dtype != ctx.input(0).dtype && data.dtype != DType::kF32)
      return ctx.error(fmt::format("{}: dtype {} is neither the input's type nor FLOAT", ctx.op().name,
                                   types_name(data.dtype)),
                       "convert the result with fn.cast", "dtype");
  }
  if (mixing == Mixing::kPaste && !(data.layout.contains('H') && data.layout.contains('W')))
    return ctx.error(
        fmt::format("{}: the input has no axes H and W; it is {}", ctx.op().name, describe(data)),
        "name the axes: fn.reshape(x, layout=\"HWC\")");
  std::vector<ir::Type> types{data};
  if (ctx.num_inputs() > label) {
    GALATEA_ASSIGN(const ir::Type mixed, mixed_label(ctx, ctx.input(label)));
    types.push_back(mixed);
  }
  return types;
}

/// The definition of the node that mixes: data, the partner's data; label, the partner's label.
class Mixer {
 public:
  explicit Mixer(RecipeBuilder& b) : b_(b), extents_(b.extents(0)) {
    const Expr alpha = b.arg("alpha", DType::kF32);
    b.check((alpha > f32(0)) & (alpha < f32(HUGE_VAL)), "alpha must be positive and finite, got {}", {alpha},
            {}, "alpha");
    ratio_ = beta_draw(b, alpha, alpha, i64(kRatioDraw));
    for (int d = 0; d < b.input_type(0).ndim; ++d) {
      const Expr own = b.extent(0, d), other = b.extent(1, d);
      b.check(equal(own, other), "an extent is {} here and {} in the sample that it is mixed with",
              {own, other}, "make all samples of the batch equally large, with fn.resize or fn.crop");
    }
  }

  void blend() {
    const DType type = b_.output_type(0).dtype;
    b_.output_stage(0, b_.map("mixup", type, extents_, [&](const Axes& at) {
      const Expr own = to_f32(b_.load(0, at)), other = to_f32(b_.load(1, at));
      return kernel::saturate(kernel::fma(own, ratio_, other * (f32(1) - ratio_)), type);
    }));
    mix_labels(ratio_);
  }

  void paste() {
    const ImageAxes image = image_axes(b_.input_type(0).layout);
    const Expr half = f32(0.5) * kernel::unary(ScalarOp::kSqrt, f32(1) - ratio_);
    std::array<Range, 2> box;
    const std::array<int, 2> dims{image.h, image.w};
    Expr all = i64(1), pasted = i64(1);
    for (size_t d = 0; d < 2; ++d) {
      const Expr n = extents_[static_cast<size_t>(dims[d])];
      const Expr centre = b_.random_below(i64(kCentreDraw + static_cast<int64_t>(d)), n);
      const Expr radius = to_i64(half * to_f32(n));
      box[d] = {max(centre - radius, i64(0)), min(centre + radius, n)};
      all = all * n;
      pasted = pasted * (box[d].end - box[d].begin);
    }
    b_.output_stage(0, b_.map("cutmix", b_.output_type(0).dtype, extents_, [&](const Axes& at) {
      Expr inside = truth(true);
      for (size_t d = 0; d < 2; ++d) {
        const Expr& i = at[static_cast<size_t>(dims[d])];
        inside = inside & (i >= box[d].begin) & (i < box[d].end);
      }
      return select(inside, b_.load(1, at), b_.load(0, at));
    }));
    // Of an image without pixels all is its own.
    mix_labels(f32(1) - to_f32(to_f64(pasted) / to_f64(max(all, i64(1)))));
  }

 private:
  struct Range {
    Expr begin, end;
  };

  void mix_labels(const Expr& own_share) {
    if (b_.num_inputs() < 4) return;
    const Expr other_share = f32(1) - own_share;
    if (is_float(b_.input_type(2).dtype)) {
      const Expr own = b_.extent(2, 0), other = b_.extent(3, 0);
      b_.check(equal(own, other), "the label has {} classes here and {} in the sample that it is mixed with",
               {own, other});
      b_.output_stage(1, b_.map("mixed_label", DType::kF32, {own}, [&](const Axes& at) {
        return kernel::fma(to_f32(b_.load(2, at)), own_share, to_f32(b_.load(3, at)) * other_share);
      }));
      return;
    }
    const Expr classes = b_.arg("num_classes", DType::kI64);
    const Expr own = kernel::saturate(b_.element(2, 0), DType::kI64),
               other = kernel::saturate(b_.element(3, 0), DType::kI64);
    b_.check((own >= i64(0)) & (own < classes), "the label is {}, and there are {} classes", {own, classes},
             {}, "num_classes");
    b_.check((other >= i64(0)) & (other < classes),
             "the label of the sample that it is mixed with is {}, and there are {} classes",
             {other, classes}, {}, "num_classes");
    b_.output_stage(1, b_.map("mixed_label", DType::kF32, {classes}, [&](const Axes& at) {
      return select(equal(at[0], own), own_share, f32(0)) + select(equal(at[0], other), other_share, f32(0));
    }));
  }

  RecipeBuilder& b_;
  const Axes extents_;
  Expr ratio_;  ///< the share of the sample's own data
};

Result<std::optional<ir::NodeId>> expand_mixing(const op::Expansion& expansion, const char* mixer) {
  GALATEA_ASSIGN(const ir::ValueId place,
                 expansion.add("batch_permutation", {}, {{"no_fixed_points", ir::Attr(true), {}}}));
  const op::GraphBuilder::NodeSpec& call = expansion.call;
  std::vector<ir::ValueId> inputs;
  for (int k = 0; k < op::num_own_inputs(call.inputs, call.args); ++k) {
    const ir::ValueId own = call.inputs[static_cast<size_t>(k)];
    GALATEA_ASSIGN(const ir::ValueId other, expansion.add("permute_batch", {own}, {{"indices", place, {}}}));
    inputs.insert(inputs.end(), {own, other});
  }
  std::vector<ir::Arg> args = call.args;
  std::erase_if(args, [](const ir::Arg& arg) { return arg.name == op::kPerFrameArg; });  // said anew
  GALATEA_ASSIGN(const ir::ValueId result, expansion.add(mixer, std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(result).node;
}

const std::vector<DType> kNumbers = {DType::kU8,  DType::kU16, DType::kU32, DType::kI8,
                                     DType::kI16, DType::kI32, DType::kF16, DType::kF32};

Port data_port(Mixing mixing) {
  if (mixing == Mixing::kBlend)
    return {.name = "data", .documentation = "an image or any other tensor", .dtypes = kNumbers};
  return {.name = "image", .documentation = "an image, a sequence or a volume, with axes named H and W"};
}

Port label_port() {
  return {.name = "label",
          .documentation = "the class, an integer; or weights of all classes, FLOAT [classes]",
          .optional = true,
          .any_device = true};
}

Operator make_mixing(Mixing mixing, std::string name) {
  Operator op;
  op.name = std::move(name);
  op.args = {
      {.name = "alpha",
       .kind = ArgKind::kFloat,
       .default_value = 1.0,
       .per_sample = true,
       .documentation = "Both shapes of the beta distribution that the ratio is drawn from, positive; 1 "
                        "is the uniform distribution, small numbers mix little."},
      {.name = "num_classes",
       .kind = ArgKind::kInt,
       .documentation = "How many classes there are, where the label is one of them."}};
  if (mixing == Mixing::kBlend)
    op.args.push_back(dtype_arg("Element type of the data: the input's or FLOAT."));
  op.random = true;
  op.devices = {"cpu", "gpu"};
  return op;
}

Operator make_call(Mixing mixing, std::string name, const char* mixer) {
  Operator op = make_mixing(mixing, std::move(name));
  op.inputs = {data_port(mixing), label_port()};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.sees_batch = [](const ir::Node&) { return true; };
  op.type_rule = [mixing](const TypeContext& ctx) { return mixed_types(ctx, mixing, 1); };
  op.expand = [mixer](const op::Expansion& expansion) { return expand_mixing(expansion, mixer); };
  return op;
}

Operator make_mixer(Mixing mixing, std::string name) {
  Operator op = make_mixing(mixing, std::move(name));
  op.inputs = {data_port(mixing), data_port(mixing), label_port(), label_port()};
  op.inputs[1].name = "other";
  op.inputs[3].name = "other_label";
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.internal = true;
  op.type_rule = [mixing](const TypeContext& ctx) { return mixed_types(ctx, mixing, 2); };
  return op;
}

}  // namespace

Operator make_galatea_mixup() {
  Operator op = make_call(Mixing::kBlend, "galatea.mixup", "mixup.blend");
  op.summary = "Blends each sample with another one of its batch, and their labels.";
  op.documentation =
      "out = r * own + (1 - r) * other, with r of the distribution Beta(alpha, alpha), drawn for each sample "
      "(Zhang et al., \"mixup: Beyond Empirical Risk Minimization\", 2018); computed in f32, integers round "
      "half to even. The other sample is the next one of a random cycle through the batch. With a label there "
      "is a second output: FLOAT weights of the classes, mixed alike. All samples of the batch must have equal "
      "extents. See docs/batches.md.";
  op.example =
      image_example("fn.galatea.mixup(fn.resize(image, size=[32, 32]), label, alpha=0.2, num_classes=10)");
  return op;
}

Operator make_mixup_blend() {
  Operator op = make_mixer(Mixing::kBlend, "mixup.blend");
  op.summary = "Blends two samples and their labels.";
  op.documentation = "As the last step of galatea.mixup; draws the ratio.";
  op.define = [](RecipeBuilder& b) { Mixer(b).blend(); };
  return op;
}

Operator make_galatea_cutmix() {
  Operator op = make_call(Mixing::kPaste, "galatea.cutmix", "cutmix.paste");
  op.summary = "Pastes a box of another image of the batch into each image, and mixes their labels.";
  op.documentation =
      "With r of the distribution Beta(alpha, alpha) and a centre that is uniform over the pixels (cy, cx), the "
      "box from max(c - h, 0) to min(c + h, n) with h = trunc(n sqrt(1 - r) / 2) along each axis of n pixels "
      "shows the other image (Yun et al., \"CutMix\", 2019; torchvision's rule). The label's share of the other "
      "is the box's share of the pixels; all frames of a sequence have one box. The other image is the next one "
      "of a random cycle through the batch. "
      "With a label there is a second output: FLOAT weights of the classes. All images of the batch must have "
      "equal extents. See docs/batches.md.";
  op.example = image_example("fn.galatea.cutmix(fn.resize(image, size=[32, 32]), label, num_classes=10)");
  return op;
}

Operator make_cutmix_paste() {
  Operator op = make_mixer(Mixing::kPaste, "cutmix.paste");
  op.summary = "Pastes a box of one image into another, and mixes their labels.";
  op.documentation = "As the last step of galatea.cutmix; draws the box.";
  op.define = [](RecipeBuilder& b) { Mixer(b).paste(); };
  return op;
}

}  // namespace galatea::ops
