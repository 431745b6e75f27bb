// See cost.h.
#include "compiler/kernel/cost.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

constexpr double kOperationsPerByte = 2;
constexpr double kOperationsPerScattered = 8;  ///< an element that no vector fetches
constexpr double kUsualExtent = 224;
constexpr double kOverlapOfWindows = 2;  ///< how often windows show an element of a row, about

double weight(const ExprNode& e) {
  switch (e.kind) {
    case ExprKind::kPhilox:
      return 40;
    case ExprKind::kLoad:
      return 1;
    case ExprKind::kOp:
      break;
    default:
      return 0;
  }
  const bool wide = size_of(e.type) == 8;
  switch (e.op) {
    case ScalarOp::kDiv:
    case ScalarOp::kRem:
      return is_float(e.type) ? 6 : 20;
    case ScalarOp::kSqrt:
      return 6;
    case ScalarOp::kPow:
    case ScalarOp::kAtan2:
    case ScalarOp::kPowInt:
      return 60;
    default:
      return is_math(e.op) ? 30 : wide ? 2 : 1;
  }
}

double extent_of(const Expr& e) {
  return is_const(e) ? static_cast<double>(std::max<int64_t>(const_value(e), 1)) : kUsualExtent;
}

/// The elements of a stage for which its part `part` is computed.
std::vector<Expr> box_of(const Stage& stage, const Expr* part) {
  std::vector<Expr> box = stage.extents;
  if (part == &stage.finish) return box;
  if (stage.form == StageForm::kHistogram) box.pop_back();  // what is counted is computed once for all bins
  box.insert(box.end(), stage.reduce_extents.begin(), stage.reduce_extents.end());
  if (stage.form == StageForm::kBand && part != &stage.first) box.push_back(stage.taps);
  return box;
}

/// The channels of a pixel are computed side by side, so what does not depend on the channel is computed once
/// for all of them.
bool is_shared_by_channels(const Stage& reader, const Expr& load) {
  if (reader.form != StageForm::kMap || reader.rank() < 2) return false;
  const Expr& channels = reader.extents.back();
  if (!is_const(channels) || const_value(channels) > kMaxStructuralExtent) return false;
  bool occurs = false;
  for_each_node(
      load, [&](const Expr& e) { occurs |= e->kind == ExprKind::kAxis && e->index == reader.rank() - 1; });
  return !occurs;
}

/// An axis in groups is as long as all of the groups.
void take_apart(const GroupedAxis& grouped, const Stage& reader, const Stage& map, std::vector<Expr>* box) {
  const size_t first = grouped.reduced ? box->size() - reader.reduce_extents.size() : 0;
  const size_t at = first + static_cast<size_t>(grouped.axis);
  (*box)[at] = map.extents[static_cast<size_t>(grouped.group)];
  box->push_back(map.extents[static_cast<size_t>(grouped.place)]);
}

/// Elements that lie side by side where those of the map do.
int loads_along_rows(const Stage& map) {
  int loads = 0;
  if (map.form != StageForm::kMap) return loads;
  for_each_node(map.body, [&](const Expr& e) {
    loads += e->kind == ExprKind::kLoad && !e->args.empty() && e->args.back()->kind == ExprKind::kAxis &&
             e->args.back()->index == map.rank() - 1;
  });
  return loads;
}

/// The innermost axis that has more than one element.
size_t row_axis(const std::vector<Expr>& extents) {
  size_t row = extents.size() - 1;
  while (row > 0 && is_const_int(extents[row], 1)) --row;
  return row;
}

/// Where an element lies in a dense input that is read by row and place in the row, x / e and x % e, which loops
/// put together again (lower_access.cpp); empty: it is no such load.
Expr place_in_rows(const Kernel& kernel, const Expr& load) {
  if (load->kind != ExprKind::kLoad || load->target.kind != LoadTarget::Kind::kInput ||
      load->args.size() != 2)
    return {};
  const KernelInput& input = kernel.inputs[static_cast<size_t>(load->target.index)];
  const auto is_op = [](const Expr& e, ScalarOp op) { return e->kind == ExprKind::kOp && e->op == op; };
  const Expr &row = load->args[0], &place = load->args[1];
  if (input.dense_axes != 2 || !is_op(row, ScalarOp::kDiv) || !is_op(place, ScalarOp::kRem)) return {};
  const bool whole = same(row->args[0], place->args[0]) && same(row->args[1], place->args[1]) &&
                     same(row->args[1], max(input.extents[1], const_int(1)));
  return whole ? row->args[0] : Expr();
}

/// The map as loops compute it.
Stage with_rows_joined(const Kernel& kernel, Stage map) {
  if (map.form == StageForm::kMap)
    map.body = rewrite_kinds(map.body, bit_of(ExprKind::kLoad), [&](const Expr& e) {
      const Expr place = place_in_rows(kernel, e);
      return place ? load(e->target, e->type, {const_int(0), place}, e->border, e->fill) : Expr();
    });
  return map;
}

