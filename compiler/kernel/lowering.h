// What the files of the lowering share (lower*.cpp); nobody else includes it.
//
// Comes in: a kernel and its schedule. Goes out: a LoopKernel, built stage by stage: a *nest* walks a stage's
// domain and stores each element to the stage's destinations; an *access log* of a trial translation tells
// which axes may be taken together, where vectors run, which borders matter.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/kernel/kernel.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/schedule.h"
#include "compiler/kernel/tiles.h"

namespace galatea::kernel::lowering {

/// Reductions with at most so many results are shared out between lanes and slices.
inline constexpr int64_t kFewResults = 16;

/// Whether the node itself is a load of the stage.
inline bool reads_stage(const ExprNode& n, int stage) {
  return n.kind == ExprKind::kLoad && n.target == LoadTarget{LoadTarget::Kind::kStage, stage};
}

/// Σ coefficient · variable + Σ rest + constant; `rest` holds what is not linear in loop variables.
struct Linear {
  std::vector<std::pair<int, Expr>> terms;
  std::vector<Expr> rest;
  int64_t constant = 0;

  Expr coefficient(int variable) const;  ///< empty: does not occur
};

/// Where elements lie: strides per axis of the stage (or input). A ring keeps rows `index & ring_mask` of one
/// axis.
struct Place {
  int buffer = -1;
  std::vector<Expr> strides;
  Expr base;  ///< added to every offset, where it is not empty
  int ring_axis = -1;
  Expr ring_mask;
  bool streaming = false;
};

/// A load's index that a border may have to correct.
struct Bordered {
  const ExprNode* load = nullptr;
  int dim = 0;
  Linear index;
  Expr extent;
};
using DroppedBorders = std::set<std::pair<const ExprNode*, int>>;  ///< load and dimension
struct AccessLog {
  std::vector<Linear> offsets;
  std::vector<Bordered> bordered;
  DroppedBorders inside;      ///< indices that are inside because their loop is
  std::vector<int> split;     ///< variables along which loops are split by a box
  std::vector<Expr> present;  ///< what must hold for loads to reach for tensors that may be empty
};

/// What stands for the leaves of a stage's expressions.
struct Env {
  std::vector<Expr> axes, reduce_axes;
  Expr tap, acc;
  /// Per axis: the extent that it is inside of, where that is known of a stage computed where it is read, whose reader
  /// has its own border; else empty.
  std::vector<Expr> within;
};

/// The elements of an axis that a tile needs, as values in its loops.
struct TileRange {
  Expr low, length;
};
using TileBox = std::vector<TileRange>;

/// One walk over (a part of) a stage's domain.
struct Nest {
  int stage = 0;
  std::vector<Expr> fixed;    ///< per axis: its value, or empty where the nest loops
  std::vector<int> order;     ///< looped axes, outermost first, as the first destination lies
  std::vector<Place> places;  ///< destinations
};

/// How a nest loops.
struct Shape {
  std::vector<int> outer;  ///< serial, outermost first
  std::vector<int> flat;   ///< taken together into one loop, outermost first; the vector loop
  int unrolled = -1;       ///< small constant axis repeated inside
  int lanes = 1;
  bool along_reduction = false;  ///< lanes are elements of a reduction; `flat` is empty
  DroppedBorders
      inside;  ///< with several flat axes: indices that need no border though the loop variable hides it
};

/// A factor of the vector variable that only the call knows: a parameter (mirror: 1 or -1) or the stride of
/// an input.
struct Unknown {
  int param = -1;
  int input = -1, dim = -1;
  int64_t step = 1;  ///< loops are made for the values step and -step
};

/// Borders that a vector loop need not look at where `guard` holds and the position is in [low, high).
struct Interior {
  DroppedBorders dropped;
  Expr guard, low, high;            ///< empty: always; 0; the extent
  std::set<const ExprNode*> fills;  ///< loads that lie outside wherever an edge is: all that it reads
  bool split() const { return static_cast<bool>(low); }
};

/// A piece of the axis that vectors run along.
struct Range {
  Expr low, high;
  bool vector = true;                       ///< false: an edge, element by element
  const DroppedBorders* dropped = nullptr;  ///< borders that do not matter here
  int64_t taps = 0;                         ///< known number, or 0
};

/// Where a map's element is args[1] of its selection; elsewhere it is args[2].
struct Box {
  struct Side {
    int axis = 0;
    bool is_low = false;  ///< axis >= bound; else axis < bound
    Expr bound;           ///< over parameters
  };
  const ExprNode* select = nullptr;  ///< the body
  std::vector<Side> sides;           ///< all of which hold inside
  bool bounds(int axis) const;
};
std::optional<Box> match_box(const Stage& stage);

/// A horizontal band that BandRow can do.
struct RowBand {
  BandTables tables;
  int channel_axis = -1;
  int source_dim = 0;  ///< dimension of the source along which the band runs
  float scale = 1.0F;
  Expr post;  ///< not empty: the finish in terms of kAcc = f32(sum), done in a second loop; empty: nothing
              ///< more
  int temp_stage = -1,
      post_stage = -1;  ///< stages added for the second loop: the planar row, and the map that reads it
};

/// How a reduction of integers is dealt to lanes. Partial result n belongs to channel n % channels.
struct LaneBox {
  size_t flat = 1;        ///< innermost axes of the box that every access walks as one run
  int channel_axis = -1;  ///< axis of the domain whose results lie side by side in that run, or -1
  int64_t channels = 1, lanes = 1;
  int64_t partial() const { return lanes * channels; }
};

/// Which rows of a ring there are so far, while rows of its reader are made.
struct Ring {
  int consumer = -1, producer = -1;
  int have_low = -1, have_end = -1;  ///< variables
};

/// Where a histogram is counted: several copies, so that equal neighbours do not wait for each other's store.
struct Counts {
  int64_t copies = 1;
  bool inside = false;  ///< every element has a bin; else one more bin takes what has none
  Expr bins, row;       ///< bins of a row, and elements from row to row
  int stage = -1;       ///< stage added for the counts: [copy, leading axes…, bin]
  int last = -1;        ///< the map that adds up copies and finishes
};

class Lowering {
 public:
  Lowering(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options);
  LoopKernel run();
  /// Tile by tile; empty: that cannot be done.
  std::optional<LoopKernel> run_tiles();
  /// The stages that tiles would keep in a block's memory; none: tiles cannot be made.
  std::vector<int> stages_of_tiles();

