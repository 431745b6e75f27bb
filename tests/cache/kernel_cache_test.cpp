// The program cache's folder: what is kept comes back bit for bit, and nothing that lies in the folder, or is
// missing from it, does more than cost a compilation and a note.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/kernel_key.h"

namespace galatea::codegen {
namespace {

namespace fs = std::filesystem;

std::string random_bytes(uint32_t seed, size_t size) {
  std::mt19937 random(seed);
  std::string out;
  for (size_t i = 0; i < size; ++i) out.push_back(static_cast<char>(random()));
  return out;
}

runtime::CodeObject object_of(uint32_t seed, size_t size = 1000) {
  return {random_bytes(seed, size), seed % size};
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), 0600);
}

void set_age(const fs::path& path, int seconds) {
  timespec times[2] = {};
  ::clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds;
  times[1] = times[0];
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

/// Waits for a child; true if it ended with status 0.
bool ended_well(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class KernelCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_cache_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  CacheOptions options(int64_t max_bytes = 1 << 20) const { return {true, folder_, max_bytes}; }
  fs::path file_of(const std::string& key) const { return folder_ / (hash_name(key) + ".kernel"); }
  int64_t bytes_in_folder() const {
    int64_t out = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) out += static_cast<int64_t>(entry.file_size());
    return out;
  }
  std::vector<std::string> names_in_folder() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path().filename());
    return out;
  }

  fs::path folder_;
};

