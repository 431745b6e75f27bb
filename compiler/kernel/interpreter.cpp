// interpret_stages: kernel.h's definitions, executed literally.
//
// Comes in: a verified kernel and a call. Goes out: the outputs' elements and the status flags. Every stage
// is computed whole, element by element, into an array of cells.
#include "compiler/kernel/interpreter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "compiler/kernel/element_program.h"

namespace galatea::kernel {
namespace {

using Extents = std::vector<int64_t>;

int64_t volume(const Extents& extents) {
  int64_t out = 1;
  for (int64_t extent : extents) out *= extent;
  return out;
}

/// Calls body(axis) once per element of the box, the last axis fastest; `at` is the element's index, which
/// differs from the one before it along `axis` and those after it.
template <typename F>
void for_each_element(const Extents& extents, Extents& at, const F& body) {
  at.assign(extents.size(), 0);
  int64_t count = volume(extents);
  size_t moved = 0;
  for (int64_t n = 0; n < count; ++n) {
    body(moved);
    for (moved = extents.size(); moved-- > 0;) {
      if (++at[moved] < extents[moved]) break;
      at[moved] = 0;
    }
  }
}

int64_t reflect_101(int64_t index, int64_t extent) {
  if (extent == 1) return 0;
  int64_t period = 2 * (extent - 1);
  index %= period;
  if (index < 0) index += period;
  return std::min(index, period - index);
}

Cell neutral(Combiner combiner, DType type) {
  if (combiner == Combiner::kSum) return {0};
  bool largest = combiner == Combiner::kMin;
  if (is_float(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return cell_from_double(type, largest ? infinity : -infinity);
  }
  if (!largest) return {static_cast<uint64_t>(min_int(type))};
  return {max_unsigned(type)};
}

class StageInterpreter : public LeafSource {
 public:
  StageInterpreter(const Kernel& kernel, const runtime::KernelCall& call) : kernel_(kernel), call_(call) {}

  void run() {
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) {
      Extents declared = evaluate_extents(kernel_.inputs[i].extents);
      for (size_t d = 0; d < declared.size(); ++d) {
        GALATEA_CHECK(declared[d] == std::max<int64_t>(0, call_.tensors[i].extents[d]),
                      "extents of input " + std::to_string(i) + " differ from what the kernel declares");
      }
    }
    std::vector<bool> needed = needed_stages(kernel_);
    for (size_t i = 0; i < kernel_.stages.size(); ++i) {
      const Stage& stage = kernel_.stages[i];
      extents_.push_back(evaluate_extents(stage.extents));
      values_.emplace_back();
      if (!needed[i]) continue;
      std::vector<Cell> computed = run_stage(stage);
      values_.back() = std::move(computed);
    }
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
      store(kernel_.outputs[i], call_.tensors[kernel_.inputs.size() + i]);
    }
    if (call_.status != nullptr) *call_.status |= flags_;
  }

  Cell leaf(const ExprNode& node, const Cell* args) override {
    switch (node.kind) {
      case ExprKind::kParam:
        return {call_.params[node.index]};
      case ExprKind::kAxis:
        return {static_cast<uint64_t>(at_[static_cast<size_t>(node.index)])};
      case ExprKind::kReduceAxis:
        return {static_cast<uint64_t>(reduce_at_[static_cast<size_t>(node.index)])};
      case ExprKind::kTap:
        return {static_cast<uint64_t>(tap_)};
      case ExprKind::kAcc:
        return accumulated_;
      case ExprKind::kLoad:
        return load_element(node, args);
      default:
        break;
    }
    refuse_leaf(node);
  }

 private:
  // Apart from who asks, so that frames of what runs for each element hold no text.
  [[noreturn, gnu::noinline]] static void refuse_leaf(const ExprNode& node) {
    throw InternalError("a verified kernel has no such leaf: " + to_text(Expr::of(node)));
  }
  [[noreturn, gnu::noinline]] static void refuse_index(int64_t index, int64_t extent, size_t axis) {
    throw InternalError(
        fmt::format("read outside a tensor: index {} of {} along axis {}", index, extent, axis));
  }

  Extents evaluate_extents(const std::vector<Expr>& exprs) {
    Extents out;
    for (const Expr& e : exprs) out.push_back(std::max<int64_t>(0, evaluate_scalar(e)));
    return out;
  }

  int64_t evaluate_scalar(const Expr& e) {
    ElementProgram program(e);
    return static_cast<int64_t>(program.run(*this, &flags_).bits);
  }

