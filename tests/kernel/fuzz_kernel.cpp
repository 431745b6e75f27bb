// Making random kernels. Every kernel made here is legal by construction; verify() checks it nonetheless.
#include "tests/kernel/fuzz_kernel.h"

#include <random>

#include "base/result.h"
#include "compiler/kernel/expand_math.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT: the maker is written in the builders' words

class KernelMaker {
 public:
  explicit KernelMaker(uint64_t seed) : random_(seed) { case_.seed = seed; }

  FuzzCase run() {
    num_channels_ = pick(1, 4);
    channels_ = chance(6) ? int_param(num_channels_, num_channels_) : const_int(num_channels_);
    bool empty_rows = chance(12);
    bool empty_columns = chance(12);
    // Nothing of some extent may be read from something empty; swapped axes would mix the two.
    may_swap_ = !empty_rows && !empty_columns;
    for (int i = 0; i < 4; ++i) {
      bool empty = i % 2 == 0 ? empty_rows : empty_columns;
      case_.extent_params.push_back(static_cast<int>(case_.params.size()));
      extents_.push_back(add_param(DType::kI64, static_cast<uint64_t>(empty ? 0 : random_extent())));
    }
    int num_inputs = chance(4) ? 2 : 1;
    for (int i = 0; i < num_inputs; ++i) add_input();
    int steps = pick(1, 5);
    for (int i = 0; i < steps; ++i) add_step();
    if (may_swap_ && chance(4)) add_transpose();
    if (images_.back().target.kind == LoadTarget::Kind::kInput) add_pointwise();
    add_output(images_.back());
    if (chance(5)) {
      for (const Image& image : images_) {
        if (image.target.kind == LoadTarget::Kind::kStage && chance(3)) return add_output(image), finish();
      }
    }
    return finish();
  }

 private:
  /// Something of three axes that later stages can read.
  struct Image {
    LoadTarget target;
    DType type = DType::kU8;
    std::vector<Expr> extents;
  };

