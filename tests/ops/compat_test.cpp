// Presets (`compat=`): what is refused, and in which words; arguments per sample. That the numbers are those of
// the libraries, tests/oracle/peers_test.cpp holds.
#include <gtest/gtest.h>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

Tensor picture() { return random_tensor(DType::kU8, {9, 14, 3}, Layout("HWC"), 1); }

OpRun call(const std::string& op, const std::string& preset) {
  OpRun run(op);
  run.input(picture()).arg("compat", ir::Attr(preset));
  return run;
}

OpRun resized(const std::string& preset) {
  return call("resize", preset).arg("size", ir::Attr(std::vector<double>{5, 6}));
}

TEST(Compat, DaliIsWhatHoldsWithoutIt) {
  OpRun plain("resize");
  plain.input(picture()).arg("size", ir::Attr(std::vector<double>{5, 6}));
  EXPECT_EQ(resized("dali").result().cells, plain.result().cells);
  EXPECT_NE(resized("pil").result().cells, plain.result().cells);
  EXPECT_NE(resized("opencv").result().cells, resized("pil").result().cells);
}

TEST(Compat, UnknownNamesAndPresetsWithoutAMeaningAreErrors) {
  EXPECT_TRUE(says(resized("pillow").failure(), "names no preset"));
  EXPECT_TRUE(says(call("flip", "pil").failure(), "the same numbers whatever the preset"));
  EXPECT_TRUE(says(call("brightness", "opencv").failure(), "OpenCV has no such operation"));
  EXPECT_TRUE(says(call("hsv", "pil").failure(), "fn.color_twist has presets"));
  EXPECT_TRUE(says(call("laplacian", "opencv").failure(), "cannot give OpenCV's numbers"));
}

