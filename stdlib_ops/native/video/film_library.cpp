#include "stdlib_ops/native/video/film_library.h"

#include <algorithm>
#include <numeric>

#include "base/cache_folder.h"
#include "stdlib_ops/native/far/sha256.h"
#include "stdlib_ops/native/video/film_module.h"

namespace galatea::native::video {
namespace {

/// Pictures that a decoder holds on to, as H.264 and HEVC have it at most.
constexpr int64_t kPicturesOfDecoder = 17;

/// The layout of what FilmIndex writes is part of the name.
far::Digest name_of_index(const std::string& identity) { return far::sha256("film index 2\n" + identity); }

far::DiskCacheOptions index_folder() {
  far::DiskCacheOptions options;
  options.max_bytes = FilmLibrary::kMostDiskBytes;
  if (const std::filesystem::path root = cache_root(); !root.empty()) options.folder = root / "video";
  return options;
}

using Owner = std::weak_ptr<const void>;

bool is_same(const Owner& one, const Owner& other) {
  return !one.owner_before(other) && !other.owner_before(one);
}

/// Whether `kept` is of this very film.
template <class Kept>
bool is_of(const Kept& kept, const FilmFile& file) {
  return kept.identity == file.identity && is_same(kept.owner, file.owner);
}

/// Nobody can ask for what is kept of a film whose memory is gone.
template <class Kept>
bool is_orphan(const Kept& kept) {
  return kept.owner.expired() && !is_same(kept.owner, Owner());
}

}  // namespace

int64_t decoder_bytes(const StreamFacts& stream) {
  constexpr int64_t kBytesOfTwoPixels = 3;
  return kPicturesOfDecoder * stream.width * stream.height * kBytesOfTwoPixels / 2;
}

FilmLibrary& FilmLibrary::of_process() {
  // Never destroyed: threads may be decoding when the process ends.
  static auto* const library = new FilmLibrary(index_folder());
  return *library;
}

std::shared_ptr<const FilmIndex> FilmLibrary::kept_index(const FilmFile& file) {
  const std::lock_guard lock(mutex_);
  const auto kept = std::ranges::find_if(indexes_, [&](const KeptIndex& one) { return is_of(one, file); });
  if (kept == indexes_.end()) return nullptr;
  indexes_.splice(indexes_.begin(), indexes_, kept);
  return kept->index;
}

std::shared_ptr<const FilmIndex> FilmLibrary::keep(const FilmFile& file, FilmIndex index) {
  auto shared = std::make_shared<const FilmIndex>(std::move(index));
  const std::lock_guard lock(mutex_);
  std::erase_if(indexes_, is_orphan<KeptIndex>);
  indexes_.push_front({file.identity, file.owner, shared});
  int64_t bytes = 0;
  for (const KeptIndex& kept : indexes_) bytes += kept.index->memory();
  for (; bytes > kMostIndexBytes && indexes_.size() > 1; indexes_.pop_back())
    bytes -= indexes_.back().index->memory();
  return shared;
}

Result<std::shared_ptr<const FilmIndex>> FilmLibrary::index_of(const FilmFile& file) {
  if (auto kept = kept_index(file)) return kept;
  if (file.lasting == Lasting::kAlways)
    if (const auto bytes = disk_.find(name_of_index(file.identity)))
      if (auto index = FilmIndex::from_bytes(*bytes)) return keep(file, std::move(*index));
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> bytes, file.open());
  GALATEA_ASSIGN(const std::unique_ptr<Film> film, open_film(std::move(bytes)));
  GALATEA_ASSIGN(FilmIndex index, FilmIndex::of_film(*film, file.name));
  if (file.lasting == Lasting::kAlways) disk_.store(name_of_index(file.identity), index.to_bytes());
  return keep(file, std::move(index));
}

Result<OpenFilm> FilmLibrary::borrow(const FilmFile& file, int64_t packet) {
  {
    const std::lock_guard lock(mutex_);
    auto best = waiting_.end();
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (!is_of(*it, file)) continue;
      const auto distance = [&](int64_t next) { return next <= packet ? packet - next : INT64_MAX; };
      if (best == waiting_.end() || distance(it->film.next) < distance(best->film.next)) best = it;
    }
    if (best != waiting_.end()) {
      OpenFilm found = std::move(best->film);
      waiting_.erase(best);
      return found;
    }
  }
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> bytes, file.open());
  GALATEA_ASSIGN(std::unique_ptr<Film> film, open_film(std::move(bytes)));
  return OpenFilm{std::move(film), 0};
}

void FilmLibrary::give_back(const FilmFile& file, OpenFilm film) {
  if (file.lasting == Lasting::kSample) return;
  const int64_t bytes = decoder_bytes(film.film->stream());
  std::list<Waiting> leaving;  // closed behind the lock
  const std::lock_guard lock(mutex_);
  waiting_.push_front({file.identity, file.owner, std::move(film), bytes});
  for (auto next = waiting_.begin(); next != waiting_.end();)
    if (const auto one = next++; is_orphan(*one)) leaving.splice(leaving.begin(), waiting_, one);
  int64_t all = 0;
  for (const Waiting& one : waiting_) all += one.bytes;
  while (waiting_.size() > kMostWaiting || (all > kMostWaitingBytes && waiting_.size() > 1)) {
    all -= waiting_.back().bytes;
    leaving.splice(leaving.begin(), waiting_, std::prev(waiting_.end()));
  }
}

size_t FilmLibrary::num_waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace galatea::native::video
