#include "policy/operation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace galatea::policy {
namespace {

using JsonKind = JsonValue::Kind;
using MagKind = Magnitude::Kind;

using P = ParameterKind;
const std::vector<std::string_view> kWarp = {"fill_value", "interp_type", "cubic_a"};
const std::vector<std::string_view> kTranslate = {"fill_value", "interp_type", "cubic_a", "pixel_round"};
const std::vector<std::string_view> kRotate = {"fill_value", "interp_type", "cubic_a", "rotate_keep_size"};

double quantized(double magnitude, Quantize how) {
  switch (how) {
    case Quantize::kNone:
      return magnitude;
    case Quantize::kFloor:
      return std::floor(magnitude);
    case Quantize::kCeil:
      return std::ceil(magnitude);
    case Quantize::kTrunc:
      return std::trunc(magnitude);
    case Quantize::kRoundEven:
      return std::nearbyint(magnitude);
  }
  return magnitude;
}

std::string number(double value) { return fmt::format("{:.5g}", value + 0.0); }

double clamped(const Augmentation& augmentation, double value) {
  if (augmentation.clamp_low) value = std::max(value, *augmentation.clamp_low);
  if (augmentation.clamp_high) value = std::min(value, *augmentation.clamp_high);
  return value;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table = {
      {"shear_x", P::kPairX, kWarp, false, "shears along x", ""},
      {"shear_y", P::kPairY, kWarp, false, "shears along y", ""},
      {"translate_x", P::kPairX, kTranslate, true, "moves along x by a part of the width", " × width"},
      {"translate_y", P::kPairY, kTranslate, true, "moves along y by a part of the height", " × height"},
      {"translate_x_no_shape", P::kPairX, kTranslate, false, "moves along x", " px"},
      {"translate_y_no_shape", P::kPairY, kTranslate, false, "moves along y", " px"},
      {"rotate", P::kScalar, kRotate, false, "rotates about the centre", "°"},
      {"brightness", P::kScalar, {}, false, "scales all values", ""},
      {"contrast", P::kScalar, {}, false, "scales the distance from the mean grey", ""},
      {"color", P::kScalar, {}, false, "scales the distance from grey (saturation)", ""},
      {"sharpness", P::kKernel, {}, false, "smooths or sharpens", ""},
      {"posterize", P::kMask, {}, false, "keeps the upper bits of each value", " bits"},
      {"solarize", P::kScalar, {}, false, "inverts values from the threshold on", ""},
      {"solarize_add", P::kScalar, {}, false, "adds to values below 128", ""},
      {"invert", P::kNothing, {}, false, "inverts", ""},
      {"equalize", P::kNothing, {}, false, "equalises the histogram of each channel", ""},
      {"auto_contrast", P::kNothing, {}, false, "stretches each channel to the full range", ""},
      {"gaussian_blur",
       P::kScalar,
       {},
       false,
       "blurs, with this standard deviation; none below 0.001",
       " px"},
      {"identity", P::kNothing, {}, false, "does nothing", "", DataKind::kAny},
      {"sound.gain", P::kScalar, {}, false, "makes sound louder", " dB", DataKind::kSound},
      {"sound.noise",
       P::kScalar,
       {},
       false,
       "adds white noise, so far below the sound",
       " dB",
       DataKind::kSound},
      {"sound.speed",
       P::kScalar,
       {"quality"},
       false,
       "plays sound faster by a share, and higher",
       "",
       DataKind::kSound},
  };
  return table;
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : operations())
    if (operation.name == name) return &operation;
  return nullptr;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const Operation& operation : operations()) names.emplace_back(operation.name);
  return names;
}

DataKind data_of(const Document& document) {
  for (const Augmentation& entry : document.augmentations)
    if (const Operation* operation = find_operation(entry.op);
        operation != nullptr && operation->data != DataKind::kAny)
      return operation->data;
  return DataKind::kAny;
}

const std::vector<std::string>& interpolation_words() {
  static const std::vector<std::string> words = {"linear", "nearest", "cubic"};
  return words;
}

