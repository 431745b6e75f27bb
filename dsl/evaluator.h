// The staged evaluator: runs a file once at compile time; what depends on data becomes nodes of a graph.
//
// Comes in: syntax trees, the operator registry, parameters. Goes out: pipelines, a graph, diagnostics.
//
// What it stands on while it runs, and how paths part and join: frame.h.
//
// Regions. A list or dict may be changed only for all the samples for which it was made, because its change
// would be seen by the others (regions.h).
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/kernel/expr.h"
#include "compiler/op/operator.h"
#include "dsl/ast.h"
#include "dsl/calls.h"
#include "dsl/frame.h"
#include "dsl/frontend.h"
#include "dsl/merges.h"
#include "dsl/messages.h"
#include "dsl/regions.h"
#include "dsl/replay.h"
#include "dsl/suggest.h"
#include "dsl/value.h"

namespace galatea::dsl {

class PixelScope;

class UncalledFunction;

class Evaluator {
  friend class UncalledFunction;

 public:
  Evaluator(const op::Registry& registry, SourceMap& sources, DiagnosticSink& sink,
            const FrontendOptions& options);
  ~Evaluator();

  // ---- files (modules.cpp) ----
  /// Reads, parses and evaluates a file. `text` empty: from disk.
  ModuleObject* load_main_file(const std::string& name, std::optional<std::string> text);
  const std::vector<PipelineObject*>& pipelines() const { return pipelines_; }

  // ---- annotations (annotations.cpp) ----
  /// False after an error: the annotation names no type, or `value` is none of it. Names are looked up
  /// from `scope` outwards; `name` is what the message calls the value.
  bool check_elements(const Expression& annotation, const std::string& type, const Value& value,
                      const std::string& name, Span span);
  bool check_annotation(const Expression* annotation, const Value& value, const std::string& name, Span span,
                        const Frame* scope);
  bool check_type_name(const Expression& annotation, const Frame* scope);

  // ---- pipelines (pipeline.cpp) ----
  /// nullptr: an error, or an unknown parameter left a hole.
  std::unique_ptr<ir::Graph> stage(PipelineObject& pipeline);
  /// The same, with the policy in the place of the one that the pipeline loads. `probing`: whatever depends
  /// on the policy's result becomes another node than without.
  std::unique_ptr<ir::Graph> stage_with(PipelineObject& pipeline, const PolicyText& policy,
                                        bool probing = false);
  /// Outputs behind those of the graph staged last: the runs that were noted (observe_runs.cpp).
  std::vector<AugmentationRun> add_runs_as_outputs(ir::Graph& graph);
  /// Set where the pipeline staged last has inputs of unknown type.
  const std::optional<LatePipeline>& late_pipeline() const { return late_; }
  /// The graph staged last, as far as it came, where it gave none: legal, but not to be compiled.
  std::unique_ptr<ir::Graph> take_partial() { return std::move(partial_); }
  void check_parameter_names(const std::vector<PipelineObject*>& staged);

