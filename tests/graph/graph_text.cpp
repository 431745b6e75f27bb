#include "tests/graph/graph_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/ir/text/reader.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {

ir::Graph graph_of(const std::string& text) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, sample_registry());
  if (graph) return std::move(*graph);
  std::string all;
  for (const Diagnostic& diagnostic : graph.error().diagnostics) all += render_text(diagnostic, sources);
  ADD_FAILURE() << all;
  return {};
}

std::string error_of(const std::string& text) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, sample_registry());
  if (graph) return "";
  const Diagnostic& first = graph.error().diagnostics.front();
  EXPECT_EQ(graph.error().kind, ErrorKind::kUser);
  if (!first.span.valid()) return first.message;
  LineColumn at = sources.file(first.span.file)->position(first.span.begin);
  return fmt::format("{}:{}: {}", at.line, at.column, first.message);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace galatea::testing
