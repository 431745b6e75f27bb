// The order of indices: permutations, shards, windows, padding.
#include "runtime/reader_loop.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "runtime/random.h"

namespace galatea::runtime {
namespace {

std::vector<int64_t> order_of(const ReaderOptions& options, int64_t size, int64_t epoch, int batch_size = 4) {
  EpochOrder order(options, size, epoch, batch_size);
  std::vector<int64_t> indices;
  while (!order.done()) indices.push_back(order.next());
  return indices;
}

bool is_permutation_of_range(std::vector<int64_t> indices, int64_t size) {
  std::sort(indices.begin(), indices.end());
  std::vector<int64_t> range(static_cast<size_t>(size));
  std::iota(range.begin(), range.end(), 0);
  return indices == range;
}

TEST(Random, PermutedIsAPermutationThatDependsOnItsKey) {
  for (uint64_t size : {1u, 2u, 3u, 7u, 64u, 65u, 1000u}) {
    std::vector<int64_t> a, b;
    for (uint64_t i = 0; i < size; ++i) {
      a.push_back(static_cast<int64_t>(permuted(1, i, size)));
      b.push_back(static_cast<int64_t>(permuted(2, i, size)));
    }
    EXPECT_TRUE(is_permutation_of_range(a, static_cast<int64_t>(size))) << size;
    if (size > 3) {
      EXPECT_NE(a, b);
    }
  }
}

TEST(Random, UniformBelowIsRoughlyEven) {
  std::vector<int> counts(10);
  for (uint64_t i = 0; i < 10000; ++i) ++counts[uniform_below(5, i, 0, 10)];
  // Standard deviation 30: six of them.
  for (int count : counts) EXPECT_NEAR(count, 1000, 180);
}

TEST(ReaderLoop, WithoutShufflingTheOrderIsTheList) {
  EXPECT_EQ(order_of({}, 5, 0), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(order_of({}, 5, 7), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(ReaderLoop, EveryEpochIsAnotherPermutation) {
  ReaderOptions options;
  options.random_shuffle = true;
  options.seed = 3;
  for (int64_t fill : {1, 2, 10, 1024}) {
    options.initial_fill = fill;
    std::set<std::vector<int64_t>> seen;
    for (int64_t epoch = 0; epoch < 5; ++epoch) {
      auto order = order_of(options, 50, epoch);
      EXPECT_TRUE(is_permutation_of_range(order, 50));
      seen.insert(order);
    }
    // A window of one sample shuffles nothing but the list at scan time.
    EXPECT_EQ(seen.size(), fill == 1 ? 1u : 5u);
  }
  auto a = order_of(options, 50, 0);
  options.seed = 4;
  EXPECT_NE(order_of(options, 50, 0), a);
}

TEST(ReaderLoop, TheWindowBoundsHowEarlyASampleMayCome) {
  ReaderOptions options;
  options.random_shuffle = true;
  auto base = [&] {
    options.initial_fill = 1;
    return order_of(options, 200, 0);
  }();
  options.initial_fill = 10;
  auto order = order_of(options, 200, 0);
  for (int64_t position = 0; position < 200; ++position) {
    auto place = std::find(base.begin(), base.end(), order[static_cast<size_t>(position)]) - base.begin();
    EXPECT_LT(place, position + 10);
  }
}

TEST(ReaderLoop, ShardsPartitionEveryEpochAndRotate) {
  for (bool shuffle : {false, true}) {
    for (int shards : {1, 2, 3, 7}) {
      for (int64_t epoch : {0, 1, 5}) {
        std::vector<int64_t> all;
        for (int shard = 0; shard < shards; ++shard) {
          ReaderOptions options;
          options.random_shuffle = shuffle;
          options.num_shards = shards;
          options.shard_id = shard;
          auto order = order_of(options, 23, epoch);
          // floor(N·s/n) … floor(N·(s+1)/n)
          int64_t read = (shard + epoch) % shards;
          EXPECT_EQ(static_cast<int64_t>(order.size()), 23 * (read + 1) / shards - 23 * read / shards);
          if (!shuffle) {
            EXPECT_EQ(order.front(), 23 * read / shards);
          }
          all.insert(all.end(), order.begin(), order.end());
        }
        EXPECT_TRUE(is_permutation_of_range(all, 23));
      }
    }
  }
}

TEST(ReaderLoop, StickingToAShardReadsItEveryEpoch) {
  ReaderOptions options;
  options.num_shards = 3;
  options.shard_id = 1;
  options.stick_to_shard = true;
  EXPECT_EQ(order_of(options, 9, 0), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(order_of(options, 9, 4), (std::vector<int64_t>{3, 4, 5}));
}

TEST(ReaderLoop, ShuffleAfterEpochPermutesTheWholeListAlikeOnAllShards) {
  for (int64_t epoch : {0, 1, 2}) {
    std::vector<int64_t> all;
    for (int shard = 0; shard < 3; ++shard) {
      ReaderOptions options;
      options.shuffle_after_epoch = true;
      options.num_shards = 3;
      options.shard_id = shard;
      auto order = order_of(options, 30, epoch);
      EXPECT_NE(order, order_of(options, 30, epoch + 1));
      all.insert(all.end(), order.begin(), order.end());
    }
    EXPECT_TRUE(is_permutation_of_range(all, 30));
  }
}

TEST(ReaderLoop, PaddingGivesEveryShardEquallyManyFullBatches) {
  for (int shard = 0; shard < 3; ++shard) {
    ReaderOptions options;
    options.num_shards = 3;
    options.shard_id = shard;
    options.pad_last_batch = true;
    auto order = order_of(options, 10, 0, 2);  // shards of 3, 3 and 4; ceil(10/3) = 4
    EXPECT_EQ(order.size(), 4u);
    EXPECT_EQ(order_of(options, 10, 0, 3).size(), 6u);
    int64_t last = 10 * (shard + 1) / 3 - 1;
    EXPECT_EQ(order.back(), last);
  }
  ReaderLoop loop(
      [] {
        ReaderOptions options;
        options.num_shards = 3;
        options.pad_last_batch = true;
        return options;
      }(),
      10, 2);
  EXPECT_EQ(loop.meta().epoch_size, 10);
  EXPECT_EQ(loop.meta().epoch_size_padded, 12);
}

TEST(ReaderLoop, TheLoopGoesOnWithTheNextEpoch) {
  ReaderLoop loop({}, 3, 2);
  std::vector<std::pair<int64_t, int64_t>> places;
  for (int i = 0; i < 7; ++i) {
    auto place = loop.next();
    places.emplace_back(place.epoch, place.index);
  }
  EXPECT_EQ(places, (std::vector<std::pair<int64_t, int64_t>>{
                        {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}}));
}

TEST(ReaderLoop, SubstitutesComeFromTheShardAndDependOnTheAttempt) {
  ReaderOptions options;
  options.num_shards = 2;
  options.shard_id = 1;
  std::set<int64_t> seen;
  for (int64_t attempt = 1; attempt < 60; ++attempt) {
    int64_t index = substitute_index(options, 20, 0, 4, attempt);
    EXPECT_GE(index, 10);
    EXPECT_LT(index, 20);
    EXPECT_EQ(index, substitute_index(options, 20, 0, 4, attempt));
    seen.insert(index);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(ReaderLoop, ArgumentsAreReadAndChecked) {
  auto parsed = parse_reader_options(
      R"({"random_shuffle": true, "seed": -1, "num_shards": 2, "shard_id": 1, "file_root": "x", "initial_fill": 16})",
      77, "Reader");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->seed, 77u);
  EXPECT_EQ(parsed->num_shards, 2);
  EXPECT_EQ(parsed->initial_fill, 16);
  EXPECT_EQ(parse_reader_options(R"({"seed": 5})", 77, "Reader")->seed, 5u);
  auto message_of = [](const char* config) {
    auto result = parse_reader_options(config, 0, "Reader");
    return result ? std::string() : result.error().message();
  };
  EXPECT_NE(message_of(R"({"num_shards": 2, "shard_id": 2})").find("shard_id is 2"), std::string::npos);
  EXPECT_NE(message_of(R"({"shuffle_after_epoch": true, "random_shuffle": true})").find("exclude"),
            std::string::npos);
  EXPECT_NE(message_of(R"({"shuffle_after_epoch": true, "stick_to_shard": true})").find("exclude"),
            std::string::npos);
  EXPECT_NE(message_of(R"({"initial_fill": 0, "random_shuffle": true})").find("initial_fill"),
            std::string::npos);
  EXPECT_EQ(message_of(R"({"initial_fill": 0})"), "");  // there is no window, as in DALI
  EXPECT_NE(message_of(R"({"initial_fill": "many"})").find("integer"), std::string::npos);
  ReaderOptions options;
  options.num_shards = 4;
  auto too_few = check_reader(options, 3, "Reader");
  ASSERT_FALSE(too_few.has_value());
  EXPECT_NE(too_few.error().message().find("3 samples"), std::string::npos);
}

}  // namespace
}  // namespace galatea::runtime
