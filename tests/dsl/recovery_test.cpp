// Independent mistakes are all reported, each once and at its place, and nothing else is: valid files get one
// to four wrong lines at random places.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <sstream>

#include "tests/dsl/support.h"
#include "tests/support/cases.h"

namespace galatea::dsl::testing {
namespace {

struct Mistake {
  const char* line;
  const char* code;
};

// Found by the parser: `#` becomes a number, so that no two lines are equal.
constexpr Mistake kSyntax[] = {{"zz# = = 1", "G0101"},
                               {"zz# = 1 +", "G0101"},
                               {"zz# = [1 2]", "G0101"},
                               {"for in range(#): pass", "G0101"},
                               {"def (): pass", "G0101"},
                               {"if True zz# = 1", "G0101"},
                               {"class Zz#: pass", "G0102"},
                               {"del zz#", "G0102"},
                               {"global zz#", "G0102"},
                               {"zz# = 1)", "G0105"},
                               {"zz# = \"open", "G0106"},
                               {"zz# = #x", "G0107"},
                               {"zz# = 1 $ 2", "G0108"},
                               {"zz# = 1 \\ + 2", "G0109"},
                               {"lambda = #", "G0114"},
                               {"len(#) = 2", "G0115"},
                               {"zz# = *zz", "G0116"},
                               {"*a#, *b# = [1, 2]", "G0117"},
                               {"zz# = dict(a=1, a=2)", "G0122"},
                               {"zz# = dict(a=1, 2)", "G0121"},
                               {"zz# = \"\\x4\"", "G0124"},
                               {"zz# = f\"{}\"", "G0126"},
                               {"zz# = [1, (2]", "G0103"}};

// Found by the evaluator. (`raise` and `assert` end the path, so that what follows them is not looked at.)
constexpr Mistake kMeaning[] = {{"zz# = unknown#", "G0201"},
                                {"zz# = \"a#\".uper()", "G0203"},
                                {"zz# = #()", "G0204"},
                                {"zz# = \"a\" + #", "G0205"},
                                {"zz# = -\"a#\"", "G0206"},
                                {"zz# = 2 ** 6#", "G0207"},
                                {"zz# = # / 0", "G0208"},
                                {"for zz# in #: pass", "G0210"},
                                {"zz# = #[0]", "G0212"},
                                {"zz# = [#][\"a\"]", "G0213"},
                                {"zz# = [#][7]", "G0214"},
                                {"zz# = {\"a\": #}[\"b\"]", "G0215"},
                                {"zz# = {[#]: 1}", "G0216"},
                                {"zz#, yy# = 1, 2, 3", "G0219"},
                                {"zz# = len()", "G0233"},
                                {"zz# = int(\"x#\")", "G0238"},
                                {"zz# = f\"{#:q}\"", "G0241"},
                                {"zz# = # is 1.5", "G0243"},
                                {"(lambda a: a)(b=#)", "G0231"},
                                {"(lambda a: a)(1, #)", "G0229"},
                                {"import nvidia.dali.zz#", "G0601"},
                                {"from nvidia.dali import zz#", "G0603"}};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Errors as "line code", sorted.
std::vector<std::string> errors_of(const std::string& path, const std::string& text,
                                   std::string* rendered = nullptr) {
  Staged staged = stage(path, text);
  if (rendered) *rendered = staged.diagnostics;
  std::vector<std::string> errors;
  SourceFile file(path, text);
  for (const Diagnostic& diagnostic : staged.result.diagnostics) {
    if (diagnostic.severity == Severity::kError)
      errors.push_back(std::to_string(file.position(diagnostic.span.begin).line) + " " + diagnostic.code);
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

std::string indentation(const std::string& line) { return line.substr(0, line.find_first_not_of(' ')); }

// Lines before which a statement may begin, as far as the lines say it by themselves.
std::vector<size_t> statement_lines(const std::vector<std::string>& lines) {
  std::vector<size_t> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t first = lines[i].find_first_not_of(' ');
    if (first == std::string::npos || std::string(")]}#@\"'").find(lines[i][first]) != std::string::npos)
      continue;
    // A decorator belongs to the line after it; a clause continues the statement before it.
    if (i > 0 && lines[i - 1].find('@') == lines[i - 1].find_first_not_of(' ') &&
        lines[i - 1].find('@') != std::string::npos)
      continue;
    found.push_back(i);
  }
  return found;
}

// Of the candidates, those before which an unknown name is one error, there: tried together, and by halves
// where that gives other errors.
void add_reached(const std::string& path, const std::vector<std::string>& lines,
                 std::span<const size_t> candidates, std::vector<size_t>& reached) {
  std::vector<std::string> probe = lines;
  std::map<std::string, size_t> expected;
  for (size_t k = candidates.size(); k-- > 0;) {
    const size_t at = candidates[k];
    probe.insert(probe.begin() + static_cast<std::ptrdiff_t>(at),
                 indentation(lines[at]) + "probe_" + std::to_string(at));
    expected[std::to_string(at + k + 1) + " G0201"] = at;
  }
  const std::vector<std::string> errors = errors_of(path, text_of(probe));
  if (std::ranges::all_of(errors, [&](const std::string& error) { return expected.contains(error); })) {
    for (const std::string& error : errors) reached.push_back(expected[error]);
  } else if (candidates.size() > 1) {
    const size_t half = candidates.size() / 2;
    add_reached(path, lines, candidates.first(half), reached);
    add_reached(path, lines, candidates.subspan(half), reached);
  }
}

/// Found once for each file: a probe stages it, and all tests ask.
const std::vector<size_t>& reached_lines(const std::string& path, const std::vector<std::string>& lines) {
  static std::map<std::string, std::vector<size_t>> known;
  const auto [place, is_new] = known.try_emplace(path);
  std::vector<size_t>& reached = place->second;
  if (!is_new) return reached;
  constexpr size_t kTogether = 32;  // fewer than the errors that are shown
  const std::vector<size_t> candidates = statement_lines(lines);
  for (size_t i = 0; i < candidates.size(); i += kTogether)
    add_reached(path, lines, std::span(candidates).subspan(i, std::min(kTogether, candidates.size() - i)),
                reached);
  std::ranges::sort(reached);
  return reached;
}

std::vector<std::string> valid_files() {
  std::vector<std::string> paths = golden_files("stage");
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() == ".dali-dsl") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void try_mistakes(std::span<const Mistake> mistakes, unsigned seed) {
  const int64_t trials = galatea::testing::scaled(200, 4);  // of each file
  std::mt19937 random(seed);
  int tried = 0;
  for (const std::string& path : valid_files()) {
    if (!galatea::testing::takes(std::filesystem::path(path).filename().string())) continue;
    const std::vector<std::string> lines = lines_of(read_file(path));
    if (!errors_of(path, text_of(lines)).empty()) continue;  // needs parameters
    const std::vector<size_t>& places = reached_lines(path, lines);
    if (places.empty()) continue;
    for (int64_t trial = 0; trial < trials; ++trial) {
      std::vector<size_t> chosen = places;
      std::shuffle(chosen.begin(), chosen.end(), random);
      chosen.resize(std::min<size_t>(chosen.size(), 1 + random() % 4));
      std::sort(chosen.begin(), chosen.end());
      std::vector<std::string> wrong = lines, expected;
      for (size_t k = chosen.size(); k-- > 0;) {
        const Mistake& mistake = mistakes[random() % mistakes.size()];
        std::string line = mistake.line;
        for (size_t at; (at = line.find('#')) != std::string::npos;)
          line.replace(at, 1, std::to_string(k + 4));
        wrong.insert(wrong.begin() + static_cast<std::ptrdiff_t>(chosen[k]),
                     indentation(lines[chosen[k]]) + line);
        // The lines above get one each as well.
        expected.push_back(std::to_string(chosen[k] + k + 1) + " " + mistake.code);
      }
      std::sort(expected.begin(), expected.end());
      std::string rendered;
      EXPECT_EQ(errors_of(path, text_of(wrong), &rendered), expected) << path << "\n"
                                                                      << text_of(wrong) << rendered;
      ++tried;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(tried, galatea::testing::kSanitized ? 15 : 40);
}

TEST(Recovery, EveryMistakeInTheSyntaxIsReportedOnce) { try_mistakes(kSyntax, 1); }

TEST(Recovery, EveryMistakeInTheMeaningIsReportedOnce) { try_mistakes(kMeaning, 2); }

// What the parser lost hides nothing of the lines beside it.
TEST(Recovery, MistakesOfBothKindsAreReportedTogether) {
  std::vector<Mistake> both(std::begin(kSyntax), std::end(kSyntax));
  both.insert(both.end(), std::begin(kMeaning), std::end(kMeaning));
  try_mistakes(both, 3);
}

}  // namespace
}  // namespace galatea::dsl::testing
