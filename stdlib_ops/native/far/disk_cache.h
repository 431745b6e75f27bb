// Copies of far data on this machine's disk, shared by all processes of a user.
//
// Comes in: a name (a digest of what the bytes are: address, version, place), bytes. Goes out: the same
// bytes, whole and undamaged, or nothing. A file is written under another name and renamed, so a process
// that is killed leaves none that is half; its checksum finds what a disk has damaged. What was used least
// recently goes when the bound is passed.
//
// Each process looks at the whole folder when it first writes, and after each sixteenth of the bound; the
// bound is passed by no more than that for each process that writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stdlib_ops/native/far/sha256.h"

namespace galatea::native::far {

struct DiskCacheOptions {
  std::filesystem::path folder;  ///< empty: nothing is kept
  int64_t max_bytes = int64_t{10} << 30;
};
/// What the settings say: far/ in GALATEA_CACHE_DIR or the user's cache folder, GALATEA_FAR_CACHE_SIZE.
DiskCacheOptions disk_cache_options();

class DiskCache {
 public:
  explicit DiskCache(DiskCacheOptions options) : options_(std::move(options)) {}

  /// The bytes of a name; nothing where they are not kept, damaged, or another user could have written them.
  std::optional<std::vector<uint8_t>> find(const Digest& name) const;
  /// Keeps bytes, if that can be done: a full disk is no error, but nothing further is kept then.
  void store(const Digest& name, std::span<const uint8_t> bytes);
  /// Removes what was used least recently until the folder is within its bound, and what was left half
  /// written.
  void trim();

 private:
  std::filesystem::path file_of(const Digest& name) const;
  bool is_on() const { return !options_.folder.empty() && options_.max_bytes > 0 && !has_failed_; }

  const DiskCacheOptions options_;
  std::atomic<bool> has_failed_{false};
  std::atomic<int64_t> since_trim_{-1};  ///< bytes written since; -1: never trimmed
  std::mutex trimming_;
};

}  // namespace galatea::native::far
