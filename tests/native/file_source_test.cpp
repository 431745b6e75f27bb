// readers.file: which files, in which order, with which labels; and errors that name what is wrong.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/file_source.h"
#include "tests/support/build_folder.h"
#include "tests/support/page_cache.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class FileSourceTest : public ::testing::Test {
 protected:
  FileSourceTest() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(testing::build_folder()) / "native-test" / (name + "." + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  ~FileSourceTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text = "x") {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  Json at_root(Json config = Json::object()) const {
    config["file_root"] = root_.string();
    return config;
  }
  /// "name=label" for each file.
  static std::vector<std::string> listed(const Json& config) {
    auto files = list_files(json_text(config));
    if (!files) return {"error: " + files.error().message()};
    std::vector<std::string> out;
    for (const FileEntry& file : *files) out.push_back(file.name + "=" + std::to_string(file.label));
    return out;
  }
  static std::string error_of(const Json& config) {
    auto files = list_files(json_text(config));
    return files ? "no error" : files.error().message();
  }

  fs::path root_;
};

using Names = std::vector<std::string>;

TEST_F(FileSourceTest, FoldersNumberTheClassesInByteOrder) {
  for (const char* name :
       {"b/2.jpg", "b/10.jpg", "B/x.png", "a/z.jpeg", "a/.hidden.jpg", "top.jpg", "b/deeper/y.jpg"})
    write(name);
  EXPECT_EQ(listed(at_root()),
            (Names{"B/x.png=0", "a/.hidden.jpg=1", "a/z.jpeg=1", "b/10.jpg=2", "b/2.jpg=2"}));
}

TEST_F(FileSourceTest, FoldersWithoutMatchesKeepTheirNumber) {
  for (const char* name : {"a/readme.txt", "b/1.jpg", "c/2.JPG"}) write(name);
  EXPECT_EQ(listed(at_root()), (Names{"b/1.jpg=1", "c/2.JPG=2"}));
  EXPECT_EQ(listed(at_root({{"case_sensitive_filter", true}})), (Names{"b/1.jpg=1"}));
}

TEST_F(FileSourceTest, DefaultFiltersKnowPicturesAndSound) {
  for (const char* name :
       {"a/1.jpg", "a/2.jpeg", "a/3.png", "a/4.bmp", "a/5.tif", "a/6.tiff", "a/7.pnm", "a/8.ppm", "a/9.webp",
        "a/a.wav", "a/b.flac", "a/c.ogg", "a/d.gif", "a/e.txt", "a/jpg", "a/f.jpg.bak"})
    write(name);
  EXPECT_EQ(listed(at_root()).size(), 12U);
}

TEST_F(FileSourceTest, FiltersAreGlobsOnTheBareName) {
  for (const char* name : {"train/a1.dat", "train/b1.dat", "test/a2.dat", "other/a3.dat"}) write(name);
  EXPECT_EQ(listed(at_root({{"file_filters", {"a?.dat"}}})),
            (Names{"other/a3.dat=0", "test/a2.dat=1", "train/a1.dat=2"}));
  EXPECT_EQ(listed(at_root({{"file_filters", {"[ab]1*"}}})), (Names{"train/a1.dat=2", "train/b1.dat=2"}));
  EXPECT_EQ(listed(at_root({{"file_filters", {"*.dat"}}, {"dir_filters", {"t*"}}})),
            (Names{"test/a2.dat=0", "train/a1.dat=1", "train/b1.dat=1"}));
  EXPECT_NE(error_of(at_root({{"file_filters", Json::array()}})).find("file_filters"), std::string::npos);
}

TEST_F(FileSourceTest, LinksAreFollowed) {
  write("a/1.jpg");
  fs::create_symlink(root_ / "a/1.jpg", root_ / "a/2.jpg");
  fs::create_directory_symlink(root_ / "a", root_ / "b");
  EXPECT_EQ(listed(at_root()), (Names{"a/1.jpg=0", "a/2.jpg=0", "b/1.jpg=1", "b/2.jpg=1"}));
  fs::create_symlink(root_ / "nowhere", root_ / "c");
  EXPECT_NE(error_of(at_root()).find((root_ / "c").string()), std::string::npos);
}

