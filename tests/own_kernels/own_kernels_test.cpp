// Kernels of the user's own (galatea.cuda_kernel), on every backend of the CPU, against numbers that the test
// computes; tests/gpu/own_kernels_test.cpp runs them on a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "tests/pixel/everywhere.h"

namespace galatea {
namespace {

using testing::Array;
using testing::Feed;
using testing::Outputs;
using testing::random_array;
using testing::run_everywhere;

/// A kernel `own`, and a pipeline whose lines call it.
std::string pipeline(const std::string& declaration, const std::string& text, const std::string& lines) {
  return "import galatea\nfrom galatea import fn, pipeline_def, types\n\nown = galatea.cuda_kernel(name=\"own\", " +
         declaration + ", source=\"\"\"\n" + text + "\"\"\")\n\n@pipeline_def(batch_size=8)\ndef p():\n" +
         lines;
}

std::string input(const std::string& name, const std::string& dtype, const std::string& more) {
  return "    " + name + " = fn.external_source(name=\"" + name + "\", dtype=types." + dtype + ", " + more +
         ")\n";
}

Array numbers(const std::vector<double>& values, std::vector<int64_t> extents) {
  Array out = random_array(DType::kF32, std::move(extents), 1);
  out.values = values;
  for (size_t k = 0; k < values.size(); ++k)
    store_cell(DType::kF32, &out.bytes[4 * k], cell_from_double(DType::kF32, values[k]));
  return out;
}

TEST(OwnKernels, EveryElementTypeAndTheDefaultLaunch) {
  const std::pair<const char*, const char*> kTypes[] = {
      {"UINT8", "uint8_t"},   {"INT8", "int8_t"},    {"UINT16", "uint16_t"}, {"INT16", "int16_t"},
      {"UINT32", "uint32_t"}, {"INT32", "int32_t"},  {"UINT64", "uint64_t"}, {"INT64", "int64_t"},
      {"FLOAT", "float"},     {"FLOAT64", "double"}, {"BOOL", "bool"}};
  std::string text = "import galatea\nfrom galatea import fn, pipeline_def, types\n\n", body, outputs;
  for (const auto& [dali, c] : kTypes) {
    const std::string name = std::string("k_") + c;
    const DType dtype = *dtype_from_types_name(dali);
    const std::string of = std::string(short_name(dtype));
    text +=
        name + " = galatea.cuda_kernel(name=\"own\", inputs=\"x: " + of + "[n, m]\", outputs=\"y: " + of +
        "[m, n]\", source=\"\"\"\n__global__ void own(galatea::Tensor<const " + c +
        ", 2> x, galatea::Tensor<" + c +
        ", 2> y) {\n  long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n" +
        "  if (k < y.size()) y(k / y.extent(1), k % y.extent(1)) = x(k % y.extent(1), k / y.extent(1));\n}\n" +
        "\"\"\")\n";
    body += input(name + "_in", dali, "ndim=2");
    outputs += name + "(" + name + "_in), ";
  }
  text += "\n@pipeline_def(batch_size=8)\ndef p():\n" + body + "    return " + outputs + "\n";
  Feed feed;
  uint64_t seed = 0;
  for (const auto& [dali, c] : kTypes) {
    const DType dtype = *dtype_from_types_name(dali);
    for (const auto& extents : {std::vector<int64_t>{19, 31}, {1, 1}, {0, 5}, {300, 2}})
      feed[std::string("k_") + c + "_in"].push_back(random_array(dtype, extents, ++seed));
  }
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), std::size(kTypes));
  for (size_t k = 0; k < found.size(); ++k) {
    const auto& given = feed[std::string("k_") + kTypes[k].second + "_in"];
    for (size_t s = 0; s < given.size(); ++s) {
      const int64_t n = given[s].extents[0], m = given[s].extents[1];
      ASSERT_EQ(found[k][s].extents, (std::vector<int64_t>{m, n}));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < m; ++j)
          ASSERT_EQ(found[k][s].values[static_cast<size_t>(j * n + i)],
                    given[s].values[static_cast<size_t>(i * m + j)])
              << kTypes[k].first;
    }
  }
}

