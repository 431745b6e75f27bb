#include "tools/sample_trace.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/scalar_op.h"
#include "compiler/ir/text/printer.h"
#include "compiler/look_inside.h"
#include "compiler/op/schema.h"
#include "dsl/replay.h"
#include "tools/gather_sheet.h"
#include "tools/interrupt.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace {

/// A part of so many holds one sample of any stream.
constexpr int64_t kMoreThanAnyStream = 1 << 30;

/// What a run gave for the sample: tensors of the graph's outputs.
struct Found {
  int64_t number = 0;
  std::string name;
  std::vector<runtime::Tensor> outputs;
  int64_t samples = 0;  ///< in the data set; -1: a stream
};

/// Follows the sample: where it parts from others, the graph becomes its path.
class Tracer {
 public:
  Tracer(const PipelineHost& host, ir::Graph graph, const CompileChoice& choice, const WantedSample& wanted,
         Reporter& reporter)
      : host_(host), graph_(std::move(graph)), choice_(choice), wanted_(wanted), reporter_(reporter) {
    // A sample does not depend on the batch that it comes in, and none but it has to pass; where an operator sees the
    // batch, places in it may go past one sample.
    const bool sees_batch = std::ranges::any_of(
        graph_.nodes, [](const ir::Node& node) { return node.op && op::sees_batch(node); });
    if (!sees_batch) graph_.options.batch_size = 1;
    graph_.options.on_error = ir::OnError::kSkip;
    if (graph_.options.seed < 0) graph_.options.seed = 0;  // of an unseeded pipeline: one for all runs
    for (const ir::Node& node : graph_.nodes) {
      if (node.op && node.op->source) readers_.push_back({node.span, node.calls});
      if (node.op && node.op->random && dsl::is_written_draw(graph_, node)) {
        draws_.push_back({node.span, node.calls, {}});
        drawn_.push_back(node.outputs[0]);
      }
    }
  }

  std::optional<SampleTrace> run() {
    for (;;) {
      const std::vector<ir::BlockId> branches = common_branches(graph_);
      if (branches.empty()) break;
      if (!follow(branches)) return std::nullopt;
    }
    return collect();
  }

 private:
  void set_outputs(std::vector<ir::ValueId> values) {
    graph_.output_names.assign(values.size(), "");
    graph_.blocks[graph_.exit_block()].terminator.results = std::move(values);
  }

  bool is_wanted(int64_t number, const std::string& name) const {
    return wanted_.name.empty() ? number == wanted_.number : name.ends_with(wanted_.name);
  }

  void report_missing(const std::optional<runtime::SampleFailure>& failure) const {
    if (failure) {
      Diagnostic diagnostic = failure->diagnostic;
      diagnostic.notes.push_back("the sample is " + failure->source);
      reporter_.report(std::move(diagnostic));
      reporter_.raise_status(kWrong);
      return;
    }
    const std::string which = wanted_.name.empty() ? fmt::format("sample {}", wanted_.number) : wanted_.name;
    reporter_.report(tool_error(tools::Message::kNoSuchSample, which).error());
  }

  /// Runs the graph until the sample comes.
  std::optional<Found> run_graph() {
    const auto program = host_.compile(graph_, choice_, nullptr, reporter_);
    if (!program) return std::nullopt;
    std::optional<runtime::SampleFailure> failure;
    auto note = [&](const runtime::SampleFailure& failed, bool) {
      if (is_wanted(failed.position, failed.source)) failure = failed;
    };
    const auto session = host_.open(program, nullptr, reporter_, {}, note);
    if (!session) return std::nullopt;
    while (!is_interrupted()) {
      auto next = session->next(std::chrono::milliseconds(100));
      if (!next) {
        if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
        reporter_.report(next.error());
        return std::nullopt;
      }
      if (!next->has_value() || failure) {
        report_missing(failure);
        return std::nullopt;
      }
      const runtime::Batch& batch = ***next;
      for (size_t i = 0; i < batch.sample_ids.size(); ++i) {
        const std::string name = i < batch.sample_names.size() ? batch.sample_names[i] : "";
        if (!is_wanted(batch.sample_ids[i], name)) continue;
        Found found{batch.sample_ids[i], name, {}};
        if (const auto readers = session->reader_meta(); !readers.empty())
          found.samples = readers.begin()->second.epoch_size;
        for (const runtime::Batch::Output& output : batch.outputs) found.outputs.push_back(output.samples[i]);
        return found;
      }
    }
    reporter_.raise_status(kInterrupted);
    return std::nullopt;
  }

  bool follow(const std::vector<ir::BlockId>& branches) {
    std::vector<ir::ValueId> selectors;
    for (const ir::BlockId id : branches) selectors.push_back(graph_.block(id).terminator.selector);
    set_outputs(selectors);
    const auto found = run_graph();
    if (!found) return false;
    for (size_t k = 0; k < branches.size(); ++k) {
      const ir::Terminator& end = graph_.block(branches[k]).terminator;
      const double selector = numbers_of(found->outputs[k]).at(0);
      const size_t last = end.targets.size() - 1;
      size_t arm = selector == 0 ? 1 : 0;
      if (end.kind == ir::TerminatorKind::kSwitch)
        arm = static_cast<size_t>(std::clamp(selector, 0.0, static_cast<double>(last)));
      TraceStep step = step_at(end.span, {});
      step.what = TracedBranch{selector, arm, end.targets.size()};
      parted_[branches[k]] = std::move(step);
      take_arm(graph_, branches[k], arm);
    }
    return true;
  }

