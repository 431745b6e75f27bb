// multi_paste against a loop over its regions.
#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

struct Placed {
  int64_t from[2], shape[2], to[2];
};

Numbers pasted(const std::vector<Tensor>& images, const std::vector<Placed>& regions, int64_t height,
               int64_t width) {
  const int64_t channels = images[0].extents[2];
  Numbers out(static_cast<size_t>(height * width * channels), 0);
  for (size_t k = 0; k < regions.size(); ++k)
    for (int64_t y = 0; y < regions[k].shape[0]; ++y)
      for (int64_t x = 0; x < regions[k].shape[1]; ++x)
        for (int64_t c = 0; c < channels; ++c)
          out[static_cast<size_t>(((y + regions[k].to[0]) * width + x + regions[k].to[1]) * channels + c)] =
              images[k][static_cast<size_t>(
                  ((y + regions[k].from[0]) * images[k].extents[1] + x + regions[k].from[1]) * channels + c)];
  return out;
}

TEST(MultiPaste, LaterRegionsCoverEarlierOnes) {
  for (const DType type : {DType::kU8, DType::kI16, DType::kI32, DType::kF32})
    for (const bool known : {false, true}) {
      const std::vector<Tensor> images = {random_tensor(type, {4, 5, 2}, "HWC", 1),
                                          random_tensor(type, {3, 6, 2}, "HWC", 2),
                                          random_tensor(type, {1, 1, 2}, "HWC", 3)};
      OpRun run("multi_paste");
      for (const Tensor& image : images) known ? run.fixed(image) : run.input(image);
      run.arg("output_size", std::vector<int64_t>{7, 8})
          .arg("in_anchors", tensor(DType::kI32, {3, 2}, {1, 0, 0, 2, 0, 0}))
          .arg("shapes", std::vector<int64_t>{3, 4, 2, 4, 1, 1})
          .arg("out_anchors", tensor(DType::kI32, {3, 2}, {0, 1, 2, 3, 6, 7}));
      const Tensor out = run.result();
      EXPECT_EQ(out.extents, (std::vector<int64_t>{7, 8, 2}));
      EXPECT_EQ(out.numbers(),
                pasted(images, {{{1, 0}, {3, 4}, {0, 1}}, {{0, 2}, {2, 4}, {2, 3}}, {{0, 0}, {1, 1}, {6, 7}}},
                       7, 8));
    }
}

TEST(MultiPaste, ASampleMayBeItsOwnSource) {
  const Tensor image = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 1);
  OpRun run("multi_paste.source");
  run.input(image).arg("in_ids", std::vector<int64_t>{0}).arg("region", int64_t{0});
  expect_near(run.result(), image.numbers(), 0);
}

TEST(MultiPaste, FractionsOfExtents) {
  const Tensor image = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 1);
  const Tensor out = OpRun("multi_paste")
                         .input(image)
                         .arg("output_size", tensor(DType::kI32, {2}, {8, 9}))
                         .arg("in_anchors_rel", std::vector<double>{0.3, 0.3})
                         .arg("shapes_rel", std::vector<double>{0.5, 0.5})
                         .arg("out_anchors_rel", std::vector<double>{0.35, 0.4})
                         .result();
  EXPECT_EQ(out.numbers(), pasted({image}, {{{1, 1}, {2, 3}, {2, 3}}}, 8, 9));
}

/// Of these images as many regions as places are given, with anchors in the output.
OpRun counted(const std::vector<Tensor>& images, int64_t places, const Numbers& anchors) {
  OpRun run("multi_paste.counted");
  for (const Tensor& image : images) run.input(image);
  run.arg("output_size", std::vector<int64_t>{9, 8})
      .fed_arg("in_ids", tensor(DType::kI32, {places}, Numbers(static_cast<size_t>(places), 0)))
      .fed_arg("out_anchors", tensor(DType::kI32, {std::ssize(anchors)}, anchors));
  return run;
}

