// Interleaved pixels: every s-th element of a run into a vector of its own, and back.
//
// Comes in: loads and stores whose elements lie s = 2 to 4 apart. Goes out: plain loads and stores of whole
// runs, and shuffles of two vectors at a time. The shuffles work on units: as many elements as one permute of
// the target takes from two registers at once (64 bytes with VBMI or for elements of at least 16 bits with
// AVX-512; 16 bytes for small elements elsewhere, the reach of a byte shuffle).
//
// Off, at 224 x 224: `hue` of floats takes 4.0 times as long and `rotate` of bytes 1.6 times where channels
// are stored one by one; `hue` of floats 1.4 times where they are gathered; `hue` of bytes 1.2 times without
// lanes of 32 bits (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

using Mask = llvm::SmallVector<int, 64>;

}  // namespace

int FunctionEmitter::shuffle_unit(int element_bytes) const {
  const bool wide = element_bytes >= 4 || (element_bytes == 2 ? target_.avx512() : target_.vnni_vbmi());
  const int bytes = wide ? target_.vector_bits() / 8 : 16;
  return std::min(lanes_, bytes / element_bytes);
}

/// Elements first … first+count-1 of a vector.
llvm::Value* FunctionEmitter::slice(Value* vector, int first, int count) {
  if (static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements()) == count)
    return vector;
  Mask pick;
  for (int i = 0; i < count; ++i) pick.push_back(first + i);
  return builder_.CreateShuffleVector(vector, pick);
}

/// One vector of several of equal length; their number is a power of two.
llvm::Value* FunctionEmitter::concatenate(std::vector<Value*> parts) {
  while (parts.size() > 1) {
    const auto n = static_cast<int>(llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements());
    Mask all;
    for (int i = 0; i < 2 * n; ++i) all.push_back(i);
    std::vector<Value*> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(builder_.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = std::move(pairs);
  }
  return parts[0];
}

/// Elements channel, channel+s, channel+2s, … of the run of `run` vectors (s of them).
llvm::Value* FunctionEmitter::pick_strided(const std::vector<Value*>& run, int channel) {
  const auto s = static_cast<int>(run.size());
  const auto n = static_cast<int>(llvm::cast<llvm::FixedVectorType>(run[0]->getType())->getNumElements());
  Value* picked = run[0];
  for (int part = 1; part < s; ++part) {
    Mask mask(static_cast<size_t>(n), -1);
    for (int i = 0; i < n; ++i) {
      const int at = i * s + channel;
      const bool first = part == 1;
      if (at < part * n)
        mask[static_cast<size_t>(i)] = first ? at : i;
      else if (at < (part + 1) * n)
        mask[static_cast<size_t>(i)] = n + at - part * n;
    }
    picked = builder_.CreateShuffleVector(picked, run[static_cast<size_t>(part)], mask);
  }
  return picked;
}

/// Vector number `part` of the run in which the channels alternate.
llvm::Value* FunctionEmitter::interleaved_part(const std::vector<Value*>& channels, int part) {
  const auto s = static_cast<int>(channels.size());
  const auto n =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(channels[0]->getType())->getNumElements());
  Value* out = channels[0];
  for (int c = 1; c < s; ++c) {
    Mask mask(static_cast<size_t>(n), -1);
    for (int i = 0; i < n; ++i) {
      const int at = part * n + i;
      if (at % s == c)
        mask[static_cast<size_t>(i)] = n + at / s;
      else if (at % s < c)
        mask[static_cast<size_t>(i)] = c == 1 ? at / s : i;
    }
    out = builder_.CreateShuffleVector(out, channels[static_cast<size_t>(c)], mask);
  }
  return out;
}

/// The loop's mask for elements first … first+count-1 of a run of s elements a lane.
llvm::Value* FunctionEmitter::run_mask(int s, int first, int count) {
  Mask widen;
  for (int i = 0; i < count; ++i) widen.push_back(std::min((first + i) / s, lanes_));
  Value* none = llvm::Constant::getNullValue(mask_->getType());
  return builder_.CreateShuffleVector(mask_, none, widen);
}

/// Whether a vector of 32-bit lanes is one register: bytes then are spread to such lanes, or packed from
/// them.
bool FunctionEmitter::has_wide_bytes() const {
  return target_.vector_bits() >= 256 && 32 * lanes_ == target_.vector_bits();
}

/// Several registers of 32-bit lanes: emits for each of them, given its first lane, as if it were alone;
/// false where lanes are not so.
bool FunctionEmitter::for_each_register(const std::function<void(int)>& emit) {
  const int all = lanes_, lanes = target_.vector_bits() / 32;
  if (mask_ || target_.vector_bits() < 256 || all <= lanes || all % lanes != 0) return false;
  lanes_ = lanes;
  for (int first = 0; first < all; first += lanes) emit(first);
  lanes_ = all;
  return true;
}

