// Sound at another rate: see resampling.h for the meaning.
#include "stdlib_ops/sound/resampling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/scalar_op.h"

namespace galatea::ops {
namespace {

constexpr std::array kSoundTypes = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16,
                                    DType::kU32, DType::kI32, DType::kF32};
/// Entries of the table for each input frame.
constexpr int64_t kPhases = 32;
/// So many places follow from the first of them.
constexpr int64_t kPlacesOfBlock = 256;

/// DALI's: 3 at quality 0, 16 at 50, 64 at 100.
int64_t lobes_of(double quality) { return std::lround(0.007 * quality * quality - 0.09 * quality + 3); }

/// The window at entry `n` of its table; at whole distances exactly 0 and, in the middle, 1.
double window_entry(int64_t n, int64_t lobes) {
  const int64_t from_middle = n - kPhases * lobes;
  if (from_middle % kPhases == 0) return from_middle == 0 ? 1 : 0;
  const double angle = std::numbers::pi * static_cast<double>(from_middle) / kPhases;
  const double y = 2.0 * static_cast<double>(from_middle) / static_cast<double>(2 * kPhases * lobes + 1);
  return std::sin(angle) / angle * 0.5 * (1 + std::cos(std::numbers::pi * y));
}

/// [phase, tap]: the table in the order in which an output frame reads it.
std::shared_ptr<const runtime::ConstantTensor> window_table(int64_t lobes) {
  std::vector<Cell> cells;
  for (int64_t phase = 0; phase <= kPhases; ++phase)
    for (int64_t tap = 0; tap < 2 * lobes; ++tap)
      cells.push_back(cell_from_double(DType::kF32, window_entry(kPhases * tap + phase, lobes)));
  return std::make_shared<runtime::ConstantTensor>(DType::kF32, std::vector<int64_t>{kPhases + 1, 2 * lobes},
                                                   cells);
}

/// Half of what an unsigned type holds, or the largest number of a signed one.
double full_scale_of(DType type) {
  return is_signed_int(type) ? static_cast<double>(max_int(type))
                             : static_cast<double>(max_unsigned(type)) / 2;
}

/// A sample of an element type in [-1, 1].
Expr from_type(const Expr& x) {
  if (is_float(x.type())) return to_f32(x);
  const Expr scaled = to_f32(x) / f32(full_scale_of(x.type()));
  return is_signed_int(x.type()) ? scaled : scaled - f32(1);
}

/// The same for an output type: unsigned numbers are made of sound in [0, 2], so that nothing is their 0.
Expr towards_type(const Expr& x, DType type) {
  const bool is_unsigned = !is_float(type) && !is_signed_int(type);
  return is_unsigned ? from_type(x) + f32(1) : from_type(x);
}

Expr to_type(const Expr& x, DType type) {
  return is_float(type) ? kernel::convert(x, type) : kernel::saturate(x * f32(full_scale_of(type)), type);
}

}  // namespace

Expr frames_at_rate(const Expr& frames, const Expr& in, const Expr& out) {
  return ceil_to_i64(to_f64(frames) * out / in);
}

Result<DType> resampled_sound(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const std::string& name = ctx.op().name;
  constexpr const char* kTypes = "sound is UINT8, INT8, UINT16, INT16, UINT32, INT32 or FLOAT";
  if (in.ndim != 1 && in.ndim != 2)
    return ctx.error(fmt::format("{} takes [t] or [t, channels]; the input is {}", name, describe(in)));
  if (std::ranges::find(kSoundTypes, in.dtype) == kSoundTypes.end())
    return ctx.error(fmt::format("{} does not take {}", name, types_name(in.dtype)), kTypes);
  const DType dtype = ctx.dtype("dtype", in.dtype);
  if (std::ranges::find(kSoundTypes, dtype) == kSoundTypes.end())
    return ctx.error(fmt::format("{} does not give {}", name, types_name(dtype)), kTypes, "dtype");
  return dtype;
}

