#include "tools/policy/run_statistics.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "base/scalar_op.h"
#include "policy/operation.h"
#include "policy/table.h"
#include "policy/writer.h"
#include "tools/interrupt.h"

namespace galatea::tools {
namespace {

using runtime::Tensor;

/// Compares two pictures of bytes of one size.
void count_picture(const Tensor& before, const Tensor& after, PolicyStatistics& counts) {
  int64_t difference = 0, extreme = 0, total = 0;
  int least = 255, most = 0;
  for (int64_t y = 0; y < after.extents[0]; ++y) {
    for (int64_t x = 0; x < after.extents[1]; ++x) {
      for (int64_t c = 0; c < after.extents[2]; ++c, ++total) {
        const int a = before.data[y * before.strides[0] + x * before.strides[1] + c * before.strides[2]];
        const int b = after.data[y * after.strides[0] + x * after.strides[1] + c * after.strides[2]];
        difference += std::abs(a - b);
        extreme += b == 0 || b == 255;
        least = std::min(least, b);
        most = std::max(most, b);
      }
    }
  }
  ++counts.samples;
  counts.unchanged += difference == 0;
  counts.saturated += 2 * extreme > total;
  counts.empty += least == most;
  counts.change += total > 0 ? static_cast<double>(difference) / static_cast<double>(total) : 0;
}

double element(const Tensor& tensor, std::initializer_list<int64_t> index) {
  int64_t offset = 0;
  int d = 0;
  for (const int64_t i : index) offset += i * tensor.strides[d++];
  return cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype)));
}

/// The number that a parameter stands for; nullopt: there is none.
std::optional<double> number_of(const Tensor& parameter, policy::ParameterKind kind) {
  using Kind = policy::ParameterKind;
  switch (kind) {
    case Kind::kPairX:
    case Kind::kPairY:
      if (parameter.ndim != 1 || parameter.extents[0] != 2) return std::nullopt;
      return element(parameter, {kind == Kind::kPairX ? 0 : 1});
    case Kind::kKernel:
      // The middle is 1 + m - m · 5/13.
      if (parameter.ndim != 2 || parameter.extents[0] != 3 || parameter.extents[1] != 3) return std::nullopt;
      return (element(parameter, {1, 1}) - 1) * 13 / 8;
    case Kind::kMask:
      if (parameter.ndim != 0 || parameter.dtype != DType::kU8) return std::nullopt;
      return std::popcount(*parameter.data);
    case Kind::kScalar:
    case Kind::kNothing:
      break;
  }
  return parameter.ndim == 0 ? std::optional<double>(element(parameter, {})) : std::nullopt;
}

/// Takes batches until `visit` says that it is enough. False: an error was reported.
bool for_each_batch(runtime::Session& session, Reporter& reporter,
                    const std::function<bool(const runtime::Batch&)>& visit) {
  const OrderlyEnd orderly;
  // Small folders are gone through several times: each epoch has draws of its own.
  for (bool any = false; !is_interrupted();) {
    auto next = session.next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value()) {
      if (!std::exchange(any, false)) break;
      continue;
    }
    any = true;
    if (!visit(***next)) break;
  }
  return true;
}

std::unique_ptr<runtime::Session> start(const PipelineHost& host, const ir::Graph& graph,
                                        Reporter& reporter) {
  // Times of operations are part of what is told.
  CompileChoice choice;
  choice.tiers = "best";
  auto program = host.compile(graph, choice, nullptr, reporter);
  return program == nullptr ? nullptr : host.open(program, nullptr, reporter);
}

/// The pictures before and after, and the runs that the outputs tell of.
bool count_samples(runtime::Session& session, const policy::Document& document,
                   const std::vector<dsl::AugmentationRun>& runs, int64_t samples, PolicyStatistics& counts,
                   Reporter& reporter) {
  std::map<std::string, OperationStatistics*> operations;
  std::map<std::string, std::vector<double>> numbers;
  for (OperationStatistics& operation : counts.operations) operations[operation.name] = &operation;
  auto kind_of = [&](const std::string& name) {
    const policy::Augmentation* entry = document.find(name);
    const policy::ParameterFunction* function =
        entry ? policy::find_parameter_function(entry->param) : nullptr;
    return function ? function->gives : policy::ParameterKind::kScalar;
  };
  const bool good = for_each_batch(session, reporter, [&](const runtime::Batch& batch) {
    for (size_t i = 0; i < batch.sample_ids.size() && counts.samples < samples; ++i) {
      count_picture(batch.outputs[0].samples[i], batch.outputs[1].samples[i], counts);
      for (const dsl::AugmentationRun& run : runs) {
        const auto operation = operations.find(run.name);
        if (operation == operations.end() || element(batch.outputs[run.ran].samples[i], {}) == 0) continue;
        ++operation->second->runs;
        if (!run.parameter) continue;
        if (const auto number = number_of(batch.outputs[*run.parameter].samples[i], kind_of(run.name)))
          numbers[run.name].push_back(*number);
      }
    }
    return counts.samples < samples;
  });
  for (const auto& [name, values] : numbers) {
    const bool is_factor = document.find(name)->param == "one_plus";
    operations.at(name)->parameter = describe_parameters(values, is_factor ? 1 : 0);
  }
  return good;
}