/// A register of bytes in which each 128-bit lane holds four pixels of s bytes; backwards: the last four
/// pixels first (in each lane, pixels are in order).
llvm::Value* FunctionEmitter::pixels_to_lanes(Value* run, int s, bool backwards) {
  if (s == 4 && !backwards) return run;
  llvm::Type* words = vector_of(builder_.getInt32Ty(), lanes_);
  Mask pick(static_cast<size_t>(lanes_), -1);
  for (int i = 0; i < lanes_; ++i)
    if (i % 4 < s) pick[static_cast<size_t>(i)] = (backwards ? lanes_ / 4 - 1 - i / 4 : i / 4) * s + i % 4;
  return builder_.CreateBitCast(builder_.CreateShuffleVector(builder_.CreateBitCast(run, words), pick),
                                run->getType());
}

/// Byte `channel` of lanes_ pixels of s bytes, the first at `base`, as 32-bit numbers; looked up in a table
/// unless that is -1, all channels at once. Backwards: the last pixel of the run is lane 0.
llvm::Value* FunctionEmitter::load_wide_bytes(int buffer, Value* base, int s, int channel, int table,
                                              bool backwards) {
  const int bytes = 4 * lanes_;
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), bytes);
  Value* pointer = address(buffer, base);
  llvm::Instruction* load =
      mask_
          ? static_cast<llvm::Instruction*>(builder_.CreateMaskedLoad(
                vector, pointer, llvm::Align(1), run_mask(s, 0, bytes), llvm::Constant::getNullValue(vector)))
          : builder_.CreateAlignedLoad(vector, pointer, llvm::Align(1));
  // Not tagged: the run may end in the padding, which belongs to no buffer's elements.
  Value* run = table < 0 ? load : look_up(table, load);
  Mask pick(static_cast<size_t>(bytes), bytes);  // zeros
  if (target_.vnni_vbmi()) {
    for (int i = 0; i < lanes_; ++i)
      pick[static_cast<size_t>(4 * i)] = s * (backwards ? lanes_ - 1 - i : i) + channel;
  } else {
    run = pixels_to_lanes(run, s, backwards);
    for (int i = 0; i < lanes_; ++i)
      pick[static_cast<size_t>(4 * i)] = i / 4 * 16 + (backwards ? 3 - i % 4 : i % 4) * s + channel;
  }
  Value* spread_out = builder_.CreateShuffleVector(run, llvm::Constant::getNullValue(vector), pick);
  return builder_.CreateBitCast(spread_out, vector_of(builder_.getInt32Ty(), lanes_));
}

/// Stores the low bytes of 32-bit lanes, the channels of a pixel side by side; looked up in a table unless
/// that is -1.
void FunctionEmitter::store_wide_bytes(int buffer, Value* base, std::vector<Value*> channels, int table) {
  const auto s = static_cast<int>(channels.size());
  const int bytes = 4 * lanes_;
  llvm::Type* vector = vector_of(builder_.getInt8Ty(), bytes);
  for (Value*& channel : channels) {
    auto* narrowed = llvm::dyn_cast<llvm::TruncInst>(channel);
    llvm::Type* words = vector_of(builder_.getInt32Ty(), lanes_);
    channel = narrowed && narrowed->getOperand(0)->getType() == words ? narrowed->getOperand(0)
                                                                      : builder_.CreateZExt(channel, words);
    channel = builder_.CreateBitCast(channel, vector);
  }
  // Intrinsics, not shuffles: seeing that only a part of the register is stored, LLVM would do part by part.
  const auto byte_vector = [&](const std::vector<int>& bytes_of) {
    std::vector<llvm::Constant*> out;
    for (const int at : bytes_of) out.push_back(builder_.getInt8(static_cast<uint8_t>(at)));
    return llvm::ConstantVector::get(out);
  };
  Value* run = channels[0];
  if (target_.vnni_vbmi()) {
    for (int c = 1; c < s; ++c) {
      std::vector<int> from(static_cast<size_t>(bytes), 0);
      for (int at = 0; at < lanes_ * s; ++at) {
        const int here = at % s == c ? bytes + 4 * (at / s) : c == 1 ? 4 * (at / s) : at;
        from[static_cast<size_t>(at)] = here;
      }
      run = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                     {run, byte_vector(from), channels[static_cast<size_t>(c)]});
    }
  } else {
    constexpr int kZero = 0x80;
    for (int c = 0; c < s; ++c) {
      std::vector<int> from(static_cast<size_t>(bytes), kZero);
      for (int i = 0; i < lanes_; ++i) from[static_cast<size_t>(i / 4 * 16 + i % 4 * s + c)] = i % 4 * 4;
      Value* part = builder_.CreateIntrinsic(
          target_.avx512() ? llvm::Intrinsic::x86_avx512_pshuf_b_512 : llvm::Intrinsic::x86_avx2_pshuf_b, {},
          {channels[static_cast<size_t>(c)], byte_vector(from)});
      run = c == 0 ? part : builder_.CreateOr(run, part);
    }
    if (s < 4) {
      llvm::Type* words = vector_of(builder_.getInt32Ty(), lanes_);
      std::vector<llvm::Constant*> from;
      for (int i = 0; i < lanes_; ++i)
        from.push_back(builder_.getInt32(static_cast<uint32_t>(i < lanes_ / 4 * s ? i / s * 4 + i % s : 0)));
      run = builder_.CreateIntrinsic(
          target_.avx512() ? llvm::Intrinsic::x86_avx512_permvar_si_512 : llvm::Intrinsic::x86_avx2_permd, {},
          {builder_.CreateBitCast(run, words), llvm::ConstantVector::get(from)});
      run = builder_.CreateBitCast(run, vector);
    }
  }
  if (table >= 0) run = look_up(table, run);
  Value* pointer = address(buffer, base);
  llvm::Instruction* store = nullptr;
  if (target_.avx512()) {
    // A masked store, even of a known part: LLVM would compute two parts of a run of 48 bytes one by one.
    std::vector<llvm::Constant*> some;
    for (int i = 0; i < bytes; ++i) some.push_back(builder_.getInt1(i < lanes_ * s));
    Value* mask = mask_ ? run_mask(s, 0, bytes) : llvm::ConstantVector::get(some);
    store = builder_.CreateMaskedStore(run, pointer, llvm::Align(1), mask);
  } else {
    store = builder_.CreateAlignedStore(slice(run, 0, lanes_ * s), pointer, llvm::Align(1));
  }
  tag(store, buffer);
}

