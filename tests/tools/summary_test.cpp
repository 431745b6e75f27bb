#include "tools/summary.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace galatea::tools {
namespace {

RunSummary example() {
  RunSummary summary;
  summary.statistics.samples = 100;
  summary.statistics.batches = 4;
  summary.statistics.seconds = 2;
  summary.statistics.read_seconds = 1;
  summary.statistics.decode_seconds = 2;
  summary.statistics.compute_seconds = 1;
  summary.statistics.peak_memory_bytes = 3 << 20;
  summary.statistics.operators = {{"resize", 9, 0.5, 100, "kernel"},
                                  {"decoders.image", 7, 1.5, 200, "decode"}};
  summary.statistics.skipped.resize(2);
  summary.statistics.skipped[0].source = "a/b.jpg";
  summary.startup_seconds = 0.25;
  summary.kernels_compiled = 1;
  summary.kernels_cached = 2;
  summary.first_tier = 1;
  summary.replaced = 1;
  summary.background_seconds = 0.5;
  summary.seed = UINT64_C(18446744073709551615);
  return summary;
}

TEST(Summary, JsonHasTheKeysOfTheContract) {
  std::string text = summary_json(example());
  EXPECT_EQ(
      text,
      R"({"samples":100,"batches":4,"startup_seconds":0.25,"seconds":2.0,"samples_per_second":50.0,)"
      R"("share":{"read":0.25,"decode":0.5,"compute":0.25,"wait":0.0},"peak_memory_bytes":3145728,)"
      R"("kernels":{"compiled":1,"cached":2,"first_tier":1,"replaced":1,"background_seconds":0.5},)"
      R"("operators":[{"name":"decoders.image","line":7,"kind":"decode","seconds":1.5,)"
      R"("share":0.75,"microseconds_per_sample":15000.0,"calls":200},{"name":"resize","line":9,"kind":"kernel","seconds":0.5,)"
      R"("share":0.25,"microseconds_per_sample":5000.0,"calls":100}],"skipped":2,"replaced":0,"seed":18446744073709551615})"
      "\n");
}

TEST(Summary, NothingMeasuredIsNoDivisionByZero) {
  auto document = parse_json(summary_json({}));
  EXPECT_EQ(document["samples_per_second"], 0.0);
  EXPECT_EQ(document["share"]["read"], 0.0);
}

TEST(Summary, TextListsOperatorsAndFailures) {
  RunSummary summary = example();
  summary.stopped = "interrupted";
  std::string text = summary_text(summary);
  EXPECT_NE(text.find("stopped    interrupted\n"), std::string::npos) << text;
  EXPECT_NE(text.find("time       2.000 s, 50 samples/s; start-up 0.250 s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("share      read 25 %, decode 50 %, compute 25 %, wait 0 %\n"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("tiers      1 began with quick code, 1 have the best by now (0.500 s beside the run)\n"),
      std::string::npos)
      << text;
  EXPECT_LT(text.find("decoders.image"), text.find("resize"));
  EXPECT_NE(text.find("            75 %    15000.0       200     7  decoders.image (decode)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("skipped    2\n  a/b.jpg: "), std::string::npos) << text;
  EXPECT_EQ(text.find("replaced"), std::string::npos) << text;
}

}  // namespace
}  // namespace galatea::tools
