// JPEGs by the device's JPEG engine, by nvJPEG's batched call.
//
// Comes in: files that suit it, each on the thread of its sample; then places on the device for a batch of
// them. Goes out: one call of nvJPEG a batch and format, in a stream of the engine's own.
//
// The engine takes whole files: nothing of their codes is the host's work. How it enlarges
// chroma is not documented; which images may be its is jpeg_for_device.cpp's to say. Files, and what nvJPEG keeps for a
// batch, are used again only behind an event: nvJPEG does not say when it has read them.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/streams.h"
#include "stdlib_ops/native/nvjpeg/encoded_image.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"

namespace galatea::native {

class JpegEngine {
 public:
  /// A file on its way.
  struct File {
    std::vector<uint8_t> bytes;
    jpeg::Stream parsed = nullptr;
    int format = 0;
    int64_t row_bytes = 0;
    jpeg::Image image;                  ///< where it goes
    std::shared_ptr<cuda::Event> used;  ///< behind what the device did with it; null: nothing
  };

  /// Null: this device has none, or this library does not use it. Both allocators outlive it.
  static Result<std::unique_ptr<JpegEngine>> create(const Nvjpeg& library, jpeg::Allocator* device,
                                                    jpeg::Allocator* pinned);
  /// Nothing is on its way.
  ~JpegEngine();
  JpegEngine(const JpegEngine&) = delete;
  JpegEngine& operator=(const JpegEngine&) = delete;

  /// Success and null: not this file, whoever asks and whenever. Thread-safe.
  jpeg::Status begin(const EncodedImage& image, std::unique_ptr<File>& out, const char*& entry);
  /// Unused. Thread-safe.
  void give_back(std::unique_ptr<File> file);

  /// To the image's rows, one behind the other. One thread at a time, as the rest.
  void add(std::unique_ptr<File> file, cuda::DevicePointer to);
  bool has_work() const { return !running_.empty(); }
  /// What was added, in this stream.
  jpeg::Status enqueue(cuda::StreamHandle stream, const char*& entry);
  /// The batch is over: `used` is behind it, null: the host has waited.
  void finish(const std::shared_ptr<cuda::Event>& used);

 private:
  /// What nvJPEG keeps for a batch.
  struct Batch {
    jpeg::State state = nullptr;
    int size = 0, format = 0;  ///< that it was made ready for
    std::shared_ptr<cuda::Event> used;
  };

  explicit JpegEngine(const Nvjpeg& library) : api_(library.api()) {}
  std::unique_ptr<File> take_file();
  jpeg::Status take_batch(Batch& out, const char*& entry);
  jpeg::Status enqueue(std::span<const std::unique_ptr<File>> files, cuda::StreamHandle stream,
                       const char*& entry);
  void destroy(File& file) const;

  const jpeg::Api& api_;
  jpeg::Handle handle_ = nullptr;
  std::vector<std::unique_ptr<File>> running_;  ///< of the batch that is being enqueued
  std::vector<Batch> busy_;                     ///< of it, too
  std::deque<Batch> batches_;                   ///< those used longest ago first
  std::mutex mutex_;                            ///< of the free files
  std::deque<std::unique_ptr<File>> free_;      ///< likewise
};

}  // namespace galatea::native
