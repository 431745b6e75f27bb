// Reductions of integers to few results: any order gives the same bits.
//
// Comes in: a reduce stage. Goes out: partial results, one a lane, and their combination. Channels of
// interleaved pixels are reduced together: as many registers as there are channels take a run of pixels as it
// lies, so that each lane meets one channel only. What does not fill the registers is combined with partial
// results in memory.
//
// Off, channel by channel, `normalize` of bytes takes 1.07 times as long at 224 x 224; without sums of fewer
// bits, of which a register has more lanes, it takes 1.07 times as long with AVX2, 1.04 with AVX-512
// (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kRunLanes = 64;  ///< where the whole box is one run: many sums that do not wait for another
constexpr int64_t kRowLanes = 16;  ///< of rows: less is left at the end of each
constexpr int64_t kSumRegisters = 8;
constexpr int64_t kMostSumChannels = 4;

/// Sums of 64 bits whose values have few: so many bytes of a narrower sum hold 2^(8 * bytes) / 2 of them, of
/// which a register has more lanes.
DType narrow_sum(const Stage& stage) {
  const bool wide = stage.accumulator == DType::kI64 || stage.accumulator == DType::kU64;
  if (!wide || stage.combiner != Combiner::kSum || stage.body->kind != ExprKind::kOp)
    return stage.accumulator;
  if (stage.body->op != ScalarOp::kConvert || stage.body->type != stage.accumulator) return stage.accumulator;
  const DType from = stage.body->args[0].type();
  return from == DType::kU8 ? DType::kU16 : from == DType::kU16 ? DType::kU32 : stage.accumulator;
}

/// How many values of half as many bits its sum holds for certain.
int64_t values_held(DType narrow) { return int64_t{1} << (4 * size_of(narrow)); }

}  // namespace

LaneBox Lowering::deal_lanes(int s) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  Env env;
  for (const Expr& extent : extents_[static_cast<size_t>(s)])
    env.axes.push_back(v(new_loop_var(extent, 100 + static_cast<int>(env.axes.size()))));
  LaneBox box;
  box.flat = collapse_reduce(s, env);
  for (size_t axis = stage.extents.size(); axis-- > 0 && box.channel_axis < 0;) {
    const Expr& extent = stage.extents[axis];
    if (!is_const(extent) || const_value(extent) < 2 || const_value(extent) > kMostSumChannels) continue;
    const size_t together = collapse_reduce(s, env, static_cast<int>(axis));
    if (together < 2) continue;
    box.flat = together - 1;
    box.channel_axis = static_cast<int>(axis);
    box.channels = const_value(extent);
  }
  box.lanes = box.flat == stage.reduce_extents.size() ? kRunLanes : kRowLanes;
  const int64_t most = kSumRegisters * options_.vector_bits / 8;
  while (box.lanes > kRowLanes && box.partial() * size_of(narrow_sum(stage)) > most) box.lanes /= 2;
  return box;
}

/// Memory for the partial results of all results.
Place Lowering::new_partial(int s, const LaneBox& box) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  int64_t results = 1;
  for (const Expr& extent : stage.extents) results *= const_value(extent);
  return new_scratch(stage.name + "_lanes", stage.accumulator,
                     const_int(results / box.channels * box.partial()));
}

/// Loops over the results of a reduction, channels apart, which stay together; `base` is where the partial
/// ones of a result begin.
void Lowering::for_results(int s, const LaneBox& box,
                           const std::function<void(const Env& env, const Expr& base, Block& body)>& make,
                           Block& out) {
  const std::vector<Expr>& extents = extents_[static_cast<size_t>(s)];
  Env env;
  std::vector<std::pair<int, Expr>> loops;
  Expr number = const_int(0);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (static_cast<int>(d) == box.channel_axis) {
      env.axes.push_back(const_int(0));
      continue;
    }
    loops.emplace_back(new_loop_var(extents[d], 300 + static_cast<int>(d)), extents[d]);
    env.axes.push_back(v(loops.back().first));
    number = number * extents[d] + env.axes.back();
  }
  Block body;
  make(env, number * const_int(box.partial()), body);
  for (size_t d = loops.size(); d-- > 0;) {
    Block loop;
    push(loop, For{loops[d].first, const_int(0), loops[d].second, LoopRole::kSerial, 1, 1, std::move(body)});
    body = std::move(loop);
  }
  for (Statement& statement : body) out.push_back(std::move(statement));
}

void Lowering::emit_integer_reduce(int s, Block& out) {
  const LaneBox box = deal_lanes(s);
  const Place part = new_partial(s, box);
  clear_partial(s, part, out);
  for_results(
      s, box,
      [&](const Env& env, const Expr& base, Block& body) {
        add_runs(s, box, env, part.buffer, base, body);
        finish_partial(s, box, env, part.buffer, base, body);
      },
      out);
}

void Lowering::clear_partial(int s, const Place& part, Block& out) {
  const int n = new_loop_var(Expr(), kVectorDepth);
  Block clear;
  push(clear, Store{part.buffer, v(n), neutral(kernel_.stages[static_cast<size_t>(s)])});
  push(out, For{n, const_int(0), out_.buffers[static_cast<size_t>(part.buffer)].elements, LoopRole::kVector,
                static_cast<int>(kRowLanes), 1, std::move(clear)});
}

