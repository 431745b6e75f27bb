// What the routes answer, without a socket between: JSON, and pictures that are those of `galatea view`.
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <thread>

#include <png.h>

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "compiler/look_inside.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"
#include "tools/gather_sheet.h"
#include "tools/serve/policy_alone.h"
#include "tools/serve/server.h"

namespace galatea::tools::serve {
namespace {

using galatea::testing::contains;
using galatea::testing::ScratchFolder;
using Document = nlohmann::json;

constexpr const char* kFlips = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=1, seed=42)
def flips(data: str, size: int = 32, bright: float = 1.0, mirror: bool = True):
    encoded, label = fn.readers.file(file_root=data, name="Reader")
    image = fn.decoders.image(encoded, output_type=types.RGB)
    small = fn.resize(image, size=[size, size])
    if mirror:
        small = fn.flip(small, horizontal=fn.random.coin_flip())
    if label[0] > 0:
        small = fn.brightness(small, brightness=bright)
    return small, label
)";

const PipelineHost& host() {
  static const PipelineHost made;
  return made;
}

class ServerTest : public ::testing::Test {
 protected:
  void serve(const std::string& text, const std::string& data = testing::build_folder("/samples")) {
    file_ = folder_.write("flips.dali-dsl", text);
    options_.set = {"data=" + data};
    options_.device = "cpu";
    server_.emplace(host(), file_, options_, door_);
  }

  Response ask(const std::string& path, std::multimap<std::string, std::string> query = {}) {
    query.emplace("token", door_.token);
    return server_->answer({"GET", path, "", {{"host", "localhost:8123"}}, std::move(query)});
  }
  Document ask_json(const std::string& path, std::multimap<std::string, std::string> query = {}) {
    return parse_json(ask(path, std::move(query)).body);
  }

  static Pixels decode(const std::string& png) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size())) << image.message;
    const bool is_grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
    image.format = is_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    Pixels pixels{static_cast<int>(image.width), static_cast<int>(image.height), is_grey ? 1 : 3, {}};
    pixels.bytes.resize(PNG_IMAGE_SIZE(image));
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.bytes.data(), 0, nullptr)) << image.message;
    return pixels;
  }

  ScratchFolder folder_;
  std::string file_;
  PipelineOptions options_;
  Door door_{"0123456789abcdef0123456789abcdef", 8123};
  std::optional<Server> server_;
};

TEST_F(ServerTest, PicturesAreThoseOfView) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "3"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];

  // The way of `galatea view --nodes`.
  PipelineOptions options = options_;
  options.batch_size = 3;
  options.prefetch = 1;
  CompileChoice choice;
  Reporter reporter;
  ASSERT_TRUE(host().choose_device(options, choice, reporter));
  const auto graph = host().stage(file_, options, reporter);
  ASSERT_NE(graph, nullptr);
  add_nodes_as_outputs(*graph, reporter.sources());
  ContactSheet sheet;
  ASSERT_TRUE(gather(host(), *graph, choice, 3, "", sheet, reporter));

  ASSERT_EQ(json["samples"].size(), 3u);
  ASSERT_EQ(json["columns"].size(), sheet.rows[0].size());
  int compared = 0;
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < sheet.rows[r].size(); ++c) {
      const Response frame =
          ask("/api/frame",
              {{"run", json["run"].dump()}, {"sample", std::to_string(r)}, {"node", std::to_string(c)}});
      if (!sheet.rows[r][c].picture) {
        EXPECT_EQ(frame.status, 404);
        continue;
      }
      const Pixels& expected = *sheet.rows[r][c].picture;
      ASSERT_EQ(frame.type, "image/png");
      const Pixels decoded = decode(frame.body);
      EXPECT_EQ(decoded.width, expected.width);
      EXPECT_EQ(decoded.height, expected.height);
      EXPECT_TRUE(decoded.bytes == expected.bytes) << "row " << r << " column " << c;
      ++compared;
    }
  EXPECT_GE(compared, 9);
}