 private:
  friend class Translator;
  friend class TilePlanner;
  friend class TileEmitter;

  // ---- lower.cpp: buffers, order, rings
  void count_readers();
  void add_tensors();
  void place_stages();
  void place_stage(int s);
  void keep_stage(int s, const std::vector<int>& order, const std::optional<RowBand>& band, bool planar);
  void place_row_band(int s, RowBand band);
  void add_stage(Stage stage, std::vector<Expr> extents, StageSchedule schedule, std::optional<Place> stored);
  bool is_output(int s) const;
  bool is_inlined(int s) const;
  bool is_row_band_weight(int s) const;
  bool is_read_by_band(int s) const;
  std::vector<Expr> dense_strides(const std::vector<Expr>& extents, const std::vector<int>& order);
  Place new_scratch(const std::string& name, DType type, Expr elements);
  void emit_stage(int s);
  void emit_rows(int s, Block& out);
  void emit_ring(int consumer, int producer, Block& out);
  Ring begin_ring(int consumer, Block& out);
  void ring_step(const Ring& ring, const Expr& y, const std::vector<Expr>& fixed, Block& out);
  bool is_ring(int s) const;
  void place_beside(int s);
  void begin_beside(int reader, Block& out);
  void rows_beside(int reader, const Expr& y, Block& out);
  void emit_row_by_row(int s, Block& out);
  void ring_rows_needed(const Stage& consumer, const Expr& first, const Expr& extent, Expr* low, Expr* high);
  void emit_row(int s, const std::vector<Expr>& fixed, Block& out);
  std::vector<int> order_for(int s) const;
  Expr all_positive(const std::vector<Expr>& extents) const;

