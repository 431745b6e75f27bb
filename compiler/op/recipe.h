// What an operator's definition writes with: scalar expressions, checks, stages, views, native calls.
//
// Comes in: one node of the graph. Goes out: a Lowering, which the plan turns into bytecode and kernels,
// `check` folds over known extents, and the region pass reads the accesses of. Every Expr given to a
// definition may be a constant already.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/kernel.h"
#include "compiler/op/lineage.h"
#include "compiler/op/operator.h"
#include "compiler/op/text_kernel.h"
#include "runtime/batch_op.h"
#include "runtime/constant_tensor.h"

namespace galatea::op {

using kernel::Expr;

/// Fails the sample where `condition` is false. `message` has one {} per value.
struct Check {
  Expr condition;
  std::string message;
  std::vector<Expr> values;
  std::string help;
  std::string arg;  ///< the argument to point at, or empty
  /// What a GPU computes is not waited for: of such numbers nobody asks.
  bool if_at_hand = false;
};

/// A call of a native function (runtime/native.h) that yields scalars, or a meeting of the batch that does:
/// results are kSymbol kLocal expressions.
struct NativeScalars {
  std::string function;
  std::vector<int> inputs;  ///< node inputs
  std::vector<Expr> scalars;
  std::string config;           ///< static configuration, JSON; parsed once per program
  std::vector<int64_t> locals;  ///< local symbol numbers of the results
  size_t order = 0;             ///< how many checks stand before it
  std::vector<std::pair<int64_t, int64_t>>
      ranges;  ///< what the function promises of each result; may be empty
  /// Of each result the axis along which it is the extent of what is encoded; '-': something else. Empty: of
  /// none. A function that tells extents has not made anything yet ("peeks").
  std::string extents_along;
  /// In place of a function: what the batch makes of each of the scalars, which are i64.
  std::vector<runtime::BatchOp> over_batch;
};

// ---- What a native function offers beside making all of its output
//
// Offers are facts about a call, by names of axes of the output's layout. Passes and plan read nothing else
// of it: which formats there are, and what the function makes, they do not know
// (docs/add-a-native-function.md).

/// A scalar that says one side of the window that is wanted.
struct WindowScalar {
  enum class Part : uint8_t { kBegin, kEnd, kExtent };
  char axis = 0;
  Part part = Part::kBegin;
  int dim = -1;  ///< of the output; found by output_native()
};

/// It can make its output smaller along some axes, at parts/whole of the size for each of `parts` (ascending,
/// less than `whole`). One of its scalars is RecipeBuilder::scale(whole). Extents and windows are those of
/// the scaled output.
struct ScaleOffer {
  struct Axis {
    char axis = 0;
    Expr extent;  ///< at full size
    Expr origin;  ///< of the output's first element in what is encoded, at full size
    Expr first;   ///< the same at the scale that was chosen
    int dim = -1;
  };
  int64_t whole = 1;
  std::vector<int64_t> parts;
  std::vector<Axis> axes;
  Expr least;  ///< i64: the least that this sample can be scaled to; may be empty
  /// Null: it has its size along this dimension.
  const Axis* along(int dim) const;
};

/// In place of all elements along an axis it can make one: their sum, each times its weight, but for
/// rounding.
struct PlaneOffer {
  using Argument = std::pair<std::string, ir::Attr>;
  std::string name;  ///< "luma"
  char axis = 0;
  std::vector<double> weights;
  Argument makes_plane;  ///< of the node, which makes the plane then
  /// The operator, with its arguments, that spreads the plane to as many equal elements again.
  std::string spread;
  std::vector<Argument> spread_args;
};

/// A device may do the call's work in its place, for samples that suit it, where the text lets it
/// (device="mixed"; of what is only read, device="gpu").
struct DeviceOffer {
  std::string name;                 ///< of the alternative (runtime/device_alternative.h)
  bool reads = false;               ///< a part of a file, as it is; else it decodes
  std::vector<std::string> suited;  ///< for `explain`: which samples suit it, and what does them; a line each
  /// Innermost axes of the output that lie densely in what the device makes, which may be more.
  int dense_axes = runtime::kMaxRank;
};

struct NativeOutput {
  std::string function;
  std::vector<int> inputs;
  std::vector<Expr> scalars;
  std::string config;
  bool allocates = false;        ///< the function makes its output itself (a reader: size unknown before)
  std::string makes = "tensor";  ///< what, for messages: "image"
  /// Not empty: it makes a window, a box over the axes that are named. These are its last scalars, in this
  /// order; the plan adds them, the whole's where nobody wants less.
  std::vector<WindowScalar> window;
  std::optional<ScaleOffer> scale;
  std::optional<PlaneOffer> plane;
  std::optional<DeviceOffer> device;
  bool has_window_along(int dim) const;
  /// In place of a function, the batch: its samples' tensors combined element by element; or, with one
  /// scalar, the tensor of the sample in that place. Nobody copies that.
  std::optional<runtime::BatchOp> total;
  bool of_place = false;
  bool is_of_batch() const { return total || of_place; }
};

/// How an output comes to be.
struct LoweredOutput {
  enum class Kind : uint8_t {
    kStage,    ///< a stage of this lowering; axis_of orders its axes
    kView,     ///< a strided window of a node input: out[i…] = in[offset + Σ…]
    kScalars,  ///< few elements, each a scalar expression
    kNative,
    kConstant,  ///< a tensor of the program
    kText,      ///< what the text of the lowering's call writes
  };
  Kind kind = Kind::kStage;
  std::vector<Expr> extents;
  int stage = -1;
  std::vector<int> axis_of;
  // view: out index along dimension d moves the input's index along input_dim[d] (-1: a new axis of extent 1)
  // by step[d], from `start` (one per input dimension).
  int input = -1;
  std::vector<int> input_dim;
  std::vector<Expr> step;
  std::vector<Expr> start;
  bool reshape =
      false;  ///< kView: the same elements in order, other extents (needs a dense input; else copied first)
  std::vector<Expr> elements;
  int native = -1;
  std::shared_ptr<const runtime::ConstantTensor> constant;
};

/// An image seen through an affine map: what one interpolation, one resampling, or neither does. Places are
/// counted from corners of pixels: output place (x, y) shows input 0 at (m0 x + m1 y + m2, m3 x + m4 y + m5).
struct AffineView {
  std::array<Expr, 6> map;  ///< f64
  int h = 0, w = 0;         ///< dimensions of both images
  Filter filter = Filter::kNearest;
  Expr cubic;              ///< f32: the parameter of kCubic
  std::vector<Expr> fill;  ///< what stands outside, in the type of the input: one, or one per channel; empty:
                           ///< the edge is repeated
  /// f64, along columns and rows: the filter is widened to so many pixels of the input, at least 1. Empty:
  /// it never is.
  std::array<Expr, 2> span;
  bool within = false;  ///< it looks at the image itself, and at its edge no further than its filter reaches
};

/// What the frames of a sample make together of a scalar that each has; lifting (lifting.h) puts it where the
/// local symbol stands, of which none is left then.
struct OverFrames {
  enum class Kind : uint8_t { kLargest, kMost } kind = Kind::kLargest;
  Expr of_frame;
  int64_t local = 0;
};

struct Lowering {
  std::vector<kernel::KernelInput> inputs;  ///< one per node input, in order (loads name them by number;
                                            ///< extents are symbols), then one per constant
  std::vector<std::shared_ptr<const runtime::ConstantTensor>> constants;
  std::vector<kernel::Stage> stages;
  std::vector<Check> checks;  ///< in order, before any kernel
  std::vector<NativeScalars> native_scalars;
  std::vector<NativeOutput> natives;
  std::vector<OverFrames> over_frames;
  std::vector<LoweredOutput> outputs;
  /// Makes all outputs of all inputs, where there is one; there are no stages then.
  std::shared_ptr<const TextCall> text;
  /// Resampling: an input 0 scaled by this (f64) or more would do. Empty: it must not be scaled.
  Expr least_scale;
  /// Not 0: output 0 is the number of one of so many arms, and its stage raises a flag where there is none.
  int64_t arms = 0;
  /// Output 0 shows input 0 so, and nothing else is made of it.
  std::optional<AffineView> affine;
  /// The definition has looked at more of the graph than its node and the types of its operands.
  bool looks_around = false;
};

/// A stage of the node being defined; usable in later bodies.
struct StageRef {
  int index = -1;
};

/// A definition writes of one frame; take() lifts what it wrote over the others (lifting.h).
class RecipeBuilder {
 public:
  /// `lineage` is the graph's, for callers who lower many nodes.
  RecipeBuilder(const ir::Graph& graph, ir::NodeId node, Lineage* lineage = nullptr);

