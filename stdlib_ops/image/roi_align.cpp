// galatea.roi_align: boxes of an image, pooled to one size.
//
// Comes in: an image and boxes. Goes out: for each box a small image.
//
// A call is two nodes or three: `roi_align.reach` says what the boxes reach of any image, before a pixel is there, so
// that decoders make no more; `roi_align.bins`, or fn.slice and `roi_align.samples`, are the rest.
//
// Along an axis, a box from `start` to `start + length` has `bins` bins of length / bins. A bin has g samples, g =
// sampling_ratio, or ceil(length / bins), at
//
//   start + bin (length / bins) + (k + 1/2) (length / bins) / g        k = 0, 1, … g - 1
//
// where pixel k has its centre at k. A sample is the bilinear blend of four pixels; one that lies further than a
// pixel outside of the image is 0, between that and the edge it is at the edge. A bin is the mean of its samples:
// He et al., "Mask R-CNN", 2017, section 3, in the order and in the f32 of torchvision's operator.
//
// A few samples, as sampling_ratio says, are a stage. Of more, or of as many as each box needs, it would have loops of
// the same length for all boxes, the most that any needs: as a reduction, 100 boxes of 10 to 310 pixels took 380 ms,
// and 35 ms as the native function that they are.
#include <algorithm>

#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"
#include "stdlib_ops/common/pixels.h"
#include "stdlib_ops/native/roi_align.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kReach = "roi_align.reach";
constexpr const char* kBins = "roi_align.bins";
constexpr const char* kSamples = "roi_align.samples";
constexpr int64_t kMostBins = 4096;  // along an axis
constexpr int64_t kMostSamplingRatio = 256;
constexpr int64_t kMostSamplesOfAStage = 4;  // along an axis; each is four loads

constexpr const char* kScaleHelp = "it is what a number of a box counts in pixels of the image, positive";

std::array<int64_t, 2> output_size(const std::vector<int64_t>& given) {
  return {given.front(), given.back()};
}

bool is_a_stage(int64_t sampling_ratio) {
  return sampling_ratio > 0 && sampling_ratio <= kMostSamplesOfAStage;
}

Types roi_align_types(const TypeContext& ctx) {
  constexpr const char* kName = "galatea.roi_align";
  const ir::Type &image = ctx.input(0), &boxes = ctx.input(1);
  if (boxes.extents[1] >= 0 && boxes.extents[1] != 4)
    return ctx.error(fmt::format("{}: {} holds no boxes of four numbers", kName, describe(boxes)),
                     "boxes are rows of left, top, right, bottom: FLOAT [n, 4]");
  if (boxes.device == ir::Device::kGpu)
    return ctx.error(fmt::format("{}: boxes lie on the GPU", kName),
                     "leave them on the CPU: what they reach is asked before the image is there");
  const std::vector<int64_t> size = ctx.integers("output_size");
  if (size.empty() || size.size() > 2)
    return ctx.error(fmt::format("{}: output_size needs one number or two, (h, w)", kName), {},
                     "output_size");
  for (const int64_t bins : size)
    if (bins < 1 || bins > kMostBins)
      return ctx.error(fmt::format("{}: output_size is {}", kName, bins),
                       fmt::format("use 1 to {}", kMostBins), "output_size");
  if (const int64_t ratio = ctx.integer("sampling_ratio"); ratio > kMostSamplingRatio)
    return ctx.error(fmt::format("{}: sampling_ratio is {}", kName, ratio),
                     fmt::format("use 1 to {} samples along each axis of a bin, or -1 for one a pixel",
                                 kMostSamplingRatio),
                     "sampling_ratio");
  else if (image.device == ir::Device::kGpu && !is_a_stage(ratio))
    return ctx.error(fmt::format("{}: a GPU makes bins with 1 to {} samples along an axis, not {}", kName,
                                 kMostSamplesOfAStage, ratio),
                     "give sampling_ratio=2, or leave the image on the CPU", "sampling_ratio");
  if (given_static(ctx, "spatial_scale"))
    if (const double scale = ctx.number("spatial_scale"); !(scale > 0 && scale < kMostPixels))
      return ctx.error(fmt::format("{}: spatial_scale is {}", kName, scale), kScaleHelp, "spatial_scale");
  const DType dtype = ctx.dtype("dtype", image.dtype);
  if (dtype != image.dtype && dtype != DType::kF32)
    return ctx.error(fmt::format("{}: dtype {} of {}", kName, types_name(dtype), describe(image)),
                     "the output has the type of the image, or FLOAT", "dtype");
  const Layout layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(layout);
  ir::Type out = with_dtype(image, dtype);
  out.layout = Layout("N" + layout.str());
  out.ndim = image.ndim + 1;
  out.extents[static_cast<size_t>(at.h)] = size.front();
  out.extents[static_cast<size_t>(at.w)] = size.back();
  out.extents.insert(out.extents.begin(), boxes.extents[0]);
  return std::vector{out};
}