TEST_F(FileSourceTest, MissingOrEmptyRootsAreNamed) {
  EXPECT_NE(error_of({{"file_root", (root_ / "absent").string()}}).find("absent"), std::string::npos);
  EXPECT_NE(error_of(at_root()).find(root_.string()), std::string::npos);
  write("top.jpg");
  EXPECT_NE(error_of(at_root()).find("no files found"), std::string::npos);
  EXPECT_NE(error_of(Json::object()).find("file_root"), std::string::npos);
  EXPECT_EQ(error_of({{"file_root", ""}}), "file_root is an empty string");
}

TEST_F(FileSourceTest, ListsKeepTheirOrder) {
  write("list.txt", "b.jpg 3\na folder/with spaces.jpg   007\r\n\n  \t\nc.jpg\t0  \nname 12 5");
  Json config{{"file_list", (root_ / "list.txt").string()}};
  EXPECT_EQ(listed(config), (Names{"b.jpg=3", "a folder/with spaces.jpg=7", "c.jpg=0", "name 12=5"}));
  auto files = list_files(json_text(config));
  ASSERT_TRUE(files);
  EXPECT_EQ((*files)[0].path, (root_ / "b.jpg").string());
  config["file_root"] = "/elsewhere";
  EXPECT_EQ(list_files(json_text(config)).value()[0].path, "/elsewhere/b.jpg");
}

TEST_F(FileSourceTest, BadLinesAreNamedWithFileAndLine) {
  struct Bad {
    const char* text;
    int line;
    const char* words;
  };
  for (const Bad& bad :
       {Bad{"a.jpg 1\nb.jpg\n", 2, "b.jpg"}, Bad{"a.jpg -1\n", 1, "non-negative"},
        Bad{"\n\n5\n", 3, "path label"}, Bad{"a.jpg1\n", 1, "a.jpg1"}, Bad{" 7\n", 1, "path label"},
        Bad{"a.jpg 2147483648\n", 1, "32 bits"}, Bad{"a.jpg 99999999999999999999999\n", 1, "32 bits"},
        Bad{"a.jpg 1.5\n", 1, "path label"}}) {
    write("list.txt", bad.text);
    std::string place = (root_ / "list.txt").string() + ":" + std::to_string(bad.line) + ":";
    std::string message = error_of({{"file_list", (root_ / "list.txt").string()}});
    EXPECT_NE(message.find(place), std::string::npos) << message;
    EXPECT_NE(message.find(bad.words), std::string::npos) << message;
  }
  write("list.txt", "ok.jpg 1\n" + std::string(16 * 1024, 'x') + " 1\n");
  EXPECT_NE(error_of({{"file_list", (root_ / "list.txt").string()}}).find(":2: the line is longer"),
            std::string::npos);
  write("list.txt", std::string("a\0b 1\n", 6));
  EXPECT_NE(error_of({{"file_list", (root_ / "list.txt").string()}}).find("zero byte"), std::string::npos);
}

TEST_F(FileSourceTest, ListsThatHoldNothingAreErrors) {
  write("list.txt", " \n\n");
  EXPECT_NE(error_of({{"file_list", (root_ / "list.txt").string()}}).find("names no files"),
            std::string::npos);
  EXPECT_NE(error_of({{"file_list", ""}}).find("file_list"), std::string::npos);
  EXPECT_NE(error_of({{"file_list", (root_ / "absent.txt").string()}}).find("absent.txt"), std::string::npos);
  EXPECT_NE(error_of({{"file_list", root_.string()}}).find("is a folder"), std::string::npos);
}

