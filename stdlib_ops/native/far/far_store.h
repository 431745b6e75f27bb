// Far data as readers use it: files that are opened, read in parts by any thread, and read ahead; folders
// listed.
//
// Comes in: addresses. Goes out: ByteSources. A file is cut into blocks. A block is looked for in memory,
// then on disk, then where it is; neighbours that are missing come with one request. Memory and what is
// read ahead have bounds; threads that read ahead are started when something is.
//
// Opening asks the server whether the file is still the version that is known, and brings its first
// megabyte where it is not. So a reader never mixes versions: one that changes while it is open is an
// error.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "stdlib_ops/native/bytes/byte_source.h"
#include "stdlib_ops/native/far/disk_cache.h"
#include "stdlib_ops/native/far/far_folder.h"
#include "stdlib_ops/native/far/fetch.h"

namespace galatea::native::far {

struct FarOptions {
  FetchOptions fetch;
  DiskCacheOptions disk;
  int64_t memory = int64_t{64} << 20;
  /// How long an answer about a version holds: from reading ahead to reading.
  std::chrono::milliseconds versions_hold_for{10'000};
};

inline constexpr int64_t kBlockBytes = int64_t{256} << 10;
/// What opening brings: most pictures whole.
inline constexpr int64_t kFirstBlocks = 4;
/// Of one request.
inline constexpr int64_t kMostBlocks = 16;

class FarStore {
 public:
  explicit FarStore(FarOptions options);
  ~FarStore();
  FarStore(const FarStore&) = delete;
  FarStore& operator=(const FarStore&) = delete;

  /// The one of this process, as the settings say when it is first used.
  static FarStore& of_process();

  /// Sources must not outlive the store.
  Result<std::shared_ptr<const ByteSource>> open(const std::string& address);
  /// It will be opened and read from its start soon. Does not wait, never fails.
  void will_open(const std::string& address);
  Result<FarFolder> list(const std::string& folder);
  /// Waits until nothing is read ahead any more: for tests.
  void finish_ahead();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace galatea::native::far