/// What both definitions check of a sample: the extents of the image.
void check_image(RecipeBuilder& b, const Expr& rows, const Expr& columns) {
  b.check(equal(b.extent(1, 0), i64(0)) | ((rows > i64(0)) & (columns > i64(0))),
          "the image is empty: {} x {}", {rows, columns});
}

/// Axes that are no image's, in front, as of lifted calls (compiler/op/lifting.h); then boxes, then the image's.
template <typename T>
std::vector<T> pooled(const std::vector<T>& of_window, const Layout& layout, T boxes, T rows, T columns) {
  std::vector<T> frames, own;
  for (size_t d = 0; d < of_window.size(); ++d) {
    const char letter = layout[static_cast<int>(d)];
    const bool is_own = letter == 'H' || letter == 'W' || letter == 'C';
    (is_own ? own : frames).push_back(letter == 'H' ? rows : letter == 'W' ? columns : of_window[d]);
  }
  frames.push_back(boxes);
  frames.insert(frames.end(), own.begin(), own.end());
  return frames;
}

Axes pooled_extents(RecipeBuilder& b, const Layout& layout) {
  const std::array<int64_t, 2> size = output_size(b.integers("output_size"));
  return pooled(b.extents(0), layout, b.extent(1, 0), i64(size[0]), i64(size[1]));
}

/// Some samples a bin, equally many for all boxes.
class Bins {
 public:
  explicit Bins(RecipeBuilder& b)
      : b_(b),
        at_(image_axes(b.input_layout(0))),
        size_(output_size(b.integers("output_size"))),
        ratio_(b.integer("sampling_ratio")),
        aligned_(b.flag("aligned")),
        scale_(b.arg("spatial_scale", DType::kF32)) {}

  void define() {
    check_image(b_, extent_of_image(0), extent_of_image(1));
    const std::array<StageRef, 2> places = {places_along(0), places_along(1)};
    const Axes extents = pooled_extents(b_, b_.input_layout(0));
    b_.output_stage(0, b_.map("bins", b_.output_type(0).dtype, extents, [&](const Axes& at) {
      Expr sum;
      for (int64_t y = 0; y < ratio_; ++y)
        for (int64_t x = 0; x < ratio_; ++x) {
          const Expr one = sample(at, place(places[0], at, 0, y), place(places[1], at, 1, x));
          sum = sum ? sum + one : one;
        }
      return kernel::saturate(sum / f32(static_cast<double>(ratio_ * ratio_)), b_.output_type(0).dtype);
    }));
  }

 private:
  /// Of the axis 0, rows, or 1, columns.
  int dim(int axis) const { return axis == 0 ? at_.h : at_.w; }
  Expr extent_of_image(int axis) const { return b_.extent(0, dim(axis)); }
  /// An index of what the boxes reach; within it, it stays as it is.
  Expr within_reach(const Expr& index, int axis) const {
    const Expr last = extent_of_image(axis) - i64(1);
    const auto inside = [&](const Expr& place) { return max(min(place, last), i64(0)); };
    return clamp(index, inside(b_.element(2, axis)), inside(b_.element(3, axis) - i64(1)));
  }
  Expr place_of_corner(const Expr& box, int corner) const {
    const Expr scaled = b_.load(1, {box, i64(corner)}) * scale_;
    return aligned_ ? scaled - f32(0.5) : scaled;
  }

