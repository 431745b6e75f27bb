// Gathers: loads whose offsets differ from lane to lane in any way.
//
// Those of one block whose offsets differ by a constant (the channels of a pixel, its neighbour in the row)
// read one word of 32 or 64 bits per lane and take their elements from it. Three or four elements of 32 bits
// are a quad: one load of 128 bits per lane, turned in registers into a vector for each element. What is read
// beyond the elements that are asked for lies behind the last of them, by four bytes at most: every buffer
// has readable padding after its end.
//
// Off, word by word: `rotate` of bytes takes 2.1 times as long at 224 x 224 without common words, `rotate
// nearest` 1.3 times with the gather instruction, `warp_affine cubic` of floats 1.7 times without quads
// (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <algorithm>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kLongestWord = 8;
constexpr int64_t kQuad = 4;      ///< elements of 32 bits
constexpr int kMostOneByOne = 8;  ///< words a lane, in a block
constexpr int kMostQuads = 12;    ///< a lane, in a block: four rows of four pixels of four channels

void add_terms(const kernel::Expr& e, std::vector<kernel::Expr>* terms, int64_t* constant) {
  if (kernel::is_const(e)) {
    *constant += kernel::const_value(e);
  } else if (e->kind == kernel::ExprKind::kOp && e->op == ScalarOp::kAdd) {
    add_terms(e->args[0], terms, constant);
    add_terms(e->args[1], terms, constant);
  } else {
    terms->push_back(e);
  }
}

}  // namespace

FunctionEmitter::GatherGroup FunctionEmitter::gather_of(int buffer, const Expr& offset) {
  GatherGroup out;
  out.buffer = buffer;
  out.constants.push_back(0);
  add_terms(offset, &out.terms, &out.constants[0]);
  return out;
}

FunctionEmitter::GatherGroup* FunctionEmitter::find_group(std::vector<GatherGroup>& groups,
                                                          const GatherGroup& wanted) {
  for (GatherGroup& group : groups)
    if (group.buffer == wanted.buffer && std::equal(group.terms.begin(), group.terms.end(),
                                                    wanted.terms.begin(), wanted.terms.end(), kernel::same))
      return &group;
  return nullptr;
}

void FunctionEmitter::add_to_group(std::vector<GatherGroup>& groups, GatherGroup load) {
  GatherGroup* group = find_group(groups, load);
  if (!group) return groups.push_back(std::move(load));
  const int64_t constant = load.constants[0];
  const auto at = std::lower_bound(group->constants.begin(), group->constants.end(), constant);
  if (at == group->constants.end() || *at != constant) group->constants.insert(at, constant);
}

void FunctionEmitter::find_gathers(const kernel::Block& block) {
  std::vector<bool> assigned(vars_.size(), false);
  kernel::for_each_statement(block, [&](const kernel::Statement& statement) {
    if (const auto* n = std::get_if<kernel::Assign>(&statement.node))
      assigned[static_cast<size_t>(n->var)] = true;
  });
  std::vector<GatherGroup> found;
  const auto visit = [&](const Expr& e) {
    if (e->kind != kernel::ExprKind::kLoadFlat) return;
    // The same expression is another place after an assignment.
    bool moves = false;
    kernel::for_each_node(e->args[0], [&](const Expr& n) {
      moves |= n->kind == kernel::ExprKind::kVar && assigned[static_cast<size_t>(n->index)];
    });
    if (!moves) add_to_group(found, gather_of(e->index, e->args[0]));
  };
  for (const kernel::Statement& statement : block)
    kernel::for_each_expr(statement, [&](const Expr& e) { kernel::for_each_node(e, visit); });
  gathers_.push_back(std::move(found));
}

/// The group's constants, in runs of at most `most` elements.
std::vector<FunctionEmitter::GatherRun> FunctionEmitter::runs_of(const GatherGroup& group, int64_t most) {
  std::vector<GatherRun> runs;
  for (const int64_t c : group.constants)
    if (runs.empty() || c - runs.back().first >= most)
      runs.push_back({c, c});
    else
      runs.back().last = c;
  return runs;
}

/// How many runs the block being emitted reads of this buffer.
int FunctionEmitter::num_runs(int buffer, int64_t most) const {
  size_t runs = 0;
  for (const GatherGroup& group : gathers_.back())
    if (group.buffer == buffer) runs += runs_of(group, most).size();
  return static_cast<int>(runs);
}

