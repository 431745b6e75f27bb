#include "tools/serve/describe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ir/text/printer.h"
#include "compiler/op/schema.h"
#include "compiler/values/windows.h"
#include "tools/gather_sheet.h"

namespace galatea::tools::serve {
namespace {

constexpr size_t kBins = 64;        // of a histogram
constexpr size_t kFewNumbers = 16;  // that are shown one by one

uint32_t line_of(Span span, const SourceMap& sources) {
  const Span place = sources.resolve(span);
  const SourceFile* file = sources.file(place.file);
  return file ? file->position(place.begin).line : 0;
}

/// The arm that a sample takes: as a branch and a switch have it.
size_t arm_of(const ir::Terminator& end, double selector) {
  if (end.kind == ir::TerminatorKind::kBranch) return selector == 0 ? 1 : 0;
  return static_cast<size_t>(std::clamp(selector, 0.0, static_cast<double>(end.targets.size() - 1)));
}

/// How many samples take each arm of a branch.
std::vector<int> arm_counts(const Preview& preview, size_t branch) {
  const ir::Terminator& end = preview.graph->block(preview.branches[branch]).terminator;
  std::vector<int> counts(end.targets.size());
  for (const PreviewRow& row : preview.rows)
    if (branch < row.selectors.size()) ++counts[arm_of(end, row.selectors[branch])];
  return counts;
}

Json node_json(const ir::Graph& graph, ir::NodeId id, const std::vector<std::string>& names,
               const SourceMap& sources) {
  const ir::Node& node = graph.node(id);
  Json inputs = Json::array(), outputs = Json::array();
  const auto add_input = [&](ir::ValueId value) {
    const ir::Node* maker = graph.defining_node(value);
    if (!maker || !maker->op || maker->op->name != "constant") inputs.push_back(names[value]);
  };
  for (const ir::ValueId input : node.inputs) add_input(input);
  for (const ir::Arg& argument : node.args)
    if (argument.is_value()) add_input(argument.as_value());
  for (const ir::ValueId output : node.outputs)
    outputs.push_back({{"name", names[output]}, {"type", ir::to_text(graph.type(output))}});
  return {{"operator", op::shown_name(node)},
          {"line", line_of(node.span, sources)},
          {"random", node.op->random},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)}};
}

Json branch_json(const Preview& preview, ir::BlockId id, const std::vector<std::string>& names) {
  const ir::Terminator& end = preview.graph->block(id).terminator;
  Json json = {{"selector", names[end.selector]},
               {"line", line_of(end.span, preview.sources)},
               {"targets", end.targets}};
  const auto found = std::ranges::find(preview.branches, id);
  if (found != preview.branches.end())
    json["samples"] = arm_counts(preview, static_cast<size_t>(found - preview.branches.begin()));
  return json;
}

Json block_json(const Preview& preview, ir::BlockId id, const std::vector<std::string>& names) {
  const ir::Graph& graph = *preview.graph;
  const ir::Block& block = graph.block(id);
  Json nodes = Json::array(), merges = Json::array();
  for (const ir::NodeId node : block.nodes)
    if (graph.node(node).op && graph.node(node).op->name != "constant")
      nodes.push_back(node_json(graph, node, names, preview.sources));
  for (const ir::Merge& merge : block.merges) {
    Json operands = Json::array();
    for (const ir::ValueId operand : merge.operands) operands.push_back(names[operand]);
    merges.push_back({{"name", names[merge.result]}, {"operands", std::move(operands)}});
  }
  Json json = {{"id", id},
               {"every_sample", graph.dominates(id, graph.exit_block())},
               {"predecessors", block.predecessors},
               {"merges", std::move(merges)},
               {"nodes", std::move(nodes)}};
  if (block.terminator.selector != ir::kNoId) json["branch"] = branch_json(preview, id, names);
  return json;
}

