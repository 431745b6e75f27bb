// Readers on the common ground: one from a file of code, streams, and records whose fields arguments name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/json.h"
#include "compiler/codegen/backend.h"
#include "compiler/compile.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "dsl/frontend.h"
#include "runtime/random.h"
#include "runtime/reader_loop.h"
#include "runtime/session.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"
#include "tests/readers/flat_reader.h"
#include "tests/readers/run_text.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<int64_t>;
namespace fs = std::filesystem;

// ---- a stream: the numbers from 0 on, one a sample

class NumberSample final : public runtime::StreamSample {
 public:
  explicit NumberSample(int64_t number) : number_(number) {}
  std::string describe() const override { return "tick " + std::to_string(number_); }
  Status read(const runtime::AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(runtime::Tensor * out, allocate(0, DType::kI64, {}));
    store_cell(DType::kI64, out->data, Cell{static_cast<uint64_t>(number_)});
    return {};
  }

 private:
  int64_t number_;
};

/// Config: "count", "breaks_at" (an error there), "throws_at".
class TickerSource final : public runtime::SampleSource {
 public:
  explicit TickerSource(const Json& config)
      : count_(config.value("count", int64_t{0})),
        breaks_at_(config.value("breaks_at", int64_t{-1})),
        throws_at_(config.value("throws_at", int64_t{-1})) {}
  int64_t size() const override { return kUnknownSize; }
  Result<std::unique_ptr<runtime::SampleStream>> start(const runtime::StreamPass&) const override {
    class Pass final : public runtime::SampleStream {
     public:
      explicit Pass(const TickerSource& source) : source_(source) {}
      Result<std::shared_ptr<const runtime::StreamSample>> next() override {
        if (at_ == source_.breaks_at_)
          return make_error(ErrorKind::kUser, "TICK001", fmt::format("the wire broke at {}", at_), "mend it");
        if (at_ == source_.throws_at_) throw std::runtime_error("out of ticks");
        if (at_ == source_.count_) return nullptr;
        return std::make_shared<NumberSample>(at_++);
      }

     private:
      const TickerSource& source_;
      int64_t at_ = 0;
    };
    return std::make_unique<Pass>(*this);
  }

 private:
  int64_t count_, breaks_at_, throws_at_;
};

op::SourceDeclaration ticker_reader() {
  op::SourceDeclaration reader;
  reader.name = "readers.ticker";
  reader.summary = "Counts.";
  reader.args = {{.name = "count", .kind = op::ArgKind::kInt, .required = true, .documentation = "How far."},
                 {.name = "breaks_at", .kind = op::ArgKind::kInt, .documentation = "Where it fails."},
                 {.name = "throws_at", .kind = op::ArgKind::kInt, .documentation = "Where it throws."}};
  reader.outputs = {{.name = "number", .dtypes = {DType::kI64}, .ndim = 0}};
  reader.codes = {{"TICK001", "the wire broke"}};
  reader.open = [](const std::string& config) -> Result<std::unique_ptr<runtime::SampleSource>> {
    return std::make_unique<TickerSource>(parse_json(config));
  };
  return reader;
}

// ---- records: features={"name": {"shape": [2], "dtype": types.FLOAT}, …} gives a dictionary

class RecordSource final : public runtime::SampleSource {
 public:
  explicit RecordSource(Json features) : features_(std::move(features)) {}
  int64_t size() const override { return 3; }
  /// Output k of sample i is filled with 10 i + k.
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    int k = 0;
    for (const auto& feature : features_) {
      const DType dtype = *dtype_from_short_name(feature["dtype"].get<std::string>());
      GALATEA_ASSIGN(runtime::Tensor * out, allocate(k, dtype, feature["shape"].get<Numbers>()));
      for (int64_t e = 0; e < out->volume(); ++e)
        store_cell(dtype, out->data + e * size_of(dtype),
                   cell_from_double(dtype, static_cast<double>(10 * index + k)));
      ++k;
    }
    return {};
  }

 private:
  Json features_;
};