/// Word after word, each with a load of its own; offsets leave the vector in pairs. Where the gather
/// instruction is a long microprogram (target.h), this takes 0.7 of its time, and other work goes on beside
/// it.
llvm::Value* FunctionEmitter::gather_one_by_one(Value* base, llvm::Type* element, Value* lanes, int bytes) {
  llvm::Type* word = builder_.getIntNTy(static_cast<unsigned>(8 * bytes));
  Value* out = llvm::PoisonValue::get(vector_of(word, lanes_));
  const std::vector<Value*>& offsets = offsets_of(lanes);
  for (size_t i = 0; i < offsets.size(); ++i) {
    Value* at = builder_.CreateGEP(element, base, offsets[i]);
    out = builder_.CreateInsertElement(out, builder_.CreateAlignedLoad(word, at, llvm::Align(1)), i);
  }
  return out;
}

/// Offsets of 32 bits, out of their vector; groups that differ in their base alone (the rows of a window)
/// share them.
const std::vector<llvm::Value*>& FunctionEmitter::offsets_of(Value* lanes) {
  if (offsets_.lanes == lanes && offsets_.block == builder_.GetInsertBlock()) return offsets_.values;
  offsets_ = {lanes, builder_.GetInsertBlock(), {}};
  Value* pairs = builder_.CreateBitCast(lanes, vector_of(builder_.getInt64Ty(), lanes_ / 2));
  for (int i = 0; i < lanes_; ++i) {
    Value* pair = builder_.CreateExtractElement(pairs, static_cast<uint64_t>(i / 2));
    offsets_.values.push_back(
        i % 2 == 0
            ? builder_.CreateSExt(builder_.CreateTrunc(pair, builder_.getInt32Ty()), builder_.getInt64Ty())
            : builder_.CreateAShr(pair, i64(32)));
  }
  return offsets_.values;
}

const FunctionEmitter::GatherPlace& FunctionEmitter::place_of(GatherGroup& group) {
  GatherPlace& place = group.place;
  if (place.base) return place;
  Value* base = i64(0);
  for (const Expr& term : group.terms) {
    Value* value = emit(term);
    if (!is_vector(value))
      base = builder_.CreateAdd(value, base);
    else
      place.lanes = place.lanes ? builder_.CreateAdd(place.lanes, value) : value;
  }
  if (!place.lanes) place.lanes = spread(i64(0));
  // Narrow offsets reach the instruction as they are.
  if (auto* widened = llvm::dyn_cast<llvm::SExtInst>(place.lanes)) place.lanes = widened->getOperand(0);
  place.base = address(group.buffer, base);
  // Each is then of a lane that counts.
  place.leave = !mask_ && place.lanes->getType()->getScalarSizeInBits() == 32 && lanes_ % 2 == 0;
  // Half as many loads as words, so also where those are gathered by an instruction.
  place.quads = place.leave && size_of(kernel_.buffers[static_cast<size_t>(group.buffer)].type) == 4 &&
                lanes_ % kQuad == 0 && num_runs(group.buffer, kQuad) <= kMostQuads;
  return place;
}

/// Elements `first` to `first` + 3 of each lane, a vector each. Lane 4p + r goes to part p of register r, so
/// that turning each part leaves the lanes in order.
const std::vector<llvm::Value*>& FunctionEmitter::gather_quads(GatherGroup& group, int64_t first) {
  for (const auto& [constant, elements] : group.quads)
    if (constant == first) return elements;
  llvm::Type* element = memory_type(kernel_.buffers[static_cast<size_t>(group.buffer)].type);
  llvm::Type* quad = vector_of(element, kQuad);
  Value* base = builder_.CreateGEP(element, group.place.base, i64(first));
  const std::vector<Value*>& offsets = offsets_of(group.place.lanes);
  std::vector<Value*> rows;
  for (size_t r = 0; r < kQuad; ++r) {
    std::vector<Value*> parts;
    // Not tagged: the last may reach into the padding, which belongs to no buffer's elements.
    for (size_t lane = r; lane < offsets.size(); lane += kQuad)
      parts.push_back(
          builder_.CreateAlignedLoad(quad, builder_.CreateGEP(element, base, offsets[lane]), llvm::Align(1)));
    rows.push_back(concatenate(std::move(parts)));
  }
  std::vector<Value*> elements = turn_in_parts(std::move(rows), 4, lanes_ / static_cast<int>(kQuad));
  for (Value*& e : elements) e = builder_.CreateBitCast(e, vector_of(element, lanes_));
  return group.quads.emplace_back(first, std::move(elements)).second;
}

