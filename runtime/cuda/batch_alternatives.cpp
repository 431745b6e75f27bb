// What the device makes in place of native functions: one block for all of it, in front of the launches.
#include <algorithm>

#include "runtime/cuda/device_batch.h"

namespace galatea::runtime::cuda {

Result<std::optional<DeviceWork>> CudaBatch::begin(int32_t alternative, const NativeArguments& call) {
  const auto& own = session_->alternatives()[static_cast<size_t>(alternative)];
  if (!own) return std::nullopt;
  return own->begin(call);
}

/// What failed for want of memory goes on where it stopped.
Status CudaBatch::run_alternatives(std::span<const Part> parts) {
  const auto& all = session_->alternatives();
  std::vector<bool> has_work(all.size());
  for (const Part& part : parts)
    for (const DeviceRecord::Made& made : part.record->made)
      if (made.job) has_work[static_cast<size_t>(made.alternative)] = true;
  if (std::none_of(has_work.begin(), has_work.end(), [](bool has) { return has; })) return {};
  GALATEA_TRY(take_made(parts, has_work));
  // One behind the other: they write one block, for whose earlier uses the first one waits.
  const Stream* before = nullptr;
  for (size_t k = 0; k < all.size(); ++k) {
    if (!has_work[k]) continue;
    const Stream& own = *all[k]->stream();
    if (before) GALATEA_TRY(streams().order(*before, own));
    GALATEA_TRY(run_alternative(parts, static_cast<int32_t>(k)));
    before = &own;
  }
  return {};
}

Status CudaBatch::run_alternative(std::span<const Part> parts, int32_t number) {
  DeviceAlternative& alternative = *session_->alternatives()[static_cast<size_t>(number)];
  Status status;
  for (const Part& part : parts) {
    for (DeviceRecord::Made& made : part.record->made) {
      if (!status || !made.job || made.alternative != number) continue;
      status = alternative.run(made.job, part.record->made_at + static_cast<DevicePointer>(made.offset));
      if (status && alternative.decodes()) ++session_->counts().decodes;
    }
  }
  const Status finished = alternative.finish();
  GALATEA_TRY(status);
  GALATEA_TRY(finished);
  return streams().order(*alternative.stream(), *streams().compute);
}

Status CudaBatch::take_made(std::span<const Part> parts, const std::vector<bool>& has_work) {
  int64_t bytes = 0;
  for (const Part& part : parts)
    if (part.record->made_at == 0) bytes += part.record->made_bytes;
  if (bytes == 0) return {};
  std::vector<std::shared_ptr<const Stream>> writers;
  for (size_t k = 0; k < has_work.size(); ++k)
    if (has_work[k]) writers.push_back(session_->alternatives()[k]->stream());
  GALATEA_ASSIGN(MemoryBlock block, session_->take_upload_block(bytes, writers.front()));
  for (size_t k = 1; k < writers.size(); ++k) block.also_used_by(writers[k]);
  DevicePointer next = block.device();
  for (const Part& part : parts) {
    if (part.record->made_at != 0 || part.record->made_bytes == 0) continue;
    part.record->made_at = made_[static_cast<size_t>(part.slot)] = next;
    next += static_cast<DevicePointer>(part.record->made_bytes);
  }
  made_blocks_.push_back(std::move(block));
  return {};
}

}  // namespace galatea::runtime::cuda
