// galatea.auto_orient: turns images upright by their EXIF orientation.
//
// Comes in: an image as it was stored, and its orientation. Goes out: the image, perhaps with rows and columns
// exchanged: a view where the text says which orientation, else a copy.
#include <utility>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// What an orientation asks for, of the stored picture: its rows, then its columns, backwards, and then both
/// exchanged. 1 and 0 ask for nothing.
struct Orientation {
  Expr rows_backwards, columns_backwards, exchanged;
};

Orientation turn_of(const Expr& orientation) {
  const auto is_one_of = [&](std::initializer_list<int64_t> numbers) {
    Expr any = truth(false);
    for (const int64_t number : numbers) {
      const Expr is = equal(orientation, i64(number));
      any = kernel::is_const(any) && kernel::const_value(any) == 0 ? is : any | is;
    }
    return any;
  };
  return {is_one_of({3, 4, 6, 7}), is_one_of({2, 3, 7, 8}), orientation >= i64(5)};
}

Expr given_orientation(RecipeBuilder& b) {
  const Expr orientation = b.arg("orientation", DType::kI64);
  b.check((orientation >= i64(0)) & (orientation <= i64(8)), "the orientation {} is none of EXIF",
          {orientation}, "it is a number from 1 to 8, not an angle; 0 stands for 1", "orientation");
  return orientation;
}

Types auto_orient_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  int64_t &rows = out.extents[static_cast<size_t>(at.h)], &columns = out.extents[static_cast<size_t>(at.w)];
  if (ctx.is_per_sample("orientation")) {
    if (rows != columns) rows = columns = -1;
    return std::vector{out};
  }
  const int64_t orientation = ctx.integer("orientation");
  if (orientation < 0 || orientation > 8)
    return ctx.error(fmt::format("galatea.auto_orient: {} is no orientation of EXIF", orientation),
                     "it is a number from 1 to 8, not an angle", "orientation");
  if (orientation >= 5) std::swap(rows, columns);
  return std::vector{out};
}

void define_auto_orient(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  Axes extents = b.extents(0);
  const Expr rows = extents[h], columns = extents[w];
  const auto last = [](const Expr& extent) { return max(extent - i64(1), i64(0)); };
  if (!b.is_per_sample("orientation")) {
    const int64_t orientation = b.integer("orientation");
    const Orientation turn = turn_of(i64(orientation));
    std::vector<int> dims;
    for (int d = 0; d < b.input_type(0).ndim; ++d) dims.push_back(d);
    std::vector<Expr> start(dims.size(), i64(0)), step(dims.size(), i64(1));
    const auto backwards = [&](size_t d, const Expr& is, const Expr& extent, size_t out) {
      start[d] = select(is, last(extent), i64(0));
      step[out] = select(is, i64(-1), i64(1));
    };
    const bool exchanged = orientation >= 5;
    if (exchanged) {
      std::swap(extents[h], extents[w]);
      std::swap(dims[h], dims[w]);
    }
    backwards(h, turn.rows_backwards, rows, exchanged ? w : h);
    backwards(w, turn.columns_backwards, columns, exchanged ? h : w);
    return b.output_view(0, 0, extents, dims, start, step);
  }
  const Orientation turn = turn_of(given_orientation(b));
  extents[h] = select(turn.exchanged, columns, rows);
  extents[w] = select(turn.exchanged, rows, columns);
  b.output_stage(0, b.map("upright", b.output_type(0).dtype, extents, [&](const Axes& index) {
    const Expr y = select(turn.exchanged, index[w], index[h]), x = select(turn.exchanged, index[h], index[w]);
    Axes from = index;
    from[h] = select(turn.rows_backwards, last(rows) - y, y);
    from[w] = select(turn.columns_backwards, last(columns) - x, x);
    return b.load(0, std::move(from));
  }));
}

void define_auto_orient_places(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Orientation turn = turn_of(given_orientation(b));
  const AxisPlaces x = mirrored_places({}, turn.columns_backwards, b.extent(0, at.w));
  const AxisPlaces y = mirrored_places({}, turn.rows_backwards, b.extent(0, at.h));
  const auto choose_row = [&](const AffineMap& kept, const AffineMap& exchanged) {
    AffineMap out;
    for (size_t r = 0; r < 2; ++r)
      for (size_t c = 0; c < 3; ++c) out[r][c] = select(turn.exchanged, exchanged[r][c], kept[r][c]);
    return out;
  };
  output_places(b, choose_row({{{x.factor, f64(0), x.offset}, {f64(0), y.factor, y.offset}}},
                              {{{f64(0), y.factor, y.offset}, {x.factor, f64(0), x.offset}}}));
}

}  // namespace

Operator make_galatea_auto_orient() {
  Operator op;
  op.name = "galatea.auto_orient";
  op.summary = "Turns images upright by their EXIF orientation.";
  op.documentation =
      "The orientation says what the first stored row and column show (tag 0x0112 of EXIF 2.3, section 4.6.4): "
      "1 as it is, 2 mirrored left to right, 3 turned by 180 degrees, 4 mirrored upside down, 5 mirrored along "
      "the main diagonal, 6 turned by 90 degrees clockwise, 7 mirrored along the other diagonal, 8 turned by 90 "
      "degrees counter-clockwise; 0, none stated, is 1. From 5 on height and width change places. "
      "It is for pictures whose orientation comes as data: decoders turn what they decode themselves, unless "
      "adjust_orientation=False; fn.galatea.peek_image_orientation says what a file states. Pixels are "
      "copied as they are; an orientation that stands in the text makes a view.";
  op.inputs = {{.name = "data", .documentation = "image", .layouts = {"HWC", "CHW", "HW"}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "orientation",
              .kind = ArgKind::kInt,
              .required = true,
              .per_sample = true,
              .documentation = "The EXIF orientation of the picture, 1 to 8."}};
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.galatea.auto_orient(image, orientation={})", {"2", "3", "6"});
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "stored = fn.decoders.image(encoded, adjust_orientation=False)\n"
      "orientation = fn.galatea.peek_image_orientation(encoded)\n"
      "return fn.galatea.auto_orient(stored, orientation=orientation), label\n";
  op.type_rule = auto_orient_types;
  op.define = define_auto_orient;
  moves_places(op, define_auto_orient_places);
  return op;
}

}  // namespace galatea::ops
