// What is asked for before it is read: nothing of a container that is read from its front to its back, where the
// system reads ahead by itself; the parts of one that is not, or that comes from a slow disk.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/tfrecord.h"
#include "tests/support/build_folder.h"
#include "tests/support/page_cache.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

constexpr int64_t kPart = 64 * 1024;

TEST(ReadOrder, AsksForPartsThatDoNotFollowOneAnother) {
  ReadOrder order;
  EXPECT_TRUE(order.asks_for(0, kPart));  // nothing is known of it yet
  EXPECT_FALSE(order.asks_for(kPart, kPart));
  EXPECT_FALSE(order.asks_for(2 * kPart + 512, 3));                 // behind a header
  EXPECT_FALSE(order.asks_for(2 * kPart + 512 + 3 + 1536, kPart));  // behind padding and headers
  EXPECT_FALSE(order.asks_for(4 * kPart, 4 * kPart));
  EXPECT_TRUE(order.asks_for(20 * kPart, kPart));
  EXPECT_TRUE(order.asks_for(0, kPart));
  EXPECT_FALSE(order.asks_for(kPart, kPart));
  EXPECT_TRUE(order.asks_for(kPart, kPart));
}

TEST(ReadOrder, AsksForPartsInOrderWhereTheDiskIsSlow) {
  ReadOrder order;
  int64_t at = 0;
  const auto wait = [&](int64_t bytes, microseconds each) {
    for (int i = 0; i < 16; ++i) order.note_wait(at += bytes, each);
  };
  const auto asks = [&] {
    order.asks_for(at, kPart);
    return order.asks_for(at + kPart, kPart);
  };
  wait(512 * 1024, microseconds(1000));
  EXPECT_FALSE(asks());  // half a gigabyte a second
  wait(256 * 1024, microseconds(20'000));
  EXPECT_TRUE(asks());  // thirteen megabytes a second
  wait(512 * 1024, microseconds(1000));
  EXPECT_FALSE(asks());
  // As every disk begins, which reads ahead in larger and larger pieces.
  wait(8 * 1024, microseconds(2000));
  EXPECT_FALSE(asks());
  // Waits that lie far apart say nothing of what was read between them.
  for (int i = 0; i < 16; ++i) order.note_wait(at += 2 * kMostAsked, microseconds(20'000));
  EXPECT_FALSE(asks());
}

class ReadAheadOfContainers : public ::testing::Test {
 protected:
  ReadAheadOfContainers() {
    root_ = fs::path(testing::build_folder()) / "native-test" /
            (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
             std::to_string(::getpid()));
    fs::create_directories(root_);
    std::ofstream(path(), std::ios::binary) << std::string(64 * kPart, 'q');
  }
  ~ReadAheadOfContainers() override { fs::remove_all(root_); }

  fs::path path() const { return root_ / "data"; }
  bool has(int64_t begin, int64_t bytes) const {
    return page_cache::has(path(), static_cast<size_t>(begin), static_cast<size_t>(begin + bytes)) == true;
  }

  fs::path root_;
};

TEST_F(ReadAheadOfContainers, PartsInOrderAreLeftToTheSystem) {
  if (!page_cache::evict(path()))
    GTEST_SKIP() << "this file system does not evict files from the page cache, or does not tell";
  const auto file = open_file(path().string());
  ASSERT_TRUE(file);
  std::string bytes(kPart, '\0');
  // A read of what the page cache lacks: whoever reads has to wait. The system begins to read when asked what it
  // has; where that is done before the question is answered, nobody waited, and another read is needed.
  for (int attempt = 0; attempt == 0 || (attempt < 100 && !DiskWatch::of_process().waits()); ++attempt) {
    ASSERT_TRUE((*file)->read(40 * kPart, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
    ASSERT_TRUE(page_cache::evict(path()));
  }
  for (int64_t k = 0; k < 8; ++k) (*file)->will_read(k * kPart, kPart);
  for (const int64_t k : {60, 50}) (*file)->will_read(k * kPart, kPart);
  for (int i = 0; i < 12'000 && !(has(60 * kPart, kPart) && has(50 * kPart, kPart)); ++i) ::usleep(5000);
  EXPECT_TRUE(has(60 * kPart, kPart));
  EXPECT_TRUE(has(50 * kPart, kPart));
  for (int64_t k = 1; k < 8; ++k) EXPECT_FALSE(has(k * kPart, kPart)) << k;
}

TEST_F(ReadAheadOfContainers, OpeningDoesNotReadContainersThatHaveAnIndex) {
  std::ofstream(root_ / "index") << "0 65536\n65536 65536\n";
  if (!page_cache::evict(path()))
    GTEST_SKIP() << "this file system does not evict files from the page cache, or does not tell";
  const nlohmann::json text = {{"dtype", "u8"}, {"fixed", true}, {"shape", nlohmann::json::array()}};
  const nlohmann::json config = {
      {"path", path().string()}, {"index_path", (root_ / "index").string()}, {"features", {{"a", text}}}};
  const auto source = open_tfrecord(json_text(config));
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ((*source)->size(), 2);
  for (int64_t k = 0; k < 64; ++k) EXPECT_FALSE(has(k * kPart, kPart)) << k;
}

}  // namespace
}  // namespace galatea::native