std::string wanted_value(const Extra& extra) {
  const JsonValue& value = extra.value;
  const bool is_null = value.kind == JsonKind::kNull;
  // A number that float32 cannot hold would be an infinity in the pipeline.
  const auto is_number = [](const JsonValue& one) { return one.is_number() && std::abs(one.number) <= 1e30; };
  const bool is_list =
      value.kind == JsonKind::kArray && !value.items.empty() && std::ranges::all_of(value.items, is_number);
  if (extra.name == "fill_value" && !is_number(value) && !is_null && !is_list)
    return "a number, a list of numbers, one for each channel, or null, which repeats the edge";
  if (extra.name == "quality" && (!is_number(value) || value.number < 0 || value.number > 100))
    return "a number from 0 to 100";
  if (extra.name == "cubic_a" && !is_number(value) && !is_null) return "a number";
  if (extra.name == "rotate_keep_size" && value.kind != JsonKind::kBool) return "true or false";
  if (extra.name == "pixel_round" && (value.kind != JsonKind::kString || value.text != "trunc"))
    return "\"trunc\"";
  if (extra.name == "interp_type" && value.kind != JsonKind::kString && !is_null)
    return "\"linear\", \"nearest\", \"cubic\", or several after \"random:\"";
  return "";
}

const std::vector<ParameterFunction>& parameter_functions() {
  static const std::vector<ParameterFunction> table = {
      {"identity", P::kScalar, "the magnitude itself"},
      {"vec_x", P::kPairX, "[m, 0]"},
      {"vec_y", P::kPairY, "[0, m]"},
      {"one_plus", P::kScalar, "1 + m"},
      {"sharpness_kernel", P::kKernel, "a 3 × 3 kernel: m = -1 smooths, 0 keeps, 1 sharpens"},
      {"sharpness_kernel_shifted", P::kKernel, "the kernel of m - 1"},
      {"posterize_mask", P::kMask, "keeps round(m) bits, at least 1"},
      {"posterize_mask0", P::kMask, "keeps round(m) bits; 0 bits make a black image"},
  };
  return table;
}

const ParameterFunction* find_parameter_function(std::string_view name) {
  for (const ParameterFunction& function : parameter_functions())
    if (function.name == name) return &function;
  return nullptr;
}

double magnitude_at(const Augmentation& augmentation, double t) {
  if (!augmentation.range) return 0;
  const auto [low, high] = *augmentation.range;
  return quantized(static_cast<double>(static_cast<float>(low + (high - low) * t)), augmentation.quantize);
}

double magnitude_of_bin(const Augmentation& augmentation, int64_t bin, int64_t bins) {
  if (!augmentation.values.empty()) {
    const auto index = static_cast<size_t>(bin);
    return index < augmentation.values.size() ? quantized(augmentation.values[index], augmentation.quantize)
                                              : 0;
  }
  return magnitude_at(augmentation, bins > 1 ? static_cast<double>(bin) / static_cast<double>(bins - 1) : 0);
}

std::string parameter_text(const Augmentation& augmentation, double magnitude) {
  const Operation* operation = find_operation(augmentation.op);
  const std::string unit(operation ? operation->unit : "");
  const std::string& param = augmentation.param;
  if (param.starts_with("posterize_mask")) {
    const int least = param == "posterize_mask0" ? 0 : 1;
    const int bits = std::clamp(static_cast<int>(std::nearbyint(magnitude)), least, 8);
    return fmt::format("{} bit{}", bits, bits == 1 ? "" : "s");
  }
  const bool clamps = augmentation.clamp_low || augmentation.clamp_high;
  const double base = param == "one_plus" ? 1 : param == "sharpness_kernel_shifted" ? -1 : 0;
  if (!augmentation.negate || magnitude == 0) return number(clamped(augmentation, base + magnitude)) + unit;
  const double minus = clamped(augmentation, base - magnitude),
               plus = clamped(augmentation, base + magnitude);
  if (base == 0 && !clamps) return "±" + number(magnitude) + unit;
  return number(minus) + " or " + number(plus) + unit;
}

std::string magnitude_text(const Magnitude& magnitude) {
  switch (magnitude.kind) {
    case MagKind::kNone:
      return "-";
    case MagKind::kBin:
      return fmt::format("bin {}", magnitude.bin);
    case MagKind::kUniformBin:
      return fmt::format("bins {} to {}", magnitude.bin, magnitude.last_bin);
    case MagKind::kLevel: {
      std::string text = "level " + number(magnitude.level);
      if (magnitude.deviation > 0) text += " ± " + number(magnitude.deviation);
      return text + " of " + number(magnitude.max);
    }
    case MagKind::kUniformLevel: {
      std::string last = number(magnitude.last_level);
      if (magnitude.deviation > 0) last += " ± " + number(magnitude.deviation);
      return fmt::format("levels {} to {} of {}", number(magnitude.level), last, number(magnitude.max));
    }
    case MagKind::kValue:
      return "value " + number(magnitude.value);
  }
  return "";
}

}  // namespace galatea::policy
