// Copies on disk: whole or nothing, whatever happens to the files.
#include "stdlib_ops/native/far/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/fault.h"
#include "tests/far/environment.h"
#include "tests/far/scripted_server.h"

namespace galatea::native::far {
namespace {

namespace fs = std::filesystem;
using galatea::testing::some_bytes;
using galatea::testing::TestFolder;

Digest name_of(int number) { return sha256(std::to_string(number)); }
std::vector<uint8_t> bytes_of_size(size_t size) {
  const std::string text = some_bytes(size);
  return {text.begin(), text.end()};
}
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}
int64_t bytes_in(const fs::path& folder) {
  int64_t sum = 0;
  for (const fs::path& file : files_in(folder)) sum += static_cast<int64_t>(fs::file_size(file));
  return sum;
}

TEST(DiskCache, GivesBackWhatItWasGiven) {
  const TestFolder folder;
  DiskCache cache({.folder = folder.path()}), other({.folder = folder.path()});
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    const auto bytes = bytes_of_size(size);
    cache.store(name_of(static_cast<int>(size)), bytes);
    EXPECT_EQ(other.find(name_of(static_cast<int>(size))), bytes);
  }
  EXPECT_FALSE(cache.find(name_of(-1)));
  EXPECT_EQ(fs::status(files_in(folder.path()).front()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(DiskCache({.folder = {}}).find(name_of(0)));
}

TEST(DiskCache, DamageAnywhereIsAMissAndGoes) {
  const TestFolder folder;
  DiskCache cache({.folder = folder.path()});
  const auto bytes = bytes_of_size(40);
  cache.store(name_of(1), bytes);
  const fs::path file = files_in(folder.path()).front();
  const std::string whole = *read_whole_file(file.string());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_EQ(write_whole_file(file.string(), damaged), 0);
    EXPECT_FALSE(cache.find(name_of(1))) << at;
    EXPECT_FALSE(fs::exists(file)) << at;
    ASSERT_EQ(write_whole_file(file.string(), whole.substr(0, at)), 0);
    EXPECT_FALSE(cache.find(name_of(1))) << at;
  }
  ASSERT_EQ(write_whole_file(file.string(), whole + "x"), 0);
  EXPECT_FALSE(cache.find(name_of(1)));
  // Under another name it is another's.
  ASSERT_EQ(write_whole_file(file.string(), whole), 0);
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(cache.find(name_of(1)), bytes);
  cache.store(name_of(2), bytes_of_size(3));
  const auto second = files_in(folder.path());
  for (const fs::path& other : second)
    if (other != file) fs::copy_file(file, other, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.find(name_of(2)));
}

TEST(DiskCache, WhatOthersMayWriteIsNotTrusted) {
  const TestFolder folder;
  DiskCache cache({.folder = folder.path()});
  cache.store(name_of(1), bytes_of_size(40));
  const fs::path file = files_in(folder.path()).front();
  ::chmod(file.c_str(), 0666);
  EXPECT_FALSE(cache.find(name_of(1)));
  EXPECT_TRUE(fs::exists(file));
}

TEST(DiskCache, StaysWithinItsBoundAndForgetsTheOldest) {
  const TestFolder folder;
  DiskCache cache({.folder = folder.path(), .max_bytes = 100'000});
  const auto bytes = bytes_of_size(1000);
  // The first ones were used long ago, one behind the other; but for one.
  std::set<fs::path> dated;
  for (int i = 0; i < 60; ++i) {
    cache.store(name_of(i), bytes);
    for (const fs::path& file : files_in(folder.path())) {
      if (!dated.insert(file).second) continue;
      const timespec times[2] = {{1'000'000'000 + i, 0}, {1'000'000'000 + i, 0}};
      ::utimensat(AT_FDCWD, file.c_str(), times, 0);
    }
  }
  EXPECT_TRUE(cache.find(name_of(7)));
  for (int i = 60; i < 150; ++i) {
    cache.store(name_of(i), bytes);
    ASSERT_LE(bytes_in(folder.path()), 100'000 + 100'000 / 16 + 1056);
  }
  EXPECT_TRUE(cache.find(name_of(7)));
  EXPECT_TRUE(cache.find(name_of(149)));
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(cache.find(name_of(i))) << i;
  // What is not ours stays, and what a process that ended has begun goes.
  folder.write("notes.txt", "mine");
  const std::string begun = folder.write("ab/.unfinished-1-1", "half");
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ::utimensat(AT_FDCWD, begun.c_str(), times, 0);
  cache.trim();
  EXPECT_TRUE(fs::exists(folder.path() / "notes.txt"));
  EXPECT_FALSE(fs::exists(begun));
  EXPECT_LE(bytes_in(folder.path()), 100'000);
}

// Processes that write the same and other names are killed; who reads meanwhile finds whole entries or none.
TEST(DiskCache, HoldsWhileItsProcessesAreKilled) {
  const TestFolder folder;
  const auto bytes = bytes_of_size(50'000);
  int found = 0;
  for (int round = 0; round < 6; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache({.folder = folder.path(), .max_bytes = 500'000});
      for (int i = 0;; ++i) {
        cache.store(name_of(i % 20), bytes);
        if (i == 20) static_cast<void>(!::write(ready[1], "x", 1));
      }
    }
    char said = 0;
    ASSERT_EQ(::read(ready[0], &said, 1), 1);
    const DiskCache cache({.folder = folder.path(), .max_bytes = 500'000});
    for (int i = 0; i < 40; ++i) {
      const auto there = cache.find(name_of(i % 20));
      found += there ? 1 : 0;
      if (there) {
        ASSERT_EQ(*there, bytes);
      }
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    for (int i = 0; i < 20; ++i)
      if (const auto there = cache.find(name_of(i))) {
        ASSERT_EQ(*there, bytes);
      }
  }
  EXPECT_GT(found, 0);
}

TEST(DiskCache, AFolderThatCannotBeWrittenIsNoError) {
  const TestFolder folder;
  const std::string file = folder.write("file", "");
  DiskCache cache({.folder = fs::path(file) / "far"});
  cache.store(name_of(1), bytes_of_size(10));
  EXPECT_FALSE(cache.find(name_of(1)));
}

}  // namespace
}  // namespace galatea::native::far
