// Tokens and expressions of the text forms; see reader.h for the grammar.
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "compiler/kernel/expr_text.h"
#include "compiler/kernel/reader.h"

namespace galatea::kernel {
namespace {

constexpr int kMaxDepth = 2000;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number behind a prefix: 3 of "axis3".
std::optional<int> number_behind(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() == prefix.size() || !is_digit(word[prefix.size()]))
    return std::nullopt;
  auto value = parse_integer(word.substr(prefix.size()));
  if (!value || *value > 1'000'000) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<Cell> parse_cell(DType type, const std::string& text) {
  if (is_bool(type)) return std::nullopt;
  if (type == DType::kU64) {
    uint64_t value = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Cell{value};
  }
  if (is_integral(type)) {
    auto value = parse_integer(text);
    if (!value || cell_from_int(type, *value).bits != static_cast<uint64_t>(*value)) return std::nullopt;
    return cell_from_int(type, *value);
  }
  char* end = nullptr;
  // strtof rounds once; going through a double would round twice.
  Cell cell = type == DType::kF64
                  ? cell_from_double(type, std::strtod(text.c_str(), &end))
                  : cell_from_double(type, static_cast<double>(std::strtof(text.c_str(), &end)));
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return cell;
}

}  // namespace

TextReader::TextReader(std::string_view text, uint32_t file) : text_(text), file_(file) { advance(); }

void TextReader::advance() {
  position_ = token_.empty() ? position_ : static_cast<size_t>(token_.data() - text_.data()) + token_.size();
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '#') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else {
      break;
    }
  }
  if (position_ >= text_.size()) {
    token_ = {};
    return;
  }
  size_t end = position_ + 1;
  char c = text_[position_];
  if (c == '"') {
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text_.size());
  } else if (is_word(c) || c == '%' || c == '-') {
    bool number = is_digit(c) || c == '-';
    bool hex = text_.substr(position_).starts_with("0x");
    while (end < text_.size()) {
      char previous = text_[end - 1];
      bool exponent_sign =
          number && !hex && (text_[end] == '-' || text_[end] == '+') && (previous == 'e' || previous == 'E');
      if (!is_word(text_[end]) && !exponent_sign) break;
      ++end;
    }
  }
  token_ = text_.substr(position_, end - position_);
}

bool TextReader::accept(std::string_view expected) {
  if (token_ != expected) return false;
  advance();
  return true;
}

std::unexpected<Error> TextReader::error(std::string message, std::string help) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  auto begin = static_cast<uint32_t>(position_);
  diagnostic.span = {file_, begin, begin + static_cast<uint32_t>(token_.size())};
  return make_error(ErrorKind::kUser, std::move(diagnostic));
}

Status TextReader::expect(std::string_view expected) {
  if (accept(expected)) return {};
  return error(fmt::format("expected '{}', found '{}'", expected, at_end() ? "the end of the text" : token_));
}

Result<std::string> TextReader::take_string() {
  if (!at_string() || token_.size() < 2 || token_.back() != '"') return error("expected a quoted name");
  std::string out;
  for (size_t i = 1; i + 1 < token_.size(); ++i) {
    if (token_[i] == '\\' && i + 2 < token_.size()) ++i;
    out += token_[i];
  }
  advance();
  return out;
}

Result<int64_t> TextReader::take_integer() {
  auto value = parse_integer(token_);
  if (!value) return error(fmt::format("expected a number, found '{}'", token_));
  advance();
  return *value;
}

Result<DType> TextReader::take_type() {
  auto type = dtype_from_short_name(token_);
  if (!type)
    return error(fmt::format("'{}' is not an element type", token_), "types are u8, i16, f32, bool, …");
  advance();
  return *type;
}

Result<int> TextReader::take_numbered(std::string_view prefix) {
  auto number = number_behind(token_, prefix);
  if (!number) return error(fmt::format("expected {}0, {}1, …, found '{}'", prefix, prefix, token_));
  advance();
  return *number;
}

Result<std::vector<Expr>> TextReader::take_list() {
  GALATEA_TRY(expect("["));
  std::vector<Expr> out;
  while (token_ != "]") {
    if (!out.empty()) GALATEA_TRY(expect(","));
    GALATEA_ASSIGN(Expr e, take_expr());
    out.push_back(std::move(e));
  }
  advance();
  return out;
}

Result<std::vector<Expr>> TextReader::take_args() {
  GALATEA_TRY(expect("("));
  std::vector<Expr> out;
  while (token_ != ")") {
    if (!out.empty()) GALATEA_TRY(expect(","));
    GALATEA_ASSIGN(Expr e, take_expr());
    out.push_back(std::move(e));
  }
  advance();
  return out;
}

