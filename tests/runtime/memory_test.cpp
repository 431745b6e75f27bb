// Tensors, the allocator, arenas and pools.
#include <algorithm>
#include <initializer_list>
#include <random>

#include <gtest/gtest.h>

#include "program_maker.h"
#include "runtime/arena.h"
#include "runtime/buffer_pool.h"
#include "runtime/copy_past_cache.h"
#include "runtime/free_ranges.h"

namespace galatea::runtime {
namespace {

/// Not byte by byte with a macro: a hundred million of those take a minute.
bool is_filled(const uint8_t* data, int64_t size, uint8_t mark) {
  return std::count(data, data + size, mark) == size;
}

TEST(Tensor, StridedCopiesAreRowMajor) {
  std::vector<uint16_t> data(24);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint16_t>(i);
  Tensor tensor;
  const int64_t extents[] = {2, 3, 4};
  tensor.set_dense(DType::kU16, extents);
  tensor.data = reinterpret_cast<uint8_t*>(data.data());
  EXPECT_TRUE(tensor.is_dense());
  EXPECT_EQ(testing::elements_of<uint16_t>(tensor), data);
  // Rows of two elements from column 1 on: the tail is dense, the rows are not.
  Tensor part = tensor;
  part.extents[2] = 2;
  part.data += 2;
  EXPECT_FALSE(part.is_dense());
  EXPECT_EQ(testing::elements_of<uint16_t>(part),
            (std::vector<uint16_t>{1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22}));
  // Reversed and transposed.
  Tensor turned = tensor;
  turned.ndim = 2;
  turned.extents[0] = 4, turned.strides[0] = -1, turned.extents[1] = 3, turned.strides[1] = 4;
  turned.data += 3 * 2;
  EXPECT_EQ(testing::elements_of<uint16_t>(turned),
            (std::vector<uint16_t>{3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8}));
  Tensor empty = tensor;
  empty.extents[1] = 0;
  EXPECT_TRUE(testing::bytes_of(empty).empty());
  // The same element again and again.
  Tensor repeated = tensor;
  repeated.ndim = 1, repeated.extents[0] = 3, repeated.strides[0] = 0;
  EXPECT_EQ(testing::elements_of<uint16_t>(repeated), (std::vector<uint16_t>{0, 0, 0}));
}

/// Rows in any order, of any length, to any place: as one by one, and nothing beside them is touched.
TEST(Tensor, CopiesPastTheCacheAreTheSame) {
  constexpr int64_t kImages = 2, kRows = 5, kAround = 128;
  std::mt19937 random(3);
  for (const int64_t columns : {1, 63, 64, 127, 128, 129, 160, 191, 192, 336, 1001})
    for (const int64_t gap : {0, 3})
      for (const bool backwards : {true, false})
        for (const int64_t shift : {0, 2, 16, 62}) {
          const int64_t stride = columns + gap;
          std::vector<uint16_t> data(static_cast<size_t>(kImages * kRows * stride));
          for (uint16_t& x : data) x = static_cast<uint16_t>(random());
          Tensor tensor;
          const int64_t extents[] = {kImages, kRows, columns};
          tensor.set_dense(DType::kU16, extents);
          tensor.data = reinterpret_cast<uint8_t*>(data.data());
          tensor.strides[0] = kRows * stride, tensor.strides[1] = backwards ? -stride : stride;
          if (backwards) tensor.data += (kRows - 1) * stride * 2;
          std::vector<uint8_t> wanted, memory(static_cast<size_t>(tensor.num_bytes() + 2 * kAround), 0xCD);
          for (int64_t n = 0; n < kImages; ++n)
            for (int64_t y = 0; y < kRows; ++y) {
              const auto* row = reinterpret_cast<const uint8_t*>(
                  data.data() + (n * kRows + (backwards ? kRows - 1 - y : y)) * stride);
              wanted.insert(wanted.end(), row, row + columns * 2);
            }
          auto* start =
              reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
          copy_past_cache(tensor, start + shift);
          EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), start + shift))
              << columns << " columns, " << gap << " between, at " << shift;
          EXPECT_TRUE(std::all_of(memory.data(), start + shift, [](uint8_t b) { return b == 0xCD; }));
          EXPECT_TRUE(std::all_of(start + shift + wanted.size(), memory.data() + memory.size(),
                                  [](uint8_t b) { return b == 0xCD; }));
        }
}

