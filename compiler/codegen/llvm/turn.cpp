// Rows for columns: blocks of pixels turned in registers.
//
// Comes in: a loop over rows around a vector loop that copies whole pixels, where the source lies the other
// way: what neighbours in a row of the destination are a row apart in the source. Goes out: blocks of N x N
// pixels, N loads and N stores of runs with shuffles in between; the last block of a row, or of a column,
// lies over the one before it and stores the same once more. Images smaller than a block, and types whose
// pixel fills no part of a register, keep the plain loop.
//
// In a register a pixel takes a lane of 1, 2, 4, 8 or 16 bytes: those of three elements are spread to four. A
// block has as many rows as a register has lanes, 16 at most. First lanes are interleaved inside of parts of
// 128 bits, which every processor has an instruction for, then the parts change places.
//
// Off, `transpose WHC` takes 1.75 times as long on bytes and 1.6 times on floats at 224 x 224 (`./dev bench
// per-op`, 2-core AMD EPYC, Zen 5).
#include <algorithm>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int kLaneBytes = 16;  ///< bytes in which lanes are interleaved
constexpr int kMostRows = 16;   ///< of a block
using Mask = llvm::SmallVector<int, 64>;

/// What stands before the vector loop, by variable.
using Lets = std::vector<std::pair<int, kernel::Expr>>;

kernel::Expr substitute(const kernel::Expr& e, const Lets& lets) {
  kernel::Expr out = e;
  for (size_t i = lets.size(); i-- > 0;)
    out = kernel::rewrite(out, [&](const kernel::Expr& node) {
      return node->kind == kernel::ExprKind::kVar && node->index == lets[i].first ? lets[i].second
                                                                                  : kernel::Expr();
    });
  return out;
}

/// An offset as uniform + row * y + column * x + constant; false if it is not like that.
struct Walk {
  kernel::Expr uniform, row, column;
  int64_t constant = 0;
};

bool match_walk(const kernel::Expr& offset, int row_var, int column_var, const std::vector<bool>& varying,
                Walk* out) {
  kernel::VectorOffset by_column, by_row;
  if (!kernel::match_vector_offset(offset, column_var, varying, &by_column) || !by_column.scale) return false;
  if (kernel::uses_var(by_column.scale, row_var) || !by_column.uniform) return false;
  if (!kernel::match_vector_offset(by_column.uniform, row_var, varying, &by_row) || !by_row.scale)
    return false;
  *out = {by_row.uniform, by_row.scale, by_column.scale, by_column.constant + by_row.constant};
  return true;
}

bool same_or_empty(const kernel::Expr& a, const kernel::Expr& b) {
  return !a == !b && (!a || kernel::same(a, b));
}

}  // namespace

