// Building, folding, hashing and comparing expressions.
//
// Comes in: operands. Goes out: nodes in which constants are folded and neutral elements gone, where that is
// exact for every value. Text is in expr_text.cpp.
#include "compiler/kernel/expr.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/node_map.h"

namespace galatea::kernel {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

uint64_t compute_hash(const ExprNode& node) {
  uint64_t hash =
      mix(0x51ED270B35AE1237U,
          static_cast<uint64_t>(node.kind) | static_cast<uint64_t>(node.type) << 8 |
              static_cast<uint64_t>(node.op) << 16 | static_cast<uint64_t>(node.symbol) << 24 |
              static_cast<uint64_t>(node.border) << 32 | static_cast<uint64_t>(node.target.kind) << 40);
  hash = mix(hash, node.value.bits);
  hash = mix(hash, static_cast<uint64_t>(static_cast<uint32_t>(node.index)) |
                       static_cast<uint64_t>(static_cast<uint32_t>(node.target.index)) << 32);
  hash = mix(hash, static_cast<uint64_t>(node.a));
  hash = mix(hash, static_cast<uint64_t>(node.b));
  hash = mix(hash, node.fill.bits);
  for (const Expr& arg : node.args) hash = mix(hash, hash_of(arg));
  return hash == 0 ? 1 : hash;
}

Expr finish_node(ExprNode node) {
  node.hash = compute_hash(node);
  return Expr::of(std::move(node));
}

bool same_head(const ExprNode& a, const ExprNode& b) {
  return a.kind == b.kind && a.type == b.type && a.op == b.op && a.value == b.value && a.index == b.index &&
         a.symbol == b.symbol && a.a == b.a && a.b == b.b && a.target == b.target && a.border == b.border &&
         a.fill == b.fill && a.args.size() == b.args.size();
}

/// Nodes that were found equal: each but one of a class knows another of it, nearer to that one.
using Equals = NodeMap<const ExprNode*>;
const ExprNode* class_of(const ExprNode* node, const Equals& equals) {
  while (const auto* nearer = equals.find(node)) node = nearer->second;
  return node;
}

bool same_nodes(const Expr& a, const Expr& b, bool with_origins, Equals& equals) {
  if (a.get() == b.get()) return true;
  if (!a || !b || hash_of(a) != hash_of(b) || !same_head(*a, *b)) return false;
  if (with_origins && a->origin != b->origin) return false;
  if (a->args.empty()) return true;
  if (class_of(a.get(), equals) == class_of(b.get(), equals)) return true;
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!same_nodes(a->args[i], b->args[i], with_origins, equals)) return false;
  }
  const ExprNode *of_a = class_of(a.get(), equals), *of_b = class_of(b.get(), equals);
  if (of_a != of_b) equals.emplace(of_b, of_a);
  return true;
}

bool is_structural(const Expr& e) { return is_const(e) && e->origin == 0; }
bool is_one(const Expr& e) {
  if (!is_structural(e)) return false;
  return e->value == (is_float(e->type) ? cell_from_double(e->type, 1.0) : Cell{1});
}
bool is_int_zero(const Expr& e) { return is_structural(e) && is_integral(e->type) && e->value.bits == 0; }
bool is_float_const(const Expr& e, double value) {
  return is_structural(e) && is_float(e->type) && e->value == cell_from_double(e->type, value);
}

Expr raw_op(ScalarOp op, DType type, Operands args) {
  ExprNode node;
  node.kind = ExprKind::kOp;
  node.op = op;
  node.type = type;
  node.args = std::move(args);
  return finish_node(std::move(node));
}

/// Of a constant made of constants: what it is made of, if a user's number is among them.
uint64_t folded_origin(uint64_t made_by, const Operands& args) {
  uint64_t hash = mix(0x6A09E667F3BCC909U, made_by);
  bool of_user = false;
  for (const Expr& arg : args) {
    of_user |= arg->origin != 0;
    hash = mix(mix(hash, arg->origin), arg->origin != 0 ? uint64_t{0} : arg->value.bits);
  }
  return of_user ? hash | 1 : 0;
}

