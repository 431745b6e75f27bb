// Scenes that look enough like photographs to exercise decoders and filters: gradients, edges, textures of
// several scales, noise.
#pragma once

#include <cstdint>

#include "tools/draw_samples/picture.h"

namespace galatea::samples {

enum class SceneKind : uint8_t { kBuildings, kFields, kObjects };

/// The same arguments give the same bytes.
Picture draw_scene(SceneKind kind, int width, int height, uint32_t seed);

}  // namespace galatea::samples
