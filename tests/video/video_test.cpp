// Films against what others read of them: frames and times by PyAV, clips by DALI (make_films.py), any frames in
// any order against all of them, damage against nothing but an error.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include "base/checksum.h"
#include "base/fault.h"
#include "base/json.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/video/film_module.h"
#include "stdlib_ops/native/video/paint.h"
#include "stdlib_ops/native/video_functions.h"
#include "tests/readers/run_text.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
namespace video = native::video;
using Json = nlohmann::json;

const fs::path kHere = fs::path(GALATEA_SOURCE_DIR) / "tests/video";

std::string path_of(const std::string& film) { return (kHere / "films" / film).string(); }

std::string read_text(const fs::path& path) { return read_whole_file(path.string()).value_or(""); }

const Json& recorded() {
  static const Json json = Json::parse(read_text(kHere / "recorded.json"));
  return json;
}

std::string digits(const uint8_t* bytes, int64_t count) {
  return fmt::format("{:016x}", checksum({reinterpret_cast<const char*>(bytes), static_cast<size_t>(count)}));
}

bool never() { return false; }

/// That were taken from the C library and not given back; 0 where a sanitizer stands in its place.
int64_t bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

/// A film with its index, and the frames of it that are asked for.
class OpenedFilm {
 public:
  explicit OpenedFilm(video::FilmFile file, video::FilmLibrary& library)
      : file_(std::move(file)), library_(library) {
    auto index = library_.index_of(file_);
    EXPECT_TRUE(index) << (index ? "" : index.error().message());
    if (index) index_ = *index;
  }
  OpenedFilm(const std::string& name, video::FilmLibrary& library)
      : OpenedFilm(native::film_at(path_of(name)), library) {}

  const video::FilmIndex& index() const { return *index_; }
  video::Box whole(const video::Look& look = {}) const {
    const video::FrameSize size = video::frame_size(index_->stream(), look);
    return {0, 0, size.height, size.width};
  }
  std::vector<uint8_t> paint(const std::vector<int64_t>& frames, const video::Box& box,
                             const video::Look& look = {}) {
    const int64_t bytes = (box.y1 - box.y0) * (box.x1 - box.x0) * video::channels_of(look.colours.pixels);
    std::vector<uint8_t> out(frames.size() * static_cast<size_t>(bytes));
    const Status done = video::paint_clip(library_, file_, *index_, frames, look, box, never, out.data());
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
    return out;
  }
  std::vector<std::string> checksums(const std::vector<int64_t>& frames, const video::Look& look = {}) {
    const std::vector<uint8_t> bytes = paint(frames, whole(look), look);
    const auto each = static_cast<int64_t>(bytes.size() / std::max<size_t>(frames.size(), 1));
    std::vector<std::string> out;
    for (size_t k = 0; k < frames.size(); ++k)
      out.push_back(digits(bytes.data() + static_cast<int64_t>(k) * each, each));
    return out;
  }
  std::vector<int64_t> all_frames() const {
    std::vector<int64_t> out;
    for (int64_t k = 0; k < index_->num_frames(); ++k) out.push_back(k);
    return out;
  }

 private:
  video::FilmFile file_;
  video::FilmLibrary& library_;
  std::shared_ptr<const video::FilmIndex> index_;
};

// ---- frames and times

TEST(Films, FramesAndTimesAreThoseOfPyAv) {
  video::FilmLibrary library({});
  for (const auto& [name, facts] : recorded()["films"].items()) {
    SCOPED_TRACE(name);
    OpenedFilm film(name, library);
    const auto frames = facts["frames"].get<std::vector<std::string>>();
    ASSERT_EQ(film.index().num_frames(), std::ssize(frames));
    EXPECT_EQ(film.checksums(film.all_frames()), frames);
    if (facts["seconds"].is_null()) continue;
    for (size_t k = 0; k < facts["seconds"].size(); ++k)
      EXPECT_NEAR(film.index().seconds_since_first(static_cast<int64_t>(k)),
                  facts["seconds"][k].get<double>(), 1e-12);
  }
}

