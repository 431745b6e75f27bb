// Loads and stores of one block that touch the same pixels.
//
// Gathers whose offsets differ by a constant (the channels of a pixel, its neighbour in the row) read one
// word of 32 or 64 bits per lane and take their elements from it; every buffer has readable padding after its
// end. Stores to all channels of a pixel are interleaved in registers and written at once.
#include <algorithm>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

constexpr int64_t kLongestWord = 8;
constexpr size_t kMostChannels = 4;

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

FunctionEmitter::PixelGroup FunctionEmitter::pixel_of(int buffer, const Expr& offset) {
  PixelGroup out;
  out.buffer = buffer;
  out.constants.push_back(0);
  add_terms(offset, &out.terms, &out.constants[0]);
  return out;
}

FunctionEmitter::PixelGroup* FunctionEmitter::find_group(std::vector<PixelGroup>& groups,
                                                         const PixelGroup& wanted) {
  for (PixelGroup& group : groups)
    if (group.buffer == wanted.buffer && std::equal(group.terms.begin(), group.terms.end(),
                                                    wanted.terms.begin(), wanted.terms.end(), kernel::same))
      return &group;
  return nullptr;
}

void FunctionEmitter::add_to_group(std::vector<PixelGroup>& groups, PixelGroup pixel) {
  PixelGroup* group = find_group(groups, pixel);
  if (!group) return groups.push_back(std::move(pixel));
  const int64_t constant = pixel.constants[0];
  const auto at = std::lower_bound(group->constants.begin(), group->constants.end(), constant);
  if (at == group->constants.end() || *at != constant) group->constants.insert(at, constant);
}

void FunctionEmitter::find_pixels(const kernel::Block& block) {
  BlockPixels found;
  std::unordered_map<const kernel::ExprNode*, bool> seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (!seen.emplace(e.get(), true).second) return;
    if (e->kind == kernel::ExprKind::kLoadFlat) add_to_group(found.loads, pixel_of(e->index, e->args[0]));
    for (const Expr& arg : e->args) visit(arg);
  };
  for (const kernel::Statement& statement : block) {
    kernel::for_each_expr(statement, visit);
    if (const auto* store = std::get_if<kernel::Store>(&statement.node))
      add_to_group(found.stores, pixel_of(store->buffer, store->offset));
  }
  // A store that comes later than it stands must not be missed by a load.
  for (const PixelGroup& load : found.loads)
    found.stores.erase(std::remove_if(found.stores.begin(), found.stores.end(),
                                      [&](const PixelGroup& s) { return s.buffer == load.buffer; }),
                       found.stores.end());
  pixels_.push_back(std::move(found));
}

/// The words at `first` elements after the group's place, one a lane.
llvm::Value* FunctionEmitter::gather_words(const kernel::ExprNode& e, PixelGroup& group, int64_t first,
                                           int bytes) {
  for (const auto& [constant, words] : group.values)
    if (constant == first) return words;
  const auto buffer = static_cast<size_t>(e.index);
  Value* base = i64(first);
  Value* lanes = nullptr;
  for (const Expr& term : group.terms) {
    Value* value = emit(term);
    if (!is_vector(value))
      base = builder_.CreateAdd(value, base);
    else
      lanes = lanes ? builder_.CreateAdd(lanes, value) : value;
  }
  lanes = lanes ? lanes : spread(i64(0));
  // Narrow offsets reach the instruction as they are.
  if (auto* widened = llvm::dyn_cast<llvm::SExtInst>(lanes)) lanes = widened->getOperand(0);
  llvm::Type* element = memory_type(kernel_.buffers[buffer].type);
  Value* pointers = builder_.CreateGEP(element, builder_.CreateGEP(element, buffers_[buffer], base), lanes);
  llvm::Type* type = vector_of(builder_.getIntNTy(static_cast<unsigned>(8 * bytes)), lanes_);
  Value* mask = mask_ ? mask_ : llvm::Constant::getAllOnesValue(vector_of(builder_.getInt1Ty(), lanes_));
  // Not tagged: a word may reach into the padding, which belongs to no buffer's elements.
  Value* words =
      builder_.CreateMaskedGather(type, pointers, llvm::Align(1), mask, llvm::Constant::getNullValue(type));
  group.values.emplace_back(first, words);
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
  PixelGroup alone = pixel_of(e.index, e.args[0]);
  const int64_t constant = alone.constants[0];
  PixelGroup* group = find_group(pixels_.back().loads, alone);
  if (!group) group = &alone;
  // The run of constants that this one is in: as many as fit one word.
  int64_t first = group->constants[0], last = first;
  for (const int64_t c : group->constants) {
    if ((c - first + 1) * size > kLongestWord) {
      if (constant <= last) break;
      first = c;
    }
    last = c;
  }
  const int bytes = std::max(4, static_cast<int>((last - first + 1) * size)) <= 4 ? 4 : 8;
  return from_memory(type, pick_element(type, gather_words(e, *group, first, bytes), constant - first));
}

