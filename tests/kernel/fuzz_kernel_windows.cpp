// Random stages that read other places: shifted, warped, cut out, resampled, filtered.
#include "tests/kernel/fuzz_kernel_maker.h"

namespace galatea::testing {

void KernelMaker::add_window_map() {
  const Image image = some_image();
  Stage stage;
  stage.type = random_type();
  stage.extents = {chance(2) ? image.extents[0] : extents_[2], chance(2) ? image.extents[1] : extents_[3],
                   image.extents[2]};
  Expr row = axis(0) + (chance(2) ? int_param(-5, 9) : const_int(0));
  Expr column = chance(2) ? axis(1) : axis(1) * int_param(-1, 1) + int_param(-4, 12);
  if (chance(4)) column = image.extents[1] - const_int(1) - axis(1);
  stage.body = to_type(mangle(read(image, {row, column, axis(2)}, random_border())), stage.type);
  images_.push_back(add_stage(std::move(stage)));
}

Expr KernelMaker::warp_index(const Expr& place) {
  const Expr near = max(min(place, const_float(16777218)), const_float(-2));
  if (chance(6)) return convert(convert(place, DType::kI32), DType::kI64);
  return convert(convert(chance(8) ? place : near, DType::kI32), DType::kI64);
}

void KernelMaker::add_warp() {
  const Image image = some_image();
  Stage stage;
  stage.type = random_type();
  stage.extents = {chance(2) ? image.extents[0] : extents_[2], chance(2) ? image.extents[1] : extents_[3],
                   image.extents[2]};
  const auto factor = [&](double about) {
    const double value = chance(2) ? about : about + choose({-0.5, 0.1, 0.25, 1.5});
    return add_param(DType::kF32, cell_from_double(DType::kF32, value).bits);
  };
  const auto shift = [&] {
    const double value = chance(2) ? pick(-6, 6) : choose({0.25, -3.75, 11.5, 40.0, -1e9, 1e9});
    return add_param(DType::kF32, cell_from_double(DType::kF32, value).bits);
  };
  const Expr u = convert(convert(axis(1), DType::kI32), DType::kF32) + const_float(0.5);
  const Expr v = convert(convert(axis(0), DType::kI32), DType::kF32) + const_float(0.5);
  const Expr sx = fma(factor(1), u, fma(factor(0), v, shift())),
             sy = fma(factor(0), u, fma(factor(1), v, shift()));
  const Expr left = unary(ScalarOp::kFloor, sx), top = unary(ScalarOp::kFloor, sy);
  // Rows or columns may be taken as they come: a shift of each row or column.
  const bool plain_rows = chance(5) && same(stage.extents[0], image.extents[0]);
  const Expr x = warp_index(left), y = plain_rows ? axis(0) : warp_index(top);
  const Border border = chance(3) ? random_border() : Border::kClamp;
  const bool filled = border == Border::kClamp && chance(2);
  Expr fill = convert(float_param(), image.type);
  if (chance(3)) {
    const Expr other = convert(float_param(), image.type);
    fill = select(equal(axis(2), const_int(0)), fill, other);
  }
  const auto pixel = [&](int64_t dx, int64_t dy) {
    const Expr column = x + const_int(dx), row = y + const_int(dy);
    const Expr value = read(image, {row, column, axis(2)}, border);
    if (!filled) return value;
    Expr inside = (column >= const_int(0)) & (column < image.extents[1]);
    if (!plain_rows) inside = inside & (row >= const_int(0)) & (row < image.extents[0]);
    return select(inside, value, fill);
  };
  const auto wide = [&](int64_t dx, int64_t dy) { return convert(pixel(dx, dy), DType::kF32); };
  const auto blend = [](const Expr& t, const Expr& a, const Expr& b) { return fma(t, b - a, a); };
  // Four by four pixels with weights of their own along either axis.
  const auto sixteen = [&] {
    const Expr a = float_param();
    const auto weighted = [&](const Expr& t, const auto& term) {
      Expr sum = t * a * term(-1);
      for (int64_t k = 0; k < 3; ++k)
        sum = fma(fma(t, t, a * const_float(0.5 * static_cast<double>(k))), term(k), sum);
      return sum;
    };
    return weighted(
        sy - top, [&](int64_t dy) { return weighted(sx - left, [&](int64_t dx) { return wide(dx, dy); }); });
  };
  switch (pick(0, 4)) {
    case 0:
      stage.body = to_type(pixel(0, 0), stage.type);
      break;
    case 3:
      stage.body = to_type(sixteen(), stage.type);
      break;
    case 1:
      stage.body = to_type(blend(sx - left, wide(0, 0), wide(1, 0)), stage.type);
      break;
    case 2:
      stage.body = to_type(wide(-1, 0) + wide(1, 0) - wide(0, pick(-1, 1)) * float_param(), stage.type);
      break;
    default:
      stage.body = to_type(
          blend(sy - top, blend(sx - left, wide(0, 0), wide(1, 0)), blend(sx - left, wide(0, 1), wide(1, 1))),
          stage.type);
      break;
  }
  // An image in between that is not made: what falls outside of it shows something else.
  for (int canvases = chance(3) ? pick(1, 2) : 0; canvases-- > 0;) {
    const Expr cx = fma(factor(1), u, fma(factor(0), v, shift())), cy = fma(factor(0), u, shift());
    const auto on = [](const Expr& place, const Expr& extent) {
      return (place >= const_float(0)) & (place < convert(extent, DType::kF32));
    };
    const Expr inside = on(cx, image.extents[1]) & on(cy, image.extents[0]);
    const Expr beside = convert(float_param(), stage.type);
    stage.body = chance(6) ? select(inside, beside, stage.body) : select(inside, stage.body, beside);
  }
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_box() {
  const Image image = some_image();
  Stage stage;
  stage.type = chance(2) ? image.type : random_type();
  stage.extents = image.extents;
  Expr inside;
  for (const int d : {0, 1, 2}) {
    if (d == 2 ? !chance(6) : chance(6)) continue;
    const Expr low = int_param(-3, 20), high = low + int_param(-2, 20);
    for (const Expr& here : {axis(d) >= low, axis(d) < high})
      if (!chance(6)) inside = inside ? inside & here : here;
  }
  const auto value = [&] {
    Expr out = chance(3) ? convert(float_param(), image.type) : read(image, axes());
    if (chance(4)) out = mangle(out);
    if (chance(4)) out = select(equal(axis(2), const_int(0)), out, convert(float_param(), out.type()));
    return to_type(out, stage.type);
  };
  const Expr first = value();
  stage.body = inside ? select(inside, first, value()) : first;
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_transpose() {
  const Image image = some_image();
  Stage stage;
  stage.type = image.type;
  bool swap = may_swap_ && !chance(3);
  stage.extents =
      swap ? std::vector<Expr>{image.extents[1], image.extents[0], image.extents[2]} : image.extents;
  std::vector<Expr> at = swap ? std::vector<Expr>{axis(1), axis(0), axis(2)} : axes();
  if (!swap && chance(2)) at[1] = (image.extents[1] - const_int(1)) - axis(1);
  if (chance(3))
    at[0] = swap ? image.extents[0] - const_int(1) - axis(1) : image.extents[0] - const_int(1) - axis(0);
  stage.body = read(image, at);
  if (chance(2)) {
    stage.type = random_type();
    stage.body = to_type(mangle(stage.body), stage.type);
  }
  images_.push_back(add_stage(std::move(stage)));
}

int64_t KernelMaker::value_of(const Expr& extent) {
  return is_const(extent) ? const_value(extent)
                          : static_cast<int64_t>(case_.params[static_cast<size_t>(extent->index)]);
}

void KernelMaker::add_crop() {
  const Image image = some_image();
  Stage stage;
  stage.type = random_type();
  stage.extents = image.extents;
  std::vector<Expr> at = axes();
  for (size_t d = 0; d < 2; ++d) {
    auto whole = static_cast<int>(value_of(image.extents[d]));
    int extent = whole == 0 ? 0 : pick(1, whole);
    int start = pick(0, whole - extent);
    bool mirror = chance(3);
    stage.extents[d] = int_param(extent, extent);
    Expr position = axis(static_cast<int>(d));
    Expr scale = chance(2) ? int_param(mirror ? -1 : 1, mirror ? -1 : 1) : const_int(mirror ? -1 : 1);
    at[d] = position * scale +
            int_param(mirror ? start + extent - 1 : start, mirror ? start + extent - 1 : start);
  }
  const Expr value = read(image, at);
  if (chance(3)) {  // pixels as they are
    stage.type = value.type();
    stage.body = value;
  } else {
    stage.body = to_type(mangle(value), stage.type);
  }
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_twin() {
  const Image image = images_.back();
  if (image.target.kind == LoadTarget::Kind::kInput) return add_pointwise();
  Image twin = add_stage(case_.kernel.stages[static_cast<size_t>(image.target.index)]);
  Stage stage;
  stage.type = random_type();
  stage.extents = image.extents;
  stage.body = to_type(convert(read(image, axes()), DType::kF32) + convert(read(twin, axes()), DType::kF32),
                       stage.type);
  images_.push_back(add_stage(std::move(stage)));
}

void KernelMaker::add_resampling() {
  const Image image = some_image();
  int along = pick(0, 1);
  auto b = static_cast<size_t>(along);
  Expr out_extent = extents_[b + 2];
  // Far apart, with many taps, as where an image shrinks much.
  const bool far = chance(4);
  Expr taps = far ? int_param(8, 40) : chance(3) ? const_int(pick(1, 6)) : int_param(1, 7);
  const double step = far ? choose({4.5, 9.0, -6.5}) : choose({0.3, 0.5, 1.0, 1.7, 3.1, -1.0});
  Expr scale = add_param(DType::kF32, cell_from_double(DType::kF32, step).bits);
  DType first_type = choose({DType::kI32, DType::kI64});
  Stage first;
  first.type = first_type;
  first.extents = {out_extent};
  Expr centre = (convert(axis(0), DType::kF32) + const_float(0.5)) * scale - float_param() * const_float(0.1);
  first.body = convert(unary(ScalarOp::kFloor, centre), first_type);
  Image first_table = add_stage(std::move(first));
  bool integer = image.type == DType::kU8 && chance(2);
  Stage weight;
  weight.type = integer ? DType::kI32 : DType::kF32;
  weight.extents = {out_extent, taps};
  Expr w = convert(axis(0) * const_int(3) + axis(1) * const_int(5), DType::kF32) * float_param();
  weight.body = integer ? convert((axis(0) * const_int(711) + axis(1) * int_param(-900, 900)) %
                                      const_int(far ? 1000 : 16384),
                                  DType::kI32)
                        : expand_weight(w);
  Image weight_table = add_stage(std::move(weight));

  Stage band;
  band.form = StageForm::kBand;
  band.accumulator = integer ? DType::kI32 : DType::kF32;
  band.type = chance(2) ? DType::kF32 : random_type();
  band.extents = image.extents;
  band.extents[b] = out_extent;
  band.band_axis = along;
  band.first = convert(load(first_table.target, first_type, {axis(along)}), DType::kI64);
  band.taps = taps;
  band.weight = load(weight_table.target, weight_table.type, {axis(along), tap()});
  std::vector<Expr> at = axes();
  at[b] = band.first + tap();
  band.source = read(image, at, chance(3) ? random_border() : Border::kClamp);
  if (integer && chance(2)) {
    band.type = DType::kF32;
    band.finish = convert(accumulator(DType::kI32), DType::kF32) * const_float(1.0 / 16384);
  } else {
    band.finish = to_type(mangle(accumulator(band.accumulator)), band.type);
  }
  images_.push_back(add_stage(std::move(band)));
}

void KernelMaker::add_filter() {
  const Image image = some_image();
  int along = pick(0, 1);
  int radius = pick(1, 3);
  Stage weight;
  weight.type = DType::kF32;
  weight.extents = {const_int(2 * radius + 1)};
  // Integers among others: of small integers their sums are exact, and may be made in i16.
  weight.body =
      chance(2) ? fma(convert(axis(0), DType::kF32), float_param(), float_param())
                : convert(axis(0) * axis(0) * const_int(pick(-1, 2)) - const_int(pick(-1, 4)), DType::kF32);
  Image table = add_stage(std::move(weight));
  Stage band;
  if (image.type == DType::kU8 && chance(4)) band.accumulator = DType::kI16;
  band.form = StageForm::kBand;
  band.type = chance(2) ? DType::kF32 : random_type();
  band.extents = image.extents;
  band.band_axis = along;
  band.first = axis(along) - const_int(radius);
  band.taps = const_int(2 * radius + 1);
  band.weight = load(table.target, DType::kF32, {tap()});
  if (band.accumulator == DType::kI16)
    band.weight = select(equal(tap(), const_int(pick(0, 2))), const_int(pick(-9, 9), DType::kI16),
                         const_int(pick(0, 5), DType::kI16));
  std::vector<Expr> at = axes();
  at[static_cast<size_t>(along)] = band.first + tap();
  band.source = read(image, at, chance(3) ? random_border() : Border::kReflect101);
  if (chance(2)) band.finish = to_type(mangle(accumulator(band.accumulator)), band.type);
  images_.push_back(add_stage(std::move(band)));
}

/// Columns made four by four, taken out of their groups, and a window over rows behind that.
void KernelMaker::add_groups() {
  const Image image = images_.back();
  const Expr size = const_int(4);
  Stage grouped;
  grouped.type = DType::kF32;
  grouped.extents = {(image.extents[1] + const_int(3)) / size, image.extents[0], image.extents[2], size};
  grouped.body =
      to_type(mangle(read(image, {axis(1), axis(0) * size + axis(3), axis(2)}, Border::kClamp)), DType::kF32);
  const Image groups = add_stage(std::move(grouped));
  Stage columns;
  columns.type = DType::kF32;
  columns.extents = image.extents;
  columns.body = load(groups.target, DType::kF32, {axis(1) / size, axis(0), axis(2), axis(1) % size});
  const Image flat = add_stage(std::move(columns));
  Stage band;
  band.form = StageForm::kBand;
  band.type = DType::kF32;
  band.extents = image.extents;
  const bool all_rows = chance(2);
  band.first = all_rows ? const_int(0) : axis(0);
  band.taps = all_rows ? image.extents[0] : const_int(1);
  band.weight = float_param();
  band.source = load(flat.target, DType::kF32, {band.first + tap(), axis(1), axis(2)});
  images_.push_back(add_stage(std::move(band)));
}

}  // namespace galatea::testing
