// Who has to act on what the system refused, and files read and written whole.
#include "base/fault.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace galatea {
namespace {

class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("galatea_fault_" + std::to_string(::getpid()));
};

TEST_F(FaultTest, PathsAreTheUsersAndDisksAndLimitsTheMachines) {
  for (const int number : {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG})
    EXPECT_EQ(kind_of_errno(number), ErrorKind::kUser) << number;
  for (const int number : {EIO, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, ESTALE, ETIMEDOUT, EAGAIN})
    EXPECT_EQ(kind_of_errno(number), ErrorKind::kSystem) << number;
  std::error_code error;
  std::filesystem::create_directories(folder_ / "file", error);
  std::filesystem::remove(folder_ / "file");
  std::ofstream(folder_ / "file").put('x');
  std::filesystem::create_directories(folder_ / "file" / "below", error);
  EXPECT_EQ(kind_of_errno(error), ErrorKind::kUser) << error.message();
}

TEST_F(FaultTest, FilesComeBackAsTheyWereWritten) {
  const std::string path = (folder_ / "file").string();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{65536}, size_t{300'001}}) {
    std::string bytes(size, '\0');
    for (size_t k = 0; k < size; ++k) bytes[k] = static_cast<char>(k * 2654435761U >> 13);
    ASSERT_EQ(write_whole_file(path, bytes), 0);
    EXPECT_EQ(read_whole_file(path).value(), bytes) << size;
    // One byte more than asked for says that there is more.
    EXPECT_EQ(read_whole_file(path, 4095).value(), bytes.substr(0, 4096)) << size;
    EXPECT_EQ(read_whole_file(path, 0).value(), bytes.substr(0, 1)) << size;
  }
  // Of no size beforehand.
  EXPECT_FALSE(read_whole_file("/proc/self/stat").value().empty());
}

TEST_F(FaultTest, WhatCannotBeReadOrWrittenSaysWhy) {
  EXPECT_EQ(read_whole_file((folder_ / "missing").string()).error().why, "there is no such file");
  EXPECT_EQ(read_whole_file(folder_.string()).error().why, "it is a folder");
  EXPECT_EQ(read_whole_file(folder_.string()).error().kind, ErrorKind::kUser);
  EXPECT_EQ(write_whole_file("/dev/full", "x"), ENOSPC);
  EXPECT_EQ(write_whole_file((folder_ / "no" / "file").string(), "x"), ENOENT);
}

TEST_F(FaultTest, CodesSayWhetherTheMachineIsAtFault) {
  Diagnostic fault, other, warning;
  fault.code = "G0991";
  other.code = "G0604";
  warning.code = "G0992";
  warning.severity = Severity::kWarning;
  EXPECT_EQ(kind_of({other, fault}), ErrorKind::kSystem);
  EXPECT_EQ(kind_of({other, warning}), ErrorKind::kUser);
  EXPECT_EQ(kind_of({}), ErrorKind::kUser);
}

TEST_F(FaultTest, AnErrorWithoutWordsIsALackOfMemory) {
  EXPECT_EQ((Error{ErrorKind::kSystem, {}}).message(), "out of memory");
  EXPECT_GT(memory_of_machine(), 0);
}

}  // namespace
}  // namespace galatea
