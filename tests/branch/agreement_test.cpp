// What a program computes does not depend on whether its numbers are known while it is staged: random
// programs run on data, all samples of a batch at once, must give what CPython gives for each sample alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "tests/branch/harness.h"
#include "tests/branch/program_generator.h"
#include "tests/dsl/support.h"

namespace galatea::testing {
namespace {

constexpr int kNumSamples = 48;

std::vector<Input> make_inputs(DType integers) {
  std::mt19937_64 random(20260101);
  std::vector<Input> inputs = {{"a", integers, {}},
                               {"b", integers, {}},
                               {"c", integers, {}},
                               {"p", DType::kBool, {}},
                               {"q", DType::kBool, {}}};
  for (int s = 0; s < kNumSamples; ++s) {
    for (Input& input : inputs) {
      uint64_t range = input.dtype == DType::kBool ? 2 : s % 3 == 0 ? 4 : 200;
      input.values.push_back(static_cast<double>(random() % range));
    }
  }
  return inputs;
}

std::string pipeline_text(const std::string& program, const std::vector<Input>& inputs) {
  std::string text = "from nvidia.dali import pipeline_def, fn, types\n\n\n" + program +
                     "\n\n@pipeline_def(batch_size=8)\ndef pipe():\n";
  for (const Input& input : inputs) {
    const char* dtype = input.dtype == DType::kBool ? "BOOL" : input.dtype == DType::kI64 ? "INT64" : "INT32";
    text += fmt::format("    {0} = fn.external_source(name=\"{0}\", dtype=types.{1}, ndim=0)\n", input.name,
                        dtype);
  }
  return text + "    return f(a, b, c, p, q)\n";
}

/// What CPython computes: for each program, for each sample, the results; one run for all.
std::vector<std::vector<std::vector<double>>> run_in_python(const std::vector<std::string>& programs,
                                                            const std::vector<Input>& inputs) {
  std::string script = "rows = [\n";
  for (int s = 0; s < kNumSamples; ++s) {
    script += "    (";
    for (const Input& input : inputs) {
      double value = input.values[static_cast<size_t>(s)];
      script +=
          input.dtype == DType::kBool ? (value != 0 ? "True, " : "False, ") : fmt::format("{}, ", value);
    }
    script += "),\n";
  }
  script += "]\n\n";
  for (const std::string& program : programs)
    script += program + "\nfor row in rows:\n    print(*[int(v) for v in f(*row)])\n\n";
  auto output = dsl::testing::run_python(script, "");
  std::vector<std::vector<std::vector<double>>> results;
  if (!output) return results;
  std::istringstream lines(*output);
  for (size_t k = 0; k < programs.size(); ++k) {
    results.emplace_back();
    for (int s = 0; s < kNumSamples; ++s) {
      std::string text;
      std::getline(lines, text);
      std::istringstream numbers(text);
      results.back().emplace_back();
      for (double value; numbers >> value;) results.back().back().push_back(value);
    }
  }
  return results;
}

/// Runs programs of consecutive seeds; gives back how many were refused (only ever with one of `refusals`).
int expect_agreement(uint64_t first_seed, int count, GeneratorOptions options,
                     const std::set<std::string>& refusals) {
  std::vector<Input> inputs = make_inputs(options.wide ? DType::kI64 : DType::kI32);
  std::vector<std::string> programs;
  for (int k = 0; k < count; ++k)
    programs.push_back(ProgramGenerator(first_seed + static_cast<uint64_t>(k), options).make());
  auto expected = run_in_python(programs, inputs);
  EXPECT_EQ(expected.size(), programs.size()) << "CPython refuses a program";
  if (expected.size() != programs.size()) return 0;
  int refused = 0;
  for (size_t k = 0; k < programs.size(); ++k) {
    Way way;
    way.batch_size = k % 3 == 0 ? 1 : k % 3 == 1 ? 7 : kNumSamples;
    way.fuse = k % 2 == 0;
    if (k % 10 == 9) way.backend = "llvm";
    if (k % 5 == 4) way.executor = runtime::ExecutorKind::kCpu, way.threads = 2;
    Outcome outcome = run_text(pipeline_text(programs[k], inputs), inputs, way);
    auto allowed = [&](const std::string& code) { return refusals.contains(code); };
    if (!outcome.codes.empty() && std::all_of(outcome.codes.begin(), outcome.codes.end(), allowed)) {
      ++refused;
      continue;
    }
    EXPECT_EQ(outcome.error, "") << "seed " << first_seed + k << "\n" << programs[k];
    EXPECT_EQ(expected[k].at(0).size(), static_cast<size_t>(kNumResults));
    EXPECT_EQ(outcome.samples, expected[k]) << "seed " << first_seed + k << "\n" << programs[k];
    if (::testing::Test::HasFailure()) return refused;
  }
  return refused;
}

TEST(StaticEqualsDynamic, ProgramsOfNarrowIntegers) {
  if (!dsl::testing::python_available()) GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(expect_agreement(1, 200, {}, {}), 0);
}

TEST(StaticEqualsDynamic, ProgramsOfWideIntegers) {
  if (!dsl::testing::python_available()) GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(expect_agreement(1000, 100, {.wide = true}, {}), 0);
}

// A change in place that not all samples would see is refused. What is accepted means what it means in
// Python, also where several names stand for one list.
TEST(StaticEqualsDynamic, ProgramsThatChangeListsInPlace) {
  if (!dsl::testing::python_available()) GTEST_SKIP() << "python3 is not installed";
  int refused = expect_agreement(2000, 200, {.changes = true}, {"G0310", "G0313", "G0314"});
  RecordProperty("refused", refused);
  EXPECT_LT(refused, 150) << "too few programs are left to compare";
}

}  // namespace
}  // namespace galatea::testing
