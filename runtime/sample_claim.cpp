#include "runtime/sample_claim.h"

#include <algorithm>

#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

/// Sums of what a forged header may ask for stay far from overflow.
int64_t capped(int64_t bytes) { return std::clamp<int64_t>(bytes, 0, int64_t{1} << 60); }

}  // namespace

void SampleClaim::begin(int64_t batch_bytes, MemoryNeed expected) {
  if (!gate_) return;
  stated_ = wanted_ = {};
  expected_ = expected;
  batch_bytes_ = batch_bytes;
  lacking_output_ = 0;
  arena_.wake(gate_->limit() - batch_bytes);
}

void SampleClaim::end() {
  if (!gate_) return;
  gate_->release(std::exchange(unused_outputs_, 0));
  granted_outputs_ = 0;
  arena_.sleep();
}

Result<bool> SampleClaim::ask(MemoryNeed need) {
  stated_.own = capped(stated_.own + capped(need.own));
  stated_.outputs = capped(stated_.outputs + capped(need.outputs));
  return ask_total(stated_);
}

Result<bool> SampleClaim::ask_for_call(int64_t bytes) {
  return ask_total({capped(stated_.own + capped(bytes)), stated_.outputs});
}

Result<bool> SampleClaim::ask_to_read(int64_t bytes, bool becomes_output) {
  return ask_for_call(becomes_output ? capped(bytes) - unused_outputs_ : bytes);
}

Result<bool> SampleClaim::ask_total(MemoryNeed total) {
  total.own = std::max(total.own, expected_.own);
  total.outputs = std::max(total.outputs, expected_.outputs);
  if (total.total() > gate_->limit() - batch_bytes_)
    return make_error(message::kMemoryLimit, total.total(), gate_->limit(),
                      std::max<int64_t>(0, gate_->limit() - batch_bytes_));
  wanted_ = {std::max<int64_t>(0, total.own - arena_.budget()),
             std::max<int64_t>(0, total.outputs - granted_outputs_)};
  if (wanted() > 0 && !gate_->try_claim(wanted())) return false;
  grant();
  return true;
}

void SampleClaim::grant() {
  arena_.add_budget(wanted_.own);
  granted_outputs_ += wanted_.outputs;
  unused_outputs_ += wanted_.outputs;
  wanted_ = {};
}

std::unexpected<Error> SampleClaim::refusal() const {
  const int64_t total = arena_.budget() + granted_outputs_ + wanted();
  return make_error(message::kMemoryLimit, total, gate_->limit(), total - wanted() + gate_->bytes_free());
}

Status SampleClaim::before_output(int64_t bytes) {
  if (!gate_ || bytes <= unused_outputs_) return {};
  const int64_t missing = bytes - unused_outputs_;
  if (!gate_->try_claim(missing)) {
    lacking_output_ = missing;
    return make_error(message::kNoRoom, missing, gate_->limit(), gate_->limit() - gate_->bytes_free());
  }
  granted_outputs_ += missing;
  unused_outputs_ += missing;
  return {};
}

Status SampleClaim::before_output_of_read(int64_t bytes) {
  if (!gate_) return {};
  stated_.outputs = capped(stated_.outputs + bytes);
  if (const int64_t missing = bytes - unused_outputs_; missing > 0) {
    const int64_t ceded = arena_.cede(missing);
    granted_outputs_ += ceded;
    unused_outputs_ += ceded;
  }
  return before_output(bytes);
}

void SampleClaim::after_output(int64_t bytes) {
  if (!gate_) return;
  unused_outputs_ -= bytes;
  gate_->release(bytes);
}

MemoryNeed SampleClaim::learned() const {
  if (!gate_ || arena_.lacking() + lacking_output_ == 0) return {};
  return {arena_.budget() + arena_.lacking(), granted_outputs_ + lacking_output_};
}

}  // namespace galatea::runtime
