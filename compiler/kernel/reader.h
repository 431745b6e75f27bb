// Reads expressions and kernels from their text forms.
//
// Comes in: text. Goes out: the expression or kernel, or a diagnostic at the place where the text is wrong.
// What is read is not yet verified. Building folds, so a text written by hand may read back simplified; what
// to_text wrote reads back equal.
//
//   kernel  := "kernel" [string] "{" param* input* stage* output* "}"
//   param   := "param" "p"N ":" type [string]
//   input   := "input" "in"N ":" type list ["dense" N] [string]
//   stage   := "map" head fields | "band" head "axis" N "in" type fields
//            | "reduce" head "over" list combiner "in" type fields
//            | "histogram" head "over" list "in" type fields | "scan" head "axis" N combiner "in" type fields
//   combiner := "sum"|"min"|"max"
//   head    := "stage"N ":" type list
//   fields  := [string] "{" (("first"|"taps"|"weight"|"source"|"body"|"finish") "=" expr)* "}"
//   output  := "output" "stage"N "[" N ("," N)* "]" ["dense" N] ["streaming"]
//   list    := "[" [expr ("," expr)*] "]"
//   expr    := "{" ("%"N "=" expr ";")* expr "}" | "%"N       shared parts, named before use
//            | number ":" type | "true" | "false" | "bits" "(" hex ")" ":" type
//            | "p"N ":" type | "v"N ":" type | "axis"N | "raxis"N | "tap" | "acc" ":" type
//            | "load" "(" ("in"|"stage")N ":" type [border] ("," expr)* ")"
//            | "load_flat" "(" "b"N ":" type "," expr ")" | "philox"N "(" expr "," expr "," expr ")"
//            | "symbol." kind "(" N "," N ")" ":" type
//            | ("convert"|"saturate"|"bitcast") "." type "(" expr ")" | operation "(" expr ("," expr)* ")"
//   border  := "clamp" | "reflect_101" | "constant" value
//   types are short names (u8 … f64, bool); operations are those of base/scalar_op.h; "#" starts a comment
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

/// A cursor over tokens; the loop reader uses it too.
class TextReader {
 public:
  TextReader(std::string_view text, uint32_t file);

  // ---- tokens
  bool at_end() const { return token_.empty(); }
  std::string_view token() const { return token_; }
  void advance();
  bool accept(std::string_view expected);  ///< skips the token if it is this one
  Status expect(std::string_view expected);
  Result<std::string> take_string();  ///< a quoted text
  Result<int64_t> take_integer();
  Result<DType> take_type();
  /// A word of the form prefix + number: "stage3".
  Result<int> take_numbered(std::string_view prefix);
  bool at_string() const { return !token_.empty() && token_[0] == '"'; }
  std::unexpected<Error> error(std::string message, std::string help = {}) const;

  // ---- expressions
  Result<Expr> take_expr();
  Result<std::vector<Expr>> take_list();

 private:
  using Bindings = std::map<std::string, Expr, std::less<>>;
  Result<Expr> take_block();
  Result<Expr> take_bits();
  Result<Expr> take_number();
  Result<Expr> take_load();
  Result<Expr> take_load_flat();
  Result<Expr> take_philox();
  Result<Expr> take_symbol();
  Result<Expr> take_operation();
  Result<Expr> take_leaf();
  Result<std::vector<Expr>> take_args();
  Status check_operation(ScalarOp op, const std::vector<Expr>& args) const;

  std::string_view text_;
  uint32_t file_;
  size_t position_ = 0;
  std::string_view token_;
  int depth_ = 0;
  Bindings bindings_;
};

/// One expression; the whole text must be used up.
Result<Expr> read_expr(const std::string& text, SourceMap& sources);

}  // namespace galatea::kernel
