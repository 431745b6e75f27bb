// Staging one pipeline: options, the body, outputs. In: a pipeline object. Out: a graph, or diagnostics. Its
// parameters: pipeline_parameters.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/text/verifier.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/pipeline_options.h"
#include "dsl/suggest.h"

namespace galatea::dsl {

struct Evaluator::OutputChecks {
  struct Check {
    std::vector<Value> wanted;
    Span span;
  };
  Check dtype, ndim, layout;
  bool batch_size_given = false;
};

// ---- options ----

bool Evaluator::apply_option(const std::string& name, const Value& value, Span span, ir::Graph& graph,
                             OutputChecks& checks) {
  ir::PipelineOptions& options = graph.options;
  if (value.is_poison()) return false;
  if (value.is(ValueKind::kNone)) return true;
  auto wrong = [&](std::string wanted) {
    return fail(Message::kArgumentKind, span, {name, std::move(wanted), type_text(value)}), false;
  };
  auto positive = [&](int& target) {
    if (!value.is(ValueKind::kInt) || value.integer <= 0 || value.integer > (1 << 24))
      return wrong("a positive integer");
    target = static_cast<int>(value.integer);
    return true;
  };
  if (name == "batch_size" || name == "max_batch_size") {
    checks.batch_size_given = true;
    return positive(options.batch_size);
  }
  if (name == "num_threads")
    return value.is(ValueKind::kInt) && value.integer == -1 ? true : positive(options.num_threads);
  if (name == "prefetch_queue_depth") {
    if (!value.is(ValueKind::kDict)) return positive(options.prefetch_queue_depth);
    int depth = 0;
    for (const auto& [key, entry] : value.dict().entries) {
      if (entry.is(ValueKind::kInt) && entry.integer > 0 && entry.integer < (1 << 24))
        depth = std::max(depth, static_cast<int>(entry.integer));
    }
    if (depth == 0) return wrong("a positive integer");
    options.prefetch_queue_depth = depth;
    return true;
  }
  if (name == "seed") {
    if (!value.is(ValueKind::kInt)) return wrong("an integer");
    options.seed = value.integer;
    return true;
  }
  if (name == "exact") {
    if (!value.is(ValueKind::kBool)) return wrong("True or False");
    options.exact = value.boolean;
    return true;
  }
  if (name == "on_error") {
    std::string word = value.is(ValueKind::kString) ? value.text() : "";
    if (word != "raise" && word != "skip" && word != "replace")
      return wrong("`\"raise\"`, `\"skip\"` or `\"replace\"`");
    options.on_error = word == "raise"  ? ir::OnError::kRaise
                       : word == "skip" ? ir::OnError::kSkip
                                        : ir::OnError::kReplace;
    return true;
  }
  if (name == "memory_limit") {
    if (!value.is(ValueKind::kInt) || value.integer <= 0) return wrong("a positive number of bytes");
    options.memory_limit = value.integer;
    return true;
  }
  if (name == "device") {
    bool known = value.is(ValueKind::kString) &&
                 (value.text() == "cpu" || value.text() == "gpu" || value.text() == "mixed");
    if (!known) return fail_device(value, span, ""), false;
    if (value.text() != "cpu") note_device(span, "`device=\"" + value.text() + "\"`");
    options.device = value.text() == "cpu" ? "cpu" : "gpu";
    return true;
  }
  if (name == "output_dtype" || name == "output_ndim" || name == "output_layout") {
    OutputChecks::Check& check = name == "output_dtype"  ? checks.dtype
                                 : name == "output_ndim" ? checks.ndim
                                                         : checks.layout;
    ValueKind kind = name == "output_dtype"  ? ValueKind::kDType
                     : name == "output_ndim" ? ValueKind::kInt
                                             : ValueKind::kString;
    check.wanted = value.is_sequence() ? value.elements() : std::vector<Value>{value};
    check.span = span;
    for (const Value& wanted : check.wanted) {
      if (!wanted.is(kind) && !wanted.is(ValueKind::kNone))
        return wrong(kind == ValueKind::kDType ? "types, or a list of them"
                     : kind == ValueKind::kInt ? "integers"
                                               : "strings");
    }
    return true;
  }
  if (name == "enable_conditionals") return value.is_integral() ? true : wrong("True or False");
  if (name == "compat") {
    const auto compat = value.is(ValueKind::kString) ? op::compat_from_name(value.text()) : std::nullopt;
    if (!compat) return wrong("`\"dali\"`, `\"pil\"`, `\"torchvision\"` or `\"opencv\"`");
    compat_ = *compat;
    return true;
  }
  if (name == "same_seed_same_draw") {
    if (!value.is(ValueKind::kBool)) return wrong("True or False");
    same_seed_same_draw_ = value.boolean;
    return true;
  }
  if (name == "checkpoint") return fail(Message::kNotYet, span, {"`" + name + "=`"}), false;
  if (name == "device_id") {
    if (value.is(ValueKind::kInt) || value.is(ValueKind::kUnknown)) return true;
    Diagnostic diagnostic =
        diagnose(Message::kArgumentKind, span, {name, "the number of a GPU, or None", type_text(value)});
    const std::string text = value.is(ValueKind::kString) ? value.text() : "";
    if (text == "cpu") diagnostic.help = "write `None`";
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
      diagnostic.help = "take the quotes away: `" + text + "`";
      diagnostic.edits.push_back({span, text, true});
    }
    if (text.starts_with("cuda") || text.starts_with("gpu"))
      diagnostic.help =
          "write the number alone: `" + (text.contains(':') ? text.substr(text.find(':') + 1) : "0") + "`";
    return report(std::move(diagnostic)), false;
  }
  note(Message::kNoEffect, span, {"`" + name + "`", "the executor of galatea has no such choice"});
  return true;
}

