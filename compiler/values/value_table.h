// What is known of every value of a graph: its extents and elements as scalar expressions, or the slot that
// the plan has given it.
//
// Comes in: a graph and the lowering of each node. Goes out: ValueInfo per value, and resolve(), which
// rewrites symbols until only those remain that need an instruction (extents of slots, elements in memory,
// draws).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/known_lowerings.h"
#include "compiler/op/recipe.h"
#include "compiler/values/early_checks.h"
#include "compiler/values/read_bounds.h"

namespace galatea::values {

using kernel::Expr;

/// Values of at most this many elements, known before the run, live in registers.
inline constexpr int64_t kMaxScalarElements = 32;
/// And are made of at most this many elements of the stages before them. What each stage reads several times, as a
/// Fourier transform's passes do, grows with every stage; it is left to a kernel.
inline constexpr int kMaxElementsTaken = 1 << 14;

struct ValueInfo {
  bool scalar =
      false;  ///< elements are expressions (row-major); nothing is stored unless somebody needs memory
  std::vector<Expr> elements;
  std::shared_ptr<const runtime::ConstantTensor> constant;  ///< a tensor of the program: elements are known
  std::vector<Expr> extents;  ///< resolved; kExtent symbols of this very value where only the slot can tell
  int slot = -1;              ///< assigned when emitted
  int dense_axes = 0;         ///< innermost axes known to be dense
  /// One range per dimension: only this window is computed, and memory holds no more (region_from); an empty
  /// list: all of it.
  std::vector<Range> window;
};

/// What the table is for.
enum class TableUse : uint8_t {
  kPlan,      ///< instructions: every expression can be computed by them
  kAnalysis,  ///< extents and checks of a graph of any size: a large expression becomes a symbol
              ///< (original()), and a merge has the extents that its operands share
};

class ValueTable {
 public:
  /// `stored`: values that lie in memory however small they are (device_branches.h). `known`: lowerings of
  /// this graph, needed no longer than until the table is filled; may be null.
  explicit ValueTable(const ir::Graph& graph, TableUse use = TableUse::kPlan,
                      std::set<ir::ValueId> stored = {}, const op::KnownLowerings* known = nullptr);
  /// Lowers every node, in topological order, and fills the table.
  void fill();
  const op::Lowering& lowering(ir::NodeId node) const { return lowerings_[node]; }
  /// kAnalysis: hands on what the definitions said; lowering() is no longer good.
  void give_lowerings(op::KnownLowerings& known);
  ValueInfo& info(ir::ValueId value) { return values_[value]; }
  const ValueInfo& info(ir::ValueId value) const { return values_[value]; }
  /// Rewrites kExtent and kElement symbols to what is known of their values.
  Expr resolve(const Expr& e) const;
  /// The element of a value as an expression: its scalar, or a kElement symbol.
  Expr element(ir::ValueId value, int64_t flat_index) const;
  /// kAnalysis: what a kExtent or kElement symbol stands for; empty where it stands for itself.
  Expr original(const kernel::ExprNode& symbol) const;
  /// Of a plan with a GPU: checks that wait for nothing hold where a kernel makes what they ask about.
  void settle_checks_at_hand();
  /// As before anything was emitted.
  void forget_slots() {
    for (ValueInfo& info : values_) info.slot = -1;
  }
  /// What RecipeBuilder::scale() is for a node that is marked `scaled_for`; empty for other nodes.
  Expr scale(ir::NodeId node) const;
  /// A device may do the work of these nodes' native functions (plan/offer_work.h).
  void offer(std::vector<bool> nodes);
  bool is_offered(ir::NodeId node) const { return node < offered_.size() && offered_[node]; }
  /// Whether memory may hold a part only: of the value, or of what it is a view or a merge of, a window is
  /// all that is computed. Whoever takes the value as it is would read what was never made.
  bool is_part(ir::ValueId value) const { return value < is_part_.size() && is_part_[value]; }
  /// kPlan: checks that are made where blocks begin; what they demand holds behind them.
  const EarlyChecks& early_checks() const { return early_; }
  const ir::Graph& graph() const { return graph_; }
  op::Lineage& lineage() { return lineage_; }

 private:
  void change();
  Expr resolve_symbol(const kernel::ExprNode& symbol) const;
  void resolve_lowering(op::Lowering& lowering) const;
  bool is_at_hand(const Expr& e, std::set<ir::ValueId>& seen) const;
  bool is_at_hand(ir::ValueId value, std::set<ir::ValueId>& seen) const;
  void shorten(ir::ValueId value);
  void fill_merge(const ir::Merge& merge);
  void fill_node(ir::NodeId node);
  void narrow_to_windows();
  void keep_window(ir::NodeId node, const std::vector<Range>& ranges);
  void fill_density();
  int dense_axes_of_view(ir::NodeId node, const op::LoweredOutput& output) const;
  void fill_output(ir::NodeId node, size_t k);
  /// Elements of a small stage output evaluated at staging level; nullopt where it reads large tensors.
  std::optional<std::vector<Expr>> scalarize(ir::NodeId node, const op::LoweredOutput& output) const;
  std::optional<Expr> stage_element(ir::NodeId node, int stage, const std::vector<Expr>& indices,
                                    int depth) const;
  std::optional<Expr> substitute(ir::NodeId node, const Expr& body, const std::vector<Expr>& axes,
                                 const std::vector<Expr>& reduce_axes, int depth) const;
  std::optional<Expr> reduce_element(ir::NodeId node, const kernel::Stage& stage,
                                     const std::vector<Expr>& axes, int depth) const;
  std::optional<Expr> load_element(ir::NodeId node, const kernel::ExprNode& load, std::vector<Expr> indices,
                                   int depth) const;

  const ir::Graph& graph_;
  TableUse use_;
  std::set<ir::ValueId> stored_;
  const op::KnownLowerings* known_;
  op::Lineage lineage_;
  std::vector<op::Lowering> lowerings_;
  std::vector<ValueInfo> values_;
  std::map<std::tuple<kernel::SymbolKind, int64_t, int64_t>, Expr> originals_;
  std::vector<bool> offered_;
  std::vector<bool> is_part_;
  EarlyChecks early_;
  mutable int elements_taken_ = 0;  ///< since scalarize() began
  /// What resolve() made of each node while no value changes, and the expressions that own those nodes.
  bool is_steady_ = false;
  mutable kernel::NodeMap<Expr> resolved_;
  mutable std::vector<Expr> resolved_roots_;
};

/// Row-major position; empty where an index is not a constant.
std::optional<int64_t> constant_position(const std::vector<Expr>& indices,
                                         const std::vector<int64_t>& extents);

}  // namespace galatea::values