TEST_F(ServerTest, ClipsOnTheWayAreStripsOfTheirFrames) {
  serve(R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=1, num_threads=1)
def clips(data: str):
    clip = fn.readers.video(filenames=[data], sequence_length=8)
    small = fn.resize(clip, size=[24, 32])
    return fn.flip(small)
)",
        GALATEA_SOURCE_DIR "/tests/video/films/mpeg4.avi");
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  if (json["text"].get<std::string>().contains("libgalatea_video"))
    GTEST_SKIP() << "SKIPPED: " << json["text"];  // no libav here
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  ASSERT_EQ(json["columns"].size(), 3u) << json["columns"];
  for (size_t node = 0; node < 3; ++node) {
    SCOPED_TRACE(json["columns"][node].dump());
    EXPECT_EQ(json["columns"][node]["is_output"].get<bool>(), node == 2);
    const Document& cell = json["samples"][0]["cells"][node];
    EXPECT_TRUE(contains(cell["caption"].get<std::string>(), "6 of 8 frames")) << cell;
    const Response frame =
        ask("/api/frame",
            {{"run", json["run"].dump()}, {"sample", "0"}, {"node", std::to_string(node)}, {"size", "1024"}});
    ASSERT_EQ(frame.type, "image/png");
    const Pixels strip = decode(frame.body);
    EXPECT_EQ(strip.width, cell["width"].get<int>());
    EXPECT_EQ(strip.height, cell["height"].get<int>());
    EXPECT_EQ(strip.channels, 3);
    // Behind the resize: frames of 32 x 24, drawn twice as large, the second of them frame 1 of the clip.
    if (node == 0) continue;
    ASSERT_EQ(cell["frames"]["boxes"].size(), 6u);
    EXPECT_EQ(cell["frames"]["width"].get<int>(), 32);
    EXPECT_EQ(cell["frames"]["height"].get<int>(), 24);
    const std::array<int, 4> box = cell["frames"]["boxes"][1];
    const int x = box[0] + 21, y = box[1] + 7;
    const Document under = ask_json("/api/node", {{"run", json["run"].dump()},
                                                  {"sample", "0"},
                                                  {"node", std::to_string(node)},
                                                  {"x", std::to_string(x)},
                                                  {"y", std::to_string(y)}});
    EXPECT_EQ(under["place"].get<std::string>(), "frame 1, column 10, row 3");
    const auto pixel = strip.bytes.begin() + (y * strip.width + x) * 3;
    EXPECT_EQ(under["value"], Document(std::vector<double>(pixel, pixel + 3)));
  }
}

TEST_F(ServerTest, SaysWhatTheParametersAndVariablesAre) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "2"}});
  EXPECT_EQ(json["pipeline"].get<std::string>(), "flips");
  const Document& parameters = json["parameters"];
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[0].dump(),
            R"({"annotation":"str","default":"","kind":"str","name":"data","required":true})");
  EXPECT_EQ(parameters[1]["kind"].get<std::string>(), "int");
  EXPECT_EQ(parameters[1]["default"].get<std::string>(), "32");
  EXPECT_EQ(parameters[3]["kind"].get<std::string>(), "bool");
  EXPECT_EQ(json["columns"].back()["type"].get<std::string>(), "i32[1]");
  EXPECT_TRUE(json["columns"].back()["is_output"].get<bool>());
}

TEST_F(ServerTest, LanesCountTheShownSamples) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "16"}, {"set", "size=8"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  int positive = 0;
  const size_t label = json["columns"].size() - 1;
  for (const Document& sample : json["samples"])
    if (sample["cells"][label]["text"].get<std::string>() != "0") ++positive;
  const Document& blocks = json["graph"]["blocks"];
  const auto samples_of = [&](const Document& id) {
    for (const Document& block : blocks)
      if (block["id"] == id) return block["samples"].get<int>();
    return -1;
  };
  const int all = static_cast<int>(json["samples"].size());
  int branches = 0;
  for (const Document& block : blocks) {
    if (!block.contains("branch")) continue;
    ++branches;
    EXPECT_TRUE(block["branch"]["is_if"].get<bool>());
    EXPECT_EQ(samples_of(block["branch"]["targets"][0]), positive);
    EXPECT_EQ(samples_of(block["branch"]["targets"][1]), all - positive);
  }
  EXPECT_EQ(branches, 1);
}