/// Decoders are shared by the clips that follow each other, and stand anywhere.
TEST(Films, AnyFramesComeInAnyOrder) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  video::FilmLibrary library({});
  std::mt19937 draw(7);
  for (const auto& [name, facts] : recorded()["films"].items()) {
    SCOPED_TRACE(name);
    OpenedFilm film(name, library);
    const auto frames = facts["frames"].get<std::vector<std::string>>();
    for (int clip = 0; clip < 40; ++clip) {
      std::vector<int64_t> wanted(1 + draw() % 6);
      for (int64_t& frame : wanted) frame = static_cast<int64_t>(draw() % frames.size());
      if (clip % 2 == 0) std::ranges::sort(wanted);
      std::vector<std::string> expected;
      for (const int64_t frame : wanted) expected.push_back(frames[static_cast<size_t>(frame)]);
      ASSERT_EQ(film.checksums(wanted), expected) << ::testing::PrintToString(wanted);
    }
  }
  EXPECT_LE(library.num_waiting(), video::FilmLibrary::kMostWaiting);
}

TEST(Films, TheTaggedMatrixIsUsedIfAskedFor) {
  video::FilmLibrary library({});
  for (const auto& [name, facts] : recorded()["tagged"].items()) {
    OpenedFilm film(name, library);
    const video::Look tagged{.colours = {.is_tagged = true}};
    EXPECT_EQ(film.checksums(film.all_frames(), tagged), facts["frames"].get<std::vector<std::string>>());
  }
}

TEST(Films, AreTurnedIfAskedFor) {
  video::FilmLibrary library({});
  const std::tuple<const char*, int32_t> kFilms[] = {
      {"h264_turned.mp4", 1}, {"h264_upside_down.mp4", 2}, {"av1_turned.mp4", 3}};
  for (const auto& [name, turns] : kFilms) {
    OpenedFilm film(name, library);
    const video::Look turned{.is_turned = true};
    ASSERT_EQ(film.index().stream().quarter_turns, turns) << name;
    const video::Box upright = film.whole(), whole = film.whole(turned);
    ASSERT_EQ(whole.y1, turns == 2 ? upright.y1 : upright.x1);
    const std::vector<uint8_t> stored = film.paint({3}, upright), pixels = film.paint({3}, whole, turned);
    for (int64_t y = 0; y < whole.y1; ++y)
      for (int64_t x = 0; x < whole.x1; ++x) {
        const int64_t row = turns == 1 ? upright.y1 - 1 - x : turns == 2 ? upright.y1 - 1 - y : x;
        const int64_t column = turns == 1 ? y : turns == 2 ? upright.x1 - 1 - x : upright.x1 - 1 - y;
        for (int64_t c = 0; c < 3; ++c)
          ASSERT_EQ(pixels[static_cast<size_t>((y * whole.x1 + x) * 3 + c)],
                    stored[static_cast<size_t>((row * upright.x1 + column) * 3 + c)])
              << name << " " << y << " " << x;
      }
  }
}

/// Streams are put behind each other: times go back, and a counter has a gap; the frames are those of both.
TEST(Films, ThatFollowEachOtherInOneStreamAreOne) {
  const std::string stream = read_text(path_of("h264_fields.ts")), both = stream + stream;
  video::FilmLibrary library({});
  OpenedFilm film({.name = "both.ts",
                   .identity = "both",
                   .open = [&] { return native::bytes_in_memory("both.ts", both); }},
                  library);
  auto frames = recorded()["films"]["h264_fields.ts"]["frames"].get<std::vector<std::string>>();
  const size_t each = frames.size();
  for (size_t k = 0; k < each; ++k) frames.push_back(frames[k]);
  ASSERT_EQ(film.index().num_frames(), std::ssize(frames));
  EXPECT_EQ(film.checksums(film.all_frames()), frames);
}

