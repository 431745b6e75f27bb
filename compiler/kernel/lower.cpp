// Kernels to loops: buffers, the order of stages, rings of rows.
//
// Comes in: a verified kernel and its schedule. Goes out: loops, one phase a stage (a ring's producer runs inside its consumer's phase).
// The loops of one stage are in lower_nest.cpp, lower_reduce.cpp and lower_band_row.cpp; expressions in lower_access.cpp.
#include <algorithm>

#include "base/result.h"
#include "compiler/kernel/expand_math.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel {

namespace lowering {

namespace {

/// The smallest power of two that is not below `value`.
Expr power_of_two_above(const Expr& value) {
  Expr x = max(value, const_int(1)) - const_int(1);
  for (const int shift : {1, 2, 4, 8, 16}) x = x | binary(ScalarOp::kShr, x, const_int(shift));
  return x + const_int(1);
}

Expr substitute_axis(const Expr& e, const Expr& value) {
  return rewrite(e, [&](const Expr& node) { return node->kind == ExprKind::kAxis ? value : Expr(); });
}

std::string unique_name(const std::string& name, size_t number) { return (name.empty() ? "t" : name) + std::to_string(number); }

}  // namespace

void for_each_stage_expr(const Stage& stage, const std::function<void(const Expr&)>& visit) {
  for (const Expr* e : {&stage.body, &stage.weight, &stage.source, &stage.first, &stage.finish, &stage.taps})
    if (*e) visit(*e);
}

bool may_raise_flag(const Stage& stage) {
  bool found = false;
  for_each_stage_expr(stage, [&](const Expr& e) {
    found |= any_node(e, [](const ExprNode& n) {
      if (n.kind != ExprKind::kOp || is_float(n.type)) return false;
      if (n.op == ScalarOp::kDiv || n.op == ScalarOp::kRem) return !is_const(n.args[1]) || n.args[1]->value.bits == 0;
      return false;
    });
  });
  return found;
}

bool ring_is_legal(const Kernel& kernel, int producer, int* consumer) {
  *consumer = -1;
  const auto p = static_cast<size_t>(producer);
  const Stage& rows = kernel.stages[p];
  for (const KernelOutput& output : kernel.outputs)
    if (output.stage == producer) return false;
  if (rows.form == StageForm::kReduce || may_raise_flag(rows)) return false;
  const auto reads = [&](const ExprNode& n) { return n.kind == ExprKind::kLoad && n.target.kind == LoadTarget::Kind::kStage && n.target.index == producer; };
  for (size_t s = p + 1; s < kernel.stages.size(); ++s) {
    const Stage& stage = kernel.stages[s];
    bool read = false;
    for_each_stage_expr(stage, [&](const Expr& e) { read |= any_node(e, reads); });
    if (!read) continue;
    if (*consumer >= 0 || stage.form != StageForm::kBand) return false;
    *consumer = static_cast<int>(s);
  }
  if (*consumer < 0) return false;
  const Stage& stage = kernel.stages[static_cast<size_t>(*consumer)];
  bool elsewhere = any_node(stage.first, reads) || any_node(stage.weight, reads) || any_node(stage.taps, reads);
  if (stage.finish) elsewhere |= any_node(stage.finish, reads);
  if (elsewhere || !reads(*stage.source) || contains(stage.taps, ExprKind::kLoad)) return false;
  const auto b = static_cast<size_t>(stage.band_axis);
  if (b + 1 >= rows.extents.size() || stage.source->args.size() != rows.extents.size()) return false;  // a row has at least one axis of its own
  for (size_t d = 0; d < stage.source->args.size(); ++d) {
    const Expr& index = stage.source->args[d];
    if (any_node(index, reads)) return false;
    if (d == b) {
      if (!same(index, stage.first + tap()) && !same(index, tap() + stage.first)) return false;
    } else if (d < b) {
      if (index->kind != ExprKind::kAxis || index->index != static_cast<int>(d) || !same(rows.extents[d], stage.extents[d])) return false;
    } else if (contains(index, ExprKind::kTap) ||
               any_node(index, [&](const ExprNode& n) { return n.kind == ExprKind::kAxis && n.index == stage.band_axis; })) {
      return false;
    }
  }
  if (any_node(stage.first, [&](const ExprNode& n) { return n.kind == ExprKind::kAxis && n.index != stage.band_axis; })) return false;
  if (stage.source->border == Border::kReflect101) {
    // Rows near an edge come from both sides of it: their number is bounded only where the window moves with the axis.
    const Expr& first = stage.first;
    const auto is_axis = [&](const Expr& e) { return e->kind == ExprKind::kAxis; };
    const auto free = [](const Expr& e) { return !contains(e, ExprKind::kAxis) && !contains(e, ExprKind::kLoad); };
    const bool sum = first->kind == ExprKind::kOp && (first->op == ScalarOp::kAdd || first->op == ScalarOp::kSub);
    const bool moves = is_axis(first) || (sum && is_axis(first->args[0]) && free(first->args[1])) ||
                       (sum && first->op == ScalarOp::kAdd && is_axis(first->args[1]) && free(first->args[0]));
    if (!moves) return false;
  }
  return true;
}

Lowering::Lowering(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options)
    : kernel_(kernel), schedule_(schedule), options_(options) {
  GALATEA_CHECK(schedule_.stages.size() == kernel_.stages.size(), "a schedule of another kernel");
  for (Stage& stage : kernel_.stages)
    for (Expr* e : {&stage.body, &stage.weight, &stage.source, &stage.first, &stage.finish})
      if (*e && any_node(*e, [](const ExprNode& n) { return n.kind == ExprKind::kOp && is_math(n.op); })) *e = expand_math(*e);
  compose_bands(kernel_);
  kernel_.stages.reserve(kernel_.stages.size() * 3 + 1);  // stages are added; references to them must stay good
}

// ---- variables

int Lowering::new_var(DType type) {
  out_.var_types.push_back(type);
  depth_.push_back(-1);
  loop_extent_.emplace_back();
  return static_cast<int>(out_.var_types.size()) - 1;
}

int Lowering::new_loop_var(const Expr& extent, int depth) {
  const int variable = new_var(DType::kI64);
  depth_.back() = depth;
  loop_extent_.back() = extent;
  return variable;
}

Expr Lowering::let(const Expr& value, Block& out) {
  if (value->kind == ExprKind::kConst || value->kind == ExprKind::kParam || value->kind == ExprKind::kVar) return value;
  const int variable = new_var(value.type());
  push(out, Let{variable, value});
  return v(variable);
}

Expr Lowering::let_index(const Expr& value, int depth, Block& out) {
  if (is_const(value)) return value;
  const int variable = new_loop_var(Expr(), depth);
  push(out, Let{variable, value});
  return v(variable);
}

// ---- buffers

std::vector<Expr> Lowering::dense_strides(const std::vector<Expr>& extents, const std::vector<int>& order) {
  std::vector<Expr> strides(extents.size());
  Expr stride = const_int(1);
  for (size_t i = order.size(); i-- > 0;) {
    strides[static_cast<size_t>(order[i])] = stride;
    stride = top(stride * extents[static_cast<size_t>(order[i])]);
  }
  return strides;
}

Place Lowering::new_scratch(const std::string& name, DType type, Expr elements) {
  Place place;
  place.buffer = static_cast<int>(out_.buffers.size());
  out_.buffers.push_back({unique_name(name + "_", out_.buffers.size()), BufferKind::kScratch, type, -1, std::move(elements)});
  return place;
}

void Lowering::add_tensors() {
  const auto add = [&](const std::string& name, BufferKind kind, DType type, const std::vector<Expr>& extents, int dense_axes) {
    const int tensor = static_cast<int>(out_.stride_vars.size());
    Place place;
    place.buffer = static_cast<int>(out_.buffers.size());
    out_.buffers.push_back({unique_name(name + "_", out_.buffers.size()), kind, type, tensor, Expr()});
    std::vector<int> order(extents.size());
    for (size_t d = 0; d < extents.size(); ++d) order[d] = static_cast<int>(d);
    place.strides = dense_strides(extents, order);
    std::vector<int> vars(extents.size(), -1);
    for (size_t d = 0; d + static_cast<size_t>(dense_axes) < extents.size(); ++d) {
      vars[d] = new_var(DType::kI64);
      place.strides[d] = v(vars[d]);
    }
    out_.stride_vars.push_back(std::move(vars));
    return place;
  };
  for (const KernelInput& input : kernel_.inputs) {
    std::vector<Expr> extents;
    for (const Expr& e : input.extents) extents.push_back(top(e));
    inputs_.push_back(add(input.name.empty() ? "in" : input.name, BufferKind::kInput, input.type, extents, input.dense_axes));
    input_extents_.push_back(std::move(extents));
  }
  for (const Stage& stage : kernel_.stages) {
    std::vector<Expr> extents;
    for (const Expr& e : stage.extents) extents.push_back(top(e));
    extents_.push_back(std::move(extents));
  }
  places_.resize(kernel_.stages.size());
  for (const KernelOutput& output : kernel_.outputs) {
    const auto s = static_cast<size_t>(output.stage);
    std::vector<Expr> extents;
    for (const int axis : output.axis_of) extents.push_back(extents_[s][static_cast<size_t>(axis)]);
    const Place tensor = add("out", BufferKind::kOutput, kernel_.stages[s].type, extents, output.dense_axes);
    Place place = tensor;
    for (size_t d = 0; d < output.axis_of.size(); ++d) place.strides[static_cast<size_t>(output.axis_of[d])] = tensor.strides[d];
    place.streaming = output.streaming;
    places_[s].push_back(std::move(place));
  }
}

bool Lowering::is_output(int s) const {
  return std::any_of(kernel_.outputs.begin(), kernel_.outputs.end(), [&](const KernelOutput& o) { return o.stage == s; });
}

bool Lowering::is_inlined(int s) const {
  const auto i = static_cast<size_t>(s);
  return schedule_.stages[i].placement == Placement::kInlined && kernel_.stages[i].form == StageForm::kMap && !may_raise_flag(kernel_.stages[i]);
}

void Lowering::place_stages() {
  const size_t n = kernel_.stages.size();
  stored_.resize(n);
  row_bands_.resize(n);
  nest_orders_.resize(n);
  ring_consumer_.assign(n, -1);
  ring_producer_.assign(n, -1);
  readers_.assign(n, 0);
  for (size_t s = 0; s < n; ++s)
    for_each_stage_expr(kernel_.stages[s], [&](const Expr& e) {
      any_node(e, [&](const ExprNode& node) {
        if (node.kind == ExprKind::kLoad && node.target.kind == LoadTarget::Kind::kStage) ++readers_[static_cast<size_t>(node.target.index)];
        return false;
      });
    });
  for (size_t s = 0; s < n; ++s) place_stage(static_cast<int>(s));
}

void Lowering::place_stage(int s) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  // A stage that nobody reads is left out, unless it may raise a flag.
  const bool keep = (readers_[i] > 0 && !is_inlined(s)) || (readers_[i] == 0 && !is_output(s) && may_raise_flag(stage));
  if (keep && !options_.gpu && schedule_.stages[i].placement == Placement::kRing) {
    int consumer = -1;
    // A consumer that is itself read row by row has its rows asked for in its own consumer's order, which a ring here cannot follow.
    if (ring_is_legal(kernel_, s, &consumer) && schedule_.stages[static_cast<size_t>(consumer)].placement != Placement::kRing &&
        ring_producer_[static_cast<size_t>(consumer)] < 0) {
      ring_consumer_[i] = consumer;
      ring_producer_[static_cast<size_t>(consumer)] = s;
    }
  }
  std::optional<RowBand> band = schedule_.stages[i].lanes == LaneMapping::kScalar ? std::nullopt : match_row_band(s);
  if (ring_producer_[i] >= 0) band.reset();
  // Where a ring's rows lie inside what BandRow would make at once, rows are made one by one instead.
  if (ring_consumer_[i] >= 0 && kernel_.stages[static_cast<size_t>(ring_consumer_[i])].band_axis >= stage.band_axis) band.reset();
  std::vector<int> order(stage.extents.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  // Filter tables have few taps and many positions: lanes run over positions, which lie next to each other unless BandRow wants rows of taps.
  const bool table = !options_.gpu && schedule_.stages[i].placement == Placement::kTable && stage.rank() == 2 && !is_output(s);
  if (table) nest_orders_[i] = {1, 0};
  if (table && !is_row_band_weight(s)) order = {1, 0};
  const bool planar = band && band->channel_axis >= 0 && !band->post && !is_output(s);
  if (planar) std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (keep) {
    std::vector<Expr> raw = stage.extents, extents = extents_[i];
    const int ring = ring_consumer_[i];
    Expr ring_rows;
    if (ring >= 0) {
      const Stage& consumer = kernel_.stages[static_cast<size_t>(ring)];
      const auto b = static_cast<size_t>(consumer.band_axis);
      Expr rows = consumer.taps;
      if (consumer.source->border == Border::kReflect101) {
        const Expr last = raw[b] - const_int(1);
        const Expr low = substitute_axis(consumer.first, const_int(0)), high = substitute_axis(consumer.first, consumer.extents[b] - const_int(1));
        const Expr far = (low < -last) | (high + consumer.taps - const_int(1) > last * const_int(2));
        rows = select(far, max(raw[b], rows), rows);
      }
      ring_rows = power_of_two_above(rows);
      raw[b] = ring_rows;
      for (size_t d = 0; d < b; ++d) raw[d] = const_int(1);
      for (size_t d = 0; d <= b; ++d) extents[d] = top(raw[d]);
    }
    if (band) {  // rows begin at aligned places
      const auto b = static_cast<size_t>(stage.band_axis);
      raw[b] = (max(raw[b], const_int(0)) + const_int(15)) & const_int(-16);
      if (planar || band->channel_axis < 0) extents[b] = top(raw[b]);
      else raw[b] = stage.extents[b];
    }
    Expr elements = const_int(1);
    for (const Expr& e : raw) elements = elements * max(e, const_int(0));
    Place place = new_scratch(stage.name, stage.type, elements);
    place.strides = dense_strides(extents, order);
    if (ring >= 0) {
      const auto b = static_cast<size_t>(kernel_.stages[static_cast<size_t>(ring)].band_axis);
      for (size_t d = 0; d < b; ++d) place.strides[d] = const_int(0);
      place.ring_axis = static_cast<int>(b);
      place.ring_mask = top(ring_rows - const_int(1));
    }
    stored_[i] = place;
    places_[i].push_back(place);
  }
  if (band && (keep || is_output(s))) place_row_band(s, std::move(*band));
}

/// Whether a horizontal band takes its weights from the stage.
bool Lowering::is_row_band_weight(int s) const {
  for (const Stage& stage : kernel_.stages) {
    if (stage.form != StageForm::kBand || stage.rank() < 2 || stage.band_axis < stage.rank() - 2 || stage.band_axis == 0) continue;
    if (stage.weight->kind == ExprKind::kLoad && stage.weight->target.kind == LoadTarget::Kind::kStage && stage.weight->target.index == s) return true;
  }
  return false;
}

/// Adds the row buffer and the map that finishes a row, where BandRow alone does not do it.
void Lowering::place_row_band(int s, RowBand band) {
  const auto i = static_cast<size_t>(s);
  if (band.post || is_output(s)) {
    const Stage& stage = kernel_.stages[i];
    const auto b = static_cast<size_t>(stage.band_axis);
    const Expr plane = (max(stage.extents[b], const_int(0)) + const_int(15)) & const_int(-16);
    Stage row = stage;
    row.form = StageForm::kMap;
    row.type = DType::kF32;
    Stage last = stage;
    last.form = StageForm::kMap;
    band.temp_stage = static_cast<int>(kernel_.stages.size());
    band.post_stage = band.temp_stage + 1;
    std::vector<Expr> axes;
    for (int d = 0; d < stage.rank(); ++d) axes.push_back(axis(d));
    const Expr sum = load({LoadTarget::Kind::kStage, band.temp_stage}, DType::kF32, axes);
    last.body = band.post ? rewrite(band.post, [&](const Expr& e) { return e->kind == ExprKind::kAcc ? sum : Expr(); }) : convert(sum, stage.type);
    last.finish = last.weight = last.source = last.first = Expr();
    Place temp = new_scratch(stage.name + "_row", DType::kF32, plane * const_int(band.tables.channels));
    temp.strides.assign(stage.extents.size(), const_int(0));
    temp.strides[b] = const_int(1);
    if (band.channel_axis >= 0) temp.strides[static_cast<size_t>(band.channel_axis)] = top(plane);
    kernel_.stages.push_back(std::move(row));
    kernel_.stages.push_back(std::move(last));
    for (int k = 0; k < 2; ++k) {
      extents_.push_back(extents_[i]);
      schedule_.stages.push_back(schedule_.stages[i]);
      places_.emplace_back();
      row_bands_.emplace_back();
      nest_orders_.emplace_back();
    }
    stored_.emplace_back(temp);
    stored_.emplace_back();
  }
  row_bands_[i] = std::move(band);
}

// ---- stages

Expr Lowering::all_positive(const std::vector<Expr>& extents) const {
  Expr all = const_bool(true);
  for (const Expr& extent : extents) {
    const Expr here = extent > const_int(0);
    all = is_const(all) ? (all->value.bits ? here : all) : is_const(here) ? (here->value.bits ? all : here) : (all & here);
  }
  return all;
}

std::vector<int> Lowering::order_for(int s) const {
  for (const KernelOutput& output : kernel_.outputs)
    if (output.stage == s) return output.axis_of;
  if (!nest_orders_[static_cast<size_t>(s)].empty()) return nest_orders_[static_cast<size_t>(s)];
  std::vector<int> order;
  for (int d = 0; d < kernel_.stages[static_cast<size_t>(s)].rank(); ++d) order.push_back(d);
  return order;
}

void Lowering::emit_row(int s, const std::vector<Expr>& fixed, Block& out) {
  if (row_bands_[static_cast<size_t>(s)]) return emit_band_row(s, fixed, out);
  Nest nest{s, fixed, {}, places_[static_cast<size_t>(s)]};
  for (const int axis : order_for(s))
    if (!fixed[static_cast<size_t>(axis)]) nest.order.push_back(axis);
  emit_nest(nest, out);
}

/// A stage of BandRows: loops over the axes outside a row.
void Lowering::emit_rows(int s, Block& out) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  std::vector<Expr> fixed(static_cast<size_t>(stage.rank()));
  std::vector<int> vars;
  for (size_t d = 0; d < static_cast<size_t>(stage.band_axis); ++d) {
    vars.push_back(new_loop_var(extents_[i][d], 100 + static_cast<int>(d)));
    fixed[d] = v(vars.back());
  }
  Block body;
  prepare_row_band(s, body);
  Block rows;
  emit_row(s, fixed, rows);
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    push(loop, For{vars[d], const_int(0), extents_[i][d], LoopRole::kSerial, 1, 1, std::move(rows)});
    rows = std::move(loop);
  }
  for (Statement& statement : rows) body.push_back(std::move(statement));
  const Expr nonempty = all_positive(extents_[i]);
  push(out, If{nonempty, std::move(body), {}});
}