TEST(Compat, ArgumentsWithoutACounterpartAreErrors) {
  const auto filter = [](OpRun run, int64_t number) {
    return run.arg("interp_type", ir::Attr(number)).failure();
  };
  EXPECT_TRUE(says(filter(resized("torchvision"), 3), "does not have that filter"));
  EXPECT_TRUE(says(filter(resized("opencv"), 7), "does not have that filter"));
  EXPECT_TRUE(says(filter(resized("dali"), 6), "neither INTERP_BOX nor INTERP_HAMMING"));
  EXPECT_TRUE(says(resized("pil").arg("antialias", ir::Attr(false)).failure(), "always antialiases"));
  EXPECT_TRUE(says(resized("opencv").arg("antialias", ir::Attr(true)).failure(), "does not antialias"));
  EXPECT_TRUE(says(resized("pil").arg("dtype", ir::Attr(DType::kF32)).failure(), "takes and gives UINT8"));
  EXPECT_TRUE(says(call("brightness", "pil").arg("brightness_shift", ir::Attr(0.5)).failure(),
                   "has no brightness_shift"));
  EXPECT_TRUE(
      says(call("brightness", "torchvision").arg("brightness", ir::Attr(-1.0)).failure(), "not negative"));
  EXPECT_TRUE(
      says(call("gaussian_blur", "torchvision").arg("sigma", ir::Attr(std::vector<double>{1})).failure(),
           "needs window_size"));
  EXPECT_TRUE(says(call("rotate", "opencv").arg("angle", ir::Attr(10.0)).failure(), "no canvas that grows"));
  const auto projected = [](const std::string& preset) {
    return call("experimental.warp_perspective", preset)
        .arg("matrix", ir::Attr(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  };
  EXPECT_EQ(projected("pil").result().cells, projected("opencv").result().cells) << "nothing moves";
  EXPECT_TRUE(says(filter(projected("torchvision"), 2), "does not have that filter"));
  EXPECT_TRUE(
      says(filter(call("galatea.random_perspective", "torchvision"), 2), "does not have that filter"));
  EXPECT_TRUE(says(projected("torchvision").arg("size", ir::Attr(std::vector<double>{4, 4})).failure(),
                   "the output has the extents of the image"));
  EXPECT_TRUE(says(projected("opencv").arg("border_mode", ir::Attr(std::string("wrap"))).failure(),
                   "fills what lies outside"));
  const auto cropped = [](const std::string& preset) {
    return call("random_resized_crop", preset).arg("size", ir::Attr(std::vector<int64_t>{4}));
  };
  EXPECT_TRUE(
      says(filter(cropped("opencv"), 3), "random_resized_crop under compat=\"opencv\" does not have"));
  EXPECT_TRUE(
      says(cropped("torchvision").arg("dtype", ir::Attr(DType::kF32)).failure(), "takes and gives UINT8"));
}

TEST(Compat, ChecksOfSamplesNameTheValue) {
  OpRun negative = call("brightness", "pil");
  negative.arg("brightness", scalar(DType::kF32, -2));
  EXPECT_TRUE(says(negative.failure(), "-2 is not a factor"));
  OpRun hue = call("hue", "torchvision");
  hue.arg("hue", scalar(DType::kF32, 200));
  EXPECT_TRUE(says(hue.failure(), "more than half a turn"));
  OpRun broken = call("resize", "pil");
  broken.arg("size", tensor(DType::kF32, {2}, {5.5, 6}));
  EXPECT_TRUE(says(broken.failure(), "5.5 is not the extent of an image"));
  OpRun grows = resized("opencv");
  grows.arg("interp_type", ir::Attr(int64_t{6})).arg("resize_x", ir::Attr(ir::None{}));
  EXPECT_EQ(grows.result().extents, (std::vector<int64_t>{5, 6, 3}));
  OpRun larger = call("resize", "opencv");
  larger.arg("interp_type", ir::Attr(int64_t{6})).arg("size", ir::Attr(std::vector<double>{20, 6}));
  EXPECT_TRUE(says(larger.failure(), "only shrinks here"));
  for (const char* preset : {"pil", "torchvision"}) {
    OpRun last = call("experimental.warp_perspective", preset);
    last.arg("matrix", tensor(DType::kF32, {3, 3}, {1, 0, 0, 0, 1, 0, 0.125, 0, 0}));
    EXPECT_TRUE(says(last.failure(), "the last element of the matrix is 0"));
  }
}

TEST(Compat, ArgumentsPerSampleAreTheNumbersOfTheText) {
  const auto same = [](const std::string& op, const std::string& preset, const std::string& arg,
                       double value) {
    OpRun fixed = call(op, preset), drawn = call(op, preset);
    fixed.arg(arg, ir::Attr(value));
    drawn.arg(arg, scalar(DType::kF32, value));
    if (op == "rotate")
      for (OpRun* run : {&fixed, &drawn}) run->arg("keep_size", ir::Attr(true));
    EXPECT_EQ(fixed.result().cells, drawn.result().cells) << op << " " << preset;
  };
  for (const char* preset : {"pil", "torchvision"}) {
    same("brightness", preset, "brightness", 1.5);
    same("contrast", preset, "contrast", 0.5);
    same("saturation", preset, "saturation", 0.25);
    same("hue", preset, "hue", 36);
  }
  for (const char* preset : {"pil", "torchvision", "opencv"}) same("rotate", preset, "angle", 33.25);
}

TEST(Compat, ChannelsFirstIsTheSamePicture) {
  // A picture whose channels are equal is the same in both layouts, but for the order of its elements.
  const auto grey = random_tensor(DType::kU8, {9, 14, 1}, Layout("HWC"), 2);
  for (const char* preset : {"pil", "torchvision", "opencv"}) {
    const auto run = [&](const std::string& op, const std::string& arg, const ir::Attr& value, bool first) {
      Tensor image = grey;
      if (first) image.extents = {1, 9, 14}, image.layout = Layout("CHW");
      OpRun made(op);
      made.input(image).arg(arg, value).arg("compat", ir::Attr(std::string(preset)));
      if (op == "rotate") made.arg("keep_size", ir::Attr(true));
      return made.result().cells;
    };
    const ir::Attr size = std::vector<double>{5, 6}, angle = 20.0;
    EXPECT_EQ(run("resize", "size", size, false), run("resize", "size", size, true)) << preset;
    EXPECT_EQ(run("rotate", "angle", angle, false), run("rotate", "angle", angle, true)) << preset;
  }
}

}  // namespace
}  // namespace galatea::ops_test