/// A window's pixels are those of the whole, whichever chroma they need, also where frames are turned.
TEST(Films, WindowsAreCutOutOfTheWhole) {
  video::FilmLibrary library({});
  std::mt19937 draw(3);
  for (const char* name :
       {"vp9_odd.webm", "mjpeg.avi", "h264_444.mp4", "hevc_10_bits.mkv", "h264_turned.mp4"})
    for (const auto pixels :
         {video::Pixels::kRgb, video::Pixels::kBgr, video::Pixels::kGrey, video::Pixels::kYcbcr}) {
      const video::Look look{.colours = {.pixels = pixels}, .is_turned = true};
      OpenedFilm film(name, library);
      const video::Box all = film.whole(look);
      const std::vector<uint8_t> whole = film.paint({1}, all, look);
      const int64_t channels = video::channels_of(pixels);
      for (int k = 0; k < 12; ++k) {
        const auto below = [&](int64_t n) { return static_cast<int64_t>(draw() % static_cast<uint64_t>(n)); };
        video::Box box{below(all.y1), below(all.x1), 0, 0};
        box.y1 = box.y0 + 1 + below(all.y1 - box.y0);
        box.x1 = box.x0 + 1 + below(all.x1 - box.x0);
        const std::vector<uint8_t> part = film.paint({1}, box, look);
        size_t at = 0;
        for (int64_t y = box.y0; y < box.y1; ++y)
          for (int64_t x = box.x0 * channels; x < box.x1 * channels; ++x)
            ASSERT_EQ(part[at++], whole[static_cast<size_t>(y * all.x1 * channels + x)])
                << name << " " << y << " " << x;
      }
    }
}

// ---- operators, against DALI

std::string in_films(std::string text) {
  for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at))
    text.replace(at, 1, path_of(""));
  return text;
}

template <typename T>
void expect_numbers(const runtime::Tensor& tensor, const Json& expected) {
  ASSERT_EQ(tensor.volume(), std::ssize(expected));
  for (size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(reinterpret_cast<const T*>(tensor.data)[k], expected[k].get<T>()) << k;
}

void expect_output(const runtime::Tensor& tensor, const Json& expected) {
  if (expected.is_object()) {
    EXPECT_EQ(Json(std::vector(tensor.extents, tensor.extents + tensor.ndim)), expected["extents"]);
    EXPECT_EQ(digits(tensor.data, tensor.num_bytes()), expected["checksum"].get<std::string>());
  } else if (tensor.dtype == DType::kF64) {
    expect_numbers<double>(tensor, expected);
  } else {
    ASSERT_EQ(tensor.dtype, DType::kI32);
    expect_numbers<int32_t>(tensor, expected);
  }
}

void expect_samples(const TextRun& run, const Json& samples) {
  ASSERT_EQ(run.errors, std::vector<std::string>());
  ASSERT_EQ(run.batch->outputs.size(), samples[0].size());
  ASSERT_EQ(run.batch->outputs[0].samples.size(), samples.size());
  for (size_t k = 0; k < samples.size(); ++k)
    for (size_t output = 0; output < samples[k].size(); ++output)
      expect_output(run.batch->outputs[output].samples[k], samples[k][output]);
}

TEST(DecodersVideo, GivesWhatDaliGives) {
  for (const Json& one : recorded()["dali"]["decoders"]) {
    const std::string body =
        fmt::format("x, _ = fn.readers.file(files=[\"{}\"])\nreturn fn.decoders.video(x, {})",
                    path_of(one["film"]), one["args"].get<std::string>());
    SCOPED_TRACE(body);
    expect_samples(run_text(body, "batch_size=1"), one["samples"]);
  }
}

TEST(ReadersVideo, GiveWhatDaliGives) {
  for (const Json& one : recorded()["dali"]["readers"]) {
    const fs::path list = fs::temp_directory_path() / fmt::format("galatea_films_{}.txt", ::getpid());
    std::string args = one["args"], text = one["list"];
    if (const size_t at = args.find("@/list.txt"); at != std::string::npos) {
      std::ofstream(list) << in_films(text);
      args.replace(at, 10, list.string());
    }
    const std::string body = "return fn.experimental.readers.video(" + in_films(args) + ")";
    SCOPED_TRACE(body + "\n" + text);
    expect_samples(run_text(body, fmt::format("batch_size={}", one["samples"].size())), one["samples"]);
    fs::remove(list);
  }
}

std::vector<uint8_t> first_bytes(const TextRun& run, size_t output = 0) {
  EXPECT_EQ(run.errors, std::vector<std::string>());
  if (!run.batch) return {};
  const runtime::Tensor& tensor = run.batch->outputs[output].samples[0];
  return {tensor.data, tensor.data + tensor.num_bytes()};
}

/// The older readers say the same in other words.
TEST(ReadersVideo, OlderWordsMeanTheSame) {
  const std::string film = "filenames=[\"" + path_of("h264.mkv") + "\"], sequence_length=10, stride=2";
  const auto older = [&](const std::string& rest) {
    return run_text("return fn.readers.video(" + film + rest + ")", "batch_size=2");
  };
  const auto newer = [&](const std::string& rest) {
    return run_text("return fn.experimental.readers.video(" + film + rest + ")", "batch_size=2");
  };
  EXPECT_EQ(first_bytes(older("")), first_bytes(newer("")));
  EXPECT_EQ(first_bytes(older(", step=20, pad_sequences=True, enable_frame_num=True"), 1),
            first_bytes(newer(", pad_mode=\"constant\", enable_frame_num=\"scalar\""), 1));
  EXPECT_EQ(
      first_bytes(run_text("return fn.readers.video_resize(" + film + ", size=[24, 30])", "batch_size=1")),
      first_bytes(
          run_text("return fn.resize(fn.readers.video(" + film + "), size=[24, 30])", "batch_size=1")));
  EXPECT_EQ(
      first_bytes(older(", dtype=types.FLOAT, normalized=True")),
      first_bytes(run_text("return fn.normalize(fn.readers.video(" + film + "), mean=0.0, stddev=255.0)",
                           "batch_size=1")));
}

/// What reads greys alone gets the luma that the film holds, labels or not; of a film whose matrix is another than
/// that of the greys, and where what fills up is no grey, all channels.
TEST(ReadersVideo, GiveTheLumaWhereNobodySeesMore) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  const auto greys = [](const std::string& film, const std::string& args, const std::string& exact) {
    return first_bytes(run_text(
        fmt::format(
            "clip, label = fn.experimental.readers.video(filenames=[\"{}\"], labels=[3], "
            "sequence_length=30, pad_mode=\"constant\"{})\n"
            "clip = fn.resize(fn.flip(clip), size=[24, 24])\n"
            "return fn.color_space_conversion(clip, image_type=types.RGB, output_type=types.GRAY), label",
            path_of(film), args),
        "batch_size=1, exact=" + exact));
  };
  for (const char* film : {"h264.mkv", "hevc_10_bits.mkv", "vp9_odd.webm"}) {
    const std::string luma_of_film = fmt::format(
        "clip = fn.experimental.readers.video(filenames=[\"{}\"], sequence_length=30, pad_mode=\"constant\", "
        "image_type=types.GRAY)\nreturn fn.resize(fn.flip(clip), size=[24, 24])",
        path_of(film));
    const std::vector<uint8_t> luma = greys(film, "", "False");
    EXPECT_EQ(luma, first_bytes(run_text(luma_of_film, "batch_size=1"))) << film;
    EXPECT_NE(luma, greys(film, "", "True")) << film;
  }
  for (const char* args : {", color_space=\"tagged\"", ", fill_value=[10, 200, 60]"})
    EXPECT_EQ(greys("h264_bt709.mp4", args, "False"), greys("h264_bt709.mp4", args, "True")) << args;
}

