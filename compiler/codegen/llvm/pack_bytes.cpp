// Floats that are rounded to bytes: several registers of them at once, packed with saturation.
//
// Comes in: a vector loop that computes floats and stores them as bytes, element by element or as pixels of
// three, perhaps by way of a table. Goes out: a loop over four registers of floats a step. A conversion
// rounds to 32 bits, packing to 16 and to 8 bits clamps, and permutes put whole registers of bytes in order:
// where each register by itself takes two comparisons, an addition and its share of the permutes, and stores
// 16 or 48 bytes of 64. The conversion does not clamp what is beyond 32 bits. Where that cannot be, because
// floats come from small integers and from scalars that are not absurd (asked before the loop, which else
// runs one register at a time), it needs nothing more; elsewhere a minimum comes before it.
//
// Off, `hue` of bytes takes 1.2 times as long at 224 x 224, `color_twist` 1.2 times; without bounds `hue`
// takes 1.1 times as long (`./dev bench per-op`, 2-core AMD EPYC, Zen 5).
#include <cmath>
#include <unordered_set>

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

namespace {

using kernel::Expr;
using kernel::ExprKind;

constexpr int kGroups = 4;           ///< registers of floats in a step
constexpr int kSideBySide = 2;       ///< registers whose instructions alternate
constexpr int kMostOperations = 64;  ///< of a body that is written out so often
constexpr double kHeld = 0x1p30;     ///< what a conversion to 32 bits holds, and room for errors of rounding
/// What scalars are taken to be less than; the first that makes all values fit.
constexpr double kScalars[] = {0x1p20, 0x1p10};

bool is_rounded(const Expr& e) {
  return is_op(e, ScalarOp::kSaturate) && e.type() == DType::kU8 && e->args[0].type() == DType::kF32;
}

/// A bound of |e|, which is then no NaN, for scalars less than `scalars`; those it takes for granted are
/// added to `asked`.
class Bounds {
 public:
  Bounds(const kernel::Block& body, double scalars) : scalars_(scalars) {
    for (const kernel::Statement& statement : body)
      if (const auto* let = std::get_if<kernel::Let>(&statement.node)) lets_.emplace(let->var, let->value);
  }

  std::optional<double> of(const Expr& e) {
    if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
    const std::optional<double> out = compute(e);
    known_.emplace(e.get(), out);
    return out;
  }
  const std::vector<Expr>& asked() const { return asked_; }

 private:
  std::optional<double> compute(const Expr& e) {
    if (e.type() != DType::kF32) return {};
    if (e->kind == ExprKind::kConst) {
      const double number = std::fabs(cell_to_double(DType::kF32, e->value));
      return std::isfinite(number) ? std::optional(number) : std::nullopt;
    }
    if (e->kind == ExprKind::kVar)
      if (const auto found = lets_.find(e->index); found != lets_.end()) return of(found->second);
    if (e->kind == ExprKind::kVar || e->kind == ExprKind::kParam) {
      asked_.push_back(e);
      return scalars_;
    }
    if (e->kind != ExprKind::kOp) return {};
    if (e->op == ScalarOp::kConvert) {
      const DType from = e->args[0].type();
      if (is_float(from) || size_of(from) > 2) return {};
      return is_bool(from) ? 1 : static_cast<double>(max_unsigned(from)) + 1;
    }
    if (const auto clamped = clamped_bound(e)) return clamped;
    if (e->op == ScalarOp::kSelect) return larger(of(e->args[1]), of(e->args[2]));
    std::vector<double> args;
    for (const Expr& arg : e->args) {
      const auto bound = of(arg);
      if (!bound) return {};
      args.push_back(*bound);
    }
    switch (e->op) {
      case ScalarOp::kFma:
        return args[0] * args[1] + args[2];
      case ScalarOp::kMul:
        return args[0] * args[1];
      case ScalarOp::kAdd:
      case ScalarOp::kSub:
        return args[0] + args[1];
      case ScalarOp::kMin:
      case ScalarOp::kMax:
        return std::max(args[0], args[1]);
      case ScalarOp::kNeg:
      case ScalarOp::kAbs:
        return args[0];
      case ScalarOp::kRound:
      case ScalarOp::kFloor:
      case ScalarOp::kCeil:
      case ScalarOp::kTrunc:
        return args[0] + 1;
      default:
        return {};
    }
  }
  /// min(max(x, a), b) with numbers, whatever x is: NaN becomes a.
  static std::optional<double> clamped_bound(const Expr& e) {
    if (!is_op(e, ScalarOp::kMin) || !is_op(e->args[0], ScalarOp::kMax)) return {};
    const Expr &low = e->args[0]->args[1], &high = e->args[1];
    if (!kernel::is_const(low) || !kernel::is_const(high)) return {};
    const double a = cell_to_double(DType::kF32, low->value), b = cell_to_double(DType::kF32, high->value);
    if (!std::isfinite(a) || !std::isfinite(b)) return {};
    return std::max(std::fabs(a), std::fabs(b));
  }
  static std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }

