// Bytes at a place that has a name: what containers of records lie in.
//
// Comes in: a path, of this machine or far away (far/address.h). Goes out: a ByteSource, from which any part can
// be read by any thread. Reading copies:
// a mapped file that becomes shorter would end the process, where a read says what happened. Formats
// (tfrecord.h, tar.h, record_io.h, npy.h) know nothing of where their bytes come from.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stdlib_ops/native/bytes/byte_source.h"

namespace galatea::native {

/// A file, of this machine or far away (far/far_store.h). One of this machine is closed between reads where very
/// many are in use: a process keeps at most kMaxOpenFiles of them open.
Result<std::shared_ptr<const ByteSource>> open_file(const std::string& path);
/// It will be opened, and read from its start, soon: it begins to come, from far away or from a disk. Never
/// blocks for long, never fails.
void will_open(const std::string& path);
inline constexpr size_t kMaxOpenFiles = 64;

/// Why a file or a folder of this machine cannot be read: what is named ("the folder /data"), its path, the
/// system's number, what to do. A path that is an address of no known kind is told to be one.
std::unexpected<Error> unreadable(const std::string& what, const std::string& path, int number,
                                  const char* help);

/// Bytes that are in memory already: the content of small files, and what tests make up.
std::shared_ptr<const ByteSource> bytes_in_memory(std::string name, std::string bytes);
/// The same of bytes that somebody else keeps, for as long as the source is used.
std::shared_ptr<const ByteSource> bytes_elsewhere(std::string name, std::span<const uint8_t> bytes);

/// A small file's whole text, such as an index: at most `most` bytes.
Result<std::string> text_of(const std::string& path, const char* what, size_t most = size_t{1} << 30);

/// Whether reads of this process have to wait for a disk, from what the last ones met: a run over files that the
/// page cache holds asks for nothing ahead, but at its start.
class DiskWatch {
 public:
  static DiskWatch& of_process();
  bool waits() const { return left_.load(std::memory_order_relaxed) > 0; }
  /// Reads what the page cache has of a part of a file, from its start, into places one behind the other;
  /// returns how many bytes.
  int64_t read_cached(int file, int64_t offset, std::span<const iovec> to);

 private:
  static constexpr int kReadsAfterMiss = 64;
  std::atomic<int> left_{kReadsAfterMiss};
};
/// Asks for the pages of a part of an open file, at most kMostAsked bytes of it.
void ask_ahead(int file, int64_t offset, int64_t bytes);
inline constexpr int64_t kMostAsked = int64_t{16} << 20;
/// What may lie between parts that are read as one: padding and a few headers of a tar archive.
inline constexpr int64_t kMostBetween = 4096;

/// Whether the parts of a file have to be asked for. Of one that is read from its front to its back the system
/// reads ahead by itself, in larger pieces and for less than half of the processor's time; only where that is
/// slow, as from a disk that answers late, are parts asked for as well, many at once.
class ReadOrder {
 public:
  /// A part that will be read: whether to ask for it.
  bool asks_for(int64_t offset, int64_t bytes);
  /// A read at a place waited.
  void note_wait(int64_t offset, std::chrono::nanoseconds waited);

 private:
  /// A disk is judged by so many bytes, or so long a wait for fewer: it begins to read ahead in small pieces.
  static constexpr int64_t kBytesToJudge = int64_t{4} << 20;
  static constexpr std::chrono::milliseconds kWaitToJudge{50};
  static constexpr double kQuickBytesPerSecond = 100e6;

  std::atomic<int64_t> told_end_{-1 - kMostAsked};
  std::atomic<bool> is_slow_{false};
  std::mutex mutex_;
  bool has_begun_ = false;
  int64_t first_wait_ = 0, last_wait_ = 0;
  std::chrono::nanoseconds waited_{};
};

}  // namespace galatea::native
