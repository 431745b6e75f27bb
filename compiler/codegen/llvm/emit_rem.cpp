// The remainder of floats, as C's fmod: exact. LLVM would call the C library, which generated code cannot: it
// has no symbols. Whole numbers of the significand's width are divided bit by bit.
#include <llvm/IR/Intrinsics.h>

#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {
namespace {

using llvm::Value;

/// Builds `float galatea.rem(float x, float y)`.
class RemBuilder {
 public:
  RemBuilder(llvm::Function* function, llvm::Type* real)
      : function_(function),
        builder_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
        bits_(real->getScalarSizeInBits()),
        fraction_(bits_ == 32 ? 23 : 52),
        word_(builder_.getIntNTy(bits_)) {}

  void run() {
    Value* x = function_->getArg(0);
    Value* y = function_->getArg(1);
    Value* sign = builder_.CreateAnd(builder_.CreateBitCast(x, word_), constant(uint64_t{1} << (bits_ - 1)));
    const Parts a = parts(x), b = parts(y);
    // Infinity or NaN on the left, zero or NaN on the right: NaN.
    Value* infinity = constant(((uint64_t{1} << (bits_ - 1 - fraction_)) - 1) << fraction_);
    Value* is_invalid = builder_.CreateOr(builder_.CreateICmpUGE(a.magnitude, infinity),
                                          builder_.CreateOr(builder_.CreateICmpUGT(b.magnitude, infinity),
                                                            builder_.CreateICmpEQ(b.magnitude, constant(0))));
    auto* invalid = block("invalid");
    auto* valid = block("valid");
    builder_.CreateCondBr(is_invalid, invalid, valid);
    builder_.SetInsertPoint(invalid);
    Value* product = builder_.CreateFMul(x, y);
    builder_.CreateRet(builder_.CreateFDiv(product, product));

    builder_.SetInsertPoint(valid);
    auto* smaller = block("smaller");
    auto* divide = block("divide");
    builder_.CreateCondBr(builder_.CreateICmpULT(a.magnitude, b.magnitude), smaller, divide);
    builder_.SetInsertPoint(smaller);
    builder_.CreateRet(x);

    builder_.SetInsertPoint(divide);
    Value* rest = reduced(steps(a, b, divide), b.significand);
    Value* bits = builder_.CreateSelect(builder_.CreateICmpEQ(rest, constant(0)), constant(0),
                                        composed(rest, b.exponent));
    builder_.CreateRet(builder_.CreateBitCast(builder_.CreateOr(bits, sign), x->getType()));
  }

 private:
  /// value = significand * 2^(exponent - bias), with the significand's top bit at `fraction_`.
  struct Parts {
    Value *magnitude, *significand, *exponent;
  };

  Value* constant(uint64_t value) { return llvm::ConstantInt::get(word_, value); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  }
  /// How far the top bit is from its place.
  Value* distance(Value* significand) {
    Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, significand, builder_.getFalse());
    // Of zero: any number that may be shifted by.
    Value* far = builder_.CreateSub(zeros, constant(bits_ - 1 - fraction_));
    return builder_.CreateAnd(far, constant(bits_ - 1));
  }
  Parts parts(Value* value) {
    Value* magnitude =
        builder_.CreateAnd(builder_.CreateBitCast(value, word_), constant((uint64_t{1} << (bits_ - 1)) - 1));
    Value* exponent = builder_.CreateLShr(magnitude, constant(fraction_));
    Value* low = builder_.CreateAnd(magnitude, constant((uint64_t{1} << fraction_) - 1));
    Value* is_subnormal = builder_.CreateICmpEQ(exponent, constant(0));
    Value* shift = distance(low);
    Value* normal = builder_.CreateOr(low, constant(uint64_t{1} << fraction_));
    return {magnitude, builder_.CreateSelect(is_subnormal, builder_.CreateShl(low, shift), normal),
            builder_.CreateSelect(is_subnormal, builder_.CreateSub(constant(1), shift), exponent)};
  }
  Value* reduced(Value* rest, Value* divisor) {
    return builder_.CreateSelect(builder_.CreateICmpUGE(rest, divisor), builder_.CreateSub(rest, divisor),
                                 rest);
  }
  /// One bit of the quotient for each step that the exponents are apart.
  Value* steps(const Parts& a, const Parts& b, llvm::BasicBlock* before) {
    auto* loop = block("step");
    auto* after = block("after");
    Value* count = builder_.CreateSub(a.exponent, b.exponent);
    builder_.CreateCondBr(builder_.CreateICmpSGT(count, constant(0)), loop, after);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* left = builder_.CreatePHI(word_, 2);
    llvm::PHINode* rest = builder_.CreatePHI(word_, 2);
    Value* next = builder_.CreateShl(reduced(rest, b.significand), constant(1));
    Value* fewer = builder_.CreateSub(left, constant(1));
    left->addIncoming(count, before), left->addIncoming(fewer, loop);
    rest->addIncoming(a.significand, before), rest->addIncoming(next, loop);
    builder_.CreateCondBr(builder_.CreateICmpSGT(fewer, constant(0)), loop, after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* out = builder_.CreatePHI(word_, 2);
    out->addIncoming(a.significand, before), out->addIncoming(next, loop);
    return out;
  }
  /// The bits of a rest that is not zero, at the divisor's exponent.
  Value* composed(Value* rest, Value* exponent) {
    Value* shift = distance(rest);
    Value* whole = builder_.CreateShl(rest, shift);
    Value* at = builder_.CreateSub(exponent, shift);
    Value* normal = builder_.CreateOr(builder_.CreateSub(whole, constant(uint64_t{1} << fraction_)),
                                      builder_.CreateShl(at, constant(fraction_)));
    Value* down = builder_.CreateAnd(builder_.CreateSub(constant(1), at), constant(bits_ - 1));
    return builder_.CreateSelect(builder_.CreateICmpSGT(at, constant(0)), normal,
                                 builder_.CreateLShr(whole, down));
  }

  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  unsigned bits_, fraction_;
  llvm::Type* word_;
};

}  // namespace

llvm::Value* FunctionEmitter::emit_float_rem(Value* a, Value* b) {
  llvm::Type* type = a->getType();
  llvm::Type* element = type->getScalarType();
  if (element->isHalfTy()) {
    // The remainder of halves is a half: f32 gives it exactly.
    llvm::Type* wide = shaped(builder_.getFloatTy(), a);
    return builder_.CreateFPTrunc(
        emit_float_rem(builder_.CreateFPExt(a, wide), builder_.CreateFPExt(b, wide)), type);
  }
  const char* name = element->isFloatTy() ? "galatea.rem.f32" : "galatea.rem.f64";
  llvm::Function* function = module_.getFunction(name);
  if (!function) {
    function = llvm::Function::Create(llvm::FunctionType::get(element, {element, element}, false),
                                      llvm::Function::InternalLinkage, name, module_);
    set_target(function);
    RemBuilder(function, element).run();
  }
  if (!is_vector(a)) return builder_.CreateCall(function, {a, b});
  Value* out = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); ++i) {
    Value* one = builder_.CreateCall(
        function, {builder_.CreateExtractElement(a, i), builder_.CreateExtractElement(b, i)});
    out = builder_.CreateInsertElement(out, one, i);
  }
  return out;
}

}  // namespace galatea::codegen
