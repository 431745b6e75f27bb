// normalize: subtracts a mean and divides by a standard deviation, given or taken from the sample or the
// batch.
//
// Comes in: a tensor; mean and stddev as numbers, small tensors, or nothing. Goes out: (in - mean) * scale /
// stddev + shift in f32; what is not given is a reduce stage over the axes. With batch=True it is the result
// of nodes before, and a mean or stddev that is more than a few known elements is an input of the node
// (expand_normalize).
#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "compiler/op/schema.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/reduce/over_batch.h"
#include "stdlib_ops/reduce/reduction.h"

namespace galatea::ops {
namespace {

/// The largest mean or stddev whose elements are scalars of the sample; larger ones are inputs.
constexpr int64_t kMaxParameters = 64;

struct Parameter {
  bool given = false;
  bool is_node = false;
  std::vector<int64_t> extents;  ///< one per input dimension, -1: not known; empty: one number
  bool is_tensor() const { return !extents.empty(); }
  bool is_input() const {
    int64_t volume = 1;
    for (int64_t extent : extents) volume = extent < 0 ? kMaxParameters + 1 : volume * extent;
    return volume > kMaxParameters;
  }
};

/// Which of mean and stddev the inputs of `normalize.given` are: its argument `inputs`.
constexpr const char* kGivenInputs = "inputs";

const ir::Type* node_type(const TypeContext& ctx, std::string_view name) {
  return ctx.is_per_sample(name) ? &ctx.arg_type(name) : nullptr;
}

const ir::Type* node_type(const RecipeBuilder& b, std::string_view name) {
  if (!b.is_per_sample(name)) return nullptr;
  return &b.type_of(b.node().find_arg(name)->as_value());
}

/// A list of the text stands along C.
template <typename Context>
Parameter parameter(const Context& c, const char* name, const ir::Type& in) {
  if (!c.given(name)) return {};
  if (const ir::Type* node = node_type(c, name))
    return {true, true, node->static_volume() == 1 ? std::vector<int64_t>{} : node->extents};
  const int64_t count = ir::attr_length(c.attr(name));
  if (count == 1) return {true, false, {}};
  std::vector<int64_t> extents(static_cast<size_t>(in.ndim), 1);
  extents[static_cast<size_t>(std::max(0, in.layout.find('C')))] = count;
  return {true, false, extents};
}

template <typename Context>
bool names_axes(const Context& c) {
  return c.given("axes") || c.given("axis_names");
}

/// The axes of what is computed: those named, else those along which a given tensor has one element, else
/// all.
std::vector<int> inferred_axes(const ir::Type& in, const Parameter& mean, const Parameter& stddev) {
  const Parameter& tensor = mean.is_tensor() ? mean : stddev;
  std::vector<int> axes;
  for (int d = 0; d < in.ndim; ++d)
    if (!tensor.is_tensor() || tensor.extents[static_cast<size_t>(d)] == 1) axes.push_back(d);
  return axes;
}

Status check_parameter(const TypeContext& ctx, const char* name, const ir::Type& in,
                       const std::vector<int>& axes) {
  if (!ctx.given(name)) return {};
  const ir::Type* node = node_type(ctx, name);
  if (node == nullptr) {
    const auto numbers = op::convert_attr(ctx.attr(name), ArgKind::kFloatList);
    if (!numbers)
      return ctx.error(fmt::format("normalize: {} must be a number or a list of numbers", name),
                       fmt::format("write {}=0.5, or one number per channel", name), name);
    const auto values = ir::attr_numbers(*numbers);
    if (values.empty()) return ctx.error(fmt::format("normalize: {} is an empty list", name), {}, name);
    if (std::string_view(name) == "stddev" && ctx.number("epsilon") == 0 &&
        std::find(values.begin(), values.end(), 0.0) != values.end())
      return ctx.error("normalize: stddev must not be 0", "give epsilon=, which is added to its square",
                       name);
    if (values.size() > 1 && !in.layout.contains('C'))
      return ctx.error(fmt::format("normalize: {} has {} values, one per channel, but {} has no axis C", name,
                                   values.size(), describe(in)),
                       "name the axes with fn.reshape(x, layout=…), or give one number", name);
  } else if (node->static_volume() != 1 && node->ndim != in.ndim) {
    return ctx.error(fmt::format("normalize: {} is {}; it must be one number or a tensor of {} dimensions",
                                 name, describe(*node), in.ndim),
                     "take it with keep_dims=True, or write the arithmetic, (x - mean) / stddev", name);
  }
  const Parameter p = parameter(ctx, name, in);
  for (size_t d = 0; d < p.extents.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    const int64_t own = reduced ? 1 : in.extents[d];
    if (p.extents[d] >= 0 && p.extents[d] != 1 && own >= 0 && p.extents[d] != own)
      return ctx.error(
          fmt::format("normalize: {} has extent {} along axis {}, where {} {}", name, p.extents[d], d,
                      describe(in), reduced ? "is reduced to 1" : fmt::format("has {}", own)),
          "each extent is 1 or the input's", name);
  }
  return {};
}

/// Where no axes are named, a tensor's extents say them: they must be known.
Status check_inferred_axes(const TypeContext& ctx, const Parameter& mean, const Parameter& stddev) {
  if (names_axes(ctx) || (mean.given && stddev.given)) return {};
  const Parameter& tensor = mean.is_tensor() ? mean : stddev;
  if (std::find(tensor.extents.begin(), tensor.extents.end(), -1) == tensor.extents.end()) return {};
  const char* name = mean.is_tensor() ? "mean" : "stddev";
  ctx.want_extents(name);
  return ctx.error(fmt::format("normalize: the extents of {} say over which axes to compute, and are not "
                               "known",
                               name),
                   "name them: axes=[…] or axis_names=…", name);
}

Types normalize_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  const ir::Type& in = ctx.input(0);
  std::vector<int> axes;
  if (names_axes(ctx)) {
    GALATEA_ASSIGN(axes, resolve_axes(ctx, in, in.layout));
    const char* arg = ctx.given("axes") ? "axes" : "axis_names";
    if (axes.empty())
      return ctx.error("normalize: at least one axis must be named", "leave it out for all", arg);
  }
  GALATEA_TRY(check_parameter(ctx, "mean", in, axes));
  GALATEA_TRY(check_parameter(ctx, "stddev", in, axes));
  const Parameter mean = parameter(ctx, "mean", in), stddev = parameter(ctx, "stddev", in);
  GALATEA_TRY(check_inferred_axes(ctx, mean, stddev));
  const bool are_numbers = mean.given && stddev.given && !mean.is_node && !stddev.is_node;
  if (names_axes(ctx) && are_numbers && !mean.is_tensor() && !stddev.is_tensor())
    return ctx.error("normalize: nothing is computed along axes where mean and stddev are numbers",
                     "leave the axes out", ctx.given("axes") ? "axes" : "axis_names");
  if (ctx.op().find_arg("batch") && ctx.flag("batch") && (mean.is_tensor() || stddev.is_tensor()))
    return ctx.error("normalize: with batch=True, mean and stddev are one number each, or computed",
                     "leave batch out: what is given is the same for all samples",
                     mean.is_tensor() ? "mean" : "stddev");
  if (ctx.integer("ddof") < 0)
    return ctx.error(fmt::format("normalize: ddof must not be negative, it is {}", ctx.integer("ddof")), {},
                     "ddof");
  if (ctx.number("epsilon") < 0)
    return ctx.error(fmt::format("normalize: epsilon must not be negative, it is {}", ctx.number("epsilon")),
                     {}, "epsilon");
  out.dtype = ctx.dtype("dtype", DType::kF32);
  if (is_bool(out.dtype) || size_of(out.dtype) == 8 || out.dtype == DType::kF16)
    return ctx.error(
        fmt::format("normalize: dtype {} is not an integer of up to 32 bits or FLOAT", types_name(out.dtype)),
        "convert the result with fn.cast", "dtype");
  return std::vector{out};
}

/// Where what is computed comes from.
enum class StatisticsOf : uint8_t {
  kSample,  ///< from stages of its own
  kBatch,   ///< from inputs: the mean, the sum of squared distances, the number of elements; none that is
            ///< given
};

class Normalizer {
 public:
  /// `inputs`: which of mean and stddev are inputs, in this order: "mean", "stddev", "mean stddev" or none.
  Normalizer(RecipeBuilder& b, StatisticsOf statistics, const std::string& inputs = "")
      : b_(b),
        statistics_(statistics),
        in_(b.input_type(0)),
        mean_(parameter(b, "mean", in_)),
        stddev_(parameter(b, "stddev", in_)),
        mean_input_(inputs.starts_with("mean") ? 1 : 0),
        stddev_input_(inputs.ends_with("stddev") ? mean_input_ + 1 : 0),
        axes_(names_axes(b) ? resolve_axes(b, in_.ndim, in_.layout) : inferred_axes(in_, mean_, stddev_)),
        box_(reduction_box(b, axes_, true)) {}