TEST(Allocator, LargeBuffersAreCountedAsTheyAre) {
  Allocator allocator;
  const int64_t bytes = (int64_t{5} << 20) + 3;
  {
    auto large = allocator.allocate(bytes);
    ASSERT_TRUE(large.has_value());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*large)->data()) % kBufferAlignment, 0u);
    (*large)->data()[0] = (*large)->data()[bytes - 1] = 1;
    for (int64_t k = 0; k < kBufferPadding; ++k) EXPECT_EQ((*large)->data()[bytes + k], 0);
    EXPECT_EQ(allocator.bytes_in_use(), bytes + kBufferPadding);
  }
  EXPECT_EQ(allocator.bytes_in_use(), 0);
}

TEST(Allocator, CountsAlignsPadsAndKeepsItsLimit) {
  Allocator allocator(1000);
  {
    auto a = allocator.allocate(500);
    ASSERT_TRUE(a.has_value());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*a)->data()) % kBufferAlignment, 0u);
    for (int64_t k = 0; k < kBufferPadding; ++k) EXPECT_EQ((*a)->data()[500 + k], 0);
    EXPECT_EQ(allocator.bytes_in_use(), 500 + kBufferPadding);
    auto b = allocator.allocate(500);
    ASSERT_FALSE(b.has_value());
    EXPECT_EQ(b.error().kind, ErrorKind::kUser);
    EXPECT_NE(b.error().message().find("1000"), std::string::npos);
  }
  EXPECT_EQ(allocator.bytes_in_use(), 0);
  EXPECT_EQ(allocator.peak_bytes(), 500 + kBufferPadding);
  allocator.fail_after(2);
  EXPECT_TRUE(allocator.allocate(1).has_value());
  auto failed = allocator.allocate(1);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ErrorKind::kSystem);
  EXPECT_TRUE(allocator.allocate(1).has_value());
}

TEST(Allocator, BuffersMayOutliveIt) {
  std::shared_ptr<Buffer> buffer;
  {
    Allocator allocator;
    buffer = *allocator.allocate(100);
  }
  buffer->data()[99] = 1;
  EXPECT_EQ(buffer->size(), 100);
}

TEST(Arena, BlocksComeBackWithTheirLastReference) {
  Allocator allocator;
  Arena arena(allocator);
  int32_t a = *arena.acquire(1000);
  uint8_t* data = arena.data(a);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kBufferAlignment, 0u);
  arena.retain(a);
  arena.release(a);
  EXPECT_NE(arena.data(*arena.acquire(1000)), data);
  arena.release(a);
  EXPECT_EQ(arena.data(*arena.acquire(900)), data);
}

