#include "tools/lsp/remarks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/compile.h"
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
    for (const ir::Node& node : report_.graph->nodes) {
      if (!node.op || node.span.file != evaluation_.file || !node.find_arg(values::kRegionFromArg)) continue;
      const bool decodes = node.op->name.starts_with("decoders.");
      if (decodes) add(line_of(node.span), "decodes only the window that is read");
    }
  }

  void add_kernels() {
    for (const KernelReport& kernel : report_.kernels) {
      const std::vector<size_t> written = written_in_document(kernel);
      for (const size_t k : written) {
        std::vector<std::string> others;
        for (const size_t other : written)
          if (other != k) others.push_back(kernel.operators[other]);
        if (!others.empty()) add(kernel.lines[k], fmt::format("fused with {}", fmt::join(others, ", ")));
      }
    }
  }

 private:
  uint32_t line_of(Span span) const { return evaluation_.sources.file(span.file)->position(span.begin).line; }
  void add(uint32_t line, std::string text) {
    const Remark remark{line - 1, std::move(text)};
    if (std::ranges::find(remarks_, remark) == remarks_.end()) remarks_.push_back(remark);
  }
  /// The operators of a kernel that stand in the document, and not in a file that it uses.
  std::vector<size_t> written_in_document(const KernelReport& kernel) const {
    std::vector<size_t> written;
    for (size_t k = 0; k < std::min(kernel.operators.size(), kernel.lines.size()); ++k) {
      const bool is_here = std::ranges::any_of(report_.graph->nodes, [&](const ir::Node& node) {
        return node.op && node.span.file == evaluation_.file && op::shown_name(node) == kernel.operators[k] &&
               line_of(node.span) == kernel.lines[k];
      });
      if (is_here) written.push_back(k);
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