  /// The first step over a batch.
  void define_squares() {
    const auto mean = mean_at();
    b_.output_stage(0, squares("squares", mean, [](const Expr& acc) { return to_f32(acc); }));
  }

  void define() {
    const DType out = b_.output_type(0).dtype;
    const auto mean = mean_at();
    const auto inverse = inverse_at(mean);
    const Expr shift = finite_arg(b_, "shift");
    b_.output_stage(0, b_.map("normalize", out, b_.extents(0), [&](const Axes& at) {
      return kernel::saturate(kernel::fma(to_f32(b_.load(0, at)) - mean(at), inverse(at), shift), out);
    }));
  }

 private:
  using ElementAt = std::function<Expr(const Axes&)>;

  /// Where a computed value of an element stands.
  Axes reduced(Axes at) const {
    for (int d : axes_) at[static_cast<size_t>(d)] = i64(0);
    return at;
  }

  /// Elements of a given mean or stddev; `f` is applied once to each.
  ElementAt given_at(const char* name, const Parameter& p, const std::function<Expr(const Expr&)>& f) {
    int64_t volume = 1;
    for (size_t d = 0; d < p.extents.size(); ++d) {
      volume *= p.extents[d];
      const Expr own = b_.extent(0, static_cast<int>(d));
      if (p.extents[d] != 1)
        b_.check(equal(own, i64(p.extents[d])),
                 fmt::format("{} has extent {} along axis {}, the input has {{}}", name, p.extents[d], d),
                 {own}, "each extent is 1 or the input's", name);
    }
    std::vector<Expr> elements = b_.arg_list(name, static_cast<int>(volume), DType::kF32);
    for (Expr& element : elements) element = f(element);
    return [elements, extents = p.extents](const Axes& at) {
      Expr flat = i64(0);
      for (size_t d = 0; d < extents.size(); ++d)
        if (extents[d] != 1) flat = flat * i64(extents[d]) + at[d];
      return choose(flat, elements);
    };
  }

