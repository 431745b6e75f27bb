// One mistake, one message, at its place, with the way out: mistakes.txt, habits.txt, tongues.txt, slips.txt and lapses.txt.
// Each mistake's twin is accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/dsl/support.h"

namespace galatea::dsl::testing {
namespace {

struct ProgramPair {
  std::string name, wrong, code, underlined, help, right;
  bool whole_file = false;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

void read_pairs(const std::string& file, std::vector<ProgramPair>& out) {
  std::istringstream lines(read_file(std::string(GALATEA_SOURCE_DIR) + "/tests/dsl/" + file));
  bool is_right = false, has_begun = false;
  for (std::string line; std::getline(lines, line);) {
    has_begun = has_begun || line.starts_with("== ");
    if (!has_begun) continue;
    if (line.starts_with("== ")) {
      out.emplace_back();
      out.back().name = line.substr(3);
      out.back().whole_file = line.ends_with(" (file)");
      is_right = false;
    } else if (line.starts_with("-- ") && !out.empty()) {
      const size_t first = line.find(" | "), second = line.find(" |", first + 3);
      EXPECT_NE(second, std::string::npos) << line;
      out.back().code = trimmed(line.substr(3, first - 3));
      out.back().underlined = trimmed(line.substr(first + 3, second - first - 3));
      out.back().help = trimmed(line.substr(second + 2));
      is_right = true;
    } else if (!out.empty()) {
      (is_right ? out.back().right : out.back().wrong) += line + "\n";
    }
  }
}

std::vector<ProgramPair> read_mistakes() {
  std::vector<ProgramPair> out;
  read_pairs("mistakes.txt", out);
  read_pairs("habits.txt", out);
  read_pairs("tongues.txt", out);
  read_pairs("slips.txt", out);
  read_pairs("lapses.txt", out);
  return out;
}

Staged staged(const ProgramPair& mistake, const std::string& text) {
  if (mistake.whole_file) return stage("t.dali-dsl", text);
  return stage_body(
      "data, labels = fn.readers.file(file_root=\"photos\")\nimages = fn.decoders.image(data)\n" + text);
}

TEST(Mistakes, EachIsToldOnceAtItsPlaceWithTheWayOut) {
  const std::vector<ProgramPair> mistakes = read_mistakes();
  ASSERT_GE(mistakes.size(), 500u);
  for (const ProgramPair& mistake : mistakes) {
    const Staged wrong = staged(mistake, mistake.wrong);
    const auto said = [](const Diagnostic& d) { return d.severity != Severity::kNote; };
    ASSERT_EQ(std::ranges::count_if(wrong.result.diagnostics, said), 1) << mistake.name << "\n"
                                                                        << wrong.diagnostics;
    const Diagnostic& diagnostic = *std::ranges::find_if(wrong.result.diagnostics, said);
    EXPECT_EQ(diagnostic.code, mistake.code) << mistake.name << "\n" << wrong.diagnostics;
    EXPECT_EQ(trimmed(wrong.text.substr(diagnostic.span.begin, diagnostic.span.end - diagnostic.span.begin)),
              mistake.underlined)
        << mistake.name << "\n"
        << wrong.diagnostics;
    EXPECT_NE(diagnostic.help.find(mistake.help), std::string::npos) << mistake.name << "\n"
                                                                     << wrong.diagnostics;
  }
}

TEST(Mistakes, WithoutThemNothingIsSaid) {
  for (const ProgramPair& mistake : read_mistakes()) {
    const Staged right = staged(mistake, mistake.right);
    EXPECT_TRUE(std::ranges::all_of(right.result.diagnostics,
                                    [](const Diagnostic& d) { return d.severity == Severity::kNote; }))
        << mistake.name << "\n"
        << right.diagnostics;
  }
}

// What the help says to write makes the program one without the mistake.
TEST(Mistakes, EditsMendThem) {
  size_t with_edit = 0;
  for (const ProgramPair& mistake : read_mistakes()) {
    const Staged wrong = staged(mistake, mistake.wrong);
    size_t applied = 0;
    uint32_t file = 0;
    for (const Diagnostic& diagnostic : wrong.result.diagnostics)
      for (const Edit& edit : diagnostic.edits) file = edit.span.file;
    if (file == 0) continue;
    ++with_edit;
    const std::string mended = with_edits(wrong.text, file, wrong.result.diagnostics, true, applied);
    EXPECT_EQ(applied, 1u) << mistake.name;
    const Staged right = stage("t.dali-dsl", mended);
    EXPECT_TRUE(std::ranges::all_of(right.result.diagnostics,
                                    [](const Diagnostic& d) { return d.severity == Severity::kNote; }))
        << mistake.name << "\n"
        << mended << right.diagnostics;
  }
  EXPECT_GE(with_edit, 40u);
}

size_t num_errors(const Staged& staged) {
  return static_cast<size_t>(std::ranges::count_if(
      staged.result.diagnostics, [](const Diagnostic& d) { return d.severity == Severity::kError; }));
}

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Certain edits leave fewer errors than there were, touch only the lines at which they stand, and are all there
// is to write: once more changes nothing.
TEST(Mistakes, CertainEditsLeaveFewerErrorsAndTheOtherLines) {
  size_t with_edit = 0;
  for (const ProgramPair& mistake : read_mistakes()) {
    const Staged wrong = staged(mistake, mistake.wrong);
    std::set<uint32_t> touched;
    uint32_t file = 0;
    const SourceFile source("t", wrong.text);
    for (const Diagnostic& diagnostic : wrong.result.diagnostics)
      for (const Edit& edit : diagnostic.edits) {
        if (!edit.is_certain) continue;
        file = edit.span.file;
        for (uint32_t at : {edit.span.begin, edit.span.end}) touched.insert(source.position(at).line);
      }
    if (file == 0 || num_errors(wrong) == 0) continue;
    ++with_edit;
    size_t applied = 0;
    const std::string mended = with_edits(wrong.text, file, wrong.result.diagnostics, false, applied);
    EXPECT_GE(applied, 1u) << mistake.name;
    const Staged right = stage("t.dali-dsl", mended);
    EXPECT_LT(num_errors(right), num_errors(wrong)) << mistake.name << "\n" << mended << right.diagnostics;
    const std::vector<std::string> before = text_lines(wrong.text), after = text_lines(mended);
    ASSERT_EQ(before.size(), after.size()) << mistake.name << "\n" << mended;
    for (size_t i = 0; i < before.size(); ++i) {
      const bool is_touched = touched.contains(static_cast<uint32_t>(i + 1));
      EXPECT_TRUE(is_touched || before[i] == after[i]) << mistake.name << "\n" << after[i];
    }
    with_edits(mended, file, right.result.diagnostics, false, applied);
    EXPECT_EQ(applied, 0u) << mistake.name << "\n" << mended << right.diagnostics;
  }
  EXPECT_GE(with_edit, 30u);
}

// Code of the host program in functions that nobody calls here is Python.
TEST(Mistakes, HostCodeInFunctionsIsLeftAlone) {
  const Staged staged = stage("t.dali-dsl", R"(
import torch
from nvidia.dali import fn
from somewhere import Loader as L

def train(loader, model: torch.nn.Module, *, epochs=3, **kw):
    """Trains."""
    best = 0
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(batch[0]["data"].cuda()), batch[0]["label"])
            loss.backward()
            print(f"{epoch} {i} {loss.item():.3f} {kw=}", __file__)
        seen = [v for v in (a for a in range(3)) if v]
        best = max(best, *sorted(seen, key=lambda q: q + best))
        if (n := len({k: v for k, v in zip(seen, seen)})) > 3:
            raise RuntimeError(f"{n}")
    return isinstance(best, L) or StopIteration
)");
  EXPECT_TRUE(staged.result.diagnostics.empty()) << staged.diagnostics;
}

// A loop around the function that holds it is no loop of its own, whether it is called or not.
TEST(Mistakes, LoopsAreLeftFromInsideOnly) {
  for (const char* call : {"", "f()\n"}) {
    const Staged staged = stage("t.dali-dsl", std::string(R"(
def f():
    for x in [1]:
        def g():
            continue
        g()
        break
    else:
        pass
    break
)") + call);
    const std::vector<Diagnostic>& told = staged.result.diagnostics;
    ASSERT_EQ(told.size(), 2u) << staged.diagnostics;
    EXPECT_TRUE(told[0].code == "G0225" && told[1].code == "G0225") << staged.diagnostics;
  }
}

TEST(Mistakes, EditsThatMeetAreNotBothApplied) {
  Diagnostic first, second;
  first.edits = {{{1, 2, 5}, "x", true}};
  second.edits = {{{1, 4, 6}, "y", true}, {{1, 0, 0}, "z", true}};
  size_t applied = 0;
  EXPECT_EQ(with_edits("abcdefgh", 1, {first, second}, false, applied), "abxfgh");
  EXPECT_EQ(applied, 1u);
  first.edits[0].is_certain = false;
  EXPECT_EQ(with_edits("abcdefgh", 1, {first, second}, false, applied), "zabcdygh");
  EXPECT_EQ(with_edits("abcdefgh", 2, {first, second}, true, applied), "abcdefgh");
  EXPECT_EQ(applied, 0u);
}

}  // namespace
}  // namespace galatea::dsl::testing
