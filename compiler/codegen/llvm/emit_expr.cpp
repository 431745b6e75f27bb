// Scalar expressions to LLVM IR, lane by lane with the meaning of base/scalar_op.h.
#include <cmath>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {

using kernel::ExprKind;
using llvm::Intrinsic::ID;

llvm::Type* FunctionEmitter::shaped(llvm::Type* element, const Value* like) const {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType()))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

llvm::Value* FunctionEmitter::spread(Value* value) {
  return is_vector(value) ? value : builder_.CreateVectorSplat(static_cast<unsigned>(lanes_), value);
}

llvm::Value* FunctionEmitter::like(Value* value, Value* other) {
  return is_vector(other) && !is_vector(value) ? spread(value) : value;
}

llvm::Value* FunctionEmitter::constant_like(DType type, Cell cell, const Value* shape) {
  llvm::Type* element = type_of(type);
  llvm::Constant* scalar = nullptr;
  if (is_float(type)) {
    auto bits = static_cast<unsigned>(8 * size_of(type));
    scalar = llvm::ConstantFP::get(
        context_,
        llvm::APFloat(element->getFltSemantics(),
                      llvm::APInt(bits, bits == 64 ? cell.bits : cell.bits & ((uint64_t{1} << bits) - 1))));
  } else {
    unsigned bits = is_bool(type) ? 1 : static_cast<unsigned>(8 * size_of(type));
    scalar = llvm::ConstantInt::get(element, llvm::APInt(64, cell.bits).trunc(bits));
  }
  if (shape && shape->getType()->isVectorTy())
    return llvm::ConstantVector::getSplat(llvm::cast<llvm::VectorType>(shape->getType())->getElementCount(),
                                          scalar);
  return scalar;
}

llvm::Value* FunctionEmitter::emit(const Expr& e) {
  if (Value* known = memo_.find(e)) return known;
  Value* value = emit_uncached(e);
  memo_.add(e, value);
  return value;
}

llvm::Value* FunctionEmitter::emit_uncached(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kConst:
      return constant_like(e->type, e->value, nullptr);
    case ExprKind::kParam:
      return param_values_[static_cast<size_t>(e->index)];
    case ExprKind::kVar: {
      if (e->index == vector_var_) {
        llvm::SmallVector<llvm::Constant*, 64> iota;
        for (int i = 0; i < lanes_; ++i) iota.push_back(builder_.getInt64(static_cast<uint64_t>(i)));
        return builder_.CreateAdd(spread(vector_base_), llvm::ConstantVector::get(iota));
      }
      const Variable& variable = vars_[static_cast<size_t>(e->index)];
      if (variable.memory) return builder_.CreateLoad(variable.memory->getAllocatedType(), variable.memory);
      GALATEA_CHECK(variable.value != nullptr, "a loop variable is used before its definition");
      return variable.value;
    }
    case ExprKind::kLoadFlat:
      return emit_load(*e);
    case ExprKind::kPhilox:
      return emit_philox(*e);
    case ExprKind::kOp:
      return emit_op(*e);
    default:
      GALATEA_CHECK(false, "an expression that loops may not hold: " + kernel::to_text(e));
  }
}

llvm::Value* FunctionEmitter::emit_op(const kernel::ExprNode& e) {
  std::vector<Value*> args;
  Value* vector = nullptr;
  for (const Expr& arg : e.args) {
    args.push_back(emit(arg));
    if (is_vector(args.back())) vector = args.back();
  }
  if (vector)
    for (Value*& arg : args) arg = like(arg, vector);
  if (e.op == ScalarOp::kSelect) return builder_.CreateSelect(args[0], args[1], args[2]);
  if (is_comparison(e.op)) return emit_compare(e.op, e.args[0].type(), args[0], args[1]);
  DType from = e.args[0].type();
  if (e.op == ScalarOp::kConvert) return emit_convert(from, e.type, args[0]);
  if (e.op == ScalarOp::kSaturate) return emit_saturate(from, e.type, args[0]);
  if (e.op == ScalarOp::kBitcast) return builder_.CreateBitCast(args[0], shaped(type_of(e.type), args[0]));
  return emit_arithmetic(e.op, e.type, args);
}

