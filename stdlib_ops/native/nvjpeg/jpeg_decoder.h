// JPEGs on the device, by nvJPEG.
//
// Comes in: files, each on the thread of its sample; then places on the device for a batch of them. Goes out:
// images that streams of the decoder's own have written, in front of which nobody waits but the first of them.
//
//   worker threads  begin(): parsed, Huffman codes decoded into pinned memory  ─▶ job, in the sample's record
//   who enqueues    run(): codes or coefficients go up, and are transformed there, in several streams
//
// An image does not fill a device: those of a batch are dealt to kLanes streams, each with memory of its own
// that its images use one after the other. The first stream is everybody else's: the others begin behind what
// it had before the batch, and it goes on behind them.
//
// Where the device has a JPEG engine, files that may be its go there, whole: jpeg_engine.h.
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
#include "stdlib_ops/native/nvjpeg/jpeg_engine.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"

namespace galatea::native {

/// A pool as nvJPEG wants it. Its calls say no more than that there was none.
class JpegMemory {
 public:
  /// Work that names no stream is in this one.
  JpegMemory(std::shared_ptr<cuda::MemoryPool> pool, std::shared_ptr<const cuda::Stream> stream);
  jpeg::Allocator* allocator() { return &allocator_; }
  /// nvJPEG is given this one, too.
  void add(const std::shared_ptr<const cuda::Stream>& stream);
  /// Of the last allocation that failed, once.
  std::optional<Error> take_failure();

 private:
  static int allocate(void* self, void** pointer, size_t size, cuda::StreamHandle stream);
  static int free(void* self, void* pointer, size_t size, cuda::StreamHandle stream);
  static void* address(const cuda::MemoryBlock& block, cuda::MemoryKind kind);

  /// For work in the named stream, and perhaps in the others later.
  Result<cuda::MemoryBlock> acquire(size_t size, cuda::StreamHandle named);

  std::shared_ptr<cuda::MemoryPool> pool_;
  jpeg::Allocator allocator_;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::shared_ptr<const cuda::Stream>> streams_;
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

  /// Streams that a batch's images are dealt to.
  static constexpr size_t kLanes = 4;

  const Nvjpeg& library() const { return *library_; }
  bool has_engine() const { return engine_ != nullptr; }
  /// Behind finish() it has all of the batch's work in front of it.
  const std::shared_ptr<const cuda::Stream>& stream() const { return stream_; }

  /// The host's part. Null: nvJPEG does not decode this file, whoever asks and whenever. Thread-safe.
  Result<std::unique_ptr<runtime::DeviceJob>> begin(const EncodedImage& image);
  /// The device's part, to the image's rows, one behind the other; ends the job. One thread at a time,
  /// between whose calls and finish() the jobs' memory is kept.
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
  struct Lane {
    std::shared_ptr<const cuda::Stream> stream;
    std::unique_ptr<cuda::Event> event;   ///< of the first: where a batch begins; of others: where it ends
    jpeg::DeviceBuffer buffer = nullptr;  ///< images follow each other in the stream
    bool has_work = false;                ///< of the batch that is being enqueued
  };
  class Job;

  JpegDecoder(std::shared_ptr<const Nvjpeg> library, std::shared_ptr<const cuda::Context> context,
              std::shared_ptr<cuda::MemoryPool> device, std::shared_ptr<cuda::MemoryPool> pinned,
              const std::shared_ptr<const cuda::Stream>& stream);
  Status prepare(cuda::Priority priority);
  Status add_lane();
  template <typename... Parameters>
  Status call(const cuda::Entry<jpeg::Status(Parameters...)>& entry,
              std::type_identity_t<Parameters>... arguments);
  std::unexpected<Error> failure(jpeg::Status result, const char* entry);
  Result<std::unique_ptr<Slot>> take_slot();
  Result<std::unique_ptr<Slot>> make_slot();
  Status add_state(Slot& slot, Backend backend);
  void destroy(Slot& slot) const;
  void give_back(std::unique_ptr<Slot> slot);
  Status add_engine();
  Result<std::unique_ptr<runtime::DeviceJob>> begin_by_engine(const EncodedImage& image);
  Status run_engine();
  enum class Outcome : uint8_t { kDecoded, kRefused, kFailed };
  Status open_batch();
  /// The lane whose turn it is, in which everything of the batch may begin.
  Result<Lane*> next_lane();
  /// The first stream goes on behind the others.
  Status join_lanes();
  /// Where an event cannot say it: the host waits.
  void wait_for_lanes();
  /// An error is not the file's. kFailed: nobody says what that leaves in the slot's state.
  Result<Outcome> decode_on_host(const EncodedImage& image, Slot& slot, Backend backend);

  std::shared_ptr<const Nvjpeg> library_;
  std::shared_ptr<const cuda::Context> context_;
  std::shared_ptr<const cuda::Stream> stream_;
  cuda::Priority priority_ = cuda::Priority();
  std::vector<Lane> lanes_;  ///< as many as a batch had images, up to kLanes
  Lane engine_lane_;         ///< no buffer
  bool is_open_ = false;     ///< a batch is being enqueued
  JpegMemory device_memory_, pinned_memory_;
  jpeg::Handle handle_ = nullptr;
  jpeg::Decoder decoders_[kNumBackends] = {};
  std::unique_ptr<JpegEngine> engine_;          ///< null: there is none
  std::vector<std::unique_ptr<Slot>> running_;  ///< of the batch that is being enqueued
  std::mutex mutex_;                            ///< of the free slots
  std::deque<std::unique_ptr<Slot>> free_;      ///< those used longest ago first
};

}  // namespace galatea::native
