// What the tests of the language share: staging texts, golden files, CPython.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/frontend.h"

namespace galatea::dsl::testing {

struct Staged {
  FrontendResult result;
  std::string graphs;       ///< texts of all graphs
  std::string diagnostics;  ///< caret text of all
  std::string text;         ///< what was staged
  std::vector<std::string> codes;
  std::string verdict;  ///< what the verifier says of the graphs; empty: fine
};

/// Stages every pipeline of a text (or of a file, if `text` is empty) with galatea's operators.
Staged stage(const std::string& name, std::optional<std::string> text, FrontendOptions options = {});
/// `body` as the body of a pipeline without parameters, below the usual imports.
Staged stage_body(const std::string& body);

std::string read_file(const std::string& path);
/// Paths of the *.dali-dsl files of tests/golden/<folder>, sorted.
std::vector<std::string> golden_files(const std::string& folder);
/// Compares with the file, or writes it if GALATEA_BLESS is set.
void expect_golden(const std::string& path, const std::string& actual);

bool python_available();
/// Runs python3 with a program and one argument; its output, or nullopt if it failed.
std::optional<std::string> run_python(const std::string& program, const std::string& argument);

}  // namespace galatea::dsl::testing