  // ---- what is known
  int num_inputs() const;
  const ir::Type& input_type(int k) const;
  Layout input_layout(int k) const;  ///< as TypeContext::input_layout
  const ir::Type& output_type(int k) const;
  bool given(std::string_view name) const;
  bool is_per_sample(std::string_view name) const;
  const ir::Attr& attr(std::string_view name) const;
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  /// Whose numbers the call gives.
  Compat compat() const { return compat_of(node().args); }

  // ---- scalars of the sample program
  Expr extent(int input, int dim) const;               ///< i64
  Expr extent_of(ir::ValueId operand, int dim) const;  ///< of an input or an argument
  std::vector<Expr> extents(int input) const;
  Expr element(int input, int64_t flat_index) const;  ///< of a small input of static shape; the input's dtype
  /// A scalar argument, static or per sample, converted (kSaturate) to `type`; the default where not given.
  Expr arg(std::string_view name, DType type) const;
  /// A list argument of `n` elements; one element (or a scalar) is repeated n times. A per-sample vector must
  /// have static length 1 or n.
  std::vector<Expr> arg_list(std::string_view name, int n, DType type) const;
  /// How many elements a list argument has (static, or the static extent of a per-sample vector; a scalar has
  /// 1).
  int arg_length(std::string_view name) const;

