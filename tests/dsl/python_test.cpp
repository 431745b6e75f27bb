// CPython as the judge: syntax trees, and what static programs print. Without python3 these tests are
// skipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "tests/dsl/support.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::dsl::testing {
namespace {
namespace fs = std::filesystem;

const std::string kScripts = std::string(GALATEA_SOURCE_DIR) + "/tests/dsl/";

// A new, empty folder that is removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(galatea::testing::make_own_folder("galatea_python_" + name)) {}
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

bool run_script(const std::string& name, const std::string& arguments) {
  std::string command = "python3 -W ignore '" + kScripts + name + "' " + arguments;
  return std::system(command.c_str()) == 0;
}

// What random_programs.py writes: \\n, \\r and \\\\.
std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    char c = text[++i];
    out += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return out;
}

// ---- what static programs print ----

struct Judged {
  int checked = 0, errors = 0, overflows = 0;
};

// The statement that a diagnostic belongs to: the outermost call that led there, or its own place.
uint32_t line_of(const Diagnostic& diagnostic, const SourceFile& file) {
  Span span = diagnostic.calls.empty() ? diagnostic.span : diagnostic.calls.back().span;
  uint32_t line = 1;
  const std::string& text = file.text();
  for (uint32_t i = 0; i < span.begin; ++i) line += text[i] == '\n';
  return line;
}

void compare_program(const std::string& path, Judged& judged) {
  SourceMap sources;
  op::Registry none;
  FrontendResult result = stage_all(path, std::nullopt, {}, none, sources);
  std::map<uint32_t, std::vector<const Diagnostic*>> by_line;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    ASSERT_TRUE(diagnostic.span.valid()) << path << ": " << diagnostic.message;
    by_line[line_of(diagnostic, *sources.file(diagnostic.span.file))].push_back(&diagnostic);
  }
  std::string source = read_file(path);
  std::istringstream rows(read_file(path.substr(0, path.rfind('.')) + ".expected"));
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    uint32_t first = 0, last = 0;
    std::string verdict, rest;
    words >> first >> last >> verdict;
    words.get();
    std::getline(words, rest);
    if (verdict == "any") continue;
    std::string printed;
    std::vector<const Diagnostic*> errors;
    for (auto at = by_line.lower_bound(first); at != by_line.end() && at->first <= last; ++at) {
      for (const Diagnostic* diagnostic : at->second) {
        if (diagnostic->severity == Severity::kError)
          errors.push_back(diagnostic);
        else if (diagnostic->code == "G0253")
          printed += diagnostic->message + "\n";
      }
    }
    std::string where = path + ":" + std::to_string(first);
    ++judged.checked;
    if (verdict == "error") {
      ++judged.errors;
      EXPECT_FALSE(errors.empty()) << where << ": CPython raises " << rest << ", but this is accepted\n"
                                   << source;
      continue;
    }
    // Integers of more than 64 bits are refused, as language.md says.
    if (!errors.empty() && errors[0]->code == "G0207") {
      ++judged.overflows;
      continue;
    }
    EXPECT_TRUE(errors.empty()) << where << ": " << errors[0]->code << " " << errors[0]->message;
    if (errors.empty()) {
      EXPECT_EQ(printed, unescape(rest)) << where;
    }
  }
}

TEST(Python, RandomProgramsPrintTheSame) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  const auto programs = static_cast<int>(galatea::testing::cases(100, 20));
  Folder folder("programs");
  ASSERT_TRUE(
      run_script("random_programs.py", "11 " + std::to_string(programs) + " '" + folder.path() + "'"));
  Judged judged;
  for (int i = 0; i < programs; ++i) compare_program(folder.file(std::to_string(i) + ".dali-dsl"), judged);
  EXPECT_GT(judged.checked, 20 * programs);
  EXPECT_GT(judged.errors, programs);
  EXPECT_LT(judged.overflows, judged.checked / 50);
}

// ---- syntax trees ----

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The same text as other editors would save it.
std::map<std::string, std::string> variants(const std::string& text) {
  std::string tabs;
  bool at_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (at_start && text.compare(i, 4, "    ") == 0) {
      tabs += '\t';
      i += 3;
      continue;
    }
    at_start = text[i] == '\n';
    tabs += text[i];
  }
  return {{"plain", text},
          {"crlf", replace_all(text, "\n", "\r\n")},
          {"cr", replace_all(text, "\n", "\r")},
          {"bom", "\xEF\xBB\xBF" + text},
          {"tabs", tabs},
          {"formfeed", replace_all(text, "\ndef ", "\n\f\ndef ")},
          {"comments", replace_all(text, "\n", "  # a comment\n")},
          {"no_end", text.substr(0, text.find_last_not_of('\n') + 1)}};
}