  /// Where samples look, by box, bin, sample: in the image, or -1 where they do not count.
  StageRef places_along(int axis) {
    const int64_t bins = size_[static_cast<size_t>(axis)];
    const Expr extent = extent_of_image(axis);
    return b_.map(axis == 0 ? "rows" : "columns", DType::kF32, {b_.extent(1, 0), i64(bins), i64(ratio_)},
                  [&](const Axes& at) {
                    const Expr start = place_of_corner(at[0], 1 - axis);
                    const Expr span = place_of_corner(at[0], 3 - axis) - start;
                    const Expr length = aligned_ ? span : max(span, f32(1));
                    const Expr bin = length / f32(static_cast<double>(bins));
                    const Expr place = start + to_f32(at[1]) * bin +
                                       (to_f32(at[2]) + f32(0.5)) * bin / f32(static_cast<double>(ratio_));
                    const Expr counts = (place >= f32(-1)) & (place <= to_f32(extent));
                    return select(counts, clamp(place, f32(0), to_f32(extent - i64(1))), f32(-1));
                  });
  }
  Expr place(StageRef places, const Axes& at, int axis, int64_t number) const {
    return b_.load(places, {at[0], at[1 + static_cast<size_t>(dim(axis))], i64(number)});
  }

  Expr sample(const Axes& at, const Expr& py, const Expr& px) const {
    const Expr top = kernel::unary(ScalarOp::kFloor, py), left = kernel::unary(ScalarOp::kFloor, px);
    const Expr ly = py - top, lx = px - left, hy = f32(1) - ly, hx = f32(1) - lx;
    const auto pixel = [&](int64_t dy, int64_t dx) {
      Axes from(at.begin() + 1, at.end());
      from[static_cast<size_t>(at_.h)] = within_reach(pixel_index(top, -1) + i64(dy), 0);
      from[static_cast<size_t>(at_.w)] = within_reach(pixel_index(left, -1) + i64(dx), 1);
      return to_f32(b_.load(0, std::move(from)));
    };
    const Expr sum = (((hy * hx) * pixel(0, 0) + (hy * lx) * pixel(0, 1)) + (ly * hx) * pixel(1, 0)) +
                     (ly * lx) * pixel(1, 1);
    return select((py >= f32(0)) & (px >= f32(0)), sum, f32(0));
  }

  RecipeBuilder& b_;
  const ImageAxes at_;
  const std::array<int64_t, 2> size_;
  const int64_t ratio_;
  const bool aligned_;
  const Expr scale_;
};

std::string roi_config(const RecipeBuilder& b, const std::string& layout) {
  const std::array<int64_t, 2> size = output_size(b.integers("output_size"));
  return fmt::format(
      "{{\"rows\": {}, \"columns\": {}, \"sampling_ratio\": {}, \"aligned\": {}, \"layout\": \"{}\"}}",
      size[0], size[1], b.integer("sampling_ratio"), b.flag("aligned"), layout);
}

/// Without one, an image is HW or HWC.
Layout layout_of(const ir::Type& image) {
  if (!image.layout.empty()) return image.layout;
  return Layout(image.ndim == 2 ? "HW" : "HWC");
}

/// Input 0 is a window of the image, which is input 4.
void define_samples(RecipeBuilder& b) {
  const ImageAxes at = image_axes(layout_of(b.input_type(4)));
  const std::array<Expr, 2> image = {b.extent(4, at.h), b.extent(4, at.w)};
  check_image(b, image[0], image[1]);
  const Layout layout = layout_of(b.input_type(0));
  op::NativeOutput native;
  native.function = native::kRoiAlign;
  native.inputs = {0, 1};
  native.scalars = {b.arg("spatial_scale", DType::kF32)};
  for (const int axis : {0, 1})
    native.scalars.push_back(clamp(b.element(2, axis), i64(0), image[static_cast<size_t>(axis)]));
  native.scalars.insert(native.scalars.end(), image.begin(), image.end());
  native.config = roi_config(b, layout.str());
  native.makes = "bins";
  b.output_native(0, std::move(native), pooled_extents(b, layout));
}

Types samples_types(const TypeContext& ctx) {
  const ir::Type& window = ctx.input(0);
  const Layout layout = layout_of(window);
  const std::vector<int64_t> size = ctx.integers("output_size");
  ir::Type out = with_dtype(window, ctx.dtype("dtype", window.dtype));
  out.extents = pooled(window.extents, layout, ctx.input(1).extents[0], size.front(), size.back());
  const std::string letters = layout.str();
  const std::vector<char> named =
      pooled(std::vector<char>(letters.begin(), letters.end()), layout, 'N', 'H', 'W');
  out.layout = Layout(std::string(named.begin(), named.end()));
  out.ndim = window.ndim + 1;
  return std::vector{out};
}

