// multi_paste: puts regions of several images side by side and over each other.
//
// Comes in: images of one sample, or those of other samples of the batch (in_ids). Goes out: a canvas of zeros
// with a region of each, the later ones over the earlier ones.
//
// A call with in_ids is a node for each region, which takes the image of another sample, and a call without.
// Where only the run tells how many places in_ids has, sample by sample, these are kMaxCounted nodes, and
// multi_paste.counted takes the first ones of them.
#include <algorithm>
#include <array>

#include "compiler/op/schema.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Each region is four comparisons of every element.
constexpr int64_t kMaxRegions = 64;
/// Where the run counts them: each is then a comparison of every element, and an image that is fetched,
/// whether the sample has it or not.
constexpr int64_t kMaxCounted = 16;

constexpr std::array<const char*, 3> kPlaces = {"in_anchors", "shapes", "out_anchors"};

std::string relative(const std::string& name) { return name + "_rel"; }

/// A row (y, x) for each region, of which only the run knows the number where it is negative: as a matrix,
/// or row after row.
Status check_rows(const TypeContext& ctx, const std::string& name, int64_t regions) {
  if (!ctx.given(name)) return {};
  if (ctx.is_per_sample(name) && !name.ends_with("_rel") && !is_integral(ctx.arg_type(name).dtype))
    return ctx.error(
        fmt::format("multi_paste: {} is {}, and takes integers", name, describe(ctx.arg_type(name))),
        "convert it with fn.cast, which says how to round", name);
  if (!ctx.is_per_sample(name)) {
    const ir::Attr& attr = ctx.attr(name);
    const bool integers = std::holds_alternative<std::vector<int64_t>>(attr);
    if (!integers && !(name.ends_with("_rel") && std::holds_alternative<std::vector<double>>(attr)))
      return ctx.error(fmt::format("multi_paste: {} takes a list of {}", name,
                                   name.ends_with("_rel") ? "numbers" : "integers"),
                       "write row after row, as in [y0, x0, y1, x1]", name);
  }
  const int64_t count = length_of(ctx, name);
  if (count >= 0 && regions >= 0 && count != 2 * regions)
    return ctx.error(fmt::format("multi_paste: {} has {} numbers, and {} region{} take{} two each", name,
                                 count, regions, regions == 1 ? "" : "s", regions == 1 ? "s" : ""),
                     fmt::format("give [{}, 2] numbers, the row and the column for each region", regions),
                     name);
  return {};
}

/// -1 where only the run tells.
Result<int64_t> count_regions(const TypeContext& ctx) {
  if (!ctx.given("in_ids")) return ctx.num_inputs();
  if (ctx.num_inputs() != 1)
    return ctx.error(fmt::format("multi_paste: in_ids chooses among the samples of one input, not of {}",
                                 ctx.num_inputs()),
                     "give one input, or leave in_ids out", "in_ids");
  const int64_t count = length_of(ctx, "in_ids");
  if (count < 0) return count;
  if (count < 1 || count > kMaxRegions)
    return ctx.error(fmt::format("multi_paste: in_ids has {} places, 1 to {} are taken", count, kMaxRegions),
                     {}, "in_ids");
  if (!ctx.is_per_sample("in_ids"))
    for (const int64_t place : ctx.integers("in_ids"))
      if (place < 0)
        return ctx.error(fmt::format("multi_paste: {} is no place in a batch", place), "places count from 0",
                         "in_ids");
  return count;
}

Types pasted_types(const TypeContext& ctx, int64_t regions) {
  for (const char* name : kPlaces) {
    if (ctx.given(name) && ctx.given(relative(name)))
      return ctx.error(fmt::format("multi_paste: '{}' and '{}' exclude each other", name, relative(name)),
                       "keep one form", relative(name));
    GALATEA_TRY(check_rows(ctx, name, regions));
    GALATEA_TRY(check_rows(ctx, relative(name), regions));
  }
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  for (int k = 1; k < ctx.num_inputs(); ++k)
    if (ctx.input(k).dtype != out.dtype)
      return ctx.error(fmt::format("multi_paste: inputs 0 and {} have different element types ({} and {})", k,
                                   types_name(out.dtype), types_name(ctx.input(k).dtype)),
                       "cast one of them: fn.cast_like(x, y)");
  out.dtype = ctx.dtype("dtype", out.dtype);
  if (ctx.given("output_size")) {
    if (const int64_t count = length_of(ctx, "output_size"); count >= 0 && count < 2)
      return ctx.error("multi_paste: output_size is a height and a width", "give two numbers", "output_size");
    for (size_t d = 0; d < 2; ++d) {
      out.extents[d] = -1;
      if (ctx.is_per_sample("output_size")) continue;
      out.extents[d] = ctx.integers("output_size")[d];
      if (out.extents[d] < 0)
        return ctx.error(fmt::format("multi_paste: output_size has {}", out.extents[d]),
                         "give a number of pixels, 0 or more", "output_size");
    }
  } else if (ctx.given("in_ids")) {
    out.extents[0] = out.extents[1] = -1;
  }
  return std::vector{out};
}

