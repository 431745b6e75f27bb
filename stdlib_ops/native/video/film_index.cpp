#include "stdlib_ops/native/video/film_index.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

namespace galatea::native::video {
namespace {

/// More than three weeks of 30 a second.
constexpr size_t kMostPackets = size_t{1} << 26;

std::unexpected<Error> of_film_error(const std::string& name, const char* what, const char* help) {
  return make_error(ErrorKind::kUser, "G0802", fmt::format("{} {}", name, what), help);
}

template <typename T>
void put(std::vector<uint8_t>& to, std::span<const T> values) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
  to.insert(to.end(), bytes, bytes + values.size_bytes());
}

template <typename T>
bool take(std::span<const uint8_t>& from, std::span<T> values) {
  if (from.size() < values.size_bytes()) return false;
  if (!values.empty()) std::memcpy(values.data(), from.data(), values.size_bytes());
  from = from.subspan(values.size_bytes());
  return true;
}

}  // namespace

Result<FilmIndex> FilmIndex::of_film(Film& film, const std::string& name) {
  FilmIndex index;
  std::vector<PacketFacts> packets;
  for (;;) {
    GALATEA_ASSIGN(const std::optional<PacketFacts> packet, film.next_packet());
    if (!packet) break;
    if (packets.size() == kMostPackets)
      return of_film_error(name, "has more packets than a film has", "cut it into parts");
    packets.push_back(*packet);
    index.packets_.push_back({packet->time, packet->bytes, packet->is_key ? 1U : 0U});
  }
  index.stream_ = film.stream();
  if (!index.take_order_from_times(packets)) GALATEA_TRY(index.take_order_from_pictures(film, packets, name));
  if (index.frames_.empty())
    return of_film_error(name, "has no frame",
                         "it is damaged, or was cut off; on_error=\"skip\" goes on without it");
  return index;
}

/// Where packets may be trusted: all that are shown have times, no two the same, none before that of the key
/// at which the film begins.
bool FilmIndex::take_order_from_times(std::span<const PacketFacts> packets) {
  if (packets.empty()) return true;
  if (!packets.front().is_key) return false;
  for (size_t k = 0; k < packets.size(); ++k) {
    if (!packets[k].is_shown) continue;
    if (!packets[k].has_show_time || packets[k].time < packets.front().time) return false;
    frames_.push_back(static_cast<uint32_t>(k));
  }
  std::ranges::sort(frames_, {}, [&](uint32_t k) { return packets[k].time; });
  const auto same = [&](uint32_t a, uint32_t b) { return packets[a].time == packets[b].time; };
  if (std::ranges::adjacent_find(frames_, same) != frames_.end()) {
    frames_.clear();
    return false;
  }
  for (const uint32_t k : frames_) times_.push_back(packets[k].time);
  return true;
}

Status FilmIndex::take_order_from_pictures(Film& film, std::span<const PacketFacts> packets,
                                           const std::string& name) {
  frames_.clear();
  GALATEA_TRY(film.seek(kNoTime));
  const auto take_pictures = [&]() -> Status {
    for (;;) {
      GALATEA_ASSIGN(const std::optional<Picture> picture, film.next_picture());
      if (!picture) return {};
      frames_.push_back(static_cast<uint32_t>(picture->packet));
    }
  };
  for (int64_t number = 0;; ++number) {
    GALATEA_ASSIGN(const std::optional<PacketFacts> packet, film.next_packet());
    if (!packet) break;
    GALATEA_TRY(film.decode(number, true));
    GALATEA_TRY(take_pictures());
  }
  GALATEA_TRY(film.finish());
  GALATEA_TRY(take_pictures());
  if (!is_consistent() && !packets.front().is_key)
    return of_film_error(name, "begins between key frames, and gives pictures that are none of its own",
                         "cut it at a key frame, or encode it again");
  if (!is_consistent())
    return of_film_error(name, "has packets that hold several frames",
                         "give each its own: ffmpeg -i FILM -c copy -bsf:v mpeg4_unpack_bframes NEW");
  // The times that there are, in the order of the screen; where there are none, one tick a frame.
  for (const uint32_t k : frames_) times_.push_back(packets_[k].time);
  std::ranges::sort(times_);
  if (times_.empty()) return {};
  const auto is_told = [&](uint32_t k) { return packets[k].has_show_time; };
  if (times_.front() == kNoTime) {
    std::iota(times_.begin(), times_.end(), int64_t{0});
  } else if (!std::ranges::all_of(frames_, is_told)) {
    move_times_of_decoding();
  }
  return {};
}

