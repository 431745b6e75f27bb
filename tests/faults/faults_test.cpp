// Every fault of the machine ends in status 3 with what failed, or in on_error of a sample; never in other
// outputs, a signal, a hang.
//
// A run without faults counts its allocations, opened files, reads, writes, mappings and threads. Then the
// N-th of a kind fails, alone or with all behind it: for every N up to some number and ever fewer behind, for
// all of them at the full scale of random tests (./dev test --all).
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/build_folder.h"
#include "tests/support/cases.h"
#include "tests/tools/program.h"

namespace galatea::faults {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::read_file;

/// Seconds after which a process that takes a fraction of one is taken for hung.
constexpr unsigned kHangSeconds = 120;
constexpr int kHung = 1000 + SIGALRM;

using Environment = std::map<std::string, std::string>;
using Files = std::map<std::string, std::string>;

struct Ended {
  int status = -1;  ///< exit status; 1000 + n: ended by signal n
  std::string out, err;
};

Files files_below(const fs::path& folder) {
  Files out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() != ".partial")
      out[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  return out;
}

class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::kSanitized) GTEST_SKIP() << "a sanitizer's own malloc does not stand being preloaded";
    const fs::path samples = fs::path(testing::build_folder()) / "samples";
    for (const char* name : {"objects/03_tiny.jpg", "objects/04_plain.bmp", "fields/03_progressive.jpg",
                             "fields/05_modern.webp", "buildings/05_small.png"}) {
      const fs::path to = folder() / "data" / name;
      fs::create_directories(to.parent_path());
      fs::copy_file(samples / name, to);
    }
    scratch_.write("sizes.dali-dsl", "EDGE = 24\n");
    write_pipeline("train.dali-dsl", "");
    // One small kernel, for runs that compile it again each time.
    scratch_.write("dim.dali-dsl",
                   "from galatea import fn, pipeline_def\n\n"
                   "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                   "def dim():\n"
                   "    encoded, label = fn.readers.file(file_root=\"data\")\n"
                   "    return fn.brightness(fn.decoders.image(encoded), brightness=0.5), label\n");
  }

  const fs::path& folder() const { return scratch_.path(); }
  const testing::ScratchFolder& scratch() const { return scratch_; }

  void write_pipeline(const std::string& name, const std::string& options) {
    scratch_.write(name,
                   "from galatea import fn, pipeline_def, types\n"
                   "from .sizes import EDGE\n\n"
                   "@pipeline_def(batch_size=2, num_threads=2, seed=7" +
                       options +
                       ")\n"
                       "def train():\n"
                       "    encoded, label = fn.readers.file(file_root=\"data\")\n"
                       "    image = fn.decoders.image(encoded)\n"
                       "    image = fn.resize(image, size=[EDGE, EDGE])\n"
                       "    image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(),\n"
                       "                                     dtype=types.FLOAT, mean=[120.0, 110.0, 100.0])\n"
                       "    return image, label\n");
  }

  void write_reading(const std::string& name, const std::string& reader) {
    scratch_.write(name + ".dali-dsl",
                   "from galatea import fn, pipeline_def\n\n"
                   "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                   "def reading():\n"
                   "    encoded, label = fn." +
                       reader +
                       "\n"
                       "    return fn.resize(fn.decoders.image(encoded), size=[24, 24]), label\n");
  }

  /// Runs a program in the folder.
  Ended run(std::vector<std::string> words, const Environment& more = {}) const {
    const fs::path out = folder() / "stdout", err = folder() / "stderr";
    const std::string cache = (folder() / "cache").string();
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::chdir(folder().c_str()) != 0) ::_exit(126);
      ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::setenv("GALATEA_CACHE_DIR", cache.c_str(), 1);
      for (const auto& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
      ::alarm(kHangSeconds);
      ::execv(argv.front(), argv.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_file(out),
            read_file(err)};
  }

  /// `galatea` with these words, with a fault ("alloc:17+") or none.
  Ended galatea(std::vector<std::string> words, const std::string& fault = {}) const {
    words.insert(words.begin(), testing::build_folder() + "/bin/galatea");
    Environment more = {{"LD_PRELOAD", FAULT_INJECTOR},
                        {"GALATEA_FAULT_COUNTS", (folder() / "counts").string()}};
    if (!fault.empty()) more["GALATEA_FAULT"] = fault;
    return run(std::move(words), more);
  }

  /// Calls of each kind in the last run that ended by itself.
  std::map<std::string, int64_t> counts() const {
    std::istringstream text(read_file(folder() / "counts"));
    std::map<std::string, int64_t> out;
    std::string kind;
    for (int64_t count = 0; text >> kind >> count;) out[kind] = count;
    return out;
  }

  struct Walk {
    std::vector<std::string> words;
    std::string kind;
    int64_t dense = testing::scaled(400);  ///< all of the first
    int64_t sparser = 4;                   ///< then steps of such a share of N
    bool skips = false;                    ///< a sample may be left out, with a warning
  };

  /// Lets each call of the kind fail, alone and with all behind it.
  void walk(const Walk& walk) {
    const bool all = testing::scale() == testing::kWhole;
    // The first run fills the caches.
    ASSERT_EQ(galatea(walk.words).status, 0);
    fs::remove_all(folder() / "out");
    const Ended clean = galatea(walk.words);
    ASSERT_EQ(clean.status, 0) << clean.err;
    const Files expected = files_below(folder() / "out");
    const int64_t count = counts()[walk.kind];
    ASSERT_GT(count, 0) << walk.kind;
    int64_t told = 0;
    int findings = 0;
    for (const char* rest : {"", "+"}) {
      for (int64_t n = 1; n <= count && findings < 20;
           n += all || n < walk.dense ? 1 : n / walk.sparser + 1) {
        fs::remove_all(folder() / "out");
        const std::string fault = walk.kind + ":" + std::to_string(n) + rest;
        const Ended ended = galatea(walk.words, fault);
        told += ended.status == 3 || (walk.skips && contains(ended.err, "was skipped"));
        const std::string finding = judge(walk, ended, files_below(folder() / "out"), expected, clean.out);
        if (finding.empty()) continue;
        ++findings;
        ADD_FAILURE() << fault << ": " << finding << "\n" << ended.err << ended.out;
      }
    }
    EXPECT_GT(told, 0) << "of " << count << " calls";
  }

  /// "" where the end is one of those that are promised.
  static std::string judge(const Walk& walk, const Ended& ended, const Files& files, const Files& expected,
                           const std::string& clean_out) {
    if (ended.status == kHung) return "it hangs";
    if (ended.status == 0) {
      // What is left out moves the numbers of the samples behind it.
      if (walk.skips && contains(ended.err, "was skipped")) return all_among(files, expected);
      if (files != expected) return "status 0, and other files than without faults";
      return ended.out == clean_out ? "" : "status 0, and other words than without faults";
    }
    if (ended.status != 3) return "it ends with " + std::to_string(ended.status);
    for (const auto& [name, bytes] : files) {
      const auto found = expected.find(name);
      if (found == expected.end() || found->second != bytes) return "a wrong file: " + name;
    }
    if (!contains(ended.err, "error[G")) return "status 3 without an error";
    if (contains(ended.err, "mistake in galatea")) return "it is told as a mistake in galatea";
    if (!names_something(ended.err)) return "it names no file, thread or memory";
    return "";
  }

  static bool names_something(const std::string& err) {
    for (const char* name : {".dali-dsl", "data", "out/", "`.`", "thread", "generated code"})
      if (contains(err, name)) return true;
    return false;
  }

  /// Whether each file has the bytes of some expected one.
  static std::string all_among(const Files& files, const Files& expected) {
    for (const auto& [name, bytes] : files) {
      bool is_known = false;
      for (const auto& [other, known] : expected) is_known |= known == bytes;
      if (!is_known) return "a wrong file: " + name;
    }
    return files.size() < expected.size() ? "" : "nothing was left out";
  }

 private:
  testing::ScratchFolder scratch_;
};

