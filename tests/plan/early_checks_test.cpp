// What an operator far behind demands of a picture's channels is checked before anything is computed: kernels
// before it count on it, and the error stays that operator's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/ir/text/reader.h"
#include "compiler/kernel/lower_channels.h"
#include "tests/plan/run_graph.h"

namespace galatea {
namespace {

using testing::product;

/// What a sample of this many channels gives: its bytes, or its error with the place.
std::string outcome(const std::string& text, codegen::KernelBackend* backend, bool fuse, int64_t channels,
                    CompileReport* report = nullptr) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, product().registry);
  EXPECT_TRUE(graph) << graph.error().message();
  if (!graph) return {};
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend;
  options.fuse = fuse;
  auto program = compile(*graph, sources, options, report);
  EXPECT_TRUE(program) << program.error().message();
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  session_options.sources = &sources;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  runtime::Allocator allocator;
  auto picture = runtime::allocate_tensor(allocator, DType::kU8, {9, 7, channels});
  for (int64_t i = 0; i < picture->volume(); ++i) picture->data[i] = static_cast<uint8_t>(i * 37 + i / 9);
  EXPECT_TRUE((*session)->feed("images", std::vector{*picture}));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  if (!batch) return render_text(batch.error().diagnostics.front(), sources);
  const runtime::Tensor& sample = (**batch)->outputs[0].samples[0];
  return {reinterpret_cast<const char*>(sample.data),
          static_cast<size_t>(sample.volume() * size_of(sample.dtype))};
}

/// `body` makes %out of %image, u8[?,?,?]; %coin is 0 or 1, by `key`.
std::string graph_of(int key, const std::string& body) {
  return fmt::format(R"(pipeline @p(batch_size=1, num_threads=1, seed=1) {{
^0:
  %image = external_source() {{dtype=u8, ndim=3, layout="HWC"}} : u8[?,?,?] HWC name="images"
  %coin = random.coin_flip() : i32[] key={:#x}
{}}}
)",
                     key, body);
}

constexpr const char* kTurned =
    "  %turned = rotate(%image) {angle=30.0, keep_size=true, fill_value=0.0} : u8[?,?,?] HWC\n"
    "  %equal = equalize(%turned) : u8[?,?,?] HWC\n";
constexpr const char* kColoured = "  %out = hsv(%equal) {hue=20.0, saturation=1.5} : u8[?,?,?] HWC\n";

/// The kernels of a graph that do not know how many channels there are, or that the pixels of a row lie side by
/// side.
std::vector<std::string> kernels_of_any_channels(const std::string& text) {
  auto loops = codegen::make_interpreter_backend();
  CompileReport report;
  outcome(text, loops.get(), true, 3, &report);
  std::vector<std::string> out;
  for (const KernelReport& each : report.kernels) {
    const bool is_scattered = std::ranges::any_of(each.kernel.inputs, [](const kernel::KernelInput& input) {
      return input.extents.size() == 3 && input.dense_axes < 2;
    });
    if (is_scattered) out.push_back(each.name + ", scattered");
    if (kernel::unknown_channels(each.kernel) >= 0) out.push_back(each.name + ", any channels");
  }
  return out;
}

TEST(EarlyChecks, KernelsCountOnWhatIsDemandedBehindThem) {
  const auto kernels = [](const std::string& rest) {
    return kernels_of_any_channels(graph_of(1, kTurned + rest + ", %turned\n"));
  };
  EXPECT_EQ(kernels("  return %equal").size(), 2U);
  EXPECT_EQ(kernels(std::string(kColoured) + "  return %out"), std::vector<std::string>());
  EXPECT_EQ(kernels("  %out = crop_mirror_normalize(%equal) {mean=[120.0, 110.0, 100.0]} : f32[?,?,?] CHW\n"
                    "  return %out"),
            std::vector<std::string>());
}

/// A sample that fails behind a place where samples meet has met the others.
TEST(EarlyChecks, NoneWhereSamplesMeet) {
  const std::string rest = std::string(kColoured) +
                           "  %other = permute_batch(%equal) {indices=[0]} : u8[?,?,?] HWC\n"
                           "  return %out, %turned, %other\n";
  EXPECT_FALSE(kernels_of_any_channels(graph_of(1, kTurned + rest)).empty());
}

/// Bytes where there are three channels, else the error of that operator at its place; fused and not, in
/// stages and in loops.
TEST(EarlyChecks, TheErrorIsThatOfTheOperator) {
  const std::string text = graph_of(1, std::string(kTurned) + kColoured + "  return %out\n");
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  for (const int64_t channels : {1, 2, 3, 4, 5}) {
    const std::string expected = outcome(text, judge.get(), false, channels);
    for (const bool fuse : {false, true})
      for (codegen::KernelBackend* backend : {judge.get(), loops.get()})
        EXPECT_EQ(outcome(text, backend, fuse, channels), expected) << channels;
    if (channels == 3) continue;
    EXPECT_NE(expected.find(fmt::format("3 channels, the image has {}", channels)), std::string::npos)
        << expected;
    EXPECT_NE(expected.find("hsv(%equal)"), std::string::npos) << expected;
  }
}