constexpr const char* kNested = R"(from galatea import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=1, seed=3)
def nested(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded), size=[16, 16])
    kind = fn.random.choice(3)
    if kind == 0:
        image = fn.flip(image)
    else:
        turned = kind - 1
        if turned == 0:
            image = fn.brightness(image, brightness=0.5)
        else:
            image = fn.brightness(image, brightness=1.5)
    return image, kind
)";

TEST_F(ServerTest, LanesInLanesCountTheShownSamples) {
  serve(kNested);
  const Document json = ask_json("/api/pipeline", {{"samples", "16"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  std::map<std::string, int> kinds;  // as the second output has them
  for (const Document& sample : json["samples"]) ++kinds[sample["cells"].back()["text"].get<std::string>()];
  ASSERT_EQ(kinds.size(), 3u);
  std::map<int, int> by_line;
  for (const Document& block : json["graph"]["blocks"])
    for (const Document& node : block["nodes"])
      by_line[node["line"].get<int>()] = block["samples"].get<int>();
  const int all = static_cast<int>(json["samples"].size());
  EXPECT_EQ(by_line[6], all);
  EXPECT_EQ(by_line[10], kinds["0"]);
  EXPECT_EQ(by_line[12], all - kinds["0"]);
  EXPECT_EQ(by_line[14], kinds["1"]);
  EXPECT_EQ(by_line[16], kinds["2"]);
}

TEST_F(ServerTest, ChoosesParametersSeedAndSamples) {
  serve(kFlips);
  const Document all = ask_json("/api/pipeline", {{"samples", "4"}});
  const Document later = ask_json("/api/pipeline", {{"samples", "2"}, {"first", "2"}});
  EXPECT_EQ(later["samples"][0]["name"], all["samples"][2]["name"]);
  EXPECT_EQ(later["samples"][1]["number"], all["samples"][3]["number"]);
  const Document large = ask_json("/api/pipeline", {{"samples", "1"}, {"set", "size=48"}});
  EXPECT_EQ(large["samples"][0]["cells"][1]["width"].get<int>(), 48);
  EXPECT_EQ(ask_json("/api/pipeline", {{"seed", "5"}, {"samples", "1"}})["seed"].get<int>(), 5);
  // Equal wishes are answered from what is kept, unless they are to be made anew.
  EXPECT_EQ(ask_json("/api/pipeline", {{"samples", "4"}})["run"], all["run"]);
  EXPECT_NE(ask_json("/api/pipeline", {{"samples", "4"}, {"anew", "1"}})["run"], all["run"]);
}

TEST_F(ServerTest, TellsOfOneValue) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  const std::multimap<std::string, std::string> cell = {
      {"run", json["run"].dump()}, {"sample", "0"}, {"node", "1"}};
  const Document facts = ask_json("/api/node", cell);
  EXPECT_EQ(facts["type"].get<std::string>(), "u8");
  EXPECT_EQ(facts["extents"].dump(), "[32,32,3]");
  int64_t counted = 0;
  for (const Document& bin : facts["histogram"]) counted += bin.get<int64_t>();
  EXPECT_EQ(counted, 32 * 32 * 3);
  const Pixels pixels = decode(ask("/api/frame", cell).body);
  auto at = cell;
  at.emplace("x", "5");
  at.emplace("y", "9");
  const uint8_t* pixel = &pixels.bytes[static_cast<size_t>((9 * 32 + 5) * 3)];
  EXPECT_EQ(ask_json("/api/node", at)["value"], Document({pixel[0], pixel[1], pixel[2]}));
  at.erase("x");
  at.emplace("x", "32");
  EXPECT_TRUE(ask_json("/api/node", at)["value"].is_null());
}

TEST_F(ServerTest, PicturesAreBounded) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  std::multimap<std::string, std::string> cell = {
      {"run", json["run"].dump()}, {"sample", "0"}, {"node", "0"}, {"size", "16"}};
  const Pixels pixels = decode(ask("/api/frame", cell).body);
  EXPECT_EQ(std::max(pixels.width, pixels.height), 16);
  for (const char* wrong : {"0", "1025", "x", "99999999999999999999"}) {
    cell.erase("size");
    cell.emplace("size", wrong);
    EXPECT_EQ(ask("/api/frame", cell).status, 400) << wrong;
  }
}

TEST_F(ServerTest, TimesNameKernelsAndTheShareOfDecoding) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "4"}});
  const Document times = ask_json("/api/times", {{"run", json["run"].dump()}});
  ASSERT_TRUE(times["ok"].get<bool>()) << times["text"];
  EXPECT_GE(times["samples"].get<int>(), 4);
  EXPECT_FALSE(times["kernels"].empty());
  EXPECT_GT(times["decode_share"].get<double>(), 0);
  EXPECT_LE(times["decode_share"].get<double>(), 1);
}