llvm::Value* FunctionEmitter::interleave(const std::vector<Value*>& channels) {
  const auto n = static_cast<int>(channels.size());
  llvm::Type* element = channels[0]->getType()->getScalarType();
  if (element->getPrimitiveSizeInBits() != 8) {
    llvm::SmallVector<Value*, 4> all(channels.begin(), channels.end());
    while (all.size() < 4) all.push_back(all.back());
    llvm::SmallVector<int, 64> two;
    for (int i = 0; i < 2 * lanes_; ++i) two.push_back(i);
    llvm::SmallVector<int, 256> order;
    for (int i = 0; i < lanes_; ++i)
      for (int c = 0; c < n; ++c) order.push_back(c * lanes_ + i);
    return builder_.CreateShuffleVector(builder_.CreateShuffleVector(all[0], all[1], two),
                                        builder_.CreateShuffleVector(all[2], all[3], two), order);
  }
  // Bytes: put together in 32-bit lanes, then moved up.
  llvm::Type* wide = vector_of(builder_.getInt32Ty(), lanes_);
  Value* pixels = nullptr;
  for (int c = 0; c < n; ++c) {
    Value* channel = builder_.CreateShl(builder_.CreateZExt(channels[static_cast<size_t>(c)], wide),
                                        static_cast<uint64_t>(8 * c));
    pixels = pixels ? builder_.CreateOr(pixels, channel) : channel;
  }
  Value* bytes = builder_.CreateBitCast(pixels, vector_of(element, 4 * lanes_));
  if (n == 4) return bytes;
  llvm::SmallVector<int, 256> order;
  for (int i = 0; i < lanes_; ++i)
    for (int c = 0; c < n; ++c) order.push_back(4 * i + c);
  return builder_.CreateShuffleVector(bytes, order);
}

/// The mask with each lane's bit repeated; nullptr where all lanes are on.
llvm::Value* FunctionEmitter::repeat_mask(int times) {
  if (!mask_) return nullptr;
  llvm::SmallVector<int, 256> widen;
  for (int i = 0; i < lanes_ * times; ++i) widen.push_back(i / times);
  return builder_.CreateShuffleVector(mask_, widen);
}

/// Takes a store to one channel of several; the last one writes them all. False: not such a store.
bool FunctionEmitter::store_pixels(const kernel::Store& store, Value* value) {
  const PixelGroup pixel = pixel_of(store.buffer, store.offset);
  PixelGroup* group = find_group(pixels_.back().stores, pixel);
  if (!group) return false;
  const size_t n = group->constants.size();
  kernel::VectorOffset parts;
  if (n < 2 || n > kMostChannels ||
      group->constants.back() - group->constants[0] != static_cast<int64_t>(n) - 1 ||
      !kernel::match_vector_offset(store.offset, vector_var_, varying_, &parts) || !parts.scale ||
      !kernel::is_const_int(parts.scale, static_cast<int64_t>(n)))
    return false;
  const DType type = kernel_.buffers[static_cast<size_t>(store.buffer)].type;
  group->values.emplace_back(pixel.constants[0], to_memory(type, spread(value)));
  if (group->values.size() < n) return true;
  std::sort(group->values.begin(), group->values.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Value*> channels;
  for (const auto& [constant, channel] : group->values) channels.push_back(channel);
  Value* base = builder_.CreateMul(vector_base_, i64(static_cast<int64_t>(n)));
  if (parts.uniform) base = builder_.CreateAdd(emit(parts.uniform), base);
  // match_vector_offset() keeps this store's constant; the run begins at the least one.
  base = builder_.CreateAdd(base, i64(parts.constant + group->constants[0] - pixel.constants[0]));
  Value* pointer = address(store.buffer, base);
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  Value* all = interleave(channels);
  Value* mask = repeat_mask(static_cast<int>(n));
  tag(mask ? static_cast<llvm::Instruction*>(builder_.CreateMaskedStore(all, pointer, align, mask))
           : builder_.CreateAlignedStore(all, pointer, align),
      store.buffer);
  return true;
}

}  // namespace galatea::codegen