/// lanes_ elements, s apart, from `base + channel` on; backwards: the last of them is lane 0.
llvm::Value* FunctionEmitter::load_strided(int buffer, Value* base, int s, int channel, bool backwards) {
  const DType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  if (size_of(type) == 1 && has_wide_bytes())
    return builder_.CreateTrunc(load_wide_bytes(buffer, base, s, channel, -1, backwards),
                                vector_of(builder_.getInt8Ty(), lanes_));
  std::vector<Value*> registers;
  const auto load_register = [&](int first) {
    Value* start = builder_.CreateAdd(base, i64(int64_t{s} * first));
    registers.push_back(load_wide_bytes(buffer, start, s, channel, -1));
  };
  if (size_of(type) == 1 && !backwards && for_each_register(load_register))
    return builder_.CreateTrunc(concatenate(std::move(registers)), vector_of(builder_.getInt8Ty(), lanes_));
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  const int unit = shuffle_unit(size_of(type));
  llvm::Type* vector = vector_of(memory_type(type), unit);
  std::vector<Value*> units;
  for (int first = 0; first < lanes_; first += unit) {
    std::vector<Value*> run;
    for (int part = 0; part < s; ++part) {
      const int at = first * s + part * unit;
      Value* pointer = address(buffer, builder_.CreateAdd(base, i64(at)));
      llvm::Instruction* load =
          mask_ ? static_cast<llvm::Instruction*>(builder_.CreateMaskedLoad(
                      vector, pointer, align, run_mask(s, at, unit), llvm::Constant::getNullValue(vector)))
                : builder_.CreateAlignedLoad(vector, pointer, align);
      run.push_back(tag(load, buffer));
    }
    units.push_back(pick_strided(run, channel));
  }
  Value* picked = concatenate(std::move(units));
  return backwards ? builder_.CreateVectorReverse(picked) : picked;
}

