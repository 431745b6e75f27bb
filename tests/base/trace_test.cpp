#include "base/trace.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"

namespace galatea {
namespace {

TEST(Trace, GathersScopesOfManyThreads) {
  const NamedTrace traces[] = {{"", std::make_unique<Trace>()}};
  Trace& trace = *traces[0].trace;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&trace, t] {
      for (int i = 0; i < 50; ++i)
        TraceScope scope(&trace, "decode", "decode", "sample " + std::to_string(t * 50 + i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto document = parse_json(trace_json(traces));
  ASSERT_EQ(document["traceEvents"].size(), 200u);
  std::set<int> numbers;
  std::set<std::string> details;
  for (const auto& event : document["traceEvents"]) {
    EXPECT_EQ(event["ph"], "X");
    EXPECT_EQ(event["cat"], "decode");
    EXPECT_GE(event["dur"].get<double>(), 0.0);
    numbers.insert(event["tid"].get<int>());
    details.insert(event["args"]["detail"].get<std::string>());
  }
  EXPECT_EQ(numbers.size(), 4u);
  EXPECT_EQ(details.size(), 200u);
}

TEST(Trace, ScopesNest) {
  Trace trace;
  {
    TraceScope outer(&trace, "outer", "compile");
    TraceScope inner(&trace, "inner", "compile");
  }
  auto events = trace.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "inner");
  EXPECT_LE(events[1].begin_ns, events[0].begin_ns);
  EXPECT_GE(events[1].begin_ns + events[1].duration_ns, events[0].begin_ns + events[0].duration_ns);
}

TEST(Trace, WithoutATraceNothingHappens) { TraceScope scope(nullptr, "a", "b"); }

}  // namespace
}  // namespace galatea
