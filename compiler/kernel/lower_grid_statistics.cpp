// Statistics of a whole image on a GPU: sums, minima and maxima of integers, and histograms.
//
// Comes in: a reduce stage of few results, or a histogram of few bins. Goes out: a loop over kSlots slices of
// the box, each one block's (a kTile loop). A slice is combined in the block's memory, by warps or by atomic
// additions there, and leaves one partial result; a phase combines the slices and finishes. Integers only:
// any grouping gives the same bits. Floats have a tree of sixteen lanes (kernel.h), which is
// lower_reduce.cpp's.
#include <algorithm>

#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kSlots = 16;        ///< slices of the box: blocks that work on one call at a time, at most
constexpr int64_t kSliceLanes = 256;  ///< partial results of a slice: threads of a block
constexpr int64_t kMostCopies = 4;    ///< of a histogram in a block's memory
constexpr int64_t kCountBytes = 12288;  ///< they take so much together

/// Nothing smaller is combined atomically.
DType wide_type(DType type) { return size_of(type) < 4 ? DType::kI32 : type; }

}  // namespace

Expr Lowering::slice_loop(int* tile, int64_t bytes) {
  *tile = new_loop_var(const_int(kSlots), 10);
  const Expr need = const_int((bytes + 15) / 16 * 16);
  out_.block_bytes = out_.block_bytes ? max(out_.block_bytes, need) : need;
  return v(*tile);
}

Place Lowering::new_shared(const std::string& name, DType type) {
  Place place;
  place.buffer = static_cast<int>(out_.buffers.size());
  out_.buffers.push_back({(name.empty() ? "t" : name) + "_" + std::to_string(place.buffer),
                          BufferKind::kShared, type, -1, const_int(kSharedBytes / size_of(type))});
  return place;
}

/// buffer[n] = value(n) for n below `count`.
Phase Lowering::fill_phase(const std::string& name, int buffer, int64_t count, const Expr& base,
                           const std::function<Expr(const Expr&)>& value) {
  Phase phase{name, {}, false};
  const int n = new_loop_var(const_int(count), 50);
  Block body;
  push(body, Store{buffer, base ? base + v(n) : v(n), value(v(n))});
  push(phase.body, For{n, const_int(0), const_int(count), LoopRole::kGrid, 1, 1, std::move(body)});
  return phase;
}

/// Every thread of a block combines elements of its own, warps their threads' results, and what they make is
/// combined in the block's memory.
void Lowering::emit_sliced_reduce(int s, std::vector<Statement>& phases) {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  int64_t results = 1;
  for (const Expr& extent : stage.extents) results *= const_value(extent);
  const DType type = wide_type(stage.accumulator);
  const Place part = new_scratch(stage.name + "_slices", type, const_int(results * kSlots));
  const Place here = new_shared(stage.name + "_slice", type);
  int tile = -1;
  const Expr slice = slice_loop(&tile, results * size_of(type));
  const Expr start = convert(neutral(stage), type);
  const auto from_part = [&](const Expr& at) { return load_flat(part.buffer, type, at); };

  Expr count = const_int(1);
  for (const Expr& extent : stage.reduce_extents) count = count * top(extent);
  count = top(count);
  Block body;
  push(body, fill_phase(stage.name + " clear", here.buffer, results, {}, [&](const Expr&) { return start; }));
  {
    constexpr int64_t kStep = kSliceLanes * kSlots;
    Phase lanes{stage.name + " slice", {}, false};
    const int g = new_loop_var(Expr(), 50), acc = new_var(stage.accumulator),
              b = new_loop_var(Expr(), kInnerDepth);
    Block thread, step;
    const Expr result = let_index(v(g) / const_int(kSliceLanes), 60, thread);
    Env env = result_axes(s, result, thread);
    push(thread, Declare{acc, neutral(stage)});
    const Expr first = let_index(slice * const_int(kSliceLanes) + v(g) % const_int(kSliceLanes), 60, thread);
    const Expr turns =
        let((max(count - first, const_int(0)) + const_int(kStep - 1)) / const_int(kStep), thread);
    flat_reduce_axes(s, v(b) * const_int(kStep) + first, &env, step);
    push(step, Assign{acc, combine(stage, v(acc), translate(s, stage.body, env))});
    push(thread, For{b, const_int(0), turns, LoopRole::kSerial, 1, 1, std::move(step)});
    push(thread, Store{here.buffer, result, convert(v(acc), type), false, true, stage.combiner, true});
    push(lanes.body,
         For{g, const_int(0), const_int(results * kSliceLanes), LoopRole::kGrid, 1, 1, std::move(thread)});
    push(body, std::move(lanes));
  }
  push(body, fill_phase(stage.name + " part", part.buffer, results, slice * const_int(results),
                        [&](const Expr& n) { return load_flat(here.buffer, type, n); }));
  push(phases, For{tile, const_int(0), const_int(kSlots), LoopRole::kTile, 1, 1, std::move(body)});

  Phase total{stage.name, {}, false};
  const int r = new_loop_var(const_int(results), 50), whole = new_var(stage.accumulator),
            i = new_loop_var(Expr(), kInnerDepth);
  Block combined, add;
  const Env at = result_axes(s, v(r), combined);
  push(combined, Declare{whole, neutral(stage)});
  push(add, Assign{whole, combine(stage, v(whole),
                                  convert(from_part(v(i) * const_int(results) + v(r)), stage.accumulator))});
  push(combined, For{i, const_int(0), const_int(kSlots), LoopRole::kSerial, 1, 1, std::move(add)});
  store(places_[static_cast<size_t>(s)], at.axes, finish(s, at, v(whole), nullptr), combined);
  push(total.body, For{r, const_int(0), const_int(results), LoopRole::kGrid, 1, 1, std::move(combined)});
  push(phases, std::move(total));
}