/// Stores that together fill whole pixels of a run: same buffer, offsets that differ in the constant only.
/// Loads of the buffer must not stand between them.
void FunctionEmitter::find_pixel_stores(const kernel::Block& block) {
  for (size_t i = 0; i < block.size(); ++i) {
    const auto* first = std::get_if<kernel::Store>(&block[i].node);
    kernel::VectorOffset parts;
    if (!first || pixel_stores_.contains(first) ||
        !kernel::match_vector_offset(first->offset, vector_var_, varying_, &parts) || !parts.scale ||
        !kernel::is_const(parts.scale))
      continue;
    const int64_t s = kernel::const_value(parts.scale);
    if (s < 2 || s > kMaxInterleaved) continue;
    auto pixel = std::make_shared<PixelStores>();
    pixel->uniform = parts.uniform;
    pixel->constant = parts.constant;
    pixel->streaming = first->streaming;
    pixel->values.assign(static_cast<size_t>(s), nullptr);
    std::vector<const kernel::Store*> members = {first};
    const auto reads_buffer = [&](const kernel::Statement& statement) {
      bool found = false;
      kernel::for_each_expr(statement, [&](const Expr& e) {
        kernel::for_each_node(e, [&](const Expr& n) {
          found |= n->kind == kernel::ExprKind::kLoadFlat && n->index == first->buffer;
        });
      });
      return found;
    };
    for (size_t k = i + 1; k < block.size() && members.size() < static_cast<size_t>(s); ++k) {
      if (reads_buffer(block[k])) break;
      if (std::holds_alternative<kernel::Let>(block[k].node)) continue;
      const auto* store = std::get_if<kernel::Store>(&block[k].node);
      if (!store) break;
      if (store->buffer != first->buffer) continue;
      kernel::VectorOffset other;
      if (!kernel::match_vector_offset(store->offset, vector_var_, varying_, &other) || !other.scale ||
          !kernel::is_const_int(other.scale, s) ||
          other.constant != parts.constant + static_cast<int64_t>(members.size()) ||
          static_cast<bool>(other.uniform) != static_cast<bool>(parts.uniform) ||
          (other.uniform && !kernel::same(other.uniform, parts.uniform)))
        break;
      members.push_back(store);
    }
    if (members.size() != static_cast<size_t>(s)) continue;
    pixel->from = match_backwards(members);
    // Looked up when the pixel is whole.
    if ((has_wide_bytes() || for_each_register([](int) {})) && !pixel->from)
      for (const kernel::Store* member : members) {
        const auto found = match_look_up(*member->value);
        const int table = found && !found->base ? found->table : -1;
        pixel->table = member == first || table == pixel->table ? table : -1;
        if (pixel->table < 0) break;
      }
    for (const kernel::Store* member : members) pixel_stores_[member] = pixel;
  }
}

/// Keeps the value until the pixel is whole, then stores it.
bool FunctionEmitter::add_to_pixel(const kernel::Store& store) {
  const auto found = pixel_stores_.find(&store);
  if (found == pixel_stores_.end()) return false;
  PixelStores& pixel = *found->second;
  const auto entry = pixel.table < 0 ? std::nullopt : match_look_up(*store.value);
  const DType type = kernel_.buffers[static_cast<size_t>(store.buffer)].type;
  Value* value = pixel.from ? nullptr : to_memory(type, spread(emit(entry ? entry->byte : store.value)));
  pixel.values[pixel.num++] = value;
  const auto s = static_cast<int>(pixel.values.size());
  if (pixel.num < pixel.values.size()) return true;
  pixel.num = 0;
  Value* base = builder_.CreateMul(vector_base_, i64(s));
  if (pixel.uniform) base = builder_.CreateAdd(emit(pixel.uniform), base);
  base = builder_.CreateAdd(base, i64(pixel.constant));
  if (pixel.from) {
    store_backwards(pixel, store.buffer, base);
    return true;
  }
  if (size_of(type) == 1 && has_wide_bytes()) {
    store_wide_bytes(store.buffer, base, pixel.values, pixel.table);
    return true;
  }
  const auto store_register = [&](int first) {
    std::vector<Value*> channels;
    for (Value* channel : pixel.values) {
      // Cut before it is narrowed: 32-bit lanes are what is stored from.
      auto* narrowed = llvm::dyn_cast<llvm::TruncInst>(channel);
      Value* part = slice(narrowed ? narrowed->getOperand(0) : channel, first, lanes_);
      channels.push_back(builder_.CreateTrunc(part, vector_of(builder_.getInt8Ty(), lanes_)));
    }
    store_wide_bytes(store.buffer, builder_.CreateAdd(base, i64(int64_t{s} * first)), std::move(channels),
                     pixel.table);
  };
  if (size_of(type) == 1 && for_each_register(store_register)) return true;
  const int unit = shuffle_unit(size_of(type));
  const llvm::Align align(static_cast<uint64_t>(size_of(type)));
  for (int first = 0; first < lanes_; first += unit) {
    std::vector<Value*> channels;
    for (Value* channel : pixel.values) channels.push_back(slice(channel, first, unit));
    for (int part = 0; part < s; ++part) {
      const int at = first * s + part * unit;
      Value* run = interleaved_part(channels, part);
      Value* pointer = address(store.buffer, builder_.CreateAdd(base, i64(at)));
      if (mask_)
        tag(builder_.CreateMaskedStore(run, pointer, align, run_mask(s, at, unit)), store.buffer);
      else
        store_whole(run, pointer, store.buffer, pixel.streaming);
    }
  }
  return true;
}

}  // namespace galatea::codegen