TEST_F(FileSourceTest, NamedFilesAndLabels) {
  Json files{{"files", {"x.jpg", "y.jpg", "x.jpg"}}};
  EXPECT_EQ(listed(files), (Names{"x.jpg=0", "y.jpg=1", "x.jpg=2"}));
  files["labels"] = {5, -1, 7};
  EXPECT_EQ(listed(files), (Names{"x.jpg=5", "y.jpg=-1", "x.jpg=7"}));
  files["labels"] = {5};
  EXPECT_NE(error_of(files).find("labels has 1 entries, files has 3"), std::string::npos);
}

TEST_F(FileSourceTest, PatternsAmongTheFilesAreWhatMatchesThem) {
  for (const char* name : {"[x]/b/1.jpg", "[x]/b/0.jpg", "[x]/a/7.jpg", "[x]/a/[7].jpg", "x/a/9.jpg"})
    write(name);
  // The folder's own name is none.
  Json files{{"file_root", (root_ / "[x]").string()}, {"files", {"b/*.jpg", "a/{7,8}.jpg", "a/[7].jpg"}}};
  EXPECT_EQ(listed(files), (Names{"b/0.jpg=0", "b/1.jpg=1", "a/7.jpg=2", "a/8.jpg=3", "a/[7].jpg=4"}));
  files["labels"] = {5, 6, 7};
  EXPECT_EQ(listed(files), (Names{"b/0.jpg=5", "b/1.jpg=5", "a/7.jpg=6", "a/8.jpg=6", "a/[7].jpg=7"}));
  EXPECT_NE(error_of({{"file_root", root_.string()}, {"files", {"c/*.jpg"}}}).find("no file matches"),
            std::string::npos);
  EXPECT_NE(error_of({{"files", Json::array()}}).find("files"), std::string::npos);
  EXPECT_NE(error_of({{"files", {"a"}}, {"file_list", "b"}}).find("exclude"), std::string::npos);
  EXPECT_NE(error_of(at_root({{"labels", {1}}})).find("labels needs files"), std::string::npos);
}

/// Reads one sample through the source.
struct ReadResult {
  std::vector<uint8_t> data;
  int32_t label = -100;
  Status status;
};
ReadResult read_sample(const runtime::SampleSource& source, int64_t index) {
  ReadResult out;
  runtime::Tensor tensors[2];
  out.status =
      source.read(index, [&](int k, DType, const std::vector<int64_t>& extents) -> Result<runtime::Tensor*> {
        tensors[k].set_dense(k == 0 ? DType::kU8 : DType::kI32, extents);
        if (k == 0) out.data.resize(static_cast<size_t>(extents[0]));
        tensors[k].data = k == 0 ? out.data.data() : reinterpret_cast<uint8_t*>(&out.label);
        return &tensors[k];
      });
  return out;
}

TEST_F(FileSourceTest, ReadsBytesAndLabels) {
  std::string bytes("\0\1\2 text \xFF", 10);
  write("a/1.jpg", bytes);
  write("b/2.jpg", "");
  auto source = file_source_factory().open(json_text(at_root()));
  ASSERT_TRUE(source);
  ASSERT_EQ((*source)->size(), 2);
  EXPECT_EQ((*source)->describe(1), "b/2.jpg");
  ReadResult first = read_sample(**source, 0);
  ASSERT_TRUE(first.status);
  EXPECT_EQ(std::string(first.data.begin(), first.data.end()), bytes);
  EXPECT_EQ(first.label, 0);
  ReadResult second = read_sample(**source, 1);
  ASSERT_TRUE(second.status);
  EXPECT_TRUE(second.data.empty());
  EXPECT_EQ(second.label, 1);
}