/// All operands constant and no flag raised: the result.
Expr fold(ScalarOp op, DType type, const Operands& args) {
  if (!std::all_of(args.begin(), args.end(), is_const)) return {};
  SmallVector<Cell, 3> cells;
  for (const Expr& arg : args) cells.push_back(arg->value);
  uint32_t flags = 0;
  // Comparisons are evaluated in their operands' type.
  DType evaluated = is_comparison(op) ? args[0]->type : type;
  Cell value = evaluate(op, evaluated, args[0]->type, cells.data(), &flags);
  // A division by zero must still be seen when the kernel runs.
  if (flags != 0) return {};
  const uint64_t made_by = static_cast<uint64_t>(op) | static_cast<uint64_t>(type) << 8;
  return user_constant(type, value, folded_origin(made_by, args));
}

bool is_commutative(ScalarOp op) {
  return op == ScalarOp::kAdd || op == ScalarOp::kMul || op == ScalarOp::kAnd || op == ScalarOp::kOr ||
         op == ScalarOp::kXor || op == ScalarOp::kMin || op == ScalarOp::kMax;
}

/// Integer identities; all exact modulo 2^bits.
Expr simplify_int(ScalarOp op, DType type, Operands& args) {
  if (args.size() != 2) return {};
  if (is_commutative(op) && is_const(args[0])) std::swap(args[0], args[1]);
  const Expr& a = args[0];
  const Expr& b = args[1];
  bool equal_operands = same_meaning(a, b);
  // What was taken away comes back: (x - y) + y, (w + (x - y)) + y; and what was taken apart: (x / y) * y + x % y.
  if (op == ScalarOp::kAdd && !is_bool(type)) {
    for (const auto& [rows, rest] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if (!is_op(*rows, ScalarOp::kMul) || !is_op((*rows)->args[0], ScalarOp::kDiv) ||
          !is_op(*rest, ScalarOp::kRem))
        continue;
      const Expr &quotient = (*rows)->args[0], &divisor = quotient->args[1];
      if (is_never_zero(divisor) && same_meaning((*rows)->args[1], divisor) &&
          same_meaning((*rest)->args[1], divisor) && same_meaning((*rest)->args[0], quotient->args[0]))
        return quotient->args[0];
    }
    if (is_op(b, ScalarOp::kNeg)) return binary(ScalarOp::kSub, a, b->args[0]);
    if (is_op(a, ScalarOp::kNeg)) return binary(ScalarOp::kSub, b, a->args[0]);
    if (is_op(a, ScalarOp::kSub) && same_meaning(a->args[1], b)) return a->args[0];
    if (is_op(b, ScalarOp::kSub) && same_meaning(b->args[1], a)) return b->args[0];
    if (is_op(a, ScalarOp::kAdd) && is_op(a->args[1], ScalarOp::kSub) && same_meaning(a->args[1]->args[1], b))
      return binary(ScalarOp::kAdd, a->args[0], a->args[1]->args[0]);
  }
  if (op == ScalarOp::kSub && !is_bool(type) && is_op(a, ScalarOp::kAdd)) {
    if (same_meaning(a->args[1], b)) return a->args[0];
    if (same_meaning(a->args[0], b)) return a->args[1];
  }
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      if (is_int_zero(b)) return a;
      break;
    case ScalarOp::kSub:
      if (is_int_zero(b)) return a;
      if (equal_operands) return constant(type, {0});
      break;
    case ScalarOp::kMul:
    case ScalarOp::kAnd:
      if (is_int_zero(b)) return b;
      if (op == ScalarOp::kMul && is_one(b) && !is_bool(type)) return a;
      break;
    case ScalarOp::kDiv:
      if (is_one(b)) return a;
      break;
    default:
      break;
  }
  if (equal_operands &&
      (op == ScalarOp::kMin || op == ScalarOp::kMax || op == ScalarOp::kAnd || op == ScalarOp::kOr)) {
    return a;
  }
  // (x + c) + d = x + (c + d), also for products and for x - c, which is x + (-c).
  if (op == ScalarOp::kSub && is_const(b) && !is_bool(type))
    return binary(ScalarOp::kAdd, a, unary(ScalarOp::kNeg, b));
  bool chain = (op == ScalarOp::kAdd || op == ScalarOp::kMul) && is_const(b) && a->kind == ExprKind::kOp &&
               a->op == op && a->type == type && is_const(a->args[1]);
  if (chain) return binary(op, a->args[0], binary(op, a->args[1], b));
  return {};
}

