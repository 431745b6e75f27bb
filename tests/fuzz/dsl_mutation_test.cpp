// Mutations of the golden files through the fuzz harness, without a fuzzer. GALATEA_FUZZ_ROUNDS sets their
// number.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/fuzz/dsl_harness.h"

namespace galatea::fuzz {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> texts_of(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/tests/" + folder)) {
    if (entry.is_regular_file() && fs::file_size(entry.path()) < 20'000) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    texts.push_back(content.str());
  }
  return texts;
}

// Words cut at blanks and brackets, then dropped, doubled, swapped or taken from another file.
TEST(DslMutation, MutatedGoldenFiles) {
  std::vector<std::string> all;
  for (const char* folder : {"golden/stage", "golden/error", "golden/static"}) {
    for (std::string& text : texts_of(folder)) all.push_back(std::move(text));
  }
  auto cut = [](const std::string& text) {
    std::vector<std::string> words(1);
    for (char c : text) {
      bool name = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      bool before = !words.back().empty() && (std::isalnum(static_cast<unsigned char>(words.back().back())) ||
                                              words.back().back() == '_');
      if (!words.back().empty() && (!name || !before)) words.emplace_back();
      words.back() += c;
    }
    return words;
  };
  std::mt19937 random(7);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int rounds = 150;
  if (const char* given = std::getenv("GALATEA_FUZZ_ROUNDS")) rounds = std::atoi(given);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::string> words = cut(all[below(all.size())]);
    std::vector<std::string> others = cut(all[below(all.size())]);
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      size_t at = below(words.size());
      switch (below(4)) {
        case 0:
          words[at].clear();
          break;
        case 1:
          words[at] += words[at];
          break;
        case 2:
          std::swap(words[at], words[below(words.size())]);
          break;
        default:
          words[at] = others[below(others.size())];
      }
    }
    std::string text;
    for (const std::string& word : words) text += word;
    ASSERT_EQ(run_dsl(text), "") << text;
  }
}

}  // namespace
}  // namespace galatea::fuzz