llvm::Value* FunctionEmitter::emit_compare(ScalarOp op, DType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  if (is_float(type)) {
    switch (op) {
      case ScalarOp::kEq:
        return builder_.CreateFCmp(P::FCMP_OEQ, a, b);
      case ScalarOp::kNe:
        return builder_.CreateFCmp(P::FCMP_UNE, a, b);
      case ScalarOp::kLt:
        return builder_.CreateFCmp(P::FCMP_OLT, a, b);
      case ScalarOp::kLe:
        return builder_.CreateFCmp(P::FCMP_OLE, a, b);
      case ScalarOp::kGt:
        return builder_.CreateFCmp(P::FCMP_OGT, a, b);
      default:
        return builder_.CreateFCmp(P::FCMP_OGE, a, b);
    }
  }
  bool is_signed = is_signed_int(type);
  switch (op) {
    case ScalarOp::kEq:
      return builder_.CreateICmp(P::ICMP_EQ, a, b);
    case ScalarOp::kNe:
      return builder_.CreateICmp(P::ICMP_NE, a, b);
    case ScalarOp::kLt:
      return builder_.CreateICmp(is_signed ? P::ICMP_SLT : P::ICMP_ULT, a, b);
    case ScalarOp::kLe:
      return builder_.CreateICmp(is_signed ? P::ICMP_SLE : P::ICMP_ULE, a, b);
    case ScalarOp::kGt:
      return builder_.CreateICmp(is_signed ? P::ICMP_SGT : P::ICMP_UGT, a, b);
    default:
      return builder_.CreateICmp(is_signed ? P::ICMP_SGE : P::ICMP_UGE, a, b);
  }
}

llvm::Value* FunctionEmitter::emit_round_away(Value* value) {
  // trunc(x), plus one with x's sign where at least half was cut off; the subtraction is exact.
  Value* whole = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value);
  Value* cut = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, builder_.CreateFSub(value, whole));
  Value* half = llvm::ConstantFP::get(value->getType(), 0.5);
  Value* one = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                              llvm::ConstantFP::get(value->getType(), 1.0), value);
  Value* up = builder_.CreateFAdd(whole, one);
  return builder_.CreateSelect(builder_.CreateFCmpOGE(cut, half), up, whole);
}

llvm::Value* FunctionEmitter::multiply_high(Value* a, Value* b, bool is_signed) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type* wide = shaped(builder_.getIntNTy(2 * bits), a);
  Value* x = is_signed ? builder_.CreateSExt(a, wide) : builder_.CreateZExt(a, wide);
  Value* y = is_signed ? builder_.CreateSExt(b, wide) : builder_.CreateZExt(b, wide);
  return builder_.CreateTrunc(
      builder_.CreateLShr(builder_.CreateMul(x, y), llvm::ConstantInt::get(wide, bits)), a->getType());
}

llvm::Value* FunctionEmitter::emit_division(ScalarOp op, DType type, Value* a, Value* b) {
  Value* zero = llvm::Constant::getNullValue(b->getType());
  Value* by_zero = builder_.CreateICmpEQ(b, zero);
  Value* divisor = builder_.CreateSelect(by_zero, llvm::ConstantInt::get(b->getType(), 1), b);
  Value* dividend = a;
  Value* result = nullptr;
  if (is_signed_int(type)) {
    // minimum / -1 wraps to the minimum, remainder 0: divide by 1 and negate instead.
    Value* minus_one = llvm::Constant::getAllOnesValue(b->getType());
    Value* negative = builder_.CreateICmpEQ(divisor, minus_one);
    divisor = builder_.CreateSelect(negative, llvm::ConstantInt::get(b->getType(), 1), divisor);
    if (op == ScalarOp::kDiv)
      result = builder_.CreateSelect(negative, builder_.CreateNeg(a), builder_.CreateSDiv(dividend, divisor));
    else
      result = builder_.CreateSRem(dividend, divisor);
  } else {
    result = op == ScalarOp::kDiv ? builder_.CreateUDiv(dividend, divisor)
                                  : builder_.CreateURem(dividend, divisor);
  }
  result = builder_.CreateSelect(by_zero, zero, result);
  if (llvm::isa<llvm::Constant>(by_zero)) return result;
  // Lanes beyond the end do not count.
  Value* flagged = by_zero;
  if (is_vector(by_zero)) {
    if (mask_) flagged = builder_.CreateAnd(by_zero, mask_);
    flagged = builder_.CreateOrReduce(flagged);
  }
  Value* old = builder_.CreateLoad(builder_.getInt32Ty(), status_);
  Value* flag = builder_.CreateZExt(flagged, builder_.getInt32Ty());
  static_assert(kFlagDivisionByZero == 1);
  builder_.CreateStore(builder_.CreateOr(old, flag), status_);
  return result;
}

