// Every code block of the pages does what its page says. The words behind "```": see markdown.h.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/docs/markdown.h"
#include "tests/support/bless.h"
#include "tests/support/own_folder.h"
#include "tests/tools/program.h"

namespace galatea::docs {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;

constexpr const char* kPrelude =
    "from nvidia.dali import pipeline_def, fn, types, math\n"
    "import nvidia.dali as dali\n"
    "\n"
    "@pipeline_def(batch_size=8, num_threads=2)\n"
    "def p(data=\"photos\"):\n"
    "    encoded, label = fn.readers.file(file_root=data)\n"
    "    image = fn.decoders.image(encoded, output_type=types.RGB)\n";

/// Lines of a pipeline as a whole file; they return `image, label` unless they say what.
std::string whole(const std::string& fragment) {
  std::string text = kPrelude;
  std::istringstream lines(fragment);
  bool returns = false;
  for (std::string line; std::getline(lines, line);) {
    returns = returns || line.starts_with("return");
    text += line.empty() ? "\n" : "    " + line + "\n";
  }
  return returns ? text : text + "    return image, label\n";
}

class Pages : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = galatea::testing::make_own_folder("galatea_docs"); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Outcome galatea(std::vector<std::string> arguments) {
    return testing::run_galatea(std::move(arguments), folder_);
  }
  Outcome check(const std::string& text) {
    write("example.dali-dsl", text);
    return galatea({"check", (folder_ / "example.dali-dsl").string()});
  }
  /// Without the folder of this run.
  std::string portable(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  /// The codes of all errors in what `check` printed.
  static std::set<std::string> errors_in(const std::string& text) {
    std::set<std::string> codes;
    for (size_t at = 0; (at = text.find("error[", at)) != std::string::npos; at += 6)
      codes.insert(text.substr(at + 6, 5));
    return codes;
  }

  fs::path folder_;
};

std::string place(const Block& block) { return block.path + ":" + std::to_string(block.line); }

bool is_code(const Block& block) { return block.has("python") && block.has("galatea"); }

TEST_F(Pages, CodeBlocks) {
  int checked = 0;
  for (const fs::path& page : pages()) {
    std::string section;
    for (const Block& block : blocks(page)) {
      if (!is_code(block)) continue;
      if (block.section != section) {
        section = block.section;
        fs::remove_all(folder_);
        fs::create_directories(folder_);
      }
      if (const std::string name = block.value("file"); !name.empty()) {
        write(name, block.text);
        continue;
      }
      const Outcome outcome = check(block.has("fragment") ? whole(block.text) : block.text);
      const std::string code = block.value("error");
      ++checked;
      if (code.empty()) {
        EXPECT_EQ(outcome.status, 0) << place(block) << "\n" << outcome.err;
      } else {
        EXPECT_EQ(outcome.status, 1) << place(block) << " is accepted";
        EXPECT_EQ(errors_in(outcome.err), std::set<std::string>{code}) << place(block) << "\n" << outcome.err;
      }
    }
  }
  EXPECT_GE(checked, 55);
}

// A block of diagnostics repeats what `check` prints for the block before it.
TEST_F(Pages, Diagnostics) {
  for (const fs::path& page : pages()) {
    const std::vector<Block> all = blocks(page);
    // From the last to the first: a block that is rewritten moves only what stands below it.
    for (size_t i = all.size(); i-- > 1;) {
      if (!all[i].has("diagnostics")) continue;
      ASSERT_TRUE(is_code(all[i - 1])) << place(all[i]) << " follows no code";
      EXPECT_FALSE(all[i - 1].has("fragment"))
          << place(all[i]) << ": lines of a fragment are counted elsewhere";
      const std::string printed = portable(check(all[i - 1].text).err);
      if (galatea::testing::is_blessing()) {
        replace_block(page, all[i].line, printed);
        continue;
      }
      EXPECT_EQ(all[i].text, printed) << place(all[i]);
    }
  }
}

// One line of text for each output: its numbers.
std::string values_in(const fs::path& npy) {
  const std::string bytes = testing::read_file(npy);
  if (bytes.size() < 10) return "nothing";
  uint16_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, 2);
  const std::string header = bytes.substr(10, header_size);
  const size_t descr = header.find("'descr': '") + 10;
  const std::string type = header.substr(descr, header.find('\'', descr) - descr);
  std::ostringstream text;
  auto numbers = [&]<typename T>(T) {
    for (size_t at = 10U + header_size; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T number;
      std::memcpy(&number, bytes.data() + at, sizeof number);
      text << (text.tellp() > 0 ? " " : "") << +number;
    }
  };
  if (type == "|u1" || type == "|b1")
    numbers(uint8_t{});
  else if (type == "|i1")
    numbers(int8_t{});
  else if (type == "<i2")
    numbers(int16_t{});
  else if (type == "<u2")
    numbers(uint16_t{});
  else if (type == "<i4")
    numbers(int32_t{});
  else if (type == "<u4")
    numbers(uint32_t{});
  else if (type == "<i8")
    numbers(int64_t{});
  else if (type == "<f4")
    numbers(float{});
  else if (type == "<f8")
    numbers(double{});
  else
    text << "of type " << type;
  return text.str();
}