Types reach_types(const TypeContext&) {
  const ir::Type corner{
      .dtype = DType::kI64, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {2}};
  return std::vector{corner, corner};
}

void define_reach(RecipeBuilder& b) {
  b.check(equal(b.extent(0, 1), i64(4)), "a box has 4 numbers, not {}", {b.extent(0, 1)},
          "boxes are rows of left, top, right, bottom");
  const Expr scale = b.arg("spatial_scale", DType::kF32);
  b.check((scale > f32(0)) & (scale < f32(kMostPixels)), "spatial_scale is {}", {scale}, kScaleHelp,
          "spatial_scale");
  const std::vector<Expr> reach = b.native_scalars(native::kRoiReach, {0}, {scale}, roi_config(b, ""),
                                                   std::vector<DType>(4, DType::kI64));
  b.output_scalars(0, {reach[0], reach[2]});
  b.output_scalars(1, {reach[1], reach[3]});
}

Result<std::optional<ir::NodeId>> expand_roi_align(const op::Expansion& expansion) {
  const op::GraphBuilder::NodeSpec& call = expansion.call;
  const ir::ValueId image = call.inputs[0], boxes = call.inputs[1];
  for (const op::LiftedOperand& operand : expansion.lifting.operands())
    if (!operand.argument.empty())
      return expansion.arguments().error(
          fmt::format("galatea.roi_align: {} is given for each frame", operand.argument),
          "boxes are those of all frames of a sample, and so is what they are counted in", operand.argument);
  const auto args_without = [&](std::initializer_list<std::string_view> names) {
    std::vector<ir::Arg> args = call.args;
    std::erase_if(args, [&](const ir::Arg& arg) {
      return arg.name == op::kPerFrameArg || std::ranges::find(names, arg.name) != names.end();
    });
    return args;
  };
  const ir::Graph& graph = expansion.builder.graph();
  GALATEA_ASSIGN(const ir::ValueId first,
                 expansion.add(kReach, {boxes}, args_without({"dtype", op::kDeviceArg})));
  const ir::ValueId end = graph.node(graph.value(first).node).outputs[1];
  if (is_a_stage(expansion.arguments().integer("sampling_ratio"))) {
    GALATEA_ASSIGN(const ir::ValueId bins,
                   expansion.add(kBins, {image, boxes, first, end}, args_without({})));
    return graph.value(bins).node;
  }
  const ImageAxes at = image_axes(layout_of(graph.type(image)));
  GALATEA_ASSIGN(const ir::ValueId window,
                 expansion.add("slice", {image},
                               {{"start", first, {}},
                                {"end", end, {}},
                                {"axes", ir::Attr(std::vector<int64_t>{at.h, at.w}), {}},
                                {"out_of_bounds_policy", ir::Attr(std::string("trim_to_shape")), {}}}));
  GALATEA_ASSIGN(const ir::ValueId bins,
                 expansion.add(kSamples, {window, boxes, first, end, image}, args_without({})));
  return graph.value(bins).node;
}

std::vector<ArgSpec> roi_align_args() {
  return {{.name = "output_size",
           .kind = ArgKind::kIntList,
           .required = true,
           .documentation = "Bins of each box, (h, w) or one number for both."},
          {.name = "spatial_scale",
           .kind = ArgKind::kFloat,
           .default_value = 1.0,
           .per_sample = true,
           .documentation = "What a number of a box counts in pixels of the image: 1/4 where the image has a "
                            "quarter of the size that boxes speak of."},
          {.name = "sampling_ratio",
           .kind = ArgKind::kInt,
           .default_value = int64_t{-1},
           .documentation =
               "Samples along each axis of a bin. 0 or less: ceil(the bin's length in pixels), for each "
               "box its own."},
          {.name = "aligned",
           .kind = ArgKind::kBool,
           .default_value = false,
           .documentation =
               "Whether boxes count from the corner of the first pixel, as they should; else from its "
               "centre, and no box is shorter than a pixel, as in the first RoIAlign."}};
}

Port image_port() {
  return {.name = "image",
          .documentation = "image, or a map of features",
          .layouts = {"HWC", "CHW", "HW"},
          .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}};
}

Port regions_port() {
  return {.name = "boxes",
          .documentation = "FLOAT [n, 4]: left, top, right, bottom, of this sample",
          .dtypes = {DType::kF32},
          .ndim = 2,
          .any_device = true};
}

