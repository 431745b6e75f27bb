// Sound at another rate: the stages that audio_resample and decoders.audio share.
//
// Comes in: input 0, [t] or [t, channels], how many input frames an output frame is away from the next, how many
// output frames there are. Goes out: a stage of the output's type.
//
// Output frame i stands at the place c = i * step of the input, between whose frames a windowed sinc interpolates
// (Smith, "Digital Audio Resampling"); it is not widened where the rate falls, so what lies above half the new rate
// comes out as something else. With L lobes, from ceil(c) - L on, 2 L frames count, each by the weight
//
//   w(d) = sinc(d) * (1 + cos(pi y)) / 2,   d the distance from c,   y = 64 d / (64 L + 1)
//
// which stands in a table of 32 entries a frame, with straight lines between them. What lies outside counts 0.
// Places are DALI's: from floor(256 n * step), where every 256th begins anew, each adds step to the one before in
// f32. Products are f32, and added as kernel.h has it.
//
// Integers stand for [-1, 1]: x / max of signed types, 2 x / max - 1 of unsigned ones; the sum is turned back so,
// rounded half to even and clamped. Of an unsigned output what lies outside counts as its 0, which is -1.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// The operator that resamples input 0 from the rate that input 1 is to its argument sample_rate.
inline constexpr const char* kSoundAtRate = "sound_at_rate";

struct SoundRate {
  Expr step;    ///< f64: input frames from one output frame to the next
  Expr frames;  ///< i64: of the output
};

/// What a length of `frames` becomes when `in` Hz become `out` Hz (f64): ceil(frames * out / in).
Expr frames_at_rate(const Expr& frames, const Expr& in, const Expr& out);

/// The element type of what is resampled, an argument's or the input's; complains about others than UINT8, INT8,
/// UINT16, INT16, UINT32, INT32 and FLOAT, and about other ranks than 1 and 2.
Result<DType> resampled_sound(const TypeContext& ctx);
ArgSpec resampling_quality_arg();
Status check_resampling_quality(const TypeContext& ctx);

StageRef resample_sound(RecipeBuilder& b, const SoundRate& rate);

}  // namespace galatea::ops
