// galatea trace FILE --sample N: one sample through every operator.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "tools/gather_sheet.h"
#include "tools/replay_file.h"
#include "tools/sample_trace.h"

namespace galatea::tools {
namespace {

struct TraceOptions {
  std::string file, sample = "0", output;
  bool json = false, replay = false;
  PipelineOptions pipeline;
};

/// Least, largest and mean of what is a number.
struct Statistics {
  double least = NAN, largest = NAN, mean = NAN;
  size_t nans = 0;
};

Statistics statistics_of(const std::vector<double>& numbers) {
  Statistics s;
  double sum = 0;
  size_t count = 0;
  for (const double x : numbers) {
    if (std::isnan(x)) {
      ++s.nans;
      continue;
    }
    s.least = count == 0 ? x : std::min(s.least, x);
    s.largest = count == 0 ? x : std::max(s.largest, x);
    sum += x;
    ++count;
  }
  if (count > 0) s.mean = sum / static_cast<double>(count);
  return s;
}

std::string type_of(const TracedValue& value) {
  std::string extents;
  for (int d = 0; d < value.tensor.ndim; ++d)
    extents += fmt::format("{}{}", d > 0 ? "," : "", value.tensor.extents[d]);
  return fmt::format("{}[{}]{}{}", short_name(value.tensor.dtype), extents,
                     value.type.layout.empty() ? "" : " ", value.type.layout.str());
}

constexpr size_t kFew = 16;  // numbers that are shown one by one

std::string numbers_text(const std::vector<double>& numbers) {
  if (numbers.empty()) return "empty";
  if (numbers.size() <= kFew) {
    std::string text = "=";
    for (const double x : numbers) text += fmt::format(" {:g}", x);
    return text;
  }
  const Statistics s = statistics_of(numbers);
  return fmt::format("min {:g}  max {:g}  mean {:.6g}{}", s.least, s.largest, s.mean,
                     s.nans > 0 ? fmt::format("  {} are no numbers", s.nans) : "");
}

std::string arm_text(const TracedBranch& branch) {
  if (branch.arms == 2) return branch.arm == 0 ? "the arm for true" : "the arm for false";
  return fmt::format("arm {} of {}", branch.arm, branch.arms);
}

/// The beginning of what is too long for a line, such as the body of a pixel function.
std::string shortened(const std::string& value) {
  constexpr size_t kLongest = 120;
  if (value.size() <= kLongest) return value;
  size_t end = kLongest;
  while ((static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;  // not inside a letter
  return value.substr(0, end) + "…";
}

std::string as_text(const SampleTrace& trace) {
  std::string text = fmt::format("sample {}{}{}\n", trace.number, trace.name.empty() ? "" : "  ", trace.name);
  for (const TraceStep& step : trace.steps) {
    const std::string line = step.line > 0 ? fmt::format("line {:>4}  ", step.line) : std::string(11, ' ');
    if (const auto* branch = std::get_if<TracedBranch>(&step.what)) {
      text += fmt::format("{}if: the condition is {:g}, which takes {}\n", line, branch->selector,
                          arm_text(*branch));
      continue;
    }
    const auto& call = std::get<TracedCall>(step.what);
    std::vector<std::string> arguments = call.inputs;
    for (const auto& [name, value] : call.arguments) arguments.push_back(name + "=" + shortened(value));
    text += fmt::format("{}{}({}){}\n", line, call.name, fmt::join(arguments, ", "),
                        call.is_random ? "  drawn" : "");
    for (const TracedValue& value : call.outputs)
      text += fmt::format("             {:<12} {:<22} {}\n", value.name, type_of(value),
                          numbers_text(numbers_of(value.tensor)));
  }
  return text;
}

nlohmann::ordered_json as_json(const TracedValue& value) {
  const std::vector<double> numbers = numbers_of(value.tensor);
  const Statistics s = statistics_of(numbers);
  nlohmann::ordered_json json = {
      {"name", value.name}, {"type", type_of(value)}, {"min", s.least}, {"max", s.largest}, {"mean", s.mean}};
  if (numbers.size() <= kFew) json["values"] = numbers;
  return json;
}

/// Numbers, lists, texts and truths as what they are; types and the like as their names.
nlohmann::ordered_json json_or_text(const std::string& value) {
  nlohmann::ordered_json json = parse_ordered_json(value);
  return json.is_discarded() ? nlohmann::ordered_json(value) : json;
}

nlohmann::ordered_json as_json(const SampleTrace& trace) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const TraceStep& step : trace.steps) {
    nlohmann::ordered_json json = {{"file", step.file}, {"line", step.line}};
    if (const auto* branch = std::get_if<TracedBranch>(&step.what)) {
      json["branch"] = {{"selector", branch->selector}, {"arm", branch->arm}, {"arms", branch->arms}};
    } else {
      const auto& call = std::get<TracedCall>(step.what);
      json["operator"] = call.name;
      json["random"] = call.is_random;
      json["inputs"] = call.inputs;
      json["arguments"] = nlohmann::ordered_json::object();
      for (const auto& [name, value] : call.arguments) json["arguments"][name] = json_or_text(value);
      json["outputs"] = nlohmann::ordered_json::array();
      for (const TracedValue& value : call.outputs) json["outputs"].push_back(as_json(value));
    }
    steps.push_back(std::move(json));
  }
  return {{"sample", trace.number}, {"name", trace.name}, {"steps", std::move(steps)}};
}

/// Its pictures, one below the other.
ContactSheet sheet_of(const SampleTrace& trace) {
  ContactSheet sheet;
  sheet.column_labels = {trace.name.empty() ? fmt::format("sample {}", trace.number) : trace.name};
  for (const TraceStep& step : trace.steps) {
    const auto* call = std::get_if<TracedCall>(&step.what);
    if (!call) continue;
    for (const TracedValue& value : call->outputs) {
      SheetCell cell = cell_of(value.tensor, value.type.layout);
      if (!cell.picture) continue;
      sheet.row_labels.push_back(fmt::format("{} = {}, line {}", value.name, call->name, step.line));
      sheet.rows.push_back({std::move(cell)});
    }
  }
  return sheet;
}

WantedSample wanted_sample(const std::string& text) {
  WantedSample wanted;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted.number);
  if (error != std::errc() || end != text.data() + text.size()) wanted.name = text;
  return wanted;
}

int run(TraceOptions options, Reporter& reporter) {
  const PipelineHost host;
  CompileChoice choice;
  options.pipeline.device = "cpu";  // the same bits, and every value is at hand
  if (!host.choose_device(options.pipeline, choice, reporter)) return reporter.status();
  std::unique_ptr<ir::Graph> graph = host.stage(options.file, options.pipeline, reporter);
  if (!graph) return reporter.status();
  const auto trace = trace_sample(host, std::move(*graph), choice, wanted_sample(options.sample), reporter);
  if (!trace) return reporter.status();
  if (options.replay) {
    const Result<std::string> text = replay_file(reporter.sources(), options.file, *trace, options.pipeline);
    if (text)
      reporter.print(*text);
    else
      reporter.report(text.error());
    return reporter.status();
  }
  reporter.print(options.json ? json_text(as_json(*trace), 2) + "\n" : as_text(*trace));
  return options.output.empty() ? reporter.status()
                                : finish_sheet(sheet_of(*trace), options.output, reporter);
}

}  // namespace

std::string trace_text(const SampleTrace& trace) { return as_text(trace); }

Command add_trace(CLI::App& parent) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* app =
      add_subcommand(parent, "trace",
                     "One sample through every operator: arguments, extents, values, the arms that it takes");
  add_option(app, "file", options->file, {"FILE", "", "a pipeline file", "train.dali-dsl"}).required();
  add_option(app, "--sample", options->sample,
             {"N|NAME", "0", "which one: its number in the data set, or how the name of its file ends",
              "--sample 17"});
  add_flag(app, "--json", options->json, "as one JSON object (example: --json)");
  add_flag(
      app, "--replay", options->replay,
      "instead, the pipeline file with this sample's draws written in: running it makes this sample alone "
      "(example: --replay)");
  add_option(app, "-o,--output", options->output,
             {"PNG", "", "its pictures on the way, as one sheet", "-o sample.png"})
      .png();
  add_pipeline_options(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
