// SmallVector against std::vector, over the size at which it moves to memory of its own.
#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace galatea {
namespace {

using Small = SmallVector<std::string, 3>;

std::string text_of(size_t i) { return "element " + std::to_string(i) + ", longer than what a string keeps"; }

std::vector<std::string> elements_of(const Small& small) { return {small.begin(), small.end()}; }

std::vector<std::string> elements(size_t size) {
  std::vector<std::string> out;
  for (size_t i = 0; i < size; ++i) out.push_back(text_of(i));
  return out;
}

TEST(SmallVector, HoldsWhatAVectorHolds) {
  for (size_t size = 0; size < 12; ++size) {
    const std::vector<std::string> all = elements(size);
    Small pushed;
    for (const std::string& each : all) pushed.push_back(each);
    EXPECT_EQ(elements_of(pushed), all);
    EXPECT_EQ(pushed.size(), size);
    EXPECT_EQ(pushed.empty(), size == 0);
    EXPECT_EQ(elements_of(Small(all)), all);
    if (size == 0) continue;
    EXPECT_EQ(pushed.front(), all.front());
    EXPECT_EQ(pushed.back(), all.back());
    EXPECT_EQ(pushed[size - 1], all[size - 1]);
  }
}

TEST(SmallVector, CopiesAreApart) {
  for (const size_t size : {0, 2, 3, 4, 9}) {
    const Small first(elements(size));
    Small second = first;
    second.push_back("another");
    EXPECT_EQ(elements_of(first), elements(size));
    EXPECT_EQ(second.size(), size + 1);
    second = first;
    EXPECT_EQ(elements_of(second), elements(size));
  }
}

TEST(SmallVector, WhatWasMovedIsEmptyAndCanBeUsed) {
  for (const size_t size : {0, 2, 3, 4, 9}) {
    Small first(elements(size));
    Small second = std::move(first);
    EXPECT_EQ(elements_of(second), elements(size));
    EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): what is tested
    for (const std::string& each : elements(5)) first.push_back(each);
    EXPECT_EQ(elements_of(first), elements(5));
    first = std::move(second);
    EXPECT_EQ(elements_of(first), elements(size));
  }
}

TEST(SmallVector, HoldsNothingAliveThatItLost) {
  const auto owned = std::make_shared<int>(0);
  for (const size_t size : {2, 7}) {
    SmallVector<std::shared_ptr<int>, 3> small;
    for (size_t i = 0; i < size; ++i) small.push_back(owned);
    EXPECT_EQ(owned.use_count(), static_cast<long>(size) + 1);
    small.resize(1);
    EXPECT_EQ(owned.use_count(), 2);
    small.resize(size);
    EXPECT_EQ(small.back(), nullptr);
    small = {};
    EXPECT_EQ(owned.use_count(), 1);
  }
}

}  // namespace
}  // namespace galatea