  double scalars_;
  std::unordered_map<int, Expr> lets_;
  std::unordered_map<const kernel::ExprNode*, std::optional<double>> known_;
  std::vector<Expr> asked_;
};

}  // namespace

/// How the loop's bytes are packed, if they are: one store of bytes side by side, or three of a pixel. For
/// what goes straight into a batch only: policies have many arms that end as bytes, which took 5 to 9 %
/// longer to compile, for microseconds of a sample that takes a thousand.
std::optional<FunctionEmitter::Packing> FunctionEmitter::match_packing(const kernel::For& loop) {
  if (!target_.is_x86() || target_.vector_bits() < 256 || 32 * loop.lanes != target_.vector_bits()) return {};
  if (!may_run_twice(loop)) return {};
  std::vector<const kernel::Store*> stores;
  for (const kernel::Statement& statement : loop.body) {
    if (const auto* store = std::get_if<kernel::Store>(&statement.node))
      stores.push_back(store);
    else if (!std::holds_alternative<kernel::Let>(statement.node))
      return {};
  }
  if (stores.size() != 1 && stores.size() != 3) return {};
  const auto s = static_cast<int64_t>(stores.size());
  vector_var_ = loop.var;  // what is matched below is meant as the body sees it
  varying_[static_cast<size_t>(loop.var)] = true;
  std::vector<int> lets;
  for (const kernel::Statement& statement : loop.body)
    if (const auto* let = std::get_if<kernel::Let>(&statement.node)) {
      lets.push_back(let->var);
      varying_[static_cast<size_t>(let->var)] = true;
    }
  auto out = match_packed_stores(stores, s);
  if (out && !is_worth_packing(loop)) out.reset();
  for (const int var : lets) varying_[static_cast<size_t>(var)] = false;
  varying_[static_cast<size_t>(loop.var)] = false;
  vector_var_ = -1;
  if (!out) return {};
  for (const double scalars : kScalars) {
    Bounds bounds(loop.body, scalars);
    const bool held = std::all_of(out->rounded.begin(), out->rounded.end(), [&](const Expr& e) {
      const auto bound = bounds.of(e->args[0]);
      return bound && *bound <= kHeld;
    });
    if (!held) continue;
    out->is_bounded = true;
    out->scalars = scalars;
    out->asked = bounds.asked();
    break;
  }
  return out;
}