Result<Expr> TextReader::take_expr() {
  if (at_end()) return error("expected an expression, found the end of the text");
  if (depth_ > kMaxDepth) return error("the expression is nested too deeply");
  ++depth_;
  Result<Expr> out = [&]() -> Result<Expr> {
    if (token_ == "{") return take_block();
    if (token_ == "bits") return take_bits();
    if (token_ == "load") return take_load();
    if (token_ == "load_flat") return take_load_flat();
    if (number_behind(token_, "philox")) return take_philox();
    if (token_.starts_with("symbol.")) return take_symbol();
    if (is_digit(token_[0]) || token_[0] == '-' || token_ == "inf") return take_number();
    std::string_view head = token_.substr(0, token_.find('.'));
    if (scalar_op_from_name(head)) return take_operation();
    return take_leaf();
  }();
  --depth_;
  return out;
}

Result<Expr> TextReader::take_block() {
  advance();
  Bindings outer = bindings_;
  while (token_.starts_with('%')) {
    std::string name(token_);
    TextReader before = *this;
    advance();
    if (!accept("=")) {  // the root of the block is itself a name
      *this = std::move(before);
      break;
    }
    GALATEA_ASSIGN(Expr value, take_expr());
    GALATEA_TRY(expect(";"));
    bindings_[name] = std::move(value);
  }
  GALATEA_ASSIGN(Expr root, take_expr());
  GALATEA_TRY(expect("}"));
  bindings_ = std::move(outer);
  return root;
}

Result<Expr> TextReader::take_bits() {
  advance();
  GALATEA_TRY(expect("("));
  uint64_t bits = 0;
  if (!token_.starts_with("0x")) return error("expected bits as 0x…");
  auto [end, failure] = std::from_chars(token_.data() + 2, token_.data() + token_.size(), bits, 16);
  if (failure != std::errc() || end != token_.data() + token_.size()) return error("expected bits as 0x…");
  advance();
  GALATEA_TRY(expect(")"));
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  return constant(type, {bits});
}

Result<Expr> TextReader::take_number() {
  TextReader start = *this;
  std::string number(token_);
  advance();
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  auto cell = parse_cell(type, number);
  if (!cell) return start.error(fmt::format("'{}' is not a value of type {}", number, short_name(type)));
  return constant(type, *cell);
}

Result<Expr> TextReader::take_load() {
  advance();
  GALATEA_TRY(expect("("));
  LoadTarget target;
  target.kind = token_.starts_with("in") ? LoadTarget::Kind::kInput : LoadTarget::Kind::kStage;
  GALATEA_ASSIGN(target.index, take_numbered(target.kind == LoadTarget::Kind::kInput ? "in" : "stage"));
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  Border border = Border::kNone;
  Cell fill;
  if (accept("clamp")) border = Border::kClamp;
  if (accept("reflect_101")) border = Border::kReflect101;
  if (accept("constant")) {
    border = Border::kConstant;
    GALATEA_ASSIGN(Expr value, take_expr());
    if (!is_const(value) || value->type != type)
      return error("the fill must be a constant of the loaded type");
    fill = value->value;
  }
  std::vector<Expr> indices;
  while (accept(",")) {
    GALATEA_ASSIGN(Expr index, take_expr());
    if (index->type != DType::kI64) return error("an index must be i64");
    indices.push_back(std::move(index));
  }
  GALATEA_TRY(expect(")"));
  return load(target, type, std::move(indices), border, fill);
}

Result<Expr> TextReader::take_load_flat() {
  advance();
  GALATEA_TRY(expect("("));
  GALATEA_ASSIGN(int buffer, take_numbered("b"));
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  GALATEA_TRY(expect(","));
  GALATEA_ASSIGN(Expr offset, take_expr());
  if (offset->type != DType::kI64) return error("an offset must be i64");
  GALATEA_TRY(expect(")"));
  return load_flat(buffer, type, std::move(offset));
}

Result<Expr> TextReader::take_philox() {
  GALATEA_ASSIGN(int word, take_numbered("philox"));
  GALATEA_ASSIGN(std::vector<Expr> args, take_args());
  if (args.size() != 3) return error("philox takes a key and two counters");
  for (const Expr& arg : args) {
    if (arg->type != DType::kU64) return error("operands of philox are u64");
  }
  return philox_word(args[0], args[1], args[2], word);
}

