// Messages that need a host, options or a file of their own.
#include "dsl/messages.h"

#include <gtest/gtest.h>

#include "stdlib_ops/register_all.h"
#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

TEST(Messages, AMissingOperatorIsNamed) {
  const std::string text =
      "from nvidia.dali import pipeline_def, fn\n\n@pipeline_def(batch_size=4)\ndef p():\n    x = "
      "fn.random.uniform()\n"
      "    return x + 1\n";
  op::Registry all, few;
  ops::register_all(all);
  few.add(*all.find("random.uniform"));
  few.add(*all.find("constant"));
  SourceMap sources;
  FrontendResult result = stage_all("test.dali-dsl", text, {}, few, sources);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].code, "G0416");
  EXPECT_NE(result.diagnostics[0].message.find("arith.add"), std::string::npos);
}

}  // namespace
}  // namespace galatea::dsl::testing
