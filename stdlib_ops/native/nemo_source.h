// readers.nemo_asr: recordings that manifests of NeMo name, with what is said in them.
//
// A manifest has an object of JSON a line: audio_filepath, duration and offset (seconds), text; what else there is
// is left alone, and so are lines without an audio_filepath.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/port.h"
#include "runtime/native.h"

namespace galatea::native {

struct Utterance {
  std::string path;
  double offset = 0, duration = -1;  ///< in seconds; a duration below 0: up to the end
  std::string text;
  int64_t index = 0;  ///< among those of its manifest
  friend bool operator==(const Utterance&, const Utterance&) = default;
};

/// The frames of an utterance, of `frames` at `rate` Hz: both ends rounded down.
struct FrameRange {
  int64_t begin = 0, end = 0;
  friend bool operator==(const FrameRange&, const FrameRange&) = default;
};
FrameRange frames_of(const Utterance& utterance, int64_t frames, int64_t rate);

/// Those of a manifest whose duration is not below `least` nor above `most`, where these are more than 0.
std::vector<Utterance> parse_manifest(std::string_view text, double least, double most);

/// audio, sample_rate, text, index, as far as the arguments ask for them.
std::vector<Port> nemo_ports(const nlohmann::json& config);
Result<std::unique_ptr<runtime::SampleSource>> open_nemo(const std::string& config);

}  // namespace galatea::native