  /// An element's place in an input, or a stage of its extents, each of which is 1 or that of the data.
  std::function<Axes(const Axes&)> place_in(int input, const char* name) {
    std::vector<Expr> factor;
    for (int d = 0; d < in_.ndim; ++d) {
      const Expr extent = b_.extent(input, d), own = b_.extent(0, d);
      b_.check(equal(extent, i64(1)) | equal(extent, own),
               fmt::format("{} has extent {{}} along axis {}, the input has {{}}", name, d), {extent, own},
               "each extent is 1 or the input's");
      factor.push_back(select(equal(extent, i64(1)), i64(0), i64(1)));
    }
    return [factor](Axes at) {
      for (size_t d = 0; d < at.size(); ++d) at[d] = at[d] * factor[d];
      return at;
    };
  }

  ElementAt mean_at() {
    if (mean_input_ != 0)
      return [this, place = place_in(mean_input_, "mean")](const Axes& at) {
        return to_f32(b_.load(mean_input_, place(at)));
      };
    if (mean_.given) return given_at("mean", mean_, [](const Expr& e) { return e; });
    if (statistics_ == StatisticsOf::kBatch)
      return [this](const Axes& at) { return b_.load(1, reduced(at)); };
    const DType accumulator = sum_accumulator(in_.dtype);
    const StageRef stage =
        b_.reduce({.name = "mean",
                   .type = DType::kF32,
                   .extents = box_.extents,
                   .reduce_extents = box_.over,
                   .accumulator = accumulator,
                   .combiner = kernel::Combiner::kSum,
                   .body =
                       [&](const Axes& at, const Axes& inner) {
                         return kernel::convert(b_.load(0, box_.index(at, inner)), accumulator);
                       },
                   .finish = [&](const Expr& acc) { return mean_of(acc, box_.count, DType::kF32); }});
    return [this, stage](const Axes& at) { return b_.load(stage, reduced(at)); };
  }