/// Whether a row is read in windows: at a step's multiple along one axis, one by one along another.
bool reads_windows(const Expr& index) {
  bool steps = false, runs = false;
  const std::function<void(const Expr&)> look = [&](const Expr& term) {
    const bool sums =
        term->kind == ExprKind::kOp && (term->op == ScalarOp::kAdd || term->op == ScalarOp::kSub);
    if (sums)
      std::ranges::for_each(term->args, look);
    else if (term->kind == ExprKind::kAxis)
      runs = true;
    else if (term->kind == ExprKind::kOp && term->op == ScalarOp::kMul && contains(term, ExprKind::kAxis))
      steps = true;
  };
  look(index);
  return steps && runs;
}

/// Elements of inputs that lie apart where those of the map lie side by side, so that no vector fetches them.
int loads_across_rows(const Kernel& kernel, const Stage& map) {
  int loads = 0;
  if (map.form != StageForm::kMap || map.rank() == 0) return loads;
  const auto row = static_cast<int>(row_axis(map.extents));
  for_each_node(map.body, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad || e->target.kind != LoadTarget::Kind::kInput || e->args.empty()) return;
    const KernelInput& input = kernel.inputs[static_cast<size_t>(e->target.index)];
    Affine along;
    loads += !match_affine(e->args[row_axis(input.extents)], &along) || along.axis != row;
  });
  return loads;
}

}  // namespace

double operations(const Expr& e) {
  double sum = 0;
  if (e) for_each_node(e, [&](const Expr& node) { sum += weight(*node); });
  return sum;
}

double operations(const Stage& stage) {
  if (stage.form == StageForm::kMap) return operations(stage.body);
  double inner = operations(stage.body) + operations(stage.weight) + operations(stage.source) + 1;
  if (stage.form == StageForm::kBand) inner *= extent_of(stage.taps);
  return inner + operations(stage.finish);
}

double relative_volume(const std::vector<Expr>& box, const std::vector<Expr>& other) {
  std::vector<Expr> rest = other;
  double volume = 1;
  for (const Expr& extent : box) {
    auto equal = std::find_if(rest.begin(), rest.end(), [&](const Expr& e) { return same(e, extent); });
    if (equal != rest.end())
      rest.erase(equal);
    else
      volume *= extent_of(extent);
  }
  for (const Expr& extent : rest) volume /= extent_of(extent);
  return volume;
}

bool Recomputation::pays() const {
  return (evaluations - 1) * operations + kOperationsPerScattered * scattered <=
         kOperationsPerByte * bytes + evaluations;
}

std::string Recomputation::words() const {
  const auto number = [](double value) {
    return value >= 10 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
  };
  if (evaluations <= 1 && scattered == 0) return "computed once, where it is read";
  if (scattered > 0)
    return fmt::format("computed {} times, with {} elements fetched one by one, against {} bytes moved",
                       number(evaluations), number(scattered), number(bytes));
  return fmt::format("computed {} times: {} operations more, against {} bytes moved and {} loads",
                     number(evaluations), number((evaluations - 1) * operations), number(bytes),
                     number(evaluations));
}

Recomputation recomputation(const Kernel& kernel, int stage) {
  const Stage& map = kernel.stages[static_cast<size_t>(stage)];
  Recomputation out;
  const double in_a_row = std::max(loads_along_rows(map) - 1, 0);  // one is fetched so either way
  for (const Stage& reader : kernel.stages) {
    std::vector<Expr> seen;
    for (const Expr* part : element_parts(reader)) {
      for_each_node(*part, [&](const Expr& e) {
        if (!is_stage_load(e, stage)) return;
        if (std::any_of(seen.begin(), seen.end(), [&](const Expr& known) { return same(known, e); })) return;
        seen.push_back(e);
        std::vector<Expr> box = box_of(reader, part);
        if (const auto grouped = grouped_axis(*e)) take_apart(*grouped, reader, map, &box);
        if (is_shared_by_channels(reader, e)) box[reader.extents.size() - 1] = const_int(1);
        double volume = relative_volume(box, map.extents);
        // Of so many windows of that length as there are, no extent tells how far they overlap.
        if (map.rank() == 1 && reads_windows(e->args[0])) volume = std::min(volume, kOverlapOfWindows);
        out.evaluations += volume;
        if (Affine along; !e->args.empty() && !match_affine(e->args.back(), &along))
          out.scattered += volume * in_a_row;
      });
    }
  }
  const Stage computed = with_rows_joined(kernel, map);
  out.operations = operations(computed) + kOperationsPerScattered * loads_across_rows(kernel, computed);
  out.bytes = 2.0 * size_of(map.type);
  return out;
}

}  // namespace galatea::kernel
