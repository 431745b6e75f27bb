// Where the frames of a film are: which packet each comes from, when it is shown, and where decoding has to
// begin for it.
//
// Comes in: an open film, all of whose packets are read once. Goes out: frames by their numbers, 0, 1, … in the
// order in which they are shown. What packets say is enough where each has a time of its own and none needs
// one that is missing; where it is not, the film is decoded once to see what comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

class FilmIndex {
 public:
  /// Reads the film from its start. A film without a frame is an error.
  static Result<FilmIndex> of_film(Film& film, const std::string& name);
  /// What to_bytes() made; nothing where it was damaged.
  static std::optional<FilmIndex> from_bytes(std::span<const uint8_t> bytes);
  std::vector<uint8_t> to_bytes() const;

  const StreamFacts& stream() const { return stream_; }
  int64_t num_frames() const { return static_cast<int64_t>(frames_.size()); }
  int64_t num_packets() const { return static_cast<int64_t>(packets_.size()); }
  /// The packet that a frame comes from.
  int64_t packet_of(int64_t frame) const { return frames_[static_cast<size_t>(frame)]; }
  /// When a frame is shown, in seconds, as the file counts them, and behind the first frame.
  double seconds_of(int64_t frame) const { return seconds(times_[static_cast<size_t>(frame)]); }
  double seconds_since_first(int64_t frame) const {
    return seconds(times_[static_cast<size_t>(frame)] - times_.front());
  }
  /// The packet at which decoding must begin so that a frame is whole: a key that is shown no later, since
  /// frames before a key in the order of the screen may need what stands before it in the file.
  int64_t start_of(int64_t frame) const;
  /// The start before that one; -1: there is none.
  int64_t start_before(int64_t start) const;
  /// What a seek is told so that it ends at a packet, or before.
  int64_t time_of(int64_t packet) const { return packets_[static_cast<size_t>(packet)].time; }
  /// The number of a packet that was read behind a seek to `expected`; nothing where several could be it.
  std::optional<int64_t> number_of(const PacketFacts& facts, int64_t expected) const;
  int64_t memory() const;

 private:
  struct Packet {
    int64_t time = kNoTime;
    int32_t bytes = 0;
    uint32_t is_key = 0;
    friend bool operator==(const Packet&, const Packet&) = default;
  };

  bool take_order_from_times(std::span<const PacketFacts> packets);
  Status take_order_from_pictures(Film& film, std::span<const PacketFacts> packets, const std::string& name);
  void move_times_of_decoding();
  bool is_consistent() const;
  double seconds(int64_t time) const {
    return static_cast<double>(time) * stream_.tick_count / stream_.ticks_a_second;
  }

  StreamFacts stream_;
  std::vector<Packet> packets_;   ///< in the order of the file
  std::vector<uint32_t> frames_;  ///< their packets
  std::vector<int64_t> times_;    ///< when they are shown
};

}  // namespace galatea::native::video
