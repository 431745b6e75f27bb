// The films of this process: their indexes, and decoders that wait for the next clip.
//
// Comes in: where a film lies. Goes out: its index, from memory, from disk, or by reading it; and a decoder,
// one that has come to the right place if there is one. Both are bounded, however many films there are.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stdlib_ops/native/far/disk_cache.h"
#include "stdlib_ops/native/video/film_index.h"

namespace galatea::native::video {

/// Who may meet a film again: nobody behind its sample, this process, or others as well.
enum class Lasting : uint8_t { kSample, kProcess, kAlways };

struct FilmFile {
  std::string name;      ///< for people
  std::string identity;  ///< of the content: what is kept of a film is found again under it
  Lasting lasting = Lasting::kSample;
  /// Of a film in memory that lasts longer than its sample: whose the memory is. What is kept of the film holds on
  /// to none of it, and is found as long as it lives.
  std::weak_ptr<const void> owner = {};
  std::function<Result<std::shared_ptr<const ByteSource>>()> open;
};

/// A film that is open, and the number of the packet that it would read next; -1: it has to seek first.
struct OpenFilm {
  std::unique_ptr<Film> film;
  int64_t next = 0;
};

/// What an open film takes at most: the pictures that its decoder holds on to.
int64_t decoder_bytes(const StreamFacts& stream);

class FilmLibrary {
 public:
  static constexpr int64_t kMostIndexBytes = int64_t{64} << 20;
  static constexpr int64_t kMostDiskBytes = int64_t{256} << 20;
  static constexpr size_t kMostWaiting = 16;
  static constexpr int64_t kMostWaitingBytes = int64_t{256} << 20;

  explicit FilmLibrary(far::DiskCacheOptions disk) : disk_(std::move(disk)) {}
  static FilmLibrary& of_process();

  Result<std::shared_ptr<const FilmIndex>> index_of(const FilmFile& file);
  /// A decoder of the film: of those that wait, the one that stands nearest before the packet, else a new one.
  Result<OpenFilm> borrow(const FilmFile& file, int64_t packet);
  /// It waits for the next clip; what waited longest goes where there is no room.
  void give_back(const FilmFile& file, OpenFilm film);
  size_t num_waiting() const;

 private:
  struct KeptIndex {
    std::string identity;
    std::weak_ptr<const void> owner;
    std::shared_ptr<const FilmIndex> index;
  };
  struct Waiting {
    std::string identity;
    std::weak_ptr<const void> owner;
    OpenFilm film;
    int64_t bytes = 0;
  };

  std::shared_ptr<const FilmIndex> kept_index(const FilmFile& file);
  std::shared_ptr<const FilmIndex> keep(const FilmFile& file, FilmIndex index);

  far::DiskCache disk_;
  mutable std::mutex mutex_;
  std::list<KeptIndex> indexes_;  ///< the latest first
  std::list<Waiting> waiting_;    ///< the latest first
};

}  // namespace galatea::native::video
