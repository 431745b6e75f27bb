// Scans: prefixes along one axis.
//
// Comes in: a scan stage. Goes out: line after line, in order; lines that lie next to each other run in
// lanes. On a GPU a thread takes a line, or, of integers, a chunk of a line: chunks are combined, then their
// prefixes, then every chunk is walked again from the prefix before it.
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int kLineLanes = 16;
constexpr int64_t kChunks = 32;
constexpr int64_t kShortLine = 64;  ///< lines up to this long are not worth two more barriers

}  // namespace

void Lowering::emit_scan(int s, Block& out) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  const auto along = static_cast<size_t>(stage.scan_axis);
  const bool lines_in_lanes =
      along + 1 < stage.extents.size() && schedule_.stages[i].lanes != LaneMapping::kScalar;
  Env env;
  std::vector<int> vars;
  for (size_t d = 0; d < stage.extents.size(); ++d) {
    const bool lane = lines_in_lanes && d + 1 == stage.extents.size();
    vars.push_back(new_loop_var(extents_[i][d], d == along ? kInnerDepth
                                                : lane     ? kVectorDepth
                                                           : 100 + static_cast<int>(d)));
    env.axes.push_back(v(vars.back()));
  }
  const int acc = new_var(stage.accumulator);
  Block line, step;
  push(step, Assign{acc, combine(stage, v(acc), translate(s, stage.body, env))});
  store(places_[i], env.axes, finish(s, env, v(acc), nullptr), step);
  push(line, Declare{acc, neutral(stage)});
  push(line, For{vars[along], const_int(0), extents_[i][along], LoopRole::kSerial, 1, 1, std::move(step)});
  for (size_t d = vars.size(); d-- > 0;) {
    if (d == along) continue;
    const bool lane = lines_in_lanes && d + 1 == vars.size();
    Block outer;
    push(outer, For{vars[d], const_int(0), extents_[i][d], lane ? LoopRole::kVector : LoopRole::kSerial,
                    lane ? kLineLanes : 1, 1, std::move(line)});
    line = std::move(outer);
  }
  for (Statement& statement : line) out.push_back(std::move(statement));
}

/// The axes of line number `index`; that of the scan is left empty.
Env Lowering::line_axes(int s, Expr index, Block& out) {
  const auto i = static_cast<size_t>(s);
  const auto along = static_cast<size_t>(kernel_.stages[i].scan_axis);
  Env env;
  env.axes.resize(extents_[i].size());
  for (size_t d = extents_[i].size(); d-- > 0;) {
    if (d == along) continue;
    env.axes[d] = let_index(index % extents_[i][d], 100, out);
    index = let_index(index / extents_[i][d], 100, out);
    if (env.axes[d]->kind == ExprKind::kVar)
      loop_extent_[static_cast<size_t>(env.axes[d]->index)] = extents_[i][d];
  }
  return env;
}

void Lowering::emit_grid_scan(int s, std::vector<Statement>& phases) {
  const auto i = static_cast<size_t>(s);
  const Stage& stage = kernel_.stages[i];
  const auto along = static_cast<size_t>(stage.scan_axis);
  const Expr length = extents_[i][along];
  Expr raw_lines = const_int(1), lines = const_int(1);
  for (size_t d = 0; d < stage.extents.size(); ++d) {
    if (d == along) continue;
    raw_lines = raw_lines * max(stage.extents[d], const_int(0));
    lines = lines * max(extents_[i][d], const_int(0));
  }
  lines = top(lines);
  const bool whole_lines = !any_order(stage) || (is_const(length) && const_value(length) <= kShortLine);
  const int64_t chunks = whole_lines ? 1 : kChunks;
  const Expr size = whole_lines ? length : top((length + const_int(chunks - 1)) / const_int(chunks));

  // Walks the elements of the chunk that thread `g` has.
  const auto walk = [&](int g, const Expr& start, bool stores, int acc, Block& body) {
    Expr line = v(g), chunk = const_int(0);
    if (!whole_lines) {
      chunk = let_index(v(g) % const_int(chunks), 60, body);
      line = let_index(v(g) / const_int(chunks), 60, body);
    }
    Env env = line_axes(s, line, body);
    push(body, Declare{acc, start});
    const Expr begin = let(min(chunk * size, length), body), end = let(min(begin + size, length), body);
    const int at = new_loop_var(Expr(), kInnerDepth);
    env.axes[along] = v(at);
    Block step;
    push(step, Assign{acc, combine(stage, v(acc), translate(s, stage.body, env))});
    if (stores) store(places_[i], env.axes, finish(s, env, v(acc), nullptr), step);
    push(body, For{at, begin, end, LoopRole::kSerial, 1, 1, std::move(step)});
  };
  const auto grid = [&](int g, const Expr& count, Block body, const std::string& name) {
    Phase phase{name, {}};
    push(phase.body, For{g, const_int(0), count, LoopRole::kGrid, 1, 1, std::move(body)});
    push(phases, std::move(phase));
  };
  if (whole_lines) {
    const int g = new_loop_var(lines, 50), acc = new_var(stage.accumulator);
    Block body;
    walk(g, neutral(stage), true, acc, body);
    return grid(g, lines, std::move(body), stage.name);
  }
  const Place part = new_scratch(stage.name + "_chunks", stage.accumulator, raw_lines * const_int(chunks));
  const Expr threads = top(lines * const_int(chunks));
  {
    const int g = new_loop_var(threads, 50), acc = new_var(stage.accumulator);
    Block body;
    walk(g, neutral(stage), false, acc, body);
    push(body, Store{part.buffer, v(g), v(acc)});
    grid(g, threads, std::move(body), stage.name + " chunks");
  }
  {
    const int g = new_loop_var(lines, 50), k = new_loop_var(const_int(chunks), kInnerDepth);
    const int before = new_var(stage.accumulator), here = new_var(stage.accumulator);
    const Expr at = v(g) * const_int(chunks) + v(k);
    Block body, step;
    push(body, Declare{before, neutral(stage)});
    push(step, Let{here, load_flat(part.buffer, stage.accumulator, at)});
    push(step, Store{part.buffer, at, v(before)});
    push(step, Assign{before, combine(stage, v(before), v(here))});
    push(body, For{k, const_int(0), const_int(chunks), LoopRole::kSerial, 1, 1, std::move(step)});
    grid(g, lines, std::move(body), stage.name + " prefixes");
  }
  const int g = new_loop_var(threads, 50), acc = new_var(stage.accumulator);
  Block body;
  walk(g, load_flat(part.buffer, stage.accumulator, v(g)), true, acc, body);
  grid(g, threads, std::move(body), stage.name);
}

}  // namespace galatea::kernel::lowering
