// Decoders that make no pictures, known to this test alone: what they offer is asked of them, and every byte
// is as without.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"
#include "tests/support/tiers.h"

namespace galatea {
namespace {

using namespace ops;
using Part = op::WindowScalar::Part;
using Bytes = std::vector<uint8_t>;

/// A call of a decoder: its scalars, and how many elements it filled.
struct Call {
  std::vector<int64_t> scalars;
  int64_t elements = 0;
  friend bool operator==(const Call&, const Call&) = default;
};
std::vector<Call>& calls() {
  static std::vector<Call> all;
  return all;
}

using Scalars = std::vector<int64_t>;
using Fill = std::function<void(const uint8_t* encoded, const Scalars& scalars, uint8_t* out)>;
using Tell = std::function<Scalars(const runtime::Tensor& encoded)>;

runtime::NativeFunction teller(std::string name, Tell tell) {
  return {.name = std::move(name),
          .category = "decode",
          .prepare = {},
          .call = [tell = std::move(tell)](runtime::NativeContext& context) -> Status {
            const Scalars results = tell(context.inputs[0]);
            for (size_t k = 0; k < results.size(); ++k)
              context.scalar_results[k] = cell_from_int(DType::kI64, results[k]);
            return {};
          }};
}

runtime::NativeFunction filler(std::string name, Fill fill) {
  return {.name = std::move(name),
          .category = "decode",
          .prepare = {},
          .call = [fill = std::move(fill)](runtime::NativeContext& context) -> Status {
            Scalars scalars;
            for (const Cell& cell : context.scalars) scalars.push_back(cell_to_int(DType::kI64, cell));
            fill(context.inputs[0].data, scalars, context.output->data);
            calls().push_back({scalars, context.output->volume()});
            return {};
          }};
}

Operator decoder(std::string name, Layout layout, std::vector<int64_t> extents) {
  Operator out;
  out.name = std::move(name);
  out.kind = OperatorKind::kNative;
  out.inputs = {{.name = "data", .dtypes = {DType::kU8}, .ndim = 1}};
  out.min_inputs = out.max_inputs = 1;
  out.type_rule = [layout, extents](const TypeContext&) -> Types {
    return std::vector{ir::Type{DType::kU8, layout.size(), layout, ir::Device::kCpu, extents}};
  };
  return out;
}

std::vector<Expr> tell(RecipeBuilder& b, std::string function, std::string axes) {
  const std::vector<DType> types(axes.size(), DType::kI64);
  const std::vector<std::pair<int64_t, int64_t>> ranges(axes.size(), {0, int64_t{1} << 28});
  return b.native_scalars(std::move(function), {0}, {}, "", types, ranges, std::move(axes));
}

// ---- ranges of a waveform: four samples a byte

uint8_t sample(const uint8_t* encoded, int64_t t) {
  return static_cast<uint8_t>(encoded[t / 4] * 3 + t % 4 * 7);
}

Operator waveform() {
  Operator out = decoder("made_up_waveform", "T", {-1});
  out.define = [](RecipeBuilder& b) {
    op::NativeOutput native;
    native.function = "wave.decode";
    native.inputs = {0};
    native.makes = "waveform";
    native.window = {{'T', Part::kBegin}, {'T', Part::kExtent}};
    b.output_native(0, std::move(native), tell(b, "wave.length", "T"));
  };
  return out;
}

// ---- boxes of a volume, whose ends come in an order of its own

Operator volume() {
  Operator out = decoder("made_up_volume", "DHW", {-1, -1, -1});
  out.define = [](RecipeBuilder& b) {
    op::NativeOutput native;
    native.function = "volume.decode";
    native.inputs = {0};
    native.makes = "volume";
    native.window = {{'W', Part::kEnd}, {'D', Part::kBegin}, {'H', Part::kBegin},
                     {'D', Part::kEnd}, {'H', Part::kEnd},   {'W', Part::kBegin}};
    b.output_native(0, std::move(native), tell(b, "volume.extents", "DHW"));
  };
  return out;
}

void fill_volume(const uint8_t* encoded, const Scalars& s, uint8_t* out) {
  for (int64_t d = s[1]; d < s[3]; ++d)
    for (int64_t h = s[2]; h < s[4]; ++h)
      for (int64_t w = s[5]; w < s[0]; ++w)
        *out++ = static_cast<uint8_t>(encoded[3] + d * 31 + h * 17 + w * 5);
}

// ---- squares of one value, which come in thirds of their size, too

Operator square() {
  Operator out = decoder("made_up_square", "HWC", {-1, -1, 1});
  out.define = [](RecipeBuilder& b) {
    const Expr size = tell(b, "square.size", "H").front(), thirds = b.scale(3);
    op::NativeOutput native;
    native.function = "square.decode";
    native.inputs = {0};
    native.scalars = {thirds};
    native.makes = "square";
    native.scale = {.whole = 3,
                    .parts = {1, 2},
                    .axes = {{'H', size, i64(0), i64(0)}, {'W', size, i64(0), i64(0)}},
                    .least = {}};
    const Expr scaled = (size * thirds + i64(2)) / i64(3);
    b.output_native(0, std::move(native), {scaled, scaled, i64(1)});
  };
  return out;
}

// ---- two channels of sound, or the middle of both

constexpr std::array kMiddle = {0.5, 0.5};

Operator stereo() {
  Operator out = decoder("made_up_stereo", "TC", {-1, -1});
  out.args = {{.name = "middle", .kind = ArgKind::kBool, .default_value = false}};
  const auto channels = [](bool middle) { return int64_t{middle ? 1 : 2}; };
  out.type_rule = [channels](const TypeContext& ctx) -> Types {
    return std::vector{ir::Type{DType::kU8, 2, "TC", ir::Device::kCpu, {-1, channels(ctx.flag("middle"))}}};
  };
  out.define = [channels](RecipeBuilder& b) {
    const bool middle = b.flag("middle");
    op::NativeOutput native;
    native.function = middle ? "stereo.middle" : "stereo.both";
    native.inputs = {0};
    if (!middle)
      native.plane = {.name = "middle",
                      .axis = 'C',
                      .weights = {kMiddle.begin(), kMiddle.end()},
                      .makes_plane = {"middle", ir::Attr(true)},
                      .spread = "made_up_spread",
                      .spread_args = {}};
    b.output_native(0, std::move(native), {tell(b, "stereo.length", "T").front(), i64(channels(middle))});
  };
  return out;
}

Operator of_channels(std::string name, int64_t channels,
                     const std::function<Expr(const Expr&, const Expr&)>& mix, int64_t second) {
  Operator out = decoder(std::move(name), "TC", {-1, channels});
  out.inputs = {{.name = "data", .layouts = {"TC"}}};
  out.kind = OperatorKind::kKernel;
  out.define = [channels, mix, second](RecipeBuilder& b) {
    b.output_stage(0, b.map("mix", DType::kU8, {b.extent(0, 0), i64(channels)}, [&](const Axes& axes) {
      return mix(b.load(0, {axes[0], i64(0)}), b.load(0, {axes[0], i64(second)}));
    }));
  };
  return out;
}

struct MadeUp {
  op::Registry registry;
  runtime::NativeTable natives;
  MadeUp() {
    ops::register_all(registry);
    native::register_natives(natives);
    registry.add(waveform());
    registry.add(volume());
    registry.add(square());
    registry.add(stereo());
    registry.add(of_channels("made_up_spread", 2, [](const Expr& a, const Expr&) { return a; }, 0));
    registry.add(of_channels(
        "made_up_mono", 1,
        [](const Expr& a, const Expr& b) {
          return kernel::saturate(to_f32(a) * f32(kMiddle[0]) + to_f32(b) * f32(kMiddle[1]), DType::kU8);
        },
        1));
    natives.add(teller("wave.length", [](const runtime::Tensor& e) { return Scalars{e.extents[0] * 4}; }));
    natives.add(filler("wave.decode", [](const uint8_t* encoded, const Scalars& s, uint8_t* out) {
      for (int64_t t = s[0]; t < s[0] + s[1]; ++t) *out++ = sample(encoded, t);
    }));
    natives.add(teller("volume.extents",
                       [](const runtime::Tensor& e) { return Scalars{e.data[0], e.data[1], e.data[2]}; }));
    natives.add(filler("volume.decode", fill_volume));
    natives.add(teller("square.size", [](const runtime::Tensor& e) { return Scalars{e.data[0]}; }));
    natives.add(filler("square.decode", [](const uint8_t* encoded, const Scalars& s, uint8_t* out) {
      const int64_t side = (encoded[0] * s[0] + 2) / 3;
      std::memset(out, encoded[1], static_cast<size_t>(side * side));
    }));
    natives.add(teller("stereo.length", [](const runtime::Tensor& e) { return Scalars{e.extents[0] / 2}; }));
    // Even values, of which the middle is one.
    natives.add(filler("stereo.both", [](const uint8_t* encoded, const Scalars&, uint8_t* out) {
      for (int i = 0; i < 20; ++i) out[i] = static_cast<uint8_t>(encoded[i] * 2);
    }));
    natives.add(filler("stereo.middle", [](const uint8_t* encoded, const Scalars&, uint8_t* out) {
      for (int i = 0; i < 10; ++i) out[i] = static_cast<uint8_t>(encoded[2 * i] + encoded[2 * i + 1]);
    }));
  }
};

struct Outcome {
  std::vector<Bytes> samples;
  std::vector<Call> asked;
  std::string remarks, plan;
};

/// `body` reads `data`, which is fed with the encoded samples, and returns one output.
Outcome run(const std::string& body, const std::vector<Bytes>& encoded, codegen::KernelBackend& backend,
            bool with_passes, const std::string& options = "") {
  static const MadeUp made_up;
  const std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size=" +
      std::to_string(encoded.size()) + ", num_threads=1, seed=3" + options +
      ")\ndef p():\n    data = fn.external_source(name=\"data\", dtype=types.UINT8, ndim=1)\n" + body;
  SourceMap sources;
  auto staged = dsl::stage_all("p.dali-dsl", text, {}, made_up.registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics) ADD_FAILURE() << render_text(diagnostic, sources);
  if (!staged.ok) return {};
  CompileOptions compile_options;
  compile_options.registry = &made_up.registry;
  compile_options.backend = &backend;
  compile_options.fuse = compile_options.run_passes = with_passes;
  CompileReport report;
  auto program = compile(*staged.graphs[0], sources, compile_options, &report);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return {};
  Outcome out;
  for (const passes::PassReport& pass : report.passes)
    for (const passes::Remark& remark : pass.remarks) out.remarks += remark.text + "\n";
  out.plan = to_text(**program);
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, made_up.natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> fed;
  for (const Bytes& bytes : encoded) {
    auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {static_cast<int64_t>(bytes.size())});
    EXPECT_TRUE(tensor);
    std::memcpy(tensor->data, bytes.data(), bytes.size());
    fed.push_back(*tensor);
  }
  calls().clear();
  EXPECT_TRUE((*session)->feed("data", fed));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  EXPECT_TRUE(batch) << batch.error().message();
  if (!batch || !*batch) return {};
  for (const runtime::Tensor& sample : (**batch)->outputs.at(0).samples)
    out.samples.emplace_back(sample.data, sample.data + sample.volume() * size_of(sample.dtype));
  out.asked = calls();
  return out;
}

/// With what was offered on all backends, the bytes of stages that are run one by one without passes.
Outcome expect_equal_to_whole(const std::string& body, const std::vector<Bytes>& encoded,
                              const std::string& options = "") {
  SCOPED_TRACE(body);
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  EXPECT_TRUE(llvm) << note;
  const Outcome whole = run(body, encoded, *judge, false, options);
  EXPECT_EQ(whole.samples.size(), encoded.size());
  Outcome out = run(body, encoded, *loops, true, options);
  EXPECT_EQ(out.samples, whole.samples) << out.plan;
  if (!llvm) return out;
  const Outcome code = run(body, encoded, **llvm, true, options);
  EXPECT_EQ(code.samples, whole.samples);
  EXPECT_EQ(code.asked, out.asked);
  return out;
}

/// Waveforms of so many bytes.
std::vector<Bytes> recordings(std::initializer_list<int> lengths) {
  std::vector<Bytes> out;
  uint8_t next = 11;
  for (int length : lengths) {
    out.emplace_back();
    for (int i = 0; i < length; ++i) out.back().push_back(next = static_cast<uint8_t>(next * 5 + 3) % 100);
  }
  return out;
}

TEST(Offers, ARangeOfAWaveform) {
  const Outcome out = expect_equal_to_whole(
      "    wave = fn.made_up_waveform(data)\n"
      "    return 2.0 * fn.slice(wave, start=[7], shape=[40], axes=[0])\n",
      recordings({30, 12}));
  EXPECT_NE(out.remarks.find("made_up_waveform makes only what arith.mul reads of it"), std::string::npos)
      << out.remarks;
  EXPECT_EQ(out.asked, (std::vector<Call>{{{7, 40}, 40}, {{7, 40}, 40}}));
}

TEST(Offers, ADrawnRangeOfAWaveform) {
  const Outcome out = expect_equal_to_whole(
      "    wave = fn.made_up_waveform(data)\n"
      "    at = fn.random.uniform(range=[0.0, 0.7])\n"
      "    return 2.0 * fn.slice(wave, rel_start=at, rel_shape=[0.25], axes=[0])\n",
      recordings({30, 12, 200}));
  ASSERT_EQ(out.asked.size(), 3u);
  const int64_t quarters[] = {30, 12, 200};
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(out.asked[i].elements, quarters[i]);
}

TEST(Offers, AWaveformThatIsReadWholeComesWhole) {
  const Outcome out = expect_equal_to_whole("    return 2.0 * fn.made_up_waveform(data)\n", recordings({30}));
  EXPECT_NE(out.remarks.find("made_up_waveform makes the whole waveform: all of it is read"),
            std::string::npos)
      << out.remarks;
  EXPECT_EQ(out.asked, (std::vector<Call>{{{0, 120}, 120}}));
}

TEST(Offers, ABoxOfAVolume) {
  const Outcome out = expect_equal_to_whole(
      "    volume = fn.made_up_volume(data)\n"
      "    return 2.0 * fn.slice(volume, start=[1, 2, 3], shape=[2, 4, 5], axes=[0, 1, 2])\n",
      {{6, 9, 11, 40}, {3, 6, 8, 90}});
  EXPECT_EQ(out.asked, (std::vector<Call>{{{8, 1, 2, 3, 6, 3}, 40}, {{8, 1, 2, 3, 6, 3}, 40}}));
}

TEST(Offers, OneAxisOfAVolume) {
  const Outcome out = expect_equal_to_whole(
      "    volume = fn.made_up_volume(data)\n"
      "    return 2.0 * fn.slice(volume, start=[3], shape=[5], axes=[2])\n",
      {{6, 9, 11, 40}});
  EXPECT_EQ(out.asked, (std::vector<Call>{{{8, 0, 0, 6, 9, 3}, 6 * 9 * 5}}));
}

TEST(Offers, ThirdsOfASquareThatIsMadeSmaller) {
  const std::string body =
      "    square = fn.made_up_square(data)\n"
      "    return fn.resize(square, size=[20, 20])\n";
  const std::vector<Bytes> squares = {{64, 40}, {31, 50}, {24, 60}};
  EXPECT_EQ(expect_equal_to_whole(body, squares).asked.at(0).scalars, Scalars{3}) << "it is exact";
  const Outcome out = expect_equal_to_whole(body, squares, ", exact=False");
  EXPECT_NE(out.remarks.find("made_up_square may make the square at 2/3 or 1/3 of its size"),
            std::string::npos)
      << out.remarks;
  EXPECT_EQ(out.asked, (std::vector<Call>{{{1}, 22 * 22}, {{2}, 21 * 21}, {{3}, 24 * 24}}));
}

TEST(Offers, TheMiddleOfTwoChannels) {
  const std::string body =
      "    sound = fn.made_up_stereo(data)\n"
      "    return fn.made_up_mono(fn.slice(sound, start=[2], shape=[5], axes=[0]))\n";
  EXPECT_EQ(expect_equal_to_whole(body, recordings({20})).asked.at(0).elements, 20) << "it is exact";
  const Outcome out = expect_equal_to_whole(body, recordings({20}), ", exact=False");
  EXPECT_NE(out.remarks.find("made_up_stereo makes the middle only: nobody sees more"), std::string::npos)
      << out.remarks;
  EXPECT_EQ(out.asked, (std::vector<Call>{{{}, 10}}));
}

}  // namespace
}  // namespace galatea
