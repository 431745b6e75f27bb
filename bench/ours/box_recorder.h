// Which windows a run decodes: seen where the decoder is called, not computed a second time.
//
// Comes in: calls of the native decoder. Goes out: per content of a file, the window in stored coordinates.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "include/galatea.h"
#include "stdlib_ops/native/image.h"

namespace galatea::bench {

class BoxRecorder {
 public:
  /// An engine whose decoders tell this recorder. To be destroyed with galatea_engine_destroy(), before the recorder.
  galatea_engine* make_engine();
  /// The window decoded from this file since the last call for it; nothing where none was.
  std::optional<native::Window> take(const std::string& path);

 private:
  void record(std::span<const uint8_t> bytes, const native::Window& stored);
  static uint64_t hash(std::span<const uint8_t> bytes);

  std::mutex mutex_;
  std::map<uint64_t, native::Window> windows_;
  std::map<std::string, uint64_t> hashes_;
};

}  // namespace galatea::bench
