// What an operator is: one value of this type per operator, defined in one file of stdlib_ops/.
//
// Comes in: nothing but literals and functions. Goes out: the single source for the type checker, `galatea
// ops`, shape rules, checks and code. An operator is declared once: schema, type rule, and a definition that
// writes its extents, checks and meaning through a RecipeBuilder (recipe.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/port.h"
#include "compiler/ir/graph.h"
#include "compiler/op/builder.h"
#include "compiler/op/compat.h"

namespace galatea::op {

class Lifting;
class RecipeBuilder;
class Registry;

/// Types of arguments, as the text may give them.
enum class ArgKind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kDType,
  kInterp,
  kImageType,
  kLayout,
  kIntList,
  kFloatList,
  kStringList,
  kDTypeList,
  kDict,  ///< by name, to any depth: what a reader of records is told of their fields
  kAny
};

/// DALIInterpType, and what other libraries have besides: kBox and kHamming under presets only.
enum class Filter : int64_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kLanczos3 = 3,
  kTriangular = 4,
  kGaussian = 5,
  kBox = 6,
  kHamming = 7
};
inline constexpr int64_t kNumFilters = 8;

struct ArgSpec {
  std::string name;
  ArgKind kind = ArgKind::kFloat;
  ir::Attr default_value;  ///< None: not given
  bool required = false;
  bool per_sample = false;    ///< may be a data node
  bool any_device = false;    ///< and lie on the GPU: only elements depend on it (DALI wants it on the CPU)
  std::string documentation;  ///< one or two sentences: meaning, unit, range
  bool no_effect = false;     ///< accepted for DALI's sake; no numeric effect (documented as such)
  std::string refused;        ///< not empty: accepted by DALI, refused here, for this reason
  std::string refused_help;   ///< what to do instead; empty: leave the argument out
};

enum class OperatorKind : uint8_t { kKernel, kNative };

/// What others may assume of the extents of every output without running the definition: nothing, those of
/// the first input, or the inputs broadcast together.
enum class OutputExtents : uint8_t { kOwn, kLikeFirstInput, kBroadcast };

/// What becomes of the places of a picture, input 0, in what is made of it. Boxes, points and masks that
/// belong to a picture (`galatea.together`) follow it by this alone.
enum class Places : uint8_t {
  kUnknown,  ///< not said, or no map of places: nothing can follow the picture
  kKept,     ///< a place of the output shows the same place of the picture, however it is coloured
  kMoved,    ///< by the map that define_places writes
  kNone,     ///< what is made is no picture: a statistic, extents
};

/// What a type rule sees: input types, arguments with defaults filled in, and a way to complain. Of operands
/// over which the call is lifted it sees one frame.
class TypeContext {
 public:
  /// `wanted`: where want_extents() writes to; may be null.
  TypeContext(const ir::Graph& graph, const Operator& op, const GraphBuilder::NodeSpec& spec,
              const Lifting& lifting, std::vector<ir::ValueId>* wanted = nullptr)
      : graph_(graph), op_(op), spec_(spec), lifting_(lifting), wanted_(wanted) {}
  int num_inputs() const;
  const ir::Type& input(int k) const;
  /// The input's layout, or the first accepted layout of its rank where it has none.
  Layout input_layout(int k) const;
  /// Whether the argument was passed (a passed None counts as not given).
  bool given(std::string_view name) const;
  bool is_per_sample(std::string_view name) const;
  /// Type of a per-sample argument.
  const ir::Type& arg_type(std::string_view name) const;
  /// The static value (or the default). The argument must not be per sample.
  const ir::Attr& attr(std::string_view name) const;
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::string text(std::string_view name) const;
  DType dtype(std::string_view name, DType fallback) const;
  std::vector<int64_t> integers(std::string_view name) const;  ///< a scalar gives one element
  std::vector<double> numbers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;  ///< none where it was not given
  std::vector<DType> dtypes(std::string_view name) const;       ///< none where it was not given
  /// Extents of a per-sample argument, or of an input, that the rule would know and does not: whoever builds
  /// the graph may come to know them and check the call again. To be called before the error, if it is one.
  void want_extents(std::string_view arg) const;
  void want_extents(int input) const;
  /// An error at the call (or at the argument, where one is named) of this operator.
  std::unexpected<Error> error(std::string_view message, std::string_view help = {},
                               std::string_view arg = {}) const;
  /// Whose numbers the call gives.
  Compat compat() const { return compat_of(spec_.args); }
  const Operator& op() const { return op_; }
  Span span() const { return spec_.span; }

 private:
  const ir::Graph& graph_;
  const Operator& op_;
  const GraphBuilder::NodeSpec& spec_;
  const Lifting& lifting_;
  std::vector<ir::ValueId>* wanted_;
};

/// A call that may become several nodes (Operator::expand).
struct Expansion {
  GraphBuilder& builder;
  const Registry& registry;
  const GraphBuilder::NodeSpec& call;
  const Lifting& lifting;
  /// Arguments as in a definition, of the call.
  TypeContext arguments() const { return {builder.graph(), *call.op, call, lifting}; }
  /// Adds a node of another operator at the place of the call, and gives its first output. One that draws
  /// has the call's key: several of them must draw other elements of its stream.
  Result<ir::ValueId> add(std::string_view op, std::vector<ir::ValueId> inputs,
                          std::vector<ir::Arg> args) const;
};

