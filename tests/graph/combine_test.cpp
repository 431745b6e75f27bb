// Several graphs as one: what is equal comes once, the rest as often as there are graphs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/combine_graphs.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "tests/graph/graph_text.h"

namespace galatea::testing {
namespace {

constexpr const char* kHead =
    "pipeline @p(batch_size=4, num_threads=2, seed=7, prefetch_queue_depth=2) {\n"
    "^0:\n"
    "  %file, %label = files() {root=\"photos\"} : u8[?], i32[1]\n"
    "  %x = decode(%file) : u8[?,?,3] HWC\n"
    "  %v = uniform() : f32[] key=0x9\n";

Result<CombinedGraph> combine(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<ir::Graph>> graphs;
  for (const std::string& text : texts) graphs.push_back(std::make_unique<ir::Graph>(graph_of(text)));
  return combine_graphs(graphs);
}

/// The text of what they become, which must be legal and read back.
std::string combined(const std::vector<std::string>& bodies, std::vector<int>* origins = nullptr) {
  std::vector<std::string> texts;
  for (const std::string& body : bodies) texts.push_back(kHead + body + "}\n");
  const Result<CombinedGraph> made = combine(texts);
  if (!made) return ADD_FAILURE() << made.error().message(), "";
  const Status legal = ir::verify(*made->graph);
  EXPECT_TRUE(legal) << legal.error().message();
  const std::string text = ir::to_text(*made->graph);
  EXPECT_EQ(ir::to_text(graph_of(text)), text);
  if (origins)
    for (const CombinedOutput& output : made->outputs) origins->push_back(output.graph);
  return text;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

std::string brightened(double by) {
  return fmt::format("  %y = brighten(%x) {{by={}}} : u8[?,?,3] HWC\n", by);
}

/// The n-th branch on a draw; the other way leaves `from` alone. `in_arm`: what else the first arm computes.
std::string maybe_brighter(int n, const std::string& from, const std::string& to, double by,
                           const std::string& in_arm = "") {
  return fmt::format(
      "  %u{0} = uniform() : f32[] key=0x{0}\n"
      "  %h{0} = constant() {{value=0.5}} : f32[]\n"
      "  %c{0} = less(%u{0}, %h{0}) : bool[]\n"
      "  branch %c{0} ^{4}, ^{5}\n"
      "^{4}(^{7}):\n"
      "  %r{0} = brighten({1}) {{by={3}}} : u8[?,?,3] HWC\n"
      "{8}"
      "  jump ^{6}\n"
      "^{5}(^{7}):\n"
      "  jump ^{6}\n"
      "^{6}(^{4}, ^{5}):\n"
      "  {2} = merge(%r{0}, {1}) : u8[?,?,3] HWC\n",
      n, from, to, by, 3 * n - 2, 3 * n - 1, 3 * n, 3 * n - 3, in_arm);
}

TEST(Combine, OneGraphStaysAsItIs) {
  const std::string body = brightened(2) + "  return %y, %label\n";
  EXPECT_EQ(combined({body}), ir::to_text(graph_of(kHead + body + "}\n")));
  std::vector<int> origins;
  EXPECT_EQ(combined({body, body, body}, &origins), combined({body}));
  EXPECT_EQ(origins, (std::vector<int>{-1, -1}));
}

TEST(Combine, WhatIsEqualComesOnce) {
  std::vector<int> origins;
  const std::string end =
      "  %t = add(%v, %v) : f32[]\n"
      "  return %y, %t\n";
  const std::string text = combined(
      {brightened(2) + end, brightened(3) + end, brightened(2) + end, brightened(4) + end}, &origins);
  EXPECT_EQ(count(text, "files("), 1) << text;
  EXPECT_EQ(count(text, "decode("), 1) << text;
  EXPECT_EQ(count(text, "brighten("), 3) << text;
  EXPECT_EQ(count(text, "add("), 1) << "it does not depend on what differs\n" << text;
  EXPECT_EQ(origins, (std::vector<int>{0, 1, 2, 3, -1}));
}

TEST(Combine, AForkBeforeTheDifferenceIsShared) {
  auto body = [](double by) {
    return maybe_brighter(1, "%x", "%m", 9) +
           fmt::format("  %y = brighten(%m) {{by={}}} : u8[?,?,3] HWC\n  return %y, %label\n", by);
  };
  const std::string text = combined({body(2), body(3)});
  EXPECT_EQ(count(text, "branch "), 1) << text;
  EXPECT_EQ(count(text, "uniform("), 2) << text;
  EXPECT_EQ(count(text, "brighten("), 3) << text;
}

TEST(Combine, AForkWithOtherArmsIsRepeatedWithItsDraw) {
  auto body = [](double by) {
    return maybe_brighter(1, "%x", "%m", by) + maybe_brighter(2, "%m", "%n", 5) + "  return %n, %label\n";
  };
  std::vector<int> origins;
  const std::string text = combined({body(2), body(3), body(2)}, &origins);
  // The second and the third step of each differ in what they work on.
  EXPECT_EQ(count(text, "branch "), 4) << text;
  EXPECT_EQ(count(text, "uniform("), 3) << "equal keys are one draw\n" << text;
  EXPECT_EQ(origins, (std::vector<int>{0, 1, 2, -1}));
  EXPECT_EQ(count(text.substr(text.find("return")), "%"), 4);
}

TEST(Combine, AForkMayMergeMore) {
  // The second graph reads after the branch what the first does not: variables join when they are read.
  const std::string more = maybe_brighter(1, "%x", "%m", 9, "  %k = add(%v, %v) : f32[]\n");
  const std::string first = more + "  return %m, %label\n";
  const std::string second = more + "  %l = merge(%k, %v) : f32[]\n  return %m, %l\n";
  std::vector<int> origins;
  const std::string text = combined({first, second}, &origins);
  EXPECT_EQ(count(text, "branch "), 1) << text;
  EXPECT_EQ(count(text, "merge("), 2) << text;
  EXPECT_EQ(origins, (std::vector<int>{-1, 0, 1}));
}

TEST(Combine, AMergeIsOfNothingThatComesLater) {
  // In the first graph the number that the second merges stands after the fork.
  const std::string fork = maybe_brighter(1, "%x", "%m", 9);
  const std::string sum = "  %s = add(%v, %v) : f32[]\n";
  const std::string second = sum + fork + "  %q = merge(%s, %v) : f32[]\n  return %m, %q\n";
  const std::string text = combined({fork + sum + "  return %m, %s\n", second});
  EXPECT_EQ(count(text, "add("), 1) << text;
  EXPECT_EQ(count(text, "branch "), 2) << text;
}

TEST(Combine, OtherDataOrOutputsAreRefused) {
  const std::string one = std::string(kHead) + "  return %x, %label\n}\n";
  std::string other = one;
  other.replace(other.find("photos"), 6, "others");
  const std::string fewer = std::string(kHead) + "  return %x\n}\n";
  std::string more = one;
  more.replace(more.find("  %x ="), 0, "  %f, %l = files() {root=\"photos\"} : u8[?], i32[1]\n");
  for (const auto& [second, words] :
       {std::pair{other, "read different data"}, {more, "read different data"}, {fewer, "2 outputs"}}) {
    for (const bool swapped : {false, true}) {
      const auto made = swapped ? combine({second, one}) : combine({one, second});
      ASSERT_FALSE(made) << words;
      EXPECT_EQ(made.error().diagnostics.at(0).code, "G0503");
      if (swapped) continue;
      EXPECT_NE(made.error().message().find(words), std::string::npos) << made.error().message();
    }
  }
}

}  // namespace
}  // namespace galatea::testing
