// Who knows whom, read from the #include lines of the product: folders know each other in one direction only,
// libraries include what they link, and the map in docs/architecture.md is in that order.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/build_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string from, to;  ///< files, from the tree's root
};

const fs::path& root() {
  static const fs::path path = GALATEA_SOURCE_DIR;
  return path;
}

std::string folder_of(const std::string& file) { return fs::path(file).parent_path().string(); }

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.is_open()) << path;
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// What a quoted name means in a source: as the build has it, from the root, from include/, or beside it.
std::optional<std::string> file_of(const std::string& name, const std::string& source) {
  for (const fs::path& folder : {fs::path(), fs::path("include"), fs::path(source).parent_path()})
    if (fs::exists(root() / folder / name)) return (folder / name).lexically_normal().string();
  return std::nullopt;
}

std::vector<std::string> product_sources() {
  std::vector<std::string> out;
  for (const char* folder :
       {"api", "base", "compiler", "dsl", "include", "policy", "runtime", "stdlib_ops", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".inl" || extension == ".def")
        out.push_back(fs::relative(entry.path(), root()).string());
    }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Include> read_includes() {
  const std::string head = "#include \"";
  std::vector<Include> out;
  for (const std::string& source : product_sources())
    for (const std::string& line : lines_of(root() / source)) {
      if (!line.starts_with(head)) continue;
      const std::string name = line.substr(head.size(), line.find('"', head.size()) - head.size());
      const std::optional<std::string> file = file_of(name, source);
      EXPECT_TRUE(file) << source << " includes " << name << ", which is not there";
      if (file) out.push_back({source, *file});
    }
  return out;
}

const std::vector<Include>& includes() {
  static const std::vector<Include> all = read_includes();
  return all;
}

/// The folders that each folder includes, and nothing of itself.
using Folders = std::map<std::string, std::set<std::string>>;

Folders folders_of(const std::vector<Include>& all) {
  Folders out;
  for (const auto& [from, to] : all)
    if (folder_of(from) != folder_of(to)) out[folder_of(from)].insert(folder_of(to));
  return out;
}

/// The shortest way from a folder back to it; empty: there is none.
std::vector<std::string> cycle_through(const std::string& start, const Folders& folders) {
  std::map<std::string, std::string> reached_from;
  std::deque<std::string> next = {start};
  while (!next.empty()) {
    const std::string folder = next.front();
    next.pop_front();
    const auto known = folders.find(folder);
    if (known == folders.end()) continue;
    for (const std::string& other : known->second)
      if (reached_from.emplace(other, folder).second) next.push_back(other);
  }
  std::vector<std::string> out;
  if (!reached_from.contains(start)) return out;
  for (std::string at = start; out.empty() || at != start; at = reached_from[at]) out.push_back(at);
  std::reverse(out.begin() + 1, out.end());
  return out;
}

/// Cycles, no folder in two of them.
std::vector<std::vector<std::string>> cycles_in(const Folders& folders) {
  std::vector<std::vector<std::string>> out;
  std::set<std::string> told;
  for (const auto& [folder, others] : folders) {
    const std::vector<std::string> cycle = cycle_through(folder, folders);
    if (std::any_of(cycle.begin(), cycle.end(), [&](const std::string& f) { return told.contains(f); }))
      continue;
    told.insert(cycle.begin(), cycle.end());
    if (!cycle.empty()) out.push_back(cycle);
  }
  return out;
}

std::string cycle_text(const std::vector<std::string>& cycle) {
  std::string out;
  for (size_t k = 0; k < cycle.size(); ++k) {
    const std::string &from = cycle[k], &to = cycle[(k + 1) % cycle.size()];
    out += from + "/ knows " + to + "/:\n";
    for (const Include& include : includes())
      if (folder_of(include.from) == from && folder_of(include.to) == to)
        out += "  " + include.from + " includes " + include.to + "\n";
  }
  return out;
}

/// A target of cmake's, as tests/link/CMakeLists.txt writes it down.
struct Target {
  std::set<std::string> links;     ///< itself named
  std::set<std::string> hands_on;  ///< of those, what comes along with it
  std::vector<std::string> sources;
};

std::map<std::string, Target> read_targets() {
  std::map<std::string, Target> out;
  Target* target = nullptr;
  for (const std::string& line : lines_of(fs::path(build_folder()) / "tests/link/targets.txt")) {
    const size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank), rest = line.substr(blank + 1);
    if (word == "target") target = &out[rest];
    if (word == "links") target->links.insert(rest);
    if (word == "hands_on") target->hands_on.insert(rest);
    if (word == "source") target->sources.push_back(fs::path(rest).lexically_relative(root()).string());
  }
  return out;
}