  // ---- services for built-ins, methods and modules ----
  Value fail(Message message, Span span, std::vector<std::string> arguments = {});
  /// Reports; what arose in a file of the library, at the user's line.
  Value report(Diagnostic diagnostic);
  void note(Message message, Span span, std::vector<std::string> arguments = {});
  /// Adds to the diagnostics how often each equal one was left out.
  void note_equal(std::vector<Diagnostic>& diagnostics) const;
  bool step(Span span);
  /// Counts work that is no step of its own: elements copied or compared, or 16 bytes each. The next step
  /// reports where it is too much.
  void spend(size_t elements) { work_ += elements; }
  Value make_string(std::string text);
  Value make_list(std::vector<Value> elements, Span span = {});
  Value make_tuple(std::vector<Value> elements);
  Value make_dict(Span span = {});
  Value make_struct(std::vector<std::pair<std::string, Value>> fields);
  Value make_builtin(std::string name, BuiltinFunction function, Value self = Value::none(),
                     bool is_type = false);
  /// Elements of an iterable static value; nullopt after an error.
  std::optional<std::vector<Value>> iterate(const Value& value, Span span, std::string_view purpose);
  /// The truth of a static value; nullopt after an error or for poison.
  std::optional<bool> static_truth(const Value& value, Span span, std::string_view purpose);
  /// Whether a value may be asked for its truth (an array of several elements may not); reports otherwise.
  /// False for poison, silently.
  bool has_truth(const Value& value, Span span);
  Value call(const Value& callee, CallArguments& arguments);
  /// Calls a function from a built-in (map, sorted, …), the index-th time.
  Value call_back(const Value& callee, std::vector<Value> arguments, const CallArguments& from,
                  uint32_t index);
  /// Whether a list or dict may be changed here; reports it if not.
  bool may_change(const Value& container, Span span);
  ArrayHome home_of_array() const;
  /// `view`, if it is an array, is a view of `base` in numpy.
  void note_view(const Value& base, const Value& view);
  Value format_value(const Value& value, const std::string& spec, Span span);
  Value format_percent(const std::string& pattern, const Value& arguments, Span span);
  Value binary(const std::string& op, const Value& a, const Value& b, Span span, Span a_span, Span b_span);
  Value unary(const std::string& op, const Value& a, Span span);
  Value compare(const std::string& op, const Value& a, const Value& b, Span span, Span a_span, Span b_span);
  Value index(const Value& base, const Value& selector, Span span);
  /// `written`: the text of the base, for messages.
  Value attribute(const Value& base, const std::string& name, Span span, Span name_span,
                  const Expression* written = nullptr);
  bool check_size(size_t bytes, Span span);
  /// Python's ==; nullopt after an error.
  std::optional<bool> equals(const Value& a, const Value& b, Span span);
  /// As Python's str() and repr(); nullopt after an error.
  std::optional<std::string> text_of(const Value& value, Span span, bool as_repr);
  /// The text under which a dict finds a key; empty: not hashable.
  std::string key_of(const Value& value);
  /// Reports why a value without such a text has none.
  Value fail_key(const Value& value, Span span);
  bool has_node(const Value& value);
  bool has_poison(const Value& value);
  ir::Graph* graph() { return graph_; }
  op::GraphBuilder& builder() { return *builder_; }
  Regions& regions() { return regions_; }
  Replay& replay() { return replay_; }
  const op::Registry& registry() const { return registry_; }

  // ---- data nodes (eval_node.cpp, eval_operator.cpp) ----
  const ir::Type& type_of(const Value& node) const { return graph_->type(node.node); }
  Value call_operator(const OperatorObject& callee, CallArguments& arguments);
  /// What the operator gives: a node, a tuple of them or a dictionary; poison after an error.
  Value add_node(op::GraphBuilder::NodeSpec spec);
  /// Whether one more operator, block or merge may be added; reports otherwise.
  bool graph_has_room(Span span);
  /// Where constants of a merge go: where they are on every path.
  ir::BlockId home_of(ir::BlockId join) const;
  /// A node of an operator of the language ("arith.add") on nodes and static numbers.
  Value node_operator(const std::string& name, const std::vector<Value>& operands, Span span,
                      std::vector<ir::Arg> args = {});
  /// A static value as a data node; poison after an error. `dtype`: wanted, else by its kind.
  bool in_pipeline() const { return graph_; }
  Value constant_node(const Value& value, Span span, std::optional<DType> dtype = std::nullopt,
                      std::string layout = {}, std::vector<int64_t> shape = {},
                      const std::string& device = {});
  Value stack_nodes(const std::vector<Value>& elements, Span span);
  Value node_attribute(const Value& node, const std::string& name, Span span, Span name_span);
  std::string type_text(const Value& value) const;
  /// The operator, namespace or hint behind `fn.<path>`.
  Value find_operator(ModuleObject& names, const std::string& name, Span span);
  Value fail_device(const Value& value, Span span, std::string otherwise);
  /// Notes once that something named for the GPU runs on the CPU.
  void note_device(Span span, const std::string& what);
  Value module_member(ModuleObject& module, const std::string& name, Span span);
  std::string operator_for_call(Span argument) const;
  /// Looks up what functions of the file name that nobody has called.
  void check_uncalled(ModuleObject& module);
  /// Keeps a function that is made inside of another one, or a lambda, for that.
  void note_inner_function(const FunctionObject& function);
  void check_inner_functions(ModuleObject& module);
  /// The same of all text of the file, where a limit has ended its evaluation.
  void check_rest(ModuleObject& module);
  Value move_node(const Value& node, ir::Device to, Span span);