  /// scale / sqrt(stddev^2 + epsilon)
  ElementAt inverse_at(const ElementAt& mean) {
    const Expr scale = finite_arg(b_, "scale"), epsilon = finite_arg(b_, "epsilon");
    const bool regular = b_.number("epsilon") != 0;
    // As of what is computed, a stddev of 0 makes `shift`.
    const auto inverse_of = [=](const Expr& s) {
      if (regular) return scale / kernel::unary(ScalarOp::kSqrt, kernel::fma(s, s, epsilon));
      return select(equal(s, f32(0)), f32(0), scale / s);
    };
    if (stddev_input_ != 0) {
      const StageRef stage =
          b_.map("inverse_stddev", DType::kF32, b_.extents(stddev_input_),
                 [&](const Axes& at) { return inverse_of(to_f32(b_.load(stddev_input_, at))); });
      return [this, stage, place = place_in(stddev_input_, "stddev")](const Axes& at) {
        return b_.load(stage, place(at));
      };
    }
    if (stddev_.given) return given_at("stddev", stddev_, inverse_of);
    const auto inverse = [&](const Expr& squares, const Expr& count) {
      const Expr divisor = count - b_.arg("ddof", DType::kI64);
      const Expr spread = to_f32(to_f64(squares) / to_f64(divisor));
      const Expr variance = select(divisor > i64(0), spread, f32(0)) + epsilon;
      // Elements that are all equal become `shift`.
      return select(variance > f32(0), scale / kernel::unary(ScalarOp::kSqrt, variance), f32(0));
    };
    StageRef stage;
    if (statistics_ == StatisticsOf::kBatch) {
      const int squares = mean_.given ? 1 : 2;
      stage = b_.map("inverse_stddev", DType::kF32, box_.extents, [&](const Axes& at) {
        return inverse(b_.load(squares, at), b_.element(squares + 1, 0));
      });
    } else {
      // As over a batch, whose samples hand over f32.
      stage =
          squares("inverse_stddev", mean, [&](const Expr& acc) { return inverse(to_f32(acc), box_.count); });
    }
    return [this, stage](const Axes& at) { return b_.load(stage, reduced(at)); };
  }

  /// Squared distances, added up along the axes.
  StageRef squares(const char* name, const ElementAt& mean,
                   const std::function<Expr(const Expr& acc)>& finish) {
    return b_.reduce({.name = name,
                      .type = DType::kF32,
                      .extents = box_.extents,
                      .reduce_extents = box_.over,
                      .accumulator = DType::kF64,
                      .combiner = kernel::Combiner::kSum,
                      .body =
                          [&](const Axes& at, const Axes& inner) {
                            const Axes index = box_.index(at, inner);
                            const Expr distance = to_f32(b_.load(0, index)) - mean(index);
                            return distance * distance;
                          },
                      .finish = finish});
  }