TEST(ReadersVideo, SayWhatIsWrongWithACall) {
  const std::string film = "filenames=[\"" + path_of("h264.mkv") + "\"]";
  const auto error = [](const std::string& args) {
    const TextRun run = run_text("return fn.experimental.readers.video(" + args + ")", "batch_size=1");
    return run.errors.empty() ? "" : run.errors.front();
  };
  const std::string name = "G0460 fn.experimental.readers.video: ";
  EXPECT_EQ(error(film + ", sequence_length=0"), name + "sequence_length is 0");
  EXPECT_EQ(error(film + ", sequence_length=2, stride=-1"), name + "stride is -1");
  EXPECT_EQ(error("sequence_length=2"), name + "filenames, file_root and file_list: none is given");
  EXPECT_EQ(error(film + ", labels=[1, 2], sequence_length=2"), name + "2 labels for 1 filenames");
  EXPECT_EQ(error(film + ", sequence_length=2, pad_mode=\"wrap\""), name + "pad_mode is \"wrap\"");
  EXPECT_EQ(error(film + ", sequence_length=2, fill_value=[1, 2]"), name + "fill_value has 2 numbers");
  EXPECT_EQ(error(film + ", sequence_length=26"),
            "G0801 no clip of 26 frames, 1 apart, in 1 films, the longest of which has 25 frames");
  const std::string list = (fs::temp_directory_path() / fmt::format("galatea_parts_{}", ::getpid())).string();
  std::ofstream(list) << path_of("h264_fields.ts") << " 0 0.1 0.9\n";  // it begins at 1.4
  EXPECT_EQ(error("file_list=\"" + list + "\", sequence_length=2"),
            "G0801 no frame lies in what is meant of 1 films");
  fs::remove(list);
  EXPECT_EQ(error("filenames=[\"nowhere.mp4\"], sequence_length=2"),
            "G0801 cannot read nowhere.mp4: No such file or directory");
}