/// The rows [low, high] that the window beginning at `first` reads.
void Lowering::ring_rows_needed(const Stage& consumer, const Expr& first, const Expr& extent, Expr* low, Expr* high) {
  const Expr end = extent - const_int(1), zero = const_int(0);
  const Expr last = first + top(consumer.taps) - const_int(1);
  *low = max(min(first, end), zero);
  *high = max(min(last, end), zero);
  if (consumer.source->border != Border::kReflect101) return;
  // Beyond an edge the window folds back: the far end of the fold counts as well.
  const Expr both = end * const_int(2);
  const Expr folded_low = select(first < zero, select(last < zero, -last, zero), select(first > end, both - last, select(last > end, min(first, both - last), first)));
  const Expr folded_high = select(last > end, select(first > end, both - first, end), select(last < zero, -first, select(first < zero, max(last, -first), last)));
  // More than one fold: every row (the ring is as large as the image then).
  const Expr far = (first < -end) | (last > both);
  *low = max(min(select(far, zero, folded_low), end), zero);
  *high = max(min(select(far, end, folded_high), end), zero);
}

void Lowering::emit_ring(int consumer, int producer, Block& out) {
  const auto c = static_cast<size_t>(consumer), p = static_cast<size_t>(producer);
  const Stage& stage = kernel_.stages[c];
  const auto b = static_cast<size_t>(stage.band_axis);
  std::vector<Expr> fixed(static_cast<size_t>(stage.rank())), row(kernel_.stages[p].extents.size());
  std::vector<int> vars;
  for (size_t d = 0; d < b; ++d) {
    vars.push_back(new_loop_var(extents_[c][d], 100 + static_cast<int>(d)));
    fixed[d] = row[d] = v(vars.back());
  }
  Env env;
  const auto first_at = [&](const Expr& y) {
    env.axes = fixed;
    env.axes[b] = y;
    for (Expr& e : env.axes)
      if (!e) e = const_int(0);
    return translate(consumer, stage.first, env);
  };
  const Expr n = extents_[c][b], one = const_int(1), zero = const_int(0);
  Block all, plane;
  if (row_bands_[p]) prepare_row_band(producer, all);
  // Mirrored bands run from the last row to the first, so that their source rows come in ascending order too.
  const Expr backwards = let(first_at(zero) > first_at(n - one), plane);
  const Expr start = let(select(backwards, n - one, zero), plane), step = let(select(backwards, const_int(-1), one), plane);
  const int have_low = new_var(DType::kI64), have_end = new_var(DType::kI64);
  push(plane, Declare{have_low, zero});
  push(plane, Declare{have_end, zero});

  const int t = new_loop_var(n, 150);
  Block body;
  const Expr y = let_index(start + v(t) * step, 151, body);
  loop_extent_[static_cast<size_t>(y->index)] = n;
  fixed[b] = y;
  const Expr first = let(first_at(y), body);
  Expr low, high;
  ring_rows_needed(stage, first, extents_[p][b], &low, &high);
  low = let(low, body);
  high = let(high, body);
  Block restart;
  push(restart, Assign{have_low, low});
  push(restart, Assign{have_end, low});
  push(body, If{(low < v(have_low)) | (low > v(have_end)), std::move(restart), {}});
  const int r = new_loop_var(extents_[p][b], 152);
  row[b] = v(r);
  Block produce;
  emit_row(producer, row, produce);
  push(body, For{r, v(have_end), high + one, LoopRole::kSerial, 1, 1, std::move(produce)});
  push(body, Assign{have_end, max(v(have_end), high + one)});
  push(body, Assign{have_low, max(v(have_low), v(have_end) - (stored_[p]->ring_mask + one))});
  emit_row(consumer, fixed, body);
  push(plane, For{t, zero, n, LoopRole::kSerial, 1, 1, std::move(body)});
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    push(loop, For{vars[d], zero, extents_[c][d], LoopRole::kSerial, 1, 1, std::move(plane)});
    plane = std::move(loop);
  }
  for (Statement& statement : plane) all.push_back(std::move(statement));
  std::vector<Expr> extents = extents_[c];
  extents.push_back(extents_[p][b]);
  push(out, If{all_positive(extents), std::move(all), {}});
}

