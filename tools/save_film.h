// Clips into .mp4 files, through the module for films.
#pragma once

#include <optional>
#include <vector>

#include "base/layout.h"
#include "base/result.h"
#include "runtime/tensor.h"

namespace galatea::tools {

/// Bytes of a film of a clip: bytes FHWC, FCHW or FHW with at least one frame, 1 or 3 channels. Nothing for others. An
/// error where the module for films is missing.
Result<std::optional<std::vector<uint8_t>>> to_mp4(const runtime::Tensor& clip, const Layout& layout,
                                                   int32_t frames_a_second);

}  // namespace galatea::tools