const std::vector<std::string> kRun = {"run", "train.dali-dsl", "--save", "out"};

TEST_F(Faults, OfFilesAndThreadsInARun) {
  for (const char* kind : {"open", "read", "write", "map", "thread"}) walk({kRun, kind});
}

TEST_F(Faults, OfMemoryInARun) { walk({kRun, "alloc"}); }

TEST_F(Faults, InACheck) {
  for (const char* kind : {"open", "read", "thread"}) walk({{"check", "train.dali-dsl"}, kind});
  walk({{"check", "train.dali-dsl"}, "alloc"});
  // All files of a folder, which is read.
  for (const char* kind : {"open", "read"}) walk({{"check", "."}, kind});
  walk({{"check", "."}, "alloc"});
}

TEST_F(Faults, OfContainers) {
  for (const char* form : {"webdataset", "tfrecord", "lmdb"})
    ASSERT_EQ(galatea({"data", "convert", "data", "--to", form, "--out", std::string("data/") + form}).status,
              0);
  for (const auto& [name, reader] : std::vector<std::pair<std::string, std::string>>{
           {"tar",
            "webdataset(paths=\"data/webdataset/data-000000.tar\", ext=[\"jpg;png;bmp;webp\", \"cls\"])"},
           {"lmdb", "caffe(path=\"data/lmdb\", encoded=True)"}}) {
    write_reading(name, "readers." + reader);
    const std::vector<std::string> run = {"run", name + ".dali-dsl", "--save", "out"};
    for (const char* kind : {"open", "read"}) walk({run, kind, testing::scaled(200)});
    walk({run, "alloc", 5, 3});
  }
}