TEST_F(FileSourceTest, VanishedFilesAreNamedWhenRead) {
  write("a/1.jpg");
  auto source = file_source_factory().open(json_text(at_root()));
  ASSERT_TRUE(source);
  fs::remove(root_ / "a/1.jpg");
  ReadResult gone = read_sample(**source, 0);
  ASSERT_FALSE(gone.status);
  EXPECT_NE(gone.status.error().message().find((root_ / "a/1.jpg").string()), std::string::npos);
  fs::create_directory(root_ / "a/1.jpg");
  ReadResult folder = read_sample(**source, 0);
  ASSERT_FALSE(folder.status);
  EXPECT_NE(folder.status.error().message().find("regular"), std::string::npos);
}

TEST_F(FileSourceTest, PipesAmongTheFilesAreNotWaitedFor) {
  write("a/0.jpg");
  ASSERT_EQ(::mkfifo((root_ / "a/1.jpg").c_str(), 0600), 0);
  auto source = file_source_factory().open(json_text(at_root()));
  ASSERT_TRUE(source);
  ASSERT_EQ((*source)->size(), 2);
  (*source)->will_read(1);
  ReadResult pipe = read_sample(**source, 1);  // would hang until somebody writes
  ASSERT_FALSE(pipe.status);
  EXPECT_NE(pipe.status.error().message().find("1.jpg is not a regular file"), std::string::npos);
}

TEST_F(FileSourceTest, ReadsAheadOnlyWhereFilesAreNotCached) {
  const std::string text(300'000, 'q');
  for (const char* name : {"a/0.jpg", "a/1.jpg", "a/2.jpg"}) write(name, text);
  auto source = file_source_factory().open(json_text(at_root()));
  ASSERT_TRUE(source.has_value());
  auto read = [&](int64_t index) {
    std::vector<uint8_t> bytes;
    int32_t label = -1;
    runtime::Tensor outputs[2];
    auto status = (*source)->read(
        index, [&](int k, DType dtype, const std::vector<int64_t>& extents) -> Result<runtime::Tensor*> {
          if (k == 0) bytes.resize(static_cast<size_t>(extents[0]));
          outputs[k].set_dense(dtype, extents);
          outputs[k].data = k == 0 ? bytes.data() : reinterpret_cast<uint8_t*>(&label);
          return &outputs[k];
        });
    EXPECT_TRUE(status.has_value());
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text);
    EXPECT_GE((*source)->bytes(index), 300'000);
  };
  if (!page_cache::evict(root_ / "a/1.jpg"))
    GTEST_SKIP() << "this file system does not evict files from the page cache, or does not tell";
  // What was slow before is long ago: nobody looks ahead, but where the file system never tells whether a read has to
  // wait. On a busy machine one that tells may say so of a file that it has, which counts as slow: then as many reads
  // once more.
  const bool tells = page_cache::tells_of_waits(root_ / "a/0.jpg");
  for (int attempt = 0; attempt == 0 || (attempt < 1000 && tells && DiskWatch::of_process().waits());
       ++attempt)
    for (int i = 0; i < 100; ++i) read(0);
  if (tells) {
    ASSERT_FALSE(DiskWatch::of_process().waits());
    (*source)->will_read(1);
    EXPECT_EQ(page_cache::has(root_ / "a/1.jpg", 0, text.size()), false);
  }
  // A file that is not there turns it on. The system begins to read a file when asked what it has of it: where
  // that is done before the question is answered, the file counts as there, and another read is needed.
  ASSERT_TRUE(page_cache::evict(root_ / "a/2.jpg"));
  for (int attempt = 0; attempt < 100 && !DiskWatch::of_process().waits(); ++attempt) {
    ASSERT_TRUE(page_cache::evict(root_ / "a/1.jpg"));
    read(1);
  }
  (*source)->will_read(2);
  for (int i = 0; i < 12'000 && page_cache::has(root_ / "a/2.jpg", 0, text.size()) == false; ++i)
    ::usleep(5000);
  EXPECT_EQ(page_cache::has(root_ / "a/2.jpg", 0, text.size()), true);
  read(2);
}

}  // namespace
}  // namespace galatea::native
