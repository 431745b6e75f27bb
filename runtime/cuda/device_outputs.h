// Outputs in memory of the device, on their way to a consumer.
//
// Comes in: blocks, and the event behind which they hold the outputs. Goes out: buffers that a batch's
// tensors keep alive; with the last reference, a block goes back to its pool, behind what the consumer's
// streams do with it.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/cuda/memory_pool.h"
#include "runtime/cuda/streams.h"
#include "runtime/device_session.h"

namespace galatea::runtime::cuda {

/// One output of a batch.
class DeviceBuffer final : public Buffer {
 public:
  explicit DeviceBuffer(MemoryBlock block);
  /// Room for samples that the first block has not.
  void add(MemoryBlock block);
  void also_used_by(const std::shared_ptr<const Stream>& stream);
  DevicePointer address() const { return reinterpret_cast<uintptr_t>(data()); }

 private:
  std::mutex mutex_;
  std::vector<MemoryBlock> blocks_;
};

class CudaOutputs final : public DeviceOutputs {
 public:
  CudaOutputs(std::shared_ptr<const Event> ready, std::shared_ptr<const Stream> download)
      : ready_(std::move(ready)), download_(std::move(download)) {}
  /// To be told of the consumer's streams; the tensors keep it.
  void add(const std::shared_ptr<DeviceBuffer>& buffer) { buffers_.push_back(buffer); }
  const std::shared_ptr<const Event>& ready() const { return ready_; }

  int device() const override { return download_->context()->device().index; }
  Result<bool> is_ready() const override { return ready_->is_done(); }
  Status wait() const override;
  Status make_wait(uintptr_t stream) override;
  Status download(const Tensor& from, uint8_t* to) const override;

 private:
  std::shared_ptr<const Event> ready_;
  std::shared_ptr<const Stream> download_;
  std::vector<std::weak_ptr<DeviceBuffer>> buffers_;
};

}  // namespace galatea::runtime::cuda