  // ---- inputs that were made smaller (ScaleOffer; exact=False): what a resampling definition works with
  /// An extent of the input at full size; extent() where nothing was scaled.
  Expr full_extent(int input, int dim) const;
  /// A position (f64, elements at full size) in elements of the input as it is.
  Expr scaled(int input, int dim, const Expr& position) const;
  /// The definition reads input 0 by scaled() positions, and an input scaled by this or more would do.
  void least_scale(Expr scale) { lowering_.least_scale = std::move(scale); }
  /// The definition shows input 0 through an affine map: consecutive ones may become one (exact=False).
  void shows(AffineView view) { lowering_.affine = std::move(view); }
  /// Output 0 is the number of one of so many arms; its stage raises a flag where there is none.
  void chooses_among(int64_t arms) { lowering_.arms = arms; }
  /// In a definition that offers to scale: which of the parts its readers ask for, i64; `whole` where they
  /// ask for none.
  Expr scale(int64_t whole) const;

  // ---- random draws of this node: element e of its stream (any e; each is independent)
  Expr random_u32(const Expr& element) const;                   ///< uniform over all 2^32
  Expr random_unit(const Expr& element) const;                  ///< f32 in [0, 1), 24 bits
  Expr random_below(const Expr& element, const Expr& n) const;  ///< i64 uniform in [0, n): (u32 * n) >> 32

  // ---- checks
  void check(const Expr& condition, std::string_view message, std::vector<Expr> values = {},
             std::string_view help = {}, std::string_view arg = {});
  /// The same, where the host has the numbers anyway (Check::if_at_hand).
  void check_at_hand(const Expr& condition, std::string_view message, std::vector<Expr> values,
                     std::string_view help, std::string_view arg);

  // ---- stages
  using Body = std::function<Expr(const std::vector<Expr>& axes)>;
  /// An element of an input or a stage.
  Expr load(int input, std::span<const Expr> indices, kernel::Border border = kernel::Border::kNone,
            Cell fill = {}) const;
  Expr load(StageRef stage, std::span<const Expr> indices, kernel::Border border = kernel::Border::kNone,
            Cell fill = {}) const;
  Expr load(auto from, std::initializer_list<Expr> indices, kernel::Border border = kernel::Border::kNone,
            Cell fill = {}) const {
    return load(from, std::span(indices.begin(), indices.size()), border, fill);
  }
  StageRef map(std::string name, DType type, std::vector<Expr> extents, const Body& body);
  struct Band {
    std::string name;
    DType type = DType::kF32;
    std::vector<Expr> extents;
    int axis = 0;
    DType accumulator = DType::kF32;
    Expr taps;
    std::function<Expr(const Expr& i)> first;  ///< of the position along the band axis
    std::function<Expr(const Expr& i, const Expr& k)> weight;
    std::function<Expr(const std::vector<Expr>& axes, const Expr& index)>
        source;                                   ///< must return a load whose band index is `index`
    std::function<Expr(const Expr& acc)> finish;  ///< empty: converted to type
  };
  StageRef band(const Band& band);
  struct Reduce {
    std::string name;
    DType type = DType::kF32;
    std::vector<Expr> extents;
    std::vector<Expr> reduce_extents;
    DType accumulator = DType::kF32;
    kernel::Combiner combiner = kernel::Combiner::kSum;
    std::function<Expr(const std::vector<Expr>& axes, const std::vector<Expr>& reduce_axes)> body;
    std::function<Expr(const Expr& acc)> finish;
  };
  StageRef reduce(const Reduce& reduce);
  struct Histogram {
    std::string name;
    DType type = DType::kI32;
    std::vector<Expr> extents;  ///< of the axes before the bins
    Expr bins;
    std::vector<Expr> reduce_extents;
    DType accumulator = DType::kI32;
    std::function<Expr(const std::vector<Expr>& axes, const std::vector<Expr>& reduce_axes)>
        body;  ///< the bin, i64
    std::function<Expr(const Expr& acc)> finish;
  };
  StageRef histogram(const Histogram& histogram);
  struct Scan {
    std::string name;
    DType type = DType::kF32;
    std::vector<Expr> extents;
    int axis = 0;
    DType accumulator = DType::kF32;
    kernel::Combiner combiner = kernel::Combiner::kSum;
    Body body;
    std::function<Expr(const Expr& acc)> finish;
  };
  StageRef scan(const Scan& scan);

