// together.frames, .corners, .visible, .compose, .boxes, .seen, .anywhere, .rows, .format: boxes that follow a
// picture.
//
// Comes in: boxes as the user gives them, then as corners in pixels; maps of places; pictures, for their
// extents. Goes out: boxes in pixels; which of them can be seen; the rows that are kept.
//
// Two things are carried along, because neither tells the other: `map`, from the first picture to the current
// one, and `visible`, a box around what no picture on the way has cut off. A box is then the box around its
// own four corners under `map`, within `visible`. Its share is its area by that of the former.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/points/together.h"

namespace galatea::ops {
namespace {

ir::Type boxes_type(const ir::Type& like) {
  return {.dtype = DType::kF32,
          .ndim = 2,
          .layout = {},
          .device = ir::Device::kCpu,
          .extents = {like.extents.empty() ? -1 : like.extents[0], kBoxNumbers}};
}

Types boxes_like_first(const TypeContext& ctx) { return std::vector{boxes_type(ctx.input(0))}; }

/// Output 0: a box for each row of input 0.
void output_boxes(RecipeBuilder& b, const char* name,
                  const std::function<Expr(const Expr& n, const Expr& k)>& number) {
  b.output_stage(0, b.map(name, DType::kF32, {b.extent(0, 0), i64(kBoxNumbers)},
                          [&](const Axes& at) { return number(at[0], at[1]); }));
}

ArgSpec format_arg() {
  return {.name = "format",
          .kind = ArgKind::kString,
          .default_value = std::string("xyxy"),
          .documentation = "\"xyxy\", \"xywh\" or \"cxcywh\"."};
}

// ---- in and out

/// What is the same for all frames of a sequence, once for each of them.
Operator make_frames() {
  Port image = picture_port();
  image.extents_only = false;  // its frames are those of the result
  Operator op = together_operator("frames", "Rows for each frame of a sequence.",
                                  {rows_port("rows", "rows, of all frames or per frame"), std::move(image)});
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = ctx.input(0);
    type.device = ir::Device::kCpu;
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    b.output_stage(0, b.map("frames", b.output_type(0).dtype, b.extents(0),
                            [&](const Axes& at) { return b.load(0, at); }));
  };
  return op;
}

Operator make_corners() {
  Operator op =
      together_operator("corners", "Boxes as corners in pixels.", {boxes_port("boxes"), picture_port()});
  op.args = {format_arg(), relative_arg("boxes")};
  op.type_rule = boxes_like_first;
  op.define = [](RecipeBuilder& b) {
    const Expr numbers = b.extent(0, 1);
    b.check(equal(numbers, i64(kBoxNumbers)), "the last axis of boxes has {} numbers, a box has 4", {numbers},
            "boxes are rows: FLOAT [n, 4]");
    const std::string format = b.text("format");
    output_boxes(b, "corners", [&](const Expr& n, const Expr& k) {
      const Expr own = b.load(0, {n, k});
      const Expr is_first = k < i64(2);
      const Expr first = b.load(0, {n, k % i64(2)}), length = b.load(0, {n, k % i64(2) + i64(2)});
      Expr corner = own;
      if (format == "xywh") corner = select(is_first, first, first + length);
      if (format == "cxcywh") {
        const Expr half = length * f32(0.5);
        corner = select(is_first, first - half, first + half);
      }
      return corner * unit_of(b, 1, k);
    });
  };
  return op;
}

Operator make_format() {
  Operator op = together_operator("format", "Corners in pixels as boxes of a format.",
                                  {boxes_port("boxes"), picture_port()});
  op.args = {format_arg(), relative_arg("boxes")};
  op.type_rule = boxes_like_first;
  op.define = [](RecipeBuilder& b) {
    const std::string format = b.text("format");
    output_boxes(b, "boxes", [&](const Expr& n, const Expr& k) {
      const Expr own = b.load(0, {n, k});
      const Expr is_first = k < i64(2);
      const Expr first = b.load(0, {n, k % i64(2)}), last = b.load(0, {n, k % i64(2) + i64(2)});
      Expr number = own;
      if (format == "xywh") number = select(is_first, own, last - first);
      if (format == "cxcywh") number = select(is_first, (first + last) * f32(0.5), last - first);
      return number / unit_of(b, 1, k);
    });
  };
  return op;
}

// ---- on the way

Operator make_visible() {
  Operator op = together_operator(
      "visible", "What of boxes a picture shows, after a step.",
      {boxes_port("visible"), picture_port(), map_port("step", "what the step did to places")});
  op.inputs[2].optional = true;
  op.min_inputs = 2;
  op.type_rule = boxes_like_first;
  op.define = [](RecipeBuilder& b) {
    const PictureSize size = size_of_picture(b, 1);
    const Corners frame = {f64(0), f64(0), to_f64(size.width), to_f64(size.height)};
    output_boxes(b, "visible", [&](const Expr& n, const Expr& k) {
      Corners box = box_of(b, 0, n);
      // What has no area must not get one by turning.
      if (b.num_inputs() > 2) {
        const Expr had_area = area_of(box) > f64(0);
        box = moved(box, map_of(b, 2));
        box.is_real = box.is_real & had_area;
      }
      return number_of(intersection(box, frame), k);
    });
  };
  return op;
}

Operator make_compose() {
  Operator op = together_operator("compose", "One map of places after another.",
                                  {map_port(), map_port("first", "the map before it"), picture_port()});
  op.type_rule = [](const TypeContext& ctx) -> Types { return std::vector{ctx.input(0)}; };
  op.define = [](RecipeBuilder& b) {
    const auto then = map_of(b, 0), first = map_of(b, 1);
    std::vector<Expr> product;
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 3; ++c)
        product.push_back(then[3 * r] * first[c] + then[3 * r + 1] * first[3 + c] +
                          then[3 * r + 2] * first[6 + c]);
    b.output_scalars(0, std::move(product));
  };
  return op;
}