  // ---- choices among functions (eval_select.cpp) ----
  /// Calls the arm that `index` names: now where it is known, else per sample, by one branch of many ways.
  Value select(const std::vector<Value>& arms, const Value& index, Span index_span, CallArguments& arguments);

  // ---- the library in the language (library_files.cpp, library_internal.cpp) ----
  bool in_library(Span span) const;
  /// The span itself, or for one in the library the call of the user's that led there.
  Span user_span(Span span) const;
  /// Where the value of a parameter was written, sought from the innermost call outwards; else the user's
  /// call.
  Span argument_span(const std::string& parameter, Span call) const;
  /// A policy document as structs and lists: a path, beside the file of `span` (or the host's policy that
  /// stands for it), or a dict of the document itself. Poison after an error.
  Value read_policy(const Value& from, Span span);

  // ---- arrays (numpy_load.cpp) ----
  /// The array of a name: of the host, else of a file of numpy's beside the file where the call stands.
  Value load_array(const std::string& name, Span span);

  /// A static value that was found for an object under a key; nullptr: none was.
  const Value* remembered(const Object* of, const std::string& key) const {
    const auto found = remembered_.find({of, key});
    return found == remembered_.end() ? nullptr : &found->second;
  }
  void remember(const Object* of, const std::string& key, const Value& value) {
    remembered_.emplace(std::pair(of, key), value);
  }

  /// What a loaded policy made of an image.
  Value policy_result(const Value& image, Span span);
  /// An augmentation is about to be applied on the current path, with a data node or something static.
  void note_run(const std::string& name, const Value& parameter);

  // ---- pixel functions (eval_pixel.cpp) ----
  /// `galatea.pixel`, with or without arguments.
  Value decorate_pixel(CallArguments& arguments);

  // ---- kernels of the user's own (eval_cuda_kernel.cpp) ----
  /// `galatea.cuda_kernel(source=…, name=…, …)`: what is called with the inputs.
  Value make_cuda_kernel(CallArguments& arguments);
  void add_source(const std::string& name, const std::string& text);
  /// Set while a function of coordinates runs: values are those of one element.
  bool in_element() const { return pixel_ != nullptr; }
  /// image.bilinear(y, x, c).
  Value read_between(const Value& base, const CallArguments& arguments);
  /// As Python's int(), float() and bool() on the value of an element; `round`: to the nearest integer.
  Value convert_element(const Value& value, DType dtype, bool round, Span span);

  // ---- for editors (meanings.cpp) ----
  std::vector<LibraryModule> library_modules();

  Arena arena;

 private:
  // ---- for editors (meanings.cpp) ----
  Meaning meaning_of(const Value& value) const;
  void note_meaning(Span span, const Value& value);

  // ---- statements (eval_stmt.cpp) ----
  void run_suite(const Suite& suite);
  void run_statement(const Statement& s);
  void warn_unused(const Statement& s, const Value& value, size_t errors_before);
  void run_assign(const Statement& s);
  void warn_assigns_none(const Expression& e);
  void assign_slice(const Expression& target, const Value& base, const Value& value);
  void assign_array(const Expression& target, const Value& base, const Value& value);
  void change_array(const Expression& target, const Value& base, const Value& value);
  void note_views_of_call(const CallArguments& arguments, const Value& result);
  void run_augmented(const Statement& s);
  void run_annotated(const Statement& s);
  void run_if(const Statement& s);
  void run_for(const Statement& s);
  void fail_pairs_of_dict(const Statement& s);
  void run_while(const Statement& s);
  void run_else(const Statement& s, const LoopState& loop);
  void run_loop_body(const Statement& s, LoopState& loop, bool& goes_on);
  void finish_loop(const Statement& s, LoopState& loop);
  void run_return(const Statement& s);
  void remember_returned(const Expression* value);
  void run_break(const Statement& s);
  void report_outside_loop(const Statement& s);
  void run_function(const Statement& s);
  void run_assert(const Statement& s);
  void run_raise(const Statement& s);
  void assign(const Expression& target, const Value& value, Span span);
  void fail_attribute_assignment(const Expression& target, const Value& base);
  void fail_unpack_node(const Expression& target, const Value& value, Span span);
  void assign_sequence(const Expression& target, const Value& value, Span span);
  void assign_element(const Expression& target, const Value& value);
  void bind(const std::string& name, const Value& value, Span span);
  Value eval_whole(const Expression& e);
  void poison(const std::vector<std::string>& names);
  void poison_suite(const Suite& suite);
  void skip_suite(const Suite& suite, size_t num_loops);
  void run_unsupported(const Statement& s);
  Value apply_decorator(const Value& decorator, Value function, const Statement& s,
                        const Expression& expression);
  bool is_decorator_by_slip(const Expression& decorator);
  Value define_pipeline(const Value& function, const DecoratorObject* decorator, const Statement& s);