// ---- what is no film, or none that we read

std::string error_of(const std::string& film) {
  video::FilmLibrary library({});
  const auto index = library.index_of(native::film_at(path_of(film)));
  return index ? "" : index.error().message();
}

TEST(Films, ThoseThatAreNotReadSayWhy) {
  EXPECT_EQ(error_of("flv1.avi"), path_of("flv1.avi") + " is encoded by flv1, which is not read");
  EXPECT_EQ(error_of("sound.mkv"), path_of("sound.mkv") + " holds no video");
  EXPECT_EQ(error_of("h264.flv"), path_of("h264.flv") + " lies in a container that is not read");
  EXPECT_EQ(
      error_of("../recorded.json"),
      path_of("../recorded.json") + " cannot be read as a film: Invalid data found when processing input");
}

/// libav knows hundreds of containers, and some of them name other files: none but those of the list is opened.
TEST(Films, NoOtherContainerIsOpened) {
  const std::pair<const char*, std::string> others[] = {
      {"HLS", "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/hostname\n"},
      {"concat", "ffconcat version 1.0\nfile /etc/hostname\n"},
      {"SDP", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5000 RTP/AVP 96\n"},
      {"DASH", "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>"},
      {"IVF", std::string("DKIF\0\0 \0VP80\x10\0\x10\0", 16) + std::string(64, '\0')},
      {"Y4M", "YUV4MPEG2 W2 H2 F25:1 Ip C420\nFRAME\n123456"},
      {"FLV", std::string("FLV\x01\x01\0\0\0\x09\0\0\0\0", 13) + std::string(64, '\0')},
      {"GIF", std::string("GIF89a\x02\0\x02\0\x80\0\0", 13) + std::string(64, '\0')},
      {"WAV", std::string("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0", 24) + std::string(64, '\0')},
      {"H.264 without a container", std::string("\0\0\0\x01\x67\x42\0\x0a\0\0\0\x01\x68\xce", 14)}};
  for (const auto& [name, bytes] : others) {
    const auto film = video::open_film(native::bytes_in_memory("other", bytes));
    ASSERT_FALSE(film) << name;
    const std::string error = film.error().message();
    EXPECT_TRUE(error == "other lies in a container that is not read" ||
                error.starts_with("other cannot be read as a film"))
        << name << ": " << error;
  }
}

/// Reads all of a film from bytes; errors are fine, and name it.
void read_all(const std::string& bytes) {
  video::FilmLibrary library({});
  const video::FilmFile file{.name = "made.up", .identity = "made.up", .open = [&] {
                               return native::bytes_in_memory("made.up", bytes);
                             }};
  const auto index = library.index_of(file);
  if (!index) {
    EXPECT_TRUE(index.error().message().starts_with("made.up")) << index.error().message();
    return;
  }
  std::vector<int64_t> frames;
  for (int64_t k = 0; k < std::min<int64_t>((*index)->num_frames(), 12); ++k) frames.push_back(k);
  const video::StreamFacts& stream = (*index)->stream();
  const video::Box corner{0, 0, std::min(stream.height, 8), std::min(stream.width, 8)};
  std::vector<uint8_t> out(frames.size() * 8 * 8 * 3);
  const Status done = video::paint_clip(library, file, **index, frames, {}, corner, never, out.data());
  EXPECT_TRUE(done || done.error().message().starts_with("made.up")) << done.error().message();
}

TEST(Films, DamageIsAnError) {
  std::mt19937 draw(11);
  for (const char* name :
       {"h264_cut.mp4", "vp9_odd.webm", "hevc_10_bits.mkv", "mpeg4.avi", "h264_fields.ts"}) {
    SCOPED_TRACE(name);
    const std::string whole = read_text(path_of(name));
    for (size_t length = 0; length < whole.size(); length += whole.size() / 23)
      read_all(whole.substr(0, length));
    for (int k = 0; k < 60; ++k) {
      std::string damaged = whole;
      for (int flips = 0; flips < 1 + k % 4; ++flips)
        damaged[draw() % damaged.size()] ^= static_cast<char>(1U << draw() % 8);
      read_all(damaged);
    }
  }
}

/// Of small films every one; of others DamageIsAnError has some.
TEST(Films, EveryTruncationIsAnError) {
  for (const char* name : {"vp9_odd.webm", "h264_444.mp4"}) {
    const std::string whole = read_text(path_of(name));
    for (size_t length = 0; length < whole.size(); ++length) read_all(whole.substr(0, length));
  }
}

// ---- indexes

TEST(FilmIndexes, AreReadBackAsTheyWere) {
  video::FilmLibrary library({});
  OpenedFilm film("h264_open_gop.mp4", library);
  const std::vector<uint8_t> bytes = film.index().to_bytes();
  const auto again = video::FilmIndex::from_bytes(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->to_bytes(), bytes);
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_FALSE(video::FilmIndex::from_bytes(std::span(bytes).first(length))) << length;
}

/// A frame before a key, on the screen, needs what stands before the key in the file.
TEST(FilmIndexes, DecodingBeginsBeforeAnOpenGroup) {
  video::FilmLibrary library({});
  OpenedFilm film("h264_open_gop.mp4", library);
  const video::FilmIndex& index = film.index();
  for (int64_t frame = 0; frame < index.num_frames(); ++frame) {
    const int64_t start = index.start_of(frame);
    EXPECT_LE(start, index.packet_of(frame));
    EXPECT_LE(index.time_of(start), index.time_of(index.packet_of(frame)));
  }
}

TEST(FilmIndexes, AreKeptOnDisk) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("galatea_indexes_{}", ::getpid());
  const native::far::DiskCacheOptions options{.folder = folder, .max_bytes = 1 << 20};
  const fs::path film = fs::temp_directory_path() / fmt::format("galatea_film_{}.mp4", ::getpid());
  fs::copy_file(path_of("h264_cut.mp4"), film, fs::copy_options::overwrite_existing);
  video::FilmFile file = native::film_at(film.string());
  int opened = 0;
  file.open = [&] {
    ++opened;
    return native::open_file(film.string());
  };
  for (int process = 0; process < 2; ++process) EXPECT_TRUE(video::FilmLibrary(options).index_of(file));
  EXPECT_EQ(opened, 1);
  // Another content is another film.
  fs::copy_file(path_of("h264_uneven.mp4"), film, fs::copy_options::overwrite_existing);
  EXPECT_NE(native::film_at(film.string()).identity, file.identity);
  fs::remove(film);
  fs::remove_all(folder);
}