// ---- what is seen in the end

/// What of a box is seen, and whether it is enough.
struct Seen {
  Corners box;
  Expr is_enough;
};

/// Of row n of corners (input 0), visible (input 1) and a map (input 2), with the argument min_visible.
Seen seen_of(RecipeBuilder& b, const Expr& n) {
  const Corners whole = moved(box_of(b, 0, n), map_of(b, 2)), seen = intersection(whole, box_of(b, 1, n));
  const Expr area = area_of(seen), least = to_f64(b.arg("min_visible", DType::kF32));
  return {seen, (area > f64(0)) & (area >= least * area_of(whole))};
}

Operator seen_operator(std::string name, std::string summary) {
  Operator op = together_operator(std::move(name), std::move(summary),
                                  {boxes_port("corners"), boxes_port("visible"), map_port()});
  op.args = {{.name = "min_visible",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "The least share of its area, from 0 to 1; without area none is seen."}};
  return op;
}

Operator make_boxes() {
  Operator op = seen_operator("boxes", "Boxes on the picture as it is now; 0 where not enough is seen.");
  op.type_rule = boxes_like_first;
  op.define = [](RecipeBuilder& b) {
    output_boxes(b, "boxes", [&](const Expr& n, const Expr& k) {
      const Seen seen = seen_of(b, n);
      return select(seen.is_enough, number_of(seen.box, k), f32(0));
    });
  };
  return op;
}

Operator make_seen() {
  Operator op = seen_operator("seen", "1 for each box of which enough is seen, else 0.");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = boxes_type(ctx.input(0));
    type.dtype = DType::kI32;
    type.ndim = 1;
    type.extents.pop_back();
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    b.output_stage(0, b.map("seen", DType::kI32, {b.extent(0, 0)}, [&](const Axes& at) {
      return kernel::convert(select(seen_of(b, at[0]).is_enough, i64(1), i64(0)), DType::kI32);
    }));
  };
  return op;
}

/// A row of boxes per frame is one object: it stays where any frame shows it.
Operator make_anywhere() {
  Operator op = together_operator("anywhere", "1 for each row that is marked in any frame, else 0.",
                                  {{.name = "marks",
                                    .documentation = "1 or 0 for each frame and row, INT32 [F, n]",
                                    .dtypes = {DType::kI32},
                                    .ndim = 2}});
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = ctx.input(0);
    type.ndim = 1;
    type.layout = {};
    type.extents.erase(type.extents.begin());
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    const Expr none = kernel::convert(i64(0), DType::kI32);
    b.output_stage(
        0, b.reduce({.name = "anywhere",
                     .type = DType::kI32,
                     .extents = {b.extent(0, 1)},
                     .reduce_extents = {b.extent(0, 0)},
                     .accumulator = DType::kI32,
                     .combiner = kernel::Combiner::kMax,
                     .body = [&](const Axes& at, const Axes& over) { return b.load(0, {over[0], at[0]}); },
                     .finish = [&](const Expr& most) { return max(most, none); }}));
  };
  return op;
}

Operator make_rows() {
  Operator op = together_operator(
      "rows", "The rows that are marked, in their order.",
      {rows_port("data", "rows along the first axis"),
       {.name = "marks", .documentation = "1 or 0 for each row, INT32", .dtypes = {DType::kI32}, .ndim = 1}});
  op.args = {{.name = "count",
              .kind = ArgKind::kInt,
              .required = true,
              .per_sample = true,
              .documentation = "How many are marked."}};
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = ctx.input(0);
    if (type.ndim == 0)
      return ctx.error(fmt::format("together: {} has no rows, one for each box", describe(type)),
                       "labels are a tensor whose first axis counts the boxes");
    type.extents[0] = -1;
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    const Expr rows = b.extent(0, 0), boxes = b.extent(1, 0);
    b.check(equal(rows, boxes), "there are {} rows for {} boxes", {rows, boxes},
            "the first axis of labels counts the boxes");
    const Expr count = clamp(b.arg("count", DType::kI64), i64(0), rows);
    const StageRef before = b.scan({.name = "rank",
                                    .type = DType::kI32,
                                    .extents = {rows},
                                    .accumulator = DType::kI32,
                                    .body = [&](const Axes& at) { return b.load(1, {at[0]}); }});
    // Row j of the result is the one before which j rows are marked: as many rows have a rank of j or less.
    const StageRef source = b.reduce({.name = "source",
                                      .type = DType::kI32,
                                      .extents = {count},
                                      .reduce_extents = {rows},
                                      .accumulator = DType::kI32,
                                      .body = [&](const Axes& at, const Axes& over) {
                                        const Expr ranked = to_i64(b.load(before, {over[0]})) <= at[0];
                                        return kernel::convert(select(ranked, i64(1), i64(0)), DType::kI32);
                                      }});
    std::vector<Expr> extents = b.extents(0);
    extents[0] = count;
    b.output_stage(0, b.map("rows", b.output_type(0).dtype, std::move(extents), [&](const Axes& at) {
      Axes index = at;
      index[0] = to_i64(b.load(source, {at[0]}));
      return b.load(0, std::move(index), Border::kClamp);
    }));
  };
  return op;
}

}  // namespace

std::vector<Operator> make_together_boxes() {
  return {make_frames(), make_corners(), make_visible(),  make_compose(), make_boxes(),
          make_seen(),   make_rows(),    make_anywhere(), make_format()};
}

}  // namespace galatea::ops