/// Blocks are lanes of samples: those behind a branch say how many of the shown samples take each.
Json graph_json(const Preview& preview) {
  const std::vector<std::string> names = ir::value_names(*preview.graph);
  Json blocks = Json::array();
  for (const ir::BlockId id : preview.graph->topological_order())
    blocks.push_back(block_json(preview, id, names));
  Json outputs = Json::array();
  for (const ir::ValueId id : preview.graph->block(preview.graph->exit_block()).terminator.results)
    outputs.push_back(names[id]);
  return {{"blocks", std::move(blocks)}, {"outputs", std::move(outputs)}};
}

Json cell_json(const runtime::Tensor& tensor, const SheetCell& cell) {
  Json json = {{"extents", std::vector<int64_t>(tensor.extents, tensor.extents + tensor.ndim)}};
  json["caption"] = cell.caption;
  if (cell.picture)
    json["width"] = cell.picture->width, json["height"] = cell.picture->height;
  else
    json["text"] = cell.text;
  return json;
}

Json row_json(const PreviewRow& row) {
  Json cells = Json::array();
  for (size_t k = 0; k < row.values.size(); ++k) cells.push_back(cell_json(row.values[k], row.cells[k]));
  Json json = {{"number", row.number}, {"name", row.name}, {"cells", std::move(cells)}};
  if (!row.failure.empty()) json["failure"] = row.failure;
  return json;
}

/// [first row, first column, row behind the last, column behind the last], by the sample's number.
Json bounds_json(const Measurement& measurement, ir::NodeId call, const Layout& layout) {
  Json samples = Json::object();
  const int rows = layout.find('H'), columns = layout.find('W');
  if (rows < 0 || columns < 0) return samples;
  for (const DecodedWindow& window : measurement.windows) {
    if (window.call != call) continue;
    const size_t ndim = window.bounds.size() / 2, h = static_cast<size_t>(rows),
                 w = static_cast<size_t>(columns);
    samples[std::to_string(window.sample)] = {window.bounds[h], window.bounds[w], window.bounds[ndim + h],
                                              window.bounds[ndim + w]};
  }
  return samples;
}

/// Nodes of which only a window is made, and what asks for it.
Json windows_json(const Measurement& measurement, const SourceMap& sources) {
  const ir::Graph& graph = *measurement.report.graph;
  Json windows = Json::array();
  for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.node(id);
    const ir::Arg* readers = node.op ? node.find_arg(values::kRegionFromArg) : nullptr;
    const auto* ids = readers ? std::get_if<std::vector<int64_t>>(&readers->as_attr()) : nullptr;
    if (!ids) continue;
    Json names = Json::array();
    for (const int64_t reader_id : *ids)
      if (const ir::Node* reader = graph.defining_node(static_cast<ir::ValueId>(reader_id));
          reader && reader->op)
        names.push_back({{"operator", op::shown_name(*reader)}, {"line", line_of(reader->span, sources)}});
    windows.push_back({{"operator", op::shown_name(node)},
                       {"line", line_of(node.span, sources)},
                       {"asked_by", std::move(names)},
                       {"samples", bounds_json(measurement, id, graph.type(node.outputs[0]).layout)}});
  }
  return windows;
}

/// How many numbers lie in each of kBins equal parts of the range; what is no number in none.
std::vector<int64_t> histogram_of(const std::vector<double>& numbers, double least, double largest) {
  std::vector<int64_t> bins(kBins);
  const double width = largest - least;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    const double at = width > 0 ? (x - least) / width * static_cast<double>(kBins) : 0;
    ++bins[std::min(static_cast<size_t>(at), kBins - 1)];
  }
  return bins;
}

/// The elements at a column and a row of a picture; nothing where it has none there.
std::optional<std::vector<double>> value_at(const runtime::Tensor& tensor, const Layout& layout, int64_t x,
                                            int64_t y) {
  const std::string axes = !layout.empty() ? layout.str() : tensor.ndim == 3 ? "HWC" : "HW";
  if (static_cast<int>(axes.size()) != tensor.ndim) return std::nullopt;
  runtime::Tensor part = tensor;
  for (const auto& [axis, position] : {std::pair('H', y), std::pair('W', x)}) {
    const size_t d = axes.find(axis);
    if (d == std::string::npos || position < 0 || position >= tensor.extents[d]) return std::nullopt;
    part.data += position * tensor.strides[d] * size_of(tensor.dtype);
    part.extents[d] = 1;
  }
  std::vector<double> numbers = numbers_of(part);
  if (numbers.size() > kFewNumbers) return std::nullopt;
  return numbers;
}

}  // namespace

