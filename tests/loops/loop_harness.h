// Runs one kernel as stages and as loops over the same tensors.
//
// Comes in: a kernel, its parameters, a seed. Goes out: the bytes of every output. Tensors have the strides
// that a call may have: dense where the kernel says so, padded or backwards elsewhere; bytes between elements
// are compared too, so a stray store shows.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/element_program.h"
#include "compiler/kernel/interpreter.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/schedule.h"

namespace galatea::testing {

using kernel::Expr;
using kernel::Kernel;
using kernel::LoopKernel;

class ParamSource : public kernel::LeafSource {
 public:
  explicit ParamSource(const std::vector<uint64_t>& params) : params_(params) {}
  Cell leaf(const kernel::ExprNode& node, const Cell*) override {
    GALATEA_CHECK(node.kind == kernel::ExprKind::kParam, "only parameters are known here");
    return {params_[static_cast<size_t>(node.index)]};
  }

 private:
  const std::vector<uint64_t>& params_;
};

inline int64_t value_of(const Expr& e, const std::vector<uint64_t>& params) {
  ParamSource source(params);
  kernel::ElementProgram program(e);
  uint32_t flags = 0;
  return static_cast<int64_t>(program.run(source, &flags).bits);
}

/// Small, repeatable random numbers.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t next(uint64_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % below;
  }

 private:
  uint64_t state_;
};

/// The tensors of one call, in one block of bytes each.
class Arena {
 public:
  Arena(const Kernel& kernel, const std::vector<uint64_t>& params, uint64_t seed) : params_(params) {
    Dice dice(seed);
    for (const auto& input : kernel.inputs) add(input.type, input.extents, input.dense_axes, dice, true);
    for (const auto& output : kernel.outputs) {
      const auto& stage = kernel.stages[static_cast<size_t>(output.stage)];
      std::vector<Expr> extents;
      for (const int axis : output.axis_of) extents.push_back(stage.extents[static_cast<size_t>(axis)]);
      first_output_ = std::min(first_output_, bytes_.size());
      add(stage.type, extents, output.dense_axes, dice, false);
    }
  }

  runtime::KernelCall call(uint64_t scratch_bytes) {
    scratch_.assign(scratch_bytes / 8 + 64, 0xA5A5A5A5A5A5A5A5U);
    auto address = reinterpret_cast<uintptr_t>(scratch_.data());
    status_ = 0;
    // As kernels get it from whoever calls them: none where none is needed.
    auto* const scratch = reinterpret_cast<uint8_t*>((address + 63) & ~uintptr_t{63});
    return {tensors_.data(), params_.data(), scratch_bytes > 0 ? scratch : nullptr, &status_};
  }
  /// The memory of each tensor, inputs first, for backends that have memory of their own.
  std::vector<std::vector<uint8_t>>& bytes() { return bytes_; }
  size_t first_output() const { return first_output_; }
  void raise(uint32_t flags) { status_ |= flags; }
  /// Output bytes and status; outputs are reset for the next run.
  std::vector<uint8_t> take_outputs() {
    std::vector<uint8_t> out;
    for (size_t t = first_output_; t < bytes_.size(); ++t) {
      out.insert(out.end(), bytes_[t].begin(), bytes_[t].end());
      std::fill(bytes_[t].begin(), bytes_[t].end(), uint8_t{0xCD});
    }
    out.push_back(static_cast<uint8_t>(status_));
    return out;
  }

 private:
  void add(DType type, const std::vector<Expr>& extents, int dense_axes, Dice& dice, bool fill) {
    runtime::KernelTensor tensor;
    int64_t stride = 1, low = 0, high = 0;
    const int rank = static_cast<int>(extents.size());
    bool empty = false;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t extent = std::max<int64_t>(0, value_of(extents[static_cast<size_t>(d)], params_));
      const bool dense = d >= rank - dense_axes;
      if (!dense)
        stride = (stride < 0 ? -stride : stride) + static_cast<int64_t>(dice.next(2) * dice.next(4));
      if (!dense && dice.next(3) == 0) stride = -stride;
      tensor.extents[d] = extent;
      tensor.strides[d] = stride;
      const int64_t reach = (extent - 1) * stride;
      (reach < 0 ? low : high) += reach;
      stride = stride * std::max<int64_t>(extent, 1);
      empty |= extent == 0;
    }
    if (empty) low = high = 0;
    const int64_t count = high - low + 1;
    // Elements are aligned to their size, nothing more.
    bytes_.emplace_back(static_cast<size_t>(count * size_of(type) + runtime::kBufferPadding + 16),
                        uint8_t{0xCD});
    auto* data = bytes_.back().data();
    tensor.data = data - low * size_of(type);
    for (int64_t i = 0; fill && i < count; ++i)
      store_cell(type, data + i * size_of(type), random_cell(type, dice));
    tensors_.push_back(tensor);
  }
  static Cell random_cell(DType type, Dice& dice) {
    if (is_float(type)) {
      const double big = dice.next(16) == 0 ? 1e6 : 3.0;
      return cell_from_double(type, (static_cast<double>(dice.next(20001)) / 10000.0 - 1.0) * big);
    }
    if (is_bool(type)) return {dice.next(2)};
    const auto wide = static_cast<int64_t>(dice.next(uint64_t{1} << 31) * 2654435761U);
    return cell_from_int(type, size_of(type) <= 2 ? wide >> 8 : wide % 10007);
  }

  std::vector<uint64_t> params_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<runtime::KernelTensor> tensors_;
  std::vector<uint64_t> scratch_;
  uint32_t status_ = 0;
  size_t first_output_ = ~size_t{0};
};

inline std::vector<uint8_t> run_stages(const Kernel& kernel, const std::vector<uint64_t>& params,
                                       uint64_t seed) {
  Arena arena(kernel, params, seed);
  kernel::interpret_stages(kernel, arena.call(0));
  return arena.take_outputs();
}

inline std::vector<uint8_t> run_loops(const Kernel& kernel, const LoopKernel& loops,
                                      const std::vector<uint64_t>& params, uint64_t seed,
                                      bool permuted = false) {
  Arena arena(kernel, params, seed);
  const int64_t scratch = value_of(kernel::layout_scratch(loops).bytes, params);
  kernel::interpret_loops(loops, arena.call(static_cast<uint64_t>(scratch)), permuted);
  return arena.take_outputs();
}

inline LoopKernel lower_verified(const Kernel& kernel, const kernel::ScheduleOptions& options) {
  LoopKernel loops = kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
  if (auto status = kernel::verify(loops); !status)
    throw std::runtime_error(status.error().message() + "\n" + to_text(loops));
  return loops;
}

}  // namespace galatea::testing