  // ---- branches (eval_branch.cpp) ----
  /// `construct` must outlive the evaluation: what is merged later names it.
  bool alive() const { return block_ != ir::kNoId && !aborted_; }
  void enter_block(ir::BlockId block);
  Path end_path(Value value, Span span);
  void take_path(Path path);
  /// Makes the given paths one again; `value` of the result is their merged value if merge_values.
  Value join(std::vector<Path> paths, Span span, std::string_view construct, bool merge_values);
  void merge_envs(std::vector<Path>& paths, const MergeContext& context);
  Value resolve(PendingObject& pending, Span use);
  Value resolve_arms(PendingObject& pending, Span use);

  /// A selector for a branch; nullopt after an error.
  std::optional<ir::ValueId> selector(const Value& condition, Span span, std::string_view construct);
  /// Runs both arms on paths of their own and joins what comes out.
  Value branch(const Value& condition, Span condition_span, Span span, std::string_view construct,
               bool merge_values, const std::function<Value()>& then, const std::function<Value()>& otherwise,
               Span then_span, Span otherwise_span);
  struct Arm {
    std::function<Value()> run;
    Span span;
  };
  /// Runs each arm on a path of its own, in the block that `blocks` gives it, and joins what comes out.
  Value run_arms(const std::vector<Arm>& arms, const std::vector<ir::BlockId>& blocks, Span condition_span,
                 Span span, std::string_view construct, bool merge_values);

  // ---- expressions (eval_expr.cpp, eval_subscript.cpp) ----
  Value eval(const Expression& e);
  /// Also a list or dict that holds nobody knows what, since a change of it was refused.
  Value eval_spoiled(const Expression& e);
  Value eval_name(const Expression& e);
  bool knows(const std::string& name) const;  // unknown_names.cpp
  /// `member`: the attribute of it that is asked for, or nullptr.
  void add_line_of_import(Diagnostic& diagnostic, const std::string& line, bool is_certain) const;
  void add_import_of(Diagnostic& diagnostic, const std::string& name) const;
  Value fail_unknown_name(const Expression& e, const Expression* member);
  bool is_told_beside(const Diagnostic& diagnostic) const;
  void suggest_operator(Diagnostic& diagnostic, const std::string& name) const;
  bool suggest_member_of_types(Diagnostic& diagnostic, const std::string& name) const;
  std::string import_of(const std::string& name, const Expression* member) const;
  std::string operator_instead(const std::string& path, Span span) const;
  Value fail_before_assignment(const Expression& e, const Frame& frame);
  Value fail_pipeline_class(Span span);
  static bool hides_another(const std::string& name, const Frame& frame);
  Value fail_not_callable(const Value& callee, const CallArguments& arguments);
  static std::string meant_parameter(const FunctionObject& function, const std::string& name,
                                     const std::vector<bool>& given);
  static std::string function_like(const Value& module);
  Value attribute_of_spoiled(const Value& base, const Expression& e);
  void spoil_receiver(const Expression& receiver, std::string_view method);
  void mark_called(FunctionObject& function);
  void label_hiding(Diagnostic& diagnostic, const Expression* name) const;
  Value eval_number(const Expression& e);
  Value eval_fstring(const Expression& e);
  std::optional<std::string> eval_parts(const std::vector<FStringPart>& parts, Span span);
  Value eval_display(const Expression& e);
  Value eval_dict(const Expression& e);
  Value eval_comprehension(const Expression& e);
  void run_clauses(const Expression& e, size_t clause, const std::function<void()>& body);
  Value eval_conditional(const Expression& e);
  Value eval_bool_op(const Expression& e, size_t from);
  Value eval_logical(const Expression& e, size_t at, const Value& left);
  Value eval_not(const Expression& e);
  Value eval_compare(const Expression& e, size_t at, const Value& left);
  std::optional<std::string> host_path(const Expression& e) const;
  Value eval_attribute(const Expression& e);
  void eval_unused_selector(const Expression& selector);
  Value eval_subscript(const Expression& e);
  Value eval_lambda(const Expression& e);
  struct SlicePlaces {
    int64_t begin, count, step;
  };
  std::optional<SlicePlaces> slice_places(const Value& base, const Expression& slice, int64_t size,
                                          Span span);
  Value eval_slice(const Value& base, const Expression& slice, Span span);
  bool eval_slice_parts(const Value& base, const Expression& slice, std::optional<int64_t> (&parts)[3]);
  Value eval_array_subscript(const Value& base, const Expression& selector, Span span);
  Value fail_not_indexable(const Value& base, const Value& key, Span span);
  Value require_bool_node(const Value& value, Span span, const std::string& op, std::string_view side);
  Value node_index(const Value& base, const Expression& index, Span span);

