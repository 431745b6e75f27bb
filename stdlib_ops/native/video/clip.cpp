#include "stdlib_ops/native/video/clip.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace galatea::native::video {
namespace {

/// A decoder holds back less pictures than this: what has not come out so many packets later never will.
constexpr int64_t kMostHeldBack = 40;

class ClipDecoder {
 public:
  ClipDecoder(OpenFilm& open, const FilmIndex& index, const std::string& name, const TakePicture& take)
      : open_(open), index_(index), name_(name), take_(take) {}

  /// By the packets that they come from.
  void want(std::span<const int64_t> frames) {
    for (const int64_t frame : frames) missing_.emplace(index_.packet_of(frame), Wanted{frame});
  }

  Status run(std::span<const int64_t> frames, const std::function<bool()>& cancelled) {
    for (const int64_t frame : frames) {
      if (cancelled()) return {};
      GALATEA_TRY(decode_until(frame));
    }
    return {};
  }

 private:
  struct Wanted {
    int64_t frame = 0;
    bool is_sent = false;  ///< to the decoder, which holds it back
  };

  /// Until the frame has come out: from where the decoder stands, or the last key before it. Where a film does not
  /// keep to what its packets say, with all that lies between; then from the keys before.
  Status decode_until(int64_t frame) {
    const int64_t packet = index_.packet_of(frame);
    int64_t start = index_.start_of(frame);
    for (bool is_first = true; is_missing(packet); is_first = false) {
      if (!is_first && std::exchange(leaves_nothing_out_, true)) start = index_.start_before(start);
      if (start < 0)
        return make_error(
            ErrorKind::kUser, "G0802", fmt::format("{}: frame {} cannot be decoded", name_, frame),
            "the film is damaged: copy or encode it again; on_error=\"skip\" goes on without it");
      if (!is_first || !leads_on_to(packet, start)) GALATEA_TRY(go_to(start));
      GALATEA_TRY(decode_behind(packet));
    }
    return {};
  }

  /// Whether the decoder, as it stands, comes to the packet, and needs nothing before.
  bool leads_on_to(int64_t packet, int64_t start) const {
    return open_.next >= start && (open_.next <= packet || missing_.at(packet).is_sent);
  }

  bool is_missing(int64_t packet) const { return missing_.contains(packet); }

  Status decode_behind(int64_t packet) {
    while (is_missing(packet) && open_.next <= packet + kMostHeldBack) {
      GALATEA_ASSIGN(const bool is_there, read_packet());
      if (is_there) {
        GALATEA_TRY(send(open_.next - 1));
      } else {
        GALATEA_TRY(open_.film->finish());
      }
      GALATEA_TRY(take_pictures());
      if (!is_there) {
        open_.next = -1;  // what is finished has to begin anew
        return {};
      }
    }
    return {};
  }

  Status take_pictures() {
    for (;;) {
      GALATEA_ASSIGN(const std::optional<Picture> picture, open_.film->next_picture());
      if (!picture) return {};
      const auto wanted = missing_.find(picture->packet);
      if (wanted == missing_.end()) continue;
      GALATEA_TRY(take_(wanted->second.frame, *picture));
      missing_.erase(wanted);
    }
  }

  Status go_to(int64_t packet) {
    for (auto& [number, wanted] : missing_) wanted.is_sent = false;
    GALATEA_TRY(open_.film->seek(packet == 0 ? kNoTime : index_.time_of(packet)));
    GALATEA_ASSIGN(const std::optional<PacketFacts> first, open_.film->next_packet());
    const std::optional<int64_t> number = first ? index_.number_of(*first, packet) : std::nullopt;
    const bool is_known = packet != 0 && number && *number <= packet;
    if (is_known) {
      open_.next = *number + 1;
    } else {
      // It cannot be told where we are: count from the start.
      GALATEA_TRY(open_.film->seek(kNoTime));
      open_.next = 0;
    }
    GALATEA_TRY(skip_to(packet));
    if (open_.next == packet) return {};
    GALATEA_TRY(send(packet));  // it is the one that was read
    return take_pictures();
  }

  Status skip_to(int64_t packet) {
    while (open_.next < packet) {
      GALATEA_ASSIGN(const bool is_there, read_packet());
      if (!is_there) return ends_early();
    }
    return {};
  }

  Status send(int64_t packet) {
    const auto wanted = missing_.find(packet);
    if (wanted != missing_.end()) wanted->second.is_sent = true;
    return open_.film->decode(packet, leaves_nothing_out_ || wanted != missing_.end());
  }

  Result<bool> read_packet() {
    GALATEA_ASSIGN(const std::optional<PacketFacts> packet, open_.film->next_packet());
    if (!packet && open_.next < index_.num_packets()) return ends_early();
    if (packet) ++open_.next;
    return packet.has_value();
  }

  std::unexpected<Error> ends_early() const {
    return make_error(ErrorKind::kUser, "G0802",
                      fmt::format("{} ends at packet {} of {}", name_, open_.next, index_.num_packets()),
                      "do not change films while they are in use");
  }

  OpenFilm& open_;
  const FilmIndex& index_;
  const std::string& name_;
  const TakePicture& take_;
  std::map<int64_t, Wanted> missing_;  ///< by their packets, the frames that have not come out
  bool leaves_nothing_out_ = false;    ///< a frame did not come out of what seemed to be enough
};

}  // namespace

Status decode_frames(FilmLibrary& library, const FilmFile& file, const FilmIndex& index,
                     std::span<const int64_t> frames, const TakePicture& take,
                     const std::function<bool()>& cancelled) {
  if (frames.empty()) return {};
  GALATEA_ASSIGN(OpenFilm open, library.borrow(file, index.packet_of(frames.front())));
  ClipDecoder decoder(open, index, file.name, take);
  decoder.want(frames);
  // A film that failed does not wait for others.
  GALATEA_TRY(decoder.run(frames, cancelled));
  library.give_back(file, std::move(open));
  return {};
}

}  // namespace galatea::native::video