// A window and a mirror of an image reach the kernel as strides, without a copy.
TEST(OwnKernels, ReadThroughStrides) {
  const std::string text = pipeline(
      R"(inputs="image: u8[h, w, c] HWC", outputs=["sums: i32[h]", "dense: i32[]"], launch="<<<h, 1>>>")",
      R"(__global__ void own(galatea::Tensor<const uint8_t, 3> image, galatea::Tensor<int, 1> sums,
                    galatea::Tensor<int, 0> dense) {
  int sum = 0;
  for (int x = 0; x < image.extent(1); ++x)
    for (int c = 0; c < image.extent(2); ++c) sum += (x + 1) * image(blockIdx.x, x, c);
  sums(blockIdx.x) = sum;
  if (blockIdx.x == 0) dense() = image.is_dense();
}
)",
      input("image", "UINT8", "layout=\"HWC\"") +
          "    a = own(image[2:7, 1:4])\n    b = own(fn.flip(image))\n    return a[0], a[1], b[0], b[1]\n");
  const Feed feed = {
      {"image", {random_array(DType::kU8, {9, 6, 3}, 1), random_array(DType::kU8, {8, 5, 2}, 2)}}};
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 4u);
  for (size_t s = 0; s < 2; ++s) {
    const Array& image = feed.at("image")[s];
    const int64_t h = image.extents[0], w = image.extents[1], c = image.extents[2];
    const auto sum_of = [&](int64_t y, int64_t from, int64_t to, bool is_turned) {
      double sum = 0;
      for (int64_t x = from; x < to; ++x)
        for (int64_t k = 0; k < c; ++k)
          sum += static_cast<double>(x - from + 1) *
                 image.values[static_cast<size_t>((y * w + (is_turned ? w - 1 - x : x)) * c + k)];
      return sum;
    };
    for (int64_t y = 2; y < 7; ++y)
      EXPECT_EQ(found[0][s].values[static_cast<size_t>(y - 2)], sum_of(y, 1, 4, false));
    for (int64_t y = 0; y < h; ++y)
      EXPECT_EQ(found[2][s].values[static_cast<size_t>(y)], sum_of(y, 0, w, true));
  }
}

// Threads that wait for each other, shared memory, atomics, and threads that leave before the others.
TEST(OwnKernels, BarriersAndSharedMemory) {
  const std::string text = pipeline(
      R"(inputs="x: i32[n]", outputs=["turned: i32[n]", "total: i32[1]"], launch="<<<ceil_div(max(n, 1), 96), (48, 2)>>>")",
      R"(__global__ void own(galatea::Tensor<const int, 1> x, galatea::Tensor<int, 1> turned,
                    galatea::Tensor<int, 1> total) {
  __shared__ int part[96];
  __shared__ int sum;
  int n = x.extent(0), t = threadIdx.y * blockDim.x + threadIdx.x, first = blockIdx.x * 96;
  int count = min(n - first, 96);
  if (t == 0) sum = 0;
  if (t < count) part[t] = x(first + t);
  __syncthreads();
  if (t >= count) return;
  atomicAdd(&sum, part[t]);
  // Turned within the block.
  turned(first + t) = part[count - 1 - t];
  __syncthreads();
  if (t == 0 && blockIdx.x == 0) total(0) = sum;
}
)",
      input("x", "INT32", "ndim=1") + "    a, b = own(x)\n    return a, b\n");
  Feed feed;
  for (const int64_t n : {1, 95, 96, 97, 200})
    feed["x"].push_back(random_array(DType::kI32, {n}, static_cast<uint64_t>(n)));
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 2u);
  for (size_t s = 0; s < feed["x"].size(); ++s) {
    const Array& x = feed["x"][s];
    int32_t sum = 0;
    for (size_t k = 0; k < x.values.size(); ++k) {
      const size_t first = k / 96 * 96, count = std::min<size_t>(x.values.size() - first, 96);
      EXPECT_EQ(found[0][s].values[k], x.values[first + count - 1 - (k - first)]);
      if (k < 96) sum += static_cast<int32_t>(x.values[k]);
    }
    EXPECT_EQ(found[1][s].values[0], sum);
  }
}