Types multi_paste_types(const TypeContext& ctx) {
  GALATEA_ASSIGN(const int64_t regions, count_regions(ctx));
  return pasted_types(ctx, regions);
}

struct Region {
  std::array<Expr, 2> from, shape, to;  ///< rows, columns
};

class Paster {
 public:
  explicit Paster(RecipeBuilder& b) : b_(b), extents_(b.extents(0)), count_(count_of_regions(b)) {
    for (int k = 1; k < b.num_inputs(); ++k) {
      check_equal(k, 2, "channels", "images of as many channels are pasted");
      if (b.given("output_size")) continue;
      for (const int d : {0, 1})
        check_equal(k, d, d == 0 ? "rows" : "columns", "give output_size where images differ in size");
    }
    if (!b.given("output_size")) return;
    // A shape with its channels is taken as well, as in DALI: they are the input's.
    const ir::Arg& given = *b.node().find_arg("output_size");
    const bool known = !given.is_value() || b.type_of(given.as_value()).static_volume() >= 0;
    const int numbers = known ? b.arg_length("output_size") : 2;
    const std::vector<Expr> size = list_arg(b, "output_size", numbers, DType::kI64);
    for (size_t d = 0; d < 2; ++d) {
      b.check(size[d] >= i64(0), "output_size has {}", {size[d]}, "give a number of pixels, 0 or more",
              "output_size");
      extents_[d] = size[d];
    }
  }

  void define() {
    std::vector<Region> regions;
    for (int k = 0; k < b_.num_inputs(); ++k) regions.push_back(region(k));
    check_lengths();
    const DType type = b_.output_type(0).dtype;
    b_.output_stage(0, b_.map("multi_paste", type, extents_, [&](const Axes& at) {
      Expr value = kernel::saturate(i64(0), type);
      for (size_t k = 0; k < regions.size(); ++k) {
        Axes from = at;
        Expr inside = is_there(static_cast<int>(k));
        for (size_t d = 0; d < 2; ++d) {
          const Expr i = at[d] - regions[k].to[d];
          inside = inside & (i >= i64(0)) & (i < regions[k].shape[d]);
          from[d] = i + regions[k].from[d];
        }
        const Expr own = b_.load(static_cast<int>(k), from, Border::kConstant, Cell{});
        value = select(inside, kernel::saturate(own, type), value);
      }
      return value;
    }));
  }

 private:
  static Expr count_of_regions(RecipeBuilder& b) {
    if (!b.given("in_ids")) return i64(b.num_inputs());
    const Expr count = list_prefix(b, "in_ids", 0, DType::kI64).length;
    b.check(count <= i64(b.num_inputs()),
            fmt::format("in_ids has {{}} places, up to {} are taken where samples differ in them",
                        b.num_inputs()),
            {count}, "give all samples equally many, as with fn.reshape(x, shape=[20])", "in_ids");
    return count;
  }

  Expr is_there(int k) const { return i64(k) < count_; }

  /// A check of region k, where the sample has it.
  void check_region(int k, const Expr& holds, std::string message, std::vector<Expr> values, std::string help,
                    std::string arg = {}) {
    b_.check(b_.given("in_ids") ? holds | kernel::logical_not(is_there(k)) : holds, std::move(message),
             std::move(values), std::move(help), std::move(arg));
  }

  void check_lengths() {
    for (const char* place : kPlaces)
      for (const std::string& name : {std::string(place), relative(place)}) {
        if (!b_.given(name)) continue;
        const Expr length = list_prefix(b_, name, 0, DType::kF32).length;
        b_.check(equal(length, i64(2) * count_),
                 fmt::format("{} has {{}} numbers, and {{}} regions take two each", name), {length, count_},
                 "give the row and the column for each region", name);
      }
  }

  void check_equal(int k, int d, const char* what, const char* help) {
    const Expr first = b_.extent(0, d), other = b_.extent(k, d);
    check_region(k, equal(first, other), fmt::format("image 0 has {{}} {}, image {} has {{}}", what, k),
                 {first, other}, help);
  }