/// Float identities that hold for every value, signed zeros included (payloads of NaN carry no meaning).
Expr simplify_float(ScalarOp op, const Operands& args) {
  switch (op) {
    case ScalarOp::kMul:
      if (is_one(args[1])) return args[0];
      if (is_one(args[0])) return args[1];
      break;
    case ScalarOp::kDiv:
      if (is_one(args[1])) return args[0];
      break;
    case ScalarOp::kAdd:
      if (is_float_const(args[1], -0.0)) return args[0];
      if (is_float_const(args[0], -0.0)) return args[1];
      break;
    case ScalarOp::kSub:
      if (is_float_const(args[1], 0.0)) return args[0];
      break;
    case ScalarOp::kFma:
      if (is_one(args[1])) return binary(ScalarOp::kAdd, args[0], args[2]);
      if (is_one(args[0])) return binary(ScalarOp::kAdd, args[1], args[2]);
      break;
    default:
      break;
  }
  return {};
}

Expr simplify_compare(ScalarOp op, const Operands& args) {
  if (!is_integral(args[0]->type) || !same_meaning(args[0], args[1])) return {};
  return const_bool(op == ScalarOp::kEq || op == ScalarOp::kLe || op == ScalarOp::kGe);
}

Expr simplify_select(const Operands& args) {
  if (is_const(args[0])) return args[0]->value.bits != 0 ? args[1] : args[2];
  if (same_meaning(args[1], args[2])) return args[1];
  return {};
}

/// f16 is read and written through f32 only, so that every backend rounds alike.
Expr through_single(ScalarOp op, DType type, const Expr& value) {
  if (op == ScalarOp::kBitcast) return {};
  if (value->type == DType::kF16 && type != DType::kF32) {
    return make_op(op, type, {make_op(ScalarOp::kConvert, DType::kF32, {value})});
  }
  if (type == DType::kF16 && value->type != DType::kF32) {
    return make_op(ScalarOp::kConvert, type, {make_op(ScalarOp::kConvert, DType::kF32, {value})});
  }
  return {};
}

void check_types(ScalarOp op, DType type, const Operands& args) {
  GALATEA_CHECK(static_cast<int>(args.size()) == num_operands(op),
                std::string(name_of(op)) + ": number of operands");
  for (const Expr& arg : args)
    GALATEA_CHECK(static_cast<bool>(arg), std::string(name_of(op)) + ": empty operand");
  if (is_conversion(op)) return;
  size_t begin = 0;
  if (op == ScalarOp::kSelect) {
    GALATEA_CHECK(is_bool(args[0]->type), "select: the condition must be bool");
    begin = 1;
  }
  for (size_t i = begin + 1; i < args.size(); ++i) {
    GALATEA_CHECK(args[i]->type == args[begin]->type, std::string(name_of(op)) + ": operands " +
                                                          to_text(args[begin]) + " and " + to_text(args[i]));
  }
  DType expected = is_comparison(op) ? DType::kBool : args[begin]->type;
  GALATEA_CHECK(type == expected, std::string(name_of(op)) + ": result type");
}

}  // namespace

Expr Expr::of(ExprNode node) {
  node.kinds = bit_of(node.kind);
  for (const Expr& arg : node.args) node.kinds |= arg->kinds;
  Expr out;
  out.node_ = new ExprNode(std::move(node));
  out.node_->shares.add();
  return out;
}

void Expr::destroy(const ExprNode* node) { delete node; }

// ---- leaves

Expr user_constant(DType type, Cell value, uint64_t origin) {
  ExprNode node;
  node.kind = ExprKind::kConst;
  node.type = type;
  node.value = value;
  node.origin = origin;
  return finish_node(std::move(node));
}
Expr constant(DType type, Cell value) { return user_constant(type, value, 0); }
Expr extent_constant(int64_t extent) {
  const Cell value = cell_from_int(DType::kI64, extent);
  if (extent <= kMaxStructuralExtent) return constant(DType::kI64, value);
  return user_constant(DType::kI64, value, mix(0xBB67AE8584CAA73BU, value.bits) | 1);
}
Expr const_int(int64_t value, DType type) { return constant(type, cell_from_int(type, value)); }
Expr const_float(double value, DType type) { return constant(type, cell_from_double(type, value)); }
Expr const_bool(bool value) { return constant(DType::kBool, {value ? uint64_t{1} : uint64_t{0}}); }