/// However many films there are, few decoders wait.
TEST(FilmLibraries, KeepABoundedNumberOfDecoders) {
  video::FilmLibrary library({});
  for (int k = 0; k < 40; ++k) {
    video::FilmFile file = native::film_at(path_of("h264_cut.mp4"));
    file.identity += fmt::format(" copy {}", k);
    OpenedFilm film(file, library);
    film.checksums({5});
  }
  EXPECT_EQ(library.num_waiting(), video::FilmLibrary::kMostWaiting);
}

// ---- films that are written

/// Slow waves, another colour in each frame: what no half resolution of chroma changes much.
std::vector<uint8_t> waves(const video::FrameBytes& is) {
  std::vector<uint8_t> out;
  for (int64_t k = 0; k < is.frames; ++k)
    for (int32_t y = 0; y < is.height; ++y)
      for (int32_t x = 0; x < is.width; ++x)
        for (int32_t c = 0; c < is.channels; ++c)
          out.push_back(static_cast<uint8_t>(128 + 80 * std::sin(0.05 * y + 0.07 * x + 0.9 * c + 0.3 * k)));
  return out;
}

/// By BT.601, of RGB or of greys.
std::vector<double> lumas(const std::vector<uint8_t>& pixels, int32_t channels) {
  const auto stride = static_cast<size_t>(channels), second = stride > 1 ? size_t{1} : 0;
  std::vector<double> out;
  for (size_t k = 0; k < pixels.size(); k += stride)
    out.push_back(0.299 * pixels[k] + 0.587 * pixels[k + second] + 0.114 * pixels[k + 2 * second]);
  return out;
}