TEST_F(KernelCacheTest, WhatIsKeptComesBack) {
  KernelCache writer(options()), reader(options());
  EXPECT_FALSE(reader.find("key"));
  writer.store("key", object_of(1));
  writer.store("other", object_of(2));
  EXPECT_EQ(reader.find("key"), object_of(1));
  EXPECT_EQ(reader.find("other"), object_of(2));
  writer.store("key", object_of(3));
  EXPECT_EQ(reader.find("key"), object_of(3));
  EXPECT_EQ(names_in_folder().size(), 2U);
  EXPECT_TRUE(writer.take_notes().empty());
  EXPECT_TRUE(reader.take_notes().empty());
  struct stat status = {};
  ASSERT_EQ(::stat(file_of("key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(KernelCacheTest, TurnedOffItTouchesNothing) {
  CacheOptions off = options();
  off.enabled = false;
  KernelCache cache(off);
  cache.store("key", object_of(1));
  cache.trim();
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(KernelCacheTest, EveryDamagedByteIsSeen) {
  const std::string key = random_bytes(7, 90);
  const std::string good = encode_entry(key, object_of(1, 200), "mul(p0:i64, 4:i64)");
  ASSERT_EQ(decode_entry(good, key).object, object_of(1, 200));
  ASSERT_EQ(decode_entry(good, key).facts, "mul(p0:i64, 4:i64)");
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      const DecodedEntry entry = decode_entry(bad, key);
      ASSERT_FALSE(entry.object) << "byte " << at << ", bit " << bit;
      ASSERT_NE(entry.problem, "") << "byte " << at << ", bit " << bit;
    }
  }
  for (size_t length = 0; length < good.size(); ++length)
    ASSERT_NE(decode_entry(good.substr(0, length), key).problem, "") << length;
  EXPECT_NE(decode_entry(good + "x", key).problem, "");
}

/// Header, key, code, checksum; cut off, empty, grown: ignored with one note, and replaced.
TEST_F(KernelCacheTest, DamagedFilesAreReplacedWithOneNote) {
  KernelCache(options()).store("key", object_of(1));
  const std::string good = read_file(file_of("key"));
  std::vector<std::string> damaged = {"", good.substr(0, 20), good.substr(0, good.size() / 2), good + "tail",
                                      "text of another program\n"};
  for (const size_t at : {0UL, 9UL, 13UL, 17UL, 25UL, 33UL, 41UL, 49UL, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x10);
  }
  for (size_t i = 0; i < damaged.size(); ++i) {
    write_file(file_of("key"), damaged[i]);
    KernelCache cache(options());
    EXPECT_FALSE(cache.find("key")) << i;
    EXPECT_FALSE(cache.find("key")) << i;
    const std::vector<std::string> notes = cache.take_notes();
    ASSERT_EQ(notes.size(), 1U) << i;
    EXPECT_NE(notes[0].find("1 file "), std::string::npos) << notes[0];
    EXPECT_TRUE(cache.take_notes().empty());
    EXPECT_FALSE(cache.successor().find("key")) << i;
    EXPECT_TRUE(cache.successor().take_notes().empty());
    cache.store("key", object_of(1));
    EXPECT_EQ(cache.find("key"), object_of(1)) << i;
    EXPECT_TRUE(cache.take_notes().empty());
  }
}

TEST_F(KernelCacheTest, AnotherKeysFileIsAMiss) {
  KernelCache cache(options());
  cache.store("key", object_of(1));
  fs::rename(file_of("key"), file_of("other"));
  EXPECT_FALSE(cache.find("other"));
  EXPECT_TRUE(cache.take_notes().empty());
}

/// The code of a file is executed: not if anybody else could have written it.
TEST_F(KernelCacheTest, FilesThatOthersMayWriteAreNotUsed) {
  KernelCache cache(options());
  const auto expect_unused = [&](const char* why) {
    EXPECT_FALSE(cache.find("key")) << why;
    const std::vector<std::string> notes = cache.take_notes();
    ASSERT_EQ(notes.size(), 1U) << why;
    EXPECT_NE(notes[0].find(why), std::string::npos) << notes[0];
  };
  cache.store("key", object_of(1));
  ::chmod(file_of("key").c_str(), 0620);
  expect_unused("other users may write");
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::rename(file_of("key"), elsewhere);
  ::chmod(elsewhere.c_str(), 0600);
  fs::create_symlink(elsewhere, file_of("key"));
  expect_unused("no plain file");
  fs::remove(file_of("key"));
  ASSERT_EQ(::mkfifo(file_of("key").c_str(), 0600), 0);
  expect_unused("no plain file");
  fs::remove(file_of("key"));
  fs::create_directory(file_of("key"));
  expect_unused("no plain file");
  if (::geteuid() != 0) return;  // only root can give a file away
  fs::remove(file_of("key"));
  cache.store("key", object_of(1));
  ASSERT_EQ(::chown(file_of("key").c_str(), 65534, 65534), 0);
  expect_unused("another user");
}

TEST_F(KernelCacheTest, TheFolderKeepsToItsBound) {
  constexpr int64_t kBound = 20000;
  KernelCache cache(options(kBound));
  for (uint32_t i = 0; i < 60; ++i) {
    cache.store("key " + std::to_string(i), object_of(i));
    cache.trim();
    ASSERT_LE(bytes_in_folder(), kBound);
  }
  EXPECT_GT(bytes_in_folder(), kBound / 2);
  cache.store("too large", object_of(1, 30000));
  EXPECT_FALSE(cache.find("too large"));
  EXPECT_TRUE(cache.take_notes().empty());
}

TEST_F(KernelCacheTest, TheLeastRecentlyUsedGoesFirst) {
  KernelCache cache(options(5000));
  for (uint32_t i = 0; i < 4; ++i) {
    cache.store("key " + std::to_string(i), object_of(i));
    set_age(file_of("key " + std::to_string(i)), 10000 - static_cast<int>(i) * 1000);
  }
  EXPECT_TRUE(cache.find("key 0"));  // used: now the youngest
  cache.store("key 4", object_of(4));
  cache.store("key 5", object_of(5));
  write_file(folder_ / "notes.txt", std::string(9000, 'x'));  // not ours: neither counted nor removed
  cache.trim();
  EXPECT_TRUE(fs::exists(file_of("key 0")));
  EXPECT_FALSE(fs::exists(file_of("key 1")));
  EXPECT_FALSE(fs::exists(file_of("key 2")));
  EXPECT_TRUE(fs::exists(file_of("key 3")));
  EXPECT_TRUE(fs::exists(file_of("key 5")));
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
}

TEST_F(KernelCacheTest, WithoutAFolderItOnlySaysSo) {
  fs::create_directories(folder_);
  write_file(folder_ / "file", "x");
  CacheOptions inside_a_file = options();
  inside_a_file.folder = folder_ / "file" / "kernels";
  KernelCache cache(inside_a_file);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", object_of(1));
  cache.store("other", object_of(2));
  cache.trim();
  const std::vector<std::string> notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("could not be kept"), std::string::npos) << notes[0];
  EXPECT_TRUE(cache.take_notes().empty());
}

/// A folder that may be read and not written: what is there is used, new code is not kept, one note says so.
TEST_F(KernelCacheTest, AFolderThatMayOnlyBeRead) {
  KernelCache(options()).store("key", object_of(1));
  // What is kept must be readable by whoever this test becomes.
  ::chmod(file_of("key").c_str(), 0644);
  ::chmod(folder_.c_str(), 0555);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(10);
    KernelCache cache(options());
    if (cache.find("key") != object_of(1)) ::_exit(11);
    cache.store("other", object_of(2));
    cache.store("third", object_of(3));
    cache.trim();
    const std::vector<std::string> notes = cache.take_notes();
    ::_exit(notes.size() == 1 && notes[0].find("could not be kept") != std::string::npos ? 0 : 12);
  }
  EXPECT_TRUE(ended_well(child));
  ::chmod(folder_.c_str(), 0755);
}