// What the graph calls them inside is no word of who wrote the pipeline.
TEST_F(ServerTest, OperatorsHaveTheNamesOfTheText) {
  serve(R"(import galatea
from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=1, num_threads=1)
def p(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    dark = fn.cast((image & 240) * 0.5, dtype=types.UINT8)
    both = galatea.together(image=dark, boxes=[[0.1, 0.1, 0.5, 0.5]])
    both = fn.flip(both)
    return both.image, both.boxes
)");
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  std::set<std::string> names;
  for (const auto& block : json["graph"]["blocks"])
    for (const auto& node : block["nodes"]) names.insert(node["operator"].get<std::string>());
  EXPECT_TRUE(names.contains("arithmetic &") && names.contains("arithmetic *") && names.contains("flip"))
      << json["graph"];
  for (const std::string& name : names)
    EXPECT_FALSE(name.starts_with("arith.") || name.starts_with("together.") || name.ends_with(".places"))
        << name;
  for (const auto& column : json["columns"])
    EXPECT_FALSE(column["name"].get<std::string>().contains("arith.")) << column;
}

TEST_F(ServerTest, WindowsAreThoseThatTheTextAsksFor) {
  serve(R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=4, num_threads=1, seed=42)
def corners(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    return fn.crop(image, crop=[60, 80], crop_pos_x=0.0, crop_pos_y=1.0), label
)");
  const Document json = ask_json("/api/pipeline", {{"samples", "3"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  const Document times = ask_json("/api/times", {{"run", json["run"].dump()}});
  ASSERT_EQ(times["windows"].size(), 1u) << times["text"];
  const Document& window = times["windows"][0];
  EXPECT_EQ(window["operator"].get<std::string>(), "decoders.image");
  EXPECT_EQ(window["line"].get<int>(), 6);
  ASSERT_EQ(window["samples"].size(), 3u);
  for (const Document& sample : json["samples"]) {
    const int height = sample["cells"][0]["extents"][0].get<int>();
    EXPECT_EQ(window["samples"][sample["number"].dump()], Document({height - 60, 0, height, 80}));
  }
}

/// A WAVE file of 16 bits, mono.
std::string wave_of(const std::vector<int16_t>& sound) {
  const auto bytes = static_cast<uint32_t>(2 * sound.size());
  std::string file;
  const auto add = [&](auto number) { file.append(reinterpret_cast<const char*>(&number), sizeof number); };
  file += "RIFF", add(36 + bytes), file += "WAVEfmt ", add(uint32_t{16}), add(uint16_t{1}), add(uint16_t{1});
  add(uint32_t{8000}), add(uint32_t{16000}), add(uint16_t{2}), add(uint16_t{16}), file += "data", add(bytes);
  for (const int16_t number : sound) add(number);
  return file;
}

TEST_F(ServerTest, SoundOnTheWayIsAColumn) {
  std::vector<int16_t> sound(2000);
  for (size_t k = 0; k < sound.size(); ++k) sound[k] = static_cast<int16_t>(300 * (k % 100));
  std::filesystem::create_directories(folder_.path() / "sounds" / "a");
  folder_.write("sounds/a/saw.wav", wave_of(sound));
  serve(R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=1, num_threads=1)
def loudness(data: str):
    encoded, label = fn.readers.file(file_root=data, file_filters=["*.wav"])
    sound, rate = fn.decoders.audio(encoded, downmix=True)
    power = fn.spectrogram(sound, nfft=64, window_length=64, window_step=32)
    return fn.reductions.max(sound), power, label
)",
        (folder_.path() / "sounds").string());
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  const auto name = json["columns"][0]["name"].get<std::string>();
  EXPECT_TRUE(name.starts_with("sound = ") && name.ends_with(", line 6")) << name;
  EXPECT_EQ(json["samples"][0]["cells"][0]["extents"].dump(), "[2000]");
  EXPECT_EQ(ask("/api/frame", {{"run", json["run"].dump()}, {"sample", "0"}, {"node", "0"}}).type,
            "image/png");
  const auto under = [&](size_t node, int x, int y) {
    return ask_json("/api/node", {{"run", json["run"].dump()},
                                  {"sample", "0"},
                                  {"node", std::to_string(node)},
                                  {"x", std::to_string(x)},
                                  {"y", std::to_string(y)}});
  };
  // 208 columns are drawn: the tenth begins with number 96.
  EXPECT_EQ(under(0, 10, 50)["place"].get<std::string>(), "number 96");
  EXPECT_EQ(under(0, 10, 50)["value"], Document({300.0 * 96 / 32768}));
  EXPECT_TRUE(under(0, 208, 50)["value"].is_null());
  // Grey from the least to the greatest power, the lowest of 33 bands at the foot.
  const size_t power = 2;
  ASSERT_EQ(json["columns"][power]["type"].get<std::string>(), "f32[33,?] ft") << json["columns"];
  const std::multimap<std::string, std::string> cell = {
      {"run", json["run"].dump()}, {"sample", "0"}, {"node", std::to_string(power)}};
  const Document all = ask_json("/api/node", cell);
  const Pixels drawn = decode(ask("/api/frame", cell).body);
  ASSERT_EQ(drawn.height, 33);
  for (const int y : {0, 30, 32}) {
    const Document at = under(power, 7, y);
    EXPECT_EQ(at["place"].get<std::string>(), "band " + std::to_string(32 - y) + ", window 7");
    const double part = (at["value"][0].get<double>() - all["min"].get<double>()) /
                        (all["max"].get<double>() - all["min"].get<double>());
    EXPECT_EQ(std::lround(255 * part), drawn.bytes[static_cast<size_t>(y * drawn.width + 7)]) << y;
  }
}

TEST_F(ServerTest, APolicyAloneIsShownOnDrawnPictures) {
  const std::string policy = folder_.write("policy.json", R"({
  "format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"solarize": {"op": "invert"}},
  "policy": {"seq": [["solarize", 1.0, 0]]}
})");
  Reporter reporter;
  const auto alone = PolicyAlone::make(policy, "", reporter);
  ASSERT_TRUE(alone);
  options_.text = alone->text();
  options_.device = "cpu";
  server_.emplace(host(), alone->file(), options_, door_, policy);
  const Document json = ask_json("/api/pipeline", {{"samples", "2"}});
  ASSERT_TRUE(json["ok"].get<bool>()) << json["text"];
  EXPECT_EQ(json["policy"].get<std::string>(), policy);
  ASSERT_GE(json["columns"].size(), 2u);
  EXPECT_EQ(json["columns"][0]["name"].get<std::string>(), "before the policy");
  EXPECT_EQ(json["columns"][1]["name"].get<std::string>(), "draw 1");
  const auto picture = [&](const char* node) {
    return decode(ask("/api/frame", {{"run", json["run"].dump()}, {"sample", "1"}, {"node", node}}).body);
  };
  const Pixels before = picture("0"), after = picture("1");
  for (size_t k = 0; k < before.bytes.size(); ++k) ASSERT_EQ(before.bytes[k] + after.bytes[k], 255) << k;
  EXPECT_EQ(ask_json("/api/policy")["documents"].size(), 1u);
}

