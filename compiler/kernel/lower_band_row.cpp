// Horizontal bands over interleaved (or planar) pixels become BandRow, the shape that emitters have hand-made
// vectors for.
//
// Comes in: a band stage. Goes out: whether it has the shape, its tables, and one BandRow per row, into
// planar f32 rows; what the stage's finish does besides (or destinations of another layout) follows in a
// second loop over the row, while it lies in the cache.
//
// Off, `resize half` takes 8.5 times as long on bytes and 4.5 times on floats at 224 x 224 (`./dev bench
// per-op`, 2-core AMD EPYC, Zen 5).
#include <cmath>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

bool uses_axis(const Expr& e, int axis) {
  return any_node(e, [&](const ExprNode& n) { return n.kind == ExprKind::kAxis && n.index == axis; });
}
bool uses_other_axis(const Expr& e, int axis) {
  return any_node(e, [&](const ExprNode& n) { return n.kind == ExprKind::kAxis && n.index != axis; });
}
bool params_only(const Expr& e) {
  return !any_node(e, [](const ExprNode& n) {
    return n.kind != ExprKind::kConst && n.kind != ExprKind::kParam && n.kind != ExprKind::kOp;
  });
}

/// Channels that are resampled: so few elements fill no register, those along the axis before them do.
bool is_short_row(const Stage& stage) {
  const Expr& width = stage.extents.back();
  return stage.rank() >= 3 && is_const(width) && const_value(width) <= kMaxStructuralExtent;
}

/// f32(acc) * 2^n, or f32(acc): the factor; 0 for anything else.
float power_of_two_scale(const Expr& finish, DType accumulator) {
  const auto is_sum = [&](const Expr& e) {
    if (e->kind == ExprKind::kAcc) return accumulator == DType::kF32;
    return e->kind == ExprKind::kOp && e->op == ScalarOp::kConvert && e->type == DType::kF32 &&
           e->args[0]->kind == ExprKind::kAcc;
  };
  if (is_sum(finish)) return 1.0F;
  if (finish->kind != ExprKind::kOp || finish->op != ScalarOp::kMul || finish->type != DType::kF32) return 0;
  const int side = is_const(finish->args[1]) ? 1 : 0;
  if (!is_const(finish->args[static_cast<size_t>(side)]) ||
      !is_sum(finish->args[static_cast<size_t>(1 - side)]))
    return 0;
  const double scale = cell_to_double(DType::kF32, finish->args[static_cast<size_t>(side)]->value);
  int exponent = 0;
  return scale > 0 && std::frexp(scale, &exponent) == 0.5 ? static_cast<float>(scale) : 0;
}

}  // namespace