  /// The number that is given for a region along one axis; `otherwise` where none is.
  Expr place(const std::string& name, int k, size_t d, const Expr& extent, const Expr& otherwise) {
    const int count = 2 * b_.num_inputs();
    const size_t at = 2 * static_cast<size_t>(k) + d;
    if (b_.given(name)) return list_prefix(b_, name, count, DType::kI64).elements[at];
    const std::string fraction = relative(name);
    if (!b_.given(fraction)) return otherwise;
    const Expr part = list_prefix(b_, fraction, count, DType::kF32).elements[at];
    check_region(k, (part >= f32(0)) & (part <= f32(1)), fmt::format("{} has {{}}", fraction), {part},
                 "it is a fraction of the extent, from 0 to 1", fraction);
    const Expr length = part * to_f32(extent);
    return name == "shapes" ? ceil_to_i64(length) : floor_to_i64(length);
  }

  Region region(int k) {
    Region r;
    for (size_t d = 0; d < 2; ++d) {
      const Expr source = b_.extent(k, static_cast<int>(d)), &canvas = extents_[d];
      r.from[d] = place("in_anchors", k, d, source, i64(0));
      r.shape[d] = place("shapes", k, d, source, source - r.from[d]);
      r.to[d] = place("out_anchors", k, d, canvas, i64(0));
      const char* axis = d == 0 ? "rows" : "columns";
      // Differences, not sums: no number that is given overflows.
      check_region(k,
                   (r.from[d] >= i64(0)) & (r.from[d] <= source) & (r.shape[d] >= i64(0)) &
                       (r.shape[d] <= source - r.from[d]),
                   fmt::format("region {} begins at {{}} of {{}} {} of its image, and has {{}}", k, axis),
                   {r.from[d], source, r.shape[d]}, "a region lies within its image");
      check_region(k, (r.to[d] >= i64(0)) & (r.to[d] <= canvas) & (r.shape[d] <= canvas - r.to[d]),
                   fmt::format("region {} is put at {{}} of {{}} {} of the output, and has {{}}", k, axis),
                   {r.to[d], canvas, r.shape[d]}, "a region lies within the output: choose output_size");
    }
    return r;
  }

  RecipeBuilder& b_;
  Axes extents_;
  Expr count_;  ///< of regions; i64
};

/// Of a matrix only the first extent may be left to the run where elements are read one by one.
bool is_open_matrix(const op::Expansion& expansion, const ir::Arg& arg) {
  if (!arg.is_value()) return false;
  const ir::Type& type = expansion.builder.graph().type(arg.as_value());
  return type.ndim == 2 && type.static_volume() < 0;
}

/// The images of the samples that in_ids names; past its end that of the sample itself.
Result<std::vector<ir::ValueId>> images_of_places(const op::Expansion& expansion, const ir::Arg& ids) {
  const int64_t known = length_of(expansion.arguments(), "in_ids");
  std::vector<ir::ValueId> images;
  for (int64_t k = 0; k < (known < 0 ? kMaxCounted : known); ++k) {
    GALATEA_ASSIGN(const ir::ValueId image,
                   expansion.add("multi_paste.source", {expansion.call.inputs.front()},
                                 {ids, {"region", ir::Attr(k), {}}}));
    images.push_back(image);
  }
  return images;
}

Result<std::optional<ir::NodeId>> expand_multi_paste(const op::Expansion& expansion) {
  const op::GraphBuilder::NodeSpec& call = expansion.call;
  const TypeContext arguments = expansion.arguments();
  const bool chooses = arguments.given("in_ids");
  const auto is_open = [&](const ir::Arg& arg) { return is_open_matrix(expansion, arg); };
  if (!chooses && std::ranges::none_of(call.args, is_open)) return std::nullopt;
  const bool counted = chooses && length_of(arguments, "in_ids") < 0;
  std::vector<ir::ValueId> images = call.inputs;
  std::vector<ir::Arg> args;
  for (ir::Arg arg : call.args) {
    if (arg.name == op::kPerFrameArg) continue;  // said anew
    if (arg.name == "in_ids" && chooses) {
      GALATEA_ASSIGN(images, images_of_places(expansion, arg));
      if (!counted) continue;
    }
    if (is_open(arg)) {
      GALATEA_ASSIGN(
          const ir::ValueId row_after_row,
          expansion.add("reshape", {arg.as_value()}, {{"shape", ir::Attr(std::vector<int64_t>{-1}), {}}}));
      arg.value = row_after_row;
    }
    args.push_back(std::move(arg));
  }
  GALATEA_ASSIGN(const ir::ValueId result, expansion.add(counted ? "multi_paste.counted" : "multi_paste",
                                                         std::move(images), std::move(args)));
  return expansion.builder.graph().value(result).node;
}

ArgSpec ids_arg() {
  return {.name = "in_ids",
          .kind = ArgKind::kIntList,
          .per_sample = true,
          .documentation =
              "The places in the batch of the samples whose images are pasted, in order: 1 to 64, or up "
              "to 16 where each sample gives as many as it likes, none too. They may repeat."};
}