// libsndfile does not look whether it gets memory (docs/decisions/faults.md), so that it is not walked over.
TEST_F(Faults, OfSound) {
  std::string wave(
      "RIFF\x24\x10\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\x10\0\0", 44);
  for (int k = 0; k < 4096; ++k) wave.push_back(static_cast<char>(k * 31));
  fs::create_directories(folder() / "data" / "sound");
  for (const char* name : {"a.wav", "b.wav", "c.wav"})
    scratch().write(std::string("data/sound/") + name, wave);
  scratch().write("sound.dali-dsl",
                  "from galatea import fn, pipeline_def\n\n"
                  "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                  "def sound():\n"
                  "    encoded, label = fn.readers.file(file_root=\"data\", file_filters=[\"*.wav\"])\n"
                  "    return fn.decoders.audio(encoded)[0], label\n");
  for (const char* kind : {"open", "read", "write", "thread"})
    walk({{"run", "sound.dali-dsl", "--save", "out"}, kind});
}

// Without caches: LLVM is loaded and runs.
TEST_F(Faults, WhileKernelsAreCompiled) {
  const std::vector<std::string> cold = {"run", "dim.dali-dsl", "--save", "out", "--cache", "off"};
  for (const char* kind : {"open", "read", "map", "thread"}) walk({cold, kind});
  walk({cold, "alloc", 10, 2});
}

TEST_F(Faults, OfASampleAreSkippedWhereThePipelineSaysSo) {
  write_pipeline("skip.dali-dsl", ", on_error=\"skip\"");
  for (const char* kind : {"open", "read"})
    walk({{"run", "skip.dali-dsl", "--save", "out"}, kind, 60, 8, true});
}

