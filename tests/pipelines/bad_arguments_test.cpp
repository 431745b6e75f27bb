// Numbers, lists and words that no argument is made for, in every argument of every operator: a diagnostic or a
// result, and never a crash. The carrier is the operator's own example.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/native/sample_folder.h"
#include "tests/pipelines/ways.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

using op::ArgKind;

const std::vector<std::string> kNumbers = {
    "float(\"nan\")", "float(\"inf\")",      "-float(\"inf\")",     "-1", "0", "0.5", "-2.5", "1e38",
    "2147483648",     "9223372036854775807", "-4611686018427387904"};
const std::vector<std::string> kWords = {"\"\"", "\"nonsense\"", "\"HH\"", "7", "[]"};

bool is_number(ArgKind kind) {
  return kind == ArgKind::kInt || kind == ArgKind::kFloat || kind == ArgKind::kInterp ||
         kind == ArgKind::kImageType || kind == ArgKind::kBool || kind == ArgKind::kDType;
}
bool is_list(ArgKind kind) { return kind == ArgKind::kIntList || kind == ArgKind::kFloatList; }

/// The number as one that only the sample knows; an integer in INT64.
std::string drawn(const std::string& number) {
  const bool is_whole = number.find_first_not_of("-0123456789") == std::string::npos;
  return is_whole ? fmt::format("fn.cast(fn.random.coin_flip(), dtype=types.INT64) * 0 + ({})", number)
                  : fmt::format("fn.random.uniform(range=[0.0, 1.0]) * 0 + ({})", number);
}

/// What is given to an argument of this kind.
std::vector<std::string> bad_values(const op::ArgSpec& arg) {
  std::vector<std::string> out;
  if (is_number(arg.kind)) {
    out = kNumbers;
    if (arg.per_sample)
      for (const std::string& number : kNumbers) out.push_back(drawn(number));
    out.insert(out.end(), {"\"word\"", "[]", "[1, 2]", "[1.0] * 9"});
    if (arg.per_sample) out.emplace_back("fn.random.uniform(range=[0.0, 9.0], shape=[3])");
  } else if (is_list(arg.kind)) {
    for (const std::string& number : kNumbers) {
      out.push_back(number);
      out.push_back(fmt::format("[{0}, {0}]", number));
      if (arg.per_sample) out.push_back(fmt::format("fn.stack({0}, {0})", drawn(number)));
    }
    out.insert(out.end(), {"[]", "[1.0] * 3", "[1] * 9", "\"word\"", "[\"word\"]", "[[1, 2], [3]]"});
    if (arg.per_sample) out.emplace_back("fn.random.uniform(range=[0.0, 9.0], shape=[7])");
  } else {
    out = kWords;
  }
  return out;
}

/// Where the call of an operator has its arguments in a text: behind the bracket, up to the one that closes it.
struct Span {
  size_t begin = std::string::npos, end = 0;
};
Span arguments_of(const std::string& text, const std::string& name) {
  const std::string head = "fn." + name + "(";
  const size_t at = text.find(head);
  if (at == std::string::npos) return {};
  Span span{at + head.size(), at + head.size()};
  for (int depth = 1; span.end < text.size(); ++span.end) {
    const char c = text[span.end];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0) return span;
  }
  return {};
}

/// The arguments of a call, taken apart at the commas between them.
std::vector<std::string> apart(const std::string& arguments) {
  std::vector<std::string> out;
  int depth = 0;
  std::string one;
  for (const char c : arguments) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(one);
      one.clear();
    } else if (!one.empty() || (c != ' ' && c != '\n')) {
      one += c;
    }
  }
  if (!one.empty()) out.push_back(one);
  return out;
}

struct BadCase {
  const op::Operator* op;
  const op::ArgSpec* arg;
  std::string value;

