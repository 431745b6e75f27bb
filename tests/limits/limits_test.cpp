// The limits: what each hostile text ends in, in how much memory, and how a host moves each bound.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "dsl/frontend.h"
#include "dsl/messages.h"
#include "stdlib_ops/register_all.h"
#include "tests/limits/hostile_inputs.h"
#include "tests/support/cases.h"

namespace galatea::limits {
namespace {

// What docs/limits.md promises: total-bytes, and half a GiB for the text, its tokens and what is being built.
constexpr rlim_t kMemoryBound = rlim_t{1} << 30;
constexpr rlim_t kHangSeconds = 300;  ///< a guard against hangs, not a measure

const op::Registry& registry() {
  static const op::Registry* operators = [] {
    auto* all = new op::Registry;
    ops::register_all(*all);
    return all;
  }();
  return *operators;
}

}  // namespace
}  // namespace galatea::limits

// There where lines are counted: a child that leaves by _exit would not be.
extern "C" void __gcov_dump() __attribute__((weak));

namespace galatea::limits {
namespace {

std::set<std::string> errors_of(const std::string& text, const dsl::FrontendOptions& options) {
  SourceMap sources;
  std::set<std::string> codes;
  dsl::FrontendResult result = dsl::stage_all("hostile.dali-dsl", text, options, registry(), sources);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    render_text(diagnostic, sources);
    if (diagnostic.severity == Severity::kError) codes.insert(diagnostic.code);
  }
  if (result.ok != codes.empty()) codes.insert("ok does not agree with the diagnostics");
  return codes;
}

std::string joined(const std::set<std::string>& codes) {
  std::string out;
  for (const std::string& code : codes) out += (out.empty() ? "" : " ") + code;
  return out;
}

// The codes as a child gives them that may take so much memory and no more; "signal 9" and the like
// otherwise.
std::string errors_in_child(const HostileInput& input) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  pid_t child = fork();
  if (child == 0) {
    // Before: what the test program itself holds. A sanitizer reserves terabytes.
    rlimit cpu{kHangSeconds, kHangSeconds}, memory{kMemoryBound, kMemoryBound}, core{0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    if (!testing::kSanitized) setrlimit(RLIMIT_AS, &memory);
    std::string text;
    try {
      text = joined(errors_of(input.text, {}));
    } catch (const std::exception& failure) {
      text = failure.what();
    }
    if (&__gcov_dump != nullptr) __gcov_dump();
    bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : text;
}

TEST(Limits, HostileTextsEndInTheirDiagnostic) {
  for (const HostileInput& input : hostile_inputs()) {
    // Each is another limit: a sanitizer alone takes a share of them.
    if (testing::kSanitized && !testing::takes(input.name)) continue;
    EXPECT_EQ(errors_in_child(input), input.code) << input.name;
  }
}

TEST(Limits, OutputsCountAsNodes) {
  dsl::FrontendOptions options;
  ASSERT_EQ(dsl::set_limit(options.limits, "nodes", 3), "");
  const std::string head = "from galatea import pipeline_def\n@pipeline_def(batch_size=1)\ndef p():\n";
  EXPECT_EQ(joined(errors_of(head + "    return (0,) * 4\n", options)), "G0707");
}

TEST(Limits, AHostMovesEachByName) {
  dsl::Limits limits;
  for (const dsl::LimitEntry& entry : dsl::all_limits()) {
    EXPECT_EQ(limits.*entry.member, entry.standard);
    EXPECT_EQ(dsl::set_limit(limits, std::string(entry.name) + "=" + std::to_string(entry.largest)), "");
    EXPECT_EQ(limits.*entry.member, entry.largest);
    EXPECT_NE(dsl::set_limit(limits, entry.name, 0), "");
    EXPECT_NE(dsl::set_limit(limits, entry.name, -1), "");
    if (entry.largest == INT64_MAX) continue;
    EXPECT_NE(dsl::set_limit(limits, entry.name, entry.largest + 1), "");
    EXPECT_EQ(limits.*entry.member, entry.largest) << "a refused number changed the limit";
  }
}

// docs/limits.md lists each of them with its default.
TEST(Limits, ThePageAgrees) {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/docs/limits.md");
  std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const dsl::LimitEntry& entry : dsl::all_limits()) {
    std::string row = "| `" + std::string(entry.name) + "` | " + std::to_string(entry.standard) + " | " +
                      std::string(entry.meaning) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Limits, WrongNamesAndNumbersAreRefused) {
  dsl::Limits limits;
  EXPECT_EQ(dsl::set_limit(limits, "step=5"), "no limit `step`; did you mean `steps`?");
  EXPECT_NE(dsl::set_limit(limits, "patience=5").find("there are file-bytes"), std::string::npos);
  for (const char* text : {"steps", "=5", "steps=", "steps=many", "steps=1.5", "steps=99999999999999999999"})
    EXPECT_NE(dsl::set_limit(limits, text), "") << text;
}

struct Raised {
  std::string limit;
  std::string text, code;
  int64_t small, large;
};

// Each bound stops a text at a small number, with a message that names it, and lets it pass at a larger one.
TEST(Limits, EachStopsAndItsMessageSaysHowToRaiseIt) {
  const std::string head = "from nvidia.dali import pipeline_def, fn\n@pipeline_def\ndef p():\n";
  const std::vector<Raised> all = {
      {"file-bytes", "value = 123456\n", "G0710", 10, 100},
      {"steps", "for i in range(100):\n    pass\n", "G0706", 50, 5000},
      {"call-depth", "def f(n):\n    return n if n == 0 else f(n - 1)\nf(20)\n", "G0705", 10, 40},
      {"nodes",
       head + "    x = fn.random.uniform()\n    for i in range(20):\n        x = x + x\n    return x\n",
       "G0707", 10, 100},
      {"value-bytes", "x = 'a' * 1000\n", "G0709", 500, 5000},
      {"total-bytes", "x = ['a' * 1000 + str(i) for i in range(100)]\n", "G0708", 50'000, 10'000'000},
  };
  for (const Raised& one : all) {
    dsl::FrontendOptions options;
    ASSERT_EQ(dsl::set_limit(options.limits, one.limit, one.small), "");
    SourceMap sources;
    dsl::FrontendResult result = dsl::stage_all("limit.dali-dsl", one.text, options, registry(), sources);
    ASSERT_FALSE(result.diagnostics.empty()) << one.limit;
    EXPECT_EQ(result.diagnostics[0].code, one.code) << one.limit;
    EXPECT_NE(result.diagnostics[0].help.find("--limit " + one.limit + "="), std::string::npos)
        << result.diagnostics[0].help;
    ASSERT_EQ(dsl::set_limit(options.limits, one.limit, one.large), "");
    EXPECT_EQ(joined(errors_of(one.text, options)), "") << one.limit;
  }
}

// Where the tree alone is too much, that is said once, with the bound that was given.
TEST(Limits, OfMemoryAreReportedOnce) {
  const std::string text =
      "from nvidia.dali import fn, pipeline_def\n@pipeline_def\ndef p():\n    return fn.random.uniform()\n";
  for (const auto& [bound, shown] :
       {std::pair{int64_t{1}, "1 byte"}, {10, "10 bytes"}, {500, "500 bytes"}, {1500, "1500 bytes"}}) {
    dsl::FrontendOptions options;
    ASSERT_EQ(dsl::set_limit(options.limits, "total-bytes", bound), "");
    SourceMap sources;
    const auto result = dsl::stage_all("limit.dali-dsl", text, options, registry(), sources);
    ASSERT_EQ(result.diagnostics.size(), 1u) << bound;
    EXPECT_EQ(result.diagnostics[0].code, "G0708");
    EXPECT_EQ(result.diagnostics[0].message,
              std::string("the file and its static values need more than ") + shown);
  }
}

// f0 imports f1, and so on.
class ImportChain : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("galatea_limits_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 10; ++i)
      std::ofstream(folder_ / ("f" + std::to_string(i) + ".dali-dsl"))
          << (i < 9 ? "from .f" + std::to_string(i + 1) + " import x\n" : "x = 1\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::set<std::string> check(const std::string& limit, int64_t value) {
    dsl::FrontendOptions options;
    EXPECT_EQ(dsl::set_limit(options.limits, limit, value), "");
    SourceMap sources;
    std::set<std::string> codes;
    for (const Diagnostic& diagnostic :
         dsl::stage_all((folder_ / "f0.dali-dsl").string(), std::nullopt, options, registry(), sources)
             .diagnostics)
      codes.insert(diagnostic.code);
    return codes;
  }
  std::filesystem::path folder_;
};

TEST_F(ImportChain, HasItsOwnLimits) {
  EXPECT_EQ(joined(check("import-depth", 5)), "G0712");
  EXPECT_EQ(joined(check("import-depth", 10)), "");
  EXPECT_EQ(joined(check("imports", 5)), "G0711");
  EXPECT_EQ(joined(check("imports", 10)), "");
}

// A build without some operator says so, wherever the language needs it.
TEST(Limits, AnOperatorMissingInTheBuildIsNamed) {
  op::Registry empty;
  SourceMap sources;
  dsl::FrontendResult result = dsl::stage_all(
      "t.dali-dsl", "from nvidia.dali import pipeline_def\n@pipeline_def\ndef p():\n    return 1\n", {},
      empty, sources);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics[0].code, "G0416");
  EXPECT_NE(result.diagnostics[0].message.find("`constant`"), std::string::npos);
}

// Walks that gave up used to answer `==` wrongly.
TEST(Limits, LargeValuesCompareAsTheyAre) {
  EXPECT_EQ(
      joined(errors_of("x = [0] * 900000\ny = [0] * 900000\nassert x == y\ny[899999] = 1\nassert x != y\n"
                       "assert x < y\n",
                       {})),
      "");
}

// Texts of the user's in a message are cut; the message stays a message.
TEST(Limits, MessagesStayShort) {
  SourceMap sources;
  dsl::FrontendResult result = dsl::stage_all(
      "t.dali-dsl", "print('ä' * 1000000)\nraise ValueError('b' * 1000000)\n", {}, registry(), sources);
  ASSERT_EQ(result.diagnostics.size(), 2u);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    EXPECT_LT(diagnostic.message.size(), 5000u);
    EXPECT_NE(diagnostic.message.find("more bytes)"), std::string::npos);
  }
}

}  // namespace
}  // namespace galatea::limits