llvm::Value* FunctionEmitter::emit_arithmetic(ScalarOp op, DType type, std::vector<Value*>& args) {
  bool real = is_float(type);
  Value* a = args[0];
  Value* b = args.size() > 1 ? args[1] : nullptr;
  auto unary = [&](ID id) { return real ? builder_.CreateUnaryIntrinsic(id, a) : a; };
  switch (op) {
    case ScalarOp::kNeg:
      return real ? builder_.CreateFNeg(a) : builder_.CreateNeg(a);
    case ScalarOp::kAbs:
      if (real) return unary(llvm::Intrinsic::fabs);
      return is_signed_int(type)
                 ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse())
                 : a;
    case ScalarOp::kAdd:
      return real ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case ScalarOp::kSub:
      return real ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b);
    case ScalarOp::kMul:
      return real ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case ScalarOp::kDiv:
      return real ? builder_.CreateFDiv(a, b) : emit_division(op, type, a, b);
    case ScalarOp::kRem:
      return real ? emit_float_rem(a, b) : emit_division(op, type, a, b);
    case ScalarOp::kMin:
      return builder_.CreateSelect(emit_compare(ScalarOp::kLt, type, a, b), a, b);
    case ScalarOp::kMax:
      return builder_.CreateSelect(emit_compare(ScalarOp::kGt, type, a, b), a, b);
    case ScalarOp::kFma:
      if (!real) return builder_.CreateAdd(builder_.CreateMul(a, b), args[2]);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, args[2]});
    case ScalarOp::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case ScalarOp::kFloor:
      return unary(llvm::Intrinsic::floor);
    case ScalarOp::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case ScalarOp::kTrunc:
      return unary(llvm::Intrinsic::trunc);
    case ScalarOp::kRound:
      return unary(llvm::Intrinsic::roundeven);
    case ScalarOp::kRoundAway:
      return real ? emit_round_away(a) : a;
    case ScalarOp::kAnd:
      return builder_.CreateAnd(a, b);
    case ScalarOp::kOr:
      return builder_.CreateOr(a, b);
    case ScalarOp::kXor:
      return builder_.CreateXor(a, b);
    case ScalarOp::kNot:
      return builder_.CreateNot(a);
    case ScalarOp::kShl:
    case ScalarOp::kShr: {
      Value* count = builder_.CreateAnd(
          b, llvm::ConstantInt::get(b->getType(), static_cast<uint64_t>(8 * size_of(type) - 1)));
      if (op == ScalarOp::kShl) return builder_.CreateShl(a, count);
      return is_signed_int(type) ? builder_.CreateAShr(a, count) : builder_.CreateLShr(a, count);
    }
    case ScalarOp::kMulHi:
      return multiply_high(a, b, is_signed_int(type));
    default:
      GALATEA_CHECK(false, "operation " + std::string(name_of(op)) +
                               " reached the code generator; expand_math comes before");
  }
}

/// Whether the value is max(x, bound) with a bound not below `low`: then it is not NaN either.
bool FunctionEmitter::is_at_least(Value* value, double low) {
  namespace match = llvm::PatternMatch;
  llvm::FCmpInst::Predicate compares = llvm::FCmpInst::FCMP_FALSE;
  Value *x = nullptr, *bound = nullptr;
  const llvm::APFloat* number = nullptr;
  return match::match(value,
                      match::m_Select(match::m_FCmp(compares, match::m_Value(x), match::m_Value(bound)),
                                      match::m_Deferred(x), match::m_Deferred(bound))) &&
         compares == llvm::FCmpInst::FCMP_OGT && match::match(bound, match::m_APFloat(number)) &&
         number->convertToDouble() >= low;
}

