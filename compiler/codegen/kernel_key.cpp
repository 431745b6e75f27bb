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

/// Every struct is taken apart by name: a field that is added has to be thought of here.
class LoopsKey {
 public:
  std::string run(const kernel::LoopKernel& loops) {
    const auto& [name, params, buffers, var_types, stride_vars, block_bytes, body] = loops;
    number(params.size());
    for (const auto& [param_name, type] : params) number(type);
    number(buffers.size());
    for (const auto& [buffer_name, kind, type, tensor, elements] : buffers) {
      number(kind), number(type), number(tensor);
      expr(elements);
    }
    number(var_types.size());
    for (const DType type : var_types) number(type);
    number(stride_vars.size());
    for (const std::vector<int>& strides : stride_vars) {
      number(strides.size());
      for (const int var : strides) number(var);
    }
    expr(block_bytes);
    block(body);
    return key_.take();
  }

 private:
  template <typename T>
  void number(T value) {
    key_.number(value);
  }
  void expr(const Expr& e) { key_.expr(e); }

  void write(const kernel::BandTables& tables) {
    const auto& [first, weights, taps, taps_stride, width, src_width, channels, integer, source_type,
                 prepared] = tables;
    number(first), number(weights);
    expr(taps), expr(taps_stride), expr(width), expr(src_width);
    number(channels), number(integer), number(source_type), number(prepared);
  }
  void write(const kernel::For& loop) {
    const auto& [var, begin, end, role, lanes, unroll, body] = loop;
    number(var), expr(begin), expr(end), number(role), number(lanes), number(unroll);
    block(body);
  }
  void write(const kernel::Let& let) {
    const auto& [var, value] = let;
    number(var), expr(value);
  }
  void write(const kernel::Declare& declare) {
    const auto& [var, init] = declare;
    number(var), expr(init);
  }
  void write(const kernel::Assign& assign) {
    const auto& [var, value] = assign;
    number(var), expr(value);
  }
  void write(const kernel::Store& store) {
    const auto& [buffer, offset, value, streaming, add, combiner, warp] = store;
    number(buffer), expr(offset), expr(value), number(streaming), number(add), number(combiner), number(warp);
  }
  void write(const kernel::If& branch) {
    const auto& [condition, then_body, else_body, shortcut] = branch;
    expr(condition), number(shortcut);
    block(then_body), block(else_body);
  }
  void write(const kernel::Phase& phase) {
    const auto& [name, body, spread] = phase;
    number(spread), block(body);
  }
  void write(const kernel::BandPrepare& prepare) {
    const auto& [tables] = prepare;
    write(tables);
  }
  void write(const kernel::BandRow& row) {
    const auto& [tables, src, src_offset, src_step, dst, dst_offset, dst_plane, scale] = row;
    write(tables);
    number(src), expr(src_offset), expr(src_step);
    number(dst), expr(dst_offset), expr(dst_plane);
    number(std::bit_cast<uint32_t>(scale));
  }
  void block(const Block& statements) {
    number(statements.size());
    for (const auto& [node, span] : statements) {
      number(node.index());
      std::visit([this](const auto& form) { write(form); }, node);
    }
  }

  kernel::KeyWriter key_;
};

std::string head(const char* what, const Target& target) {
  const auto& [level, slow_gather] = target;
  return fmt::format("galatea {}\nbuild {}\ntarget {}{}\n", what, build_id(), target.name(),
                     slow_gather ? " slow gather" : "");
}

}  // namespace

std::string kernel_key(const kernel::LoopKernel& loops, const Target& target) {
  return head("kernel", target) + LoopsKey().run(loops);
}

std::string kernel_key(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options,
                       const Target& target) {
  return head("form", target) + kernel::options_key(options) + kernel::form_key(kernel);
}

std::string hash_name(const std::string& bytes) {
  // The second half starts where the first ended, so the two differ.
  const uint64_t low = checksum(bytes), high = checksum(bytes, low);
  return fmt::format("{:016x}{:016x}", low, high);
}

}  // namespace galatea::codegen