/// Copies of the counts in a block's memory, so that neighbours of one colour do not wait for each other; 0:
/// there is no room for them, or nobody knows.
int64_t Lowering::copies_in_block(int s) const {
  const Stage& stage = kernel_.stages[static_cast<size_t>(s)];
  int64_t elements = 1;
  for (const Expr& extent : stage.extents) {
    if (!is_const(extent) || const_value(extent) < 0) return 0;
    elements *= const_value(extent) + (&extent == &stage.extents.back() ? 1 : 0);
    if (elements > kCountBytes) return 0;
  }
  const int64_t bytes = std::max<int64_t>(elements, 1) * (size_of(stage.accumulator) == 8 ? 8 : 4);
  return std::min(kCountBytes / bytes, kMostCopies);
}

int64_t Lowering::slices() { return kSlots; }

/// A slice of the elements is counted in the block's memory; the copies of the counts stage are the slices.
void Lowering::emit_sliced_histogram(int s, std::vector<Statement>& phases) {
  const auto i = static_cast<size_t>(s);
  const std::string& name = kernel_.stages[i].name;
  const Place& part = *stored_[static_cast<size_t>(counts_[i]->stage)];
  const DType type = out_.buffers[static_cast<size_t>(part.buffer)].type;
  const int64_t copies = copies_in_block(s), elements = const_value(part.strides[0]);
  const Place here = new_shared(name + "_slice", type);
  int tile = -1;
  const Expr slice = slice_loop(&tile, copies * elements * size_of(type));
  const auto own = [&](const Expr& n) { return load_flat(here.buffer, type, n); };
  Block body;
  push(body, fill_phase(name + " clear", here.buffer, copies * elements, {},
                        [&](const Expr&) { return const_int(0, type); }));
  Phase count{name + " slice", {}, false};
  count_on_grid(s, count.body, slice, {here.buffer, copies});
  push(body, std::move(count));
  push(body,
       fill_phase(name + " part", part.buffer, elements, slice * const_int(elements), [&](const Expr& n) {
         Expr sum = own(n);
         for (int64_t c = 1; c < copies; ++c) sum = sum + own(n + const_int(c * elements));
         return sum;
       }));
  push(phases, For{tile, const_int(0), const_int(kSlots), LoopRole::kTile, 1, 1, std::move(body)});
}

}  // namespace galatea::kernel::lowering