/// max(min(x, a), b) with numbers a and b that are both less than `high`.
bool FunctionEmitter::is_below(Value* value, double high) {
  namespace match = llvm::PatternMatch;
  llvm::FCmpInst::Predicate compares = llvm::FCmpInst::FCMP_FALSE;
  Value *x = nullptr, *bound = nullptr;
  const llvm::APFloat* number = nullptr;
  const auto is_bounded = [&](llvm::FCmpInst::Predicate wanted) {
    return match::match(value,
                        match::m_Select(match::m_FCmp(compares, match::m_Value(x), match::m_Value(bound)),
                                        match::m_Deferred(x), match::m_Deferred(bound))) &&
           compares == wanted && match::match(bound, match::m_APFloat(number)) &&
           number->convertToDouble() < high;
  };
  if (!is_bounded(llvm::FCmpInst::FCMP_OGT)) return false;
  value = x;
  return is_bounded(llvm::FCmpInst::FCMP_OLT);
}

/// Lanes of f32 or f64 to integers, out of range the nearest bound, NaN 0. What LLVM makes of its own
/// saturating conversion is one lane after the other. Lanes outside the range are poison until a bound is
/// selected for them.
llvm::Value* FunctionEmitter::emit_truncate(DType to, Value* value) {
  llvm::Type* real = value->getType();
  const DType wide = size_of(to) >= 4 ? to : DType::kI32;
  llvm::Type* type = shaped(type_of(wide), value);
  Value* whole =
      is_signed_int(wide) ? builder_.CreateFPToSI(value, type) : builder_.CreateFPToUI(value, type);
  const auto bound = [&](int64_t x) { return llvm::ConstantInt::get(type, static_cast<uint64_t>(x), true); };
  const auto number = [&](double x) { return llvm::ConstantFP::get(real, x); };
  // Bounds are powers of two, which every format holds.
  const double high = std::ldexp(1.0, 8 * size_of(to) - (is_signed_int(to) ? 1 : 0));
  if (!is_below(value, high))
    whole = builder_.CreateSelect(builder_.CreateFCmpOGE(value, number(high)),
                                  bound(static_cast<int64_t>(max_unsigned(to))), whole);
  const double low = is_signed_int(to) ? -high : 0.0;
  if (is_at_least(value, low)) {
    // max(x, least) is neither too small nor NaN.
  } else if (is_signed_int(to)) {
    whole = builder_.CreateSelect(builder_.CreateFCmpOLT(value, number(low)), bound(min_int(to)), whole);
    whole = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), bound(0), whole);
  } else {
    whole = builder_.CreateSelect(builder_.CreateFCmpOGT(value, number(0)), whole, bound(0));
  }
  return builder_.CreateTrunc(whole, shaped(type_of(to), value));
}

llvm::Value* FunctionEmitter::emit_convert(DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* type = shaped(type_of(to), value);
  if (is_bool(to)) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    return is_float(from) ? builder_.CreateFCmpUNE(value, zero) : builder_.CreateICmpNE(value, zero);
  }
  if (is_float(to)) {
    // Every way to f16 goes through f32 (scalar_op.h).
    if (to == DType::kF16 && from != DType::kF32)
      return builder_.CreateFPTrunc(emit_convert(from, DType::kF32, value), type);
    if (is_float(from))
      return size_of(from) < size_of(to) ? builder_.CreateFPExt(value, type)
                                         : builder_.CreateFPTrunc(value, type);
    if (is_signed_int(from)) return builder_.CreateSIToFP(value, type);
    // Narrow unsigned numbers convert fastest as signed 32-bit ones.
    if (size_of(from) < 4)
      return builder_.CreateSIToFP(builder_.CreateZExt(value, shaped(builder_.getInt32Ty(), value)), type);
    return builder_.CreateUIToFP(value, type);
  }
  if (is_float(from)) {
    if (from == DType::kF16) value = emit_convert(DType::kF16, DType::kF32, value);
    if (is_vector(value)) return emit_truncate(to, value);
    ID id = is_signed_int(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (size_of(to) < size_of(from)) return builder_.CreateTrunc(value, type);
  if (size_of(to) == size_of(from) && !is_bool(from)) return value;
  return is_signed_int(from) ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type);
}