std::optional<FunctionEmitter::Packing> FunctionEmitter::match_packed_stores(
    const std::vector<const kernel::Store*>& stores, int64_t s) const {
  Packing out;
  kernel::VectorOffset first;
  for (size_t c = 0; c < stores.size(); ++c) {
    const kernel::Store& store = *stores[c];
    kernel::VectorOffset place;
    if (!store.streaming || store.add || store.buffer != stores[0]->buffer ||
        store.value.type() != DType::kU8 ||
        !kernel::match_vector_offset(store.offset, vector_var_, varying_, &place) || !place.scale ||
        !kernel::is_const_int(place.scale, s))
      return {};
    if (c == 0) first = place;
    if (place.constant != first.constant + static_cast<int64_t>(c) ||
        static_cast<bool>(place.uniform) != static_cast<bool>(first.uniform) ||
        (place.uniform && !kernel::same(place.uniform, first.uniform)))
      return {};
    Expr value = store.value;
    int table = -1;
    if (const auto found = match_look_up(*value)) {
      if (found->base) return {};
      table = found->table;
      value = found->byte;
    }
    if (!is_rounded(value) || (c > 0 && table != out.table)) return {};
    out.table = table;
    out.rounded.push_back(value);
  }
  return out;
}

/// Whether the body is short and reads runs only: it is written out several times.
bool FunctionEmitter::is_worth_packing(const kernel::For& loop) const {
  int operations = 0;
  bool gathers = false;
  std::unordered_set<const kernel::ExprNode*> seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (!seen.insert(e.get()).second) return;
    if (e->kind == ExprKind::kLoadFlat) {
      if (const auto found = match_look_up(*e)) return visit(found->byte);
      kernel::VectorOffset place;
      gathers |= !kernel::match_vector_offset(e->args[0], vector_var_, varying_, &place) ||
                 (place.scale && !kernel::is_const(place.scale));
      return;
    }
    gathers |= e->kind == ExprKind::kPhilox;
    operations += e->kind == ExprKind::kOp ? 1 : 0;
    for (const Expr& arg : e->args) visit(arg);
  };
  for (const kernel::Statement& statement : loop.body) {
    if (const auto* let = std::get_if<kernel::Let>(&statement.node))
      visit(let->value);
    else
      visit(std::get<kernel::Store>(statement.node).value);
  }
  return !gathers && operations <= kMostOperations;
}

/// Whether all scalars that were taken to be small are so.
llvm::Value* FunctionEmitter::scalars_are_small(const Packing& packing) {
  Value* small = builder_.getTrue();
  llvm::Type* word = builder_.getInt32Ty();
  const float limit = static_cast<float>(packing.scalars);
  const auto bits = llvm::APFloat(limit).bitcastToAPInt();
  for (const Expr& e : packing.asked) {
    // Magnitudes of floats compare as integers; infinity and NaN are the largest.
    Value* magnitude = builder_.CreateAnd(builder_.CreateBitCast(emit(e), word), 0x7FFFFFFF);
    small =
        builder_.CreateAnd(small, builder_.CreateICmpULT(magnitude, llvm::ConstantInt::get(context_, bits)));
  }
  return small;
}