Json json_of(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) {
  std::string text;
  bool ok = true;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += render_text(diagnostic, sources);
    ok = ok && diagnostic.severity != Severity::kError;
  }
  return {{"ok", ok},
          {"text", std::move(text)},
          {"diagnostics", parse_ordered_json(render_json(diagnostics, sources))["diagnostics"]}};
}

Json json_of(const std::vector<ParameterText>& parameters) {
  Json list = Json::array();
  for (const ParameterText& parameter : parameters)
    list.push_back({{"name", parameter.name},
                    {"kind", parameter.kind},
                    {"annotation", parameter.annotation},
                    {"default", parameter.default_value},
                    {"required", parameter.is_required}});
  return list;
}

Json json_of(const Preview& preview) {
  Json json = json_of(preview.diagnostics, preview.sources);
  json["columns"] = Json::array();
  for (const PreviewColumn& column : preview.columns)
    json["columns"].push_back(
        {{"name", column.name}, {"type", ir::to_text(column.type)}, {"is_output", column.is_output}});
  json["samples"] = Json::array();
  for (const PreviewRow& row : preview.rows) json["samples"].push_back(row_json(row));
  json["cut"] = preview.is_cut;
  if (preview.graph) json["graph"] = graph_json(preview);
  return json;
}

Json json_of(const Measurement& measurement, const SourceMap& sources) {
  Json json = json_of(measurement.diagnostics, sources);
  json["kernels"] = Json::array();
  for (const KernelReport& kernel : measurement.report.kernels)
    json["kernels"].push_back({{"name", kernel.name},
                               {"operators", kernel.operators},
                               {"lines", kernel.lines},
                               {"why", kernel.why}});
  json["windows"] = measurement.report.graph ? windows_json(measurement, sources) : Json::array();
  const runtime::SessionStatistics& s = measurement.statistics;
  double total = 0, decode = 0;
  json["operators"] = Json::array();
  for (const runtime::OperatorTime& one : s.operators) {
    total += one.seconds;
    if (one.kind == "decode") decode += one.seconds;
    json["operators"].push_back({{"name", one.name},
                                 {"line", one.line},
                                 {"kind", one.kind},
                                 {"seconds", one.seconds},
                                 {"calls", one.calls}});
  }
  json["samples"] = s.samples;
  json["seconds"] = total;
  json["decode_share"] = total > 0 ? decode / total : 0;
  return json;
}

Json json_of(const runtime::Tensor& tensor, const Layout& layout,
             std::optional<std::pair<int64_t, int64_t>> at) {
  Json json = {{"type", short_name(tensor.dtype)},
               {"layout", layout.str()},
               {"extents", std::vector<int64_t>(tensor.extents, tensor.extents + tensor.ndim)}};
  if (at) {
    const auto value = value_at(tensor, layout, at->first, at->second);
    json["value"] = value ? Json(*value) : Json(nullptr);
    return json;
  }
  const std::vector<double> numbers = numbers_of(tensor);
  double least = INFINITY, largest = -INFINITY, sum = 0;
  int64_t count = 0;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    least = std::min(least, x), largest = std::max(largest, x);
    sum += x;
    ++count;
  }
  json["not_finite"] = static_cast<int64_t>(numbers.size()) - count;
  if (numbers.size() <= kFewNumbers) json["values"] = numbers;
  if (count == 0) return json;
  json["min"] = least, json["max"] = largest, json["mean"] = sum / static_cast<double>(count);
  json["histogram"] = histogram_of(numbers, least, largest);
  return json;
}

}  // namespace galatea::tools::serve