  // ---- calls (eval_call.cpp) ----
  Value eval_call(const Expression& e);
  bool eval_arguments(const Expression& e, CallArguments& out);
  bool is_keyword_by_slip(const Expression& e);
  bool is_bound(const std::string& name) const;
  Value call_function(FunctionObject& function, CallArguments& arguments);
  bool bind_arguments(FunctionObject& function, CallArguments& arguments, Frame& frame);
  Value run_function(FunctionObject& function, Frame& frame, const CallArguments& arguments);
  const std::set<std::string>& locals_of(const FunctionObject& function);
  Value call_pipeline(PipelineObject& pipeline, const CallArguments& arguments);
  Value call_pixel(PixelObject& pixel, CallArguments& arguments);
  std::string signature(const FunctionObject& function) const;

  // ---- operators (eval_operator.cpp, eval_argument.cpp, eval_input.cpp) ----
  Value call_operator_once(const op::Operator& op, const std::string& path, CallArguments& arguments,
                           uint32_t set);
  /// Adds to `missing` what has no value: after an error of its own, or because only the host knows it.
  void add_operator_arguments(const op::Operator& op, CallArguments& arguments,
                              op::GraphBuilder::NodeSpec& spec, uint64_t key,
                              std::vector<std::string>& missing);
  bool add_operator_argument(const op::Operator& op, const op::ArgSpec& schema,
                             const CallArguments::Keyword& keyword, op::GraphBuilder::NodeSpec& spec);
  void note_same_seed(const op::Operator& op, int64_t seed, Span span);
  bool add_common_argument(const op::Operator& op, const CallArguments::Keyword& keyword,
                           op::GraphBuilder::NodeSpec& spec, uint64_t key);
  void check_unit(const op::Operator& op, const CallArguments::Keyword& keyword);
  void check_path(const op::Operator& op, const CallArguments::Keyword& keyword);
  void check_shares(const op::Operator& op, const CallArguments& arguments);
  void check_coefficients(const op::Operator& op, const CallArguments& arguments, const ir::Type& bands);
  void check_scaled_unit(const op::Operator& op, const CallArguments& arguments, ir::ValueId pixels);
  void check_pixel_unit(const op::Operator& op, const CallArguments& arguments, DType pixels);
  bool fits(const op::Operator& op, const op::ArgSpec& schema, const CallArguments::Keyword& keyword) const;
  void check_keyword(const op::Operator& op, const std::string& name, Span span);
  bool add_argument(const op::Operator& op, const op::ArgSpec& schema, const CallArguments::Keyword& keyword,
                    op::GraphBuilder::NodeSpec& spec, std::string_view called = {});
  /// `wanted`: the kind of the argument, for messages.
  std::optional<ir::Attr> to_attr(const Value& value, Span span, const std::string& what,
                                  const std::string& wanted = {});
  /// The same of an argument whose lists and dictionaries keep their form.
  std::optional<ir::Attr> to_nested_attr(const Value& value, Span span, const std::string& what);
  std::optional<ir::Attr> to_nested_attr(const Value& value, Span span, const std::string& what, int depth,
                                         size_t& values);
  void label_inputs(Diagnostic& diagnostic, const std::vector<ir::ValueId>& inputs) const;
  void suggest_value(Diagnostic& diagnostic) const;
  /// Reports the error of a call.
  void report_refused(Diagnostic diagnostic, Span span, const std::vector<ir::ValueId>& inputs,
                      const std::vector<ir::ValueId>& wanted);
  /// What a call gives of which arguments are missing, after what else is wrong with it was reported.
  Value recover(op::GraphBuilder::NodeSpec call, std::vector<std::string> missing);
  Value check_beside_poison(op::GraphBuilder::NodeSpec call, std::vector<ir::ValueId> inputs,
                            std::vector<std::string> missing);
  Value report_wrong_kinds(op::GraphBuilder::NodeSpec call);
  /// The same of a call that was refused.
  Value recover_refused(op::GraphBuilder::NodeSpec call, const Error& error);
  uint64_t random_key(const std::string& callee, const CallArguments& arguments, uint32_t set) const;
  std::vector<CallSite> call_chain() const;
  Value call_source(const op::Operator& op, const std::string& path, CallArguments& arguments);
  Value call_sources(const op::Operator& op, const std::string& path, CallArguments& arguments,
                     const CallArguments::Keyword& count);
  void add_input(op::GraphBuilder::NodeSpec& spec, const std::optional<InputType>& type);
  bool complete_input_type(op::GraphBuilder::NodeSpec& spec);
  void find_feeds(ir::ValueId value, bool has_frames, std::set<ir::ValueId>& seen,
                  std::map<std::string, bool>& feeds) const;
  std::map<std::string, bool> feeds_of(const std::vector<ir::ValueId>& values) const;
  bool wait_for_extents(const std::vector<ir::ValueId>& wanted, bool has_failed, Span span);
  void fail_refused_argument(const op::Operator& op, const op::ArgSpec& schema, Span span);
  void warn_joins_nothing(const OperatorObject& callee, const CallArguments& arguments);
  Value fail_outside(const OperatorObject& callee, const CallArguments& arguments);
  const std::optional<Meant>& meant_operator(const std::string& path, const std::string& name);
  std::optional<Meant> find_meant_operator(const std::string& path, const std::string& name) const;
  bool is_likely(const op::Operator& op, const CallArguments::Keyword& keyword, Diagnostic& diagnostic) const;
  std::string fail_unknown_argument(const op::Operator& op, const CallArguments::Keyword& keyword,
                                    const std::vector<CallArguments::Keyword>& beside);
  std::string joined_values(const op::Operator& op, const std::vector<CallArguments::Keyword>& keywords,
                            std::string_view meant) const;
  void translate_keywords(const op::Operator& op, CallArguments& arguments,
                          std::vector<std::string>& missing);
  static const Suggestion* known_keyword(const op::Operator& op, const std::string& name);
  static const op::ArgSpec* missing_argument(const op::Operator& op,
                                             const std::vector<CallArguments::Keyword>& given);
  std::string type_written(const Value& value, op::ArgKind kind) const;
  static bool is_known_keyword(const op::Operator& op, const std::string& name);

