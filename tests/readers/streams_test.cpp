// Containers as streams: the order of samples, shards, epochs and failures against lists that are written down
// or that the reader gives which knows its size; and the names of containers.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"
#include "tests/readers/run_text.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using Values = std::vector<int64_t>;

/// A member of a tar archive, as POSIX has it.
std::string tar_member(const std::string& name, const std::string& content) {
  std::string head(512, '\0');
  auto set = [&](size_t at, const std::string& text) { text.copy(head.data() + at, text.size()); };
  set(0, name);
  set(100, "0000644");
  set(124, fmt::format("{:011o}", content.size()));
  set(148, "        ");
  set(156, "0");
  set(257, std::string("ustar\00000", 8));
  int sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  set(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return head + content + std::string((512 - content.size() % 512) % 512, '\0');
}

/// What passes over a pipeline gave: the first output's numbers and the sample's ids, by epoch.
struct Passes {
  Names errors;
  std::vector<Values> epochs, ids;
  std::vector<Values> others;  ///< the second output's, where there is one
};

Passes pass_over(const std::string& body, const std::string& options, int epochs = 1, int threads = 2) {
  static const struct Own {
    op::Registry registry;
    runtime::NativeTable natives;
    Own() {
      ops::register_all(registry);
      native::register_natives(natives);
    }
  } own;
  Passes out;
  CompiledText compiled = compile_text(body, options, own.registry);
  out.errors = std::move(compiled.errors);
  if (!compiled.program) return out;
  runtime::SessionOptions session_options;
  session_options.num_threads = threads;
  auto session = runtime::Session::create(compiled.program, own.natives, session_options);
  if (!session) {
    out.errors.push_back(code_and_message(session.error()));
    return out;
  }
  auto all_of = [](const runtime::Tensor& tensor, Values& to) {
    for (int64_t e = 0; e < tensor.volume(); ++e) {
      const Cell cell =
          load_cell(tensor.dtype, tensor.data + e * static_cast<int64_t>(size_of(tensor.dtype)));
      to.push_back(tensor.dtype == DType::kF32 ? static_cast<int64_t>(cell.bits)
                                               : static_cast<int64_t>(cell_to_double(tensor.dtype, cell)));
    }
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {
    out.epochs.emplace_back();
    out.ids.emplace_back();
    out.others.emplace_back();
    for (int turn = 0; turn < 200; ++turn) {
      auto batch = (*session)->next();
      if (!batch) {
        out.errors.push_back(code_and_message(batch.error()));
        continue;
      }
      if (!*batch) break;
      const auto& outputs = (**batch)->outputs;
      for (const runtime::Tensor& sample : outputs[0].samples) all_of(sample, out.epochs.back());
      if (outputs.size() > 1)
        for (const runtime::Tensor& sample : outputs[1].samples) all_of(sample, out.others.back());
      const auto& ids = (**batch)->sample_ids;
      out.ids.back().insert(out.ids.back().end(), ids.begin(), ids.end());
    }
  }
  return out;
}

Values in_order(Values values) {
  std::ranges::sort(values);
  return values;
}

/// Archives 0 … 4 of 3, 1, 0, 4 and 2 samples; sample k of archive a is the number 10 a + k.
class Streams : public ::testing::Test {
 protected:
  static constexpr int kCounts[] = {3, 1, 0, 4, 2};

  void SetUp() override {
    fs::create_directories(folder_);
    for (int a = 0; a < 5; ++a) write(a, archive(a));
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string archive(int a) {
    std::string bytes;
    for (int k = 0; k < kCounts[a]; ++k) {
      const int32_t number = 10 * a + k;
      bytes += tar_member(fmt::format("s{:03}.i32", k), {reinterpret_cast<const char*>(&number), 4});
    }
    return bytes + std::string(1024, '\0');
  }
  void write(int a, const std::string& bytes) const {
    std::ofstream(folder_ / fmt::format("part-{}.tar", a), std::ios::binary) << bytes;
  }
  std::string reader(const std::string& more, const std::string& paths = "part-{0..4}.tar") const {
    return fmt::format(
        "x = fn.readers.webdataset(paths=\"{}/{}\", ext=[\"i32\"], dtypes=[types.INT32]{})\nreturn x",
        folder_.string(), paths, more);
  }
  Passes passes(const std::string& more, int epochs = 1, const std::string& options = "batch_size=3") const {
    return pass_over(reader(more), options, epochs);
  }
  std::string without_folder(std::string text) const {
    for (size_t at = 0; (at = text.find(folder_.string())) != std::string::npos;)
      text.replace(at, folder_.string().size(), "@");
    return text;
  }

  const fs::path folder_ =
      own_path(std::string("streams_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

const Values kAll = {0, 1, 2, 10, 30, 31, 32, 33, 40, 41};

TEST_F(Streams, GiveWhatTheReaderGivesThatKnowsItsSize) {
  EXPECT_EQ(passes("").epochs, std::vector<Values>{kAll});
  const Passes stream = passes(", stream=True", 2);
  EXPECT_EQ(stream.errors, Names());
  EXPECT_EQ(stream.epochs, (std::vector<Values>{kAll, kAll}));
  const std::string recorded = std::string(GALATEA_SOURCE_DIR) + "/tests/readers/recorded";
  const std::string text = "d = fn.readers.tfrecord(path=[\"" + recorded +
                           "/{a,b}.tfrecord\"], features={\"label\": "
                           "tfrecord.FixedLenFeature([1], tfrecord.int64, 0)}";
  const Passes indexed = pass_over(text + ")\nreturn d[\"label\"]", "batch_size=3");
  EXPECT_EQ(indexed.epochs, (std::vector<Values>{{-2, -1, 0, 1, 2, 3, 4, 5}}));
  EXPECT_EQ(pass_over(text + ", stream=True)\nreturn d[\"label\"]", "batch_size=3").epochs, indexed.epochs);
  EXPECT_EQ(pass_over(text + ", stream=True, interleave=2)\nreturn d[\"label\"]", "batch_size=3").epochs,
            (std::vector<Values>{{-2, 3, -1, 4, 0, 5, 1, 2}}));
  const std::string images = "x, labels = fn.readers.mxnet(path=\"" + recorded + "/{all,all}.rec\"";
  const Passes whole = pass_over(images + ")\nreturn labels, x", "batch_size=3");
  EXPECT_EQ(whole.errors, Names());
  const Passes parts = pass_over(images + ", stream=True)\nreturn labels, x", "batch_size=3");
  EXPECT_EQ(parts.errors, Names());
  EXPECT_EQ(parts.epochs, whole.epochs);
  EXPECT_EQ(parts.others, whole.others);
  const Passes turns = pass_over(images + ", stream=True, interleave=2)\nreturn labels, x", "batch_size=3");
  EXPECT_EQ(in_order(turns.epochs[0]), in_order(whole.epochs[0]));
}

TEST_F(Streams, TakeTurns) {
  EXPECT_EQ(passes(", stream=True, interleave=2").epochs[0], (Values{0, 10, 1, 30, 2, 31, 40, 32, 41, 33}));
  EXPECT_EQ(passes(", stream=True, interleave=64").epochs[0], (Values{0, 10, 30, 40, 1, 31, 41, 2, 32, 33}));
}

TEST_F(Streams, ShardsBySampleAndByContainer) {
  const std::string stick = ", stream=True, num_shards=2, stick_to_shard=True, shard_id=";
  EXPECT_EQ(passes(stick + "0").epochs[0], (Values{0, 2, 30, 32, 40}));
  EXPECT_EQ(passes(stick + "1").epochs[0], (Values{1, 10, 31, 33, 41}));
  const std::string by = ", shard_by=\"container\"";
  EXPECT_EQ(passes(stick + "0" + by).epochs[0], (Values{0, 1, 2, 40, 41}));
  EXPECT_EQ(passes(stick + "1" + by).epochs[0], (Values{10, 30, 31, 32, 33}));
  // Shards rotate, and are padded to whole batches each.
  EXPECT_EQ(passes(", stream=True, num_shards=2, shard_id=1, pad_last_batch=True" + by, 2).epochs,
            (std::vector<Values>{{10, 30, 31, 32, 33, 33}, {0, 1, 2, 40, 41, 41}}));
  const Passes many = passes(", stream=True, num_shards=6" + by);
  ASSERT_EQ(many.errors.size(), 1U);
  EXPECT_EQ(many.errors[0], "G0801 5 containers cannot be divided into 6 shards");
  // The third archive is empty.
  const Passes empty = passes(", stream=True, num_shards=5, shard_id=2, stick_to_shard=True" + by);
  ASSERT_FALSE(empty.errors.empty());
  EXPECT_TRUE(empty.errors[0].starts_with("G0862 ")) << empty.errors[0];
}

/// All shards go through the containers in the same order, which differs from epoch to epoch; the window mixes
/// samples.
TEST_F(Streams, ShuffleContainersAndSamples) {
  std::vector<Values> together(4);
  std::set<Values> orders;
  for (int shard = 0; shard < 2; ++shard) {
    // Of seeds of their own, too.
    const Passes one = passes(fmt::format(", stream=True, random_shuffle=True, initial_fill=1, num_shards=2, "
                                          "shard_id={}, stick_to_shard=True, shard_by=\"container\", seed={}",
                                          shard, shard),
                              4);
    ASSERT_EQ(one.errors, Names());
    for (size_t epoch = 0; epoch < 4; ++epoch) {
      together[epoch].insert(together[epoch].end(), one.epochs[epoch].begin(), one.epochs[epoch].end());
      orders.insert(one.epochs[epoch]);
    }
  }
  for (const Values& epoch : together) EXPECT_EQ(in_order(epoch), kAll);
  EXPECT_GT(orders.size(), 4U);
  const Passes window = passes(", stream=True, random_shuffle=True, initial_fill=4, seed=3", 3);
  std::set<Values> seen;
  for (const Values& epoch : window.epochs) {
    EXPECT_EQ(in_order(epoch), kAll);
    seen.insert(epoch);
  }
  EXPECT_EQ(seen.size(), 3U);
}

/// What is drawn for a sample depends on the sample, not on turns, shards, batches or threads.
TEST_F(Streams, ASampleHasItsDraws) {
  auto draws = [&](const std::string& more, int batch, int threads) {
    std::map<int64_t, int64_t> by_number;
    for (int shard = 0; shard < 2; ++shard) {
      const std::string text =
          reader(
              fmt::format(", stream=True, num_shards=2, stick_to_shard=True, shard_id={}{}", shard, more)) +
          ", fn.random.uniform(range=[0.0, 1.0], seed=7)";
      const Passes one = pass_over(text, fmt::format("batch_size={}, seed=5", batch), 1, threads);
      EXPECT_EQ(one.errors, Names());
      for (size_t i = 0; i < one.epochs[0].size(); ++i) by_number[one.epochs[0][i]] = one.others[0][i];
      for (size_t i = 0; i < one.epochs[0].size(); ++i)
        EXPECT_EQ(one.ids[0][i], (one.epochs[0][i] / 10 << 32) + one.epochs[0][i] % 10);
    }
    EXPECT_EQ(by_number.size(), kAll.size());
    return by_number;
  };
  const auto plain = draws("", 3, 1);
  std::set<int64_t> different;
  for (const auto& [number, draw] : plain) different.insert(draw);
  EXPECT_EQ(different.size(), kAll.size());
  EXPECT_EQ(draws(", interleave=3", 2, 3), plain);
  EXPECT_EQ(draws(", shard_by=\"container\", random_shuffle=True", 4, 2), plain);
}

TEST_F(Streams, GoOnBehindAContainerThatIsDamaged) {
  std::string bytes = archive(3);
  bytes[2 * 1024] = '!';  // the third member's head
  write(3, bytes);
  fs::remove(folder_ / "part-1.tar");
  const Passes raised = passes(", stream=True", 1, "batch_size=1");
  ASSERT_EQ(raised.errors.size(), 2U);
  EXPECT_EQ(without_folder(raised.errors[0]), "G0801 cannot read @/part-1.tar: No such file or directory");
  EXPECT_TRUE(without_folder(raised.errors[1]).starts_with("G0802 @/part-3.tar is damaged at byte 2048: "))
      << raised.errors[1];
  const Passes skipped = passes(", stream=True", 2, "batch_size=3, on_error=\"skip\"");
  EXPECT_EQ(skipped.errors, Names());
  const Values left = {0, 1, 2, 30, 31, 40, 41};
  EXPECT_EQ(skipped.epochs, (std::vector<Values>{left, left}));
}

TEST_F(Streams, SayWhatIsWrongWithACall) {
  auto error = [&](const std::string& more) {
    const Passes one = passes(more);
    return one.errors.empty() ? "" : without_folder(one.errors.front());
  };
  EXPECT_EQ(error(", interleave=2"), "G0460 fn.readers.webdataset: interleave is of streams");
  EXPECT_EQ(error(", stream=True, interleave=0"), "G0460 fn.readers.webdataset: interleave is 0");
  EXPECT_EQ(error(", stream=True, shard_by=\"file\""), "G0460 fn.readers.webdataset: shard_by is \"file\"");
  EXPECT_EQ(error(", stream=True, index_paths=\"a.idx\""),
            "G0460 fn.readers.webdataset: a stream has no use for index_paths");
  EXPECT_EQ(
      error(", stream=True, shuffle_after_epoch=True"),
      "G0460 fn.readers.webdataset: shuffle_after_epoch needs to know how many samples there are, and a stream "
      "does not");
  const Passes none = pass_over(reader(", stream=True", "no-*.tar"), "batch_size=1");
  ASSERT_EQ(none.errors.size(), 1U);
  EXPECT_EQ(without_folder(none.errors[0]), "G0801 no file matches @/no-*.tar");
}

// ---- names

/// As bash expands them.
TEST(Paths, BracesAreThoseOfShells) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  auto expanded = [](const std::string& text) {
    auto names = native::expand_braces(text);
    return names ? *names : Names{names.error().message()};
  };
  EXPECT_EQ(expanded("a"), (Names{"a"}));
  EXPECT_EQ(expanded("a{b,c}d"), (Names{"abd", "acd"}));
  EXPECT_EQ(expanded("{,a}b"), (Names{"b", "ab"}));
  EXPECT_EQ(expanded("{08..11}"), (Names{"08", "09", "10", "11"}));
  EXPECT_EQ(expanded("{8..11}"), (Names{"8", "9", "10", "11"}));
  EXPECT_EQ(expanded("{3..1}"), (Names{"3", "2", "1"}));
  EXPECT_EQ(expanded("{0..9..4}"), (Names{"0", "4", "8"}));
  EXPECT_EQ(expanded("{-01..1}"), (Names{"-01", "000", "001"}));
  EXPECT_EQ(expanded("{a,b{1..2},{c,d}}x"), (Names{"ax", "b1x", "b2x", "cx", "dx"}));
  EXPECT_EQ(expanded("{a,b}{1,2}"), (Names{"a1", "a2", "b1", "b2"}));
  EXPECT_EQ(expanded("{a}{1..2}"), (Names{"{a}1", "{a}2"}));
  EXPECT_EQ(expanded("{a{1..2}"), (Names{"{a1", "{a2"}));
  EXPECT_EQ(expanded("a}b{c"), (Names{"a}b{c"}));
  EXPECT_EQ(expanded("{1..}"), (Names{"{1..}"}));
  EXPECT_EQ(expanded("{0..99999999999}"), (Names{"{0..99999999999} stands for 100000000000 names"}));
  EXPECT_EQ(expanded("{0..9999}{0..9999}"), (Names{"braces stand for more than 10000000 names"}));
  EXPECT_TRUE(expanded(std::string(5000, '{') + std::string(5000, '}'))[0].starts_with(
      "more than 8 pairs of braces"));
}

TEST(Paths, PatternsAreWhatMatchesInOrder) {
  const fs::path folder = own_path("paths");
  fs::create_directories(folder / "d");
  for (const char* name : {"b.tar", "a.tar", "B.tar", "a[1].tar", "d/x.tar"})
    std::ofstream(folder / name) << "x";
  auto expanded = [&](const Names& paths) {
    Names absolute;
    for (const std::string& path : paths)
      absolute.push_back(path.starts_with("file://") ? "file://" + (folder / path.substr(7)).string()
                         : path.find("://") == std::string::npos ? (folder / path).string()
                                                                 : path);
    auto names = native::expand_paths(absolute);
    if (!names) return Names{names.error().message()};
    for (std::string& name : *names)
      if (name.starts_with(folder.string())) name = name.substr(folder.string().size() + 1);
    return *names;
  };
  EXPECT_EQ(expanded({"*.tar"}), (Names{"B.tar", "a.tar", "a[1].tar", "b.tar"}));
  EXPECT_EQ(expanded({"b.tar", "{a,missing}.tar"}), (Names{"b.tar", "a.tar", "missing.tar"}));
  EXPECT_EQ(expanded({"*/?.tar", "file://[ab].tar"}), (Names{"d/x.tar", "a.tar", "b.tar"}));
  EXPECT_EQ(expanded({"a[1].tar"}), (Names{"a[1].tar"}));
  EXPECT_EQ(expanded({"s3://bucket/{0..1}/*.tar"}), (Names{"s3://bucket/0/*.tar", "s3://bucket/1/*.tar"}));
  EXPECT_EQ(expanded({"z*.tar"}), (Names{"no file matches " + (folder / "z*.tar").string()}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace galatea::testing
