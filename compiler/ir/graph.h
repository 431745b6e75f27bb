// Graph IR: blocks are partitions of the batch.
//
// Comes in: what staging builds. Goes out: what passes rewrite and the plan turns into a sample program and
// kernels.
//
// - The graph is an acyclic control-flow graph in SSA form (loops are unrolled while staging). A block is a
// partition of the batch: the samples whose
//   path passes through it. Block 0 is the entry; exactly one block ends in `return`.
// - A value may be used wherever its block dominates. There is no split node; a join block has merges, one
// operand per predecessor
//   (in the order of Block::predecessors).
// - `branch c ^a ^b`: samples whose selector is non-zero go to ^a, the others to ^b. `switch s [^0, ^1, …]`:
// by the selector's value (checked to be in range).
// - Selectors are 0-d. Sources (readers, external inputs) stand in the entry block only.
// - A node may see the samples of the batch that come to its block (Operator::sees_batch): it stays in it.
// - Every node has a source span and the chain of calls; random nodes have a key.
// - Ids stay valid for the life of the graph; removed nodes leave holes (Node::op == nullptr).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "base/result.h"

namespace galatea::op {
struct Operator;
}  // namespace galatea::op

namespace galatea::ir {

using ValueId = uint32_t;
using NodeId = uint32_t;
using BlockId = uint32_t;
inline constexpr uint32_t kNoId = ~uint32_t{0};

enum class Device : uint8_t { kCpu, kGpu };

/// What is known of a value before any data is read. Extents are per sample: -1 where only the run can tell.
struct Type {
  DType dtype = DType::kU8;
  int ndim = 0;
  Layout layout;
  Device device = Device::kCpu;
  std::vector<int64_t> extents;

  bool is_scalar() const { return ndim == 0; }
  /// Number of elements, -1 if unknown.
  int64_t static_volume() const;
  friend bool operator==(const Type&, const Type&) = default;
};
/// "u8[?,?,3] HWC", "f32[]", "f32[224,224,3] HWC gpu".
std::string to_text(const Type& type);

/// A static argument of a node.
struct None {
  None() = default;
  // Not trivial on purpose. libstdc++ takes a variant of strings, vectors and trivial types for one that
  // always has a value, so that a copy for which memory runs out would be destroyed as if it had got one.
  None(const None&) noexcept {}
  None& operator=(const None&) noexcept { return *this; }
  friend bool operator==(None, None) = default;
};
struct AttrList;
struct AttrDict;
using Attr = std::variant<None, bool, int64_t, double, std::string, DType, std::vector<int64_t>,
                          std::vector<double>, std::vector<std::string>, AttrList, AttrDict>;
/// Elements that are not all integers, all numbers with a point or all texts: those lists have alternatives
/// of their own, which list_attr() (attr.h) chooses.
struct AttrList {
  std::vector<Attr> items;
  friend bool operator==(const AttrList& a, const AttrList& b);
};
/// Values by name, in the order in which they were written; names differ.
struct AttrDict {
  std::vector<std::pair<std::string, Attr>> entries;
  friend bool operator==(const AttrDict& a, const AttrDict& b);
};
/// How deep lists and dictionaries may lie in each other, and how many values they may hold in all.
inline constexpr int kMaxAttrDepth = 16;
inline constexpr size_t kMaxAttrValues = 65536;
std::string to_text(const Attr& attr);

/// A named argument: static, or a value per sample.
struct Arg {
  std::string name;
  std::variant<Attr, ValueId> value;
  Span span;

  bool is_value() const { return std::holds_alternative<ValueId>(value); }
  ValueId as_value() const { return std::get<ValueId>(value); }
  const Attr& as_attr() const { return std::get<Attr>(value); }
};

struct Node {
  const op::Operator* op = nullptr;  ///< nullptr: removed
  std::vector<ValueId> inputs;
  std::vector<Arg> args;
  std::vector<ValueId> outputs;
  BlockId block = 0;
  Span span;
  std::vector<CallSite> calls;  ///< innermost first
  uint64_t key = 0;             ///< random operators: hash64(seed, call path), fixed while staging
  bool has_own_seed = false;    ///< seed= was given: the key does not contain the pipeline's seed
  std::string name;             ///< name= of the call, or empty

  const Arg* find_arg(std::string_view arg_name) const;
};

/// What defines a value: output `index` of node `node`, or merge `index` of block `block` (then node ==
/// kNoId).
struct Value {
  Type type;
  NodeId node = kNoId;
  BlockId block = 0;
  uint32_t index = 0;
  std::string variable;  ///< the variable that the text gave it, for people
};

struct Merge {
  ValueId result = kNoId;
  std::vector<ValueId> operands;
  Span span;
};

enum class TerminatorKind : uint8_t { kNone, kJump, kBranch, kSwitch, kReturn };
struct Terminator {
  TerminatorKind kind = TerminatorKind::kNone;
  ValueId selector = kNoId;
  std::vector<BlockId> targets;
  std::vector<ValueId> results;  ///< kReturn: the pipeline's outputs
  Span span;
};

struct Block {
  std::vector<BlockId> predecessors;
  std::vector<Merge> merges;
  std::vector<NodeId> nodes;  ///< in order
  Terminator terminator;
};

enum class OnError : uint8_t { kRaise, kSkip, kReplace };

/// What @pipeline_def and the host set.
struct PipelineOptions {
  int batch_size = 1;
  int num_threads = 1;
  int64_t seed = -1;  ///< negative: drawn when the program is made
  int prefetch_queue_depth = 2;
  bool exact = true;
  OnError on_error = OnError::kRaise;
  int64_t memory_limit = 0;  ///< bytes; 0: none
  std::string device;        ///< where it would like to run: "cpu", "gpu"; empty: it does not say
};

class Graph {
 public:
  std::string name;
  PipelineOptions options;
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<Block> blocks;
  std::vector<std::string> output_names;  ///< variable names of the outputs, for people

  const Value& value(ValueId id) const { return values[id]; }
  const Type& type(ValueId id) const { return values[id].type; }
  const Node& node(NodeId id) const { return nodes[id]; }
  const Block& block(BlockId id) const { return blocks[id]; }
  /// The node that defines a value, or nullptr for a merge.
  const Node* defining_node(ValueId id) const;
  /// The block that ends in return.
  BlockId exit_block() const;
  /// Blocks in an order in which every block follows its predecessors.
  std::vector<BlockId> topological_order() const;
  /// Immediate dominator of each block (entry: itself; unreachable: kNoId).
  std::vector<BlockId> immediate_dominators() const;
  bool dominates(BlockId a, BlockId b) const;
  /// Number of uses of each value (inputs, args, merges, selectors, results).
  std::vector<uint32_t> count_uses() const;
  /// Every use of `from` becomes a use of `to`.
  void replace_uses(ValueId from, ValueId to);
  /// Takes a node out of its block; its outputs must be unused.
  void remove_node(NodeId id);
};

}  // namespace galatea::ir
