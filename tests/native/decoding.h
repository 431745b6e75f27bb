// Calls of the code under test: memory that notices writes outside, and results as pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stdlib_ops/native/image.h"
#include "tests/native/encoders.h"

namespace galatea::native {

/// Bounded, so that a forged header cannot take the machine's memory.
class TestScratch final : public Scratch {
 public:
  explicit TestScratch(int64_t limit = int64_t{64} << 20) : limit_(limit) {}
  Result<uint8_t*> bytes(int64_t size) override;

 private:
  int64_t limit_;
  std::vector<uint8_t> memory_;
};

/// The window (all of it by default), decoded to integers or, for float types, unsupported here (see
/// raw_window).
Result<Picture> decode(const File& file, const DecodeOptions& options = {},
                       std::optional<Window> window = {});
/// The same as bytes of options.dtype.
Result<std::vector<uint8_t>> raw_window(const File& file, const DecodeOptions& options,
                                        std::optional<Window> window = {});
/// Extents of the upright (or stored) picture.
Window whole(const ImageHeader& header, bool adjust_orientation = true);

/// A short account of the first difference, empty where there is none.
std::string difference(const Picture& actual, const Picture& expected);

}  // namespace galatea::native