  // ---- lower_tile_plan.cpp, lower_tile.cpp
  std::optional<Tiles> plan_tiles() const;
  /// What a nest loops over of an axis: all of it, or what its tile needs.
  const Expr& looped_extent(int s, int axis) const {
    return box_ ? (*box_)[static_cast<size_t>(axis)].length
                : extents_[static_cast<size_t>(s)][static_cast<size_t>(axis)];
  }

  // ---- lower_access.cpp: expressions
  Expr top(const Expr& e);  ///< the value of a parameter expression, computed once on entry
  Expr translate(int s, const Expr& e, const Env& env, const DroppedBorders* dropped = nullptr,
                 AccessLog* log = nullptr);
  Linear linearize(const Expr& e) const;
  Expr build(const Linear& linear) const;
  bool is_near(const Linear& index, const Expr& extent) const;
  void rejoin_rows(Linear* sum) const;
  Linear offset_of(const Place& place, const std::vector<Expr>& indices) const;
  bool has_loop_var(const Expr& e) const;
  bool mentions(const Expr& e, int variable) const;
  int depth_of(const Expr& e) const;
  void store(const std::vector<Place>& places, const std::vector<Expr>& indices, const Expr& value,
             Block& out);

  // ---- lower_nest.cpp: loops over domains
  void emit_nest(const Nest& nest, Block& out);
  std::vector<Expr> trial(const Nest& nest, const Env& env, const DroppedBorders* dropped, AccessLog* log);
  Shape choose_shape(const Nest& nest, const AccessLog& log, const std::vector<Expr>& values,
                     const std::vector<int>& vars, bool flatten);
  void unroll_planes(const AccessLog& log, const std::vector<int>& vars, int last, Shape* shape,
                     const std::vector<Expr>& extents) const;
  std::optional<Unknown> find_unknown(const AccessLog& log, const Shape& shape,
                                      const std::vector<int>& vars) const;
  bool is_extent(const Expr& e) const;
  void emit_specialised(const Nest& nest, const Unknown& unknown, int along, Block& out);
  bool emit_reflected(const Nest& nest, const AccessLog& log, const std::vector<int>& vars, Block& out);
  bool emit_where_present(const Nest& nest, const AccessLog& log, Block& out);
  Interior find_interior(const Nest& nest, const Shape& shape, const AccessLog& log,
                         const std::vector<int>& vars);
  void emit_grid(const Nest& nest, const Shape& shape, const std::vector<int>& vars, Block& out);
  void emit_vector_level(const Nest& nest, const Shape& shape, const Interior& interior,
                         const std::vector<int>& vars, Env env, int64_t known_taps, bool variants,
                         Block& out);
  void emit_range(const Nest& nest, const Shape& shape, const Range& range, const std::vector<int>& vars,
                  const Env& env, Block& block);
  bool has_tap_variants(const Nest& nest, const Shape& shape) const;
  void emit_element(const Nest& nest, const Shape& shape, Env env, const DroppedBorders* dropped,
                    int64_t taps, Block& out);
  void emit_one(const Nest& nest, const Env& env, const DroppedBorders* dropped, int64_t taps, Block& out);
  bool has_tap_loop(const Nest& nest, int64_t known_taps) const;
  void emit_tap_loop(const Nest& nest, const std::vector<Env>& channels, const DroppedBorders* dropped,
                     Block& out);
  Expr band_step(const Stage& stage, const Expr& acc, const Expr& weight, const Expr& source) const;
  Expr finish(int s, const Env& env, const Expr& acc, const DroppedBorders* dropped,
              AccessLog* log = nullptr);
  size_t collapsible(const AccessLog& log, const std::vector<Expr>& values, const std::vector<int>& vars,
                     const std::vector<Expr>& extents, bool border_on_outermost) const;
  int lanes_for(const std::vector<Expr>& values) const;

  // ---- lower_box.cpp
  void emit_undivided(const Nest& nest, Block& out);
  bool can_split(const Nest& nest, const Shape& shape) const;
  void emit_split(const Nest& nest, const Shape& shape, const Env& env,
                  const std::function<void(const Expr& low, const Expr& high)>& range, Block& out);

