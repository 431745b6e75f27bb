// One value for what paths left behind: merges of the graph, made once for the same values at the same join.
//
// Comes in: the values of one variable at the end of each path. Goes out: its value on the join (merges.cpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"
#include "dsl/messages.h"
#include "dsl/value.h"

namespace galatea::dsl {

class Evaluator;
class PixelScope;

/// Where and how values meet.
struct MergeContext {
  ir::BlockId join;
  uint32_t origin;          ///< the region in which the paths parted
  std::vector<Span> spans;  ///< of each arm's last assignment
  Span span;                ///< of the `if`
  std::string_view construct;
  std::string name;  ///< of the variable; empty: a returned or selected value
  size_t depth = 0;  ///< of the leaf in the value
};

class Merges {
 public:
  explicit Merges(Evaluator& evaluator) : ev_(evaluator) {}

  /// Poison after an error.
  Value merge(const std::vector<Value>& values, const MergeContext& context);
  /// Merges of nodes in the graph.
  size_t size() const { return nodes_.size(); }
  /// Another graph begins.
  void forget();
  /// The blocks and values of a pixel function are about to go; their numbers come again.
  void forget(const PixelScope& scope);

 private:
  Value merge_nodes(std::vector<Value> values, const MergeContext& context);
  /// The node of a merge, with its type, unless there is one of the same operands. kNoId after an error.
  ir::ValueId merge_node(ir::BlockId join, const ir::Type& type, const std::vector<ir::ValueId>& operands,
                         const std::string& variable, Span span);
  Value raise(const Value& value, int rank, ir::BlockId join, Span span);
  Value constant(const Value& value, ir::BlockId join, std::optional<DType> dtype, const std::string& device,
                 Span span);
  std::optional<bool> all_equal(const std::vector<Value>& values, Span span);
  Value merge_containers(const std::vector<Value>& values, const MergeContext& context);
  Value merge_sequences(const std::vector<Value>& values, const MergeContext& context, Value& known);
  Value merge_dicts(const std::vector<Value>& values, const MergeContext& context, Value& known);
  Value merge_structs(const std::vector<Value>& values, const MergeContext& context);
  bool note_sources(const std::vector<Value>& values, const Value& merged, const MergeContext& context);
  Value fail(Message message, const std::vector<Value>& values, const MergeContext& context,
             std::vector<std::string> arguments);

  /// A merge of numbers, and of such merges: its type is still that of a number, which promotes.
  struct OfNumbers {
    ir::BlockId join = 0;
    int rank = 0;  ///< 0 bool, 1 int, 2 float
    std::vector<Value> values;
  };

  Evaluator& ev_;
  std::map<std::pair<ir::BlockId, std::vector<ir::ValueId>>, ir::ValueId> nodes_;
  std::map<std::pair<ir::BlockId, std::vector<const Object*>>, Value> objects_;
  std::unordered_map<ir::ValueId, OfNumbers> of_numbers_;
};

}  // namespace galatea::dsl
