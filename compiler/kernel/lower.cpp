// Kernels to loops: tensors, variables, the order of stages.
//
// Comes in: a verified kernel and its schedule. Goes out: loops, one phase a stage (a ring's producer runs
// inside its consumer's phase). Where stages lie is decided in lower_place.cpp. The loops of one stage are in
// lower_nest.cpp, lower_reduce.cpp, lower_band_row.cpp, lower_ring.cpp and lower_beside.cpp; expressions in
// lower_access.cpp.
#include <algorithm>

#include "base/result.h"
#include "compiler/kernel/choose_loops.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/expand_math.h"
#include "compiler/kernel/lower_channels.h"
#include "compiler/kernel/lower_gather.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/narrow_integers.h"
#include "compiler/kernel/spread_phases.h"

namespace galatea::kernel {

namespace lowering {

namespace {

std::string unique_name(const std::string& name, size_t number) {
  return (name.empty() ? "t" : name) + std::to_string(number);
}

}  // namespace

void for_each_stage_expr(const Stage& stage, const std::function<void(const Expr&)>& visit) {
  for (const Expr* e : {&stage.body, &stage.weight, &stage.source, &stage.first, &stage.finish, &stage.taps})
    if (*e) visit(*e);
}

Lowering::Lowering(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options)
    : kernel_(kernel), schedule_(schedule), options_(options) {
  GALATEA_CHECK(schedule_.stages.size() == kernel_.stages.size(), "a schedule of another kernel");
  for (Stage& stage : kernel_.stages)
    for (Expr* e : {&stage.body, &stage.weight, &stage.source, &stage.first, &stage.finish})
      if (*e && any_node(*e, [](const ExprNode& n) { return n.kind == ExprKind::kOp && is_math(n.op); }))
        *e = expand_math(*e);
  kernel_.stages.reserve(kernel_.stages.size() * 3 +
                         1);  // stages are added; references to them must stay good
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
  if (value->kind == ExprKind::kConst || value->kind == ExprKind::kParam || value->kind == ExprKind::kVar)
    return value;
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
  out_.buffers.push_back(
      {unique_name(name + "_", out_.buffers.size()), BufferKind::kScratch, type, -1, std::move(elements)});
  return place;
}

void Lowering::add_tensors() {
  const auto add = [&](const std::string& name, BufferKind kind, DType type, const std::vector<Expr>& extents,
                       int dense_axes) {
    const int tensor = static_cast<int>(out_.stride_vars.size());
    Place place;
    place.buffer = static_cast<int>(out_.buffers.size());
    out_.buffers.push_back({unique_name(name + "_", out_.buffers.size()), kind, type, tensor, Expr()});
    if (kind == BufferKind::kInput && dense_axes == static_cast<int>(extents.size())) {
      Expr size = const_int(1);
      for (const Expr& e : extents) size = size && is_const(e) ? size * e : Expr();
      out_.buffers.back().elements = size;
    }
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
    inputs_.push_back(add(input.name.empty() ? "in" : input.name, BufferKind::kInput, input.type, extents,
                          input.dense_axes));
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
    for (size_t d = 0; d < output.axis_of.size(); ++d)
      place.strides[static_cast<size_t>(output.axis_of[d])] = tensor.strides[d];
    place.streaming = output.streaming;
    places_[s].push_back(std::move(place));
  }
}

bool Lowering::is_output(int s) const {
  return std::any_of(kernel_.outputs.begin(), kernel_.outputs.end(),
                     [&](const KernelOutput& o) { return o.stage == s; });
}

bool Lowering::is_inlined(int s) const {
  const auto i = static_cast<size_t>(s);
  return schedule_.stages[i].placement == Placement::kInlined && kernel_.stages[i].form == StageForm::kMap &&
         !may_raise_flag(kernel_.stages[i]);
}

// ---- stages

Expr Lowering::all_positive(const std::vector<Expr>& extents) const {
  Expr all = const_bool(true);
  for (const Expr& extent : extents) {
    const Expr here = extent > const_int(0);
    all = is_const(all)    ? (all->value.bits ? here : all)
          : is_const(here) ? (here->value.bits ? all : here)
                           : (all & here);
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
  if (row_bands_[static_cast<size_t>(s)]) return emit_band_rows(s, fixed, out);
  Nest nest{s, fixed, {}, places_[static_cast<size_t>(s)]};
  for (const int axis : order_for(s))
    if (!fixed[static_cast<size_t>(axis)]) nest.order.push_back(axis);
  emit_nest(nest, out);
}

/// The BandRows of what is fixed: one for each place along the other axes outside a row.
void Lowering::emit_band_rows(int s, std::vector<Expr> fixed, Block& out) {
  constexpr int kDepth = 160;  // inside of the rows of a ring
  const auto& extents = extents_[static_cast<size_t>(s)];
  const auto outside = static_cast<size_t>(kernel_.stages[static_cast<size_t>(s)].band_axis);
  std::vector<std::pair<int, Expr>> loops;
  for (size_t d = 0; d < outside; ++d) {
    if (fixed[d]) continue;
    loops.emplace_back(new_loop_var(extents[d], kDepth + static_cast<int>(d)), extents[d]);
    fixed[d] = v(loops.back().first);
  }
  Block rows;
  emit_band_row(s, fixed, rows);
  for (; !loops.empty(); loops.pop_back()) {
    Block loop;
    push(loop, For{loops.back().first, const_int(0), loops.back().second, LoopRole::kSerial, 1, 1,
                   std::move(rows)});
    rows = std::move(loop);
  }
  for (Statement& statement : rows) out.push_back(std::move(statement));
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
  begin_beside(s, body);
  Block rows;
  emit_row(s, fixed, rows);
  for (size_t d = vars.size(); d-- > 0;) {
    Block loop;
    if (d == 0) {
      rows_beside(s, fixed[0], loop);
      std::move(rows.begin(), rows.end(), std::back_inserter(loop));
      rows = std::move(loop);
      loop = {};
    }
    push(loop, For{vars[d], const_int(0), extents_[i][d], LoopRole::kSerial, 1, 1, std::move(rows)});
    rows = std::move(loop);
  }
  for (Statement& statement : rows) body.push_back(std::move(statement));
  const Expr nonempty = all_positive(extents_[i]);
  push(out, If{nonempty, std::move(body), {}});
}

void Lowering::emit_stage(int s) {
  const auto i = static_cast<size_t>(s);
  // Inlined, unused, or made by its consumer.
  if (places_[i].empty() || ring_consumer_[i] >= 0 || beside_[i] >= 0) return;
  const Stage& stage = kernel_.stages[i];
  if (options_.gpu && is_big_reduce(s)) return emit_grid_reduce(s, out_.body);
  if (counts_[i]) return emit_histogram(s, out_.body);
  if (options_.gpu && stage.form == StageForm::kScan) return emit_grid_scan(s, out_.body);
  Phase phase{stage.name.empty() ? "stage" + std::to_string(s) : stage.name, {}};
  if (ring_producer_[i] >= 0) {
    emit_ring(s, ring_producer_[i], phase.body);
  } else if (row_bands_[i]) {
    emit_rows(s, phase.body);
  } else if (std::find(beside_.begin(), beside_.end(), s) != beside_.end()) {
    emit_row_by_row(s, phase.body);
  } else if (is_big_reduce(s)) {
    emit_big_reduce(s, phase.body);
  } else if (stage.form == StageForm::kScan) {
    emit_scan(s, phase.body);
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
  top_.insert(top_.end(), std::make_move_iterator(out_.body.begin()),
              std::make_move_iterator(out_.body.end()));
  out_.body = std::move(top_);
  if (!options_.gpu) shape_gathers(out_, out_.body);
  tidy(out_);
  if (!options_.gpu) branch_on_choices(out_);
  return std::move(out_);
}

}  // namespace lowering

namespace {

/// Loops for images of any number of channels, and for three where that is more.
LoopKernel lower_for_channels(const Kernel& kernel, const Schedule& schedule,
                              const ScheduleOptions& options) {
  LoopKernel loops = lowering::Lowering(kernel, schedule, options).run();
  const int channels = options.gpu ? -1 : unknown_channels(kernel);
  if (channels < 0) return loops;
  const Kernel three = with_three_channels(kernel, channels);
  return choose_loops(has_three_channels(channels),
                      lowering::Lowering(three, make_schedule(three, options), options).run(),
                      std::move(loops));
}

}  // namespace

LoopKernel lower(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options) {
  const auto in_tiles = [](const StageSchedule& stage) { return stage.placement == Placement::kTile; };
  if (options.gpu && std::any_of(schedule.stages.begin(), schedule.stages.end(), in_tiles))
    if (auto tiles = lowering::Lowering(kernel, schedule, options).run_tiles()) return std::move(*tiles);
  LoopKernel loops = lower_for_channels(kernel, schedule, options);
  if (options.gpu) spread_phases(loops, options.random_seed);
  if (options.gpu || !options.fuse) return loops;
  const std::optional<SmallNumbers> small = narrow_for_small_numbers(kernel);
  if (!small) return loops;
  return choose_loops(small->condition,
                      lower_for_channels(small->kernel, make_schedule(small->kernel, options), options),
                      std::move(loops));
}

}  // namespace galatea::kernel