constexpr const char* kInOneArm = R"(  branch %coin ^1, ^2
^1(^0):
  %coloured = hsv(%equal) {hue=20.0, saturation=1.5} : u8[?,?,?] HWC
  jump ^3
^2(^0):
  jump ^3
^3(^1, ^2):
  %out = merge(%coloured, %equal) : u8[?,?,?] HWC
  return %out
)";

/// Outcomes of pictures of four channels whose coins fell differently.
std::set<std::string> outcomes_of_coins(const std::string& body) {
  auto loops = codegen::make_interpreter_backend();
  std::set<std::string> out;
  for (int key = 1; key <= 12; ++key) out.insert(outcome(graph_of(key, body), loops.get(), true, 4));
  return out;
}

int count_of(const std::set<std::string>& outcomes, const std::string& part) {
  return static_cast<int>(std::ranges::count_if(
      outcomes, [&](const std::string& one) { return one.find(part) != std::string::npos; }));
}

/// An arm demands nothing of samples that go the other way.
TEST(EarlyChecks, ADemandOfOneArmIsMadeThere) {
  const std::string text = std::string(kTurned) + kInOneArm;
  const std::set<std::string> found = outcomes_of_coins(text);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(count_of(found, "3 channels, the image has 4"), 1);
  EXPECT_FALSE(kernels_of_any_channels(graph_of(1, text)).empty());
}

/// What both arms demand at places of their own is demanded in them.
TEST(EarlyChecks, DemandsOfArmsAreMadeInThem) {
  std::string arms = std::string(kTurned) + kInOneArm;
  arms.replace(arms.find("^2(^0):\n"), 8,
               "^2(^0):\n  %other = hsv(%equal) {hue=40.0, saturation=0.5} : u8[?,?,?] HWC\n");
  arms.replace(arms.find("%coloured, %equal"), 17, "%coloured, %other");
  EXPECT_FALSE(kernels_of_any_channels(graph_of(1, arms)).empty());
  const std::set<std::string> found = outcomes_of_coins(arms);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(count_of(found, "%coloured = hsv"), 1);
  EXPECT_EQ(count_of(found, "%other = hsv"), 1);
}

/// What every way comes past is demanded before they part, also where passes have copied it into the arms, and
/// one of them makes three channels, or an error, before it.
TEST(EarlyChecks, ADemandBehindArmsIsMadeBeforeThem) {
  std::string arms = std::string(kTurned) + kInOneArm;
  arms.replace(arms.find("return %out"), 11,
               "%last = crop_mirror_normalize(%out) {mean=[1.0, 2.0, 3.0]} : f32[?,?,?] CHW\n  return %last");
  EXPECT_EQ(kernels_of_any_channels(graph_of(1, arms)), std::vector<std::string>());
  const std::set<std::string> found = outcomes_of_coins(arms);
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(count_of(found, "%last = crop_mirror_normalize"), 1);
}

/// Two branches, one behind the other, as policies have them: what goes into the second is one of the arms of
/// the first, of which one makes three channels of three, and the others of any number.
constexpr const char* kTwoBranches = R"(  %more = random.coin_flip() : i32[] key=0x77
  branch %coin ^1, ^2
^1(^0):
  %coloured = hsv(%turned) {hue=20.0, saturation=1.5} : u8[?,?,3] HWC
  jump ^3
^2(^0):
  %plain = gaussian_blur(%turned) {sigma=[0.7]} : u8[?,?,?] HWC
  jump ^3
^3(^1, ^2):
  %first = merge(%coloured, %plain) : u8[?,?,?] HWC
  branch %more ^4, ^5
^4(^3):
  %blurred = gaussian_blur(%first) {sigma=[1.0]} : u8[?,?,?] HWC
  jump ^6
^5(^3):
  jump ^6
^6(^4, ^5):
  %second = merge(%blurred, %first) : u8[?,?,?] HWC
  %last = crop_mirror_normalize(%second) {mean=[1.0, 2.0, 3.0]} : f32[3,?,?] CHW
  return %last
)";

TEST(EarlyChecks, ADemandGoesIntoTheArmsOfItsValue) {
  const std::string text = std::string(kTurned) + kTwoBranches;
  EXPECT_EQ(kernels_of_any_channels(graph_of(1, text)), std::vector<std::string>());
  const std::set<std::string> found = outcomes_of_coins(text);
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(count_of(found, "%last = crop_mirror_normalize"), 1);
  // With three channels both ways of both branches give what the stages give.
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  std::set<std::string> all;
  for (int key = 1; key <= 4; ++key) {
    const std::string expected = outcome(graph_of(key, text), judge.get(), false, 3);
    EXPECT_EQ(outcome(graph_of(key, text), loops.get(), true, 3), expected) << key;
    all.insert(expected);
  }
  EXPECT_GE(all.size(), 2U);
}

}  // namespace
}  // namespace galatea