llvm::Value* FunctionEmitter::emit_saturate(DType from, DType to, Value* value) {
  if (is_bool(to) || is_float(to) || is_bool(from)) return emit_convert(from, to, value);
  if (is_float(from)) {
    if (from == DType::kF16)
      return emit_saturate(DType::kF32, to, emit_convert(DType::kF16, DType::kF32, value));
    llvm::Type* real = value->getType();
    if (size_of(to) <= 2) {
      // Clamping commutes with rounding when the bounds are whole numbers; max before min turns NaN into the
      // lower bound, so NaN goes first.
      Value* low = llvm::ConstantFP::get(real, static_cast<double>(min_int(to)));
      Value* high = llvm::ConstantFP::get(real, static_cast<double>(max_int(to)));
      Value* x = value;
      if (is_signed_int(to))
        x = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), llvm::Constant::getNullValue(real), x);
      x = builder_.CreateSelect(builder_.CreateFCmpOGT(x, low), x, low);
      x = builder_.CreateSelect(builder_.CreateFCmpOLT(x, high), x, high);
      // Adding 3 * 2^(digits-2) moves the binary point to the end: the sum is rounded half to even, and its
      // low bits are the whole number.
      const bool single = real->getScalarType()->isFloatTy();
      Value* anchor = llvm::ConstantFP::get(real, single ? 0x3p22 : 0x3p51);
      Value* bits =
          builder_.CreateBitCast(builder_.CreateFAdd(x, anchor),
                                 shaped(single ? builder_.getInt32Ty() : builder_.getInt64Ty(), value));
      return builder_.CreateTrunc(bits, shaped(type_of(to), value));
    }
    Value* rounded = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, value);
    return emit_convert(from, to, rounded);
  }
  // Integers: clamp in the source type where a bound lies inside its range.
  Value* x = value;
  auto bound = [&](uint64_t bits) {
    return llvm::ConstantInt::get(value->getType(),
                                  llvm::APInt(64, bits).trunc(value->getType()->getScalarSizeInBits()));
  };
  if (is_signed_int(from)) {
    if (min_int(from) < min_int(to)) {
      Value* low = bound(static_cast<uint64_t>(min_int(to)));
      x = builder_.CreateSelect(builder_.CreateICmpSGT(x, low), x, low);
    }
    if (static_cast<uint64_t>(max_int(from)) > max_unsigned(to)) {
      Value* high = bound(max_unsigned(to));
      x = builder_.CreateSelect(builder_.CreateICmpSLT(x, high), x, high);
    }
  } else if (max_unsigned(from) > max_unsigned(to)) {
    Value* high = bound(max_unsigned(to));
    x = builder_.CreateSelect(builder_.CreateICmpULT(x, high), x, high);
  }
  return emit_convert(from, to, x);
}

/// Philox 4x32-10; the constants and the round are those of base/philox.cpp.
llvm::Value* FunctionEmitter::emit_philox(const kernel::ExprNode& e) {
  std::vector<Value*> args;
  Value* vector = nullptr;
  for (const Expr& arg : e.args) {
    args.push_back(emit(arg));
    if (is_vector(args.back())) vector = args.back();
  }
  if (vector)
    for (Value*& arg : args) arg = like(arg, vector);
  llvm::Type* word = shaped(builder_.getInt32Ty(), args[0]);
  auto low = [&](Value* x) { return builder_.CreateTrunc(x, word); };
  auto high = [&](Value* x) {
    return builder_.CreateTrunc(builder_.CreateLShr(x, llvm::ConstantInt::get(x->getType(), 32)), word);
  };
  Value* c[4] = {low(args[1]), high(args[1]), low(args[2]), high(args[2])};
  Value* k[2] = {low(args[0]), high(args[0])};
  auto constant = [&](uint32_t value) { return llvm::ConstantInt::get(word, value); };
  for (int round = 0; round < 10; ++round) {
    Value* h0 = multiply_high(c[0], constant(0xD2511F53), false);
    Value* l0 = builder_.CreateMul(c[0], constant(0xD2511F53));
    Value* h1 = multiply_high(c[2], constant(0xCD9E8D57), false);
    Value* l1 = builder_.CreateMul(c[2], constant(0xCD9E8D57));
    Value* next[4] = {builder_.CreateXor(builder_.CreateXor(h1, c[1]), k[0]), l1,
                      builder_.CreateXor(builder_.CreateXor(h0, c[3]), k[1]), l0};
    std::copy(next, next + 4, c);
    k[0] = builder_.CreateAdd(k[0], constant(0x9E3779B9));
    k[1] = builder_.CreateAdd(k[1], constant(0xBB67AE85));
  }
  return c[e.index];
}

}  // namespace galatea::codegen