TEST(Arena, SamplesOfAnySizesUseTheSameMemory) {
  Allocator allocator;
  Arena arena(allocator);
  const auto blocks_of = [&](std::initializer_list<int64_t> sizes) {
    std::vector<uint8_t*> blocks;
    for (int64_t size : sizes) blocks.push_back(arena.data(*arena.acquire(size)));
    arena.reset();
    return blocks;
  };
  // The first samples find out how much it takes; from then on there is one piece.
  for (int sample = 0; sample < 3; ++sample) blocks_of({900'000, 800'000, 50'000});
  const auto count = allocator.num_allocations();
  const auto first = blocks_of({900'000, 800'000});
  EXPECT_EQ(first[1] - first[0], (900'000 + kBufferPadding + 63) / 64 * 64);
  for (int sample = 1; sample < 40; ++sample) {
    const auto now = blocks_of({20'000 + 19'000 * sample, 780'000 - 15'000 * sample});
    EXPECT_EQ(now.front(), first.front()) << "sample " << sample;
    EXPECT_LT(now.back(), first.back()) << "sample " << sample;
  }
  EXPECT_EQ(allocator.num_allocations(), count);
  EXPECT_EQ(arena.retained_bytes(), 2 << 20);
}

/// Blocks of random sizes come and go; their bytes stay theirs, with readable padding behind them.
TEST(Arena, BlocksNeverOverlap) {
  std::mt19937 random(7);
  for (auto pieces : {Arena::Pieces::kHugePages, Arena::Pieces::kAsNeeded}) {
    Allocator allocator;
    Arena arena(allocator, nullptr, pieces);
    struct Live {
      int32_t id;
      int64_t size;
      uint8_t mark;
    };
    for (int sample = 0; sample < 50; ++sample) {
      std::vector<Live> live;
      for (int step = 0; step < 60; ++step) {
        if (!live.empty() && random() % 3 == 0) {
          const size_t at = random() % live.size();
          const Live gone = live[at];
          ASSERT_TRUE(is_filled(arena.data(gone.id), gone.size, gone.mark));
          arena.release(gone.id);
          live.erase(live.begin() + static_cast<ptrdiff_t>(at));
          continue;
        }
        const int64_t size = random() % 5 == 0 ? random() % 300'000 : random() % 3'000;
        const Live now{*arena.acquire(size), size, static_cast<uint8_t>(random())};
        std::fill_n(arena.data(now.id), size + kBufferPadding, now.mark);
        live.push_back(now);
      }
      for (const Live& one : live) ASSERT_TRUE(is_filled(arena.data(one.id), one.size, one.mark));
      arena.reset();
    }
    // Everything fits into one piece in the end.
    const auto count = allocator.num_allocations();
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(arena.acquire(200'000).has_value());
    EXPECT_EQ(allocator.num_allocations(), count);
  }
}

TEST(Arena, TakesNoMoreThanItsSamplesNeed) {
  Allocator allocator;
  Arena small(allocator), parked(allocator, nullptr, Arena::Pieces::kAsNeeded);
  for (int sample = 0; sample < 3; ++sample) {
    for (Arena* arena : {&small, &parked}) {
      ASSERT_TRUE(arena->acquire(3'000).has_value());
      ASSERT_TRUE(arena->acquire(5'000).has_value());
      if (arena == &parked) {
        ASSERT_TRUE(arena->acquire(700'000).has_value());
      }
      arena->reset();
    }
  }
  EXPECT_LE(small.retained_bytes(), 2 * 8'200);
  EXPECT_LE(parked.retained_bytes(), 708'000 * 5 / 4 + 100'000);
  Arena growing(allocator);
  for (int64_t size = 1 << 20; size < 3 << 20; size += 1 << 17) {
    ASSERT_TRUE(growing.acquire(size).has_value());
    growing.reset();
  }
  EXPECT_LE(growing.retained_bytes(), 2 * (3 << 20));
  EXPECT_GT(growing.retained_bytes(), 0);
}

TEST(Arena, TakesTheNeedAloneWhereThereIsNoMore) {
  Allocator allocator(700'000);  // less than a huge page
  Arena arena(allocator);
  ASSERT_TRUE(arena.acquire(600'000).has_value());
  EXPECT_LT(arena.retained_bytes(), 700'000);
  EXPECT_FALSE(arena.acquire(600'000).has_value());
}

TEST(BufferPool, RecyclesAndStaysBounded) {
  Allocator allocator;
  std::shared_ptr<Buffer> survivor;
  {
    BufferPool pool(allocator);
    uint8_t* first = nullptr;
    {
      auto buffer = *pool.acquire(5000);
      first = buffer->data();
      EXPECT_EQ(buffer->size(), 5000);
    }
    survivor = *pool.acquire(4900);
    EXPECT_EQ(survivor->data(), first);
    EXPECT_EQ(pool.num_recycled(), 1);
    for (int64_t size = 10000; size < 1000000; size += 30000) ASSERT_TRUE(pool.acquire(size).has_value());
    EXPECT_LE(pool.free_bytes(), 1200000);
    EXPECT_EQ(pool.bytes_in_use(), survivor->size() <= 5000 ? round_up_capacity(5000) : 0);
  }
  EXPECT_GT(allocator.bytes_in_use(), 0);
  survivor.reset();
  EXPECT_EQ(allocator.bytes_in_use(), 0);
}

/// Of several that fit, the one that is still in the cache: what a consumer lets go last goes round, and the
/// others stay where they are.
TEST(BufferPool, RecyclesTheLatest) {
  Allocator allocator;
  BufferPool pool(allocator);
  auto first = *pool.acquire(5000), second = *pool.acquire(5000), third = *pool.acquire(5000);
  const uint8_t *a = first->data(), *b = second->data(), *c = third->data();
  second.reset();
  third.reset();
  first.reset();
  for (int round = 0; round < 3; ++round) EXPECT_EQ((*pool.acquire(5000))->data(), a);
  auto again = *pool.acquire(5000), next = *pool.acquire(5000);
  EXPECT_EQ(again->data(), a);
  EXPECT_EQ(next->data(), c);
  EXPECT_EQ((*pool.acquire(5000))->data(), b);
}

TEST(BufferPool, PreparesOneThatIsRecycled) {
  Allocator allocator;
  BufferPool pool(allocator);
  pool.prepare(5000);
  EXPECT_EQ(pool.free_bytes(), 0);  // nothing was in use yet, so that nothing is known of what will be
  auto used = *pool.acquire(5000);
  pool.prepare(5000);
  pool.prepare(5000);
  EXPECT_EQ(pool.free_bytes(), round_up_capacity(5000));
  auto next = *pool.acquire(5000);
  EXPECT_EQ(pool.num_recycled(), 1);
  EXPECT_NE(next->data(), used->data());
}

/// Buffers that are smaller than huge pages lie in slabs of them, keep their bytes, and go when all are gone.
TEST(BufferPool, CutsManyMiddlingBuffersFromSlabs) {
  Allocator allocator;
  std::vector<std::shared_ptr<Buffer>> held;
  std::mt19937 random(9);
  {
    BufferPool pool(allocator);
    for (int round = 0; round < 40; ++round) {
      while (held.size() < 24) {
        held.push_back(*pool.acquire(100'000 + static_cast<int64_t>(random() % 900'000)));
        Buffer& buffer = *held.back();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
        std::fill_n(buffer.data(), buffer.size() + kBufferPadding, static_cast<uint8_t>(buffer.size()));
      }
      for (int k = 0; k < 9; ++k) {
        const size_t at = random() % held.size();
        const int64_t size = held[at]->size();
        ASSERT_TRUE(is_filled(held[at]->data(), size, static_cast<uint8_t>(size)));
        held.erase(held.begin() + static_cast<ptrdiff_t>(at));
      }
    }
    EXPECT_LE(pool.free_bytes(), 24 * 1'100'000);
    EXPECT_LT(allocator.num_allocations(), 40);  // of some hundred buffers
    EXPECT_LE(allocator.peak_bytes(), int64_t{3} * 24 * 1'100'000);
  }
  EXPECT_GT(allocator.bytes_in_use(), 0);
  held.clear();
  EXPECT_EQ(allocator.bytes_in_use(), 0);
}

TEST(FreeRanges, LowestFirstAndWholeAgain) {
  FreeRanges free(1000);
  EXPECT_EQ(free.cut(400), 0);
  EXPECT_EQ(free.cut(300), 400);
  EXPECT_EQ(free.cut(400), -1);
  EXPECT_EQ(free.cut(200, true), -1);
  EXPECT_EQ(free.cut(300, true), 700);
  EXPECT_EQ(free.cut(1), -1);
  free.give_back(0, 400);
  free.give_back(700, 300);
  EXPECT_EQ(free.cut(300), 0);  // the lowest that has room, not the one that fits
  free.give_back(0, 300);
  EXPECT_FALSE(free.is_whole(1000));
  free.give_back(400, 300);
  EXPECT_TRUE(free.is_whole(1000));
}

TEST(BufferPool, GivesIdleBuffersBackBeforeItFails) {
  Allocator allocator(100000);
  BufferPool pool(allocator);
  {
    auto idle = *pool.acquire(60000);
  }
  EXPECT_TRUE(pool.acquire(10000).has_value());  // 10,000 would fit beside it
  auto large = pool.acquire(90000);
  EXPECT_TRUE(large.has_value());
}

}  // namespace
}  // namespace galatea::runtime
