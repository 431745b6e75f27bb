// JPEGs on the device, by nvJPEG.
//
// Comes in: files, each on the thread of its sample; then places on the device for a batch of them. Goes out:
// images that a stream of the decoder's own has written, in front of which nobody waits but that stream.
//
//   worker threads  begin(): parsed, Huffman codes decoded into pinned memory  ─▶ job, in the sample's record
//   who enqueues    run(): codes or coefficients go up, and are transformed there, image after image
//
// All memory comes from the session's pools, so that limits hold and nothing is returned while the device
// works on it. What nvJPEG keeps for an image (a Slot) is used again once its bytes are up.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/cuda/alternative.h"
#include "runtime/cuda/memory_pool.h"
#include "stdlib_ops/native/nvjpeg/encoded_image.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"

namespace galatea::native {

/// A pool as nvJPEG wants it. Its calls say no more than that there was none.
class JpegMemory {
 public:
  JpegMemory(std::shared_ptr<cuda::MemoryPool> pool, std::shared_ptr<const cuda::Stream> stream);
  jpeg::Allocator* allocator() { return &allocator_; }
  /// Of the last allocation that failed, once.
  std::optional<Error> take_failure();

 private:
  static int allocate(void* self, void** pointer, size_t size, cuda::StreamHandle stream);
  static int free(void* self, void* pointer, size_t size, cuda::StreamHandle stream);
  static void* address(const cuda::MemoryBlock& block, cuda::MemoryKind kind);

  std::shared_ptr<cuda::MemoryPool> pool_;
  std::shared_ptr<const cuda::Stream> stream_;
  jpeg::Allocator allocator_;
  std::mutex mutex_;
  std::map<void*, cuda::MemoryBlock> blocks_;
  std::optional<Error> failure_;
};

class JpegDecoder : public std::enable_shared_from_this<JpegDecoder> {
 public:
  static Result<std::shared_ptr<JpegDecoder>> create(std::shared_ptr<const Nvjpeg> library,
                                                     std::shared_ptr<const cuda::Context> context,
                                                     cuda::Priority priority,
                                                     std::shared_ptr<cuda::MemoryPool> device,
                                                     std::shared_ptr<cuda::MemoryPool> pinned);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  const Nvjpeg& library() const { return *library_; }
  /// Device work is given to this one.
  const std::shared_ptr<const cuda::Stream>& stream() const { return stream_; }

  /// The host's part. Null: nvJPEG does not decode this file, whoever asks and whenever. Thread-safe.
  Result<std::unique_ptr<runtime::DeviceJob>> begin(const EncodedImage& image);
  /// The device's part, to the image's rows, one behind the other; ends the job. One thread at a time, between whose calls and
  /// finish() the jobs' memory is kept.
  Status run(std::unique_ptr<runtime::DeviceJob>& job, cuda::DevicePointer to);
  /// Behind the last run() of a batch.
  Status finish();

 private:
  enum Backend : uint8_t { kHostEntropy, kDeviceEntropy, kNumBackends };
  /// What nvJPEG keeps for an image on its way.
  struct Slot {
    jpeg::State states[kNumBackends] = {};
    jpeg::PinnedBuffer pinned = nullptr;
    jpeg::Stream stream = nullptr;
    jpeg::Params params = nullptr;
    std::shared_ptr<cuda::Event> used;  ///< behind what the device did with it; null: nothing
  };
  class Job;

  JpegDecoder(std::shared_ptr<const Nvjpeg> library, std::shared_ptr<const cuda::Context> context,
              std::shared_ptr<cuda::MemoryPool> device, std::shared_ptr<cuda::MemoryPool> pinned,
              std::shared_ptr<const cuda::Stream> stream);
  Status prepare();
  template <typename... Parameters>
  Status call(const cuda::Entry<jpeg::Status(Parameters...)>& entry,
              std::type_identity_t<Parameters>... arguments);
  std::unexpected<Error> failure(jpeg::Status result, const char* entry);
  Result<std::unique_ptr<Slot>> take_slot();
  Result<std::unique_ptr<Slot>> make_slot();
  Status add_state(Slot& slot, Backend backend);
  void destroy(Slot& slot) const;
  void give_back(std::unique_ptr<Slot> slot);
  enum class Outcome : uint8_t { kDecoded, kRefused, kFailed };
  /// An error is not the file's. kFailed: nobody says what that leaves in the slot's state.
  Result<Outcome> decode_on_host(const EncodedImage& image, Slot& slot, Backend backend);

  std::shared_ptr<const Nvjpeg> library_;
  std::shared_ptr<const cuda::Context> context_;
  std::shared_ptr<const cuda::Stream> stream_;
  JpegMemory device_memory_, pinned_memory_;
  jpeg::Handle handle_ = nullptr;
  jpeg::Decoder decoders_[kNumBackends] = {};
  jpeg::DeviceBuffer buffer_ = nullptr;  ///< images follow each other in the stream
  std::vector<std::unique_ptr<Slot>> running_;
  std::mutex mutex_;                        ///< of the free slots
  std::deque<std::unique_ptr<Slot>> free_;  ///< those used longest ago first
};

}  // namespace galatea::native
