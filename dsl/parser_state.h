// The parser's class, shared by parser_stmt.cpp and parser_expr.cpp and by nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/lexer.h"
#include "dsl/limits.h"
#include "dsl/messages.h"
#include "dsl/parser.h"

namespace galatea::dsl {

/// Leaves the construct that failed; caught where parsing can go on. The error is reported before it is
/// thrown.
struct SyntaxError {};

inline constexpr int kMaxExpressionDepth = 600;  ///< nested expressions
inline constexpr int kMaxChainLength = 2000;     ///< operands of one chain: a + b + …, a.b.c…, elif … elif
inline constexpr int kMaxBlockDepth = 100;

/// Whether a value begins with the token: two of them side by side are no expression.
inline bool begins_value(const Token& t) {
  constexpr std::array kWords = {"None", "True", "False", "not", "lambda"};
  return t.kind == TokenKind::kName || t.kind == TokenKind::kString || t.kind == TokenKind::kInteger ||
         t.kind == TokenKind::kFloat ||
         (t.kind == TokenKind::kKeyword && std::ranges::find(kWords, t.text) != kWords.end());
}
inline bool touches(const Token& left, const Token& right) { return left.span.end == right.span.begin; }

/// What to do in place of a construct that is out. What may be the host program's is told where it runs.
struct Advice {
  std::string text;
  bool may_be_of_host = false;
};

class Parser {
 public:
  Parser(uint32_t file, std::string_view text, std::vector<Token> tokens,
         std::vector<Diagnostic>& diagnostics, MemoryBound bound = {})
      : file_(file),
        text_(text),
        tokens_(with_normal_names(std::move(tokens))),
        diagnostics_(diagnostics),
        ordinals_(1),
        bound_(bound) {
    for (const Diagnostic& d : diagnostics) told_by_lexer_.push_back(d.span.begin);
    std::ranges::sort(told_by_lexer_);
  }

  std::unique_ptr<Module> parse_file();
  ExpressionPtr parse_only_expression();

 private:
  // tokens
  /// Names as Python compares them, kept by the parser.
  std::vector<Token> with_normal_names(std::vector<Token> tokens);
  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return token().kind == TokenKind::kEnd; }
  bool is(std::string_view text, size_t ahead = 0) const {
    // Most tokens differ in the first letter; a call of memcmp costs more than all the rest.
    const Token& t = token(ahead);
    return t.text.size() == text.size() && t.text[0] == text[0] &&
           (t.kind == TokenKind::kOperator || t.kind == TokenKind::kKeyword) &&
           (text.size() == 1 || t.text == text);
  }
  bool accept(std::string_view text) { return is(text) ? (++at_, true) : false; }
  Token expect(std::string_view text, std::string_view context);
  Token expect_name(std::string_view context);
  std::string describe(const Token& token) const;
  Span end_of_previous() const;
  Span since(const Token& first) const;
  Span since(Span first) const;

  // what other languages write (parser_foreign.cpp)
  void skip_foreign_word();
  void correct_keyword();
  void take_unindented(Suite& suite, bool is_function);
  bool is_told_by_lexer() const;
  void warn_unknown_escape(std::string_view raw, size_t at, uint32_t offset, size_t& told);
  void warn_asserted_tuple(const Expression& value);
  bool line_holds(std::string_view word) const;
  StatementPtr parse_yield();
  bool accept_question_member();
  size_t arrow_at(size_t ahead) const;
  void tell_turned_comparison(const Expression& left);
  size_t before_arrow() const;
  ExpressionPtr parse_arrow_function(size_t parameters);
  std::string name_in_quotes() const;
  size_t begin_of_line() const;
  std::string_view word_of_line() const;
  std::string assigned_name() const;
  StatementPtr parse_foreign_compound();
  void report_translated(Span span, std::string construct, std::string advice, std::vector<Edit> edits);
  bool is_defined(std::string_view name) const;
  bool is_return_in_brackets() const;
  void refuse_loop_in_brackets();
  std::string range_of(size_t at) const;
  bool accept_counted_range(const Expression& first);
  bool parse_arrow_assignment(Statement& statement);
  bool accept_spread(std::string_view star);
  bool parse_leading_increment();
  void refuse_foreign_line();
  void refuse_old_raise(const Expression& kind);
  void advise(Diagnostic& diagnostic, std::string_view wanted) const;
  bool advise_on_foreign(Diagnostic& diagnostic, std::string_view wanted) const;
  Span up_to_next(const Token& t) const;
  std::string_view written(Span span) const;