/// Sorted by name, as JSON has them.
Result<std::vector<Port>> ports_of_records(const op::TypeContext& ctx) {
  std::map<std::string, Port> ports;
  for (const auto& [name, feature] : std::get<ir::AttrDict>(ctx.attr("features")).entries) {
    Port port;
    port.name = name;
    const auto* fields = std::get_if<ir::AttrDict>(&feature);
    for (const auto& [field, value] :
         fields ? fields->entries : std::vector<std::pair<std::string, ir::Attr>>{}) {
      if (const auto* dtype = std::get_if<DType>(&value); dtype && field == "dtype") port.dtypes = {*dtype};
      const auto* shape = std::get_if<Numbers>(&value);
      if (!shape || field != "shape") continue;
      port.ndim = static_cast<int>(shape->size());
      port.extents.assign(shape->begin(), shape->end());
    }
    if (!port.is_concrete())
      return ctx.error(fmt::format("feature {} needs a dtype and a shape", name), {}, "features");
    ports[name] = port;
  }
  std::vector<Port> list;
  for (auto& [name, port] : ports) list.push_back(std::move(port));
  return list;
}

op::SourceDeclaration record_reader() {
  op::SourceDeclaration reader;
  reader.name = "readers.records";
  reader.summary = "Records with named fields.";
  reader.args = {{.name = "features",
                  .kind = op::ArgKind::kDict,
                  .required = true,
                  .documentation = "By name: a dictionary with dtype and shape."}};
  reader.outputs_of = ports_of_records;
  reader.gives_dictionary = true;
  reader.open = [](const std::string& config) -> Result<std::unique_ptr<runtime::SampleSource>> {
    return std::make_unique<RecordSource>(parse_json(config)["features"]);
  };
  return reader;
}

// ---- running

struct Host {
  op::Registry registry;
  runtime::NativeTable natives;
  Host() {
    ops::register_all(registry);
    native::register_natives(natives);
    for (const auto& reader : {flat_reader(), ticker_reader(), record_reader()}) {
      const Status added = op::register_source(registry, natives, reader);
      EXPECT_TRUE(added) << added.error().message();
    }
  }
};

const Host& host() {
  static const Host instance;
  return instance;
}

struct Outcome {
  std::vector<Numbers> epochs;               ///< the output "number", or the first, by epoch
  std::vector<std::vector<size_t>> batches;  ///< their sizes
  std::vector<Numbers> last;                 ///< all outputs of the last sample
  std::vector<std::string> errors;           ///< "CODE message"
  std::string graph;
  std::map<std::string, runtime::ReaderMeta> meta;
  int64_t epoch_size = 0;
};

Numbers numbers_of(const runtime::Tensor& tensor) {
  Numbers out;
  for (int64_t e = 0; e < tensor.volume(); ++e)
    out.push_back(static_cast<int64_t>(
        cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + e * size_of(tensor.dtype)))));
  return out;
}

void add_error(Outcome& out, const Error& error) { out.errors.push_back(code_and_message(error)); }

/// Runs epochs of a pipeline: the body of its function, and options of the decorator.
Outcome run(const std::string& body, const std::string& options = "batch_size=4", int epochs = 1,
            runtime::ExecutorKind executor = runtime::ExecutorKind::kCpu) {
  Outcome out;
  CompiledText compiled = compile_text(body, options, host().registry);
  out.errors = std::move(compiled.errors);
  out.graph = std::move(compiled.graph);
  if (!compiled.program) return out;
  runtime::SessionOptions session_options;
  session_options.executor = executor;
  session_options.num_threads = 3;
  auto session = runtime::Session::create(compiled.program, host().natives, session_options);
  if (!session) return add_error(out, session.error()), out;
  out.meta = (*session)->reader_meta();
  out.epoch_size = (*session)->epoch_size();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    out.epochs.emplace_back();
    out.batches.emplace_back();
    for (int turn = 0; turn < 100; ++turn) {
      auto batch = (*session)->next();
      if (!batch) {
        add_error(out, batch.error());
        continue;
      }
      if (!*batch) break;
      out.batches.back().push_back((**batch)->sample_ids.size());
      for (const runtime::Tensor& sample : (**batch)->outputs[0].samples) {
        const Numbers numbers = numbers_of(sample);
        out.epochs.back().insert(out.epochs.back().end(), numbers.begin(), numbers.end());
      }
      out.last.clear();
      for (const auto& output : (**batch)->outputs) out.last.push_back(numbers_of(output.samples.back()));
    }
  }
  return out;
}