/// Processes that write, read and trim one folder see whole entries or none.
TEST_F(KernelCacheTest, ManyProcessesShareAFolder) {
  constexpr uint32_t kKeys = 12;
  std::vector<pid_t> children;
  for (uint32_t p = 0; p < 6; ++p) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int hits = 0;
    for (uint32_t round = 0; round < 120; ++round) {
      KernelCache cache(options(9000));
      // Each key twice in a row: a process that runs alone finds what it has stored. The folder has room for
      // fewer keys than there are, so that one that comes round again may be gone by then.
      const uint32_t k = (round / 2 * 5 + p) % kKeys;
      const std::string key = "key " + std::to_string(k);
      if (auto found = cache.find(key)) {
        ++hits;
        if (*found != object_of(k)) ::_exit(2);
      } else {
        cache.store(key, object_of(k));
        cache.trim();
      }
      if (!cache.take_notes().empty()) ::_exit(3);
    }
    ::_exit(hits > 0 ? 0 : 4);
  }
  for (const pid_t child : children) EXPECT_TRUE(ended_well(child));
  KernelCache(options(9000)).trim();
  EXPECT_LE(bytes_in_folder(), 9000);
  for (const std::string& name : names_in_folder()) EXPECT_TRUE(name.ends_with(".kernel")) << name;
}

/// Writers that are killed at any moment leave whole entries, and files that a later process removes.
TEST_F(KernelCacheTest, AKilledWriterLeavesNothingBehind) {
  constexpr uint32_t kKeys = 4;
  const size_t size = 300000;
  for (int round = 0; round < 25; ++round) {
    int begun[2];
    ASSERT_EQ(::pipe(begun), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      KernelCache cache(options(1 << 26));
      for (uint32_t i = 0;; ++i) {
        cache.store("key " + std::to_string(i % kKeys), object_of(i % kKeys, size));
        if (i == 0 && ::write(begun[1], "x", 1) != 1) ::_exit(1);
      }
    }
    // Moments are counted from when it writes, which a busy machine lets it do late.
    char byte = 0;
    ::close(begun[1]);
    EXPECT_EQ(::read(begun[0], &byte, 1), 1);
    ::close(begun[0]);
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + 1700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    KernelCache cache(options(1 << 26));
    bool has_found = false;
    for (uint32_t k = 0; k < kKeys; ++k) {
      const auto found = cache.find("key " + std::to_string(k));
      EXPECT_TRUE(!found || *found == object_of(k, size));
      has_found |= found.has_value();
    }
    EXPECT_TRUE(has_found) << "what was written in full before";
    EXPECT_TRUE(cache.take_notes().empty());
  }
  for (const std::string& name : names_in_folder()) set_age(folder_ / name, 3600);
  KernelCache(options(1 << 26)).trim();
  for (const std::string& name : names_in_folder()) EXPECT_TRUE(name.ends_with(".kernel")) << name;
}

TEST_F(KernelCacheTest, SettingsChooseTheFolder) {
  const auto with = [](const char* dir, const char* xdg, const char* home) {
    for (auto [name, value] : {std::pair{"GALATEA_CACHE_DIR", dir}, {"XDG_CACHE_HOME", xdg}, {"HOME", home}})
      ::setenv(name, value, 1);
    return default_cache_options();
  };
  const std::string old_home = ::getenv("HOME") ? ::getenv("HOME") : "";
  const std::string old_dir = ::getenv("GALATEA_CACHE_DIR") ? ::getenv("GALATEA_CACHE_DIR") : "";
  EXPECT_EQ(with("/a", "/b", "/c").folder, "/a/kernels");
  EXPECT_EQ(with("", "/b", "/c").folder, "/b/galatea/kernels");
  EXPECT_EQ(with("", "relative", "/c").folder, "/c/.cache/galatea/kernels");
  EXPECT_TRUE(with("", "", "/c").enabled);
  EXPECT_FALSE(with("", "", "").enabled);
  ::setenv("GALATEA_CACHE", "0", 1);
  EXPECT_FALSE(with("/a", "", "").enabled);
  ::unsetenv("GALATEA_CACHE");
  ::setenv("GALATEA_CACHE_SIZE", "0", 1);
  EXPECT_FALSE(with("/a", "", "").enabled);
  ::setenv("GALATEA_CACHE_SIZE", "4096", 1);
  EXPECT_EQ(with("/a", "", "").max_bytes, 4096);
  ::unsetenv("GALATEA_CACHE_SIZE");
  with(old_dir.c_str(), "", old_home.c_str());
}

}  // namespace
}  // namespace galatea::codegen