/// Adds the box, run by run.
void Lowering::add_runs(int s, const LaneBox& box, Env env, int part, const Expr& base, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const size_t rank = stage.reduce_extents.size();
  env.reduce_axes.resize(rank, const_int(0));
  Expr length = const_int(box.channels);
  std::vector<std::pair<int, Expr>> loops;
  for (size_t d = 0; d < rank; ++d) {
    const Expr extent = top(stage.reduce_extents[d]);
    if (d >= rank - box.flat) {
      length = extent * length;
      continue;
    }
    loops.emplace_back(new_loop_var(extent, kInnerDepth), extent);
    env.reduce_axes[d] = v(loops.back().first);
  }
  Block body;
  add_run(s, box, env, top(length), part, base, body);
  for (size_t d = loops.size(); d-- > 0;) {
    Block loop;
    push(loop, For{loops[d].first, const_int(0), loops[d].second, LoopRole::kSerial, 1, 1, std::move(body)});
    body = std::move(loop);
  }
  for (Statement& statement : body) out.push_back(std::move(statement));
}

/// Adds a run of `length` elements, channels included, to the partial results.
void Lowering::add_run(int s, const LaneBox& box, const Env& run, const Expr& length, int part,
                       const Expr& base, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const Expr blocks = top(length / const_int(box.partial())), whole = top(blocks * const_int(box.partial()));
  const int lane = new_loop_var(Expr(), kVectorDepth);
  const auto place = [&](int64_t channel) { return base + v(lane) + const_int(channel * box.lanes); };
  Block registers;
  std::vector<int> sums;
  for (int64_t c = 0; c < box.channels; ++c) {
    sums.push_back(new_var(stage.accumulator));
    push(registers, Declare{sums.back(), load_flat(part, stage.accumulator, place(c))});
  }
  for (Statement& statement : add_blocks(s, box, run, lane, sums, blocks))
    registers.push_back(std::move(statement));
  for (int64_t c = 0; c < box.channels; ++c)
    push(registers, Store{part, place(c), v(sums[static_cast<size_t>(c)])});
  const int lanes = static_cast<int>(box.lanes);
  push(out, For{lane, const_int(0), const_int(box.lanes), LoopRole::kVector, lanes, 1, std::move(registers)});

  const int left = new_loop_var(Expr(), kVectorDepth);
  Env inner = run;
  (box.channel_axis < 0 ? inner.reduce_axes.back() : inner.axes[static_cast<size_t>(box.channel_axis)]) =
      whole + v(left);
  Block rest;
  const Expr at = base + v(left);
  push(rest, Store{part, at,
                   combine(stage, load_flat(part, stage.accumulator, at), translate(s, stage.body, inner))});
  push(out, For{left, const_int(0), top(length - whole), LoopRole::kVector, lanes, 1, std::move(rest)});
}

/// Combines so many blocks of the run with `sums`, of which there is one a channel, in lane `lane`.
Block Lowering::add_blocks(int s, const LaneBox& box, const Env& run, int lane, const std::vector<int>& sums,
                           const Expr& blocks) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const int b = new_loop_var(Expr(), kInnerDepth);
  const auto element = [&](size_t part) {
    Env inner = run;
    (box.channel_axis < 0 ? inner.reduce_axes.back() : inner.axes[static_cast<size_t>(box.channel_axis)]) =
        v(b) * const_int(box.partial()) + v(lane) + const_int(static_cast<int64_t>(part) * box.lanes);
    return inner;
  };
  Block body, out;
  const DType narrow = narrow_sum(stage);
  if (narrow == stage.accumulator) {
    for (size_t c = 0; c < sums.size(); ++c)
      push(body, Assign{sums[c], combine(stage, v(sums[c]), translate(s, stage.body, element(c)))});
    push(out, For{b, const_int(0), blocks, LoopRole::kSerial, 1, 1, std::move(body)});
    return out;
  }
  const Expr held = const_int(values_held(narrow));
  const int chunk = new_loop_var(Expr(), kInnerDepth);
  Block chunk_body;
  std::vector<int> small;
  for (size_t c = 0; c < sums.size(); ++c) {
    small.push_back(new_var(narrow));
    push(chunk_body, Declare{small[c], const_int(0, narrow)});
    push(body,
         Assign{small[c], v(small[c]) + convert(translate(s, stage.body->args[0], element(c)), narrow)});
  }
  const Expr from = v(chunk) * held;
  push(chunk_body, For{b, from, min(from + held, blocks), LoopRole::kSerial, 1, 1, std::move(body)});
  for (size_t c = 0; c < sums.size(); ++c)
    push(chunk_body, Assign{sums[c], v(sums[c]) + convert(v(small[c]), stage.accumulator)});
  push(out, For{chunk, const_int(0), (blocks + held - const_int(1)) / held, LoopRole::kSerial, 1, 1,
                std::move(chunk_body)});
  return out;
}

/// Partial results become results.
void Lowering::finish_partial(int s, const LaneBox& box, Env env, int part, const Expr& base, Block& out) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  const int total = new_var(stage.accumulator), i = new_loop_var(Expr(), kInnerDepth);
  Expr first = base;
  int channel = -1;
  if (box.channel_axis >= 0) {
    channel = new_loop_var(const_int(box.channels), kInnerDepth - 1);
    env.axes[static_cast<size_t>(box.channel_axis)] = v(channel);
    first = base + v(channel);
  }
  Block body, sum;
  push(body, Declare{total, neutral(stage)});
  push(sum,
       Assign{total, combine(stage, v(total),
                             load_flat(part, stage.accumulator, first + v(i) * const_int(box.channels)))});
  push(body, For{i, const_int(0), const_int(box.lanes), LoopRole::kSerial, 1, 1, std::move(sum)});
  store(places_[static_cast<size_t>(s)], env.axes, finish(s, env, v(total), nullptr), body);
  if (channel < 0) return void(std::move(body.begin(), body.end(), std::back_inserter(out)));
  push(out, For{channel, const_int(0), const_int(box.channels), LoopRole::kSerial, 1, 1, std::move(body)});
}

}  // namespace galatea::kernel::lowering
