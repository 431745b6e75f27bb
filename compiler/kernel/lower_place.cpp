// Where stages lie: nowhere (inlined), in rings, as one row, in planes of rows, in tables, whole.
//
// Comes in: the schedule. Goes out: for each stage its memory and its destinations. What the schedule asks
// for and is not legal is kept whole.
#include <algorithm>

#include "base/result.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

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

}  // namespace

void Lowering::count_readers() {
  const size_t n = kernel_.stages.size();
  readers_.assign(n, 0);
  // A stage that no output depends on is not computed, and raises no flag.
  const std::vector<bool> needed = needed_stages(kernel_);
  for (size_t s = 0; s < n; ++s)
    for_each_stage_expr(kernel_.stages[s], [&](const Expr& e) {
      any_node(e, [&](const ExprNode& node) {
        if (needed[s] && node.kind == ExprKind::kLoad && node.target.kind == LoadTarget::Kind::kStage)
          ++readers_[static_cast<size_t>(node.target.index)];
        return false;
      });
    });
}

void Lowering::place_stages() {
  const size_t n = kernel_.stages.size();
  stored_.resize(n);
  row_bands_.resize(n);
  counts_.resize(n);
  nest_orders_.resize(n);
  ring_consumer_.assign(n, -1);
  ring_producer_.assign(n, -1);
  beside_.assign(n, -1);
  rings_.resize(n);
  count_readers();
  for (size_t s = 0; s < n; ++s) place_stage(static_cast<int>(s));
}

/// Whether the schedule wants its rows under the window of another stage.
bool Lowering::is_ring(int s) const {
  int consumer = -1;
  return schedule_.stages[static_cast<size_t>(s)].placement == Placement::kRing &&
         ring_is_legal(kernel_, s, &consumer);
}

void Lowering::place_stage(int s) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  const bool keep = readers_[i] > 0 && !is_inlined(s);
  if (keep && !options_.gpu && schedule_.stages[i].placement == Placement::kRing) {
    int consumer = -1;
    // A consumer that is itself read row by row has its rows asked for in its own consumer's order, which a
    // ring here cannot follow.
    if (ring_is_legal(kernel_, s, &consumer) && !is_ring(consumer) &&
        ring_producer_[static_cast<size_t>(consumer)] < 0) {
      ring_consumer_[i] = consumer;
      ring_producer_[static_cast<size_t>(consumer)] = s;
    } else {
      place_beside(s);
    }
  }
  std::optional<RowBand> band =
      schedule_.stages[i].lanes == LaneMapping::kScalar ? std::nullopt : match_row_band(s);
  if (ring_producer_[i] >= 0) band.reset();
  // Where a ring's rows lie inside what BandRow would make at once, rows are made one by one instead.
  if (ring_consumer_[i] >= 0 &&
      kernel_.stages[static_cast<size_t>(ring_consumer_[i])].band_axis >= stage.band_axis)
    band.reset();
  if (beside_[i] >= 0 && stage.band_axis != 1) band.reset();
  std::vector<int> order(stage.extents.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  // Filter tables have few taps and many positions: lanes run over positions, which lie next to each other
  // unless BandRow wants rows of taps.
  const bool table = !options_.gpu && (stage.form == StageForm::kMap || stage.form == StageForm::kReduce) &&
                     is_read_by_band(s) && schedule_.stages[i].placement == Placement::kTable &&
                     stage.rank() == 2 && !is_output(s);
  if (table) nest_orders_[i] = {1, 0};
  if (table && !is_row_band_weight(s)) order = {1, 0};
  const bool planar = band && band->channel_axis >= 0 && !band->post && !is_output(s);
  if (planar) std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (keep) keep_stage(s, order, band, planar);
  if (band && (keep || is_output(s))) place_row_band(s, std::move(*band));
  if (stage.form == StageForm::kHistogram && (keep || is_output(s))) place_histogram(s);
}

