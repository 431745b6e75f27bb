// Reads of nodes found by evaluating every element, and the windows of read_bounds.h held against them.
//
// Comes in: a graph in which node %y reads the decoded image %x (perhaps through views), and one sample's
// extents and scalars. Goes out: failed expectations where a window is wrong, and how much larger than needed
// it is.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/op/recipe.h"
#include "compiler/values/read_bounds.h"

namespace galatea::testing {

using namespace ir;
using kernel::Expr;
using kernel::ExprKind;
using kernel::SymbolKind;

/// What one sample is: extents of decoded images and the values of draws.
struct Sample {
  int64_t height = 1, width = 1;
  std::map<ValueId, double> elements;
  uint64_t key = 1;
};

/// Evaluates scalars and stages one element at a time, and notes which elements of one value are read.
class Evaluator {
 public:
  Evaluator(const Graph& graph, const Sample& sample) : graph_(graph), sample_(sample) {}

  int64_t scalar(const Expr& e);

  /// Runs a node's stages; every element of `watched` (seen through views) that is read widens the box.
  void run(NodeId id, ValueId watched);
  /// As a backend does that computes every stage whole; gives the elements of the outputs.
  std::vector<Cell> run_whole(NodeId id, const op::Lowering& lowering, ValueId watched);

  int64_t extent(ValueId value, int64_t dim);

  /// The box of what was read.
  bool any = false;
  std::vector<int64_t> low, high;

 private:
  struct Frame {
    const Node* node = nullptr;
    const op::Lowering* lowering = nullptr;
    std::vector<int64_t> axes, reduce_axes;
    int64_t tap = 0;
    Cell acc;
  };
  /// No operation has more than three; without a vector for each of them a run takes half the time.
  using Arguments = std::array<Cell, 3>;

  template <typename F>
  static Arguments arguments(const kernel::ExprNode& e, const F& value);
  static Cell apply(const kernel::ExprNode& e, const Arguments& args);
  template <typename F>
  static void for_box(const std::vector<int64_t>& box, const F& visit);

  void note(const std::vector<int64_t>& at);
  /// Shared parts once.
  Cell scalar_cell(const Expr& e);
  std::vector<int64_t> extents(const std::vector<Expr>& list);
  Cell symbol(const kernel::ExprNode& e);
  Cell eval(const Expr& e, const Frame& frame);
  Cell load(const kernel::ExprNode& e, const Frame& frame);
  /// Follows views to the watched value.
  void read(ValueId value, std::vector<int64_t> at);
  /// Each element once.
  Cell stage_element(const Frame& outer, int index, const std::vector<int64_t>& at);
  Cell compute_element(const Frame& outer, int index, const std::vector<int64_t>& at);

  const Graph& graph_;
  const Sample& sample_;
  ValueId watched_ = kNoId;
  std::unordered_map<const kernel::ExprNode*, std::pair<Expr, Cell>> scalars_;
  std::map<std::pair<int, std::vector<int64_t>>, Cell> elements_;  ///< of the one lowering that is run
};

ValueId named(const Graph& graph, const std::string& variable);

struct Window {
  std::vector<int64_t> begin, end;
};

Window window_of(const values::ReadBounds& bounds, Evaluator& evaluator);

/// Cut down to what is read, the stages give the same elements, and computed whole they read nothing outside
/// of the window.
void check_narrowed(const Graph& graph, const Sample& sample, const Window& window);

/// Both functions on one graph and sample: legal, complete; the slack is what they ask for beyond what is
/// read, in rows and columns.
int64_t check_sample(const Graph& graph, const Sample& sample);

}  // namespace galatea::testing
