// A pixel of a mask by chance: see mask_pixel.h.
#include "stdlib_ops/native/mask_pixel.h"

#include "base/json.h"
#include "base/scalar_op.h"
#include "stdlib_ops/native/draws.h"

namespace galatea::native {
namespace {

class MaskPixelState final : public runtime::NativeState {
 public:
  bool by_value = false;
};

Result<std::shared_ptr<runtime::NativeState>> prepare_mask_pixel(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "random_mask_pixel: configuration is not a JSON object");
  auto state = std::make_shared<MaskPixelState>();
  state->by_value = json.value("by_value", false);
  return state;
}

/// Whether a pixel is of the foreground.
class Foreground {
 public:
  Foreground(DType dtype, const Cell& limit, bool by_value)
      : dtype_(dtype),
        by_value_(by_value),
        threshold_(by_value ? 0 : cell_to_double(DType::kF32, limit)),
        value_(by_value ? cell_to_int(DType::kI64, limit) : 0) {}
  bool contains(const uint8_t* pixel) const {
    const Cell cell = load_cell(dtype_, pixel);
    if (!by_value_) return cell_to_double(dtype_, cell) > threshold_;
    if (is_float(dtype_)) return cell_to_double(dtype_, cell) == static_cast<double>(value_);
    // A number past the end of i64 is no value that can be asked for.
    if (dtype_ == DType::kU64 && cell_to_double(dtype_, cell) >= 0x1p63) return false;
    return cell_to_int(dtype_, cell) == value_;
  }

 private:
  DType dtype_;
  bool by_value_;
  double threshold_;
  int64_t value_;
};

/// Calls `visit` for pixel after pixel in row-major order until it says true.
template <typename Visit>
void each_pixel(const runtime::Tensor& mask, const Visit& visit) {
  std::array<int64_t, runtime::kMaxRank> at{};
  const uint8_t* pixel = mask.data;
  const auto size = static_cast<int64_t>(size_of(mask.dtype));
  for (int64_t left = mask.volume(); left > 0; --left) {
    if (visit(pixel)) return;
    for (int d = mask.ndim - 1; d >= 0; --d) {
      const auto axis = static_cast<size_t>(d);
      pixel += mask.strides[d] * size;
      if (++at[axis] < mask.extents[d]) break;
      pixel -= mask.strides[d] * size * mask.extents[d];
      at[axis] = 0;
    }
  }
}

Status random_pixel(runtime::NativeContext& context) {
  const runtime::Tensor& mask = context.inputs[0];
  const auto number = [&](size_t n) { return cell_to_int(DType::kI64, context.scalars[n]); };
  const uint64_t bits = static_cast<uint64_t>(number(0)) << 32 | static_cast<uint64_t>(number(1));
  const int64_t pixels = mask.volume();
  if (pixels == 0)
    return make_error(ErrorKind::kUser, "G0910", "the mask has no pixels", "leave empty masks out");
  int64_t found = below(bits, pixels);
  if (number(2) != 0) {
    const Foreground foreground(mask.dtype, context.scalars[3],
                                static_cast<const MaskPixelState*>(context.state)->by_value);
    int64_t count = 0;
    each_pixel(mask, [&](const uint8_t* pixel) {
      count += foreground.contains(pixel) ? 1 : 0;
      return false;
    });
    if (count > 0) {
      int64_t before = below(bits, count);
      found = -1;
      each_pixel(mask, [&](const uint8_t* pixel) {
        ++found;
        return foreground.contains(pixel) && before-- == 0;
      });
    }
  }
  for (int d = mask.ndim - 1; d >= 0; --d) {
    context.scalar_results[static_cast<size_t>(d)] = cell_from_int(DType::kI64, found % mask.extents[d]);
    found /= mask.extents[d];
  }
  return {};
}

}  // namespace

runtime::NativeFunction mask_pixel_function() {
  runtime::NativeFunction made;
  made.name = kMaskRandomPixel;
  made.category = "compute";
  made.prepare = prepare_mask_pixel;
  made.call = random_pixel;
  return made;
}

}  // namespace galatea::native
