// Whose files the shim loads: this process executes them, so that they have to be this user's.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "compiler/codegen/cuda/shim_backend.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

/// A variable of the environment, for a while; null: it is not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

class ShimCache : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_shim_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    cache_.emplace("GALATEA_CACHE_DIR", folder_.c_str());
    const auto made = compile();
    if (!made && made.error().kind == ErrorKind::kSystem) GTEST_SKIP() << made.error().message();
    ASSERT_TRUE(made) << made.error().message();
    file_ = made->path;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Result<codegen::ShimFile> compile() {
    return codegen::compile_shim_file("extern \"C\" int galatea_test_of_the_cache() { return 42; }\n");
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat status = {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  void expect_made_anew() const {
    const auto again = compile();
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_FALSE(again->from_cache);
    EXPECT_EQ(again->path, file_.string());
    EXPECT_EQ(mode_of(file_), 0700U);
    EXPECT_FALSE(fs::is_symlink(file_));
    EXPECT_TRUE(compile()->from_cache);
  }

  std::optional<Variable> cache_;
  fs::path folder_, file_;
};

TEST_F(ShimCache, IsOfThisUserAlone) {
  EXPECT_EQ(file_.parent_path(), folder_ / "shim");
  EXPECT_EQ(mode_of(folder_ / "shim"), 0700U);
  EXPECT_EQ(mode_of(file_), 0700U);
  EXPECT_TRUE(compile()->from_cache);
}

TEST_F(ShimCache, FilesThatOthersMayWriteToAreMadeAnew) {
  for (const mode_t mode : {0770U, 0707U, 0666U}) {
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
    expect_made_anew();
  }
  // What lies elsewhere is not what was checked.
  fs::rename(file_, folder_ / "elsewhere.so");
  fs::create_symlink(folder_ / "elsewhere.so", file_);
  expect_made_anew();
}

TEST_F(ShimCache, AnOpenFolderOfOursIsClosed) {
  ASSERT_EQ(::chmod((folder_ / "shim").c_str(), 0777), 0);
  const auto again = compile();
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(mode_of(folder_ / "shim"), 0700U);
}

TEST_F(ShimCache, WhatIsNoFolderIsRefused) {
  fs::rename(folder_ / "shim", folder_ / "other");
  fs::create_directory_symlink(folder_ / "other", folder_ / "shim");
  for (const char* what : {"a link", "a file"}) {
    const auto refused = compile();
    ASSERT_FALSE(refused) << what;
    EXPECT_EQ(refused.error().kind, ErrorKind::kSystem);
    EXPECT_NE(refused.error().message().find("shim cannot be used for code: it is no folder"),
              std::string::npos)
        << refused.error().message();
    EXPECT_NE(refused.error().diagnostics.front().help.find("GALATEA_CACHE_DIR"), std::string::npos);
    fs::remove(folder_ / "shim");
    std::ofstream(folder_ / "shim") << "?";
  }
}

TEST_F(ShimCache, FilesAndFoldersOfOthersAreRefused) {
  constexpr uid_t kSomebody = 65534;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(file_.c_str(), kSomebody, kSomebody), 0);
  expect_made_anew();
  ASSERT_EQ(::chown((folder_ / "shim").c_str(), kSomebody, kSomebody), 0);
  const auto refused = compile();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("it belongs to another user"), std::string::npos)
      << refused.error().message();
}

/// In the folder of temporary files everybody may make a folder of this name before us.
TEST_F(ShimCache, WithoutAHomeEachUserHasAFolder) {
  const Variable none("GALATEA_CACHE_DIR", nullptr), home("HOME", nullptr), user("XDG_CACHE_HOME", nullptr),
      temporary("TMPDIR", folder_.c_str());
  const auto made = compile();
  ASSERT_TRUE(made) << made.error().message();
  const fs::path own = folder_ / ("galatea-shim-" + std::to_string(::geteuid()));
  EXPECT_EQ(fs::path(made->path).parent_path(), own);
  EXPECT_EQ(mode_of(own), 0700U);
  EXPECT_TRUE(compile()->from_cache);
}

}  // namespace
}  // namespace galatea::testing