  // ---- modules (modules.cpp) ----
  void fail_star_import(const Statement& s, Span span);
  void bind_meant_name();
  void run_import(const Statement& s);
  void run_import_from(const Statement& s);
  ModuleObject* host_module(const std::string& path);
  ModuleObject* host_class(const std::string& name, const std::string& advice);
  Value fail_host(const std::string& path, Span span);
  ModuleObject* find_module(const std::string& path, Span span, bool report);
  const std::string* without_zeros(uint32_t file);
  ModuleObject* load_file(const std::string& path, Span span, std::optional<std::string> text);
  std::filesystem::path imported_path(const std::string& dotted, int level, Span span) const;
  bool is_folder(const Statement& s) const;
  void place_main_text(uint32_t file);
  bool inside_root(const std::string& path) const;
  /// Whether a file lies in a folder or below.
  static bool inside(const std::string& path, const std::string& folder);
  std::optional<std::string> resolve_file(const std::string& dotted, int level, Span span);
  ModuleObject* load_library_file(const std::string& path);
  void evaluate_text(ModuleObject& module, const std::string& file, const std::string& text);
  Value text_operator(const op::TextOperator& op, Span span);
  std::optional<uint32_t> line_of_definition(const std::string& name, Span span) const;
  std::string where_in_library(const ModuleObject& module, const std::string& name);
  ModuleObject* internal_module();
  void evaluate_file(ModuleObject& module, const Module& tree);
  void make_library_modules();  // library.cpp
  std::optional<std::string> read_text(const std::string& path, Span span);

