// A program made ready to run on this machine: natives found and configured, sources opened, places in the
// text resolved.
//
// Comes in: a Program and the natives. Goes out: what all threads of a session share; immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/delivery.h"
#include "runtime/program.h"
#include "runtime/reader_loop.h"

namespace galatea::runtime {

enum class Category : uint8_t { kRead, kDecode, kCompute };

struct LoadedProgram {
  struct Native {
    NativeFunction function;
    std::shared_ptr<NativeState> state;
    DeliveryPorts ports;  ///< of the output that it makes; none where the program makes it
    int32_t alternative = -1;
  };
  struct Source {
    std::string name;  ///< name of the node, else of the factory; unique
    std::unique_ptr<SampleSource> samples;
    ReaderOptions options;
    DeliveryPorts ports;

    bool is_stream() const { return samples->size() == SampleSource::kUnknownSize; }
    // A sample, whichever kind of source it is of.
    std::string describe(const ReaderLoop::Place& place) const {
      return place.sample ? place.sample->describe() : samples->describe(place.index);
    }
    Status read(const ReaderLoop::Place& place, const AllocateOutput& allocate) const {
      return place.sample ? place.sample->read(allocate) : samples->read(place.index, allocate);
    }
    int64_t bytes(const ReaderLoop::Place& place) const {
      return place.sample ? place.sample->bytes() : samples->bytes(place.index);
    }
  };
  /// What time is measured for: sources, then native calls, then kernel calls, by their numbers.
  struct Site {
    std::string name;
    uint32_t line = 0;
    Category category = Category::kCompute;
    std::string trace_category;
    std::string kind;  ///< "read", "decode", "native" or "kernel"
  };

  std::shared_ptr<const Program> program;
  std::vector<Native> natives;
  std::vector<DeviceAlternativeFactory> alternatives;  ///< all different
  std::vector<Source> sources;
  std::vector<Site> sites;
  SourceMap own_sources;
  const SourceMap* source_map = nullptr;  ///< what `spans` point into: the host's map, or own_sources
  std::vector<LocationSpans> spans;       ///< of the locations

  size_t native_site(int32_t call) const { return sources.size() + static_cast<size_t>(call); }
  size_t kernel_site(int32_t call) const {
    return sources.size() + natives.size() + static_cast<size_t>(call);
  }

  /// The error, with the place of a location where it has none: span, operator, chain of calls.
  Error located(Error error, int32_t location) const;
  /// What the flags of a kernel of the device say.
  Error flag_error(uint32_t flags, int32_t location) const;
  /// What the flag of a kernel's call at a location means: at the operator that divides; of several at the
  /// first, with notes that name the others.
  Error division_error(const KernelCallSpec& call, int32_t location) const;
};

/// `sources` and `shard` as in SessionOptions.
Result<std::shared_ptr<const LoadedProgram>> load_program(std::shared_ptr<const Program> program,
                                                          const NativeTable& natives, SourceMap* sources,
                                                          const SessionShard& shard);

}  // namespace galatea::runtime