TEST(WrittenFilms, AreReadAgainAsTheyWere) {
  for (video::FrameBytes film :
       {video::FrameBytes{nullptr, 30, 48, 64, 3, 25}, video::FrameBytes{nullptr, 3, 23, 37, 3, 30000},
        video::FrameBytes{nullptr, 2, 20, 1, 1, 1}}) {
    const std::vector<uint8_t> pixels = waves(film);
    film.pixels = pixels.data();
    const auto bytes = video::write_film(film);
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(video::write_film(film).value(), *bytes);
    const std::string text(bytes->begin(), bytes->end());
    video::FilmLibrary library({});
    OpenedFilm read({.name = "written",
                     .identity = "written",
                     .open = [&] { return native::bytes_in_memory("written", text); }},
                    library);
    ASSERT_EQ(read.index().num_frames(), film.frames);
    for (int64_t k = 0; k < film.frames; ++k)
      EXPECT_NEAR(read.index().seconds_of(k), static_cast<double>(k) / film.frames_a_second, 1e-9);
    // Chroma of odd extents is stretched, as DALI stretches it: there the luma has to do.
    const bool is_luma = film.channels == 1 || film.width % 2 != 0;
    const video::Look look{.colours = {.pixels = is_luma ? video::Pixels::kGrey : video::Pixels::kRgb}};
    const std::vector<uint8_t> found = read.paint(read.all_frames(), read.whole(look), look);
    const std::vector<double> expected =
        is_luma ? lumas(pixels, film.channels) : std::vector<double>(pixels.begin(), pixels.end());
    ASSERT_EQ(found.size(), expected.size());
    double square = 0;
    for (size_t k = 0; k < found.size(); ++k) square += std::pow(found[k] - expected[k], 2);
    EXPECT_LT(std::sqrt(square / static_cast<double>(found.size())), 2) << film.height << " x " << film.width;
  }
}

TEST(WrittenFilms, ThoseThatMpeg4CannotHoldAreErrors) {
  const std::vector<uint8_t> pixels(9000 * 2);
  const auto too_wide = video::write_film({pixels.data(), 1, 2, 9000, 1, 30});
  ASSERT_FALSE(too_wide);
  EXPECT_TRUE(too_wide.error().message().contains("cannot be written")) << too_wide.error().message();
  EXPECT_FALSE(video::write_film({pixels.data(), 1, 2, 2, 1, 70000}));
}

// ---- memory

TEST(VideoMemory, DecodersAreClaimedWhereThereIsALimit) {
  const std::string body = fmt::format("    return fn.readers.video(filenames=[\"{}\"], sequence_length=4)\n",
                                       path_of("h264.mkv"));
  // Of 48 x 64 pixels: 17 pictures of 4608 bytes.
  EXPECT_TRUE(run_text(body, "batch_size=1, memory_limit=4000000").errors.empty());
  const TextRun without_room = run_text(body, "batch_size=1, memory_limit=100000");
  ASSERT_EQ(without_room.errors.size(), 1U);
  EXPECT_TRUE(without_room.errors[0].contains("memory limit")) << without_room.errors[0];
}

/// As many clips as a run of hours has would take hours: memory that grew with each would show after some hundred.
TEST(VideoMemory, DoesNotGrowWithClips) {
  video::FilmLibrary library({});
  OpenedFilm film("h264.mkv", library);
  const auto decode_clips = [&](int count) {
    for (int k = 0; k < count; ++k) film.checksums({k * 7 % 20, k * 7 % 20 + 2});
    return bytes_in_use();
  };
  const int64_t before = decode_clips(50);
  EXPECT_LT(decode_clips(200) - before, int64_t{1} << 16);
}

// ---- the module

TEST(FilmsDeathTest, AModuleThatIsMissingIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto open_without_module = [] {
    ::setenv("GALATEA_VIDEO_MODULE", "/nowhere/libgalatea_video.so", 1);
    const auto film = video::open_film(native::bytes_in_memory("film", ""));
    const bool is_named = !film && film.error().kind == ErrorKind::kSystem &&
                          film.error().diagnostics.front().code == "G0998" &&
                          film.error().message().contains("libgalatea_video.so is not there") &&
                          !video::write_film({});
    std::exit(is_named ? 0 : 1);
  };
  EXPECT_EXIT(open_without_module(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace galatea::testing