void FunctionEmitter::emit_packed(const kernel::For& loop, Packing packing, Value* begin, Value* end) {
  const int lanes = loop.lanes, step = kGroups * lanes;
  auto* wide = llvm::BasicBlock::Create(context_, "packed", function_);
  auto* narrow = llvm::BasicBlock::Create(context_, "narrow", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  Value* last = builder_.CreateSub(end, i64(step));
  Value* enough = builder_.CreateICmpSGE(last, begin);
  builder_.CreateCondBr(builder_.CreateAnd(enough, scalars_are_small(packing)), wide, narrow);
  memo_.clear();
  builder_.SetInsertPoint(wide);
  counted_loop(
      begin, end,
      [&](Value* base) {
        base = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, base, last);
        packing.words.assign(packing.rounded.size() * kGroups, nullptr);
        packing.base = nullptr;
        packing_ = &packing;
        for (int g = 0; g < kGroups; g += kSideBySide) {
          packing.next = packing.words.begin() + g * static_cast<int>(packing.rounded.size());
          emit_vector_body(loop, builder_.CreateAdd(base, i64(int64_t{g} * lanes)), nullptr,
                           kSideBySide * lanes);
        }
        packing_ = nullptr;
        store_packed(packing);
      },
      step);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(narrow);
  if (target_.avx512())
    emit_masked(loop, begin, end);
  else
    emit_serial(begin, end, loop.var, loop.body);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// Keeps a store's value, rounded to 32 bits.
void FunctionEmitter::add_to_packing(const kernel::Store& store) {
  if (!packing_->base) {
    kernel::VectorOffset place;
    GALATEA_CHECK(kernel::match_vector_offset(store.offset, vector_var_, varying_, &place), "a run's place");
    Value* base = builder_.CreateMul(vector_base_, emit(place.scale));
    if (place.uniform) base = builder_.CreateAdd(emit(place.uniform), base);
    packing_->base = builder_.CreateAdd(base, i64(place.constant));
    packing_->buffer = store.buffer;
    packing_->streaming = store.streaming;
  }
  const auto entry = packing_->table < 0 ? std::nullopt : match_look_up(*store.value);
  Value* x = spread(emit((entry ? entry->byte : store.value)->args[0]));
  if (!packing_->is_bounded) {
    // NaN stays, and is converted to the least number.
    Value* high = llvm::ConstantFP::get(x->getType(), 255);
    x = builder_.CreateSelect(builder_.CreateFCmpOLT(high, x), high, x);
  }
  const int lanes = target_.vector_bits() / 32;
  for (int part = 0; part < kSideBySide; ++part) {
    Value* one = slice(x, part * lanes, lanes);
    packing_->next[part * static_cast<int>(packing_->rounded.size())] =
        target_.avx512() ? builder_.CreateIntrinsic(
                               llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
                               {one, llvm::Constant::getNullValue(vector_of(builder_.getInt32Ty(), lanes)),
                                llvm::Constant::getAllOnesValue(builder_.getInt16Ty()), builder_.getInt32(4)})
                         : builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, {one});
  }
  ++packing_->next;
}

/// Bytes of four registers of 32-bit numbers: in each 128-bit lane four of each register, in order.
llvm::Value* FunctionEmitter::pack(Value* a, Value* b, Value* c, Value* d) {
  const bool wide = target_.avx512();
  const auto halve = [&](Value* x, Value* y) {
    return builder_.CreateIntrinsic(
        wide ? llvm::Intrinsic::x86_avx512_packssdw_512 : llvm::Intrinsic::x86_avx2_packssdw, {}, {x, y});
  };
  return builder_.CreateIntrinsic(
      wide ? llvm::Intrinsic::x86_avx512_packuswb_512 : llvm::Intrinsic::x86_avx2_packuswb, {},
      {halve(a, b), halve(c, d)});
}

/// 32-bit parts of a register of bytes, in another order.
llvm::Value* FunctionEmitter::permute_words(Value* bytes, const std::function<int(int)>& from) {
  const int words = target_.vector_bits() / 32;
  std::vector<llvm::Constant*> index;
  for (int i = 0; i < words; ++i) index.push_back(builder_.getInt32(static_cast<uint32_t>(from(i))));
  llvm::Type* type = vector_of(builder_.getInt32Ty(), words);
  Value* out = builder_.CreateIntrinsic(
      target_.avx512() ? llvm::Intrinsic::x86_avx512_permvar_si_512 : llvm::Intrinsic::x86_avx2_permd, {},
      {builder_.CreateBitCast(bytes, type), llvm::ConstantVector::get(index)});
  return builder_.CreateBitCast(out, bytes->getType());
}

