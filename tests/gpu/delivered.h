// One epoch of a pipeline's text, on the CPU or on the GPU of these tests: what comes out, and what it took.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/choose_gpu.h"
#include "compiler/op/operator.h"
#include "runtime/device_session.h"
#include "runtime/program.h"

namespace galatea::testing {

/// A program, and the GPU that it was planned for.
struct Compiled {
  std::shared_ptr<const runtime::Program> program;
  GpuChoice choice;
  std::string error;
};
/// `decoder`: what decodes for the GPU; nothing: all of it runs on the CPU.
Compiled compile_text(const std::string& text, const op::Registry& registry,
                      std::optional<runtime::DecodeChoice> decoder);

struct Delivered {
  std::vector<std::string>
      samples;  ///< extents and bytes, batch by batch, of each output one behind the other
  std::string error;
  runtime::DeviceStatistics device;
  int64_t skipped = 0;
};

Delivered deliver(const std::string& text, std::optional<runtime::DecodeChoice> decoder, int threads = 2,
                  int64_t memory_limit = 0);

}  // namespace galatea::testing
