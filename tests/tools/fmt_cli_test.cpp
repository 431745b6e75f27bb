// galatea fmt as scripts see it: what is written, what is printed, exit statuses.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

class FmtCommand : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) { return scratch_.write(name, text); }
  Outcome fmt(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "fmt");
    return galatea::testing::run_galatea(std::move(arguments), folder_);
  }
  size_t num_files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_ / "pipelines"), fs::directory_iterator()));
  }

  const galatea::testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

TEST_F(FmtCommand, FormatsInPlace) {
  fs::create_directories(folder_ / "pipelines");
  const std::string bad = write("pipelines/bad.dali-dsl", "x=1\n"),
                    good = write("pipelines/good.dali-dsl", "x = 1\n");
  ASSERT_EQ(::chmod(bad.c_str(), 0640), 0);
  const auto untouched = fs::last_write_time(good);
  Outcome o = fmt({bad, good});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, bad + ": formatted\n");
  EXPECT_EQ(read_file(bad), "x = 1\n");
  struct stat after{};
  ASSERT_EQ(::stat(bad.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 07777, 0640u);
  EXPECT_EQ(fs::last_write_time(good), untouched);
  EXPECT_EQ(num_files(), 2u) << "something is left behind";
  o = fmt({bad, good});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out, "");
}

TEST_F(FmtCommand, LinksKeepPointing) {
  const std::string target = write("target.dali-dsl", "x=1\n");
  const fs::path link = folder_ / "link.dali-dsl";
  fs::create_symlink("target.dali-dsl", link);
  EXPECT_EQ(fmt({link.string()}).status, 0);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(target), "x = 1\n");
}

TEST_F(FmtCommand, CheckListsAndWritesNothing) {
  const std::string bad = write("bad.dali-dsl", "x=1\n"), good = write("good.dali-dsl", "x = 1\n");
  Outcome o = fmt({"--check", good, bad});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, bad + "\n");
  EXPECT_EQ(read_file(bad), "x=1\n");
  EXPECT_EQ(fmt({"--check", good}).status, 0);
  o = fmt({"--check", "--diagnostics=json", bad, good});
  EXPECT_EQ(o.status, 1);
  const auto document = parse_json(o.out);
  ASSERT_EQ(document["diagnostics"].size(), 1u);
  EXPECT_EQ(document["diagnostics"][0]["code"], "G0857");
  EXPECT_EQ(document["diagnostics"][0]["file"], bad);
  EXPECT_EQ(document["diagnostics"][0]["column"], 2);
}

TEST_F(FmtCommand, DiffShowsAndWritesNothing) {
  const std::string bad = write("bad.dali-dsl", "x=1\n");
  Outcome o = fmt({"--diff", bad});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out, "--- " + bad + "\n+++ " + bad + "\n@@ -1 +1 @@\n-x=1\n+x = 1\n");
  EXPECT_EQ(read_file(bad), "x=1\n");
  o = fmt({"--diff", "--check", bad});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.out, "+x = 1")) << o.out;
}

TEST_F(FmtCommand, AllFilesAreTried) {
  const std::string wrong = write("wrong.dali-dsl", "x = (1\n"), bad = write("bad.dali-dsl", "x=1\n");
  const std::string missing = (folder_ / "missing.dali-dsl").string();
  fs::create_directories(folder_ / "empty");
  Outcome o = fmt({wrong, missing, (folder_ / "empty").string(), bad});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "G0103")) << o.err;
  EXPECT_TRUE(contains(o.err, "there is no such file")) << o.err;
  EXPECT_TRUE(contains(o.err, "the folder holds no *.dali-dsl file")) << o.err;
  EXPECT_EQ(read_file(wrong), "x = (1\n");
  EXPECT_EQ(read_file(bad), "x = 1\n");
}

TEST_F(FmtCommand, FoldersAreWalked) {
  for (const char* inner : {"pipelines/b/deep", "pipelines/.git", "outside"})
    fs::create_directories(folder_ / inner);
  const std::string last = write("pipelines/z.dali-dsl", "x=1\n"),
                    deep = write("pipelines/b/deep/a.dali-dsl", "x=1\n"),
                    good = write("pipelines/a.dali-dsl", "x = 1\n");
  const std::string hidden = write("pipelines/.git/h.dali-dsl", "x=1\n"),
                    also_hidden = write("pipelines/.h.dali-dsl", "x=1\n"),
                    other = write("pipelines/notes.txt", "x=1\n"),
                    outside = write("outside/o.dali-dsl", "x=1\n");
  fs::create_symlink("../outside", folder_ / "pipelines/link");
  const std::string folder = (folder_ / "pipelines").string();
  Outcome o = fmt({"--check", folder, last});  // each file once
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, deep + "\n" + last + "\n");
  EXPECT_TRUE(contains(o.err, "3 files: 2 would change, 1 canonical already")) << o.err;
  write("pipelines/broken.dali-dsl", "x = (\n");
  o = fmt({folder});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, deep + ": formatted\n" + last + ": formatted\n");
  EXPECT_TRUE(contains(o.err, "4 files: 2 formatted, 1 canonical already, 1 failed")) << o.err;
  for (const std::string& untouched : {hidden, also_hidden, other, outside})
    EXPECT_EQ(read_file(untouched), "x=1\n") << untouched;
  EXPECT_TRUE(contains(fmt({(folder_ / "pipelines/.git").string()}).out, "formatted"));  // named
  EXPECT_EQ(fmt({"--check", "--diagnostics=json", folder}).err, "");
}

TEST_F(FmtCommand, CheckWalksFoldersToo) {
  fs::create_directories(folder_ / "pipelines/b");
  write("pipelines/b/good.dali-dsl", "x = 1\n");
  write("pipelines/wrong.dali-dsl", "x = nothing\n");
  const std::string folder = (folder_ / "pipelines").string();
  const Outcome o = galatea::testing::run_galatea({"check", folder}, folder_);
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out,
            folder + "/b/good.dali-dsl: fine, without a pipeline\n" + folder + "/wrong.dali-dsl: 1 error\n");
  EXPECT_TRUE(contains(o.err, "2 files: 1 fine, 1 wrong")) << o.err;
}

TEST_F(FmtCommand, StdinToStdout) {
  const std::string program = build_folder() + "/bin/galatea";
  const std::string input = write("in", "x=1\n"), output = (folder_ / "out").string();
  auto pipe = [&](const std::string& arguments) {
    const int status =
        std::system((program + " fmt " + arguments + " - <" + input + " >" + output + " 2>&1").c_str());
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(pipe(""), 0);
  EXPECT_EQ(read_file(output), "x = 1\n");
  EXPECT_EQ(pipe("--check"), 1);
  EXPECT_EQ(read_file(output), "<stdin>\n");
  write("in", "x = \n");
  EXPECT_EQ(pipe(""), 1);
  EXPECT_TRUE(contains(read_file(output), "<stdin>:1:")) << read_file(output);
}

TEST_F(FmtCommand, WrongUsage) {
  EXPECT_EQ(fmt({}).status, 2);
  Outcome o = fmt({"--chek", "x"});
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(contains(o.err, "did you mean `--check`?")) << o.err;
}

}  // namespace