// An option that is given already is not what another one means.
void Evaluator::fail_unknown_option(const PipelineObject& pipeline, const std::string& name, Span name_span) {
  std::vector<std::string> names;
  for (const PipelineOption& option : pipeline_options()) names.emplace_back(option.name);
  Diagnostic diagnostic = diagnose(Message::kUnknownParameter, name_span, {"pipeline_def", name, ""});
  const auto is_given = [&](const std::string& meant) {
    return std::ranges::any_of(pipeline.options, [&](const auto& option) { return option.first == meant; });
  };
  if (const Suggestion* known = find_suggestion(Place::kParameter, "pipeline_def", name)) {
    diagnostic.help = help_of(*known, "");
    if (!known->write.empty()) diagnostic.edits.push_back({name_span, std::string(known->write), false});
  } else {
    suggest(diagnostic, name, names);
  }
  leave_out_if_given(diagnostic, is_given);
  report(std::move(diagnostic));
}

bool Evaluator::apply_options(PipelineObject& pipeline, ir::Graph& graph, OutputChecks& checks) {
  bool good = true;
  for (size_t i = 0; i < pipeline.options.size(); ++i) {
    const auto& [name, value] = pipeline.options[i];
    if (find_pipeline_option(name) != nullptr || name == "checkpoint") {
      good = apply_option(name, value, pipeline.option_spans[i], graph, checks) && good;
    } else {
      fail_unknown_option(pipeline, name, pipeline.option_name_spans[i]);
      good = false;
    }
  }
  apply_host(graph);
  return good;
}

void Evaluator::apply_host(ir::Graph& graph) {
  const HostOptions& host = options_.host;
  ir::PipelineOptions& options = graph.options;
  if (host.batch_size) options.batch_size = *host.batch_size;
  if (host.num_threads) options.num_threads = *host.num_threads;
  if (host.prefetch_queue_depth) options.prefetch_queue_depth = *host.prefetch_queue_depth;
  if (host.seed) options.seed = *host.seed;
  if (host.memory_limit) options.memory_limit = *host.memory_limit;
  if (host.exact) options.exact = *host.exact;
  if (host.on_error) options.on_error = *host.on_error;
}

// ---- outputs ----

namespace {

/// The first `return` of a value in a function's own statements; nullptr: there is none.
const Statement* find_return(const Suite& suite) {
  for (const StatementPtr& s : suite) {
    if (s->kind == StatementKind::kReturn && s->value) return s.get();
    if (s->kind == StatementKind::kFunction) continue;
    for (const Suite* inner : {&s->body, &s->orelse})
      if (const Statement* found = find_return(*inner)) return found;
  }
  return nullptr;
}

}  // namespace

bool Evaluator::check_outputs(const std::vector<ir::ValueId>& outputs, const PipelineObject& pipeline,
                              const OutputChecks& checks) {
  auto check = [&](const OutputChecks::Check& wanted, const char* what, auto matches) {
    if (wanted.wanted.empty()) return true;
    bool one = wanted.wanted.size() == 1;
    if (!one && wanted.wanted.size() != outputs.size())
      return fail(Message::kOutputCount, wanted.span,
                  {std::to_string(wanted.wanted.size()), pipeline.name, std::to_string(outputs.size())}),
             false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value& expected = wanted.wanted[one ? 0 : i];
      if (expected.is(ValueKind::kNone) || matches(expected, graph_->type(outputs[i]))) continue;
      return fail(Message::kOutputType, wanted.span,
                  {std::to_string(i), what, repr(expected), ir::to_text(graph_->type(outputs[i]))}),
             false;
    }
    return true;
  };
  bool good =
      check(checks.dtype, "type", [](const Value& v, const ir::Type& t) { return v.dtype == t.dtype; });
  good = check(checks.ndim, "number of dimensions",
               [](const Value& v, const ir::Type& t) { return v.integer == t.ndim; }) &&
         good;
  return check(checks.layout, "layout",
               [](const Value& v, const ir::Type& t) { return v.text() == t.layout.str(); }) &&
         good;
}