  RecipeBuilder& b_;
  const StatisticsOf statistics_;
  const ir::Type& in_;
  const Parameter mean_, stddev_;
  const int mean_input_, stddev_input_;  ///< 0: it is none
  const std::vector<int> axes_;
  const ReductionBox box_;
};

/// A mean or stddev of any extents is an input of the node that takes it.
Result<std::optional<ir::NodeId>> expand_given(const op::Expansion& expansion, const Parameter& mean,
                                               const Parameter& stddev) {
  const TypeContext call = expansion.arguments();
  std::vector<ir::ValueId> inputs = {expansion.call.inputs[0]};
  std::vector<ir::Arg> args;
  std::string given;
  for (const auto& [name, p] : {std::pair("mean", &mean), std::pair("stddev", &stddev)}) {
    if (!p->is_input()) continue;
    inputs.push_back(op::Arguments(call.op(), expansion.call.args).find(name)->as_value());
    given += given.empty() ? name : fmt::format(" {}", name);
  }
  for (const ir::Arg& arg : expansion.call.args) {
    const bool is_input =
        (arg.name == "mean" && mean.is_input()) || (arg.name == "stddev" && stddev.is_input());
    if (!is_input && arg.name != "batch") args.push_back(arg);
  }
  args.push_back({kGivenInputs, ir::Attr(given), {}});
  if (!names_axes(call)) {
    std::vector<int64_t> axes;
    for (int d : inferred_axes(call.input(0), mean, stddev)) axes.push_back(d);
    if (!axes.empty()) args.push_back({"axes", ir::Attr(axes), {}});
  }
  GALATEA_ASSIGN(const ir::ValueId result, expansion.add("normalize.given", inputs, std::move(args)));
  return expansion.builder.graph().value(result).node;
}

/// Sums and a mean over the batch, the sum of squares about it, and the result: each sample's part is a node,
/// the meetings between are others.
Result<std::optional<ir::NodeId>> expand_normalize(const op::Expansion& expansion) {
  const TypeContext call = expansion.arguments();
  const Parameter given_mean = parameter(call, "mean", call.input(0)),
                  given_stddev = parameter(call, "stddev", call.input(0));
  if (given_mean.is_input() || given_stddev.is_input())
    return expand_given(expansion, given_mean, given_stddev);
  const bool has_mean = call.given("mean"), has_stddev = call.given("stddev");
  if (!call.flag("batch") || (has_mean && has_stddev)) return std::nullopt;
  const Parts parts(expansion);
  std::vector<ir::ValueId> inputs = {parts.input()};
  GALATEA_ASSIGN(const ir::ValueId count, parts.count());
  if (!has_mean) {
    GALATEA_ASSIGN(const ir::ValueId mean, parts.mean(count, true, DType::kF32));
    inputs.push_back(mean);
  }
  if (!has_stddev) {
    GALATEA_ASSIGN(const ir::ValueId total,
                   parts.total("normalize.squares", inputs,
                               parts.args({"axes", "axis_names", "mean", op::kDeviceArg}), "sum"));
    inputs.insert(inputs.end(), {total, count});
  }
  GALATEA_ASSIGN(const ir::ValueId result,
                 expansion.add("normalize.batch", inputs,
                               parts.args({"axes", "axis_names", "mean", "stddev", "scale", "shift",
                                           "epsilon", "ddof", "dtype", op::kDeviceArg})));
  return expansion.builder.graph().value(result).node;
}

ArgSpec parameter_arg(const char* name, const char* documentation) {
  return {.name = name,
          .kind = ArgKind::kAny,  // a node of any rank; the type rule refuses what is not a number
          .per_sample = true,
          .documentation = documentation};
}

ArgSpec number_arg(const char* name, double value, const char* documentation) {
  return {.name = name, .kind = ArgKind::kFloat, .default_value = value, .documentation = documentation};
}

Port normalize_input() {
  return {
      .name = "data",
      .documentation = "any tensor",
      .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kI8, DType::kI16, DType::kI32, DType::kF32}};
}