  // ---- lower_reduce.cpp
  bool is_big_reduce(int s) const;
  void emit_big_reduce(int s, Block& out);
  Expr emit_lanes_float(int s, const Env& env, const Place& part, Block& out);
  bool runs_along_reduction(int s, const Env& env, int results);
  void emit_grid_reduce(int s, std::vector<Statement>& phases);
  Env result_axes(int s, Expr index, Block& body);
  Expr emit_reduce_element(int s, const Env& env, const DroppedBorders* dropped, Block& out);
  Expr combine(const Stage& stage, const Expr& acc, const Expr& value) const;
  void emit_leaves(const Expr& elements, Block& out,
                   const std::function<void(const Expr& begin, const Expr& end, Block& block)>& leaf);
  Expr combine_tree(const Stage& stage, std::vector<Expr> lanes) const;
  Expr neutral(const Stage& stage) const;
  bool any_order(const Stage& stage) const;
  size_t collapse_reduce(int s, const Env& env, int channel_axis = -1);
  void flat_reduce_axes(int s, const Expr& n, Env* env, Block& out);

  // ---- lower_reduce_integers.cpp
  LaneBox deal_lanes(int s);
  Place new_partial(int s, const LaneBox& box);
  void emit_integer_reduce(int s, Block& out);
  void clear_partial(int s, const Place& part, Block& out);
  void add_runs(int s, const LaneBox& box, Env env, int part, const Expr& base, Block& out);
  void add_run(int s, const LaneBox& box, const Env& run, const Expr& length, int part, const Expr& base,
               Block& out);
  Block add_blocks(int s, const LaneBox& box, const Env& run, int lane, const std::vector<int>& sums,
                   const Expr& blocks);
  void finish_partial(int s, const LaneBox& box, Env env, int part, const Expr& base, Block& out);
  void for_results(int s, const LaneBox& box,
                   const std::function<void(const Env& env, const Expr& base, Block& body)>& make,
                   Block& out);

  // ---- lower_histogram.cpp
  void clear_counts(int s, Block& out);
  void place_histogram(int s);
  void emit_histogram(int s, std::vector<Statement>& phases);
  void count_box(int s, Block& out);
  void count_elements(int s, Env env, int64_t copy, Block& out);
  /// Where a slice of the elements is counted.
  struct SharedCounts {
    int buffer = -1;
    int64_t copies = 1;
  };
  void count_on_grid(int s, Block& out, const Expr& slice, const SharedCounts& where);
  std::vector<Env> small_domain(int s) const;

  // ---- lower_grid_statistics.cpp
  void emit_sliced_reduce(int s, std::vector<Statement>& phases);
  void emit_sliced_histogram(int s, std::vector<Statement>& phases);
  int64_t copies_in_block(int s) const;
  static int64_t slices();
  Expr slice_loop(int* tile, int64_t bytes);
  Place new_shared(const std::string& name, DType type);
  Phase fill_phase(const std::string& name, int buffer, int64_t count, const Expr& base,
                   const std::function<Expr(const Expr&)>& value);

  // ---- lower_scan.cpp
  void emit_scan(int s, Block& out);
  void emit_grid_scan(int s, std::vector<Statement>& phases);
  Env line_axes(int s, Expr index, Block& out);

  // ---- lower_band_row.cpp
  std::optional<RowBand> match_row_band(int s);
  void prepare_row_band(int s, Block& out);
  void emit_band_rows(int s, std::vector<Expr> fixed, Block& out);
  void emit_band_row(int s, const std::vector<Expr>& fixed, Block& out);

  // ---- variables
  int new_var(DType type);
  int new_loop_var(const Expr& extent, int depth);
  Expr v(int index) const { return var(index, out_.var_types[static_cast<size_t>(index)]); }
  Expr let(const Expr& value, Block& out);
  Expr let_index(const Expr& value, int depth, Block& out);  ///< a variable that offsets may be linear in
  static void push(Block& out, auto node) { out.push_back(Statement{std::move(node), {}}); }

