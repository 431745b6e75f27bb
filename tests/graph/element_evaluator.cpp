#include "tests/graph/element_evaluator.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/values/narrow_stages.h"

namespace galatea::testing {
namespace {

bool resolve(int64_t& index, int64_t extent, kernel::Border border) {
  if (border == kernel::Border::kClamp) index = std::max<int64_t>(0, std::min(index, extent - 1));
  if (border == kernel::Border::kReflect101 && extent == 1) index = 0;
  if (border == kernel::Border::kReflect101)
    while (index < 0 || index >= extent) index = index < 0 ? -index : 2 * (extent - 1) - index;
  return index >= 0 && index < extent;
}

}  // namespace

template <typename F>
Evaluator::Arguments Evaluator::arguments(const kernel::ExprNode& e, const F& value) {
  Arguments cells;
  for (size_t n = 0; n < e.args.size(); ++n) cells.at(n) = value(e.args[n]);
  return cells;
}

template <typename F>
void Evaluator::for_box(const std::vector<int64_t>& box, const F& visit) {
  for (int64_t extent : box)
    if (extent <= 0) return;
  std::vector<int64_t> at(box.size(), 0);
  while (true) {
    visit(at);
    size_t d = box.size();
    while (d-- > 0) {
      if (++at[d] < box[d]) break;
      at[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

int64_t Evaluator::scalar(const Expr& e) { return cell_to_int(e.type(), scalar_cell(e)); }

void Evaluator::run(NodeId id, ValueId watched) {
  op::Lowering lowering = op::lower_node(graph_, id);
  watched_ = watched;
  for (const op::LoweredOutput& output : lowering.outputs) {
    if (output.kind != op::LoweredOutput::Kind::kStage) continue;
    Frame frame{&graph_.node(id), &lowering, {}, {}, 0, {}};
    for_box(extents(lowering.stages[static_cast<size_t>(output.stage)].extents),
            [&](const std::vector<int64_t>& at) { stage_element(frame, output.stage, at); });
  }
}

std::vector<Cell> Evaluator::run_whole(NodeId id, const op::Lowering& lowering, ValueId watched) {
  watched_ = watched;
  Frame frame{&graph_.node(id), &lowering, {}, {}, 0, {}};
  std::vector<Cell> cells;
  for (size_t s = 0; s < lowering.stages.size(); ++s) {
    bool is_output = false;
    for (const op::LoweredOutput& output : lowering.outputs) is_output |= output.stage == static_cast<int>(s);
    for_box(extents(lowering.stages[s].extents), [&](const std::vector<int64_t>& at) {
      Cell cell = stage_element(frame, static_cast<int>(s), at);
      if (is_output) cells.push_back(cell);
    });
  }
  return cells;
}

void Evaluator::note(const std::vector<int64_t>& at) {
  any = true;
  low.resize(at.size(), std::numeric_limits<int64_t>::max());
  high.resize(at.size(), std::numeric_limits<int64_t>::min());
  for (size_t d = 0; d < at.size(); ++d) low[d] = std::min(low[d], at[d]), high[d] = std::max(high[d], at[d]);
}

int64_t Evaluator::extent(ValueId value, int64_t dim) {
  int64_t known = graph_.type(value).extents[static_cast<size_t>(dim)];
  if (known >= 0) return known;
  if (graph_.defining_node(value)->op->kind == op::OperatorKind::kNative)
    return dim == 0 ? sample_.height : sample_.width;
  op::Lowering lowering = op::lower_node(graph_, graph_.value(value).node);
  return scalar(lowering.outputs[0].extents[static_cast<size_t>(dim)]);
}

Cell Evaluator::scalar_cell(const Expr& e) {
  if (auto found = scalars_.find(e.get()); found != scalars_.end()) return found->second.second;
  Cell out;
  if (e->kind != ExprKind::kOp) {
    out = eval(e, {});
  } else {
    out = apply(*e, arguments(*e, [&](const Expr& arg) { return scalar_cell(arg); }));
  }
  scalars_.emplace(e.get(), std::make_pair(e, out));
  return out;
}

Cell Evaluator::apply(const kernel::ExprNode& e, const Arguments& args) {
  uint32_t flags = 0;
  return evaluate(e.op, is_comparison(e.op) ? e.args[0].type() : e.type, e.args[0].type(), args.data(),
                  &flags);
}

std::vector<int64_t> Evaluator::extents(const std::vector<Expr>& list) {
  std::vector<int64_t> out;
  for (const Expr& e : list) out.push_back(scalar(e));
  return out;
}

Cell Evaluator::symbol(const kernel::ExprNode& e) {
  auto value = static_cast<ValueId>(e.a);
  switch (e.symbol) {
    case SymbolKind::kExtent:
      return cell_from_int(e.type, extent(value, e.b));
    case SymbolKind::kElement: {
      if (auto found = sample_.elements.find(value); found != sample_.elements.end())
        return cell_from_double(e.type, found->second);
      op::Lowering lowering = op::lower_node(graph_, graph_.value(value).node);
      return eval(lowering.outputs[0].elements.at(static_cast<size_t>(e.b)), {});
    }
    // The decode's own scalars are the extents.
    case SymbolKind::kLocal:
      return cell_from_int(e.type, (e.a & 0xffff) == 0 ? sample_.height : sample_.width);
    case SymbolKind::kNodeKey:
      return {sample_.key + static_cast<uint64_t>(e.a)};
    default:
      return {7};
  }
}

Cell Evaluator::eval(const Expr& e, const Frame& frame) {
  if (auto found = scalars_.find(e.get()); found != scalars_.end()) return found->second.second;
  switch (e->kind) {
    case ExprKind::kConst:
      return e->value;
    case ExprKind::kSymbol:
      return symbol(*e);
    case ExprKind::kAxis:
      return cell_from_int(DType::kI64, frame.axes.at(static_cast<size_t>(e->index)));
    case ExprKind::kReduceAxis:
      return cell_from_int(DType::kI64, frame.reduce_axes.at(static_cast<size_t>(e->index)));
    case ExprKind::kTap:
      return cell_from_int(DType::kI64, frame.tap);
    case ExprKind::kAcc:
      return frame.acc;
    case ExprKind::kLoad:
      return load(*e, frame);
    default:
      break;
  }
  const Arguments args = arguments(*e, [&](const Expr& arg) { return eval(arg, frame); });
  if (e->kind == ExprKind::kPhilox) return {philox(args[0].bits, args[1].bits, args[2].bits, e->index)};
  return apply(*e, args);
}

Cell Evaluator::load(const kernel::ExprNode& e, const Frame& frame) {
  bool from_stage = e.target.kind == kernel::LoadTarget::Kind::kStage;
  const auto& sizes = from_stage ? frame.lowering->stages[static_cast<size_t>(e.target.index)].extents
                                 : frame.lowering->inputs[static_cast<size_t>(e.target.index)].extents;
  std::vector<int64_t> at;
  for (size_t d = 0; d < e.args.size(); ++d) {
    at.push_back(cell_to_int(DType::kI64, eval(e.args[d], frame)));
    if (!resolve(at.back(), scalar(sizes[d]), e.border)) return e.fill;
  }
  if (from_stage) return stage_element(frame, e.target.index, at);
  const auto number = static_cast<size_t>(e.target.index);
  if (const size_t inputs = frame.node->inputs.size(); number >= inputs) {
    const runtime::ConstantTensor& constant = *frame.lowering->constants[number - inputs];
    int64_t n = 0;
    for (size_t d = 0; d < at.size(); ++d) n = n * constant.extents()[d] + at[d];
    return constant.element(n);
  }
  read(frame.node->inputs[number], at);
  return cell_from_int(e.type, (at[0] * 31 + at[1] * 17) % 256);
}

void Evaluator::read(ValueId value, std::vector<int64_t> at) {
  if (value == watched_) return note(at);
  const Node* node = graph_.defining_node(value);
  if (!node || node->inputs.empty()) return;
  op::Lowering lowering = op::lower_node(graph_, graph_.value(value).node);
  const op::LoweredOutput& view = lowering.outputs[0];
  if (view.kind != op::LoweredOutput::Kind::kView) return;
  std::vector<int64_t> behind;
  for (const Expr& start : view.start) behind.push_back(scalar(start));
  for (size_t j = 0; j < at.size(); ++j)
    behind[static_cast<size_t>(view.input_dim[j])] += at[j] * scalar(view.step[j]);
  read(node->inputs[0], behind);
}

Cell Evaluator::stage_element(const Frame& outer, int index, const std::vector<int64_t>& at) {
  auto [found, is_new] = elements_.try_emplace({index, at});
  if (is_new) found->second = compute_element(outer, index, at);
  return found->second;
}

Cell Evaluator::compute_element(const Frame& outer, int index, const std::vector<int64_t>& at) {
  const kernel::Stage& stage = outer.lowering->stages[static_cast<size_t>(index)];
  Frame frame{outer.node, outer.lowering, at, {}, 0, {}};
  if (stage.form == kernel::StageForm::kMap) return eval(stage.body, frame);
  if (stage.form == kernel::StageForm::kReduce) {
    for_box(extents(stage.reduce_extents), [&](const std::vector<int64_t>& inner) {
      frame.reduce_axes = inner;
      eval(stage.body, frame);
    });
    return {};
  }
  if (stage.form == kernel::StageForm::kHistogram) {
    for_box(extents(stage.reduce_extents), [&](const std::vector<int64_t>& inner) {
      frame.reduce_axes = inner;
      frame.acc.bits += eval(stage.body, frame).bits == static_cast<uint64_t>(at.back()) ? 1 : 0;
    });
    return stage.finish ? eval(stage.finish, frame) : frame.acc;
  }
  if (stage.form == kernel::StageForm::kScan) {
    const auto along = static_cast<size_t>(stage.scan_axis);
    const ScalarOp op = stage.combiner == kernel::Combiner::kSum   ? ScalarOp::kAdd
                        : stage.combiner == kernel::Combiner::kMin ? ScalarOp::kMin
                                                                   : ScalarOp::kMax;
    uint32_t flags = 0;
    for (frame.axes[along] = 0; frame.axes[along] <= at[along]; ++frame.axes[along]) {
      const Cell operands[] = {frame.acc, eval(stage.body, frame)};
      frame.acc = frame.axes[along] == 0
                      ? operands[1]
                      : evaluate(op, stage.accumulator, stage.accumulator, operands, &flags);
    }
    frame.axes = at;
    if (stage.finish) return eval(stage.finish, frame);
    return evaluate(ScalarOp::kConvert, stage.type, stage.accumulator, &frame.acc, &flags);
  }
  int64_t taps = scalar(stage.taps);
  uint32_t flags = 0;
  for (frame.tap = 0; frame.tap < taps; ++frame.tap) {
    // Of hostile numbers of taps the ends suffice.
    if (frame.tap == 6 && taps > 12) frame.tap = taps - 6;
    Cell operands[] = {eval(stage.weight, frame), {}, frame.acc};
    Cell source = eval(stage.source, frame);
    operands[1] = evaluate(ScalarOp::kConvert, stage.accumulator, stage.source.type(), &source, &flags);
    frame.acc = evaluate(ScalarOp::kFma, stage.accumulator, stage.accumulator, operands, &flags);
  }
  return stage.finish ? eval(stage.finish, frame) : frame.acc;
}

ValueId named(const Graph& graph, const std::string& variable) {
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.value(v).variable == variable) return v;
  ADD_FAILURE() << "no value " << variable;
  return 0;
}

Window window_of(const values::ReadBounds& bounds, Evaluator& evaluator) {
  Window window;
  for (const values::Range& range : bounds.ranges) {
    window.begin.push_back(evaluator.scalar(range.begin));
    window.end.push_back(evaluator.scalar(range.end));
  }
  return window;
}

void check_narrowed(const Graph& graph, const Sample& sample, const Window& window) {
  ValueId image = named(graph, "x");
  NodeId consumer = graph.value(named(graph, "y")).node;
  op::Lowering lowering = op::lower_node(graph, consumer), narrow = values::narrow_stages(lowering);
  Evaluator evaluator(graph, sample), narrowed(graph, sample);
  EXPECT_EQ(evaluator.run_whole(consumer, lowering, image), narrowed.run_whole(consumer, narrow, image));
  for (size_t d = 0; narrowed.any && d < window.begin.size(); ++d) {
    EXPECT_LE(window.begin[d], narrowed.low[d]);
    EXPECT_GT(window.end[d], narrowed.high[d]);
  }
}

int64_t check_sample(const Graph& graph, const Sample& sample) {
  ValueId image = named(graph, "x"), reader = named(graph, "y");
  NodeId consumer = graph.value(reader).node;
  Evaluator evaluator(graph, sample);
  evaluator.run(consumer, image);
  auto region = values::region_of(graph, image);
  EXPECT_TRUE(region);
  if (!region) return 0;
  Window window = window_of(*region, evaluator);
  std::vector<int64_t> extents{sample.height, sample.width, 3};
  check_narrowed(graph, sample, window);
  int64_t slack = 0;
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_LE(0, window.begin[d]);
    EXPECT_LE(window.begin[d], window.end[d]);
    EXPECT_LE(window.end[d], extents[d]);
    if (!evaluator.any) continue;
    EXPECT_LE(window.begin[d], evaluator.low[d]) << "dimension " << d;
    EXPECT_GE(window.end[d], evaluator.high[d] + 1) << "dimension " << d;
    slack += evaluator.low[d] - window.begin[d] + window.end[d] - evaluator.high[d] - 1;
  }
  if (graph.node(consumer).inputs[0] == image) {
    auto bounds = values::read_bounds(graph, consumer, 0);
    EXPECT_TRUE(bounds);
    Window direct = window_of(*bounds, evaluator);
    EXPECT_EQ(direct.begin, window.begin);
    EXPECT_EQ(direct.end, window.end);
  }
  return slack;
}

}  // namespace galatea::testing