  // errors
  [[noreturn]] void fail_expected(std::string_view wanted);
  [[noreturn]] void fail(Message message, Span span, std::vector<std::string> arguments = {},
                         const Label& label = {});
  void report(Message message, Span span, std::vector<std::string> arguments = {});
  void report_read_as_meant(Span span, const std::string& wanted);
  void report_unsupported(Span span, std::string construct, std::string advice, std::vector<Edit> edits = {});
  void report_where_it_runs(Statement& statement, Advice advice);
  void skip_line();
  void skip_to_separator(size_t bracket_end);

  // statements
  Suite parse_block(std::string_view owner, bool colon_is_told = false);
  void parse_statement(Suite& out);
  void recover_statement(size_t begin, Suite& out);
  void warn_unreachable(const Suite& suite);
  std::vector<ExpressionPtr> lost_names(size_t begin);
  Suite parse_lost_block();
  void take_stray_return(Suite& module);
  void parse_simple_line(Suite& out);
  StatementPtr parse_simple();
  StatementPtr parse_expression_statement();
  StatementPtr parse_compound(std::string_view keyword);
  StatementPtr parse_if();
  ExpressionPtr parse_condition();
  bool accept_elif();
  bool is_increment() const;
  bool parse_foreign_statement(const Expression& value);
  StatementPtr parse_while();
  StatementPtr parse_for();
  StatementPtr parse_function(std::vector<ExpressionPtr> decorators, Span begin);
  StatementPtr parse_decorated();
  StatementPtr parse_import();
  StatementPtr parse_import_from();
  std::string parse_dotted_name();
  ImportName parse_dotted_import(Statement& statement, const Token& begin);
  StatementPtr parse_unsupported_block(std::string construct, Advice advice);
  StatementPtr parse_try();
  size_t end_of_block(size_t at) const;
  bool feeds_data(size_t at) const;
  std::string method_with_pipeline(size_t at) const;
  Advice advice_for_with() const;
  std::string fields_of(size_t at) const;
  std::string pipeline_within(size_t at) const;
  Advice advice_for_class() const;
  void parse_with_items(Statement& statement);
  void parse_unsupported_header(Statement& statement);
  void add_lost_name(Statement& statement, const Token& name);
  StatementPtr parse_unsupported_line(std::string construct, std::string advice);
  StatementPtr make_statement(StatementKind kind, const Token& first);
  bool at_match_statement() const;
  void mend_dashes(Expression& target);
  static bool has_lost_argument(const Expression& call);
  void check_target(const Expression& target, std::string_view action, bool starred_allowed = false);
  std::vector<Parameter> parse_parameters(std::string_view closer, bool annotated);
  void check_parameters(const std::vector<Parameter>& parameters);

