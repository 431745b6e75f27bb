#include "tests/native/decoding.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/scalar_op.h"

namespace galatea::native {
namespace {
constexpr uint8_t kGuard = 0xA5;
constexpr size_t kGuardBytes = 64;
}  // namespace

Result<uint8_t*> TestScratch::bytes(int64_t size) {
  if (size > limit_) return make_error(ErrorKind::kUser, "G0000", "the test's memory limit is reached");
  memory_.assign(static_cast<size_t>(size), 0xEE);
  return memory_.data();
}

Window whole(const ImageHeader& header, bool adjust_orientation) {
  bool swap = adjust_orientation && swaps_axes(header.orientation);
  return {0, 0, swap ? header.width : header.height, swap ? header.height : header.width};
}

Result<std::vector<uint8_t>> raw_window(const File& file, const DecodeOptions& options,
                                        std::optional<Window> window) {
  // An exact copy: a sanitizer sees every read behind the file's end.
  std::vector<uint8_t> bytes(file.begin(), file.end());
  bytes.shrink_to_fit();
  GALATEA_ASSIGN(ImageHeader header, read_header(bytes, options.page));
  Window w = window.value_or(whole(header, options.adjust_orientation));
  auto size = static_cast<size_t>(w.height() * w.width() * decoded_channels(header, options.type) *
                                  size_of(options.dtype));
  std::vector<uint8_t> memory(size + 2 * kGuardBytes, kGuard);
  TestScratch scratch;
  Status status = decode_window(bytes, header, w, options, scratch, memory.data() + kGuardBytes);
  auto is_guard = [](uint8_t byte) { return byte == kGuard; };
  GALATEA_CHECK(std::all_of(memory.begin(), memory.begin() + kGuardBytes, is_guard),
                "the decoder wrote before its output");
  GALATEA_CHECK(std::all_of(memory.end() - kGuardBytes, memory.end(), is_guard),
                "the decoder wrote behind its output");
  if (!status) return std::unexpected(std::move(status.error()));
  return std::vector<uint8_t>(memory.begin() + kGuardBytes, memory.end() - kGuardBytes);
}

Result<Picture> decode(const File& file, const DecodeOptions& options, std::optional<Window> window) {
  GALATEA_ASSIGN(std::vector<uint8_t> bytes, raw_window(file, options, window));
  GALATEA_ASSIGN(ImageHeader header, read_header(file, options.page));
  Window w = window.value_or(whole(header, options.adjust_orientation));
  Picture out(static_cast<int>(w.height()), static_cast<int>(w.width()),
              decoded_channels(header, options.type), 8 * size_of(options.dtype));
  for (size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = static_cast<int>(cell_to_int(
        options.dtype, load_cell(options.dtype, &bytes[i * static_cast<size_t>(size_of(options.dtype))])));
  return out;
}

std::string difference(const Picture& actual, const Picture& expected) {
  if (actual.height != expected.height || actual.width != expected.width ||
      actual.channels != expected.channels)
    return fmt::format("{} x {} x {} instead of {} x {} x {}", actual.height, actual.width, actual.channels,
                       expected.height, expected.width, expected.channels);
  for (int y = 0; y < actual.height; ++y)
    for (int x = 0; x < actual.width; ++x)
      for (int c = 0; c < actual.channels; ++c)
        if (actual.at(y, x, c) != expected.at(y, x, c))
          return fmt::format("at ({}, {}, {}): {} instead of {}", y, x, c, actual.at(y, x, c),
                             expected.at(y, x, c));
  return {};
}

}  // namespace galatea::native
