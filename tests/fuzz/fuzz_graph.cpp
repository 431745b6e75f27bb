// The text form of graphs.
//
// Must hold: no crash; what is accepted is legal, prints, and reads back as the same text; the passes leave
// it legal.
#include <cstdlib>
#include <string>

#include "compiler/passes/pass_runner.h"
#include "stdlib_ops/register_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galatea;
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  if (size > 4096) return 0;
  SourceMap sources;
  auto graph = ir::read_graph(std::string(reinterpret_cast<const char*>(data), size), sources, kRegistry);
  if (!graph) {
    require(!graph.error().message().empty());
    return 0;
  }
  std::string text = to_text(*graph);
  auto again = ir::read_graph(text, sources, kRegistry);
  require(again && to_text(*again) == text);
  require(passes::run_passes(*graph, kRegistry, {}).has_value());
  return 0;
}