  Cell load_element(const ExprNode& node, const Cell* args) {
    bool is_input = node.target.kind == LoadTarget::Kind::kInput;
    auto number = static_cast<size_t>(node.target.index);
    int64_t offset = 0;
    for (size_t d = 0; d < node.args.size(); ++d) {
      int64_t extent = is_input ? call_.tensors[number].extents[d] : extents_[number][d];
      auto index = static_cast<int64_t>(args[d].bits);
      if (index < 0 || index >= extent) {
        if (node.border == Border::kNone) refuse_index(index, extent, d);
        if (node.border == Border::kConstant) return node.fill;
        if (extent <= 0) return {0};
        index = node.border == Border::kClamp ? std::clamp<int64_t>(index, 0, extent - 1)
                                              : reflect_101(index, extent);
      }
      offset = is_input ? offset + index * call_.tensors[number].strides[d] : offset * extent + index;
    }
    if (!is_input) return values_[number][static_cast<size_t>(offset)];
    const auto* base = static_cast<const uint8_t*>(call_.tensors[number].data);
    return load_cell(node.type, base + offset * size_of(node.type));
  }

  std::vector<Cell> run_stage(const Stage& stage) {
    if (stage.form == StageForm::kHistogram) return run_histogram(stage);
    if (stage.form == StageForm::kScan) return run_scan(stage);
    std::vector<Cell> out;
    ElementProgram finish(finish_of(stage));
    ElementProgram body(stage.form == StageForm::kBand ? stage.weight : stage.body);
    ElementProgram source(stage.form == StageForm::kBand ? stage.source : Expr());
    int64_t taps = stage.form == StageForm::kBand ? evaluate_scalar(stage.taps) : 0;
    Extents reduce_extents = evaluate_extents(stage.reduce_extents);
    for_each_element(extents_.back(), at_, [&](size_t axis) {
      const uint64_t moved = leaf_set::axes_from(axis);
      if (stage.form == StageForm::kMap) {
        out.push_back(body.run(*this, &flags_, moved));
        return;
      }
      accumulated_ = stage.form == StageForm::kBand ? sum_band(stage, taps, body, source, moved)
                                                    : combine_box(stage, reduce_extents, body, moved);
      out.push_back(finish.run(*this, &flags_, moved | leaf_set::kAcc));
    });
    return out;
  }

  /// kernel.h counts, for every bin, the elements that fall into it; here every element looks for its bin.
  std::vector<Cell> run_histogram(const Stage& stage) {
    ElementProgram finish(finish_of(stage)), body(stage.body);
    const Extents reduce_extents = evaluate_extents(stage.reduce_extents);
    const Extents extents = extents_.back();
    const int64_t bins = extents.back();
    const Extents rows(extents.begin(), extents.end() - 1);
    std::vector<Cell> out;
    Extents row;
    for_each_element(rows, row, [&](size_t) {
      std::vector<uint64_t> counts(static_cast<size_t>(bins), 0);
      at_ = row;
      at_.push_back(0);
      uint64_t moved = leaf_set::axes_from(0);
      for_each_element(reduce_extents, reduce_at_, [&](size_t axis) {
        auto bin = static_cast<int64_t>(
            body.run(*this, &flags_, leaf_set::reduce_axes_from(axis) | std::exchange(moved, 0)).bits);
        if (bin >= 0 && bin < bins) ++counts[static_cast<size_t>(bin)];
      });
      for (int64_t bin = 0; bin < bins; ++bin) {
        at_.back() = bin;
        const Cell count{counts[static_cast<size_t>(bin)]};
        accumulated_ = evaluate(ScalarOp::kConvert, stage.accumulator, DType::kU64, &count, &flags_);
        out.push_back(finish.run(*this, &flags_, leaf_set::axes_from(0) | leaf_set::kAcc));
      }
    });
    return out;
  }

  std::vector<Cell> run_scan(const Stage& stage) {
    ElementProgram finish(finish_of(stage)), body(stage.body);
    const Extents extents = extents_.back();
    const auto along = static_cast<size_t>(stage.scan_axis);
    int64_t inner = 1;  // elements between neighbours along the axis
    for (size_t d = along + 1; d < extents.size(); ++d) inner *= extents[d];
    std::vector<Cell> out, sums;
    // Row-major order visits the elements of each line in order, one line's prefix `inner` elements ago.
    for_each_element(extents, at_, [&](size_t axis) {
      const uint64_t moved = leaf_set::axes_from(axis);
      const Cell before = at_[along] == 0 ? neutral(stage.combiner, stage.accumulator)
                                          : sums[sums.size() - static_cast<size_t>(inner)];
      accumulated_ = combine(stage, before, body.run(*this, &flags_, moved));
      sums.push_back(accumulated_);
      out.push_back(finish.run(*this, &flags_, moved | leaf_set::kAcc));
    });
    return out;
  }

