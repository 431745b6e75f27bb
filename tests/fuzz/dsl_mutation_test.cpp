// Mutations of all valid files through the fuzz harness, in one process, without a fuzzer.
//
// GALATEA_FUZZ_ROUNDS sets their number (./dev fuzz mutations: 5000). Each must end as `check` ends: fine, or
// with diagnostics. A guard ends the process, with the text, where one takes too long.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/fuzz/dsl_harness.h"
#include "tests/fuzz/token_mutator.h"
#include "tests/support/cases.h"

namespace galatea::fuzz {
namespace {
namespace fs = std::filesystem;

constexpr unsigned kHangSeconds = 120;  ///< a guard, not a measure
std::string current;                    ///< the text under test, for the guard

void on_hang(int) {
  constexpr std::string_view kWords = "this text takes too long:\n";
  if (write(STDERR_FILENO, kWords.data(), kWords.size()) > 0 &&
      write(STDERR_FILENO, current.data(), current.size()) > 0)
    _exit(1);
  _exit(1);
}

std::vector<std::string> valid_texts() {
  std::vector<fs::path> paths;
  for (const char* folder : {"tests/golden/stage", "tests/golden/static", "tests/golden/numpy", "examples"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(GALATEA_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".dali-dsl" && entry.file_size() < 20'000)
        paths.push_back(entry.path());
    }
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

TEST(DslMutation, ValidFilesMutatedEndInOrder) {
  const std::vector<std::string> texts = valid_texts();
  ASSERT_GT(texts.size(), 10u);
  auto rounds = static_cast<int>(galatea::testing::cases(750, 40));
  if (const char* given = std::getenv("GALATEA_FUZZ_ROUNDS")) rounds = std::atoi(given);
  std::mt19937 random(7);
  int changed = 0;
  signal(SIGALRM, on_hang);
  for (int round = 0; round < rounds; ++round) {
    const std::string& text = texts[random() % texts.size()];
    current = mutate_tokens(text, texts[random() % texts.size()], random);
    changed += current != text;
    alarm(kHangSeconds);
    ASSERT_EQ(run_dsl(current), "") << "round " << round << "\n" << current;
  }
  alarm(0);
  EXPECT_GT(changed * 10, rounds * 8) << "the mutator changes too little";
}

}  // namespace
}  // namespace galatea::fuzz