/// Gives a stage its memory: whole, or as many rows as its reader's window has (a power of two, so that a
/// mask finds a row's place).
void Lowering::keep_stage(int s, const std::vector<int>& order, const std::optional<RowBand>& band,
                          bool planar) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  std::vector<Expr> raw = stage.extents, extents = extents_[i];
  const int ring = ring_consumer_[i];
  Expr ring_rows;
  if (ring >= 0) {
    const Stage& consumer = kernel_.stages[static_cast<size_t>(ring)];
    const auto b = static_cast<size_t>(consumer.band_axis);
    Expr rows = consumer.taps;
    if (consumer.source->border == Border::kReflect101) {
      const Expr last = raw[b] - const_int(1);
      const Expr low = substitute_axis(consumer.first, const_int(0)),
                 high = substitute_axis(consumer.first, consumer.extents[b] - const_int(1));
      const Expr far = (low < -last) | (high + consumer.taps - const_int(1) > last * const_int(2));
      rows = select(far, max(raw[b], rows), rows);
    }
    ring_rows = power_of_two_above(rows);
    raw[b] = ring_rows;
    for (size_t d = 0; d < b; ++d) raw[d] = const_int(1);
    for (size_t d = 0; d <= b; ++d) extents[d] = top(raw[d]);
  }
  if (beside_[i] >= 0) raw[0] = extents[0] = const_int(1);
  if (band) {  // rows begin at aligned places
    const auto b = static_cast<size_t>(stage.band_axis);
    raw[b] = (max(raw[b], const_int(0)) + const_int(15)) & const_int(-16);
    if (planar || band->channel_axis < 0)
      extents[b] = top(raw[b]);
    else
      raw[b] = stage.extents[b];
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
  if (beside_[i] >= 0) place.strides[0] = const_int(0);
  stored_[i] = place;
  places_[i].push_back(place);
}

/// Whether a band takes numbers from the stage: its taps, or where they begin.
bool Lowering::is_read_by_band(int s) const {
  return std::any_of(kernel_.stages.begin(), kernel_.stages.end(), [&](const Stage& stage) {
    const auto reads = [&](const Expr& e) {
      return e && any_node(e, [&](const ExprNode& node) {
               return node.kind == ExprKind::kLoad && node.target == LoadTarget{LoadTarget::Kind::kStage, s};
             });
    };
    return stage.form == StageForm::kBand && (reads(stage.weight) || reads(stage.first));
  });
}

/// Whether a horizontal band takes its weights from the stage.
bool Lowering::is_row_band_weight(int s) const {
  for (const Stage& stage : kernel_.stages) {
    if (stage.form != StageForm::kBand || stage.rank() < 2 || stage.band_axis < stage.rank() - 2 ||
        stage.band_axis == 0)
      continue;
    if (stage.weight->kind == ExprKind::kLoad && stage.weight->target.kind == LoadTarget::Kind::kStage &&
        stage.weight->target.index == s)
      return true;
  }
  return false;
}

/// A stage that the kernel did not have; whoever adds it sees to its loops.
void Lowering::add_stage(Stage stage, std::vector<Expr> extents, StageSchedule schedule,
                         std::optional<Place> stored) {
  GALATEA_CHECK(kernel_.stages.size() < kernel_.stages.capacity(), "room for stages that lowering adds");
  kernel_.stages.push_back(std::move(stage));
  extents_.push_back(std::move(extents));
  schedule_.stages.push_back(std::move(schedule));
  stored_.push_back(std::move(stored));
  places_.emplace_back();
  row_bands_.emplace_back();
  counts_.emplace_back();
  nest_orders_.emplace_back();
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
    last.body = band.post ? rewrite(band.post,
                                    [&](const Expr& e) { return e->kind == ExprKind::kAcc ? sum : Expr(); })
                          : convert(sum, stage.type);
    last.finish = last.weight = last.source = last.first = Expr();
    Place temp = new_scratch(stage.name + "_row", DType::kF32, plane * const_int(band.tables.channels));
    temp.strides.assign(stage.extents.size(), const_int(0));
    temp.strides[b] = const_int(1);
    if (band.channel_axis >= 0) temp.strides[static_cast<size_t>(band.channel_axis)] = top(plane);
    add_stage(std::move(row), extents_[i], schedule_.stages[i], temp);
    add_stage(std::move(last), extents_[i], schedule_.stages[i], std::nullopt);
  }
  row_bands_[i] = std::move(band);
}

}  // namespace galatea::kernel::lowering