  // expressions
  ExpressionPtr make(ExpressionKind kind, Span span, std::string text = {});
  void count_bytes(size_t bytes);
  ExpressionPtr parse_expression_list(bool star_allowed, std::string_view context);
  ExpressionPtr parse_target_list();
  ExpressionPtr parse_star_or_named();
  ExpressionPtr parse_named();
  ExpressionPtr parse_expression();
  ExpressionPtr parse_question(const Token& first, ExpressionPtr condition);
  ExpressionPtr parse_lambda();
  void parse_body(Expression& lambda);
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_binary(int least);
  ExpressionPtr parse_unary();
  ExpressionPtr parse_power();
  ExpressionPtr parse_primary();
  ExpressionPtr parse_atom();
  ExpressionPtr parse_parenthesized();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict_or_set();
  ExpressionPtr parse_call(ExpressionPtr callee);
  Argument parse_argument();
  bool tell_decimal_comma(const Expression& call, const Argument& argument);
  void check_arguments(const Expression& call);
  ExpressionPtr parse_subscript(ExpressionPtr base);
  ExpressionPtr parse_slice();
  std::vector<Comprehension> parse_comprehensions();
  ExpressionPtr parse_strings();
  ExpressionPtr parse_number();
  bool at_expression_start() const;
  template <typename ParseElement, typename AddBad>
  void parse_bracketed(size_t open, ParseElement parse_element, AddBad add_bad);

  // strings
  std::string decode_escapes(std::string_view raw, uint32_t offset);
  void parse_fstring(const Token& t, bool raw, std::string_view body, uint32_t offset,
                     std::vector<FStringPart>& parts);
  std::vector<FStringPart> parse_fstring_parts(std::string_view body, uint32_t offset, bool raw, size_t& at,
                                               int depth);
  FStringPart parse_replacement(std::string_view body, uint32_t offset, bool raw, size_t& at, int depth);
  ExpressionPtr parse_embedded(uint32_t begin, uint32_t end);

  struct DepthGuard {
    explicit DepthGuard(Parser& owner) : parser(owner) {
      if (++parser.depth_ > kMaxExpressionDepth) {
        --parser.depth_;
        parser.fail(Message::kExpressionTooDeep, parser.token().span, {std::to_string(kMaxExpressionDepth)});
      }
    }
    ~DepthGuard() { --parser.depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    Parser& parser;
  };
  void check_chain(int length);

  uint32_t file_;
  std::string_view text_;
  std::deque<std::string> normal_names_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<uint32_t> told_by_lexer_;                    ///< where, sorted
  std::vector<std::map<std::string, uint32_t>> ordinals_;  ///< per function: calls seen by last name
  size_t bytes_ = 0;
  MemoryBound bound_;
  bool too_large_ = false;
  int depth_ = 0;
  int block_depth_ = 0;
  int loop_depth_ = 0;  ///< in the function that is parsed
  int num_errors_ = 0;
  bool in_main_guard_ = false;
  bool in_plain_function_ = false;  ///< without decorators, which the host program alone may call
  int open_brackets_ = 0;           ///< that are being read
  bool was_mended_ = false;         ///< a part of this statement failed in brackets, and was told
};

// Elements separated by commas up to the closing bracket of tokens_[open], which stays. add_bad: takes the
// place of one that failed.
template <typename ParseElement, typename AddBad>
void Parser::parse_bracketed(size_t open, ParseElement parse_element, AddBad add_bad) {
  size_t end = tokens_[open].partner;
  while (!at_end() && at_ != end) {
    size_t begin = at_;
    size_t functions = ordinals_.size();
    const int open_brackets = open_brackets_++;
    try {
      parse_element();
      if (at_ != end && !is(","))
        fail_expected("`,` or `" + std::string(end ? tokens_[end].text : ")") + "`");
      open_brackets_ = open_brackets;
    } catch (const SyntaxError&) {
      open_brackets_ = open_brackets;
      if (end == 0) throw;
      was_mended_ = true;
      ordinals_.resize(functions);
      if (at_ < begin || at_ > end) throw;
      // Of a bracket that is never closed nobody knows where its elements end.
      const bool is_open =
          token().kind == TokenKind::kError && std::string_view("([{").contains(token().text);
      if (is_open) at_ = end;
      skip_to_separator(end);
      add_bad(make(ExpressionKind::kError, tokens_[begin].span));
    }
    if (at_ != end && !accept(",")) break;
  }
}

}  // namespace galatea::dsl