/// AVI says when pictures are decoded alone: a picture is shown when the decoder, which holds some back, gives it.
/// The first one keeps its time; of the last ones the step is that of those before.
void FilmIndex::move_times_of_decoding() {
  std::vector<uint32_t> decoded = frames_;
  std::ranges::sort(decoded);
  size_t held_back = 0;
  for (size_t shown = 0; shown < frames_.size(); ++shown) {
    const auto place =
        static_cast<size_t>(std::ranges::lower_bound(decoded, frames_[shown]) - decoded.begin());
    if (place > shown) held_back = std::max(held_back, place - shown);
  }
  if (held_back == 0 || held_back + 1 >= times_.size()) return;
  const int64_t begin = times_.front(), moved = times_[held_back] - begin;
  times_.erase(times_.begin(), times_.begin() + static_cast<ptrdiff_t>(held_back));
  for (int64_t& time : times_) time -= moved;
  const int64_t step = times_.back() - times_[times_.size() - 2];
  for (; times_.size() < frames_.size(); times_.push_back(times_.back() + step)) {
  }
}

bool FilmIndex::is_consistent() const {
  std::vector<uint32_t> sorted = frames_;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() &&
         (sorted.empty() || sorted.back() < packets_.size());
}

int64_t FilmIndex::start_of(int64_t frame) const {
  const int64_t packet = packet_of(frame);
  const int64_t time = packets_[static_cast<size_t>(packet)].time;
  for (int64_t k = packet; k > 0; --k)
    if (const Packet& at = packets_[static_cast<size_t>(k)]; at.is_key != 0 && at.time <= time) return k;
  return 0;
}

int64_t FilmIndex::start_before(int64_t start) const {
  for (int64_t k = start - 1; k >= 0; --k)
    if (k == 0 || packets_[static_cast<size_t>(k)].is_key != 0) return k;
  return -1;
}

std::optional<int64_t> FilmIndex::number_of(const PacketFacts& facts, int64_t expected) const {
  const Packet is{facts.time, facts.bytes, facts.is_key ? 1U : 0U};
  if (is.time == kNoTime) return std::nullopt;
  if (packets_[static_cast<size_t>(expected)] == is) return expected;
  const auto first = std::ranges::find(packets_, is);
  if (first == packets_.end() || std::find(first + 1, packets_.end(), is) != packets_.end())
    return std::nullopt;
  return first - packets_.begin();
}

int64_t FilmIndex::memory() const {
  return static_cast<int64_t>(sizeof *this + packets_.capacity() * sizeof(Packet) +
                              frames_.capacity() * sizeof(uint32_t) + times_.capacity() * sizeof(int64_t));
}

std::vector<uint8_t> FilmIndex::to_bytes() const {
  std::vector<uint8_t> out;
  const int64_t sizes[] = {num_packets(), num_frames()};
  put<StreamFacts>(out, {&stream_, 1});
  put<int64_t>(out, sizes);
  put<Packet>(out, packets_);
  put<uint32_t>(out, frames_);
  put<int64_t>(out, times_);
  return out;
}

std::optional<FilmIndex> FilmIndex::from_bytes(std::span<const uint8_t> bytes) {
  FilmIndex out;
  int64_t sizes[2] = {};
  if (!take<StreamFacts>(bytes, {&out.stream_, 1}) || !take<int64_t>(bytes, sizes)) return std::nullopt;
  constexpr auto kMost = static_cast<int64_t>(kMostPackets);
  if (sizes[0] < 1 || sizes[0] > kMost || sizes[1] < 1 || sizes[1] > sizes[0]) return std::nullopt;
  if (bytes.size() != static_cast<size_t>(sizes[0]) * sizeof(Packet) + static_cast<size_t>(sizes[1]) * 12)
    return std::nullopt;
  out.packets_.resize(static_cast<size_t>(sizes[0]));
  out.frames_.resize(static_cast<size_t>(sizes[1]));
  out.times_.resize(static_cast<size_t>(sizes[1]));
  take<Packet>(bytes, out.packets_);
  take<uint32_t>(bytes, out.frames_);
  take<int64_t>(bytes, out.times_);
  return out.is_consistent() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace galatea::native::video
