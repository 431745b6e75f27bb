// equalize: spreads the values of every channel evenly over the range of a byte.
//
// Comes in: an image of bytes. Goes out: each channel through a table made from its own histogram.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kBins = 256;

/// The stages that make one table of bytes per channel (one in all, where the layout names none).
class Equalizer {
 public:
  explicit Equalizer(RecipeBuilder& b) : b_(b), axes_(image_axes(b.input_layout(0))) {
    for (int d = 0; d < b.input_type(0).ndim; ++d) {
      if (d == axes_.h || d == axes_.w) continue;
      tables_.push_back(d);
      counts_.push_back(b.extent(0, d));
    }
  }

  void define() {
    const StageRef table = make_table();
    b_.output_stage(0, b_.map("equalize", DType::kU8, b_.extents(0), [&](const Axes& at) {
      Axes place;
      for (int d : tables_) place.push_back(at[static_cast<size_t>(d)]);
      place.push_back(to_i64(b_.load(0, at)));
      return b_.load(table, std::move(place));
    }));
  }

 private:
  Axes per_bin() const {
    Axes extents = counts_;
    extents.push_back(i64(kBins));
    return extents;
  }
  /// The bin `v` of the table that an element's other axes name.
  static Axes at_bin(Axes axes, const Expr& v) {
    axes.push_back(v);
    return axes;
  }
  static Axes table_of(Axes at) {
    at.pop_back();
    return at;
  }

  StageRef make_table() {
    const auto h = static_cast<size_t>(axes_.h), w = static_cast<size_t>(axes_.w);
    const Expr height = b_.extent(0, axes_.h), width = b_.extent(0, axes_.w);
    const StageRef counts = b_.histogram({.name = "histogram",
                                          .extents = counts_,
                                          .bins = i64(kBins),
                                          .reduce_extents = {height, width},
                                          .body = [&](const Axes& table, const Axes& pixel) {
                                            Axes at(b_.extents(0).size());
                                            at[h] = pixel[0];
                                            at[w] = pixel[1];
                                            for (size_t k = 0; k < tables_.size(); ++k)
                                              at[static_cast<size_t>(tables_[k])] = table[k];
                                            return to_i64(b_.load(0, at));
                                          }});
    const StageRef sums = b_.scan({.name = "cumulated",
                                   .type = DType::kI32,
                                   .extents = per_bin(),
                                   .axis = static_cast<int>(tables_.size()),
                                   .accumulator = DType::kI32,
                                   .body = [&](const Axes& at) { return b_.load(counts, at); }});
    const StageRef lowest =
        b_.reduce({.name = "lowest",
                   .type = DType::kI64,
                   .extents = counts_,
                   .reduce_extents = {i64(kBins)},
                   .accumulator = DType::kI64,
                   .combiner = kernel::Combiner::kMin,
                   .body = [&](const Axes& table, const Axes& v) {
                     const Expr count = b_.load(counts, at_bin(table, v[0]));
                     return select(count > kernel::const_int(0, DType::kI32), v[0], i64(kBins - 1));
                   }});
    const Expr pixels = kernel::convert(height * width, DType::kI32);
    if (b_.compat() == op::Compat::kPil || b_.compat() == op::Compat::kTorchvision)
      return pillow_table(counts, sums, pixels);
    return b_.map("equalize_table", DType::kU8, per_bin(), [&](const Axes& at) {
      const Axes table = table_of(at);
      const Expr first = b_.load(lowest, table), v = at.back();
      const Expr fewest = b_.load(counts, at_bin(table, first));
      const Expr scale = f32(255) / to_f32(pixels - fewest);
      const Expr spread = kernel::saturate(to_f32(b_.load(sums, at) - fewest) * scale, DType::kU8);
      const Expr above = select(v > first, spread, kernel::const_int(0, DType::kU8));
      return select(equal(fewest, pixels), kernel::convert(v, DType::kU8), above);
    });
  }

  /// Steps of as many pixels each, of those that are not of the highest value; what is left of them goes last.
  StageRef pillow_table(const StageRef& counts, const StageRef& sums, const Expr& pixels) {
    const auto whole = [](int64_t value) { return kernel::const_int(value, DType::kI32); };
    const StageRef highest =
        b_.reduce({.name = "highest",
                   .type = DType::kI64,
                   .extents = counts_,
                   .reduce_extents = {i64(kBins)},
                   .accumulator = DType::kI64,
                   .combiner = kernel::Combiner::kMax,
                   .body = [&](const Axes& table, const Axes& v) {
                     return select(b_.load(counts, at_bin(table, v[0])) > whole(0), v[0], i64(0));
                   }});
    return b_.map("equalize_table", DType::kU8, per_bin(), [&](const Axes& at) {
      const Axes table = table_of(at);
      const Expr most = b_.load(counts, at_bin(table, b_.load(highest, table)));
      const Expr step = (pixels - most) / whole(255), v = at.back();
      const Expr below = b_.load(sums, at) - b_.load(counts, at);
      const Expr level = (below + step / whole(2)) / max(step, whole(1));
      return select(equal(step, whole(0)), kernel::convert(v, DType::kU8),
                    kernel::saturate(level, DType::kU8));
    });
  }

  RecipeBuilder& b_;
  const ImageAxes axes_;
  std::vector<int> tables_;  ///< the axes that have a table for each place: channels
  Axes counts_;              ///< how many there are along each
};

}  // namespace

Operator make_equalize() {
  Operator op;
  op.name = "equalize";
  op.aliases = {"experimental.equalize"};
  op.summary = "Equalises the histogram of every channel.";
  op.documentation =
      "For each channel of an image, with h its histogram, N its number of pixels, i0 the lowest value that "
      "occurs and cdf(v) the number of pixels of at most v: out = 0 for i0, and round((cdf(in) - h[i0]) * "
      "(255 / (N - h[i0]))) above it, computed in f32 and rounded half to even (the rule of OpenCV and DALI; "
      "Pillow's differs). A channel of one single value stays as it is.";
  op.inputs = {{.name = "input",
                .documentation = "image of bytes, at most 2^31 - 1 pixels",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8}}};
  op.min_inputs = op.max_inputs = 1;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.equalize(fn.contrast(image, contrast={}))", {"0.8", "0.4", "0.1"});
  op.example = image_example("fn.equalize(image), label");
  const std::string steps =
      ": level (cdf(v - 1) + step / 2) / step of whole numbers, where 255 steps hold the pixels below the "
      "highest value";
  op.presets = {
      {.peer = op::Compat::kPil, .differs = "ImageOps.equalize" + steps},
      {.peer = op::Compat::kTorchvision, .differs = "equalize of a u8 tensor" + steps},
      {.peer = op::Compat::kOpenCv, .differs = "nothing: cv2.equalizeHist of each channel is DALI's rule"}};
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type out = ctx.input(0);
    out.layout = ctx.input_layout(0);
    return std::vector{out};
  };
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Equalizer(b).define(); };
  return op;
}

}  // namespace galatea::ops