ArgSpec resampling_quality_arg() {
  return {
      .name = "quality",
      .kind = ArgKind::kFloat,
      .default_value = 50.0,
      .documentation =
          "From 0 to 100: the window has round(0.007 q^2 - 0.09 q + 3) lobes, which are 3 at 0, 16 at 50, "
          "64 at 100. Twice as many input frames count for each output frame."};
}

Status check_resampling_quality(const TypeContext& ctx) {
  const double quality = ctx.number("quality");
  if (quality >= 0 && quality <= 100) return {};
  return ctx.error(fmt::format("{}: quality is {}", ctx.op().name, quality), "it is from 0 to 100",
                   "quality");
}

StageRef resample_sound(RecipeBuilder& b, const SoundRate& rate) {
  const int64_t lobes = lobes_of(b.number("quality"));
  const int table = b.constant_input("window", window_table(lobes));
  const auto first_of_block = [&](const Expr& block) {
    return to_f64(block * i64(kPlacesOfBlock)) * rate.step;
  };
  const Expr blocks = (rate.frames + i64(kPlacesOfBlock - 1)) / i64(kPlacesOfBlock);
  const StageRef places = b.scan({.name = "places",
                                  .type = DType::kF32,
                                  .extents = {blocks, i64(kPlacesOfBlock)},
                                  .axis = 1,
                                  .accumulator = DType::kF32,
                                  .body = [&](const Axes& at) {
                                    const Expr first = first_of_block(at[0]);
                                    const Expr begin = to_f32(first - kernel::unary(ScalarOp::kFloor, first));
                                    return select(equal(at[1], i64(0)), begin, to_f32(rate.step));
                                  }});
  const auto place = [&](const Expr& i) {
    return b.load(places, {i / i64(kPlacesOfBlock), i % i64(kPlacesOfBlock)});
  };
  const auto above = [&](const Expr& i) { return kernel::unary(ScalarOp::kCeil, place(i)); };

  // Around the sound stand as many zeros as the first and the last output frame may reach, and one for the rounding of
  // places; and each channel is apart. So all taps of all frames lie in it, one behind the other.
  const int64_t before = lobes + 1;
  const DType out = b.output_type(0).dtype;
  const auto with_frames_last = [](Axes axes) {
    std::ranges::rotate(axes, axes.begin() + 1);
    return axes;
  };
  const Expr padded_frames = b.extent(0, 0) + i64(2 * before);
  Axes padded_extents = b.extents(0);
  padded_extents[0] = padded_frames;
  const StageRef padded = b.map("padded", DType::kF32, with_frames_last(padded_extents), [&](const Axes& at) {
    Axes from = at;
    std::ranges::rotate(from, from.end() - 1);
    from[0] = from[0] - i64(before);
    const Expr inside = (from[0] >= i64(0)) & (from[0] < b.extent(0, 0));
    return select(inside, towards_type(b.load(0, from, Border::kClamp), out), f32(0));
  });
  const Expr last_first = padded_frames - i64(2 * lobes);
  const auto first_of = [&](const Expr& i) {
    const Expr whole = floor_to_i64(first_of_block(i / i64(kPlacesOfBlock)));
    return clamp(whole + to_i64(above(i)) + i64(before - lobes), i64(0), last_first);
  };
  Axes extents = b.extents(0);
  extents[0] = rate.frames;
  return b.reduce({.name = "resampled",
                   .type = out,
                   .extents = extents,
                   .reduce_extents = {i64(2 * lobes)},
                   .accumulator = DType::kF64,
                   .body =
                       [&](const Axes& at, const Axes& tap) {
                         const Expr phase = (above(at[0]) - place(at[0])) * f32(kPhases);
                         const Expr entry = min(to_i64(phase), i64(kPhases - 1));
                         const Expr lower = b.load(table, {entry, tap[0]});
                         const Expr upper = b.load(table, {entry + i64(1), tap[0]});
                         Axes from = at;
                         from[0] = first_of(at[0]) + tap[0];
                         return kernel::fma(phase - to_f32(entry), upper - lower, lower) *
                                b.load(padded, with_frames_last(from));
                       },
                   .finish = [&](const Expr& sum) { return to_type(to_f32(sum), out); }});
}

}  // namespace galatea::ops
