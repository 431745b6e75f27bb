// Maps by the address of a node against the standard library's.
#include "compiler/kernel/node_map.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_map>

#include "compiler/kernel/expr.h"

namespace galatea::kernel {
namespace {

TEST(NodeMap, AgreesWithAMap) {
  std::vector<Expr> nodes;
  for (int i = 0; i < 500; ++i) nodes.push_back(param(i, DType::kI64));
  std::mt19937 random(7);
  for (const size_t most : {size_t{3}, size_t{8}, size_t{9}, size_t{40}, nodes.size()}) {
    NodeMap<int> map;
    std::unordered_map<const ExprNode*, int> expected;
    for (int step = 0; step < 2000; ++step) {
      const ExprNode* node = nodes[random() % most].get();
      if (random() % 50 == 0) map.clear(), expected.clear();
      if (random() % 3 == 0) {
        map[node] += step;
        expected[node] += step;
      } else {
        EXPECT_EQ(map.emplace(node, step).second, expected.emplace(node, step).second);
      }
      ASSERT_EQ(map.size(), expected.size());
    }
    for (const Expr& e : nodes) {
      const auto* found = map.find(e.get());
      ASSERT_EQ(found != map.end(), expected.contains(e.get()));
      if (found) {
        EXPECT_EQ(found->second, expected[e.get()]);
      }
    }
  }
}

TEST(NodeMap, HoldsWhatOwnsMemory) {
  const Expr a = param(0, DType::kI64);
  std::vector<Expr> nodes;
  NodeMap<Expr> map;
  for (int i = 0; i < 100; ++i) nodes.push_back(param(i, DType::kI64) + a);
  for (const Expr& e : nodes) map.emplace(e.get(), e);
  for (const Expr& e : nodes) EXPECT_EQ(map.find(e.get())->second.get(), e.get());
}

/// Each kind below a node, whoever made it.
TEST(Kinds, AreThoseOfTheWhole) {
  const Expr e =
      convert(load({}, DType::kU8, {axis(0) + param(1, DType::kI64)}), DType::kF32) * const_float(2);
  for (const ExprKind kind :
       {ExprKind::kOp, ExprKind::kLoad, ExprKind::kAxis, ExprKind::kParam, ExprKind::kConst})
    EXPECT_TRUE(contains(e, kind));
  for (const ExprKind kind : {ExprKind::kTap, ExprKind::kAcc, ExprKind::kSymbol, ExprKind::kReduceAxis,
                              ExprKind::kVar, ExprKind::kLoadFlat, ExprKind::kPhilox})
    EXPECT_FALSE(contains(e, kind));
  const Expr other = rewrite(e, [](const Expr& x) { return x->kind == ExprKind::kAxis ? tap() : Expr(); });
  EXPECT_TRUE(contains(other, ExprKind::kTap));
  EXPECT_FALSE(contains(other, ExprKind::kAxis));
  EXPECT_FALSE(contains(Expr(), ExprKind::kConst));
}

TEST(RewriteKinds, EqualsRewriteAndLeavesTheRest) {
  const Expr still = param(0, DType::kI64) * param(1, DType::kI64);
  const Expr e = (still + axis(0)) * (axis(0) - axis(1)) + still;
  const auto replace = [](const Expr& x) {
    return x->kind == ExprKind::kAxis ? param(5 + x->index, DType::kI64) : Expr();
  };
  const Expr all = rewrite(e, replace), some = rewrite_kinds(e, bit_of(ExprKind::kAxis), replace);
  EXPECT_TRUE(same(all, some));
  EXPECT_EQ(rewrite_kinds(still, bit_of(ExprKind::kAxis), replace).get(), still.get());
}

/// Nodes that one thread makes and another lets go.
TEST(Expr, IsSharedBetweenThreads) {
  const Expr common = param(0, DType::kI64) + param(1, DType::kI64);
  std::vector<std::vector<Expr>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& list : made)
      threads.emplace_back([&list, &common] {
        for (int i = 0; i < 20000; ++i) list.push_back(common * const_int(i + 2));
      });
  }
  std::vector<std::jthread> threads;
  for (auto& list : made)
    threads.emplace_back([list = std::move(list), &common]() mutable {
      for (size_t i = 0; i < list.size(); ++i)
        if (!same(list[i]->args[0], common)) std::abort();
      list.clear();
    });
  threads.clear();
  EXPECT_EQ(to_text(common), "add(p0:i64, p1:i64)");
}

/// Whether there is such a node, whatever is shared and wherever it lies.
TEST(AnyNode, AgreesWithALookAtEveryNode) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<Expr> nodes = {axis(0), axis(1), param(0, DType::kI64), param(1, DType::kI64)};
    for (int i = 0; i < 40; ++i)
      nodes.push_back(nodes[random() % nodes.size()] * nodes[random() % nodes.size()]);
    const Expr& e = nodes.back();
    for (const int index : {0, 1, 2}) {
      bool found = false;
      for_each_node(
          e, [&](const Expr& part) { found |= part->kind == ExprKind::kParam && part->index == index; });
      EXPECT_EQ(any_node(e, bit_of(ExprKind::kParam), [&](const Expr& part) { return part->index == index; }),
                found);
    }
    EXPECT_FALSE(any_node(e, bit_of(ExprKind::kLoad), [](const Expr&) { return true; }));
    int asked = 0;
    any_node(e, bit_of(ExprKind::kOp), [&](const Expr&) { return ++asked, false; });
    EXPECT_LE(asked, 40) << "what is shared is asked about once";
  }
  EXPECT_FALSE(any_node(Expr(), ~uint32_t{0}, [](const Expr&) { return true; }));
}

}  // namespace
}  // namespace galatea::kernel