  FuzzCase finish() { return std::move(case_); }
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int one_in) { return pick(1, one_in) == 1; }
  template <typename T>
  T choose(std::initializer_list<T> options) {
    return options.begin()[static_cast<size_t>(pick(0, static_cast<int>(options.size()) - 1))];
  }
  int random_extent() { return chance(6) ? 1 : chance(6) ? pick(30, 70) : pick(2, 21); }
  double random_number() {
    return chance(8) ? choose({0.0, 1.0, -1.0, 0.5, 255.0})
                     : std::normal_distribution<double>(0, 40)(random_);
  }
  DType random_type() {
    return choose({DType::kU8, DType::kU8, DType::kU8, DType::kF32, DType::kF32, DType::kI16, DType::kI32,
                   DType::kU16, DType::kF16});
  }

  Expr add_param(DType type, uint64_t bits) {
    case_.params.push_back(bits);
    case_.kernel.params.push_back({"", type});
    return param(static_cast<int>(case_.params.size()) - 1, type);
  }
  Expr float_param() { return add_param(DType::kF32, cell_from_double(DType::kF32, random_number()).bits); }
  Expr int_param(int low, int high) {
    return add_param(DType::kI64, cell_from_int(DType::kI64, pick(low, high)).bits);
  }

  void add_input() {
    KernelInput input;
    input.type = choose({DType::kU8, DType::kU8, DType::kU8, DType::kI16, DType::kF32, DType::kU16});
    input.extents = {extents_[0], extents_[1], channels_};
    input.dense_axes = choose({3, 3, 2, 1, 0});
    images_.push_back({{LoadTarget::Kind::kInput, static_cast<int>(case_.kernel.inputs.size())},
                       input.type,
                       input.extents});
    case_.kernel.inputs.push_back(std::move(input));
  }
  Image add_stage(Stage stage) {
    Image image{
        {LoadTarget::Kind::kStage, static_cast<int>(case_.kernel.stages.size())}, stage.type, stage.extents};
    stage.name = "s" + std::to_string(image.target.index);
    case_.kernel.stages.push_back(std::move(stage));
    return image;
  }
  void add_output(const Image& image) {
    KernelOutput output;
    output.stage = image.target.index;
    output.axis_of = choose<std::vector<int>>({{0, 1, 2}, {0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}});
    output.dense_axes = choose({3, 3, 2, 0});
    output.streaming = chance(3);
    case_.kernel.outputs.push_back(std::move(output));
  }
  /// Mostly the newest image.
  const Image& some_image() {
    return chance(4) ? images_[static_cast<size_t>(pick(0, static_cast<int>(images_.size()) - 1))]
                     : images_.back();
  }
  Expr read(const Image& image, std::vector<Expr> at, Border border = Border::kNone) {
    Cell fill = cell_from_double(image.type, static_cast<double>(pick(0, 9)));
    return load(image.target, image.type, std::move(at), border, fill);
  }
  static std::vector<Expr> axes() { return {axis(0), axis(1), axis(2)}; }
  Border random_border() { return choose({Border::kClamp, Border::kReflect101, Border::kConstant}); }

  void add_step() {
    switch (pick(0, 19)) {
      case 0:
      case 1:
        return add_pointwise();
      case 10:
      case 11:
        return add_crop();
      case 12:
        return add_twin();
      case 13:
      case 14:
        return add_histogram();
      case 15:
        return add_scan();
      case 16:
      case 17:
      case 18:
        return add_warp();
      case 2:
        return add_window_map();
      case 3:
        return add_transpose();
      case 4:
      case 5:
        return add_resampling();
      case 6:
        return add_filter();
      case 7:
        return add_channel_mix();
      default:
        return add_reduction();
    }
  }

  Expr to_type(Expr value, DType type) {
    return chance(4) ? convert(std::move(value), type) : saturate(std::move(value), type);
  }

  /// Some arithmetic on a number of any type.
  Expr mangle(Expr x) {
    if (is_float(x->type) || chance(2)) return mangle_float(convert(std::move(x), DType::kF32));
    return mangle_int(convert(std::move(x), DType::kI32));
  }
  Expr mangle_float(Expr x) {
    int count = pick(0, 3);
    for (int i = 0; i < count; ++i) {
      switch (pick(0, 12)) {
        case 0:
          x = x * float_param();
          break;
        case 1:
          x = x + float_param();
          break;
        case 2:
          x = fma(x, float_param(), float_param());
          break;
        case 3:
          x = min(x, float_param());
          break;
        case 4:
          x = max(float_param(), x);
          break;
        case 5:
          x = unary(ScalarOp::kSqrt, unary(ScalarOp::kAbs, x));
          break;
        case 6:
          x = unary(choose({ScalarOp::kFloor, ScalarOp::kCeil, ScalarOp::kTrunc, ScalarOp::kRound,
                            ScalarOp::kRoundAway}),
                    x);
          break;
        case 7:
          x = select(x < float_param(), -x, x * const_float(2));
          break;
        case 8:
          x = convert(saturate(x, choose({DType::kU8, DType::kI8, DType::kU16, DType::kI16})), DType::kF32);
          break;
        case 9:
          x = x / float_param();
          break;
        case 10:
          x = convert(convert(x, DType::kF16), DType::kF32);
          break;
        default:
          x = chance(3) ? expand_math(unary(choose({ScalarOp::kExp, ScalarOp::kSin, ScalarOp::kAtan}), x))
                        : x - float_param();
          break;
      }
    }
    return x;
  }
  Expr mangle_int(Expr x) {
    int count = pick(0, 3);
    for (int i = 0; i < count; ++i) {
      Expr p = convert(int_param(-7, 300), DType::kI32);
      switch (pick(0, 9)) {
        case 0:
          x = x * p;
          break;
        case 1:
          x = x + p;
          break;
        case 2:
          x = x - p;
          break;
        case 3:
          x = min(x, p);
          break;
        case 4:
          x = max(x, p);
          break;
        case 5:
          x = binary(ScalarOp::kShr, x, const_int(pick(0, 9), DType::kI32));
          break;
        case 6:
          x = x / p;
          break;
        case 7:
          x = x % p;
          break;
        case 8:
          x = (x ^ p) & const_int(0x3FF, DType::kI32);
          break;
        default:
          x = select(x > p, x, unary(ScalarOp::kNot, x));
          break;
      }
    }
    return x;
  }

  void add_pointwise() {
    const Image image = some_image();
    Stage stage;
    stage.type = random_type();
    stage.extents = image.extents;
    Expr value = mangle(read(image, axes()));
    for (const Image& other : images_) {
      bool fits = same(other.extents[0], image.extents[0]) && same(other.extents[1], image.extents[1]) &&
                  same(other.extents[2], image.extents[2]);
      if (!fits || !chance(4)) continue;
      value = convert(value, DType::kF32) + convert(read(other, axes()), DType::kF32);
      break;
    }
    stage.body = to_type(value, stage.type);
    images_.push_back(add_stage(std::move(stage)));
  }

  /// Bytes through a curve or two: what a table may stand for.
  void add_curve() {
    const Image image = some_image();
    Expr x = saturate(read(image, axes()), DType::kU8);
    const int curves = pick(1, 3);
    for (int i = 0; i < curves; ++i)
      x = chance(3) ? convert(mangle_int(convert(x, DType::kI32)) & const_int(255, DType::kI32), DType::kU8)
                    : saturate(fma(mangle_float(convert(x, DType::kF32)), float_param(), float_param()),
                               DType::kU8);
    Stage stage;
    stage.type = chance(3) ? DType::kF32 : DType::kU8;
    stage.extents = image.extents;
    stage.body = stage.type == DType::kU8 ? x : convert(x, DType::kF32) * float_param();
    images_.push_back(add_stage(std::move(stage)));
  }

  /// mask * x + (1 - mask) * y, as policies choose.
  void add_choice() {
    const Image image = some_image();
    const DType type = choose({DType::kU8, DType::kU8, DType::kI16, DType::kI32});
    const auto number = [&] { return add_param(type, cell_from_int(type, pick(0, 255)).bits); };
    const Expr x = convert(read(image, axes()), type);
    const Expr mask = convert(x < number(), type), one = const_int(1, type);
    const Expr y = chance(2) ? number() - x : x ^ number();
    Expr body = chance(2) ? mask * x + (one - mask) * y : (one - mask) * y + x * mask;
    if (chance(2)) body = body & number();
    if (chance(3))
      body = convert(convert(body, DType::kI32) + convert(x, DType::kI32) * convert(number(), DType::kI32),
                     type);
    Stage stage;
    stage.type = type;
    stage.extents = image.extents;
    stage.body = body;
    images_.push_back(add_stage(std::move(stage)));
  }

  /// Shifted, mirrored, with a border.
  void add_window_map() {
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

  /// A place of the source as warps compute it: by the map's row, rounded down, within reach of 32 bits.
  Expr warp_index(const Expr& place) {
    const Expr near = max(min(place, const_float(16777218)), const_float(-2));
    if (chance(6)) return convert(convert(place, DType::kI32), DType::kI64);
    return convert(convert(chance(8) ? place : near, DType::kI32), DType::kI64);
  }

  /// Computed indices: one or several pixels about a place, outside of the source a number or its edge.
  void add_warp() {
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
    const Expr fill = convert(float_param(), image.type);
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
    switch (pick(0, 3)) {
      case 0:
        stage.body = to_type(pixel(0, 0), stage.type);
        break;
      case 1:
        stage.body = to_type(blend(sx - left, wide(0, 0), wide(1, 0)), stage.type);
        break;
      case 2:
        stage.body = to_type(wide(-1, 0) + wide(1, 0) - wide(0, pick(-1, 1)) * float_param(), stage.type);
        break;
      default:
        stage.body = to_type(blend(sy - top, blend(sx - left, wide(0, 0), wide(1, 0)),
                                   blend(sx - left, wide(0, 1), wide(1, 1))),
                             stage.type);
        break;
    }
    images_.push_back(add_stage(std::move(stage)));
  }

  /// A crop or flip whose indices are inside for certain, as operators write them.
  void add_transpose() {
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

  int64_t value_of(const Expr& extent) {
    return is_const(extent) ? const_value(extent)
                            : static_cast<int64_t>(case_.params[static_cast<size_t>(extent->index)]);
  }

  /// A window given by parameters, perhaps mirrored, that lies inside for certain; as crop_mirror_normalize
  /// writes it.
  void add_crop() {
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
    stage.body = to_type(mangle(read(image, at)), stage.type);
    images_.push_back(add_stage(std::move(stage)));
  }

  /// The same stage again, and both together.
  void add_twin() {
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

  /// A band with tables, as a resize writes it.
  void add_resampling() {
    const Image image = some_image();
    int along = pick(0, 1);
    auto b = static_cast<size_t>(along);
    Expr out_extent = extents_[b + 2];
    Expr taps = chance(3) ? const_int(pick(1, 6)) : int_param(1, 7);
    Expr scale =
        add_param(DType::kF32, cell_from_double(DType::kF32, choose({0.3, 0.5, 1.0, 1.7, 3.1, -1.0})).bits);
    DType first_type = choose({DType::kI32, DType::kI64});
    Stage first;
    first.type = first_type;
    first.extents = {out_extent};
    Expr centre =
        (convert(axis(0), DType::kF32) + const_float(0.5)) * scale - float_param() * const_float(0.1);
    first.body = convert(unary(ScalarOp::kFloor, centre), first_type);
    Image first_table = add_stage(std::move(first));
    bool integer = image.type == DType::kU8 && chance(2);
    Stage weight;
    weight.type = integer ? DType::kI32 : DType::kF32;
    weight.extents = {out_extent, taps};
    Expr w = convert(axis(0) * const_int(3) + axis(1) * const_int(5), DType::kF32) * float_param();
    weight.body =
        integer ? convert((axis(0) * const_int(711) + axis(1) * int_param(-900, 900)) % const_int(16384),
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
  static Expr expand_weight(const Expr& w) { return w - unary(ScalarOp::kFloor, w); }

  /// A band whose weights do not depend on the position.
  void add_filter() {
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

  void add_channel_mix() {
    const Image image = some_image();
    Stage stage;
    stage.type = random_type();
    stage.extents = image.extents;
    Expr sum = const_float(0);
    for (int64_t c = 0; c < num_channels_; ++c) {
      sum = fma(convert(read(image, {axis(0), axis(1), const_int(c)}), DType::kF32), float_param(), sum);
    }
    stage.body = to_type(sum + convert(axis(2), DType::kF32), stage.type);
    images_.push_back(add_stage(std::move(stage)));
  }

  /// A statistic of an image, and the image shifted by it.
  void add_reduction() {
    const Image image = some_image();
    bool per_channel = chance(2);
    Stage reduce;
    reduce.form = StageForm::kReduce;
    reduce.combiner = choose({Combiner::kSum, Combiner::kMin, Combiner::kMax});
    reduce.accumulator = is_float(image.type) ? DType::kF32 : choose({DType::kI32, DType::kI64, DType::kF32});
    reduce.type = choose({DType::kF32, reduce.accumulator});
    std::vector<Expr> at;
    if (per_channel) {
      reduce.extents = {image.extents[2]};
      reduce.reduce_extents = {image.extents[0], image.extents[1]};
      at = {reduce_axis(0), reduce_axis(1), axis(0)};
    } else {
      reduce.reduce_extents = image.extents;
      at = {reduce_axis(0), reduce_axis(1), reduce_axis(2)};
    }
    reduce.body = convert(read(image, at), reduce.accumulator);
    if (chance(2)) reduce.finish = to_type(mangle(accumulator(reduce.accumulator)), reduce.type);
    Image statistic = add_stage(std::move(reduce));
    Stage map;
    map.type = random_type();
    map.extents = image.extents;
    Expr value = load(statistic.target, statistic.type,
                      per_channel ? std::vector<Expr>{axis(2)} : std::vector<Expr>{});
    map.body = to_type(
        convert(read(image, axes()), DType::kF32) - convert(value, DType::kF32) * float_param(), map.type);
    images_.push_back(add_stage(std::move(map)));
  }

  /// The bin of a number, or a place outside of all bins.
  Expr bin_of(const Expr& x) {
    if (x->type == DType::kU8 && chance(2)) return convert(x, DType::kI64);
    if (x->type == DType::kU8)
      return convert(binary(ScalarOp::kShr, x, const_int(pick(1, 5), DType::kU8)), DType::kI64);
    return convert(saturate(mangle(x), choose({DType::kI8, DType::kI16, DType::kU8})), DType::kI64);
  }

  /// Counts of an image, perhaps their prefixes, and the image looked up in them.
  void add_histogram() {
    const Image image = some_image();
    const bool per_channel = chance(2);
    Stage counts;
    counts.form = StageForm::kHistogram;
    counts.accumulator = choose({DType::kI32, DType::kI32, DType::kI64, DType::kU8});
    counts.type = choose({counts.accumulator, DType::kF32, DType::kU8});
    const Expr bins = chance(3)   ? const_int(256)
                      : chance(3) ? int_param(1, 3)
                      : chance(2) ? int_param(4, 40)
                                  : const_int(pick(1, 70));
    std::vector<Expr> at = {reduce_axis(0), reduce_axis(1), reduce_axis(2)};
    if (per_channel) {
      at[2] = axis(0);
      counts.extents = {image.extents[2]};
      counts.reduce_extents = {image.extents[0], image.extents[1]};
    } else {
      counts.reduce_extents = image.extents;
    }
    counts.extents.push_back(bins);
    counts.body = bin_of(read(image, at, chance(4) ? random_border() : Border::kNone));
    if (chance(2)) counts.finish = to_type(mangle(accumulator(counts.accumulator)), counts.type);
    Image table = add_stage(std::move(counts));
    if (chance(2)) {
      Stage sums = scan_of(table, per_channel && chance(4) ? 0 : per_channel ? 1 : 0);
      table = add_stage(std::move(sums));
    }
    Stage map;
    map.type = random_type();
    map.extents = image.extents;
    // A byte in a table of all bytes is looked up as it is: there are forms for that.
    const bool bytes = image.type == DType::kU8 && is_const_int(bins, 256) && !chance(4);
    std::vector<Expr> place = {bytes ? convert(read(image, axes()), DType::kI64)
                                     : bin_of(read(image, axes()))};
    if (per_channel) place.insert(place.begin(), axis(2));
    const Expr found = read(table, place, bytes ? Border::kNone : random_border());
    map.body = to_type(chance(2) ? mangle(found) : found, map.type);
    images_.push_back(add_stage(std::move(map)));
  }

  /// Prefixes along one axis of something of any rank.
  Stage scan_of(const Image& image, int along) {
    Stage scan;
    scan.form = StageForm::kScan;
    scan.scan_axis = along;
    scan.extents = image.extents;
    scan.combiner = choose({Combiner::kSum, Combiner::kSum, Combiner::kMin, Combiner::kMax});
    scan.accumulator = choose({DType::kI32, DType::kI64, DType::kF32, DType::kU8});
    scan.type = choose({scan.accumulator, DType::kF32, DType::kI32, DType::kU8});
    std::vector<Expr> at;
    for (size_t d = 0; d < image.extents.size(); ++d) at.push_back(axis(static_cast<int>(d)));
    if (chance(4)) at[static_cast<size_t>(along)] = at[static_cast<size_t>(along)] + int_param(-2, 2);
    scan.body = convert(read(image, at, random_border()), scan.accumulator);
    if (chance(2)) scan.finish = to_type(mangle(accumulator(scan.accumulator)), scan.type);
    return scan;
  }

  void add_scan() { images_.push_back(add_stage(scan_of(some_image(), pick(0, 2)))); }

  std::mt19937_64 random_;
  FuzzCase case_;
  int num_channels_ = 1;
  Expr channels_;  ///< a parameter where only the call knows them
  bool may_swap_ = true;
  std::vector<Expr> extents_;
  std::vector<Image> images_;
};

}  // namespace

FuzzCase make_fuzz_case(uint64_t seed) {
  FuzzCase out = KernelMaker(seed).run();
  auto status = verify(out.kernel);
  GALATEA_CHECK(status.has_value(),
                "the fuzzer made an illegal kernel: " + (status ? "" : status.error().message()) + "\n" +
                    to_text(out.kernel));
  return out;
}

}  // namespace galatea::testing