/// A matrix or a list of numbers: lists that are data nodes would have one axis.
ArgSpec rows_arg(std::string name, std::string documentation) {
  return {.name = std::move(name),
          .kind = ArgKind::kAny,
          .per_sample = true,
          .documentation = std::move(documentation)};
}

/// What both operators take beside in_ids.
std::vector<ArgSpec> pasted_args() {
  return {{.name = "output_size",
           .kind = ArgKind::kIntList,
           .per_sample = true,
           .documentation =
               "Height and width of the output, in pixels; the images', which must agree, if not given."},
          rows_arg("in_anchors",
                   "[regions, 2]: row and column of its image where each region begins; 0 if not given."),
          rows_arg("in_anchors_rel", "The same as fractions of the image's extents."),
          rows_arg("shapes",
                   "[regions, 2]: height and width of each region; up to the image's end if not given."),
          rows_arg("shapes_rel", "The same as fractions of the image's extents."),
          rows_arg("out_anchors",
                   "[regions, 2]: row and column of the output where each region begins; 0 if not given."),
          rows_arg("out_anchors_rel", "The same as fractions of the output's extents."),
          dtype_arg("Element type of the output; the input's if not given. Integers are clamped.")};
}

Port pasted_input() {
  return {.name = "image",
          .documentation = "an image; without in_ids 1 to 64 of them, of one element type",
          .layouts = {"HWC"},
          .dtypes = {DType::kU8, DType::kI16, DType::kI32, DType::kF32}};
}

}  // namespace

Operator make_multi_paste() {
  Operator op;
  op.name = "multi_paste";
  op.summary = "Puts regions of several images on one canvas.";
  op.documentation =
      "Region k, of shape shapes[k] from in_anchors[k] on, stands in the output from out_anchors[k] on; later "
      "regions cover earlier ones, and what none covers is 0. With in_ids region k is of the sample in_ids[k] "
      "of the batch; else of input k. Of fractions (_rel) anchors are floor(fraction * extent), shapes "
      "ceil(fraction * extent), computed in f32. A region outside its image or the output fails the sample.";
  op.inputs = {pasted_input()};
  op.min_inputs = 1;
  op.max_inputs = static_cast<int>(kMaxRegions);
  op.args = {ids_arg()};
  append(op.args, pasted_args());
  op.devices = {"cpu", "gpu"};
  op.sees_batch = [](const ir::Node& node) { return node.find_arg("in_ids") != nullptr; };
  op.example = image_example(
      "fn.multi_paste(fn.resize(image, size=[32, 32]), in_ids=[0, 1], output_size=[32, 64], "
      "out_anchors=[0, 0, 0, 32]), label");
  op.type_rule = multi_paste_types;
  op.expand = expand_multi_paste;
  op.define = [](RecipeBuilder& b) { Paster(b).define(); };
  return op;
}

Operator make_multi_paste_counted() {
  Operator op;
  op.name = "multi_paste.counted";
  op.summary = "fn.multi_paste with as many regions as the sample has.";
  op.documentation = "As fn.multi_paste of the first images, as many as in_ids has places.";
  op.inputs = {pasted_input()};
  op.min_inputs = op.max_inputs = static_cast<int>(kMaxCounted);
  op.args = {ids_arg()};
  append(op.args, pasted_args());
  op.internal = true;
  op.devices = {"cpu", "gpu"};
  op.type_rule = [](const TypeContext& ctx) { return pasted_types(ctx, -1); };
  op.define = [](RecipeBuilder& b) { Paster(b).define(); };
  return op;
}

Operator make_multi_paste_source() {
  Operator op;
  op.name = "multi_paste.source";
  op.kind = OperatorKind::kNative;
  op.summary = "The image of another sample of the batch.";
  op.documentation = "As a step of fn.multi_paste: that of the sample in_ids[region].";
  op.inputs = {{.name = "image", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {ids_arg(),
             {.name = "region", .kind = ArgKind::kInt, .required = true, .documentation = "Which region."}};
  op.internal = true;
  op.devices = {"cpu", "gpu"};
  op.sees_batch = [](const ir::Node&) { return true; };
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type out = ctx.input(0);
    return std::vector{out};
  };
  op.define = [](RecipeBuilder& b) {
    const int64_t region = b.integer("region");
    const auto [ids, count] = list_prefix(b, "in_ids", static_cast<int>(region) + 1, DType::kI64);
    b.output_of_place(0, 0, select(i64(region) < count, ids.back(), b.place_in_batch()));
  };
  return op;
}

}  // namespace galatea::ops
