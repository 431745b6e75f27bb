// The value table of a graph that is being rewritten, made when somebody first asks for it.
//
// Comes in: a graph, and word of each change to it. Goes out: its table for plans (value_table.h), the same
// for all who ask until the graph changes: the passes that look at windows, and the plan behind them.
#pragma once

#include <memory>
#include <utility>

#include "compiler/values/value_table.h"

namespace galatea::values {

class SharedTable {
 public:
  /// Of a graph that outlives the table and stays where it is.
  explicit SharedTable(const ir::Graph& graph) : graph_(graph) {}
  SharedTable(const SharedTable&) = delete;
  SharedTable& operator=(const SharedTable&) = delete;

  const ValueTable& get() {
    if (!table_) {
      table_ = std::make_unique<ValueTable>(graph_, TableUse::kPlan, std::set<ir::ValueId>(), &known_);
      table_->fill();
    }
    return *table_;
  }
  /// What was found out before of the graph's nodes, as far as they are still as they were.
  op::KnownLowerings& known() { return known_; }
  const op::KnownLowerings& known() const { return known_; }
  /// The graph has changed. References to the table are no longer good.
  void forget() { table_.reset(); }
  /// The table, for one owner; made, if nobody has asked.
  std::unique_ptr<ValueTable> take() {
    get();
    known_.clear();
    return std::move(table_);
  }

 private:
  const ir::Graph& graph_;
  op::KnownLowerings known_;
  std::unique_ptr<ValueTable> table_;
};

}  // namespace galatea::values