Numbers up_to(int64_t count) {
  Numbers numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Numbers sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

// ---- one file of code

class FlatFile : public ::testing::Test {
 protected:
  /// Record i has label i and i + 1 numbers 100 i.
  void write(int32_t count, int32_t said) {
    std::ofstream out(path_, std::ios::binary);
    auto put = [&](auto number) { out.write(reinterpret_cast<const char*>(&number), sizeof number); };
    out << "FLAT";
    put(said);
    for (int32_t record = 0; record < count; ++record) {
      put(record);
      put(record + 1);
      for (int32_t k = 0; k <= record; ++k) put(static_cast<float>(100 * record));
    }
  }
  void TearDown() override { fs::remove(path_); }
  const std::string path_ =
      own_path(std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".flat")
          .string();
  const std::string reader_ = "numbers, label = fn.readers.flat(path=\"" + path_ + "\"";
};

TEST_F(FlatFile, IsReadByAReaderOfOneFile) {
  write(7, 7);
  const Outcome plain = run(reader_ + ")\nreturn label, fn.reductions.sum(numbers)");
  EXPECT_EQ(plain.errors, std::vector<std::string>());
  EXPECT_EQ(plain.epochs[0], up_to(7));
  EXPECT_EQ(plain.last, (std::vector<Numbers>{{6}, {4200}}));
  EXPECT_EQ(plain.epoch_size, 7);
  const Outcome shuffled =
      run(reader_ + ", random_shuffle=True, seed=5)\nreturn label, numbers", "batch_size=4", 2);
  EXPECT_EQ(sorted(shuffled.epochs[0]), up_to(7));
  EXPECT_NE(shuffled.epochs[0], shuffled.epochs[1]);
  const Outcome shard = run(reader_ +
                            ", num_shards=2, shard_id=1, pad_last_batch=True, stick_to_shard=True, "
                            "name=\"Rows\")\nreturn label, numbers");
  EXPECT_EQ(shard.epochs[0], (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(shard.meta.at("Rows").epoch_size, 7);
  EXPECT_EQ(shard.meta.at("Rows").epoch_size_padded, 8);
  EXPECT_EQ(shard.meta.at("Rows").num_shards, 2);
  EXPECT_TRUE(shard.meta.at("Rows").stick_to_shard);
  const Outcome permuted = run(reader_ + ", shuffle_after_epoch=True, name=\"Rows\")\nreturn label, numbers");
  EXPECT_TRUE(permuted.meta.at("Rows").stick_to_shard);  // the shard does not rotate, as DALI says of it
}

TEST_F(FlatFile, FailsWithCodesOfItsOwn) {
  EXPECT_EQ(run(reader_ + ")\nreturn label").errors,
            std::vector<std::string>{"FLAT001 cannot open " + path_});
  write(2, 5);
  EXPECT_EQ(run(reader_ + ")\nreturn label").errors,
            std::vector<std::string>{"FLAT002 " + path_ + " ends 3 records early"});
  write(3, 3);
  fs::resize_file(path_, fs::file_size(path_) - 4);
  EXPECT_EQ(run(reader_ + ")\nreturn label").errors,
            std::vector<std::string>{"FLAT003 " + path_ + " ends within record 2"});
  EXPECT_EQ(run(reader_ + ")\nreturn label", "batch_size=4, on_error=\"skip\"").epochs[0], up_to(2));
  EXPECT_EQ(host().natives.find_code("FLAT003")->meaning, "a record lies past the end of the file");
  EXPECT_EQ(host().natives.find_code("FLAT004"), nullptr);
}

TEST_F(FlatFile, HasTheCommonArgumentsAndTheirChecks) {
  auto error = [&](const std::string& arguments) {
    const Outcome outcome = run(reader_ + ", " + arguments + ")\nreturn label");
    return outcome.errors.empty() ? "" : outcome.errors[0];
  };
  EXPECT_EQ(error("num_shards=2, shard_id=2"),
            "G0460 fn.readers.flat: shard_id is 2, but there are 2 shards; it must be in 0 … 1");
  EXPECT_EQ(error("initial_fill=0, random_shuffle=True"),
            "G0460 fn.readers.flat: initial_fill is 0; it must be at least 1");
  EXPECT_EQ(error("shuffle_after_epoch=True, random_shuffle=True"),
            "G0460 fn.readers.flat: shuffle_after_epoch and random_shuffle exclude each other");
  // What has no meaning here is taken as DALI takes it: no window without shuffling, no cache of images.
  for (const char* idle : {"initial_fill=0", "skip_cached_images=True", "lazy_init=True", "read_ahead=True"})
    EXPECT_EQ(error(idle), "FLAT001 cannot open " + path_) << idle;
}

/// What the schema lists and what the runtime reads are the same arguments.
TEST(Readers, CommonArgumentsAreThoseThatTheRuntimeReads) {
  int read = 0;
  for (const op::ArgSpec& arg : op::common_reader_args()) {
    EXPECT_FALSE(arg.documentation.empty()) << arg.name;
    runtime::ReaderOptions options;
    const auto objection = runtime::read_reader_options(json_text(Json{{arg.name, "a text"}}), options);
    const bool is_read = arg.refused.empty() && !arg.no_effect;
    EXPECT_EQ(objection.has_value(), is_read) << arg.name;
    if (objection) {
      EXPECT_EQ(objection->arg, arg.name);
    }
    read += is_read ? 1 : 0;
  }
  EXPECT_EQ(read, 9);
}

/// The page is a recipe: its code is this file, as it stands.
TEST(Readers, ThePageShowsTheFileThatIsBuilt) {
  auto text_of = [](const std::string& name) {
    std::ifstream in(fs::path(GALATEA_SOURCE_DIR) / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string page = text_of("docs/add-a-reader.md"), code = text_of("tests/readers/flat_reader.cpp");
  ASSERT_FALSE(code.empty());
  EXPECT_NE(page.find("```cpp\n" + code + "```\n"), std::string::npos);
}

// ---- streams

TEST(Readers, AStreamEndsItsEpochsWhereItEnds) {
  for (auto executor : {runtime::ExecutorKind::kCpu, runtime::ExecutorKind::kInline}) {
    const Outcome plain = run("return fn.readers.ticker(count=10, name=\"T\")", "batch_size=4", 2, executor);
    EXPECT_EQ(plain.errors, std::vector<std::string>());
    EXPECT_EQ(plain.epochs, (std::vector<Numbers>{up_to(10), up_to(10)}));
    EXPECT_EQ(plain.batches[1], (std::vector<size_t>{4, 4, 2}));
    EXPECT_EQ(plain.epoch_size, -1);
    EXPECT_EQ(plain.meta.at("T").epoch_size, -1);
    const Outcome exact = run("return fn.readers.ticker(count=8)", "batch_size=4", 2, executor);
    EXPECT_EQ(exact.batches, (std::vector<std::vector<size_t>>{{4, 4}, {4, 4}}));
  }
}

TEST(Readers, AStreamIsShuffledThroughItsWindow) {
  const std::string reader =
      "return fn.readers.ticker(count=50, random_shuffle=True, initial_fill=8, seed=3)";
  const Outcome a = run(reader, "batch_size=4", 2),
                b = run(reader, "batch_size=7", 2, runtime::ExecutorKind::kInline);
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_NE(a.epochs[0], a.epochs[1]);
  EXPECT_EQ(sorted(a.epochs[0]), up_to(50));
  // The window by its definition (runtime/reader_loop.h).
  Numbers window = up_to(8), expected;
  int64_t next = 8;
  for (uint64_t p = 0; !window.empty(); ++p) {
    const size_t pick = runtime::uniform_below(runtime::mix(3, 0), p, 0, window.size());
    expected.push_back(window[pick]);
    window[pick] = next < 50 ? next : window.back();
    if (next++ >= 50) window.pop_back();
  }
  EXPECT_EQ(a.epochs[0], expected);
}

TEST(Readers, ShardsOfAStreamAreStrides) {
  std::set<int64_t> seen;
  for (int shard = 0; shard < 3; ++shard) {
    const Outcome outcome =
        run(fmt::format("return fn.readers.ticker(count=10, num_shards=3, shard_id={}, pad_last_batch=True)",
                        shard),
            "batch_size=3", 2);
    EXPECT_EQ(outcome.errors, std::vector<std::string>());
    // ceil(10 / 3) = 4 samples, in batches of 3: two of them for every shard.
    EXPECT_EQ(outcome.batches, (std::vector<std::vector<size_t>>{{3, 3}, {3, 3}})) << shard;
    for (size_t epoch = 0; epoch < 2; ++epoch)
      for (size_t k = 0; k < 6; ++k) {
        const int64_t of_shard = (shard + static_cast<int64_t>(epoch)) % 3;
        const int64_t own = (10 - of_shard + 2) / 3;
        EXPECT_EQ(outcome.epochs[epoch][k],
                  of_shard + 3 * std::min<int64_t>(static_cast<int64_t>(k), own - 1));
        if (epoch == 0) seen.insert(outcome.epochs[0][k]);
      }
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Readers, AStreamThatBreaksFailsOneSample) {
  const std::string broken = "return fn.readers.ticker(count=10, breaks_at=5)";
  const Outcome raised = run(broken, "batch_size=2", 2);
  EXPECT_EQ(raised.errors, (std::vector<std::string>(2, "TICK001 the wire broke at 5")));
  EXPECT_EQ(raised.epochs, (std::vector<Numbers>{up_to(4), up_to(4)}));
  const Outcome skipped = run(broken, "batch_size=2, on_error=\"skip\"", 2);
  EXPECT_EQ(skipped.errors, std::vector<std::string>());
  EXPECT_EQ(skipped.epochs, (std::vector<Numbers>{up_to(5), up_to(5)}));
  const Outcome thrown = run("return fn.readers.ticker(count=10, throws_at=2)", "batch_size=2");
  EXPECT_EQ(thrown.errors, std::vector<std::string>{"G0932 out of ticks"});
}

TEST(Readers, AStreamGoesOnFromAnyPosition) {
  const TickerSource source(Json{{"count", 11}});
  for (const runtime::ReaderOptions& options :
       {runtime::ReaderOptions{},
        runtime::ReaderOptions{.random_shuffle = true, .initial_fill = 4, .seed = 3},
        runtime::ReaderOptions{.random_shuffle = true, .initial_fill = 20, .num_shards = 2, .shard_id = 1},
        runtime::ReaderOptions{.num_shards = 3, .shard_id = 2, .pad_last_batch = true}}) {
    runtime::ReaderLoop whole(options, source, 4, "readers.ticker");
    std::vector<runtime::ReaderLoop::Place> places;
    for (int k = 0; k < 30; ++k) places.push_back(whole.next());
    EXPECT_GE(places.back().epoch, 2);
    for (size_t from = 0; from < places.size(); ++from) {
      runtime::ReaderLoop loop(options, source, 4, "readers.ticker");
      ASSERT_TRUE(loop.seek(places[from].epoch, places[from].position));
      for (size_t k = from; k < places.size(); ++k) {
        const runtime::ReaderLoop::Place place = loop.next();
        EXPECT_EQ(place.sample->describe(), places[k].sample->describe()) << k << " from " << from;
        EXPECT_EQ(std::tuple(place.epoch, place.position, place.index),
                  std::tuple(places[k].epoch, places[k].position, places[k].index));
      }
    }
    runtime::ReaderLoop loop(options, source, 4, "readers.ticker");
    EXPECT_FALSE(loop.seek(0, 100));
  }
}

TEST(Readers, AnEmptyStreamIsAnErrorOfItsEpoch) {
  const Outcome empty = run("return fn.readers.ticker(count=0)", "batch_size=2", 2);
  EXPECT_EQ(empty.errors,
            (std::vector<std::string>(
                2, "G0862 reader 'readers.ticker' is a stream without a sample for shard 0 of 1")));
  const Outcome few =
      run("return fn.readers.ticker(count=1, num_shards=2, shard_id=1, stick_to_shard=True)", "batch_size=2");
  EXPECT_EQ(few.errors, std::vector<std::string>{
                            "G0862 reader 'readers.ticker' is a stream without a sample for shard 1 of 2"});
}

TEST(Readers, AStreamSaysWhatNeedsItsSize) {
  EXPECT_EQ(
      run("return fn.readers.ticker(count=9, shuffle_after_epoch=True)").errors,
      std::vector<std::string>{"G0861 reader 'readers.ticker' is a stream: shuffle_after_epoch needs to "
                               "know how many samples there are"});
  EXPECT_EQ(
      run("return fn.readers.ticker(count=9)", "batch_size=2, on_error=\"replace\"").errors,
      std::vector<std::string>{"G0861 reader 'readers.ticker' is a stream: on_error=\"replace\" needs to "
                               "know how many samples there are"});
}

TEST(Readers, ALoopGoesOnFromAnyPlace) {
  runtime::ReaderOptions options;
  options.random_shuffle = true;
  options.initial_fill = 4;
  options.seed = 9;
  options.num_shards = 2;
  const TickerSource stream(Json{{"count", 11}});
  const RecordSource sized(Json::array());
  for (const runtime::SampleSource* source : {static_cast<const runtime::SampleSource*>(&stream),
                                              static_cast<const runtime::SampleSource*>(&sized)}) {
    runtime::ReaderLoop whole(options, *source, 4, "Reader");
    for (int k = 0; k < 12; ++k) {
      runtime::ReaderLoop resumed(options, *source, 4, "Reader");
      ASSERT_TRUE(resumed.seek(whole.epoch(), whole.position()));
      EXPECT_EQ(resumed.position(), whole.position());
      runtime::ReaderLoop::Place expected;
      runtime::ReaderLoop ahead(options, *source, 4, "Reader");
      for (int past = 0; past <= k; ++past) expected = ahead.next();
      const runtime::ReaderLoop::Place place = resumed.next();
      EXPECT_EQ(place.index, expected.index) << k;
      EXPECT_EQ(place.epoch, expected.epoch) << k;
      EXPECT_EQ(place.position, expected.position) << k;
      whole.next();
    }
  }
}

// ---- records

constexpr const char* kRecords =
    "x = fn.readers.records(features={\"points\": {\"shape\": [2, 3], \"dtype\": types.FLOAT}, "
    "\"id\": {\"shape\": [], \"dtype\": types.INT64}})\n";

TEST(Readers, ADictionaryOfPortsIsADictionaryInTheLanguage) {
  const Outcome outcome = run(kRecords + std::string("return x[\"id\"], x[\"points\"]"));
  EXPECT_EQ(outcome.errors, std::vector<std::string>());
  EXPECT_EQ(outcome.epochs[0], (Numbers{0, 10, 20}));
  EXPECT_EQ(outcome.last, (std::vector<Numbers>{{20}, {21, 21, 21, 21, 21, 21}}));
  // Attributes nest in the text of graphs, too.
  EXPECT_NE(outcome.graph.find(
                R"(features={"points": {"shape": [2, 3], "dtype": f32}, "id": {"shape": [], "dtype": i64}})"),
            std::string::npos)
      << outcome.graph;
  SourceMap sources;
  auto read = ir::read_graph(outcome.graph, sources, host().registry);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_text(*read), outcome.graph);
}

TEST(Readers, ADictionaryThatIsNoneIsRefused) {
  auto error = [](const std::string& features) {
    const Outcome outcome = run("x = fn.readers.records(features=" + features + ")\nreturn x[\"a\"]");
    return outcome.errors.empty() ? "" : outcome.errors[0];
  };
  EXPECT_NE(error("[1, 2]").find("a dictionary with texts as keys"), std::string::npos) << error("[1, 2]");
  EXPECT_NE(error("{1: 2}").find("a dictionary with texts as keys"), std::string::npos) << error("{1: 2}");
  EXPECT_NE(error("{\"a\": 1}").find("feature a needs a dtype and a shape"), std::string::npos);
  EXPECT_NE(error("{}").find("with these arguments it has no output"), std::string::npos) << error("{}");
  // A list in itself, and one list at many places.
  const Outcome endless =
      run("a = []\na.append(a)\nx = fn.readers.records(features={\"a\": a})\nreturn x[\"a\"]");
  ASSERT_FALSE(endless.errors.empty());
  EXPECT_NE(endless.errors[0].find("at most 16 levels"), std::string::npos) << endless.errors[0];
  const Outcome many =
      run("a = [1, 2, 3, 4, 5, 6, 7, 8]\nfor i in range(12):\n    a = [a, a, a, a]\n"
          "x = fn.readers.records(features={\"a\": a})\nreturn x[\"a\"]");
  ASSERT_FALSE(many.errors.empty());
  EXPECT_NE(many.errors[0].find("at most 65536 values"), std::string::npos) << many.errors[0];
}

// ---- registering

TEST(Readers, ADeclarationThatCannotBeIsRefused) {
  op::Registry registry;
  runtime::NativeTable natives;
  ASSERT_TRUE(op::register_source(registry, natives, flat_reader()));
  auto refusal = [&](const std::function<void(op::SourceDeclaration&)>& change) {
    op::SourceDeclaration reader = ticker_reader();
    change(reader);
    const Status added = op::register_source(registry, natives, reader);
    if (added) return std::string();
    EXPECT_EQ(added.error().diagnostics.front().code, "G0863");
    return added.error().message();
  };
  using Declaration = op::SourceDeclaration;
  const std::pair<const char*, std::function<void(Declaration&)>> cases[] = {
      {"there is an operator readers.flat already", [](Declaration& d) { d.name = "readers.flat"; }},
      {"is not a name such as", [](Declaration& d) { d.name = "readers..x"; }},
      {"is not a name such as", [](Declaration& d) { d.name = ""; }},
      {"is not a name such as", [](Declaration& d) { d.aliases = {"a b"}; }},
      {"the argument seed is there twice, or every reader has it",
       [](Declaration& d) { d.args.push_back({.name = "seed"}); }},
      {"\"2x\" is not a name of an argument", [](Declaration& d) { d.args.push_back({.name = "2x"}); }},
      {"the argument x is per sample",
       [](Declaration& d) { d.args.push_back({.name = "x", .per_sample = true}); }},
      {"it declares no output", [](Declaration& d) { d.outputs.clear(); }},
      {"it declares outputs twice", [](Declaration& d) { d.outputs_of = ports_of_records; }},
      {"output 0 (number) is any[]; it needs one element type",
       [](Declaration& d) { d.outputs[0].dtypes.clear(); }},
      {"output 0 (number) is i64[?,?,?,?,?,?,?,?,?]", [](Declaration& d) { d.outputs[0].ndim = 9; }},
      {"output 0 (number) is optional, so one of its extents must be open",
       [](Declaration& d) { d.outputs[0].optional = true; }},
      {"output 1 (number) needs a name of its own",
       [](Declaration& d) { d.outputs.push_back(d.outputs[0]); }},
      {"another source has the code FLAT001", [](Declaration& d) { d.codes = {{"FLAT001", ""}}; }},
      {"the code \"G0801\" is not two letters or more and digits",
       [](Declaration& d) { d.codes = {{"G0801", ""}}; }},
      {"it has no function that opens it", [](Declaration& d) { d.open = nullptr; }},
  };
  for (const auto& [says, change] : cases)
    EXPECT_NE(refusal(change).find(says), std::string::npos) << says << "\n" << refusal(change);
  EXPECT_EQ(natives.find_source("readers.ticker"), nullptr);
  EXPECT_EQ(refusal([](Declaration&) {}), "");
}

}  // namespace
}  // namespace galatea::testing
