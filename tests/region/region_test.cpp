// Decoding only the window that is read gives the bytes of decoding everything: every consumer, sampling and
// orientation, on every backend.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/passes/push_region_into_decode.h"
#include "runtime/session.h"
#include "tests/support/product.h"
#include "tools/draw_samples/picture.h"
#include "tools/draw_samples/scene.h"

namespace galatea {
namespace {

using testing::product;

samples::Picture noise(int width, int height) {
  samples::Picture picture = samples::make_picture(width, height, 3);
  uint32_t state = 12345;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        state = state * 1664525u + 1013904223u;
        // Smooth, with noise on it: every coefficient of the blocks is in use.
        picture.at(x, y)[c] = static_cast<uint8_t>((x * 3 + y * (c + 1)) / 2 % 200 + (state >> 28) * 3);
      }
  return picture;
}

/// Encoded photographs of all samplings and orientations, down to one pixel.
std::vector<std::vector<uint8_t>> photographs() {
  using samples::Subsampling;
  std::vector<std::vector<uint8_t>> out;
  auto add = [&](int width, int height, samples::JpegOptions options) {
    out.push_back(
        encode_jpeg(samples::stored_for_orientation(noise(width, height), options.orientation), options));
  };
  add(64, 51, {Subsampling::k420, 90});
  add(45, 57, {Subsampling::k444, 80, true});
  add(51, 60, {Subsampling::k422, 85, false, 6});
  add(58, 47, {Subsampling::k420, 85, false, 8});
  out.push_back(encode_png(noise(40, 33)));
  return out;
}

/// Bytes of every output of every sample.
std::vector<std::string> run(const std::string& text, codegen::KernelBackend* backend, bool fuse, bool passes,
                             size_t* marked) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, product().registry);
  EXPECT_TRUE(graph) << graph.error().message() << " at "
                     << sources.describe(graph.error().diagnostics[0].span);
  if (!graph) return {};
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend;
  options.fuse = fuse;
  options.run_passes = passes;
  CompileReport report;
  auto program = compile(*graph, sources, options, &report);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return {};
  *marked = 0;
  for (const ir::Node& node : report.graph->nodes)
    if (node.op && node.find_arg(passes::kRegionFromArg)) ++*marked;
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> fed;
  for (const auto& bytes : photographs()) {
    auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {static_cast<int64_t>(bytes.size())});
    EXPECT_TRUE(tensor);
    std::memcpy(tensor->data, bytes.data(), bytes.size());
    fed.push_back(*tensor);
  }
  EXPECT_TRUE((*session)->feed("encoded", fed));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  EXPECT_TRUE(batch) << batch.error().message();
  std::vector<std::string> out;
  if (!batch || !*batch) return {};
  for (const auto& output : (**batch)->outputs)
    for (const runtime::Tensor& sample : output.samples)
      out.emplace_back(reinterpret_cast<const char*>(sample.data),
                       static_cast<size_t>(sample.volume() * size_of(sample.dtype)));
  return out;
}

/// `body` reads %image; `windows` says how many decodes get a window.
void expect_equal_to_full_decode(const std::string& body, size_t windows = 1) {
  SCOPED_TRACE(body);
  std::string text =
      "pipeline @p(batch_size=5, num_threads=2, seed=5) {\n^0:\n  %encoded = external_source() {dtype=u8, "
      "ndim=1} name=\"encoded\"\n"
      "  %image = decoders.image(%encoded)\n" +
      body + "}\n";
  size_t marked = 0;
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  auto expected = run(text, judge.get(), false, false, &marked);
  ASSERT_EQ(expected.size() % 5, 0u);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(marked, 0u);
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note);
  ASSERT_TRUE(llvm);
  struct {
    codegen::KernelBackend* backend;
    bool fuse;
  } kWays[] = {{judge.get(), false}, {loops.get(), true}, {llvm->get(), false}, {llvm->get(), true}};
  for (auto [backend, fuse] : kWays) {
    EXPECT_EQ(run(text, backend, fuse, true, &marked), expected) << backend->name() << (fuse ? " fused" : "");
    EXPECT_EQ(marked, windows);
  }
}

TEST(Region, RandomResizedCrop) {
  expect_equal_to_full_decode(R"(  %out = random_resized_crop(%image) {size=[10, 8]} key=0x51
  return %out
)");
}

TEST(Region, ResizeOfARegion) {
  expect_equal_to_full_decode(R"(  %a = random.uniform() {range=[0.0, 0.4]} key=0x11
  %b = random.uniform() {range=[0.5, 1.0]} key=0x12
  %start = stack(%a, %a)
  %end = stack(%b, %b)
  %out = resize(%image) {size=[7.0, 11.0], roi_start=%start, roi_end=%end, roi_relative=true, antialias=false}
  return %out
)");
}

TEST(Region, CropMirrorNormalize) {
  expect_equal_to_full_decode(R"(  %x = random.uniform() {range=[0.0, 1.0]} key=0x21
  %coin = random.coin_flip() key=0x22
  %out = crop_mirror_normalize(%image) {crop=[20.0, 24.0], crop_pos_x=%x, mirror=%coin, mean=[120.0], std=[60.0]}
  return %out
)");
}

TEST(Region, BlurOfACropOfAFlip) {
  expect_equal_to_full_decode(R"(  %y = random.uniform() {range=[0.0, 1.0]} key=0x31
  %flipped = flip(%image) {horizontal=1}
  %window = crop(%flipped) {crop=[18.0, 22.0], crop_pos_y=%y}
  %out = gaussian_blur(%window) {sigma=1.5}
  return %out
)");
}

TEST(Region, SeveralReadersInArms) {
  expect_equal_to_full_decode(R"(  %coin = random.coin_flip() key=0x41
  branch %coin ^1, ^2
^1(^0):
  %a = crop(%image) {crop=[8.0, 8.0], crop_pos_x=0.25}
  jump ^3
^2(^0):
  %b = random_resized_crop(%image) {size=[8, 8]} key=0x42
  jump ^3
^3(^1, ^2):
  %out = merge(%a, %b) : u8[8,8,3] HWC
  return %out
)");
}

TEST(Region, ResizedAfterACrop) {
  expect_equal_to_full_decode(R"(  %window = crop(%image) {crop=[25.0, 21.0], crop_pos_x=0.9, crop_pos_y=0.2}
  %small = resize(%window) {size=[9.0, 16.0]}
  %shape = shapes(%image)
  return %small, %shape
)");
}

TEST(Region, WholeImagesAreDecodedWhole) {
  expect_equal_to_full_decode(R"(  %out = crop(%image) {crop=[16.0, 16.0]}
  return %out, %image
)",
                              0);
}

}  // namespace
}  // namespace galatea