Result<Expr> TextReader::take_symbol() {
  std::optional<SymbolKind> kind;
  for (int i = 0; i <= static_cast<int>(SymbolKind::kLocal); ++i) {
    if (token_.substr(7) == name_of(static_cast<SymbolKind>(i))) kind = static_cast<SymbolKind>(i);
  }
  if (!kind) return error(fmt::format("unknown symbol '{}'", token_));
  advance();
  GALATEA_TRY(expect("("));
  GALATEA_ASSIGN(int64_t a, take_integer());
  GALATEA_TRY(expect(","));
  GALATEA_ASSIGN(int64_t b, take_integer());
  GALATEA_TRY(expect(")"));
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  return symbol(*kind, type, a, b);
}

Status TextReader::check_operation(ScalarOp op, const std::vector<Expr>& args) const {
  if (static_cast<int>(args.size()) != num_operands(op)) {
    return error(fmt::format("{} takes {} operands, not {}", name_of(op), num_operands(op), args.size()));
  }
  bool is_select = op == ScalarOp::kSelect;
  if (is_select && !is_bool(args[0]->type)) return error("the condition of a select must be bool");
  for (size_t i = is_select ? 2 : 1; i < args.size(); ++i) {
    DType first = args[is_select ? 1 : 0]->type;
    if (args[i]->type == first) continue;
    return error(fmt::format("{} of {} and {}", name_of(op), short_name(first), short_name(args[i]->type)),
                 "operands must have one type; convert.TYPE(…) converts");
  }
  DType type = args.back()->type;
  bool moves_only = is_select || is_conversion(op);
  if (type == DType::kF16 && !moves_only) return error("there is no arithmetic on f16; convert to f32 first");
  bool bits_only = op >= ScalarOp::kAnd && op <= ScalarOp::kMulHi;
  if (is_float(type) && bits_only) return error(fmt::format("{} of a float", name_of(op)));
  bool float_only = op == ScalarOp::kSqrt || (is_math(op) && op != ScalarOp::kPowInt);
  if (!is_float(type) && float_only) return error(fmt::format("{} of an integer", name_of(op)));
  if (op == ScalarOp::kPowInt && is_float(type)) return error("pow_int of a float");
  if (op == ScalarOp::kMulHi && type != DType::kU32 && type != DType::kI32)
    return error("mul_hi takes u32 and i32");
  return {};
}

Result<Expr> TextReader::take_operation() {
  std::string_view word = token_;
  size_t dot = word.find('.');
  ScalarOp op = *scalar_op_from_name(word.substr(0, dot));
  std::optional<DType> to;
  if (is_conversion(op)) {
    if (dot != std::string_view::npos) to = dtype_from_short_name(word.substr(dot + 1));
    if (!to) return error(fmt::format("{} needs a type: {}.f32(…)", name_of(op), name_of(op)));
  } else if (dot != std::string_view::npos) {
    return error(fmt::format("'{}' is not an operation", word));
  }
  advance();
  GALATEA_ASSIGN(std::vector<Expr> args, take_args());
  GALATEA_TRY(check_operation(op, args));
  if (to) {
    if (op == ScalarOp::kBitcast && size_of(*to) != size_of(args[0]->type))
      return error("bitcast between sizes");
    return make_op(op, *to, std::move(args));
  }
  DType type = is_comparison(op) ? DType::kBool : args.back()->type;
  return make_op(op, type, std::move(args));
}

Result<Expr> TextReader::take_leaf() {
  if (auto found = bindings_.find(token_); found != bindings_.end()) {
    Expr out = found->second;
    advance();
    return out;
  }
  if (accept("true")) return const_bool(true);
  if (accept("false")) return const_bool(false);
  if (accept("tap")) return tap();
  auto axis_number = number_behind(token_, "axis");
  auto reduce_number = number_behind(token_, "raxis");
  auto param_number = number_behind(token_, "p");
  auto var_number = number_behind(token_, "v");
  bool is_acc = token_ == "acc";
  if (!axis_number && !reduce_number && !param_number && !var_number && !is_acc) {
    return error(fmt::format("'{}' is not an expression", token_));
  }
  advance();
  if (axis_number) return axis(*axis_number);
  if (reduce_number) return reduce_axis(*reduce_number);
  GALATEA_TRY(expect(":"));
  GALATEA_ASSIGN(DType type, take_type());
  if (is_acc) return accumulator(type);
  return param_number ? param(*param_number, type) : var(*var_number, type);
}

Result<Expr> read_expr(const std::string& text, SourceMap& sources) {
  uint32_t file = sources.add("<expression>", text);
  TextReader reader(text, file);
  GALATEA_ASSIGN(Expr out, reader.take_expr());
  if (!reader.at_end()) return reader.error("text after the expression");
  return out;
}

}  // namespace galatea::kernel