TEST(Python, SyntaxTreesAreTheSame) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  Folder folder("trees");
  std::vector<std::string> texts;
  for (const char* kind : {"parse", "stage", "static", "numpy"}) {
    for (const std::string& path : golden_files(kind)) texts.push_back(read_file(path));
  }
  ASSERT_TRUE(run_script("random_programs.py", "7 40 '" + folder.path() + "'"));
  for (int i = 0; i < 40; ++i) texts.push_back(read_file(folder.file(std::to_string(i) + ".dali-dsl")));
  std::vector<std::string> names;
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const auto& [name, text] : variants(texts[i])) {
      names.push_back("t" + std::to_string(i) + "_" + name);
      std::ofstream(folder.file(names.back() + ".dali-dsl"), std::ios::binary) << text;
    }
  }
  ASSERT_TRUE(run_script("print_tree.py", "'" + folder.path() + "'"));
  int accepted = 0;
  for (const std::string& name : names) {
    SourceMap sources;
    std::vector<Diagnostic> diagnostics;
    std::string text = read_file(folder.file(name + ".dali-dsl"));
    std::string ours = print_ast(name, text, sources, diagnostics);
    std::string theirs = read_file(folder.file(name + ".tree"));
    if (!diagnostics.empty()) ours = "syntax error";
    EXPECT_EQ(ours, theirs) << name;
    accepted += ours != "syntax error";
  }
  EXPECT_GT(accepted, static_cast<int>(names.size()) * 4 / 5);
}

// Texts with a few characters changed: whatever the language takes, CPython takes too, as the same tree.
TEST(Python, WhatIsAcceptedAfterAMutationParsesWithCPython) {
  if (!python_available()) GTEST_SKIP() << "python3 is not installed";
  Folder folder("mutations");
  std::vector<std::string> texts;
  for (const char* kind : {"parse", "stage", "static"}) {
    for (const std::string& path : golden_files(kind)) texts.push_back(read_file(path));
  }
  constexpr std::string_view kPieces[] = {
      " ",        "\n",      "    ",    "\t",         "(",    ")",   "[",       "]",   "{",
      "}",        ":",       ",",       "=",          "*",    "**",  ".",       "...", "\\\n",
      "\\",       "'",       "\"",      "\"\"\"",     "f'",   "r'",  "{x}",     "!r",  "#",
      ";",        "if",      " else ",  "for x in y", "not ", "is ", "lambda ", "@",   ":=",
      "->",       "/",       "0x",      "1_0",        "1e",   "_",   "é",       "\r",  "\f",
      "def f():", "return ", "import ", "from . ",    "None", "%",   "-",       "~",   "<",
      "==",       "async ",  "u'",      "b'",         "0",    "1.",  ".5j"};
  // Statement by statement: an error elsewhere would only hide this one.
  std::vector<std::string> statements;
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      bool begins = !line.empty() && line[0] != ' ' && line[0] != '\t' && line[0] != ')' && line[0] != ']';
      // The patterns of `match` are not read: below a main guard, wrong ones pass.
      if (line.find("match x") != std::string::npos) break;
      if (begins || statements.empty()) statements.emplace_back();
      statements.back() += line + "\n";
    }
  }
  std::mt19937 random(5);
  constexpr int kMutations = 1500;
  for (int i = 0; i < kMutations; ++i) {
    std::string text = statements[random() % statements.size()];
    for (size_t n = 1 + random() % 2; n > 0; --n) {
      size_t at = text.empty() ? 0 : random() % text.size();
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
      size_t erased = random() % 3 == 0 ? random() % 4 : 0;
      size_t end = std::min(at + erased, text.size());
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      text.replace(at, end - at, kPieces[random() % std::size(kPieces)]);
    }
    std::ofstream(folder.file(std::to_string(i) + ".dali-dsl"), std::ios::binary) << text;
  }
  ASSERT_TRUE(run_script("print_tree.py", "'" + folder.path() + "'"));
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    SourceMap sources;
    std::vector<Diagnostic> diagnostics;
    std::string text = read_file(folder.file(std::to_string(i) + ".dali-dsl"));
    std::string ours = print_ast("t.dali-dsl", text, sources, diagnostics);
    if (!diagnostics.empty()) continue;
    ++accepted;
    EXPECT_EQ(ours, read_file(folder.file(std::to_string(i) + ".tree"))) << text;
  }
  EXPECT_GT(accepted, kMutations / 10);
}

}  // namespace
}  // namespace galatea::dsl::testing