  /// The line of the user's: of what stands in the library, that of the call that led there.
  TraceStep step_at(Span span, const std::vector<CallSite>& calls) const {
    auto is_of_user = [&](Span place) {
      const SourceFile* file = reporter_.sources().file(reporter_.sources().resolve(place).file);
      return file && !file->name().starts_with("galatea/");
    };
    for (auto call = calls.begin(); !is_of_user(span) && call != calls.end(); ++call) span = call->span;
    TraceStep step;
    const Span place = reporter_.sources().resolve(span);
    if (const SourceFile* file = reporter_.sources().file(place.file)) {
      step.file = file->name();
      step.line = file->position(place.begin).line;
    }
    return step;
  }

  /// The first numbers of a value that was made on the way.
  std::string numbers_of_value(ir::ValueId value) const {
    constexpr size_t kShown = 8;
    const auto known = tensors_.find(value);
    if (known == tensors_.end()) return ir::to_text(graph_.type(value));
    std::string text;
    const std::vector<double> numbers = numbers_of(known->second);
    for (size_t k = 0; k < std::min(numbers.size(), kShown); ++k)
      text += fmt::format("{}{:g}", k > 0 ? ", " : "", numbers[k]);
    if (numbers.size() > kShown) text += ", …";
    return known->second.ndim == 0 ? text : "[" + text + "]";
  }

  static bool is_constant(const ir::Node* node) { return node && node->op && node->op->name == "constant"; }

  std::string input_text(ir::ValueId value) const {
    return is_constant(graph_.defining_node(value)) ? numbers_of_value(value) : names_[value];
  }

  std::string argument_text(const ir::Arg& argument) const {
    return argument.is_value() ? numbers_of_value(argument.as_value()) : ir::to_text(argument.as_attr());
  }

  TraceStep step_of(const ir::Node& node) const {
    TraceStep step = step_at(node.span, node.calls);
    TracedCall call;
    call.name = op::shown_name(node);
    call.is_random = node.op->random;
    for (const ir::Arg& argument : node.args)
      call.arguments.emplace_back(argument.name, argument_text(argument));
    for (const ir::ValueId input : node.inputs) call.inputs.push_back(input_text(input));
    for (const ir::ValueId output : node.outputs)
      if (const auto known = tensors_.find(output); known != tensors_.end())
        call.outputs.push_back({names_[output], graph_.type(output), known->second});
    step.what = std::move(call);
    return step;
  }

  std::optional<SampleTrace> collect() {
    std::vector<ir::ValueId> values;
    const std::vector<ir::BlockId> order = graph_.topological_order();
    for (const ir::BlockId block : order)
      for (const ir::NodeId id : graph_.block(block).nodes)
        values.insert(values.end(), graph_.node(id).outputs.begin(), graph_.node(id).outputs.end());
    set_outputs(values);
    names_ = ir::value_names(graph_);
    const auto found = run_graph();
    if (!found) return std::nullopt;
    for (size_t k = 0; k < values.size(); ++k) tensors_[values[k]] = found->outputs[k];
    SampleTrace trace{found->number, found->name, {}, graph_.name, graph_.options.seed, draws_, readers_};
    for (size_t k = 0; k < drawn_.size(); ++k)
      if (const auto known = tensors_.find(drawn_[k]); known != tensors_.end())
        trace.draws[k].value = known->second;
    for (TracedReader& reader : trace.readers)
      reader.samples = found->samples < 0 ? kMoreThanAnyStream : found->samples;
    for (const ir::BlockId block : order) {
      for (const ir::NodeId id : graph_.block(block).nodes)
        if (!is_constant(&graph_.node(id))) trace.steps.push_back(step_of(graph_.node(id)));
      if (const auto parted = parted_.find(block); parted != parted_.end())
        trace.steps.push_back(parted->second);
    }
    return trace;
  }

  const PipelineHost& host_;
  ir::Graph graph_;
  const CompileChoice& choice_;
  const WantedSample& wanted_;
  Reporter& reporter_;
  std::map<ir::BlockId, TraceStep> parted_;  ///< by the block that the branch ended
  std::map<ir::ValueId, runtime::Tensor> tensors_;
  std::vector<std::string> names_;  ///< of values
  std::vector<TracedReader> readers_;
  std::vector<TracedDraw> draws_;
  std::vector<ir::ValueId> drawn_;  ///< what the draws give
};

}  // namespace

std::optional<SampleTrace> trace_sample(const PipelineHost& host, ir::Graph graph,
                                        const CompileChoice& choice, const WantedSample& wanted,
                                        Reporter& reporter) {
  const OrderlyEnd orderly;
  return Tracer(host, std::move(graph), choice, wanted, reporter).run();
}

}  // namespace galatea::tools