  // ---- pipelines (pipeline.cpp) ----
  struct OutputChecks;
  bool apply_options(PipelineObject& pipeline, ir::Graph& graph, OutputChecks& checks);
  bool apply_option(const std::string& name, const Value& value, Span span, ir::Graph& graph,
                    OutputChecks& checks);
  void fail_unknown_option(const PipelineObject& pipeline, const std::string& name, Span name_span);
  void apply_host(ir::Graph& graph);
  bool bind_parameters(PipelineObject& pipeline, Frame& frame);
  void keep_partial(const ir::Graph& graph);
  std::optional<Value> parse_parameter(const Parameter& parameter, const Value& default_value,
                                       const std::string& text);
  std::optional<Value> parse_text(const std::string& name, const std::string& type,
                                  const Value& default_value, const std::string& text);
  bool set_fields(const Parameter& parameter, Value& record);
  std::optional<Value> parse_literal(const std::string& name, const std::string& text);
  const Expression* written_output(std::optional<size_t> number, size_t outputs) const;
  void report_nested_output(const PipelineObject& pipeline, const Value& value, std::optional<size_t> number,
                            size_t outputs, Span span);
  bool finish_outputs(PipelineObject& pipeline, const Value& result, ir::Graph& graph,
                      const OutputChecks& checks);
  bool check_outputs(const std::vector<ir::ValueId>& outputs, const PipelineObject& pipeline,
                     const OutputChecks& checks);

  // ---- pixel functions (eval_pixel.cpp, eval_element.cpp) ----
  struct PixelCall;
  bool take_pixel_options(PixelCall& call, const PixelObject& pixel, CallArguments& arguments);
  bool choose_image(PixelCall& call, const FunctionObject& function, const CallArguments& arguments);
  Value run_element(PixelCall& call, FunctionObject& at, const CallArguments& arguments);
  bool take_element(PixelCall& call, const Value& given, const FunctionObject& at);
  Value element_node(const kernel::Expr& e, Span span);
  bool adopt_node(ir::NodeId id, Span span);
  Value read_element(const Value& base, const Expression& selector, Span span);
  std::optional<std::vector<kernel::Expr>> element_indices(const Value& base,
                                                           const std::vector<Value>& indices,
                                                           const std::vector<Span>& spans, Span span);
  bool may_read(const Value& base, Span span);
  std::optional<Value> choose_element(const Value& list, const Value& key, Span span);
  std::optional<Value> pixel_attribute(const Value& node, const std::string& name, Span span);
  bool stack_exhausted() const;
  bool is_told_often(const Diagnostic& diagnostic);

  const op::Registry& registry_;
  SourceMap& sources_;
  DiagnosticSink& sink_;
  const FrontendOptions& options_;

  /// Errors of the same words.
  struct EqualErrors {
    std::set<std::pair<uint32_t, uint32_t>> places;  ///< that were told
    size_t left_out = 0;
  };
  std::map<std::string, EqualErrors> equal_errors_;
  std::map<std::string, std::optional<Meant>> meant_operators_;  ///< by the path that is wrong

  std::vector<std::unique_ptr<Module>> trees_;
  std::deque<std::string> clean_texts_;  ///< of which trees are made
  std::map<std::string, ModuleObject*> library_;
  std::map<std::string, ModuleObject*> files_;
  std::map<std::string, ModuleObject*> text_modules_;  ///< of hosts and plug-ins, by their names
  std::vector<std::string> loading_;
  std::set<uint32_t> library_files_;  ///< their numbers in the source map
  std::string main_folder_, root_;
  std::vector<PipelineObject*> pipelines_;
  ModuleObject* builtins_ = nullptr;
  ModuleObject* main_module_ = nullptr;
  const Module* main_tree_ = nullptr;
  std::map<const void*, std::set<std::string>> locals_;
  /// A function inside of another one, by its text.
  struct InnerFunction {
    const FunctionObject* function = nullptr;
    std::vector<const std::set<std::string>*> around;  ///< names of the functions around it
    std::set<std::string> loose;                       ///< names of the comprehensions around it
    bool called = false;
  };
  std::map<const void*, InnerFunction> inner_functions_;
  std::set<std::pair<const Object*, std::string>> missing_methods_;  ///< told, of lists and dicts
  std::vector<std::unique_ptr<CallState>> call_states_;