TEST_F(ServerTest, APolicyOfSoundAloneNeedsData) {
  const std::string policy = folder_.write("policy.json", R"({
  "format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"gain": {"op": "sound.gain", "range": [0, 12], "negate": true}},
  "policy": {"seq": [["gain", 1.0, 5]]}
})");
  Reporter reporter;
  reporter.use_json(true);
  EXPECT_FALSE(PolicyAlone::make(policy, "", reporter));
  EXPECT_EQ(reporter.take_collected().at(0).code, "G0878");
  EXPECT_TRUE(PolicyAlone::make(policy, "sounds", reporter));
}

TEST_F(ServerTest, TracesASampleAsTheCommandDoes) {
  serve(kFlips);
  const Document json = ask_json("/api/pipeline", {{"samples", "3"}});
  const Document traced = ask_json("/api/trace", {{"run", json["run"].dump()}, {"sample", "2"}});
  const testing::Outcome printed = testing::run_galatea(
      {"trace", file_, "--set", options_.set[0], "--sample", json["samples"][2]["number"].dump()},
      folder_.path());
  EXPECT_EQ(traced["trace"].get<std::string>(), printed.out);
  EXPECT_TRUE(contains(printed.out, "random.coin_flip")) << printed.out;
}

TEST_F(ServerTest, ABrokenTextIsShownAsTheTerminalDoesAndMendsItself) {
  serve(kFlips);
  const Document good = ask_json("/api/pipeline");
  EXPECT_EQ(good["revision"].get<int>(), 1);
  // Of another length: times of files may be those of the last tick of a clock, which is not yet another one.
  std::string broken = kFlips;
  broken.replace(broken.find("fn.resize"), 9, "fn.resises");
  folder_.write("flips.dali-dsl", broken);
  server_->follow();
  const Document bad = ask_json("/api/pipeline");
  EXPECT_EQ(bad["revision"].get<int>(), 2);
  EXPECT_FALSE(bad["ok"].get<bool>());
  EXPECT_TRUE(contains(bad["text"], "fn.resises(image, size=[size, size])")) << bad["text"];
  EXPECT_EQ(bad["diagnostics"][0]["line"].get<int>(), 7);
  EXPECT_EQ(bad["parameters"].size(), 4u);
  // The last good pictures are still there to be looked at.
  EXPECT_EQ(ask("/api/frame", {{"run", good["run"].dump()}, {"sample", "0"}, {"node", "0"}}).status, 200);
  folder_.write("flips.dali-dsl", kFlips);
  server_->follow();
  EXPECT_TRUE(ask_json("/api/pipeline")["ok"].get<bool>());
}