  std::string text() const {
    std::string body = "    " + op->example;
    for (size_t at = 0; (at = body.find('\n', at)) != std::string::npos && at + 1 < body.size(); ++at)
      body.insert(at + 1, "    ");
    const Span span = arguments_of(body, op->name);
    std::vector<std::string> all = apart(body.substr(span.begin, span.end - span.begin));
    std::erase_if(all, [&](const std::string& one) { return one.starts_with(arg->name + "="); });
    all.push_back(fmt::format("{}={}", arg->name, value));
    body.replace(span.begin, span.end - span.begin, fmt::format("{}", fmt::join(all, ", ")));
    return "from nvidia.dali import pipeline_def, fn, types, math\n\n\n"
           "@pipeline_def(batch_size=4, num_threads=1, seed=3, memory_limit=1 << 28)\ndef pipe(data: str):\n" +
           body;
  }
};

std::vector<BadCase> bad_cases() {
  std::vector<BadCase> out;
  for (const auto& op : product().registry.all()) {
    if (op->internal || arguments_of(op->example, op->name).begin == std::string::npos) continue;
    for (const op::ArgSpec& arg : op->args) {
      if (arg.no_effect || !arg.refused.empty()) continue;
      for (std::string& value : bad_values(arg)) out.push_back({op.get(), &arg, std::move(value)});
    }
  }
  return out;
}

TEST(BadArguments, AreToldOrHarmless) {
  const std::vector<BadCase> all = bad_cases();
  const std::string data = sample_folder("bad_arguments").string();
  const int64_t number = cases(std::ssize(all) / 4, 50);
  // Of few cases each run takes them from everywhere.
  constexpr size_t kStep = 7919;
  for (int64_t i = 0; i < number; ++i) {
    const BadCase& one = all[static_cast<size_t>(i) * kStep % all.size()];
    SCOPED_TRACE(one.text());
    // What only a bug can cause is thrown, or found in the program.
    PipelineOutcome outcome;
    EXPECT_NO_THROW(outcome = judged(one.text(), 1, data));
    EXPECT_EQ((outcome.staging + outcome.error).find("malformed program"), std::string::npos)
        << outcome.error;
  }
}

/// Of a batch of images, `call` with a number that is infinite or none in the place of {}.
void expect_told(const std::string& call, const std::vector<std::string>& numbers) {
  for (const std::string& number : numbers) {
    const std::string made = fmt::format(fmt::runtime(call), number);
    const PipelineOutcome outcome = judged(
        "from nvidia.dali import pipeline_def, fn, types\n\n\n"
        "@pipeline_def(batch_size=4, num_threads=1, seed=3)\ndef pipe():\n"
        "    x = fn.external_source(name=\"image\", dtype=types.UINT8, layout=\"HWC\", shape=[-1, -1, 3])\n"
        "    return " +
            made + "\n",
        1);
    EXPECT_NE((outcome.staging + outcome.error).find("must be finite"), std::string::npos)
        << made << outcome.staging << outcome.error;
  }
}
const std::vector<std::string> kInText = {"float(\"nan\")", "float(\"inf\")"};
const std::vector<std::string> kInSamples = {drawn(kInText[0]), drawn(kInText[1])};

/// Places that are no place move nothing: numbers that are infinite or none are the sample's error, or the text's.
TEST(BadArguments, NoPlaceIsTold) {
  for (const char* call :
       {"fn.crop(x, crop=[{}, 4])", "fn.crop(x, crop_h={}, crop_w=4)",
        "fn.slice(x, rel_start=[{}], rel_shape=[0.5], axes=[0])",
        "fn.slice(x, rel_start=[0.1], rel_end=[{}], axes=[0])",
        "fn.erase(x, anchor=[{}], shape=[0.5], axes=[0])", "fn.erase(x, shape=[{}], axes=[0])",
        "fn.tensor_resize(x, sizes=[4, 4], axes=[0, 1], alignment={})", "fn.grid_mask(x, shift_x={})",
        "fn.warp_affine(x, fn.transforms.crop(from_end=[{}, 4]))",
        "fn.warp_affine(x, fn.transforms.shear(shear=[0.5, {}]))",
        "fn.warp_affine(x, fn.transforms.scale(scale=[1, 2], center=[{}, 4]))"}) {
    expect_told(call, kInText);
    expect_told(call, kInSamples);
  }
}

