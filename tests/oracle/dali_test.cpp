// What DALI recorded, run through galatea: the same pipeline text, the same inputs.
//
// Kernels run in the loop interpreter here (a thousand texts would mostly measure LLVM); that machine code
// agrees with it is the backends' test.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/oracle/oracle_cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

std::string first_message(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::kError)
      return d.code + " " + d.message + (d.notes.empty() ? "" : " (" + d.notes[0] + ")");
  return "no error";
}

DType dtype_of(const std::string& numpy) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (numpy_name(static_cast<DType>(i)) == numpy) return static_cast<DType>(i);
  ADD_FAILURE() << "unknown dtype " << numpy;
  return DType::kU8;
}

/// Where galatea differs on purpose, and why. A case listed here must differ: an entry that has become wrong
/// fails the test.
const std::map<std::string, std::string>& intended_differences() {
  static const std::string kComparison =
      "DALI 2.4 compares negative integers with floats wrongly (-9 < -21.5 is recorded as true)";
  static const std::string kRank =
      "a vector of unknown length decides the rank or the number of choices; refused while compiling, with "
      "help";
  static const std::map<std::string, std::string> kDifferences = {
      {"pair_int8_float64", kComparison},
      {"pair_int16_float64", kComparison},
      {"pair_int32_float64", kComparison},
      {"pair_int64_float32", kComparison},
      {"pair_int64_float64", kComparison},
      {"pair_float32_int8", kComparison},
      {"pair_float32_int32", kComparison},
      {"pair_float64_int8", kComparison},
      {"pair_float64_int16", kComparison},
      {"pair_float64_int32", kComparison},
      {"pair_float64_int64", kComparison},
      {"reshape_per_sample", kRank},
      {"reshape_input", kRank},
      {"uniform_values_per_sample", kRank},
      {"empty_resize", "an image without pixels has nothing to resize; an error instead of a made-up image"},
      {"merge_list",
       "arms whose values differ in type are an error while compiling, also where that leaf is not read "
       "later"},
      {"resize_filter_per_sample",
       "interp_type takes an integer node as it is; there is no cast to INTERP_TYPE"},
  };
  return kDifferences;
}

/// What became of a case: empty if all is as recorded.
std::string run_case(const OracleCase& oracle_case) {
  SourceMap sources;
  dsl::FrontendOptions options;
  dsl::FrontendResult staged = dsl::stage_pipeline(oracle_case.name + ".dali-dsl", oracle_case.text, options,
                                                   product().registry, sources);
  if (!staged.ok) return oracle_case.refused ? "" : "staging: " + first_message(staged.diagnostics);
  CompileOptions compile_options;
  compile_options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, compile_options);
  if (!program) return oracle_case.refused ? "" : "compiling: " + program.error().message();
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return "session: " + session.error().message();
  runtime::Allocator allocator;
  for (const auto& [name, samples] : oracle_case.inputs) {
    std::vector<runtime::Tensor> tensors;
    for (const Array& array : samples) {
      auto tensor = runtime::allocate_tensor(allocator, dtype_of(array.dtype), array.shape);
      if (!tensor) return tensor.error().message();
      if (!array.bytes.empty()) std::memcpy(tensor->data, array.bytes.data(), array.bytes.size());
      tensors.push_back(*tensor);
    }
    if (auto fed = (*session)->feed(name, tensors); !fed)
      return oracle_case.refused ? "" : "feeding " + name + ": " + fed.error().message();
  }
  if (auto status = (*session)->end_of_feed(); !status) return status.error().message();
  auto batch = (*session)->next();
  if (!batch) return oracle_case.refused ? "" : "running: " + first_message(batch.error().diagnostics);
  if (oracle_case.refused) return "";  // we may accept more, where the meaning is plain
  if (!*batch) return "no batch was delivered";
  const runtime::Batch& got = ***batch;
  if (got.outputs.size() != oracle_case.outputs.size()) return "number of outputs differs";
  for (size_t k = 0; k < got.outputs.size(); ++k) {
    if (got.outputs[k].spec.layout.str() != oracle_case.layouts[k])
      return "layout of output " + std::to_string(k) + ": \"" + got.outputs[k].spec.layout.str() +
             "\", recorded \"" + oracle_case.layouts[k] + "\"";
    if (got.outputs[k].samples.size() != oracle_case.outputs[k].size()) return "number of samples differs";
    for (size_t s = 0; s < got.outputs[k].samples.size(); ++s) {
      const runtime::Tensor& tensor = got.outputs[k].samples[s];
      Array array;
      array.dtype = std::string(numpy_name(tensor.dtype));
      array.shape.assign(tensor.extents, tensor.extents + tensor.ndim);
      array.bytes.resize(static_cast<size_t>(tensor.volume() * size_of(tensor.dtype)));
      if (!array.bytes.empty()) std::memcpy(array.bytes.data(), tensor.data, array.bytes.size());
      if (auto difference = compare(oracle_case, k, s, array)) return *difference;
    }
  }
  return "";
}

class Dali : public ::testing::TestWithParam<const char*> {};

TEST_P(Dali, GivesWhatWasRecorded) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/data", GetParam());
  ASSERT_TRUE(group) << group.error();
  size_t failures = 0;
  for (const OracleCase& oracle_case : group->cases) {
    std::string problem;
    try {
      problem = run_case(oracle_case);
    } catch (const std::exception& error) {
      problem = std::string("exception: ") + error.what();
    }
    if (auto intended = intended_differences().find(oracle_case.name);
        intended != intended_differences().end()) {
      EXPECT_FALSE(problem.empty()) << oracle_case.name
                                    << " is as recorded, yet listed as different: " << intended->second;
      continue;
    }
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << oracle_case.name << ": " << problem;
  }
  RecordProperty("cases", static_cast<int>(group->cases.size()));
  EXPECT_EQ(failures, 0U) << "of " << group->cases.size() << " cases";
}

INSTANTIATE_TEST_SUITE_P(Recorded, Dali,
                         ::testing::Values("resize", "window", "colour", "filter", "warp", "transforms",
                                           "shape", "arithmetic", "indexing", "decode", "branch", "random",
                                           "pipeline", "values", "tables", "auto_augment"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace galatea::testing
