// Where the samples of a batch meet (BatchStep): what they hand over, and what each gets.
//
// Comes in: the frames of the samples that meet, in the order of their places, none of which runs. Goes out:
// registers, and slots whose memory they share. What a result costs does not depend on how large the pictures
// are: only totals read elements, of tensors that reductions have made small.
#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/fault.h"
#include "runtime/messages.h"
#include "runtime/sample_program.h"

namespace galatea::runtime {
namespace {

/// Which of the samples each one gets, by the numbers that they hand over.
std::vector<size_t> choose_partners(BatchOp op, const std::vector<int64_t>& numbers) {
  const size_t count = numbers.size();
  std::vector<size_t> order(count), out(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  const auto scaled = [&](size_t sample, size_t n) {
    return static_cast<size_t>(static_cast<uint64_t>(static_cast<uint32_t>(numbers[sample])) * n >> 32);
  };
  for (size_t k = 0; k < count; ++k) {
    switch (op) {
      case BatchOp::kShuffle:
        out[k] = order[k];
        break;
      case BatchOp::kCycle:
        out[order[k]] = order[(k + 1) % count];
        break;
      case BatchOp::kPick:
        out[k] = scaled(k, count);
        break;
      default:
        out[k] = scaled(k, count - 1);
        if (count > 1 && out[k] >= k) ++out[k];
    }
  }
  return out;
}

int64_t combine_numbers(BatchOp op, const std::vector<int64_t>& numbers) {
  if (op == BatchOp::kMin) return *std::min_element(numbers.begin(), numbers.end());
  if (op == BatchOp::kMax) return *std::max_element(numbers.begin(), numbers.end());
  uint64_t sum = 0;
  for (int64_t number : numbers) sum += static_cast<uint64_t>(number);
  return static_cast<int64_t>(sum);
}

template <typename T>
void combine_elements(BatchOp op, std::span<const Tensor* const> from, Tensor& to) {
  // Sums of integers wrap, which those of signed ones may not; bytes would be widened to int.
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  T* out = reinterpret_cast<T*>(to.data);
  const int64_t volume = to.volume();
  for (int64_t i = 0; i < volume; ++i) {
    const auto element = [&](const Tensor* tensor) { return reinterpret_cast<const T*>(tensor->data)[i]; };
    T extreme = element(from[0]);
    Wide sum = 0;
    for (const Tensor* tensor : from) {
      const T x = element(tensor);
      sum += static_cast<Wide>(x);
      // As scalar operations do it (base/scalar_op.h), where one is no number.
      if (op == BatchOp::kMin) extreme = extreme < x ? extreme : x;
      if (op == BatchOp::kMax) extreme = extreme > x ? extreme : x;
    }
    out[i] = op == BatchOp::kSum ? static_cast<T>(sum) : extreme;
  }
}

/// False: elements of a type that does not meet.
bool combine(BatchOp op, std::span<const Tensor* const> from, Tensor& to) {
  switch (to.dtype) {
    case DType::kU8:
      return combine_elements<uint8_t>(op, from, to), true;
    case DType::kU16:
      return combine_elements<uint16_t>(op, from, to), true;
    case DType::kU32:
      return combine_elements<uint32_t>(op, from, to), true;
    case DType::kU64:
      return combine_elements<uint64_t>(op, from, to), true;
    case DType::kI8:
      return combine_elements<int8_t>(op, from, to), true;
    case DType::kI16:
      return combine_elements<int16_t>(op, from, to), true;
    case DType::kI32:
      return combine_elements<int32_t>(op, from, to), true;
    case DType::kI64:
      return combine_elements<int64_t>(op, from, to), true;
    case DType::kF32:
      return combine_elements<float>(op, from, to), true;
    case DType::kF64:
      return combine_elements<double>(op, from, to), true;
    default:
      return false;
  }
}

std::string extents_text(const Tensor& tensor) {
  return fmt::format("{}", fmt::join(tensor.extents, tensor.extents + tensor.ndim, ", "));
}

}  // namespace

void Frame::fail_at_meeting(Error error, bool together) {
  if (meeting_error_) return;
  meeting_error_ = std::make_unique<Error>(std::move(error));
  failed_together_ = together;
}

void Frame::meet(const BatchStep& step, std::span<Frame* const> frames) {
  Status status;
  try {
    for (const BatchStep::Scalar& part : step.scalars) meet_scalar(part, frames);
    for (const BatchStep::Total& part : step.totals)
      if (status) status = meet_total(part, frames);
    for (const BatchStep::Take& part : step.takes)
      if (status) status = meet_take(part, frames);
  } catch (...) {
    status = std::unexpected(error_in_flight());
  }
  if (status) return;
  for (Frame* frame : frames) frame->fail_at_meeting(status.error(), true);
}

void Frame::meet_scalar(const BatchStep::Scalar& part, std::span<Frame* const> frames) {
  std::vector<int64_t> numbers;
  for (Frame* frame : frames) numbers.push_back(frame->int_register(part.from));
  const auto give = [&](size_t sample, int64_t value) {
    frames[sample]->registers_[static_cast<size_t>(part.to)] = Cell{static_cast<uint64_t>(value)};
  };
  if (part.op <= BatchOp::kMax) {
    const int64_t value = combine_numbers(part.op, numbers);
    for (size_t k = 0; k < frames.size(); ++k) give(k, value);
    return;
  }
  const std::vector<size_t> partners = choose_partners(part.op, numbers);
  for (size_t k = 0; k < frames.size(); ++k) give(k, frames[partners[k]]->input_.slot);
}

Status Frame::meet_total(const BatchStep::Total& part, std::span<Frame* const> frames) {
  std::vector<const Tensor*> tensors;
  for (Frame* frame : frames) tensors.push_back(&frame->slots_[static_cast<size_t>(part.from)]);
  const Tensor& first = *tensors.front();
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& other = *tensors[k];
    if (other.memory != Memory::kHost || !other.is_dense() || other.dtype != first.dtype ||
        other.ndim != first.ndim)
      return make_error(message::kBadProgram, "tensors meet that are not dense and of one type");
    if (!std::equal(first.extents, first.extents + first.ndim, other.extents))
      return make_error(message::kUnequalExtents, extents_text(first), frames.front()->input_.slot,
                        extents_text(other), frames[k]->input_.slot);
  }
  GALATEA_ASSIGN(Tensor total, frames.front()->allocate_shared(
                                   first.dtype, {first.extents, static_cast<size_t>(first.ndim)}));
  if (!combine(part.op, tensors, total))
    return make_error(message::kBadProgram, "tensors meet whose elements cannot be added");
  for (Frame* frame : frames) frame->set_slot(part.to, total, -1);
  return {};
}

Status Frame::meet_take(const BatchStep::Take& part, std::span<Frame* const> frames) {
  std::vector<std::optional<Tensor>> taken(frames.size());
  for (size_t k = 0; k < frames.size(); ++k) {
    const int64_t place = frames[k]->int_register(part.place);
    const auto lender = std::lower_bound(frames.begin(), frames.end(), place,
                                         [](const Frame* f, int64_t p) { return f->input_.slot < p; });
    if (lender == frames.end() || (*lender)->input_.slot != place) {
      std::vector<int> places;
      constexpr size_t kMost = 8;
      for (size_t n = 0; n < frames.size() && n < kMost; ++n) places.push_back(frames[n]->input_.slot);
      const std::string shown =
          fmt::format("{}{}", fmt::join(places, ", "), frames.size() > kMost ? ", …" : "");
      frames[k]->fail_at_meeting(make_error(message::kNobodyThere, place, frames.size(), shown).error(),
                                 false);
      continue;
    }
    const Tensor& tensor = (*lender)->slots_[static_cast<size_t>(part.from)];
    if (!tensor.buffer)
      return make_error(message::kBadProgram, "a tensor is lent whose memory is not shared");
    taken[k] = tensor;
  }
  for (size_t k = 0; k < frames.size(); ++k)
    if (taken[k]) frames[k]->set_slot(part.to, std::move(*taken[k]), -1);
  return {};
}

}  // namespace galatea::runtime