std::optional<RowBand> Lowering::match_row_band(int s) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  if (options_.gpu || stage.form != StageForm::kBand || stage.source->kind != ExprKind::kLoad) return {};
  RowBand band;
  const int b = stage.band_axis, rank = stage.rank();
  BandTables& t = band.tables;
  t.integer = stage.accumulator == DType::kI32;
  t.channels = 1;
  if (!t.integer && stage.accumulator != DType::kF32) return {};
  if (b == rank - 2 && is_const(stage.extents.back()) && const_value(stage.extents.back()) >= 1 &&
      const_value(stage.extents.back()) <= 4) {
    band.channel_axis = rank - 1;
    t.channels = static_cast<int>(const_value(stage.extents.back()));
  } else if (b != rank - 1 || is_short_row(stage)) {
    return {};
  }
  // The tables: over the band axis and the tap, and not a window (whose weights are the same everywhere;
  // plain vectors do that better).
  if (!params_only(stage.taps) || !params_only(stage.extents[static_cast<size_t>(b)])) return {};
  if (uses_other_axis(stage.first, b) || uses_other_axis(stage.weight, b) || !uses_axis(stage.weight, b))
    return {};
  // The source.
  const ExprNode& source = *stage.source;
  t.source_type = source.type;
  const bool type_fits =
      t.integer ? source.type == DType::kU8
                : source.type == DType::kF32 || source.type == DType::kI16 || source.type == DType::kU16;
  if (!type_fits || (source.border != Border::kClamp && source.border != Border::kNone)) return {};
  const bool from_input = source.target.kind == LoadTarget::Kind::kInput;
  const auto target = static_cast<size_t>(source.target.index);
  if (!from_input && (!stored_[target] || stored_[target]->ring_axis >= 0)) return {};
  const Place& place = from_input ? inputs_[target] : *stored_[target];
  const std::vector<Expr>& extents =
      from_input ? kernel_.inputs[target].extents : kernel_.stages[target].extents;
  band.source_dim = -1;
  int channel_dim = -1;
  for (size_t d = 0; d < source.args.size(); ++d) {
    const Expr& index = source.args[d];
    if (contains(index, ExprKind::kTap)) {
      if (band.source_dim >= 0 || (!same(index, stage.first + tap()) && !same(index, tap() + stage.first)))
        return {};
      band.source_dim = static_cast<int>(d);
    } else if (band.channel_axis >= 0 && index->kind == ExprKind::kAxis &&
               index->index == band.channel_axis) {
      if (channel_dim >= 0 || !is_const(extents[d]) || const_value(extents[d]) < t.channels ||
          !is_const_int(place.strides[d], 1))
        return {};
      channel_dim = static_cast<int>(d);
    } else if (uses_axis(index, b) || (band.channel_axis >= 0 && uses_axis(index, band.channel_axis))) {
      return {};
    }
  }
  if (band.source_dim < 0 || (band.channel_axis >= 0 && channel_dim < 0)) return {};
  if (!params_only(extents[static_cast<size_t>(band.source_dim)])) return {};
  t.src_width = extents[static_cast<size_t>(band.source_dim)];
  t.taps = t.taps_stride = stage.taps;
  t.width = stage.extents[static_cast<size_t>(b)];
  // The finish.
  const Expr sum = accumulator(DType::kF32);
  if (!stage.finish) {
    if (t.integer && stage.type != DType::kF32) return {};
    if (stage.type != DType::kF32) band.post = convert(sum, stage.type);
  } else if (const float scale = power_of_two_scale(stage.finish, stage.accumulator); scale != 0) {
    band.scale = scale;
  } else {
    band.post = rewrite(stage.finish, [&](const Expr& e) {
      const bool is_sum = e->kind == ExprKind::kOp && e->op == ScalarOp::kConvert && e->type == DType::kF32 &&
                          e->args[0]->kind == ExprKind::kAcc;
      return t.integer && is_sum ? sum : Expr();
    });
    if (any_node(band.post,
                 [](const ExprNode& n) { return n.kind == ExprKind::kAcc && n.type != DType::kF32; }))
      return {};
  }
  return band;
}