/// What the loop copies, if it turns pixels: its variable counts rows of the destination.
std::optional<FunctionEmitter::Turn> FunctionEmitter::match_turn(const kernel::For& rows) const {
  if (rows.role != kernel::LoopRole::kSerial || rows.body.empty()) return std::nullopt;
  Lets lets;
  for (size_t i = 0; i + 1 < rows.body.size(); ++i) {
    const auto* let = std::get_if<kernel::Let>(&rows.body[i].node);
    if (!let) return std::nullopt;
    lets.emplace_back(let->var, let->value);
  }
  const auto* columns = std::get_if<kernel::For>(&rows.body.back().node);
  if (!columns || columns->role != kernel::LoopRole::kVector || columns->lanes <= 1) return std::nullopt;
  const size_t s = columns->body.size();
  if (s < 1 || s > static_cast<size_t>(kMaxInterleaved)) return std::nullopt;
  Turn out;
  out.columns = columns;
  out.elements = static_cast<int>(s);
  Walk to, from;
  for (size_t c = 0; c < s; ++c) {
    const auto* store = std::get_if<kernel::Store>(&columns->body[c].node);
    if (!store || store->add || store->value->kind != kernel::ExprKind::kLoadFlat) return std::nullopt;
    const kernel::ExprNode& load = *store->value;
    const auto source = static_cast<size_t>(load.index), target = static_cast<size_t>(store->buffer);
    if (store->buffer == load.index || is_bool(load.type) || load.type != kernel_.buffers[source].type ||
        load.type != kernel_.buffers[target].type)
      return std::nullopt;
    Walk a, b;
    if (!match_walk(substitute(store->offset, lets), rows.var, columns->var, varying_, &a) ||
        !match_walk(substitute(load.args[0], lets), rows.var, columns->var, varying_, &b))
      return std::nullopt;
    if (c == 0) {
      out.from = load.index;
      out.to = store->buffer;
      to = a;
      from = b;
    }
    const auto step = static_cast<int64_t>(c);
    if (load.index != out.from || store->buffer != out.to || a.constant != to.constant + step ||
        b.constant != from.constant + step || !same_or_empty(a.uniform, to.uniform) ||
        !same_or_empty(b.uniform, from.uniform) || !kernel::same(a.row, to.row) ||
        !kernel::same(a.column, to.column) || !kernel::same(b.row, from.row) ||
        !kernel::same(b.column, from.column))
      return std::nullopt;
  }
  const auto pixel = static_cast<int64_t>(s);
  if (!kernel::is_const(to.column) || kernel::const_value(to.column) != pixel ||
      !kernel::is_const(from.row) || std::abs(kernel::const_value(from.row)) != pixel)
    return std::nullopt;
  // Rows of the source that lie this close are read as runs anyway.
  if (kernel::is_const(from.column) && std::abs(kernel::const_value(from.column)) <= kMaxInterleaved)
    return std::nullopt;
  for (const Expr& bound : {columns->begin, columns->end})
    if (kernel::uses_var(substitute(bound, lets), rows.var)) return std::nullopt;
  out.begin = substitute(columns->begin, lets);
  out.end = substitute(columns->end, lets);
  out.to_start = to.uniform;
  out.from_start = from.uniform;
  out.to_constant = to.constant;
  out.from_constant = from.constant;
  out.to_step = to.row;
  out.from_step = from.column;
  out.backwards = kernel::const_value(from.row) < 0;
  // Lanes of a block.
  const int size = size_of(kernel_.buffers[static_cast<size_t>(out.from)].type);
  out.lane = size * (s == 3 ? 4 : out.elements);
  if (out.lane > kLaneBytes) return std::nullopt;
  const int in_part = kLaneBytes / out.lane;
  out.parts = std::min(target_.vector_bits() / 8 / kLaneBytes, kMostRows / in_part);
  if (in_part * out.parts < 2) return std::nullopt;
  return out;
}

/// Lanes of `lane` bytes become columns inside of parts of 128 bits: part p of register c, of as many as a
/// part has lanes, gets lane c of part p of each.
std::vector<llvm::Value*> FunctionEmitter::turn_in_parts(std::vector<Value*> rows, int lane, int parts) {
  const int in_part = kLaneBytes / lane, unit = std::min(lane, 8), units = lane / unit;
  const int n = in_part * parts;
  llvm::Type* type = vector_of(builder_.getIntNTy(static_cast<unsigned>(8 * unit)), n * units);
  for (Value*& row : rows) row = builder_.CreateBitCast(row, type);
  // Interleaving register i with register i + half as often as it takes turns them all.
  const auto interleave = [&](Value* a, Value* b, int first) {
    Mask mask;
    for (int part = 0; part < parts; ++part)
      for (int i = 0; i < in_part / 2; ++i)
        for (const int source : {0, n}) mask.push_back(source + part * in_part + first + i);
    return builder_.CreateShuffleVector(a, b, mask);
  };
  for (int done = 1; done < in_part; done *= 2) {
    std::vector<Value*> next;
    for (size_t i = 0; i < rows.size() / 2; ++i)
      for (const int half : {0, in_part / 2})
        next.push_back(interleave(rows[i], rows[i + rows.size() / 2], half));
    rows = std::move(next);
  }
  return rows;
}