Expr symbol(SymbolKind kind, DType type, int64_t a, int64_t b) {
  ExprNode node;
  node.kind = ExprKind::kSymbol;
  node.type = type;
  node.symbol = kind;
  node.a = a;
  node.b = b;
  return finish_node(std::move(node));
}

namespace {
Expr indexed_leaf(ExprKind kind, int index, DType type) {
  ExprNode node;
  node.kind = kind;
  node.type = type;
  node.index = index;
  return finish_node(std::move(node));
}
}  // namespace

Expr param(int index, DType type) { return indexed_leaf(ExprKind::kParam, index, type); }
Expr axis(int index) { return indexed_leaf(ExprKind::kAxis, index, DType::kI64); }
Expr reduce_axis(int index) { return indexed_leaf(ExprKind::kReduceAxis, index, DType::kI64); }
Expr tap() { return indexed_leaf(ExprKind::kTap, 0, DType::kI64); }
Expr accumulator(DType type) { return indexed_leaf(ExprKind::kAcc, 0, type); }
Expr var(int index, DType type) { return indexed_leaf(ExprKind::kVar, index, type); }

Expr load(LoadTarget target, DType type, Operands indices, Border border, Cell fill) {
  for (const Expr& index : indices) {
    GALATEA_CHECK(index && index->type == DType::kI64, "indices of a load are i64");
  }
  ExprNode node;
  node.kind = ExprKind::kLoad;
  node.type = type;
  node.target = target;
  node.border = border;
  if (border == Border::kConstant) node.fill = fill;
  node.args = std::move(indices);
  return finish_node(std::move(node));
}

Expr philox_word(const Expr& key, const Expr& counter_low, const Expr& counter_high, int word) {
  Operands args = {key, counter_low, counter_high};
  for (const Expr& arg : args) GALATEA_CHECK(arg && arg->type == DType::kU64, "operands of philox are u64");
  if (is_const(args[0]) && is_const(args[1]) && is_const(args[2])) {
    return user_constant(DType::kU32,
                         {philox(args[0]->value.bits, args[1]->value.bits, args[2]->value.bits, word)},
                         folded_origin(static_cast<uint64_t>(word), args));
  }
  ExprNode node;
  node.kind = ExprKind::kPhilox;
  node.type = DType::kU32;
  node.index = word;
  node.args = std::move(args);
  return finish_node(std::move(node));
}

Expr load_flat(int buffer, DType type, const Expr& offset) {
  GALATEA_CHECK(offset && offset->type == DType::kI64, "offsets are i64");
  ExprNode node;
  node.kind = ExprKind::kLoadFlat;
  node.type = type;
  node.index = buffer;
  node.args = {offset};
  return finish_node(std::move(node));
}

// ---- operations

Expr make_op(ScalarOp op, DType type, Operands args) {
  check_types(op, type, args);
  if (is_conversion(op)) {
    if (args[0]->type == type) return args[0];
    if (Expr out = through_single(op, type, args[0])) return out;
  }
  if (Expr out = fold(op, type, args)) return out;
  Expr out;
  if (op == ScalarOp::kSelect) {
    out = simplify_select(args);
  } else if (is_comparison(op)) {
    out = simplify_compare(op, args);
  } else if (is_conversion(op) || is_math(op)) {
    out = {};
  } else if (is_integral(type)) {
    out = simplify_int(op, type, args);
  } else {
    out = simplify_float(op, args);
  }
  return out ? out : raw_op(op, type, std::move(args));
}

