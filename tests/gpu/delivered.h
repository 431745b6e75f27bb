// One epoch of a pipeline's text, on the CPU or on the GPU of these tests: what comes out, and what it took.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/device_session.h"
#include "runtime/program.h"

namespace galatea::testing {

struct Delivered {
  std::vector<std::string>
      samples;  ///< extents and bytes, batch by batch, of each output one behind the other
  std::string error;
  runtime::DeviceStatistics device;
  int64_t skipped = 0;
};

/// `decoder`: what decodes for the GPU; nothing: all of it runs on the CPU.
Delivered deliver(const std::string& text, std::optional<runtime::DecodeChoice> decoder, int threads = 2,
                  int64_t memory_limit = 0);

}  // namespace galatea::testing