/// Rows of registers become their columns: lane i of row k is lane k of row i.
std::vector<llvm::Value*> FunctionEmitter::turn_lanes(std::vector<Value*> rows, int lane, int parts) {
  const int in_part = kLaneBytes / lane, unit = std::min(lane, 8);
  const auto group = static_cast<size_t>(in_part);
  for (auto first = rows.begin(); first != rows.end(); first += in_part) {
    const std::vector<Value*> turned = turn_in_parts({first, first + in_part}, lane, parts);
    std::copy(turned.begin(), turned.end(), first);
  }
  // Parts: register c of each group has column part * in_part + c in each part.
  const int halves = kLaneBytes / unit;  // elements of a part
  const auto pick = [&](Value* a, Value* b, std::initializer_list<int> chosen) {
    Mask mask;
    for (const int part : chosen)
      for (int i = 0; i < halves; ++i) mask.push_back(part * halves + i);
    return builder_.CreateShuffleVector(a, b, mask);
  };
  std::vector<Value*> out(rows.size());
  for (size_t c = 0; c < group; ++c) {
    const auto at = [&](size_t part) { return rows[part * group + c]; };
    const auto place = [&](size_t part) -> Value*& { return out[part * group + c]; };
    if (parts == 4) {
      Value *low01 = pick(at(0), at(1), {0, 1, 4, 5}), *high01 = pick(at(0), at(1), {2, 3, 6, 7});
      Value *low23 = pick(at(2), at(3), {0, 1, 4, 5}), *high23 = pick(at(2), at(3), {2, 3, 6, 7});
      place(0) = pick(low01, low23, {0, 2, 4, 6});
      place(1) = pick(low01, low23, {1, 3, 5, 7});
      place(2) = pick(high01, high23, {0, 2, 4, 6});
      place(3) = pick(high01, high23, {1, 3, 5, 7});
    } else if (parts == 2) {
      place(0) = pick(at(0), at(1), {0, 2});
      place(1) = pick(at(0), at(1), {1, 3});
    } else {
      place(0) = at(0);
    }
  }
  return out;
}

/// Pixels of three elements, one after the other, each to a lane of four; or back.
llvm::Value* FunctionEmitter::spread_pixels(Value* run, int lane, int parts, bool back) {
  const int bytes = kLaneBytes * parts, element = lane / 4;
  const auto shuffle = [&](Value* value, int unit, const Mask& mask) {
    llvm::Type* type = vector_of(builder_.getIntNTy(static_cast<unsigned>(8 * unit)), bytes / unit);
    return builder_.CreateShuffleVector(builder_.CreateBitCast(value, type), mask);
  };
  const auto in_run = [&](int at) { return at / lane * 3 * element + at % lane; };  // of a byte in lanes
  if (target_.vnni_vbmi() && element == 1) {
    Mask mask(static_cast<size_t>(bytes), 0);
    for (int at = 0; at < bytes; ++at) {
      if (at % lane >= 3 * element) continue;
      (back ? mask[static_cast<size_t>(in_run(at))] : mask[static_cast<size_t>(at)]) = back ? at : in_run(at);
    }
    return shuffle(run, 1, mask);
  }
  // 12 bytes of the run are a part; then its pixels take their lanes.
  Mask words(static_cast<size_t>(bytes / 4), 0), inside(static_cast<size_t>(bytes), 0);
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < 4; ++i) {
      const int lanes_at = part * 4 + i, run_at = part * 3 + i;
      if (!back)
        words[static_cast<size_t>(lanes_at)] = std::min(run_at, bytes / 4 - 1);
      else if (i < 3)
        words[static_cast<size_t>(run_at)] = lanes_at;
    }
    for (int at = 0; at < kLaneBytes; ++at) {
      inside[static_cast<size_t>(part * kLaneBytes + at)] = part * kLaneBytes;
    }
    for (int at = 0; at < kLaneBytes; ++at)
      if (at % lane < 3 * element)
        inside[static_cast<size_t>(part * kLaneBytes + (back ? in_run(at) : at))] =
            part * kLaneBytes + (back ? at : in_run(at));
  }
  if (!back) run = shuffle(run, 4, words);
  if (lane < kLaneBytes) run = shuffle(run, 1, inside);
  return back ? shuffle(run, 4, words) : run;
}