struct Operator {
  std::string name;  ///< as written after `fn.`: "resize", "random.uniform", "reductions.mean"; operators of
                     ///< the language: "arith.add"
  std::string summary;        ///< one line
  std::string documentation;  ///< formula, units, source of the formula
  OperatorKind kind = OperatorKind::kKernel;
  std::vector<Port> inputs;
  int min_inputs = 0;
  int max_inputs = 0;  ///< past inputs.size(): repetitions of the last (cat, stack)
  /// What it gives, where that is known of every call; empty: one or more, as the type rule says.
  std::vector<Port> outputs;
  /// The same where arguments decide it, as those of records with any fields.
  std::function<Result<std::vector<Port>>(const TypeContext&)> outputs_of;
  bool gives_dictionary = false;  ///< a call gives a dictionary of its outputs, by the names of the ports
  /// Per output what a call must have for it to be there: the name of an input, or of an argument that says
  /// something, a flag that is on, a list, a word but "none" ("a|b": one of them); or "a!=value", an argument that is not given as this text, number or flag ("a!=false": a flag that is
  /// on unless it is turned off); "": it always is. "*a": as many outputs as this argument says. Empty: as
  /// `outputs` and outputs_argument say.
  std::vector<std::string> output_needs;
  /// The argument with an entry for each output, where arguments decide how many there are; of a dictionary its
  /// names, in the order of their bytes, are those of the outputs.
  std::string outputs_argument;
  std::vector<ArgSpec> args;
  bool random = false;  ///< draws; gets a key
  bool source = false;  ///< stands in the entry block (readers, external_source)
  /// Of a source whose type rule looks at the data: the arguments that, all given, say what it looks for.
  /// Empty: it does not look.
  std::vector<std::string> types_declared_by;
  bool typed_by_host = false;  ///< a source whose dtype=, ndim= and layout= the host may give instead
  /// Of a source that the host feeds, and whose tensors are several samples each, as a film is several clips: the
  /// native function that says how many, from the arguments and the tensor. Output 1 says which of them a sample
  /// is (I64 [1]).
  std::string parts_of_feed;
  /// Whether its samples come from the host, by the name of the node.
  bool is_fed() const { return typed_by_host || !parts_of_feed.empty(); }
  /// Whether what this node gives for a sample depends on the other samples of its batch, those that come to
  /// the same block; empty: it never does. Says of the arguments what the definition does
  /// (RecipeBuilder::over_batch and its like), for passes that must not move such a node.
  std::function<bool(const ir::Node&)> sees_batch;
  OutputExtents output_extents = OutputExtents::kOwn;
  Places places = Places::kUnknown;
  std::function<Places(const ir::Node&)> places_of;  ///< the same, where arguments decide it
  bool internal = false;  ///< not listed under fn. (arith.*, index, view operators)
  std::vector<std::string> devices = {"cpu"};
  bool cpu_outputs = false;  ///< results are the CPU's, wherever the inputs lie (unless device= is given)
  /// The libraries whose numbers a call can give in place of DALI's (compat.h). One that is missing gives the
  /// same numbers, or has no such operation: a pipeline's preset passes the operator by.
  std::vector<Preset> presets;
  std::string no_preset;  ///< why a preset has no meaning, where a call asks for one; empty: the same numbers
  std::vector<std::string> aliases;  ///< deprecated or other spellings
  std::string example;               ///< a pipeline body, run as a test
  std::vector<std::string> effect;   ///< on `image`, from weak to strong: three calls, a picture of its page

  /// dtype, ndim, layout, device and known extents of every output; complains about what can be known now.
  std::function<Result<std::vector<ir::Type>>(const TypeContext&)> type_rule;
  /// Of calls that are several nodes: adds them, and gives the last one; nothing where this call is one node.
  /// The call has been checked.
  std::function<Result<std::optional<ir::NodeId>>(const Expansion&)> expand;
  /// Extents, checks and meaning (recipe.h). Called when a program is made, when `check` folds constant
  /// checks, and by the region pass.
  std::function<void(RecipeBuilder&)> define;
  /// kMoved: the definition, for the same call, of `NAME.places`, an operator of its own with one output: the
  /// map of places, FLOAT64 [3, 3] (places.h).
  std::function<void(RecipeBuilder&)> define_places;

  const ArgSpec* find_arg(std::string_view arg_name) const;
};

/// What documentation lists: the operator's own arguments, and `seed` where it draws.
std::vector<ArgSpec> all_arguments(const Operator& op);

/// The ports of a node's outputs, as far as its operator declares them: may be empty. The node must have been
/// checked.
std::vector<Port> output_ports(const ir::Graph& graph, const ir::Node& node);
/// The types that concrete ports stand for; named and late extents are not known.
std::vector<ir::Type> types_of(const std::vector<Port>& ports);

/// See Operator::sees_batch.
bool sees_batch(const ir::Node& node);

/// See Operator::places and places_of.
Places places_of(const ir::Node& node);

/// An operator that is a function of a text in the language, of a host or a plug-in.
struct TextOperator {
  std::string name;      ///< as written after `fn.`
  std::string function;  ///< in the text
  std::vector<std::string> parameters;
  std::string file;  ///< the text's name, for messages; texts have different ones
  std::shared_ptr<const std::string> text;
};

/// Name → operator. Filled from the explicit list in stdlib_ops/operators.def, and by hosts and plug-ins.
class Registry {
 public:
  void add(Operator op);
  void add(TextOperator op);
  const TextOperator* find_text(std::string_view name) const;
  /// In order of registration; addresses are stable.
  const std::vector<std::unique_ptr<TextOperator>>& texts() const { return texts_; }
  /// By name or alias; nullptr if there is none.
  const Operator* find(std::string_view name) const;
  /// In order of registration; addresses are stable.
  const std::vector<std::unique_ptr<Operator>>& all() const { return operators_; }
  /// Whether operators lie in it: `readers`, `readers.video`.
  bool has_namespace(std::string_view path) const;
  /// Names under `fn.`, for did-you-mean.
  std::vector<std::string> public_names() const;

 private:
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<TextOperator>> texts_;
};

}  // namespace galatea::op
