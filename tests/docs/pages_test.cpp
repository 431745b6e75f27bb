// The form of all pages: lines that can be read, links that lead somewhere, an index that names every page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/docs/markdown.h"
#include "tests/tools/program.h"

namespace galatea::docs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kColumns = 100;
constexpr size_t kWordsOfTheMap = 2500;

const fs::path& root() {
  static const fs::path path = GALATEA_SOURCE_DIR;
  return path;
}

bool is_made(const fs::path& page) {
  return page == root() / "docs/diagnostics.md" || page.parent_path() == root() / "docs/ops";
}

/// Every page that is written by hand; docs/diagnostics.md and docs/ops/ are made of others.
std::vector<fs::path> all_pages() {
  std::vector<fs::path> out;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "THIRD_PARTY.md",
                           "bench/README.md", "tests/README.md", "tests/oracle/README.md"})
    out.push_back(root() / name);
  for (const auto& entry : fs::recursive_directory_iterator(root() / "docs"))
    if (entry.path().extension() == ".md" && !is_made(entry.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

struct Line {
  int number = 0;
  std::string text;
};

/// The lines of a page that are neither code nor fences.
std::vector<Line> prose(const fs::path& page) {
  std::vector<Line> out;
  std::istringstream text(testing::read_file(page));
  bool code = false;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
    if (fence) code = !code;
    if (!fence && !code) out.push_back({number, line});
  }
  EXPECT_FALSE(code) << page << ": a block of code is not closed";
  return out;
}

size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not inside of a character
  }));
}

/// A table's row, or a word that nothing can break (a link, say).
bool may_be_long(const std::string& line) {
  const size_t first = line.find_first_not_of(" -*>");
  return first == std::string::npos || line[first] == '|' || line.find(' ', first) == std::string::npos;
}

/// The name by which a link finds a heading.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      out += '-';
    else if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80)
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::set<std::string> anchors(const fs::path& page) {
  std::set<std::string> out;
  for (const Line& line : prose(page))
    if (line.text.starts_with("#")) out.insert(anchor_of(line.text));
  return out;
}

/// Where the links of a line lead; what stands between backticks is no link.
std::vector<std::string> links(const std::string& line) {
  std::string text;
  bool code = false;
  for (const char c : line) {
    if (c == '`') code = !code;
    if (!code) text += c;
  }
  std::vector<std::string> out;
  for (size_t at = 0; (at = text.find("](", at)) != std::string::npos; ++at) {
    const size_t end = text.find(')', at);
    if (end != std::string::npos) out.push_back(text.substr(at + 2, end - at - 2));
  }
  return out;
}

TEST(AllPages, HaveLinesThatCanBeRead) {
  for (const fs::path& page : all_pages())
    for (const Line& line : prose(page))
      EXPECT_TRUE(columns(line.text) <= kColumns || may_be_long(line.text))
          << page.string() << ":" << line.number << ": " << columns(line.text) << " columns of at most "
          << kColumns;
}

TEST(AllPages, HaveLinksThatLeadSomewhere) {
  size_t followed = 0;
  for (const fs::path& page : all_pages()) {
    for (const Line& line : prose(page)) {
      for (const std::string& link : links(line.text)) {
        if (link.find("://") != std::string::npos) continue;
        ++followed;
        const size_t hash = link.find('#');
        const std::string name = link.substr(0, hash);
        const fs::path target = name.empty() ? page : page.parent_path() / name;
        EXPECT_TRUE(fs::exists(target)) << page.string() << ":" << line.number << ": no " << link;
        const bool found = hash == std::string::npos || !fs::exists(target) ||
                           anchors(target).contains(link.substr(hash + 1));
        EXPECT_TRUE(found) << page.string() << ":" << line.number << ": no heading for " << link;
      }
    }
  }
  EXPECT_GE(followed, 150U);
}

/// A page that no index names is not found.
TEST(AllPages, AreInAnIndex) {
  for (const char* folder : {"docs", "docs/decisions", "docs/performance"}) {
    const std::string index = testing::read_file(root() / folder / "README.md");
    for (const auto& entry : fs::directory_iterator(root() / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".md" || name == "README.md" || name == "diagnostics.md") continue;
      EXPECT_NE(index.find("(" + name), std::string::npos) << folder << "/README.md does not name " << name;
    }
  }
}

TEST(AllPages, TheMapStaysAMap) {
  std::istringstream text(testing::read_file(root() / "docs/architecture.md"));
  size_t words = 0;
  for (std::string word; text >> word;) ++words;
  EXPECT_LE(words, kWordsOfTheMap) << "docs/architecture.md: decisions belong to docs/decisions/";
}

}  // namespace
}  // namespace galatea::docs
