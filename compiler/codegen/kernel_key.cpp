#include "compiler/codegen/kernel_key.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "base/checksum.h"
#include "compiler/codegen/build_id.h"

namespace galatea::codegen {
namespace {

using kernel::Block;
using kernel::Expr;

class KeyWriter {
 public:
  std::string run(const kernel::LoopKernel& loops) {
    number(loops.params.size());
    for (const kernel::KernelParam& param : loops.params) number(param.type);
    number(loops.buffers.size());
    for (const kernel::LoopBuffer& buffer : loops.buffers) {
      number(buffer.kind), number(buffer.type), number(buffer.tensor);
      expr(buffer.elements);
    }
    number(loops.var_types.size());
    for (const DType type : loops.var_types) number(type);
    number(loops.stride_vars.size());
    for (const std::vector<int>& strides : loops.stride_vars) {
      number(strides.size());
      for (const int var : strides) number(var);
    }
    number(static_cast<bool>(loops.block_bytes));
    if (loops.block_bytes) expr(loops.block_bytes);
    block(loops.body);
    return nodes_ + std::move(out_);
  }

 private:
  template <typename T>
  static void put(std::string& to, T value) {
    // Seven bits a byte, the lowest first; negative numbers take ten bytes.
    auto rest = static_cast<uint64_t>(value);
    for (; rest >= 128; rest >>= 7) to.push_back(static_cast<char>(rest | 128));
    to.push_back(static_cast<char>(rest));
  }
  template <typename T>
  void number(T value) {
    put(out_, value);
  }

  void expr(const Expr& e) { number(e ? 1 + id_of(e) : 0); }

  /// Number of a node; equal nodes have one number, wherever they were made.
  uint64_t id_of(const Expr& e) {
    if (auto found = by_address_.find(e.get()); found != by_address_.end()) return found->second;
    std::string text;
    put(text, e->kind), put(text, e->type), put(text, e->op), put(text, e->value.bits), put(text, e->index);
    put(text, e->symbol), put(text, e->a), put(text, e->b);
    put(text, e->target.kind), put(text, e->target.index), put(text, e->border), put(text, e->fill.bits);
    put(text, e->args.size());
    for (const Expr& arg : e->args) put(text, id_of(arg));
    auto [place, is_new] = by_text_.try_emplace(text, by_text_.size());
    if (is_new) nodes_ += text;
    by_address_.emplace(e.get(), place->second);
    return place->second;
  }

  void tables(const kernel::BandTables& t) {
    number(t.first), number(t.weights);
    expr(t.taps), expr(t.taps_stride), expr(t.width), expr(t.src_width);
    number(t.channels), number(t.integer), number(t.source_type), number(t.prepared);
  }

  void write(const kernel::For& loop) {
    number(loop.var), expr(loop.begin), expr(loop.end);
    number(loop.role), number(loop.lanes), number(loop.unroll);
    block(loop.body);
  }
  void write(const kernel::Let& let) { number(let.var), expr(let.value); }
  void write(const kernel::Declare& declare) { number(declare.var), expr(declare.init); }
  void write(const kernel::Assign& assign) { number(assign.var), expr(assign.value); }
  void write(const kernel::Store& store) {
    number(store.buffer), expr(store.offset), expr(store.value), number(store.streaming), number(store.add);
    number(store.combiner), number(store.warp);
  }
  void write(const kernel::If& branch) {
    expr(branch.condition), number(branch.shortcut);
    block(branch.then_body), block(branch.else_body);
  }
  void write(const kernel::Phase& phase) { number(phase.spread), block(phase.body); }
  void write(const kernel::BandPrepare& prepare) { tables(prepare.tables); }
  void write(const kernel::BandRow& row) {
    tables(row.tables);
    number(row.src), expr(row.src_offset), expr(row.src_step);
    number(row.dst), expr(row.dst_offset), expr(row.dst_plane);
    number(std::bit_cast<uint32_t>(row.scale));
  }
  void block(const Block& statements) {
    number(statements.size());
    for (const kernel::Statement& statement : statements) {
      number(statement.node.index());
      std::visit([this](const auto& node) { write(node); }, statement.node);
    }
  }

  std::string nodes_, out_;
  std::unordered_map<const kernel::ExprNode*, uint64_t> by_address_;
  std::unordered_map<std::string, uint64_t> by_text_;
};

}  // namespace

std::string kernel_key(const kernel::LoopKernel& loops, const Target& target) {
  return fmt::format("galatea kernel\nbuild {}\ntarget {}{}\n", build_id(), target.name(),
                     target.slow_gather ? " slow gather" : "") +
         KeyWriter().run(loops);
}

std::string hash_name(const std::string& bytes) {
  // The second half starts where the first ended, so the two differ.
  const uint64_t low = checksum(bytes), high = checksum(bytes, low);
  return fmt::format("{:016x}{:016x}", low, high);
}

}  // namespace galatea::codegen