// The text of an output, where `return` lists them, or of all; nullptr: they come from elsewhere.
const Expression* Evaluator::written_output(std::optional<size_t> number, size_t outputs) const {
  if (!number || !returned_) return returned_;
  const bool lists =
      (returned_->kind == ExpressionKind::kTuple || returned_->kind == ExpressionKind::kList) &&
      returned_->operands.size() == outputs;
  return lists ? returned_->operands[*number].get() : nullptr;
}

// An output that is a list or a tuple of data, at its own text where `return` lists the outputs.
void Evaluator::report_nested_output(const PipelineObject& pipeline, const Value& value,
                                     std::optional<size_t> number, size_t outputs, Span span) {
  const Expression* written = written_output(number, outputs);
  Diagnostic diagnostic = diagnose(Message::kNestedOutputs, written ? written->span : span,
                                   {pipeline.name, describe_kind(value)});
  const bool by_comma = value.is(ValueKind::kTuple) && value.elements().size() == 1;
  // `return (image, label),`: the comma is behind the whole.
  const bool outer_comma = returned_ && returned_->kind == ExpressionKind::kTuple &&
                           !returned_->parenthesized && returned_->operands.size() == 1 && outputs == 1;
  if (outer_comma) {
    const Span inner = returned_->operands[0]->span;
    diagnostic.help = "a comma at the end makes a tuple of one element: remove it";
    diagnostic.labels.push_back({{inner.file, inner.end, returned_->span.end}, "this comma"});
    diagnostic.edits.push_back({{inner.file, inner.end, returned_->span.end}, "", true});
  } else if (by_comma)
    diagnostic.help = "a comma at the end makes a tuple of one element: remove it";
  else if (value.is(ValueKind::kTuple))
    diagnostic.help = fmt::format(
        "it holds {} values: take what is meant, as in `a, b = …`, or return them one by "
        "one: `return a, *layers`",
        value.elements().size());
  const size_t at = number.value_or(0);
  if (written && at < returned_bindings_.size() && returned_bindings_[at].valid())
    diagnostic.labels.push_back(
        {returned_bindings_[at], by_comma ? "the comma is at the end of this" : "it is made here"});
  report(std::move(diagnostic));
}

bool Evaluator::finish_outputs(PipelineObject& pipeline, const Value& result, ir::Graph& graph,
                               const OutputChecks& checks) {
  if (result.is_poison()) return false;
  // What is wrong with the outputs is shown where they are returned.
  Span span = returned_at_.valid() ? returned_at_ : pipeline.span;
  if (result.is(ValueKind::kNone)) {
    // What stands last could not be read: it may be the `return`.
    const Statement* last =
        pipeline.function->body->empty() ? nullptr : pipeline.function->body->back().get();
    if (last && last->kind == StatementKind::kUnsupported && last->advice.empty()) return false;
    Diagnostic diagnostic = diagnose(Message::kNoOutputs, span, {pipeline.name});
    if (source_text(sources_, span).contains('('))
      diagnostic.help =
          "what stands behind `return` is None: a function that is called there has no `return` of its own";
    if (const Statement* missed = returned_at_.valid() ? nullptr : find_return(*pipeline.function->body)) {
      diagnostic.labels.push_back(
          {missed->keyword_span, "with these values of the parameters this is not reached"});
      diagnostic.help = "end every path with `return image, label`";
    }
    report(std::move(diagnostic));
    return false;
  }
  // What holds no data node is one constant, as in DALI: `return image, [1, 2, 3]`.
  const bool several = result.is(ValueKind::kTuple) || (result.is(ValueKind::kList) && contains_node(result));
  std::vector<Value> values = several ? result.elements() : std::vector<Value>{result};
  if (values.empty()) return fail(Message::kNoOutputs, span, {pipeline.name}), false;
  if (static_cast<int64_t>(values.size()) > options_.limits.max_nodes)
    return fail(Message::kTooManyNodes, span, {std::to_string(options_.limits.max_nodes), "outputs"}), false;
  std::vector<ir::ValueId> outputs;
  bool good = true;
  // Each is looked at whatever is wrong with those before it.
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (contains_poison(value)) {
      good = false;
      continue;
    }
    if (value.is_sequence() && contains_node(value)) {
      report_nested_output(pipeline, value, several ? std::optional(i) : std::nullopt, values.size(), span);
      good = false;
      continue;
    }
    if (!value.is_node() && !value.is_number() && !value.is_sequence() && !value.is(ValueKind::kArray)) {
      const Expression* written = written_output(several ? std::optional(i) : std::nullopt, values.size());
      Diagnostic diagnostic = diagnose(Message::kOutputKind, written ? written->span : span,
                                       {pipeline.name, describe_kind(value)});
      if (is_bundle(value)) diagnostic.help = "return what is in it: `return t.image, t.boxes`";
      if (value.is(ValueKind::kBuiltin))
        diagnostic.help = "a function is called with brackets: `" +
                          (written ? source_text(sources_, written->span) : value.as<BuiltinObject>().name) +
                          "()`";
      if (value.is(ValueKind::kFunction) && value.as<FunctionObject>().name != "<lambda>")
        diagnostic.help = "a function is called with brackets, as in `" + value.as<FunctionObject>().name +
                          "(…)`; one of coordinates belongs to a function under `@galatea.pixel`";
      report(std::move(diagnostic));
      good = false;
      continue;
    }
    Value node = value.is_node() ? value : constant_node(value, span);
    if (!node.is_node()) {
      good = false;
      continue;
    }
    outputs.push_back(node.node);
    const std::string& variable = graph.values[node.node].variable;
    const bool is_field = variable.starts_with('.');  // of a bundle
    graph.output_names.push_back(variable.empty() ? fmt::format("output{}", outputs.size() - 1)
                                                  : variable.substr(is_field ? 1 : 0));
  }
  if (!good || !check_outputs(outputs, pipeline, checks)) return false;
  builder_->return_values(block_, outputs, pipeline.span);
  return true;
}

