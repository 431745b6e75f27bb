// Which frames a clip consists of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace galatea::native::video {

/// What stands in a clip where its film has no frame; DALI's words (kEdge: "edge", "repeat"; kReflect1001:
/// "reflect_1001", "symmetric"; kReflect101: "reflect_101", "reflect").
enum class Padding : uint8_t { kNone, kConstant, kEdge, kReflect1001, kReflect101 };
std::optional<Padding> padding_of(std::string_view word);
inline constexpr const char* kPaddingWords =
    "none, constant, edge (repeat), reflect_1001 (symmetric), reflect_101 (reflect)";

inline constexpr int64_t kFilled = -1;  ///< in place of a frame's number: pixels of a fill value

/// The frame that stands for this one of a film of `frames`, at least one; frames outside are kFilled with
/// kConstant, and nothing with kNone.
std::optional<int64_t> padded(int64_t frame, int64_t frames, Padding padding);

/// The first frames of the clips of a film: from `start` on, every `step`, as long as all of a clip's frames lie
/// before `end`; with padding, as long as its first one does.
std::vector<int64_t> clip_starts(int64_t start, int64_t end, int64_t length, int64_t stride, int64_t step,
                                 Padding padding);
/// So many frames, evenly from `start` to `end` - 1, rounded half away from zero.
std::vector<int64_t> spread_frames(int64_t start, int64_t end, int64_t length);

}  // namespace galatea::native::video