TEST_F(Faults, SayWhatFailedOnWhichFile) {
  const std::vector<std::string> check = {"check", "train.dali-dsl"};
  const auto told = [&](const std::vector<std::string>& words, const char* fault, const char* what) {
    const Ended ended = galatea(words, fault);
    EXPECT_EQ(ended.status, 3) << fault;
    EXPECT_TRUE(contains(ended.err, what)) << fault << ": " << ended.err;
  };
  told(check, "read:1", "error[G0991]: `train.dali-dsl` could not be read: Input/output error");
  told(check, "open:1", "error[G0991]: `train.dali-dsl` could not be read: Too many open files");
  told(check, "open:2", "error[G0991]: `sizes.dali-dsl` could not be read: Too many open files");
  told(check, "open:2", "--> train.dali-dsl:2:");
  told(check, "thread:1",
       "error[G0990]: the system refused what galatea asked for: a thread with a stack of 64 MiB");
  told(kRun, "thread:2", "error[G0922]: a worker thread could not be started");
  std::vector<std::string> cold = kRun;
  cold.insert(cold.end(), {"--cache", "off"});
  told(cold, "map:1", "error[G0923]: no memory for generated code");
  told(cold, "open:3", "error[G0993]: the folder data could not be read: Too many open files");
  told(cold, "open:7+", "error[G0992]: data/");
  told(kRun, "alloc:400", "error[G0921]: out of memory");
  told(check, "alloc:400+", "during `galatea check train.dali-dsl`");
  std::vector<std::string> json = check;
  json.push_back("--diagnostics=json");
  const Ended ended = galatea(json, "alloc:2000+");
  EXPECT_EQ(ended.status, 3);
  EXPECT_TRUE(contains(ended.out, R"({"diagnostics":[{"code":"G0921","severity":"error")")) << ended.out;
  EXPECT_TRUE(contains(ended.out, R"("notes":["during `galatea check train.dali-dsl)")) << ended.out;
}

// The host's own process lives through all of them.
TEST_F(Faults, OfAHost) {
  scratch().write("fed.dali-dsl",
                  "from galatea import fn, pipeline_def\n\n"
                  "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                  "def fed():\n"
                  "    x = fn.external_source(name=\"x\")\n"
                  "    return x * 2 + fn.random.uniform(range=[0.0, 1.0])\n");
  const std::vector<std::pair<const char*, const char*>> walks = {
      {"train.dali-dsl", "open"},   {"train.dali-dsl", "read"},  {"train.dali-dsl", "map"},
      {"train.dali-dsl", "thread"}, {"train.dali-dsl", "alloc"}, {"fed.dali-dsl", "alloc"}};
  const std::string dense =
      testing::scale() == testing::kWhole ? "1000000000" : std::to_string(testing::scaled(400));
  for (const auto& [pipeline, kind] : walks) {
    for (const char* mode : {"one", "all"}) {
      const Ended ended =
          run({FAULT_HOST, pipeline, kind, mode, "1", "1000000000", dense}, {{"LD_PRELOAD", FAULT_INJECTOR}});
      const std::string last = ended.err.substr(ended.err.rfind('\n', ended.err.size() - 2) + 1);
      EXPECT_EQ(ended.status, 0) << kind << " " << mode << " at " << last << ended.out;
      EXPECT_TRUE(contains(ended.out, "told ") && !contains(ended.out, "told 0\n")) << kind << ended.out;
    }
  }
}

// Behind memory that ran out inside LLVM a process compiles no more, and says so (G0994).
TEST_F(Faults, OfAHostWhileKernelsAreCompiled) {
  bool has_said = false;
  for (int64_t n = 10'000; n < 100'000; n += n / 8) {
    for (const char* mode : {"one", "all"}) {
      const std::string number = std::to_string(n);
      const Ended ended = run({FAULT_HOST, "dim.dali-dsl", "alloc", mode, number, number, "1"},
                              {{"LD_PRELOAD", FAULT_INJECTOR}, {"GALATEA_CACHE", "0"}});
      EXPECT_EQ(ended.status, 0) << mode << " at " << number << ended.out << ended.err;
      has_said |= contains(ended.out, "error[G0994]");
    }
  }
  EXPECT_TRUE(has_said);
}

// Twice what this machine has, and 200 GB at least, that take no room on the disk.
TEST_F(Faults, AFileLargerThanMemoryIsItsSamplesError) {
  const fs::path huge = folder() / "data" / "objects" / "05_huge.jpg";
  std::ofstream(huge).put('x');
  const auto memory =
      static_cast<uintmax_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uintmax_t>(::sysconf(_SC_PAGESIZE));
  const uintmax_t bytes = std::max(uintmax_t{200} << 30, 2 * memory);
  std::error_code error;
  fs::resize_file(huge, bytes, error);
  if (error) GTEST_SKIP() << "the file system has no sparse files of 200 GB: " << error.message();
  write_pipeline("skip.dali-dsl", ", on_error=\"skip\"");
  const Ended raised = galatea(kRun);
  EXPECT_EQ(raised.status, 1);
  EXPECT_TRUE(contains(raised.err, "05_huge.jpg has " + std::to_string(bytes) +
                                       " bytes, more than the memory of this machine"))
      << raised.err;
  fs::remove_all(folder() / "out");
  const Ended skipped = galatea({"run", "skip.dali-dsl", "--save", "out"});
  EXPECT_EQ(skipped.status, 0) << skipped.err;
  EXPECT_TRUE(contains(skipped.err, "`objects/05_huge.jpg` was skipped")) << skipped.err;
  EXPECT_EQ(files_below(folder() / "out").size(), 10u);
}

}  // namespace
}  // namespace galatea::faults
