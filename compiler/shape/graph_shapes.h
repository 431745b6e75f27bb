// The extents of every value of a graph, as expressions over named unknowns.
//
// Comes in: a graph. Goes out: what its operators' own definitions say of extents and elements
// (values/value_table.h), what is known of the unknowns, and names for people: a decoded image is u8[h,w,3],
// its crop of half the height u8[h/2,w,3]. Two extents with one text are equal for every sample.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/shape/facts.h"
#include "compiler/values/value_table.h"

namespace galatea::shape {

/// What is encoded has no larger extent along an axis of this name than so much.
struct LargestExtent {
  char axis = 0;
  int64_t extent = 0;
};

class GraphShapes {
 public:
  /// `largest`: beside what the native functions that tell extents promise.
  explicit GraphShapes(const ir::Graph& graph, std::vector<LargestExtent> largest = {});
  GraphShapes(const GraphShapes&) = delete;
  GraphShapes& operator=(const GraphShapes&) = delete;

  const values::ValueTable& table() const { return table_; }
  /// table().lowering() is no longer good then.
  void give_lowerings(op::KnownLowerings& known) { table_.give_lowerings(known); }
  Facts& facts() { return facts_; }
  const std::vector<ir::BlockId>& order() const { return order_; }
  /// "u8[h,w,3] HWC".
  const std::string& type_text(ir::ValueId value) const { return types_[value]; }
  const std::vector<std::string>& type_texts() const { return types_; }
  /// An integer of the sample program in terms of the named extents; nothing where they do not suffice.
  std::optional<std::string> number_text(const Expr& e) { return known_text(facts_.polynomial(e), 0); }

 private:
  std::optional<ScalarRange> range_of_symbol(const kernel::ExprNode& symbol);
  std::optional<ScalarRange> range_of_merge(const kernel::ExprNode& symbol);
  void learn_results(const op::NativeScalars& call, const std::vector<LargestExtent>& largest);
  void learn(ir::ValueId value);
  std::string text_of(ir::ValueId value);
  std::string extent_text(const Expr& e, char letter);
  std::optional<std::string> known_text(const Polynomial& p, int depth);
  std::optional<std::string> unknown_text(int number, int depth);
  std::string new_name(char letter);

  const ir::Graph& graph_;
  std::vector<ir::BlockId> order_;
  values::ValueTable table_;
  Facts facts_;
  std::map<int64_t, ScalarRange> locals_;
  std::map<int, std::string> names_;                         ///< of unknowns
  std::map<std::map<Monomial, int64_t>, std::string> sums_;  ///< of sums too long to be shown
  std::map<char, int> used_;
  std::vector<std::string> types_;
};

}  // namespace galatea::shape