  Kernel kernel_;
  Schedule schedule_;
  ScheduleOptions options_;
  LoopKernel out_;
  Block top_;
  std::unordered_multimap<uint64_t, std::pair<Expr, Expr>> top_values_;
  std::vector<int> depth_;         ///< per variable: nesting depth of loop variables, -1 for others
  std::vector<Expr> loop_extent_;  ///< per variable: loops over [0, extent), or empty
  std::vector<Place> inputs_;
  std::vector<std::vector<Expr>> input_extents_;
  std::vector<std::vector<Expr>> extents_;    ///< of stages, as values on entry
  std::vector<std::optional<Place>> stored_;  ///< where a stage's elements are kept, if they are
  std::vector<std::vector<Place>> places_;    ///< every destination of a stage
  std::vector<std::optional<RowBand>> row_bands_;
  std::vector<std::optional<Counts>> counts_;
  std::vector<int> ring_consumer_;  ///< per stage: who reads its ring, or -1
  std::vector<int> ring_producer_;  ///< per stage: whose ring it reads, or -1
  std::vector<int> beside_;         ///< per stage: before each of whose rows one of its own is made, or -1
  std::vector<std::optional<Ring>>
      rings_;  ///< per reader of a ring that is made beside another: while loops are
  std::unordered_map<int, int64_t>
      param_values_;        ///< parameters whose value the loops being made take for granted
  int reversed_axis_ = -1;  ///< axis that the nest being made walks from its end
  bool specialised_ = false, scalar_only_ = false;  ///< the nest being made is one of emit_specialised()
  DroppedBorders near_;     ///< indices of the nest being made that are reflected once at most
  bool far_ = false;        ///< the nest being made is that for indices further outside
  int present_stage_ = -1;  ///< whose nest is being made for tensors with elements
  int careful_stage_ = -1;  ///< whose nest is being made for empty ones
  const std::set<const ExprNode*>* fills_ = nullptr;  ///< loads that are their fill in the loop being made
  std::optional<Box> box_choice_;                     ///< of the nest being made, whose loops are split by it
  bool may_split_ = true;
  int box_arm_ = 0;               ///< which of the selection's arguments the loop being made stores; 0: none
  const TileBox* box_ = nullptr;  ///< the nest being made is a tile's
  std::vector<std::vector<int>> nest_orders_;  ///< order of a stage's loops where it is not that of its axes
  std::vector<int> readers_;                   ///< stages that read a stage from memory
};

inline constexpr int kVectorDepth = 1000;
inline constexpr int kInnerDepth =
    500;  ///< taps and reduction axes: uniform in lanes, inside the vector loop

/// Whether a node for which `pred` holds is reachable (shared nodes are visited once).
bool any_node(const Expr& e, const std::function<bool(const ExprNode&)>& pred);
/// The same, not looking into the offsets of loads.
bool any_value_node(const Expr& e, const std::function<bool(const ExprNode&)>& pred);
/// Whether a kernel can be placed in a ring for a consumer; used by schedule and lowering alike.
bool ring_is_legal(const Kernel& kernel, int producer, int* consumer);
/// Whether a stage may be made row by row, each just before the row of its only reader that wants it.
bool beside_is_legal(const Kernel& kernel, int producer, int* reader);
/// Why not, in words for explain; empty: it is. `consumer` gets the stage that would read the ring.
std::string ring_objection(const Kernel& kernel, int producer, int* consumer);
/// Calls `visit` with every expression of a stage.
void for_each_stage_expr(const Stage& stage, const std::function<void(const Expr&)>& visit);
/// The value of a reduction over nothing.
Cell neutral_value(Combiner combiner, DType type);

/// Moves what does not change out of loops, and names what is used twice (tidy_loops.cpp).
void tidy(LoopKernel& kernel);
/// Makes branches of choices that are the same for every element of a loop (branch_loops.cpp).
void branch_on_choices(LoopKernel& kernel);

}  // namespace galatea::kernel::lowering
