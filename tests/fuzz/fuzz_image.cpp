// Headers and decoding of any bytes.
//
// Comes in: eight bytes that choose output type, element type and window, then a file. Must hold: no crash,
// no write outside the output, bounded memory; and where the whole file decodes, a window gives exactly the
// crop of it.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stdlib_ops/native/image.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_image {
namespace {

using namespace galatea::native;

constexpr int64_t kMemory = int64_t{64} << 20;
constexpr int64_t kPixels = int64_t{1} << 18;

class BoundedScratch final : public Scratch {
 public:
  Result<uint8_t*> bytes(int64_t size) override {
    if (size > kMemory) return make_error(ErrorKind::kUser, "G0000", "too much memory");
    memory_.resize(static_cast<size_t>(size));
    return memory_.data();
  }

 private:
  std::vector<uint8_t> memory_;
};

struct Choice {
  DecodeOptions options;
  const uint8_t* fractions;
  /// Part of [0, extent) that the two fractions name; never empty.
  static void range(uint8_t a, uint8_t b, int64_t extent, int64_t& from, int64_t& to) {
    from = a * extent / 256;
    to = from + 1 + b * (extent - from - 1) / 255;
  }
  Window window(int64_t height, int64_t width) const {
    Window out;
    range(fractions[0], fractions[1], height, out.y0, out.y1);
    range(fractions[2], fractions[3], width, out.x0, out.x1);
    return out;
  }
};

std::vector<uint8_t> output_for(const Window& window, size_t pixel) {
  return std::vector<uint8_t>(static_cast<size_t>(window.height() * window.width()) * pixel);
}

void check_crop(const std::vector<uint8_t>& whole, int64_t width, const std::vector<uint8_t>& part,
                const Window& window, size_t pixel) {
  size_t row = static_cast<size_t>(window.width()) * pixel;
  for (int64_t y = 0; y < window.height(); ++y) {
    const uint8_t* expected = whole.data() + static_cast<size_t>((window.y0 + y) * width + window.x0) * pixel;
    require(std::memcmp(part.data() + static_cast<size_t>(y) * row, expected, row) == 0);
  }
}

}  // namespace

GALATEA_FUZZ_TARGET(image, 4000)(const uint8_t* data, size_t size) {
  if (size < 8) return;
  constexpr DType kDTypes[] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kF32,
                               DType::kI32, DType::kU32, DType::kI16, DType::kF16};
  Choice choice{{.type = static_cast<ImageType>(data[0] % 5),
                 .dtype = kDTypes[data[1] % 8],
                 .adjust_orientation = data[2] % 2 == 0,
                 .fast_idct = data[3] % 8 == 7,
                 .page = data[3] / 8 % 4},
                data + 4};
  Bytes bytes(data + 8, size - 8);
  auto header = read_header(bytes, choice.options.page);
  if (!header) {
    require(!header.error().message().empty());
    return;
  }
  require(header->height > 0 && header->width > 0 && header->orientation >= 1 && header->orientation <= 8);
  if (header->height * header->width > kPixels / header->channels) return;
  bool swap = choice.options.adjust_orientation && swaps_axes(header->orientation);
  Window all{0, 0, swap ? header->width : header->height, swap ? header->height : header->width};
  auto pixel =
      static_cast<size_t>(decoded_channels(*header, choice.options.type) * size_of(choice.options.dtype));
  BoundedScratch scratch;
  Window window = choice.window(all.y1, all.x1);
  std::vector<uint8_t> part = output_for(window, pixel), whole = output_for(all, pixel);
  Status part_status = decode_window(bytes, *header, window, choice.options, scratch, part.data());
  Status whole_status = decode_window(bytes, *header, all, choice.options, scratch, whole.data());
  if (whole_status) {
    require(part_status.has_value());
    check_crop(whole, all.x1, part, window, pixel);
  }
}

}  // namespace galatea::fuzz::of_image
