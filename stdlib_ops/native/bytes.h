// Bytes at a place that has a name: what containers of records lie in.
//
// Comes in: a path, of this machine or far away (far/address.h). Goes out: a ByteSource, from which any part can
// be read by any thread. Reading copies:
// a mapped file that becomes shorter would end the process, where a read says what happened. Formats
// (tfrecord.h, tar.h, record_io.h, npy.h) know nothing of where their bytes come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace galatea::native {

/// What a container's author or writer did wrong: G0802, the user's, with the place that is damaged.
std::unexpected<Error> damaged(const std::string& name, int64_t offset, const std::string& what);
/// What cannot be opened or does not fit its arguments: G0801, the user's.
std::unexpected<Error> unusable(std::string message, std::string help = {});

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The path as it was given; of an address, what may be shown of it.
  const std::string& name() const { return name_; }
  /// How many bytes there are, as it was when the source was opened.
  int64_t size() const { return size_; }
  /// Fills `to` with what stands at `offset`: all of it, or an error that names the source and the place.
  virtual Status read(int64_t offset, std::span<uint8_t> to) const = 0;
  /// So many bytes will be read from `offset` soon. Never blocks for long, never fails.
  virtual void will_read(int64_t /*offset*/, int64_t /*bytes*/) const {}

 protected:
  int64_t size_ = 0;

 private:
  std::string name_;
};

/// A file, of this machine or far away (far/far_store.h). One of this machine is closed between reads where very
/// many are in use: a process keeps at most kMaxOpenFiles of them open.
Result<std::shared_ptr<const ByteSource>> open_file(const std::string& path);
/// It will be opened, and read from its start, soon: one that is far away begins to come. Does not wait, never
/// fails.
void will_open(const std::string& path);
inline constexpr size_t kMaxOpenFiles = 64;

/// Bytes that are in memory already: the content of small files, and what tests make up.
std::shared_ptr<const ByteSource> bytes_in_memory(std::string name, std::string bytes);

/// A small file's whole text, such as an index: at most `most` bytes.
Result<std::string> text_of(const std::string& path, const char* what, size_t most = size_t{1} << 30);

/// Whether reads have to wait for a disk, from what the last ones met: a run over files that the page cache
/// holds asks for nothing ahead.
class DiskWatch {
 public:
  bool waits() const { return left_.load(std::memory_order_relaxed) > 0; }
  /// Reads what the page cache has of a part of a file, from its start; returns how many bytes.
  int64_t read_cached(int file, int64_t offset, std::span<uint8_t> to);

 private:
  static constexpr int kReadsAfterMiss = 64;
  std::atomic<int> left_{0};
};

}  // namespace galatea::native
