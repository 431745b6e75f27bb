#include "compiler/codegen/kernel_key.h"

#include <fmt/format.h>

#include <bit>

#include "base/checksum.h"
#include "compiler/codegen/build_id.h"
#include "compiler/kernel/form_key.h"
#include "compiler/kernel/key_writer.h"

namespace galatea::codegen {
namespace {

using kernel::Block;
using kernel::Expr;

class LoopsKey {
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
    return key_.take();
  }

 private:
  template <typename T>
  void number(T value) {
    key_.number(value);
  }
  void expr(const Expr& e) { key_.expr(e); }

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

  kernel::KeyWriter key_;
};

std::string head(const char* what, const Target& target) {
  return fmt::format("galatea {}\nbuild {}\ntarget {}{}\n", what, build_id(), target.name(),
                     target.slow_gather ? " slow gather" : "");
}

}  // namespace

std::string kernel_key(const kernel::LoopKernel& loops, const Target& target) {
  return head("kernel", target) + LoopsKey().run(loops);
}

std::string form_key(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options,
                     const Target& target) {
  return head("form", target) + kernel::options_key(options) + kernel::form_key(kernel);
}

std::string hash_name(const std::string& bytes) {
  // The second half starts where the first ended, so the two differ.
  const uint64_t low = checksum(bytes), high = checksum(bytes, low);
  return fmt::format("{:016x}{:016x}", low, high);
}

}  // namespace galatea::codegen