void Lowering::emit_stage(int s) {
  const auto i = static_cast<size_t>(s);
  if (places_[i].empty() || ring_consumer_[i] >= 0) return;  // inlined, unused, or made by its consumer
  const Stage& stage = kernel_.stages[i];
  if (options_.gpu && is_big_reduce(s)) return emit_grid_reduce(s, out_.body);
  Phase phase{stage.name.empty() ? "stage" + std::to_string(s) : stage.name, {}};
  if (ring_producer_[i] >= 0) {
    emit_ring(s, ring_producer_[i], phase.body);
  } else if (row_bands_[i]) {
    emit_rows(s, phase.body);
  } else if (is_big_reduce(s)) {
    emit_big_reduce(s, phase.body);
  } else {
    emit_row(s, std::vector<Expr>(static_cast<size_t>(stage.rank())), phase.body);
  }
  push(out_.body, std::move(phase));
}

LoopKernel Lowering::run() {
  out_.name = kernel_.name;
  out_.params = kernel_.params;
  add_tensors();
  place_stages();
  const int n = static_cast<int>(readers_.size());
  for (int s = 0; s < n; ++s) emit_stage(s);
  top_.insert(top_.end(), std::make_move_iterator(out_.body.begin()), std::make_move_iterator(out_.body.end()));
  out_.body = std::move(top_);
  tidy(out_);
  return std::move(out_);
}

}  // namespace lowering

LoopKernel lower(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options) {
  return lowering::Lowering(kernel, schedule, options).run();
}

}  // namespace galatea::kernel