TEST(FollowedFiles, AFileThatIsBeingWrittenCountsOnce) {
  const ScratchFolder folder;
  const std::string file = folder.write("a.dali-dsl", "one");
  FollowedFiles files;
  files.follow({file});
  EXPECT_FALSE(files.have_changed());
  folder.write("a.dali-dsl", "");
  EXPECT_FALSE(files.have_changed());  // as an editor clears it
  folder.write("a.dali-dsl", "three");
  EXPECT_TRUE(files.have_changed());
  EXPECT_FALSE(files.have_changed());
  std::filesystem::remove(file);
  EXPECT_FALSE(files.have_changed());
  EXPECT_TRUE(files.have_changed());  // it stays away
  EXPECT_FALSE(files.have_changed());
  folder.write("a.dali-dsl", "three");
  EXPECT_TRUE(files.have_changed());
}

TEST_F(ServerTest, FollowsImports) {
  folder_.write("sizes.dali-dsl", "side = 24\n");
  std::string text = kFlips;
  text.insert(0, "from .sizes import side\n");
  text.replace(text.find("[size, size]"), 12, "[side, side]");
  serve(text);
  const Document before = ask_json("/api/pipeline", {{"samples", "1"}});
  ASSERT_TRUE(before["ok"].get<bool>()) << before["text"];
  EXPECT_EQ(before["samples"][0]["cells"][1]["width"].get<int>(), 24);
  folder_.write("sizes.dali-dsl", "side = 104\n");
  server_->follow();
  EXPECT_EQ(ask_json("/api/pipeline", {{"samples", "1"}})["samples"][0]["cells"][1]["width"].get<int>(), 104);
}

TEST_F(ServerTest, AnImportThatIsMissingMayCome) {
  std::string text = kFlips;
  text.insert(0, "from .later import side\n");
  serve(text);
  EXPECT_FALSE(ask_json("/api/pipeline")["ok"].get<bool>());
  folder_.write("later.dali-dsl", "side = 24\n");
  server_->follow();
  EXPECT_TRUE(ask_json("/api/pipeline")["ok"].get<bool>());
}