  Cell combine(const Stage& stage, Cell a, Cell b) {
    const ScalarOp op = stage.combiner == Combiner::kSum   ? ScalarOp::kAdd
                        : stage.combiner == Combiner::kMin ? ScalarOp::kMin
                                                           : ScalarOp::kMax;
    Cell operands[] = {a, b};
    return evaluate(op, stage.accumulator, stage.accumulator, operands, &flags_);
  }

  static Expr finish_of(const Stage& stage) {
    return stage.finish ? stage.finish : convert(accumulator(stage.accumulator), stage.type);
  }

  /// `moved`: leaves that have changed since the element before.
  Cell sum_band(const Stage& stage, int64_t taps, ElementProgram& weight, ElementProgram& source,
                uint64_t moved) {
    Cell sum{0};
    for (tap_ = 0; tap_ < taps; ++tap_) {
      const uint64_t changed = leaf_set::kTap | std::exchange(moved, 0);
      Cell w = weight.run(*this, &flags_, changed);
      Cell raw = source.run(*this, &flags_, changed);
      Cell s = evaluate(ScalarOp::kConvert, stage.accumulator, stage.source->type, &raw, &flags_);
      // On integers kFma is w * s + sum modulo 2^32, on floats the fused operation.
      Cell operands[] = {w, s, sum};
      sum = evaluate(ScalarOp::kFma, stage.accumulator, stage.accumulator, operands, &flags_);
    }
    return sum;
  }

  Cell combine_box(const Stage& stage, const Extents& reduce_extents, ElementProgram& body, uint64_t moved) {
    constexpr size_t kLanes = kReduceLanes;
    std::array<Cell, kLanes> lanes;
    lanes.fill(neutral(stage.combiner, stage.accumulator));
    size_t n = 0;
    if (has_leaves(stage)) {
      std::array<Cell, kLanes> leaves{};
      const auto end_leaves = [&] {
        for (size_t i = 0; i < kLanes; ++i) {
          const Cell leaf = evaluate(ScalarOp::kConvert, DType::kF64, DType::kF32, &leaves[i], &flags_);
          lanes[i] = combine(stage, lanes[i], leaf);
        }
        leaves.fill({});
      };
      for_each_element(reduce_extents, reduce_at_, [&](size_t axis) {
        if (n > 0 && n % (kLanes * kLeafElements) == 0) end_leaves();
        const Cell operands[] = {
            leaves[n % kLanes],
            body.run(*this, &flags_, leaf_set::reduce_axes_from(axis) | std::exchange(moved, 0))};
        leaves[n++ % kLanes] = evaluate(ScalarOp::kAdd, DType::kF32, DType::kF32, operands, &flags_);
      });
      end_leaves();
    } else {
      for_each_element(reduce_extents, reduce_at_, [&](size_t axis) {
        Cell& lane = lanes[n++ % kLanes];
        lane = combine(stage, lane,
                       body.run(*this, &flags_, leaf_set::reduce_axes_from(axis) | std::exchange(moved, 0)));
      });
    }
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) lanes[i] = combine(stage, lanes[i], lanes[i + half]);
    }
    return lanes[0];
  }

  void store(const KernelOutput& output, const runtime::KernelTensor& tensor) {
    auto number = static_cast<size_t>(output.stage);
    const Extents& extents = extents_[number];
    DType type = kernel_.stages[number].type;
    for (size_t d = 0; d < extents.size(); ++d) {
      GALATEA_CHECK(tensor.extents[d] == extents[static_cast<size_t>(output.axis_of[d])],
                    "extents of an output differ from those of its stage");
    }
    size_t n = 0;
    for_each_element(extents, at_, [&](size_t) {
      int64_t offset = 0;
      for (size_t d = 0; d < extents.size(); ++d) {
        offset += at_[static_cast<size_t>(output.axis_of[d])] * tensor.strides[d];
      }
      store_cell(type, static_cast<uint8_t*>(tensor.data) + offset * size_of(type), values_[number][n++]);
    });
  }

  const Kernel& kernel_;
  const runtime::KernelCall& call_;
  std::vector<Extents> extents_;
  std::vector<std::vector<Cell>> values_;
  Extents at_, reduce_at_;
  int64_t tap_ = 0;
  Cell accumulated_;
  uint32_t flags_ = 0;
};

}  // namespace

void interpret_stages(const Kernel& kernel, const runtime::KernelCall& call) {
  StageInterpreter(kernel, call).run();
}

}  // namespace galatea::kernel
