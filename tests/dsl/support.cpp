#include "tests/dsl/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "stdlib_ops/register_all.h"
#include "tests/support/bless.h"
#include "tests/support/own_folder.h"

namespace galatea::dsl::testing {
namespace fs = std::filesystem;

namespace {

const op::Registry& all_operators() {
  static const op::Registry* operators = [] {
    auto* all = new op::Registry;
    ops::register_all(*all);
    return all;
  }();
  return *operators;
}

// The folder of the tests differs from machine to machine.
std::string without_folder(std::string text, const std::string& folder) {
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  return text;
}

}  // namespace

Staged stage(const std::string& name, std::optional<std::string> text, FrontendOptions options) {
  Staged staged;
  staged.text = text.value_or("");
  SourceMap sources;
  staged.result = options.pipeline.empty()
                      ? stage_all(name, std::move(text), options, all_operators(), sources)
                      : stage_pipeline(name, std::move(text), options, all_operators(), sources);
  std::string folder = fs::path(name).parent_path().string() + "/";
  for (const auto& graph : staged.result.graphs) {
    if (Status legal = ir::verify(*graph); !legal) staged.verdict += legal.error().message() + "\n";
    staged.graphs += ir::to_text(*graph);
  }
  for (const Diagnostic& diagnostic : staged.result.diagnostics) {
    staged.diagnostics += render_text(diagnostic, sources);
    if (diagnostic.severity == Severity::kError) staged.codes.push_back(diagnostic.code);
  }
  if (folder != "/") staged.diagnostics = without_folder(staged.diagnostics, folder);
  return staged;
}

Staged stage_body(const std::string& body) {
  std::string text =
      "from nvidia.dali import pipeline_def, fn, types, math\n\n@pipeline_def(batch_size=4)\ndef p():\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return stage("test.dali-dsl", text);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<std::string> golden_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry :
       fs::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/tests/golden/" + folder)) {
    if (entry.path().extension() == ".dali-dsl") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_golden(const std::string& path, const std::string& text) {
  // The sources lie elsewhere on each machine.
  std::string actual = text;
  const std::string root = GALATEA_SOURCE_DIR;
  for (size_t at = actual.find(root); at != std::string::npos; at = actual.find(root, at))
    actual.replace(at, root.size(), "<sources>");
  if (galatea::testing::is_blessing()) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(fs::exists(path)) << path << " is missing; set GALATEA_BLESS=1 to write it";
  EXPECT_EQ(read_file(path), actual) << path;
}

std::optional<std::string> run_python(const std::string& program, const std::string& argument) {
  // Another process may run the same program of the same text: each has its own file of it.
  const fs::path folder = galatea::testing::make_own_folder("galatea_test"), script = folder / "program.py";
  std::ofstream(script) << program;
  std::string command = "python3 -W ignore '" + script.string() + "' '" + argument + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) {
    fs::remove_all(folder);
    return std::nullopt;
  }
  std::string output;
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, size);
  int status = pclose(pipe);
  fs::remove_all(folder);
  return status == 0 ? std::optional<std::string>(output) : std::nullopt;
}

bool python_available() {
  static const bool available = std::system("python3 -c 'import ast' >/dev/null 2>&1") == 0;
  return available;
}

}  // namespace galatea::dsl::testing
