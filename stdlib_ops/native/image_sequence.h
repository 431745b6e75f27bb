// Sequences of images: folders whose files are frames.
//
// Comes in: the arguments of readers.sequence as JSON. Goes out: a source of decoded frames, FHWC.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/native.h"

namespace galatea::native {

/// Where a sequence begins.
struct SequencePlace {
  size_t folder = 0, first = 0;
  friend bool operator==(const SequencePlace&, const SequencePlace&) = default;
};
/// All whole sequences of folders of so many frames: they begin at every `step`-th frame, and take every
/// `stride`-th from there on.
std::vector<SequencePlace> sequences_in(const std::vector<size_t>& frames, int64_t length, int64_t step,
                                        int64_t stride);

Result<std::unique_ptr<runtime::SampleSource>> open_image_sequences(const std::string& config);

}  // namespace galatea::native