  Frame* frame_ = nullptr;
  ir::BlockId block_ = 0;
  Regions regions_;
  uint32_t region_ = 0;  ///< the samples on the current path
  std::vector<ActiveCall> calls_;
  std::unique_ptr<PixelScope> pixel_;  ///< while a function of coordinates runs
  std::map<std::string, std::string>
      host_classes_;                         ///< of the file, with what a pipeline does in their place
  std::set<std::string> told_imports_;       ///< modules of the library whose import is missing, told
  size_t num_unknown_names_ = 0;             ///< for which a name that was meant has been looked for
  const Expression* key_of_dict_ = nullptr;  ///< the last one that was evaluated
  bool imports_all_ = false;                 ///< there is an `import *`, which was refused
  int host_calls_ = 0;                       ///< around what is evaluated: they belong to the host program
  int in_pixel_function_ = 0;                ///< how many pixel functions are being called

  ir::Graph* graph_ = nullptr;
  op::GraphBuilder* builder_ = nullptr;
  PipelineObject* pipeline_ = nullptr;
  std::string pipeline_name_;
  Merges merges_{*this};
  Replay replay_{*this};
  std::map<std::string, Span> node_names_;
  std::map<std::pair<std::string, int64_t>, Span>
      seeds_;                              ///< of random operators: where they were first given
  const Expression* returned_ = nullptr;   ///< what the `return` of returned_at_ returns
  std::vector<Span> returned_bindings_;    ///< where what it names was assigned, one for each element
  Span returned_at_;                       ///< where the function that ended last returned
  op::Compat compat_ = op::Compat::kDali;  ///< of the pipeline that is staged
  bool same_seed_same_draw_ = false;       ///< of that pipeline: `seed=` of a call alone decides its draws
  std::optional<std::pair<Span, std::string>> device_note_;  ///< the first that names a GPU
  // ---- policies (policy_file.cpp) ----
  bool may_stand_here(Span load);
  const PolicyText* standing_policy_ = nullptr;  ///< what the next `policy.load` reads
  Span policy_loaded_at_;                        ///< the call that has read it
  bool probing_policy_ = false;

  std::map<std::pair<const Object*, std::string>, Value> remembered_;

  struct NotedRun {
    std::string name;
    ir::BlockId block = 0;
    ir::ValueId parameter = ir::kNoId;  ///< none: static, or there is none
  };
  std::vector<NotedRun> noted_runs_;

  std::vector<LatePipeline::Input> inputs_;  ///< of the pipeline being staged
  std::optional<LatePipeline> late_;
  std::vector<ir::ValueId> unknown_data_;  ///< of that pipeline: one of each type that data has
  size_t checked_beside_poison_ = 0;
  static constexpr size_t kMostBesidePoison = 1000;  ///< calls: each asks for many types
  bool has_unknown_calls_ = false;  ///< of the pipeline being staged: add_unknown() stands for calls
  std::unique_ptr<ir::Graph> partial_;
  bool wrong_parameter_names_ = false;  ///< the host gave a value under a name that there is not

  /// What is left of the walk's budget goes into the work done; false: it was reported that the walk ended
  /// early.
  bool finish_walk(const Walk& walk, Span span);
  Walk start_walk() const;
  bool too_much_work(Span span);
  /// A limit was reached, and reported: of all pipelines together, or of the one that is staged.
  void abort(bool for_good);

  static constexpr size_t kWorkPerStep = 16, kWorkPerBinding = 4;
  static constexpr size_t kBindingBytes = 112;  ///< of a name in an Env, about
  size_t work_ = 0;                             ///< in elements
  bool aborted_ = false;
  bool out_of_budget_ = false;  ///< of what all pipelines share: aborted for good
  bool left_some_ = false;      ///< a limit ended the evaluation of some text
  bool says_nothing_twice_ = false;
  bool size_refused_ = false;  ///< it was reported that a static value would be too large
  const char* stack_base_ = nullptr;
};

/// Adds a label unless there is one like it: the rounds of a loop have one place.
void add_label(Diagnostic& diagnostic, Span span, std::string text);

}  // namespace galatea::dsl