/// Seconds in kernels of the operators written in a line of the pipeline.
double seconds_in_line(const runtime::SessionStatistics& statistics, uint32_t line) {
  double seconds = 0;
  for (const runtime::OperatorTime& time : statistics.operators)
    if (time.line == line && (time.kind == "kernel" || time.kind == "native")) seconds += time.seconds;
  return seconds;
}

/// The document with a magnitude for every row whose parameter only steps give: theirs in the middle.
policy::Document with_magnitudes(policy::Document document) {
  for (auto& [name, values] : policy::values_of_steps(document)) {
    const auto entry = std::ranges::find(document.augmentations, name, &policy::Augmentation::name);
    if (entry->has_magnitude()) continue;
    std::ranges::sort(values);
    entry->values.assign(static_cast<size_t>(document.bins), values[values.size() / 2]);
    entry->quantize = policy::Quantize::kNone;  // values are taken as they stand
  }
  return document;
}

/// What each operation takes: all of them on the same pictures, each in a line of its own, with the magnitude
/// in the middle.
bool measure_operations(const PipelineHost& host, const policy::Document& original,
                        const StatisticsOptions& options, PolicyStatistics& counts, Reporter& reporter) {
  const policy::Document document = with_magnitudes(original);
  std::vector<OperationStatistics*> measured;
  std::string columns;
  for (OperationStatistics& operation : counts.operations) {
    const policy::Augmentation& entry = *document.find(operation.name);
    const policy::Operation* known = policy::find_operation(entry.op);
    const bool lacks_parameter =
        !entry.has_magnitude() && (!known || known->parameter != policy::ParameterKind::kNothing);
    if (operation.runs == 0 || lacks_parameter) continue;
    measured.push_back(&operation);
    columns += fmt::format("{}augment.one({}, image, {}, {})", columns.empty() ? "" : ",\n",
                           language_text(entry.name), document.bins / 2, options.arguments);
  }
  if (measured.empty()) return true;
  // Under the policy's name, so that imports beside it are found.
  const StagedPictures staged = stage_several_over_pictures(
      host, {{options.policy, policy::to_json(document)}}, options.pictures, columns, reporter);
  const auto session = staged.graph == nullptr ? nullptr : start(host, *staged.graph, reporter);
  if (session == nullptr) return false;
  constexpr int64_t kSamples = 64;
  int64_t samples = 0;
  const bool good = for_each_batch(*session, reporter, [&](const runtime::Batch& batch) {
    return (samples += batch.num_samples()) < kSamples;
  });
  const runtime::SessionStatistics statistics = session->statistics();
  // Samples that were made ahead count as well.
  int64_t made = 0;
  for (const runtime::OperatorTime& time : statistics.operators)
    if (time.kind == "read") made = time.calls;
  for (size_t i = 0; i < measured.size() && made > 0; ++i)
    measured[i]->microseconds = 1e6 *
                                seconds_in_line(statistics, staged.columns_line + static_cast<uint32_t>(i)) /
                                static_cast<double>(made);
  return good;
}

}  // namespace

ParameterStatistics describe_parameters(const std::vector<double>& values, double neutral) {
  ParameterStatistics out;
  if (values.empty()) return out;
  out.count = std::ssize(values);
  const auto [least, most] = std::ranges::minmax(values);
  out.least = least, out.most = most;
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(out.count);
  for (const double value : values) {
    out.negative += value < neutral;
    const double part = most > least ? (value - least) / (most - least) : 0;
    ++out.histogram[std::min(static_cast<size_t>(part * out.kBars), out.kBars - 1)];
  }
  return out;
}

std::optional<PolicyStatistics> gather_statistics(const PipelineHost& host, const policy::Document& document,
                                                  const StatisticsOptions& options, Reporter& reporter) {
  PolicyStatistics counts;
  for (const auto& [name, expected] : policy::expected_runs(document))
    counts.operations.push_back({name, 0, expected, {}, {}});
  {
    const StagedPictures staged =
        stage_over_pictures(host, document, options.policy, options.pictures,
                            fmt::format("augment(image, {})", options.arguments), true, reporter);
    const auto session = staged.graph == nullptr ? nullptr : start(host, *staged.graph, reporter);
    if (session == nullptr ||
        !count_samples(*session, document, staged.runs, options.samples, counts, reporter))
      return std::nullopt;
    const runtime::SessionStatistics statistics = session->statistics();
    for (const runtime::OperatorTime& time : statistics.operators)
      if (time.kind == "read" && time.calls > 0)
        counts.microseconds =
            1e6 * seconds_in_line(statistics, staged.columns_line) / static_cast<double>(time.calls);
  }
  if (!is_interrupted() && !measure_operations(host, document, options, counts, reporter))
    return std::nullopt;
  return counts;
}

}  // namespace galatea::tools
