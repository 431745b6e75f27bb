#include "runtime/cuda/device_outputs.h"

#include "runtime/messages.h"

namespace galatea::runtime::cuda {

DeviceBuffer::DeviceBuffer(MemoryBlock block) {
  data_ = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(block.device()));
  size_ = block.size();
  blocks_.push_back(std::move(block));
}

void DeviceBuffer::add(MemoryBlock block) {
  std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(block));
}

void DeviceBuffer::also_used_by(const std::shared_ptr<const Stream>& stream) {
  std::lock_guard lock(mutex_);
  for (MemoryBlock& block : blocks_) block.also_used_by(stream);
}

Status CudaOutputs::wait() const {
  GALATEA_ASSIGN(const bool is_done, ready_->is_done());
  return is_done ? Status{} : ready_->synchronize();
}

Status CudaOutputs::make_wait(uintptr_t stream) {
  const auto consumer = Stream::borrow(download_->context(), reinterpret_cast<StreamHandle>(stream));
  if (consumer->is_capturing())
    return make_error(
        message::kBadOptions,
        "the stream is being captured, and a graph would find other batches in this memory when it runs "
        "again; take the batch before the capture begins, and copy it to memory of your own");
  GALATEA_TRY(consumer->wait_for(*ready_));
  // A thread that lets the outputs go has a default stream of its own; the legacy stream is behind them all.
  const auto used_by = consumer->handle() == per_thread_stream()
                           ? Stream::borrow(download_->context(), legacy_stream())
                           : consumer;
  for (const auto& each : buffers_)
    if (const auto buffer = each.lock()) buffer->also_used_by(used_by);
  return {};
}

Status CudaOutputs::download(const Tensor& from, uint8_t* to) const {
  if (!from.is_dense()) return make_error(message::kBadProgram, "an output on the device is not dense");
  GALATEA_TRY(wait());
  for (const auto& each : buffers_)
    if (const auto buffer = each.lock(); buffer && buffer == from.buffer) buffer->also_used_by(download_);
  GALATEA_TRY(download_->download(to, reinterpret_cast<uintptr_t>(from.data), from.num_bytes()));
  return download_->synchronize();
}

}  // namespace galatea::runtime::cuda
