// Scalar expressions: what recipes, shape rules and checks are written with, and the bodies of kernel stages.
//
// Comes in: leaves (constants, symbols of the sample program, stage axes, loads) and operations of
// base/scalar_op.h. Goes out: immutable shared DAG nodes. The sample program evaluates expressions without
// axes once per sample (bytecode); kernels evaluate the rest per element. Building folds constants, so a
// shape rule over static extents yields constants.
//
// Two kinds of constants. What a recipe writes is structure: 0 and 1 vanish where they are neutral. What a
// user writes, an extent included, is a number like one that differs per sample: it folds with other
// constants, but no expression looks different because of its value (`origin`), so that kernels, of which it
// becomes a parameter, are shared.
//
// Levels. In a recipe: constants, symbols, axes, taps, accumulator, loads. In a canonical Kernel: symbols
// have become parameters (kParam). In loops: kVar and kLoadFlat have replaced axes, taps and loads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/scalar_op.h"
#include "base/small_vector.h"
#include "base/source.h"

namespace galatea::kernel {

enum class ExprKind : uint8_t {
  kConst,       ///< bits
  kOp,          ///< op over args; conversions have `from` = args[0]'s type
  kSymbol,      ///< a scalar of the sample program (see SymbolKind); recipes only
  kParam,       ///< index = parameter number of the kernel
  kAxis,        ///< index = axis of the stage's domain; type i64
  kReduceAxis,  ///< index = axis of the stage's reduction domain; type i64
  kTap,         ///< tap number of a band stage; type i64
  kAcc,         ///< in `finish`: the accumulated value
  kLoad,        ///< element of a kernel input or another stage: load target, args = indices
  kPhilox,      ///< args = key u64, counter low u64, counter high u64; index = word 0..3; type u32
  kVar,         ///< loops: index = variable
  kLoadFlat,    ///< loops: index = buffer, args[0] = element offset i64
};

enum class SymbolKind : uint8_t {
  kExtent,       ///< a = graph value, b = dimension; i64
  kElement,      ///< a = graph value, b = flat element (row-major; only the first extent may be unknown, and
                 ///< past its end stands the last element, of none 0); the value's dtype
  kSampleIndex,  ///< the sample's number in the data set; u64; a = reader (graph node) whose numbering counts
  kNodeKey,      ///< a = graph node: its random key mixed with the epoch; u64
  kBatchSlot,    ///< position in the batch; i64
  kLocal,        ///< a = local scalar made by the plan (a native function's scalar result, say)
};

/// How indices outside the target are answered.
enum class Border : uint8_t { kNone, kClamp, kReflect101, kConstant };

/// What a load reads.
struct LoadTarget {
  enum class Kind : uint8_t { kInput, kStage } kind = Kind::kInput;
  int index = 0;  ///< kernel input or stage number
  friend bool operator==(const LoadTarget&, const LoadTarget&) = default;
};

struct ExprNode;
/// A handle that shares its node; copying is cheap; empty by default.
class Expr {
 public:
  Expr() = default;
  Expr(const Expr& other) noexcept;
  Expr(Expr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Expr& operator=(Expr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Expr();
  /// Of a node as it is, `hash` included; only what its operands tell (`kinds`) is filled in.
  static Expr of(ExprNode node);
  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode* operator->() const { return node_; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_; }
  DType type() const;

 private:
  static void destroy(const ExprNode* node);
  const ExprNode* node_ = nullptr;
};

/// What an operation is of, or the indices of a load: no operation has more than three operands.
using Operands = SmallVector<Expr, 3>;

/// How many handles share a node. A copy of the node is another node, which nobody shares yet.
class ShareCount {
 public:
  ShareCount() = default;
  ShareCount(const ShareCount&) noexcept {}
  ShareCount& operator=(const ShareCount&) noexcept { return *this; }
  void add() const { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether it was the last.
  bool drop() const { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  mutable std::atomic<uint32_t> count_ = 0;
};

struct ExprNode {
  ExprKind kind = ExprKind::kConst;
  DType type = DType::kI64;
  ScalarOp op = ScalarOp::kAdd;  ///< kOp
  Cell value;                    ///< kConst
  uint64_t origin = 0;  ///< kConst: 0 for structure; else which of the user's numbers, or made how of them
  int index = 0;        ///< kParam, kAxis, kReduceAxis, kPhilox, kVar, kLoadFlat
  SymbolKind symbol = SymbolKind::kExtent;
  int64_t a = 0, b = 0;           ///< kSymbol
  LoadTarget target;              ///< kLoad
  Border border = Border::kNone;  ///< kLoad; applies to every index; kNone promises that all are inside
  Cell fill;                      ///< kLoad with kConstant
  Operands args;
  Span span;
  uint64_t hash = 0;   ///< of the structure; the builders below set it, 0 means not known
  uint32_t kinds = 0;  ///< bit k: it, or what it is made of, has a node of ExprKind k
  ShareCount shares;
};

inline DType Expr::type() const { return node_->type; }

inline constexpr uint32_t bit_of(ExprKind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

inline Expr::Expr(const Expr& other) noexcept : node_(other.node_) {
  if (node_ != nullptr) node_->shares.add();
}
inline Expr::~Expr() {
  if (node_ != nullptr && node_->shares.drop()) destroy(node_);
}

// ---- leaves
Expr constant(DType type, Cell value);
Expr const_int(int64_t value, DType type = DType::kI64);
Expr const_float(double value, DType type = DType::kF32);
Expr const_bool(bool value);
/// A user's number; `origin` is not 0, and equal only where the same number is meant.
Expr user_constant(DType type, Cell value, uint64_t origin);
/// An extent known before the run. Which extents are equal is structure (stages of equal extents share their
/// loops), their values are not; up to four they count channels.
inline constexpr int64_t kMaxStructuralExtent = 4;
Expr extent_constant(int64_t extent);
Expr symbol(SymbolKind kind, DType type, int64_t a, int64_t b = 0);
Expr param(int index, DType type);
Expr axis(int index);
Expr reduce_axis(int index);
Expr tap();
Expr accumulator(DType type);
Expr load(LoadTarget target, DType type, Operands indices, Border border = Border::kNone, Cell fill = {});
Expr philox_word(const Expr& key, const Expr& counter_low, const Expr& counter_high, int word);
Expr var(int index, DType type);
Expr load_flat(int buffer, DType type, const Expr& offset);

// ---- operations; operand types must be equal (GALATEA_CHECK), constants fold, neutral elements vanish where
// that is exact (x+0 and x*1 on integers; never on floats where the sign of zero or NaN would change).
Expr make_op(ScalarOp op, DType type, Operands args);
Expr convert(const Expr& value, DType to);   ///< kConvert; the value itself if already of that type
Expr saturate(const Expr& value, DType to);  ///< kSaturate
Expr select(const Expr& condition, const Expr& a, const Expr& b);
Expr fma(const Expr& a, const Expr& b, const Expr& c);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
/// max(low, min(value, high)) in that operand order: value first
Expr clamp(const Expr& value, const Expr& low, const Expr& high);
Expr unary(ScalarOp op, const Expr& a);
Expr binary(ScalarOp op, const Expr& a, const Expr& b);  ///< comparisons give bool
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);
Expr not_equal(const Expr& a, const Expr& b);
Expr operator&(const Expr& a, const Expr& b);
Expr operator|(const Expr& a, const Expr& b);
Expr operator^(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);

// ---- looking at expressions
bool is_const(const Expr& e);
/// That operation on whatever arguments.
inline bool is_op(const Expr& e, ScalarOp op) { return e->kind == ExprKind::kOp && e->op == op; }
/// A constant of this value that a recipe wrote.
bool is_const_int(const Expr& e, int64_t value);
/// A constant that may be another one in the next program of the same shape.
bool is_user_constant(const Expr& e);
/// Value of an integer constant; the expression must be one.
int64_t const_value(const Expr& e);
/// Structural equality (spans and origins do not count) and a hash that agrees with it.
bool same(const Expr& a, const Expr& b);
/// Equal whatever numbers the user had written: origins count.
bool same_meaning(const Expr& a, const Expr& b);
uint64_t hash_of(const Expr& e);
/// Whether any node of the kind occurs.
inline bool contains(const Expr& e, ExprKind kind) { return e && (e->kinds & bit_of(kind)) != 0; }
/// Rebuilds bottom-up (folding again); `replace` may return an empty Expr for "keep". Shared nodes are
/// visited once.
template <typename F>
Expr rewrite(const Expr& e, const F& replace);
/// The same for a `replace` that answers nothing but where a node of `kinds` (bits: bit_of) is, or has one in
/// it: the rest is left as it is without a look.
template <typename F>
Expr rewrite_kinds(const Expr& e, uint32_t kinds, const F& replace);
/// Whether holds(expr) says yes to some node of `kinds` (bits: bit_of). Asked in no particular order, of
/// leaves perhaps more than once, and what has none of the kinds in it is not looked at.
template <typename F>
bool any_node(const Expr& e, uint32_t kinds, const F& holds);
/// Calls visit(expr) once per distinct node, operands first.
void for_each_node(const Expr& e, const std::function<void(const Expr&)>& visit);
/// `b(a(i,j), …)` style text: "add(axis0, 3:i64)"; the grammar is in kernel/reader.h. Shared parts are named
/// once: "{ %0 = …; add(%0, %0) }".
std::string to_text(const Expr& e);

}  // namespace galatea::kernel

#include "compiler/kernel/expr_rewrite.inl"
