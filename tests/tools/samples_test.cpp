// The sample photographs: what is promised of them, and that they are the same on every run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/build_folder.h"
#include "tests/support/own_folder.h"

namespace {

using galatea::testing::build_folder;

namespace fs = std::filesystem;

std::map<std::string, std::string> read_all(const fs::path& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().lexically_relative(root).string()] =
        std::string((std::istreambuf_iterator<char>(in)), {});
  }
  return files;
}

/// Value of the EXIF orientation tag, read from the APP1 segment's bytes; 1 if there is none.
int orientation_of(const std::string& jpeg) {
  const size_t at = jpeg.find(std::string("Exif\0\0II*\0", 10));
  if (at == std::string::npos) return 1;
  const size_t entry = at + 6 + 8 + 2;  // after "Exif", the TIFF header and the number of entries
  EXPECT_EQ(jpeg.substr(entry, 2), std::string("\x12\x01", 2));
  return jpeg[entry + 8];
}

TEST(Samples, AreTheSameOnEveryRun) {
  const fs::path again = galatea::testing::make_own_folder("galatea_samples");
  const std::string command =
      build_folder() + "/bin/galatea-samples " + (again / "samples").string() + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_all(again / "samples"), read_all(fs::path(build_folder()) / "samples"));
  EXPECT_EQ(read_all(again / "samples-corrupt"), read_all(fs::path(build_folder()) / "samples-corrupt"));
  fs::remove_all(again);
}

TEST(Samples, HoldWhatExamplesNeed) {
  auto files = read_all(fs::path(build_folder()) / "samples");
  EXPECT_EQ(files.size(), 18u);
  std::map<int, int> orientations;
  std::map<std::string, int> classes;
  size_t bytes = 0;
  for (const auto& [name, content] : files) {
    ++classes[name.substr(0, name.find('/'))];
    bytes += content.size();
    if (name.ends_with(".jpg")) {
      EXPECT_EQ(content.substr(0, 3), "\xFF\xD8\xFF") << name;
      ++orientations[orientation_of(content)];
    }
  }
  EXPECT_EQ(classes, (std::map<std::string, int>{{"buildings", 6}, {"fields", 6}, {"objects", 6}}));
  EXPECT_EQ(orientations, (std::map<int, int>{{1, 12}, {3, 1}, {6, 1}, {8, 1}}));
  EXPECT_LT(bytes, size_t{2000000});
  EXPECT_EQ(files["buildings/05_small.png"].substr(1, 3), "PNG");
  EXPECT_EQ(files["fields/05_modern.webp"].substr(8, 4), "WEBP");
  EXPECT_EQ(files["objects/04_plain.bmp"].substr(0, 2), "BM");
  // Start of frame: C0 baseline, C2 progressive.
  EXPECT_NE(files["fields/03_progressive.jpg"].find("\xFF\xC2"), std::string::npos);
  EXPECT_EQ(files["fields/01_usual.jpg"].find("\xFF\xC2"), std::string::npos);
}

TEST(Samples, CorruptOnesAreCorrupt) {
  auto files = read_all(fs::path(build_folder()) / "samples-corrupt");
  EXPECT_EQ(files.size(), 6u);
  EXPECT_FALSE(files["broken/01_cut_short.jpg"].ends_with("\xFF\xD9"));
  EXPECT_TRUE(files["broken/00_good.jpg"].ends_with("\xFF\xD9"));
  EXPECT_TRUE(files["broken/03_no_picture.jpg"].starts_with("This file"));
}

TEST(Samples, PhotographsAreOfTheSizesOfADataSet) {
  const fs::path folder = galatea::testing::make_own_folder("galatea_photographs");
  const std::string command =
      build_folder() + "/bin/galatea-samples --photographs 9 " + folder.string() + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto files = read_all(folder);
  EXPECT_EQ(files.size(), 9U);
  std::set<std::string> different;
  size_t bytes = 0;
  for (const auto& [name, content] : files) {
    different.insert(content);
    bytes += content.size();
    // Height and width in the start of the frame: 375 and 500.
    EXPECT_NE(content.find(std::string("\xFF\xC0\x00\x11\x08\x01\x77\x01\xF4", 9)), std::string::npos)
        << name;
  }
  EXPECT_EQ(different.size(), 9U);
  EXPECT_EQ(files.count("buildings/000000.jpg"), 1U);
  EXPECT_GT(bytes / 9, size_t{90'000});
  EXPECT_LT(bytes / 9, size_t{130'000});
  fs::remove_all(folder);
}

TEST(Samples, WrongUseAndUnwritablePlacesAreErrors) {
  auto status = [](const std::string& arguments) {
    const std::string command = build_folder() + "/bin/galatea-samples " + arguments + " >/dev/null 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  EXPECT_EQ(status(""), 2);
  EXPECT_EQ(status("--nothing"), 2);
  EXPECT_EQ(status("--help"), 0);
  EXPECT_EQ(status("--photographs 0 photos"), 2);
  EXPECT_EQ(status("--photographs many photos"), 2);
  EXPECT_EQ(status("--photographs 3"), 2);
  EXPECT_EQ(status("/dev/null/samples"), 1);
}

}  // namespace
