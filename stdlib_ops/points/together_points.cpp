// together.pixels, .inside, .points, .mask: points and masks that follow a picture.
//
// Comes in: points FLOAT [..., 2], x before y; a mask; maps of places; pictures, for their extents. Goes out:
// points in pixels and where they are now, whether every picture on the way has shown them, and the mask,
// which must have the picture's extents.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/points/together.h"

namespace galatea::ops {
namespace {

Types same_points(const TypeContext& ctx) {
  ir::Type type = ctx.input(0);
  type.layout = {};
  type.device = ir::Device::kCpu;
  return std::vector{type};
}

/// A coordinate of the point in which `at` lies: number 0 or 1.
Expr coordinate(RecipeBuilder& b, Axes at, int64_t number) {
  at.resize(static_cast<size_t>(b.input_type(0).ndim));
  at.back() = i64(number);
  return b.load(0, std::move(at));
}

Place moved_point(RecipeBuilder& b, const Axes& at, int map) {
  return moved(to_f64(coordinate(b, at, 0)), to_f64(coordinate(b, at, 1)), map_of(b, map));
}

Operator make_pixels() {
  Operator op = together_operator("pixels", "Points in pixels.", {points_port(), picture_port()});
  op.args = {relative_arg("points")};
  op.type_rule = same_points;
  op.define = [](RecipeBuilder& b) {
    const Expr numbers = b.extents(0).back();
    b.check(equal(numbers, i64(2)), "the last axis of points has {} numbers, a point has 2", {numbers},
            "points are rows: FLOAT [n, 2], x before y");
    b.output_stage(0, b.map("pixels", DType::kF32, b.extents(0), [&](const Axes& at) {
      const Expr own = b.load(0, at);
      return own * unit_of(b, 1, at.back());
    }));
  };
  return op;
}

Operator make_points() {
  Operator op = together_operator("points", "Where points are on the picture as it is now.",
                                  {points_port(), map_port(), picture_port()});
  op.args = {relative_arg("points")};
  op.type_rule = same_points;
  op.define = [](RecipeBuilder& b) {
    b.output_stage(0, b.map("points", DType::kF32, b.extents(0), [&](const Axes& at) {
      const Place place = moved_point(b, at, 1);
      const Expr own = to_f32(select(equal(at.back(), i64(0)), place.x, place.y));
      return own / unit_of(b, 2, at.back());
    }));
  };
  return op;
}

Operator make_inside() {
  Port before = rows_port("before", "the same of the picture before");
  before.dtypes = {DType::kBool};
  before.optional = true;
  Operator op = together_operator("inside", "Whether points are on the picture, and have been before.",
                                  {points_port(), map_port(), picture_port(), std::move(before)});
  op.min_inputs = 3;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = ctx.input(0);
    type.dtype = DType::kBool;
    type.layout = {};
    type.device = ir::Device::kCpu;
    type.ndim -= 1;
    type.extents.pop_back();
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    const PictureSize size = size_of_picture(b, 2);
    std::vector<Expr> extents = b.extents(0);
    extents.pop_back();
    b.output_stage(0, b.map("inside", DType::kBool, std::move(extents), [&](const Axes& at) {
      const Place place = moved_point(b, at, 1);
      Expr inside = place.is_real & (place.x >= f64(0)) & (place.x < to_f64(size.width)) &
                    (place.y >= f64(0)) & (place.y < to_f64(size.height));
      return b.num_inputs() > 3 ? inside & b.load(3, at) : inside;
    }));
  };
  return op;
}

Operator make_mask() {
  Operator op = together_operator("mask", "A mask of the picture's extents.",
                                  {{.name = "mask", .documentation = "a mask with axes H and W"},
                                   {.name = "image", .documentation = "the picture"}});
  for (Port& input : op.inputs) input.any_device = true;
  op.cpu_outputs = false;
  op.type_rule = [](const TypeContext& ctx) -> Types { return std::vector{ctx.input(0)}; };
  op.define = [](RecipeBuilder& b) {
    const PictureSize mask = size_of_picture(b, 0), image = size_of_picture(b, 1);
    const char* help = "a mask has a pixel for each of the image's";
    b.check(equal(mask.width, image.width) & equal(mask.height, image.height),
            "the mask has {} x {} pixels, the image {} x {}",
            {mask.height, mask.width, image.height, image.width}, help);
    const int frames = b.input_layout(0).find('F');
    if (frames >= 0) {
      const Expr own = b.extent(0, frames), of_image = b.extent(1, b.input_layout(1).find('F'));
      b.check(equal(own, of_image), "the mask has {} frames, the image {}", {own, of_image}, help);
    }
    copy_view(b, 0, 0);
  };
  return op;
}

}  // namespace

std::vector<Operator> make_together_points() {
  return {make_pixels(), make_points(), make_inside(), make_mask()};
}

}  // namespace galatea::ops