/// Nor do factors and sums that are none leave an image. (What fills, and bounds that nothing reaches, may be.)
TEST(BadArguments, NoFactorIsTold) {
  for (const char* call : {"fn.hue(x, hue={})",
                           "fn.saturation(x, saturation={})",
                           "fn.hsv(x, value={})",
                           "fn.color_twist(x, brightness={})",
                           "fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit={})",
                           "fn.grid_mask(x, ratio={})",
                           "fn.laplacian(x, scale={})",
                           "fn.noise.gaussian(x, mean={})",
                           "fn.noise.gaussian(x, stddev={})",
                           "fn.random.normal(mean={})",
                           "fn.random.normal(stddev={})",
                           "fn.segmentation.random_object_bbox(x, foreground_prob={})",
                           "fn.preemphasis_filter(x, preemph_coeff={})",
                           "fn.crop_mirror_normalize(x, mean=[{}])",
                           "fn.crop_mirror_normalize(x, std=[{}])",
                           "fn.brightness(x, brightness={})",
                           "fn.brightness(x, brightness_shift={})",
                           "fn.contrast(x, contrast={})",
                           "fn.contrast(x, contrast_center={})",
                           "fn.brightness_contrast(x, brightness={})"}) {
    expect_told(call, kInText);
    expect_told(call, kInSamples);
  }
  for (const char* call :
       {"fn.crop_mirror_normalize(x, scale={})", "fn.crop_mirror_normalize(x, shift={})",
        "fn.normalize(x, scale={})", "fn.normalize(x, shift={})", "fn.normalize(x, epsilon={})",
        "fn.to_decibels(fn.cast(x, dtype=types.FLOAT), multiplier={})",
        "fn.to_decibels(fn.cast(x, dtype=types.FLOAT), reference={})",
        "fn.to_decibels(fn.cast(x, dtype=types.FLOAT), cutoff_db={})",
        "fn.mfcc(fn.cast(x, dtype=types.FLOAT), lifter={})",
        "fn.mel_filter_bank(fn.reshape(fn.cast(x, dtype=types.FLOAT), layout=\"ftC\"), freq_high={})",
        "fn.mel_filter_bank(fn.reshape(fn.cast(x, dtype=types.FLOAT), layout=\"ftC\"), sample_rate={})"})
    expect_told(call, kInText);
}

/// Of the examples of operators, every number that may be none, and why.
const std::map<std::string, std::set<std::string>> kNotTold = {
    {"fills, and what fills may be no number",
     {"galatea.spec_augment mask_value", "noise.salt_and_pepper pepper_val", "noise.salt_and_pepper salt_val",
      "pad fill_value"}},
    {"places nothing: the example has no window, or no depth",
     {"crop crop_pos_z", "crop_mirror_normalize crop_pos_x", "crop_mirror_normalize crop_pos_y",
      "crop_mirror_normalize crop_pos_z", "decoders.image_crop crop_pos_z",
      "fast_resize_crop_mirror crop_pos_z", "resize_crop_mirror crop_pos_z"}},
    {"the example gives the size otherwise, and has no depth: as of `resize`, whose numbers are told",
     {"fast_resize_crop_mirror resize_longer", "fast_resize_crop_mirror resize_x",
      "fast_resize_crop_mirror resize_y", "fast_resize_crop_mirror resize_z", "fast_resize_crop_mirror size",
      "resize_crop_mirror resize_longer", "resize_crop_mirror resize_x", "resize_crop_mirror resize_y",
      "resize_crop_mirror resize_z", "resize_crop_mirror size", "readers.video_resize resize_longer",
      "readers.video_resize resize_shorter"}},
    {"the example reads sound, which the folder has none of: NoFactorIsTold",
     {"audio_resample in_rate", "audio_resample out_rate"}}};

