#include "tools/lsp/remarks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/compile.h"
#include "compiler/look_at_windows.h"
#include "compiler/op/schema.h"
#include "compiler/values/windows.h"

namespace galatea::tools::lsp {
namespace {

constexpr size_t kMostNodes = 300;  // of a pipeline; 300 are compiled in about 20 ms

/// The remarks of one pipeline.
class Remarks {
 public:
  Remarks(const Evaluation& evaluation, const CompileReport& report, std::vector<Remark>& remarks)
      : evaluation_(evaluation), report_(report), remarks_(remarks) {}

  void add_windows() {
    const ir::Graph& graph = *report_.graph;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
      const ir::Node& node = graph.node(id);
      if (!node.op || node.span.file != evaluation_.file || !node.op->name.starts_with("decoders.")) continue;
      if (node.find_arg(op::kScaledForArg))
        add(line_of(node.span), "decodes no larger than the resize needs");
      else if (node.find_arg(values::kRegionFromArg) && leaves_out_a_part(graph, id))
        add(line_of(node.span), "decodes only the window that is read");
    }
  }

  /// One for each line of a kernel: what of other lines, and other calls of this one, is in it.
  void add_kernels() {
    for (const KernelReport& kernel : report_.kernels) {
      const std::vector<Call> calls = written_in_document(kernel);
      std::set<uint32_t> lines;
      for (const Call& call : calls) lines.insert(call.line);
      for (const uint32_t line : lines) add_kernel(calls, line);
    }
  }

 private:
  /// An operator of a kernel where the document calls it; what the library does for a call is at that call.
  struct Call {
    std::string name;
    uint32_t line = 0, begin = 0;
  };

  void add_kernel(const std::vector<Call>& calls, uint32_t line) {
    std::vector<std::string> others, here;
    std::set<uint32_t> places;
    for (const Call& call : calls) {
      std::vector<std::string>& names = call.line == line ? here : others;
      if (std::ranges::find(names, call.name) == names.end()) names.push_back(call.name);
      if (call.line == line) places.insert(call.begin);
    }
    if (!others.empty())
      add(line, fmt::format("fused with {}", fmt::join(others, ", ")));
    else if (places.size() > 1 && here.size() > 1)
      add(line, fmt::format("{} are fused", fmt::join(here, ", ")));
  }

  uint32_t line_of(Span span) const { return evaluation_.sources.file(span.file)->position(span.begin).line; }
  void add(uint32_t line, std::string text) {
    const Remark remark{line - 1, std::move(text)};
    if (std::ranges::find(remarks_, remark) == remarks_.end()) remarks_.push_back(remark);
  }
  /// The operators of a kernel that stand in the document under a name that people know.
  std::vector<Call> written_in_document(const KernelReport& kernel) const {
    std::vector<Call> written;
    for (size_t k = 0; k < std::min(kernel.operators.size(), kernel.lines.size()); ++k) {
      const auto here = std::ranges::find_if(report_.graph->nodes, [&](const ir::Node& node) {
        return node.op && node.span.file == evaluation_.file && op::shown_name(node) == kernel.operators[k] &&
               line_of(node.span) == kernel.lines[k];
      });
      if (here == report_.graph->nodes.end()) continue;
      const bool is_arithmetic = here->op->name.starts_with("arith.");
      const bool is_known = is_arithmetic || (!here->op->internal && !kernel.operators[k].starts_with('_'));
      if (is_known)
        written.push_back(
            {is_arithmetic ? "arithmetic" : kernel.operators[k], kernel.lines[k], here->span.begin});
    }
    return written;
  }

  const Evaluation& evaluation_;
  const CompileReport& report_;
  std::vector<Remark>& remarks_;
};

}  // namespace

const std::vector<Remark>& remarks_of(const Evaluation& evaluation, const op::Registry& registry) {
  if (evaluation.remarks) return *evaluation.remarks;
  std::vector<Remark>& remarks = evaluation.remarks.emplace();
  for (const auto& graph : evaluation.graphs) {
    if (graph->nodes.size() > kMostNodes) continue;
    CompileOptions options;
    options.registry = &registry;
    CompileReport report;
    if (!compile(*graph, evaluation.sources, options, &report) || !report.graph) continue;
    Remarks made(evaluation, report, remarks);
    made.add_windows();
    made.add_kernels();
  }
  return remarks;
}

}  // namespace galatea::tools::lsp