// A block of values repeats what the pipeline before it delivers for one sample. It reads a folder with one
// file.
TEST_F(Pages, Values) {
  for (const fs::path& page : pages()) {
    const std::vector<Block> all = blocks(page);
    // From the last to the first: a block that is rewritten moves only what stands below it.
    for (size_t i = all.size(); i-- > 1;) {
      if (!all[i].has("values")) continue;
      ASSERT_TRUE(is_code(all[i - 1])) << place(all[i]) << " follows no code";
      write("photos/a/one.jpg", "four");
      write("example.dali-dsl", all[i - 1].has("fragment") ? whole(all[i - 1].text) : all[i - 1].text);
      const Outcome outcome = galatea({"run", (folder_ / "example.dali-dsl").string(), "--set",
                                       "data=" + (folder_ / "photos").string(), "--batches", "1", "--save",
                                       (folder_ / "out").string()});
      EXPECT_EQ(outcome.status, 0) << place(all[i]) << "\n" << outcome.err;
      std::string printed;
      for (int k = 0; fs::exists(folder_ / ("out/out" + std::to_string(k))); ++k)
        printed += values_in(folder_ / ("out/out" + std::to_string(k)) / "000000.npy") + "\n";
      fs::remove_all(folder_ / "out");
      if (galatea::testing::is_blessing()) {
        replace_block(page, all[i].line, printed);
        continue;
      }
      EXPECT_EQ(all[i].text, printed) << place(all[i]);
    }
  }
}

// Tables that translate from other libraries: every line of ours is an expression that checks.
TEST_F(Pages, Tables) {
  size_t checked = 0;
  for (const fs::path& page : pages()) {
    std::string present, missing;
    size_t num_missing = 0;
    for (const Cell& cell : cells(page)) {
      (cell.missing ? missing : present) += "_ = " + cell.code + "\n";
      num_missing += cell.missing ? 1 : 0;
      ++checked;
    }
    if (!present.empty()) {
      const Outcome outcome = check(whole(present));
      EXPECT_EQ(outcome.status, 0) << page << "\n" << outcome.err;
    }
    if (num_missing == 0) continue;
    const std::string printed = check(whole(missing)).err;
    size_t named = 0;
    for (size_t at = 0; (at = printed.find("error[G0402]", at)) != std::string::npos; ++at) ++named;
    EXPECT_EQ(named, num_missing) << page << " says of some operator that it is missing, but it is there\n"
                                  << printed;
    EXPECT_EQ(errors_in(printed), std::set<std::string>{"G0402"}) << printed;
  }
  EXPECT_GE(checked, 30U);
}

// The language is a subset of Python's: CPython reads what we accept, and agrees on everything static.
TEST_F(Pages, CPythonAgrees) {
  if (std::system("python3 -c 'import ast' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 is not installed";
  // One process for all: a line names a file, and whether it runs.
  std::string list;
  for (const fs::path& page : pages()) {
    for (const Block& block : blocks(page)) {
      if (!is_code(block) || !block.value("error").empty()) continue;
      const std::string name = page.stem().string() + "_" + std::to_string(block.line) + ".py";
      write(name, block.has("fragment") ? whole(block.text) : block.text);
      list += (block.has("static") ? "run " : "parse ") + (folder_ / name).string() + "\n";
    }
  }
  write("list", list);
  write("judge.py",
        "import ast, sys\n"
        "for line in open(sys.argv[1]).read().splitlines():\n"
        "    what, path = line.split(' ', 1)\n"
        "    text = open(path).read()\n"
        "    ast.parse(text, path)\n"
        "    if what == 'run': exec(compile(text, path, 'exec'), {'__name__': 'page'})\n");
  const std::string command = "python3 -W ignore '" + (folder_ / "judge.py").string() + "' '" +
                              (folder_ / "list").string() + "' > '" + (folder_ / "said").string() + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << testing::read_file(folder_ / "said");
}

}  // namespace
}  // namespace galatea::docs