TEST(BadArguments, NoNumberOfASampleIsLost) {
  const std::string data = sample_folder("bad_arguments").string();
  std::map<std::string, std::string> lost;
  for (const auto& op : product().registry.all()) {
    if (op->internal || arguments_of(op->example, op->name).begin == std::string::npos) continue;
    for (const op::ArgSpec& arg : op->args) {
      const bool is_list = arg.kind == ArgKind::kFloatList;
      if (!arg.per_sample || arg.no_effect || !arg.refused.empty()) continue;
      if (arg.kind != ArgKind::kFloat && !is_list) continue;
      const std::string none = drawn(kNumbers[0]);
      std::vector<std::string> forms;
      for (int n = 2; is_list && n <= 9; ++n)
        if (n <= 4 || n == 6 || n == 9)
          forms.push_back(fmt::format("fn.stack({})", fmt::join(std::vector<std::string>(n, none), ", ")));
      forms.push_back(is_list ? fmt::format("fn.stack({})", none) : none);
      std::string said;
      bool told = false;
      for (const std::string& form : forms) {
        const PipelineOutcome outcome = judged(BadCase{op.get(), &arg, form}.text(), 1, data);
        said = outcome.staging + outcome.error;
        told = said.find("finite") != std::string::npos || said.find("nan") != std::string::npos;
        if (told || said.empty()) break;
      }
      if (!told) lost.emplace(op->name + " " + arg.name, said);
    }
  }
  for (const auto& [why, names] : kNotTold)
    for (const std::string& name : names) EXPECT_EQ(lost.erase(name), 1U) << name << " is told: " << why;
  for (const auto& [name, said] : lost) ADD_FAILURE() << name << ": " << said;
}

/// Each was a crash, all of the memory, or a fault of the program that is made.
TEST(BadArguments, WhatIsTooManyOrNoneIsTold) {
  const std::pair<const char*, const char*> cases[] = {
      {"fn.crop(x, crop=[30, 30], out_of_bounds_policy=\"pad\", fill_values=[])", "fill_values is empty"},
      {"fn.mel_filter_bank(fn.cast(x, dtype=types.FLOAT), nfilter=2147483648)", "from 1 to 65536"},
      {"fn.spectrogram(fn.cast(x[0, :, 0], dtype=types.FLOAT), window_step=9223372036854775807)",
       "window_step is 9223372036854775807, at most"},
      {"fn.random.uniform(shape=[9223372036854775807, 9223372036854775807])",
       "random.uniform: a tensor of extents [9223372036854775807, 9223372036854775807] is beyond any memory"},
      {"fn.ones(shape=[4194304, 4194305])", "ones: a tensor of extents [4194304, 4194305] is beyond"},
      {"fn.one_hot(x, num_classes=9223372036854775807)", "it is too large"},
      {"fn.one_hot(1, num_classes=9223372036854775807)",
       "extents [9223372036854775807] is beyond any memory"},
      {"fn.reductions.sum(fn.ones(shape=fn.stack(fn.random.coin_flip() * 0 + 2147483647, 2147483647)))",
       "elements is beyond any memory"}};
  for (const auto& [call, words] : cases) {
    const PipelineOutcome outcome =
        judged(fmt::format("from nvidia.dali import pipeline_def, fn, types\n\n\n"
                           "@pipeline_def(batch_size=4, num_threads=1, seed=3)\ndef pipe():\n"
                           "    x = fn.external_source(name=\"image\", dtype=types.UINT8, layout=\"HWC\", "
                           "shape=[-1, -1, 3])\n"
                           "    x = fn.reshape(x, layout=\"{}\")\n    return {}\n",
                           std::string_view(call).starts_with("fn.mel") ? "ftC" : "HWC", call),
               1);
    EXPECT_NE((outcome.staging + outcome.error).find(words), std::string::npos)
        << call << outcome.staging << outcome.error;
  }
}

}  // namespace
}  // namespace galatea::testing