void Lowering::prepare_row_band(int s, Block& out) {
  RowBand& band = *row_bands_[static_cast<size_t>(s)];
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  BandTables& t = band.tables;
  const auto b = static_cast<size_t>(stage.band_axis);
  const DType weight_type = t.integer ? DType::kI32 : DType::kF32;
  // A table stage that has the right form already is used as it lies.
  const auto table = [&](const Expr& e, DType type, size_t rank) -> const Place* {
    if (e->kind != ExprKind::kLoad || e->target.kind != LoadTarget::Kind::kStage || e->type != type ||
        e->args.size() != rank)
      return nullptr;
    if (e->args[0]->kind != ExprKind::kAxis || (rank == 2 && e->args[1]->kind != ExprKind::kTap))
      return nullptr;
    const auto& place = stored_[static_cast<size_t>(e->target.index)];
    return place && place->ring_axis < 0 && is_const_int(place->strides[rank - 1], 1) ? &*place : nullptr;
  };
  Expr first = stage.first;
  if (first->kind == ExprKind::kOp && first->op == ScalarOp::kConvert && first->args[0].type() == DType::kI32)
    first = first->args[0];
  Env env;
  env.axes.assign(static_cast<size_t>(stage.rank()), const_int(0));
  if (const Place* place = table(first, DType::kI32, 1)) {
    t.first = place->buffer;
  } else {
    const Place made = new_scratch(stage.name + "_first", DType::kI32, t.width);
    t.first = made.buffer;
    const int x = new_loop_var(top(t.width), kVectorDepth);
    env.axes[b] = v(x);
    Block body;
    push(body, Store{t.first, v(x), saturate(translate(s, stage.first, env), DType::kI32)});
    push(out, For{x, const_int(0), top(t.width), LoopRole::kVector, 16, 1, std::move(body)});
  }
  if (const Place* place = table(stage.weight, weight_type, 2)) {
    t.weights = place->buffer;
    t.taps_stride = kernel_.stages[static_cast<size_t>(stage.weight->target.index)].extents[1];
  } else {
    const Place made = new_scratch(stage.name + "_weights", weight_type, max(t.width, const_int(0)) * t.taps);
    t.weights = made.buffer;
    const int x = new_loop_var(top(t.width), 100), k = new_loop_var(top(t.taps), kVectorDepth);
    env.axes[b] = v(x);
    env.tap = v(k);
    Block body, outer;
    push(body, Store{t.weights, build(linearize(v(x) * top(t.taps) + v(k))),
                     convert(translate(s, stage.weight, env), weight_type)});
    push(outer, For{k, const_int(0), top(t.taps), LoopRole::kVector, 16, 1, std::move(body)});
    push(out, For{x, const_int(0), top(t.width), LoopRole::kSerial, 1, 1, std::move(outer)});
  }
  t.prepared = new_scratch(stage.name + "_prepared", DType::kU8, prepared_bytes(t)).buffer;
  push(out, BandPrepare{t});
}

void Lowering::emit_band_row(int s, const std::vector<Expr>& fixed, Block& out) {
  const RowBand& band = *row_bands_[static_cast<size_t>(s)];
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const ExprNode& source = *stage.source;
  const bool from_input = source.target.kind == LoadTarget::Kind::kInput;
  const auto target = static_cast<size_t>(source.target.index);
  const Place& place = from_input ? inputs_[target] : *stored_[target];
  const std::vector<Expr>& extents = from_input ? input_extents_[target] : extents_[target];
  Env env;
  for (const Expr& e : fixed) env.axes.push_back(e ? e : const_int(0));
  std::vector<Expr> indices;
  for (size_t d = 0; d < source.args.size(); ++d) {
    const Expr& index = source.args[d];
    const bool is_channel =
        band.channel_axis >= 0 && index->kind == ExprKind::kAxis && index->index == band.channel_axis;
    if (static_cast<int>(d) == band.source_dim || is_channel) {
      indices.push_back(const_int(0));
      continue;
    }
    Expr at = translate(s, index, env);
    const bool plain = at->kind == ExprKind::kVar && loop_extent_[static_cast<size_t>(at->index)] &&
                       same(loop_extent_[static_cast<size_t>(at->index)], extents[d]);
    if (source.border == Border::kClamp && !plain) at = max(min(at, extents[d] - const_int(1)), const_int(0));
    indices.push_back(std::move(at));
  }
  BandRow row;
  row.tables = band.tables;
  row.scale = band.scale;
  row.src = place.buffer;
  row.src_offset = build(offset_of(place, indices));
  row.src_step = place.strides[static_cast<size_t>(band.source_dim)];
  const bool direct = band.post_stage < 0;
  const Place& to =
      direct ? *stored_[static_cast<size_t>(s)] : *stored_[static_cast<size_t>(band.temp_stage)];
  row.dst = to.buffer;
  row.dst_offset = build(offset_of(to, env.axes));
  row.dst_plane = band.channel_axis >= 0 ? to.strides[static_cast<size_t>(band.channel_axis)] : const_int(0);
  push(out, std::move(row));
  if (direct) return;
  Nest nest{band.post_stage, fixed, {}, places_[static_cast<size_t>(s)]};
  for (const int axis : order_for(s))
    if (!fixed[static_cast<size_t>(axis)]) nest.order.push_back(axis);
  emit_nest(nest, out);
}

}  // namespace galatea::kernel::lowering