/// All but `batch`.
std::vector<ArgSpec> normalize_args() {
  return {parameter_arg("mean", "What is subtracted; the mean over the axes if not given."),
          parameter_arg("stddev", "The divisor; the standard deviation over the axes if not given."),
          {.name = "axes",
           .kind = ArgKind::kIntList,
           .documentation = "The axes to compute over; if not given those along which a given tensor has one "
                            "element, else all."},
          {.name = "axis_names",
           .kind = ArgKind::kLayout,
           .documentation = "The axes by letters of the layout; excludes axes."},
          number_arg("scale", 1, "Factor of the result."),
          number_arg("shift", 0, "Added to the result."),
          number_arg("epsilon", 0, "Added to the variance, so that no small one is divided by."),
          {.name = "ddof",
           .kind = ArgKind::kInt,
           .default_value = int64_t{0},
           .documentation = "What is subtracted from the number of elements in the variance's divisor."},
          dtype_arg("Element type of the output: an integer of up to 32 bits or FLOAT; FLOAT if not given.")};
}

}  // namespace

Operator make_normalize() {
  Operator op;
  op.name = "normalize";
  op.summary =
      "Subtracts the mean and divides by the standard deviation, given or of the sample or the batch.";
  op.documentation =
      "out = (in - mean) * scale / sqrt(stddev^2 + epsilon) + shift. What is not given is computed per "
      "sample over the axes: the mean, and the variance about it, sum((in - mean)^2) / (N - ddof); where "
      "that is 0 and epsilon too, or N <= ddof, out = shift. With batch=True all samples of the batch count, "
      "which must have equal extents along the other axes; see docs/batches.md. A given tensor has as many "
      "dimensions as the input, each extent 1 or the input's; a list stands along C. In f32, then rounded "
      "half to even and clamped.";
  op.inputs = {normalize_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = normalize_args();
  op.args.push_back(batch_arg("Whether what is not given is computed over all samples of the batch."));
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.normalize(image, axis_names=\"HW\"), label");
  op.type_rule = normalize_types;
  op.expand = expand_normalize;
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Normalizer(b, StatisticsOf::kSample).define(); };
  return op;
}

Operator make_normalize_squares() {
  Operator op;
  op.name = "normalize.squares";
  op.summary = "The sum of squared distances from a mean.";
  op.documentation = "Of one sample, in f32; axes that are reduced keep an extent of 1.";
  op.inputs = {normalize_input(),
               {.name = "mean", .documentation = "if it is no argument", .dtypes = {DType::kF32}}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.args = normalize_args();
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_ASSIGN(const auto axes, resolve_axes(ctx, ctx.input(0), ctx.input(0).layout));
    return std::vector{reduced_type(ctx.input(0), axes, true, DType::kF32)};
  };
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) { Normalizer(b, StatisticsOf::kBatch).define_squares(); };
  return op;
}

Operator make_normalize_batch() {
  Operator op;
  op.name = "normalize.batch";
  op.summary = "The last step of fn.normalize over a batch.";
  op.documentation =
      "As fn.normalize, with what was not given as inputs: the mean; the sum of squares, the count.";
  op.inputs = {normalize_input(),
               {.name = "statistics", .documentation = "of the batch", .any_device = true}};
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.args = normalize_args();
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = normalize_types;
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Normalizer(b, StatisticsOf::kBatch).define(); };
  return op;
}

Operator make_normalize_given() {
  Operator op;
  op.name = "normalize.given";
  op.summary = "fn.normalize with a mean or stddev of any extents.";
  op.documentation = "As fn.normalize; `inputs` says which of mean and stddev the inputs are.";
  op.inputs = {normalize_input(),
               {.name = "parameter", .documentation = "mean or stddev", .any_device = true}};
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.args = normalize_args();
  op.args.push_back({.name = kGivenInputs,
                     .kind = ArgKind::kString,
                     .required = true,
                     .documentation = "\"mean\", \"stddev\" or \"mean stddev\"."});
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = normalize_types;
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Normalizer(b, StatisticsOf::kSample, b.text(kGivenInputs)).define(); };
  return op;
}

}  // namespace galatea::ops