/// The words at `first` elements after the group's place, one a lane.
llvm::Value* FunctionEmitter::gather_words(GatherGroup& group, int64_t first, int size, int bytes) {
  for (const auto& [constant, words] : group.words)
    if (constant == first) return words;
  llvm::Type* element = memory_type(kernel_.buffers[static_cast<size_t>(group.buffer)].type);
  Value* base = builder_.CreateGEP(element, group.place.base, i64(first));
  Value* lanes = group.place.lanes;
  // A body of many words (a cubic warp along the border of its image) is a small part of the picture, and
  // would be thousands of instructions: as many as all others of its kernel.
  const bool few = num_runs(group.buffer, kLongestWord / size) <= kMostOneByOne;
  if (target_.slow_gather && few && group.place.leave) {
    Value* words = gather_one_by_one(base, element, lanes, bytes);
    group.words.emplace_back(first, words);
    return words;
  }
  Value* pointers = builder_.CreateGEP(element, base, lanes);
  llvm::Type* type = vector_of(builder_.getIntNTy(static_cast<unsigned>(8 * bytes)), lanes_);
  Value* mask = mask_ ? mask_ : llvm::Constant::getAllOnesValue(vector_of(builder_.getInt1Ty(), lanes_));
  // Not tagged: a word may reach into the padding, which belongs to no buffer's elements.
  Value* words =
      builder_.CreateMaskedGather(type, pointers, llvm::Align(1), mask, llvm::Constant::getNullValue(type));
  group.words.emplace_back(first, words);
  return words;
}

/// Element `element` of each word, in the type of memory.
llvm::Value* FunctionEmitter::pick_element(DType type, Value* words, int64_t element) {
  const int size = size_of(type);
  int64_t bit = 8 * size * element;
  if (words->getType()->getScalarSizeInBits() == 64 && size < 8) {
    // Half of each word first: one permutation of 32-bit lanes, shared by the elements in that half.
    llvm::SmallVector<int, 64> half;
    for (int i = 0; i < lanes_; ++i) half.push_back(2 * i + static_cast<int>(bit / 32));
    words = builder_.CreateShuffleVector(
        builder_.CreateBitCast(words, vector_of(builder_.getInt32Ty(), 2 * lanes_)), half);
    bit %= 32;
  }
  if (bit > 0)
    words = builder_.CreateLShr(words, llvm::ConstantInt::get(words->getType(), static_cast<uint64_t>(bit)));
  Value* raw =
      builder_.CreateTrunc(words, vector_of(builder_.getIntNTy(static_cast<unsigned>(8 * size)), lanes_));
  return builder_.CreateBitCast(raw, vector_of(memory_type(type), lanes_));
}

llvm::Value* FunctionEmitter::gather(const kernel::ExprNode& e) {
  const DType type = kernel_.buffers[static_cast<size_t>(e.index)].type;
  const int size = size_of(type);
  GatherGroup alone = gather_of(e.index, e.args[0]);
  const int64_t constant = alone.constants[0];
  GatherGroup* group = find_group(gathers_.back(), alone);
  if (!group) group = &alone;
  const bool is_first = !group->place.base;
  const GatherPlace& place = place_of(*group);
  if (is_first && group != &alone) prefetch_rows_ahead(*group);
  const auto run_with = [&](int64_t most) {
    for (const GatherRun& run : runs_of(*group, most))
      if (constant <= run.last) return run;
    return GatherRun{constant, constant};
  };
  if (place.quads) {
    const GatherRun run = run_with(kQuad);
    if ((run.last - run.first + 1) * size > kLongestWord)
      return from_memory(type, gather_quads(*group, run.first)[static_cast<size_t>(constant - run.first)]);
  }
  const GatherRun run = run_with(kLongestWord / size);
  const int bytes = (run.last - run.first + 1) * size <= 4 ? 4 : 8;
  return from_memory(type,
                     pick_element(type, gather_words(*group, run.first, size, bytes), constant - run.first));
}

}  // namespace galatea::codegen