/// The pixels at the row and column of the destination.
void FunctionEmitter::emit_turned_block(const Turn& turn, const TurnPlaces& at, Value* row, Value* column) {
  const int pixels = turn.pixels();
  const auto elements = int64_t{turn.elements};
  const auto type = kernel_.buffers[static_cast<size_t>(turn.from)].type;
  const int size = size_of(type);
  const llvm::Align align(static_cast<uint64_t>(size));
  Value* from = builder_.CreateMul(row, i64(turn.backwards ? -elements : elements));
  from = builder_.CreateAdd(from, builder_.CreateMul(column, at.from_step));
  from = builder_.CreateAdd(builder_.CreateAdd(at.from, from),
                            i64(turn.backwards ? -elements * (pixels - 1) : 0));
  Value* to =
      builder_.CreateAdd(builder_.CreateMul(row, at.to_step), builder_.CreateMul(column, i64(elements)));
  to = builder_.CreateAdd(at.to, to);
  const int bytes = turn.parts * kLaneBytes;
  llvm::Type* vector = vector_of(memory_type(type), bytes / size);
  std::vector<Value*> lines;
  for (int i = 0; i < pixels; ++i) {
    // Not tagged: with three elements a pixel the register ends behind the run, perhaps in the padding.
    Value* run = builder_.CreateAlignedLoad(vector, address(turn.from, from), align);
    lines.push_back(turn.elements == 3 ? spread_pixels(run, turn.lane, turn.parts, false) : run);
    from = builder_.CreateAdd(from, at.from_step);
  }
  lines = turn_lanes(std::move(lines), turn.lane, turn.parts);
  if (turn.backwards) std::reverse(lines.begin(), lines.end());
  const int stored = pixels * turn.elements;
  for (Value* line : lines) {
    if (turn.elements == 3) line = spread_pixels(line, turn.lane, turn.parts, true);
    line = builder_.CreateBitCast(line, vector);
    Value* pointer = address(turn.to, to);
    if (stored * size == bytes || !target_.avx512()) {
      tag(builder_.CreateAlignedStore(slice(line, 0, stored), pointer, align), turn.to);
    } else {
      // A masked store, even of a known part: LLVM would compute two parts one by one.
      std::vector<llvm::Constant*> some;
      for (int i = 0; i < bytes / size; ++i) some.push_back(builder_.getInt1(i < stored));
      tag(builder_.CreateMaskedStore(line, pointer, align, llvm::ConstantVector::get(some)), turn.to);
    }
    to = builder_.CreateAdd(to, at.to_step);
  }
}

void FunctionEmitter::emit_turned(const kernel::For& rows, const Turn& turn) {
  const auto emit_now = [&](const Expr& e) {
    memo_.clear();
    return e ? emit(e) : i64(0);
  };
  Value *begin = emit_now(rows.begin), *end = emit_now(rows.end);
  Value *first = emit_now(turn.begin), *last = emit_now(turn.end);
  TurnPlaces at;
  at.from = builder_.CreateAdd(emit_now(turn.from_start), i64(turn.from_constant));
  at.to = builder_.CreateAdd(emit_now(turn.to_start), i64(turn.to_constant));
  at.from_step = emit_now(turn.from_step);
  at.to_step = emit_now(turn.to_step);
  memo_.clear();
  Value* pixels = i64(turn.pixels());
  auto* blocks = llvm::BasicBlock::Create(context_, "turn", function_);
  auto* plain = llvm::BasicBlock::Create(context_, "plain", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  Value *last_row = builder_.CreateSub(end, pixels), *last_column = builder_.CreateSub(last, pixels);
  builder_.CreateCondBr(
      builder_.CreateAnd(builder_.CreateICmpSGE(last_row, begin), builder_.CreateICmpSGE(last_column, first)),
      blocks, plain);
  builder_.SetInsertPoint(blocks);
  const auto at_most = [&](Value* value, Value* most) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, most);
  };
  counted_loop(
      begin, end,
      [&](Value* row) {
        row = at_most(row, last_row);
        counted_loop(
            first, last,
            [&](Value* column) { emit_turned_block(turn, at, row, at_most(column, last_column)); },
            turn.pixels());
      },
      turn.pixels());
  builder_.CreateBr(after);
  builder_.SetInsertPoint(plain);
  emit_serial(begin, end, rows.var, rows.body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

}  // namespace galatea::codegen