/// What a target sees: itself, what it links, and what comes along with that.
std::set<std::string> seen_by(const std::string& name, const std::map<std::string, Target>& targets) {
  std::set<std::string> out = {name};
  std::deque<std::string> next(targets.at(name).links.begin(), targets.at(name).links.end());
  while (!next.empty()) {
    const std::string other = next.front();
    next.pop_front();
    if (!targets.contains(other) || !out.insert(other).second) continue;
    for (const std::string& more : targets.at(other).hands_on) next.push_back(more);
  }
  return out;
}

TEST(Includes, OfFoldersPointOneWay) {
  EXPECT_GT(includes().size(), 1000U);
  for (const std::vector<std::string>& cycle : cycles_in(folders_of(includes())))
    ADD_FAILURE() << "folders that know each other; move what both need to where neither has to look up:\n"
                  << cycle_text(cycle);
}

TEST(Includes, ThatCloseACycleAreFound) {
  const Folders folders = {{"a", {"b", "z"}}, {"b", {"c"}},      {"c", {"d", "a"}},
                           {"d", {"z"}},      {"e", {"a", "f"}}, {"f", {"e", "g"}}};
  EXPECT_EQ(cycles_in(folders), (std::vector<std::vector<std::string>>{{"a", "b", "c"}, {"e", "f"}}));
  EXPECT_TRUE(cycles_in({{"a", {"b", "c"}}, {"b", {"c"}}}).empty());
  EXPECT_EQ(folders_of({{"a/x.cpp", "a/x.h"}, {"a/x.cpp", "b/c/y.h"}}), (Folders{{"a", {"b/c"}}}));
}

TEST(Includes, AreOfLibrariesThatAreLinked) {
  const std::map<std::string, Target> targets = read_targets();
  ASSERT_GT(targets.size(), 9U);
  // A header is of the targets that its folder has: tools/ has two.
  std::map<std::string, std::set<std::string>> of_file, of_folder;
  for (const auto& [name, target] : targets)
    for (const std::string& source : target.sources) {
      of_file[source].insert(name);
      of_folder[folder_of(source)].insert(name);
    }
  size_t looked_at = 0;
  for (const auto& [from, to] : includes()) {
    const bool compiled = from.ends_with(".cpp");
    EXPECT_TRUE(!compiled || of_file.contains(from)) << from << " is compiled by no target";
    const std::set<std::string>& homes = of_folder[folder_of(to)];
    const std::set<std::string>& users = compiled ? of_file[from] : of_folder[folder_of(from)];
    if (homes.empty() || users.empty()) continue;  // a folder of headers alone
    const bool linked = std::any_of(users.begin(), users.end(), [&](const std::string& user) {
      const std::set<std::string> seen = seen_by(user, targets);
      return std::any_of(homes.begin(), homes.end(), [&](const auto& home) { return seen.contains(home); });
    });
    EXPECT_TRUE(linked) << from << " includes " << to << " of " << *homes.begin() << ", which "
                        << *users.begin() << " does not link";
    ++looked_at;
  }
  EXPECT_GT(looked_at, 1000U);
}

/// Rows of the map of compiler/: each knows rows above it, and the files beside compile.cpp know all.
TEST(Includes, InsideTheCompilerFollowTheMap) {
  const std::string page = "docs/architecture.md";
  const std::vector<std::string> lines = lines_of(root() / page);
  auto line = std::find_if(lines.begin(), lines.end(),
                           [](const std::string& text) { return text.starts_with("Inside `compiler/`"); });
  ASSERT_NE(line, lines.end()) << page;
  std::map<std::string, size_t> rows;
  for (; line != lines.end() && !line->starts_with("#"); ++line)
    if (line->starts_with("| `"))
      rows.emplace("compiler/" + line->substr(3, line->find("/`") - 3), rows.size());
  rows.emplace("compiler", rows.size());
  for (const auto& [from, others] : folders_of(includes())) {
    if (from != "compiler" && !from.starts_with("compiler/")) continue;
    EXPECT_TRUE(rows.contains(from)) << page << " has no row for " << from << "/";
    for (const std::string& to : others)
      EXPECT_TRUE(!rows.contains(to) || rows[to] < rows[from])
          << from << "/ knows " << to << "/, which stands below it in " << page;
  }
}

}  // namespace
}  // namespace galatea::testing
