// One element of a stage (or one pixel of few channels): the innermost statements of every nest.
//
// Comes in: what stands for the stage's axes. Goes out: statements that compute and store the element.
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kMaxUnrolledTaps = 8;  ///< windows of known size

}  // namespace

void Lowering::emit_element(const Nest& nest, const Shape& shape, Env env, const DroppedBorders* dropped,
                            int64_t taps, Block& out) {
  if (shape.along_reduction) {
    const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
    const Place part = new_scratch(stage.name + "_lanes", stage.accumulator, const_int(kReduceLanes));
    const Expr sum = emit_lanes_float(nest.stage, env, part, out);
    return store(nest.places, env.axes, finish(nest.stage, env, sum, dropped), out);
  }
  if (shape.unrolled < 0) return emit_one(nest, env, dropped, taps, out);
  const auto axis = static_cast<size_t>(shape.unrolled);
  const int64_t n = const_value(extents_[static_cast<size_t>(nest.stage)][axis]);
  if (has_tap_loop(nest, taps)) {
    std::vector<Env> channels;
    for (int64_t c = 0; c < n; ++c) {
      env.axes[axis] = const_int(c);
      channels.push_back(env);
    }
    return emit_tap_loop(nest, channels, dropped, out);
  }
  for (int64_t c = 0; c < n; ++c) {
    env.axes[axis] = const_int(c);
    emit_one(nest, env, dropped, taps, out);
  }
}

Expr Lowering::band_step(const Stage& stage, const Expr& acc, const Expr& weight, const Expr& source) const {
  const Expr w = convert(weight, stage.accumulator), x = convert(source, stage.accumulator);
  return is_float(stage.accumulator) ? fma(w, x, acc) : acc + w * x;
}

Expr Lowering::finish(int s, const Env& env, const Expr& acc, const DroppedBorders* dropped, AccessLog* log) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (!stage.finish) return convert(acc, stage.type);
  Env with_acc = env;
  with_acc.acc = acc;
  return translate(s, stage.finish, with_acc, dropped, log);
}

bool Lowering::has_tap_loop(const Nest& nest, int64_t known_taps) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  return stage.form == StageForm::kBand && known_taps == 0 &&
         (!is_const(stage.taps) || const_value(stage.taps) > kMaxUnrolledTaps);
}

/// One loop over the taps for all channels of a pixel.
void Lowering::emit_tap_loop(const Nest& nest, const std::vector<Env>& channels,
                             const DroppedBorders* dropped, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  const int k = new_loop_var(top(stage.taps), kInnerDepth);
  std::vector<Expr> sums;
  Block body;
  for (const Env& env : channels) {
    const int sum = new_var(stage.accumulator);
    sums.push_back(v(sum));
    push(out, Declare{sum, constant(stage.accumulator, Cell{})});
    Env at_tap = env;
    at_tap.tap = v(k);
    push(body, Assign{sum, band_step(stage, v(sum), translate(nest.stage, stage.weight, at_tap, dropped),
                                     translate(nest.stage, stage.source, at_tap, dropped))});
  }
  push(out, For{k, const_int(0), top(stage.taps), LoopRole::kSerial, 1, 1, std::move(body)});
  for (size_t c = 0; c < channels.size(); ++c)
    store(nest.places, channels[c].axes, finish(nest.stage, channels[c], sums[c], dropped), out);
}

void Lowering::emit_one(const Nest& nest, const Env& env, const DroppedBorders* dropped, int64_t taps,
                        Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(nest.stage)];
  if (stage.form == StageForm::kMap)
    return store(nest.places, env.axes, translate(nest.stage, stage.body, env, dropped), out);
  if (stage.form == StageForm::kReduce) {
    const Expr acc = emit_reduce_element(nest.stage, env, dropped, out);
    return store(nest.places, env.axes, finish(nest.stage, env, acc, dropped), out);
  }
  if (has_tap_loop(nest, taps)) return emit_tap_loop(nest, {env}, dropped, out);
  if (taps == 0) taps = const_value(stage.taps);
  Expr acc = constant(stage.accumulator, Cell{});
  Env at_tap = env;
  for (int64_t k = 0; k < taps; ++k) {
    at_tap.tap = const_int(k);
    acc = band_step(stage, acc, translate(nest.stage, stage.weight, at_tap, dropped),
                    translate(nest.stage, stage.source, at_tap, dropped));
  }
  store(nest.places, env.axes, finish(nest.stage, env, acc, dropped), out);
}

}  // namespace galatea::kernel::lowering
