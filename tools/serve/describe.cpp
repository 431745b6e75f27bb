#include "tools/serve/describe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ir/text/printer.h"
#include "compiler/op/name_for_people.h"
#include "compiler/op/schema.h"
#include "compiler/values/windows.h"
#include "tools/drawings.h"
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

/// How many of the shown samples come to each block.
std::vector<int> sample_counts(const Preview& preview) {
  const ir::Graph& graph = *preview.graph;
  std::vector<int> counts(graph.blocks.size());
  for (const PreviewRow& row : preview.rows) {
    if (!row.failure.empty()) continue;
    ir::BlockId id = 0;
    for (size_t branch = 0;;) {
      ++counts[id];
      const ir::Terminator& end = graph.block(id).terminator;
      if (end.targets.empty()) break;
      size_t arm = 0;
      if (end.selector != ir::kNoId) {
        // Both are in topological order.
        while (preview.branches[branch] != id) ++branch;
        arm = arm_of(end, row.selectors[branch]);
      }
      id = end.targets[arm];
    }
  }
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
  return {{"operator", op::name_for_people(op::shown_name(node))},
          {"line", line_of(node.span, sources)},
          {"random", node.op->random},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)}};
}

Json branch_json(const Preview& preview, ir::BlockId id, const std::vector<std::string>& names) {
  const ir::Terminator& end = preview.graph->block(id).terminator;
  return {{"selector", names[end.selector]},
          {"line", line_of(end.span, preview.sources)},
          {"is_if", end.kind == ir::TerminatorKind::kBranch},
          {"targets", end.targets}};
}

Json block_json(const Preview& preview, ir::BlockId id, int samples, const std::vector<std::string>& names) {
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
               {"samples", samples},
               {"every_sample", graph.dominates(id, graph.exit_block())},
               {"predecessors", block.predecessors},
               {"merges", std::move(merges)},
               {"nodes", std::move(nodes)}};
  if (block.terminator.selector != ir::kNoId) json["branch"] = branch_json(preview, id, names);
  return json;
}

/// Blocks are lanes of samples: each says how many of the shown samples come to it.
Json graph_json(const Preview& preview) {
  const std::vector<std::string> names = ir::value_names(*preview.graph);
  const std::vector<int> counts = sample_counts(preview);
  Json blocks = Json::array();
  for (const ir::BlockId id : preview.graph->topological_order())
    blocks.push_back(block_json(preview, id, counts[id], names));
  Json outputs = Json::array();
  for (const ir::ValueId id : preview.graph->block(preview.graph->exit_block()).terminator.results)
    outputs.push_back(names[id]);
  return {{"blocks", std::move(blocks)}, {"outputs", std::move(outputs)}};
}

/// Where the frames of a clip lie in its drawing, and how large they are themselves.
Json frames_json(const runtime::Tensor& tensor, const Layout& layout, const std::vector<DrawnFrame>& frames) {
  Json boxes = Json::array();
  for (const DrawnFrame& one : frames) boxes.push_back({one.left, one.top, one.width, one.height});
  return {{"width", tensor.extents[layout.find('W')]},
          {"height", tensor.extents[layout.find('H')]},
          {"boxes", std::move(boxes)}};
}

Json cell_json(const runtime::Tensor& tensor, const Layout& layout, const SheetCell& cell) {
  Json json = {{"extents", std::vector<int64_t>(tensor.extents, tensor.extents + tensor.ndim)}};
  json["caption"] = cell.caption;
  if (!cell.picture) {
    json["text"] = cell.text;
    return json;
  }
  json["width"] = cell.picture->width, json["height"] = cell.picture->height;
  if (const std::vector<DrawnFrame> frames = drawn_frames(tensor, layout); !frames.empty())
    json["frames"] = frames_json(tensor, layout, frames);
  return json;
}

Json row_json(const PreviewRow& row, const std::vector<PreviewColumn>& columns) {
  Json cells = Json::array();
  for (size_t k = 0; k < row.values.size(); ++k)
    cells.push_back(cell_json(row.values[k], columns[k].type.layout, row.cells[k]));
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
          reader && reader->op && !reader->op->internal)
        names.push_back({{"operator", op::name_for_people(op::shown_name(*reader))},
                         {"line", line_of(reader->span, sources)}});
    windows.push_back({{"operator", op::name_for_people(op::shown_name(node))},
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
  for (const PreviewRow& row : preview.rows) json["samples"].push_back(row_json(row, preview.columns));
  json["cut"] = preview.is_cut;
  if (preview.graph) json["graph"] = graph_json(preview);
  return json;
}

Json json_of(const Measurement& measurement, const SourceMap& sources) {
  Json json = json_of(measurement.diagnostics, sources);
  json["kernels"] = Json::array();
  for (const KernelReport& kernel : measurement.report.kernels) {
    std::vector<std::string> names;
    for (const std::string& name : kernel.operators) names.push_back(op::name_for_people(name));
    json["kernels"].push_back({{"name", op::name_for_people(kernel.name)},
                               {"operators", std::move(names)},
                               {"lines", kernel.lines},
                               {"why", kernel.why}});
  }
  json["windows"] = measurement.report.graph ? windows_json(measurement, sources) : Json::array();
  const runtime::SessionStatistics& s = measurement.statistics;
  double total = 0, decode = 0;
  json["operators"] = Json::array();
  for (const runtime::OperatorTime& one : s.operators) {
    total += one.seconds;
    if (one.kind == "decode") decode += one.seconds;
    json["operators"].push_back({{"name", op::name_for_people(one.name)},
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
    const auto place = place_under(tensor, layout, at->first, at->second);
    const bool is_few = place && place->part.volume() <= static_cast<int64_t>(kFewNumbers);
    json["value"] = is_few ? Json(numbers_of(place->part)) : Json(nullptr);
    if (is_few) json["place"] = place->words;
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