Port corner_port(const char* name, const char* documentation) {
  return {
      .name = name, .documentation = documentation, .dtypes = {DType::kI64}, .ndim = 1, .any_device = true};
}

std::vector<Port> inputs_with_reach(Port image) {
  return {std::move(image), regions_port(), corner_port("first", "first row and column that boxes reach"),
          corner_port("end", "row and column behind the last")};
}

ArgSpec roi_dtype_arg() {
  return dtype_arg("Element type of the output: the image's, or FLOAT; the image's if not given.");
}

}  // namespace

Operator make_galatea_roi_align() {
  Operator op;
  op.name = "galatea.roi_align";
  op.summary = "Boxes of an image, pooled to one size (RoIAlign).";
  op.documentation =
      "Each box is cut into output_size bins; a bin is the mean of bilinear samples of the image at regular "
      "places (He et al., \"Mask R-CNN\", 2017, section 3). With length = (end - start) spatial_scale, along "
      "each axis, sample k of g of a bin is at start + (bin + (k + 1/2) / g) length / bins, where pixel k has "
      "its centre at k, and at k + 1/2 with aligned. Samples up to a pixel outside of the image are at its "
      "edge, those further away are 0. A box that ends before its start gives 0 with aligned, where no "
      "sampling_ratio is given; without, it is a pixel long. The output has an axis N of boxes in front: NHWC of "
      "an image HWC, NCHW of CHW. Numbers are those of torchvision.ops.roi_align, bit for bit. Integers round "
      "half to even. On a GPU sampling_ratio is 1 to 4. Boxes are the same for all frames of a sequence. More than 2^26 samples of a "
      "bin and coordinates beyond 2^24 pixels are the sample's error.";
  op.inputs = {image_port(), regions_port()};
  op.min_inputs = op.max_inputs = 2;
  op.args = roi_align_args();
  op.args.push_back(roi_dtype_arg());
  op.devices = {"cpu", "gpu"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "image = fn.decoders.image(encoded)\n"
      "boxes = fn.constant(fdata=[8.0, 8.0, 40.0, 30.0, 0.0, 0.0, 20.0, 20.0], shape=[2, 4])\n"
      "return fn.galatea.roi_align(image, boxes, output_size=[7, 7], sampling_ratio=2, aligned=True), label\n";
  op.type_rule = roi_align_types;
  op.expand = expand_roi_align;
  return op;
}

Operator make_roi_align_reach() {
  Operator op;
  op.name = kReach;
  op.kind = OperatorKind::kNative;
  op.internal = true;
  op.summary = "What boxes reach of an image.";
  op.documentation =
      "As a step of fn.galatea.roi_align: first row and column, and those behind the last; they may lie outside of the "
      "image.";
  op.inputs = {regions_port()};
  op.min_inputs = op.max_inputs = 1;
  op.args = roi_align_args();
  op.type_rule = reach_types;
  op.define = define_reach;
  return op;
}

Operator make_roi_align_bins() {
  Operator op;
  op.name = kBins;
  op.internal = true;
  op.summary = "The bins of boxes, of a few samples each.";
  op.documentation = "As a step of fn.galatea.roi_align.";
  op.inputs = inputs_with_reach(image_port());
  op.min_inputs = op.max_inputs = 4;
  op.args = roi_align_args();
  op.args.push_back(roi_dtype_arg());
  op.devices = {"cpu", "gpu"};
  op.type_rule = roi_align_types;
  op.define = [](RecipeBuilder& b) { Bins(b).define(); };
  return op;
}

Operator make_roi_align_samples() {
  Operator op;
  op.name = kSamples;
  op.kind = OperatorKind::kNative;
  op.internal = true;
  op.summary = "The bins of boxes, of as many samples as each box needs.";
  op.documentation = "As a step of fn.galatea.roi_align.";
  Port image = image_port();
  image.name = "window";
  image.layouts.clear();  // with all frames
  op.inputs = inputs_with_reach(image);
  op.inputs.push_back({.name = "image", .documentation = "what `window` is of: its extents"});
  op.min_inputs = op.max_inputs = 5;
  op.args = roi_align_args();
  op.args.push_back(roi_dtype_arg());
  op.type_rule = samples_types;
  op.define = define_samples;
  return op;
}

}  // namespace galatea::ops