TEST_F(ServerTest, WhatIsLookedAtIsKept) {
  serve(kFlips);
  const std::string run = ask_json("/api/pipeline", {{"samples", "1"}})["run"].dump();
  for (int seed = 0; seed < 8; ++seed) {
    EXPECT_TRUE(
        ask_json("/api/pipeline", {{"samples", "1"}, {"seed", std::to_string(seed)}})["ok"].get<bool>());
    EXPECT_EQ(ask("/api/frame", {{"run", run}, {"sample", "0"}, {"node", "0"}}).status, 200) << seed;
  }
  // What nobody looks at makes room.
  for (int seed = 10; seed < 18; ++seed)
    EXPECT_TRUE(
        ask_json("/api/pipeline", {{"samples", "1"}, {"seed", std::to_string(seed)}})["ok"].get<bool>());
  EXPECT_EQ(ask("/api/frame", {{"run", run}, {"sample", "0"}, {"node", "0"}}).status, 410);
}

TEST_F(ServerTest, ASampleThatCannotBeReadIsARowThatSaysSo) {
  std::filesystem::create_directories(folder_.path() / "data" / "a");
  folder_.write("data/a/bad.jpg", "this is no picture");
  serve(kFlips, (folder_.path() / "data").string());
  const Document json = ask_json("/api/pipeline", {{"samples", "1"}});
  ASSERT_EQ(json["samples"].size(), 1u) << json.dump();
  EXPECT_TRUE(contains(json["samples"][0]["failure"], "error[G0")) << json["samples"][0]["failure"];
}

TEST_F(ServerTest, AFolderThatIsGoneIsAnErrorOfThePage) {
  serve(kFlips, "/nowhere/at/all");
  const Document json = ask_json("/api/pipeline");
  EXPECT_FALSE(json["ok"].get<bool>());
  EXPECT_TRUE(contains(json["text"], "/nowhere/at/all")) << json["text"];
}

TEST_F(ServerTest, APageSetsNoText) {
  serve(kFlips);
  for (const char* text : {"data=/etc", "data=5", "data=True"}) {
    const Response refused = ask("/api/pipeline", {{"samples", "1"}, {"set", text}});
    EXPECT_EQ(refused.status, 400) << text;
    EXPECT_TRUE(contains(refused.body, "--set name=text")) << refused.body;
  }
}

TEST_F(ServerTest, ALaterWishOfTheSameViewEndsAnEarlierOne) {
  serve(kFlips);
  Response early;
  // So many samples are passed by that it would take long; the data set has fewer, so epochs end at once there.
  std::thread first(
      [&] { early = ask("/api/pipeline", {{"view", "tab"}, {"samples", "16"}, {"set", "size=500"}}); });
  for (int seed = 0; seed < 20; ++seed)
    EXPECT_NE(
        ask("/api/pipeline", {{"view", "tab"}, {"samples", "1"}, {"seed", std::to_string(seed)}}).status,
        500);
  first.join();
  EXPECT_TRUE(early.status == 409 || early.status == 200);
  EXPECT_EQ(ask("/api/pipeline", {{"view", "tab"}}).status, 200);
}

TEST_F(ServerTest, NoPathReachesTheFileSystem) {
  serve(kFlips);
  for (const char* path :
       {"/../flips.dali-dsl", "/etc/passwd", "/page.js/../index.html", "//page.js", "/flips.dali-dsl",
        "/api/frame/../../etc/passwd", "/index.html", "/%2e%2e/etc/passwd"})
    EXPECT_EQ(ask(path).status, 404) << path;
  EXPECT_EQ(ask("/").status, 200);
  EXPECT_EQ(ask("/page.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("/page.css").status, 200);
  EXPECT_EQ(server_->answer({"GET", "/", "", {{"host", "localhost:8123"}}, {}}).status, 403);
}

TEST_F(ServerTest, ThePageNamesNothingOutsideItself) {
  serve(kFlips);
  for (const char* path : {"/", "/dom.js", "/graph.js", "/page.js", "/page.css", "/policy.js"}) {
    std::string text = ask(path).body;
    for (size_t at; (at = text.find("http://www.w3.org/")) != std::string::npos;) text.erase(at, 18);
    EXPECT_FALSE(contains(text, "http://") || contains(text, "https://")) << path;
    EXPECT_FALSE(contains(text, "innerHTML")) << path;
  }
}

}  // namespace
}  // namespace galatea::tools::serve