// Where each thread says that it is: three dimensions of blocks and of threads, CUDA's order.
TEST(OwnKernels, BlocksAndThreads) {
  const std::string text = pipeline(
      R"(inputs="n: i32", outputs="at: i32[2 * 3 * n, 24, 8]", launch="<<<dim3(2, 3, n), (4, 3, 2)>>>")",
      R"(__global__ void own(int n, galatea::Tensor<int32_t, 3> at) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int values[] = {(int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z, (int)threadIdx.x,
                  (int)threadIdx.y, (int)threadIdx.z, (int)gridDim.z, n};
  for (int k = 0; k < 8; ++k) at(block, thread, k) = values[k];
}
)",
      input("n", "INT32", "ndim=0") + "    return own(n), own(2)\n");
  Feed feed;
  for (const int32_t n : {1, 5}) {
    Array array = random_array(DType::kI32, {}, 1);
    store_cell(DType::kI32, array.bytes.data(), cell_from_int(DType::kI32, n));
    feed["n"].push_back(array);
  }
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 2u);
  for (size_t s = 0; s < 2; ++s)
    for (const auto& [output, n] : {std::pair<size_t, int64_t>{0, s == 0 ? 1 : 5}, {1, 2}}) {
      const Array& at = found[output][s];
      ASSERT_EQ(at.extents, (std::vector<int64_t>{6 * n, 24, 8}));
      for (int64_t block = 0; block < 6 * n; ++block)
        for (int64_t thread = 0; thread < 24; ++thread) {
          const std::vector<double> wanted = {static_cast<double>(block % 2),
                                              static_cast<double>(block / 2 % 3),
                                              static_cast<double>(block / 6),
                                              static_cast<double>(thread % 4),
                                              static_cast<double>(thread / 4 % 3),
                                              static_cast<double>(thread / 12),
                                              static_cast<double>(n),
                                              static_cast<double>(n)};
          const auto first = at.values.begin() + (block * 24 + thread) * 8;
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), first)) << block << " " << thread;
        }
    }
}

// A fused producer, a reader of one element, an arm of an `if`: what stands around a kernel.
TEST(OwnKernels, AmongOtherOperators) {
  const std::string text = pipeline(
      R"(inputs=["x: f32[n]", "by: f32"], outputs="y: f32[n]")",
      R"(__global__ void own(galatea::Tensor<const float, 1> x, float by, galatea::Tensor<float, 1> y) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < x.extent(0)) y(k) = x(k) * by;
}
)",
      input("x", "FLOAT", "ndim=1") +
          "    y = own(x + 1.0, fn.reductions.max(x)) - 2.0\n    z = x\n"
          "    if x[0] > 0.0:\n        z = own(x, 3)\n    return y, z, own(x, 2.0)[0]\n");
  const Feed feed = {{"x", {numbers({1, 2, 3}, {3}), numbers({-1, 4}, {2})}}};
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0][0].values, (std::vector<double>{4, 7, 10}));
  EXPECT_EQ(found[0][1].values, (std::vector<double>{-2, 18}));
  EXPECT_EQ(found[1][0].values, (std::vector<double>{3, 6, 9}));
  EXPECT_EQ(found[1][1].values, (std::vector<double>{-1, 4}));
  EXPECT_EQ(found[2][0].values, (std::vector<double>{2}));
}

/// The kernel of an example, in a pipeline of these lines.
std::string example(const std::string& name, const std::string& lines) {
  std::ifstream in(std::string(GALATEA_SOURCE_DIR) + "/examples/" + name + ".dali-dsl");
  std::stringstream text;
  text << in.rdbuf();
  return "from galatea import types\n" + text.str().substr(0, text.str().find("@pipeline_def")) +
         "@pipeline_def(batch_size=8)\ndef p():\n" + lines;
}