  // ---- constant tensors: part of the program, shared by all nodes and kernels with equal ones
  /// An input of the definition's own; load(number, …) reads it.
  int constant_input(std::string name, std::shared_ptr<const runtime::ConstantTensor> tensor);

  // ---- the frames of the sample, where the call is lifted over some; else of the one that there is
  Expr largest_of_frames(const Expr& number);         ///< of i64
  Expr holds_for_most_frames(const Expr& condition);  ///< for more than half of them

  // ---- native
  std::vector<Expr> native_scalars(std::string function, std::vector<int> inputs, std::vector<Expr> scalars,
                                   std::string config, std::vector<DType> result_types,
                                   std::vector<std::pair<int64_t, int64_t>> ranges = {},
                                   std::string extents_along = {});

  // ---- the batch: the samples of one that come to this node (Operator::sees_batch must say so)
  /// What they make of numbers (i64) that each of them hands over, all at one meeting.
  std::vector<Expr> over_batch(std::vector<runtime::BatchOp> ops, std::vector<Expr> numbers);
  Expr over_batch(runtime::BatchOp op, const Expr& number) {
    return over_batch(std::vector{op}, std::vector{number}).front();
  }
  /// Where the sample stands in its batch: 0, 1, …; i64. Samples that are left out keep their places.
  Expr place_in_batch() const;
  /// Their tensors, which must have equal extents, combined: kSum, kMin or kMax.
  void output_total(int k, int input, runtime::BatchOp op);
  /// The tensor of the sample in this place of the batch (i64); that nobody meets there is the sample's
  /// error.
  void output_of_place(int k, int input, const Expr& place);

  // ---- outputs (each exactly once)
  /// Dimension d of the output is axis axis_of[d] of the stage (default: in order).
  void output_stage(int k, StageRef stage, std::vector<int> axis_of = {});
  /// Out[d…] = input[start + step·index]; input_dim as in LoweredOutput.
  void output_view(int k, int input, std::vector<Expr> extents, std::vector<int> input_dim,
                   std::vector<Expr> start, std::vector<Expr> step);
  void output_reshape(int k, int input, std::vector<Expr> extents);
  /// Row-major elements of a small output (static extents).
  void output_scalars(int k, std::vector<Expr> elements);
  void output_native(int k, NativeOutput native, std::vector<Expr> extents);
  void output_constant(int k, std::shared_ptr<const runtime::ConstantTensor> tensor);
  /// All outputs, by a kernel of the user's own.
  void output_text(TextCall call, std::vector<std::vector<Expr>> extents);

  Lowering take();
  ir::NodeId node_id() const { return node_; }
  /// The node that is defined.
  const ir::Node& node() const { return graph_.node(node_); }
  /// Of one of its operands.
  const ir::Type& type_of(ir::ValueId operand) const;
  /// For a definition that has to know where its operands come from: nobody can keep what it writes.
  const ir::Graph& graph() {
    lowering_.looks_around = true;
    return graph_;
  }

 private:
  /// An argument that is one number may come as a tensor whose extents only the run tells.
  void check_one_element(const ir::Arg& argument);
  /// What made the input, if that was scaled.
  const NativeOutput* scaled_input(int input) const;

  const ir::Graph& graph_;
  ir::NodeId node_;
  Lineage* lineage_;
  Expr over_frames(OverFrames::Kind kind, const Expr& of_frame);

  std::shared_ptr<const Lifting> lifting_;
  std::vector<ir::Type> frame_outputs_;  ///< where the call is lifted
  mutable std::shared_ptr<const Lowering> scaled_input_;
  Lowering lowering_;
  int64_t next_local_;
};

/// The remark of a node that may make its output smaller: an integer list, the values that are resampled from
/// it.
inline constexpr const char* kScaledForArg = "scaled_for";
/// The scalar that RecipeBuilder::scale() stands for in the definition of a node with that remark.
Expr scale_of(ir::NodeId maker);

/// The call that makes a node's only output; null: the output is made otherwise.
const NativeOutput* maker_of(const Lowering& lowering);

/// Whether it meets the other samples of its batch.
bool meets_batch(const Lowering& lowering);

/// Runs the definition of a node.
Lowering lower_node(const ir::Graph& graph, ir::NodeId node, Lineage* lineage = nullptr);

}  // namespace galatea::op