// ---- staging ----

std::unique_ptr<ir::Graph> Evaluator::stage(PipelineObject& pipeline) {
  auto graph = std::make_unique<ir::Graph>();
  graph->name = pipeline.name;
  op::GraphBuilder builder(*graph, &registry_);
  builder.add_block();
  graph_ = graph.get();
  builder_ = &builder;
  pipeline_ = &pipeline;
  pipeline_name_ = pipeline.name;
  merges_.forget();
  node_names_.clear();
  seeds_.clear();
  device_note_.reset();
  compat_ = op::Compat::kDali;
  same_seed_same_draw_ = false;
  const size_t errors_before = sink_.num_errors();
  inputs_.clear();
  noted_runs_.clear();
  replay_.forget();
  late_.reset();
  FunctionObject& function = *pipeline.function;
  auto* outer = arena.make<Frame>();
  outer->module = function.module;
  call_states_.push_back(std::make_unique<CallState>());
  outer->call = call_states_.back().get();
  outer->call->name = pipeline.name;
  auto* frame = arena.make<Frame>();
  frame->parent = function.closure;
  frame->module = function.module;
  frame->locals = &locals_of(function);
  call_states_.push_back(std::make_unique<CallState>());
  frame->call = call_states_.back().get();
  frame->call->name = pipeline.name;
  frame_ = outer;
  block_ = 0;
  region_ = regions_.make_root();
  builder.set_insertion_block(0);
  has_unknown_calls_ = false;
  unknown_data_.clear();
  checked_beside_poison_ = 0;
  aborted_ = out_of_budget_;
  partial_.reset();
  OutputChecks checks;
  // Each is looked at whatever is wrong with those before it.
  bool good = apply_options(pipeline, *graph, checks);
  good = bind_parameters(pipeline, *frame) && good;
  if (!function.poisoned) {
    const Value result = run_function(function, *frame, {});
    good = alive() && good && finish_outputs(pipeline, result, *graph, checks);
  }
  good = good && !function.has_syntax_error && sink_.num_errors() == errors_before;
  if (good && device_note_) note(Message::kRunsOnCpu, device_note_->first, {device_note_->second});
  const bool is_late = std::ranges::any_of(inputs_, &LatePipeline::Input::is_open);
  if (is_late) late_ = LatePipeline{pipeline.name, graph->options, std::move(inputs_)};
  good = good && !is_late && !has_unknown_calls_;
  if (!good && !is_late) keep_partial(*graph);
  graph_ = nullptr;
  builder_ = nullptr;
  pipeline_ = nullptr;
  frame_ = nullptr;
  block_ = 0;
  region_ = 0;
  return good ? std::move(graph) : nullptr;
}

// What there is of a pipeline that failed, with an end where it has none.
void Evaluator::keep_partial(const ir::Graph& graph) {
  if (!alive()) return;
  if (graph.block(block_).terminator.kind == ir::TerminatorKind::kNone)
    builder_->return_values(block_, {}, pipeline_->span);
  if (ir::verify_form(graph)) partial_ = std::make_unique<ir::Graph>(graph);
}

}  // namespace galatea::dsl