// The warp of the examples is fn.warp_affine's, whose numbers other tests hold to its formula, but for the
// rounding of weights.
TEST(OwnKernels, TheWarpOfTheExamples) {
  const std::string text = example(
      "12_custom_warp", input("image", "UINT8", "layout=\"HWC\"") +
                            "    turn = fn.transforms.rotation(angle=30.0, center=[8.0, 5.0])\n"
                            "    return warp(image, turn, 42.0), fn.warp_affine(image, turn, fill_value=42.0,"
                            " inverse_map=True)\n");
  const Feed feed = {{"image",
                      {random_array(DType::kU8, {19, 33, 3}, 1), random_array(DType::kU8, {1, 1, 1}, 2),
                       random_array(DType::kU8, {7, 40, 5}, 3)}}};
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 2u);
  for (size_t s = 0; s < 3; ++s) {
    ASSERT_EQ(found[0][s].extents, found[1][s].extents);
    for (size_t k = 0; k < found[0][s].values.size(); ++k)
      ASSERT_LE(std::abs(found[0][s].values[k] - found[1][s].values[k]), 1) << s << " " << k;
  }
}

// Greedy suppression as it is defined: the best of those left is kept, those that overlap it leave.
std::vector<double> suppressed(const Array& boxes, const Array& scores, float threshold) {
  const size_t n = scores.values.size();
  std::vector<size_t> left(n);
  std::iota(left.begin(), left.end(), size_t{0});
  const auto side = [&](size_t box, size_t k) { return static_cast<float>(boxes.values[4 * box + k]); };
  const auto area = [&](size_t box) { return (side(box, 2) - side(box, 0)) * (side(box, 3) - side(box, 1)); };
  std::vector<double> kept;
  while (!left.empty()) {
    const size_t best = *std::ranges::max_element(left, {}, [&](size_t k) { return scores.values[k]; });
    kept.push_back(static_cast<double>(best));
    std::erase_if(left, [&](size_t k) {
      const float w = std::min(side(k, 2), side(best, 2)) - std::max(side(k, 0), side(best, 0));
      const float h = std::min(side(k, 3), side(best, 3)) - std::max(side(k, 1), side(best, 1));
      const float both = std::max(w, 0.0F) * std::max(h, 0.0F);
      return k == best || both / (area(k) + area(best) - both) > threshold;
    });
  }
  return kept;
}

TEST(OwnKernels, TheSuppressionOfTheExamples) {
  const std::string text = example(
      "13_custom_nms", input("corner", "FLOAT", "ndim=2") + input("scores", "FLOAT", "ndim=1") +
                           "    boxes = fn.cat(corner * 40.0, corner * 40.0 + 25.0, axis=1)\n"
                           "    kept, count = nms(boxes, scores, 0.4)\n    return kept, count, boxes\n");
  Feed feed;
  uint64_t seed = 0;
  for (const int64_t n : {1, 2, 40, 130}) {
    feed["corner"].push_back(random_array(DType::kF32, {n, 2}, ++seed));
    feed["scores"].push_back(random_array(DType::kF32, {n}, ++seed));
  }
  const Outputs found = run_everywhere(text, feed);
  ASSERT_EQ(found.size(), 3u);
  for (size_t s = 0; s < feed["scores"].size(); ++s) {
    std::vector<double> wanted = suppressed(found[2][s], feed["scores"][s], 0.4F);
    const size_t room = std::min<size_t>(feed["scores"][s].values.size(), 20);
    if (wanted.size() > room) wanted.resize(room);
    EXPECT_EQ(found[1][s].values, std::vector<double>{static_cast<double>(wanted.size())});
    wanted.resize(room, -1);
    EXPECT_EQ(found[0][s].values, wanted);
  }
}

}  // namespace
}  // namespace galatea