void FunctionEmitter::store_packed(const Packing& packing) {
  const auto& w = packing.words;
  const int bytes = target_.vector_bits() / 8, lanes = bytes / 16;
  const auto looked_up = [&](Value* run) {
    return packing.table < 0 ? run : look_up_register(packing.table, run, nullptr);
  };
  const auto place = [&](int64_t at) {
    return address(packing.buffer, builder_.CreateAdd(packing.base, i64(at)));
  };
  if (packing.rounded.size() == 1) {
    Value* run = looked_up(pack(w[0], w[1], w[2], w[3]));
    run = permute_words(run, [&](int i) { return i % lanes * 4 + i / lanes; });
    return store_whole(run, place(0), packing.buffer, packing.streaming);
  }
  if (target_.vnni_vbmi()) return store_packed_pixels(packing);
  for (int g = 0; g < kGroups; ++g) {
    const auto c = 3 * static_cast<size_t>(g);
    Value* run = looked_up(pack(w[c], w[c + 1], w[c + 2], w[c + 2]));
    // Four pixels a lane, then the lanes side by side.
    std::vector<llvm::Constant*> index;
    for (int i = 0; i < bytes; ++i)
      index.push_back(
          builder_.getInt8(static_cast<uint8_t>(i % 16 < 12 ? i % 16 % 3 * 4 + i % 16 / 3 : 0x80)));
    run = builder_.CreateIntrinsic(
        target_.avx512() ? llvm::Intrinsic::x86_avx512_pshuf_b_512 : llvm::Intrinsic::x86_avx2_pshuf_b, {},
        {run, llvm::ConstantVector::get(index)});
    run = permute_words(run, [&](int i) { return i < 3 * lanes ? i / 3 * 4 + i % 3 : 0; });
    const int used = 12 * lanes;
    Value* pointer = place(int64_t{used} * g);
    llvm::Instruction* store = nullptr;
    if (target_.avx512()) {
      std::vector<llvm::Constant*> some;
      for (int i = 0; i < bytes; ++i) some.push_back(builder_.getInt1(i < used));
      store = builder_.CreateMaskedStore(run, pointer, llvm::Align(1), llvm::ConstantVector::get(some));
    } else {
      store = builder_.CreateAlignedStore(slice(run, 0, used), pointer, llvm::Align(1));
    }
    tag(store, packing.buffer);
  }
}

/// 64 pixels as three whole registers: red and green of the first and of the last 32, blue of all, from which
/// permutes take any bytes.
void FunctionEmitter::store_packed_pixels(const Packing& packing) {
  const auto word = [&](int group, int channel) {
    return packing.words[static_cast<size_t>(3 * group + channel)];
  };
  Value* registers[3] = {pack(word(0, 0), word(0, 1), word(1, 0), word(1, 1)),
                         pack(word(0, 2), word(1, 2), word(2, 2), word(3, 2)),
                         pack(word(2, 0), word(2, 1), word(3, 0), word(3, 1))};
  if (packing.table >= 0)
    for (Value*& one : registers) one = look_up_register(packing.table, one, nullptr);
  struct Place {
    int of, at;  ///< register, byte
  };
  const auto place_of = [](int byte) {
    const int pixel = byte / 3, channel = byte % 3, group = pixel / 16, i = pixel % 16;
    const int lane = i / 4 * 16 + i % 4;
    return channel == 2 ? Place{1, lane + group * 4}
                        : Place{group / 2 * 2, lane + (group % 2 * 2 + channel) * 4};
  };
  for (int part = 0; part < 3; ++part) {
    // The middle part is of all three registers: of the first two at first, then with the third.
    const int from = part == 2 ? 2 : 0;
    std::vector<llvm::Constant*> first, second;
    for (int i = 0; i < 64; ++i) {
      const Place at = place_of(part * 64 + i);
      const int two = at.of == from ? at.at : at.of == 1 ? 64 + at.at : 0;
      first.push_back(builder_.getInt8(static_cast<uint8_t>(two)));
      second.push_back(builder_.getInt8(static_cast<uint8_t>(at.of == 2 ? 64 + at.at : i)));
    }
    const auto permute = [&](Value* a, const std::vector<llvm::Constant*>& index, Value* b) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                      {a, llvm::ConstantVector::get(index), b});
    };
    Value* run = permute(registers[from], first, registers[1]);
    if (part == 1) run = permute(run, second, registers[2]);
    store_whole(run, address(packing.buffer, builder_.CreateAdd(packing.base, i64(int64_t{part} * 64))),
                packing.buffer, packing.streaming);
  }
}

}  // namespace galatea::codegen