TEST(MultiPaste, AsManyRegionsAsTheSampleSays) {
  std::vector<Tensor> images;
  for (uint64_t k = 0; k < 16; ++k) images.push_back(random_tensor(DType::kU8, {4, 5, 2}, "HWC", k));
  for (size_t places : {0, 1, 3, 16}) {
    std::vector<Placed> regions;
    Numbers anchors;
    for (size_t k = 0; k < places; ++k) {
      const auto y = static_cast<int64_t>(k % 6), x = static_cast<int64_t>(k % 4);
      regions.push_back({{0, 0}, {4, 5}, {y, x}});
      anchors.insert(anchors.end(), {static_cast<double>(y), static_cast<double>(x)});
    }
    EXPECT_EQ(counted(images, static_cast<int64_t>(places), anchors).result().numbers(),
              pasted(images, regions, 9, 8))
        << places;
  }
  EXPECT_PRED2(says, counted(images, 17, Numbers(34, 0)).failure(), "in_ids has 17 places, up to 16");
  EXPECT_PRED2(says, counted(images, 2, {0, 0, 1}).failure(),
               "out_anchors has 3 numbers, and 2 regions take two each");
  EXPECT_PRED2(says, counted(images, 2, {0, 0, 6, 0}).failure(), "region 1 is put at 6 of 9 rows");
}

TEST(MultiPaste, RefusesWhatCannotBe) {
  const Tensor image = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 1);
  const auto with = [&](const char* name, std::vector<int64_t> values) {
    return OpRun("multi_paste")
        .input(image)
        .arg("output_size", std::vector<int64_t>{8, 8})
        .arg(name, values)
        .failure();
  };
  EXPECT_TRUE(says(with("in_anchors", {5, 0}), "region 0 begins at 5 of 4 rows"));
  EXPECT_TRUE(says(with("in_anchors", {0, -1}), "region 0 begins at -1 of 5 columns"));
  EXPECT_TRUE(says(with("shapes", {1, 6}), "and has 6"));
  EXPECT_TRUE(says(with("out_anchors", {5, 0}), "region 0 is put at 5 of 8 rows"));
  EXPECT_TRUE(says(with("out_anchors", {INT64_MAX, 0}), "region 0 is put at"));
  EXPECT_TRUE(says(with("out_anchors", {1, 2, 3}), "out_anchors has 3 numbers"));
  EXPECT_TRUE(
      says(OpRun("multi_paste").input(image).arg("output_size", std::vector<int64_t>{-1, 8}).failure(),
           "output_size has -1"));
  EXPECT_TRUE(says(OpRun("multi_paste").input(image).arg("output_size", std::vector<int64_t>{8}).failure(),
                   "is a height and a width"));
  const Tensor with_channels =
      OpRun("multi_paste").input(image).arg("output_size", std::vector<int64_t>{8, 9, 3}).result();
  EXPECT_EQ(with_channels.extents[0], 8);
  EXPECT_EQ(with_channels.extents[1], 9);
  EXPECT_TRUE(says(OpRun("multi_paste").input(image).arg("shapes_rel", std::vector<double>{1.5, 0}).failure(),
                   "shapes_rel has 1.5"));
  EXPECT_TRUE(
      says(OpRun("multi_paste").input(image).input(random_tensor(DType::kU8, {4, 4, 3}, "HWC", 1)).failure(),
           "image 0 has 5 columns, image 1 has 4"));
  EXPECT_TRUE(
      says(OpRun("multi_paste").input(image).input(image).arg("in_ids", std::vector<int64_t>{0}).failure(),
           "one input"));
  EXPECT_TRUE(says(OpRun("multi_paste").input(image).arg("in_ids", std::vector<int64_t>{-1}).failure(),
                   "no place in a batch"));
  EXPECT_TRUE(says(OpRun("multi_paste").input(image).arg("shapes", std::vector<double>{0.5, 1}).failure(),
                   "shapes takes a list of integers"));
  EXPECT_TRUE(says(OpRun("multi_paste").input(image).arg("shapes_rel", std::string("all")).failure(),
                   "shapes_rel takes a list of numbers"));
}

}  // namespace
}  // namespace galatea::ops_test