Expr convert(const Expr& value, DType to) { return make_op(ScalarOp::kConvert, to, {value}); }
Expr saturate(const Expr& value, DType to) { return make_op(ScalarOp::kSaturate, to, {value}); }
Expr select(const Expr& condition, const Expr& a, const Expr& b) {
  DType type = a->type;
  return make_op(ScalarOp::kSelect, type, {condition, a, b});
}
Expr fma(const Expr& a, const Expr& b, const Expr& c) {
  DType type = a->type;
  return make_op(ScalarOp::kFma, type, {a, b, c});
}
Expr min(const Expr& a, const Expr& b) { return binary(ScalarOp::kMin, a, b); }
Expr max(const Expr& a, const Expr& b) { return binary(ScalarOp::kMax, a, b); }
Expr clamp(const Expr& value, const Expr& low, const Expr& high) { return max(min(value, high), low); }
Expr unary(ScalarOp op, const Expr& a) {
  DType type = a->type;
  return make_op(op, type, {a});
}
Expr binary(ScalarOp op, const Expr& a, const Expr& b) {
  DType type = is_comparison(op) ? DType::kBool : a->type;
  return make_op(op, type, {a, b});
}
Expr operator+(const Expr& a, const Expr& b) { return binary(ScalarOp::kAdd, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(ScalarOp::kSub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(ScalarOp::kMul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return binary(ScalarOp::kDiv, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return binary(ScalarOp::kRem, a, b); }
Expr operator-(const Expr& a) { return unary(ScalarOp::kNeg, a); }
Expr operator<(const Expr& a, const Expr& b) { return binary(ScalarOp::kLt, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return binary(ScalarOp::kLe, a, b); }
Expr operator>(const Expr& a, const Expr& b) { return binary(ScalarOp::kGt, a, b); }
Expr operator>=(const Expr& a, const Expr& b) { return binary(ScalarOp::kGe, a, b); }
Expr equal(const Expr& a, const Expr& b) { return binary(ScalarOp::kEq, a, b); }
Expr not_equal(const Expr& a, const Expr& b) { return binary(ScalarOp::kNe, a, b); }
Expr operator&(const Expr& a, const Expr& b) { return binary(ScalarOp::kAnd, a, b); }
Expr operator|(const Expr& a, const Expr& b) { return binary(ScalarOp::kOr, a, b); }
Expr operator^(const Expr& a, const Expr& b) { return binary(ScalarOp::kXor, a, b); }
Expr logical_not(const Expr& a) {
  GALATEA_CHECK(is_bool(a->type), "logical_not takes bool");
  return unary(ScalarOp::kNot, a);
}

// ---- looking at expressions

bool is_const(const Expr& e) { return e && e->kind == ExprKind::kConst; }
bool is_const_int(const Expr& e, int64_t value) {
  return is_structural(e) && is_integral(e->type) && e->value == cell_from_int(e->type, value);
}
bool is_user_constant(const Expr& e) { return is_const(e) && e->origin != 0; }
int64_t const_value(const Expr& e) {
  GALATEA_CHECK(is_const(e) && is_integral(e->type),
                "const_value of something else than an integer constant");
  return cell_to_int(e->type, e->value);
}

bool same(const Expr& a, const Expr& b) {
  Equals equals;
  return same_nodes(a, b, false, equals);
}
bool same_meaning(const Expr& a, const Expr& b) {
  Equals equals;
  return same_nodes(a, b, true, equals);
}

uint64_t hash_of(const Expr& e) {
  if (!e) return 0;
  return e->hash != 0 ? e->hash : compute_hash(*e);
}

namespace {
void visit_nodes(const Expr& e, const std::function<void(const Expr&)>& visit, NodeSet& seen) {
  if (!e || !seen.insert(e.get())) return;
  for (const Expr& arg : e->args) visit_nodes(arg, visit, seen);
  visit(e);
}
}  // namespace

void for_each_node(const Expr& e, const std::function<void(const Expr&)>& visit) {
  NodeSet seen;
  visit_nodes(e, visit, seen);
}

namespace detail {

Expr with_args(const ExprNode& node, Operands args) {
  switch (node.kind) {
    case ExprKind::kOp:
      return make_op(node.op, node.type, std::move(args));
    case ExprKind::kLoad:
      return load(node.target, node.type, std::move(args), node.border, node.fill);
    case ExprKind::kPhilox:
      return philox_word(args[0], args[1], args[2], node.index);
    case ExprKind::kLoadFlat:
      return load_flat(node.index, node.type, std::move(args[0]));
    default:
      break;
  }
  ExprNode copy = node;
  copy.args = std::move(args);
  return finish_node(std::move(copy));
}

}  // namespace detail
}  // namespace galatea::kernel
