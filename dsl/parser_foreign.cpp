// What people write who come from other languages, where this one has another spelling: told with the edit, and
// read as it is meant, or added to what the parser says of a token that it did not expect. In: tokens. Out:
// diagnostics.
#include <algorithm>
#include <array>

#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

constexpr std::array kDeclarations = {"var", "let",    "const", "auto",   "val",    "final",
                                      "int", "double", "float", "string", "String", "bool"};

bool touches(const Token& left, const Token& right) { return left.span.end == right.span.begin; }

}  // namespace

Span Parser::up_to_next(const Token& t) const { return {t.span.file, t.span.begin, token(1).span.begin}; }

// What was read as it is meant leaves nothing out of the function around it.
void Parser::report_translated(Span span, std::string construct, std::string advice,
                               std::vector<Edit> edits) {
  const int errors = num_errors_;
  report_unsupported(span, std::move(construct), std::move(advice), std::move(edits));
  num_errors_ = errors;
}

// `let x = 3`, `foreach x in xs:`, `function f():`. Two names beside each other begin no statement of Python.
void Parser::skip_foreign_word() {
  const Token& t = token();
  if (t.kind != TokenKind::kName || token(1).kind != TokenKind::kName) return;
  const std::string word(t.text), name(token(1).text);
  if (std::ranges::find(kDeclarations, word) != kDeclarations.end() && is("=", 2)) {
    report_translated(t.span, "`" + word + "` before a name",
                      "write `" + name + " = …`: names are not declared", {{up_to_next(t), "", true}});
    ++at_;
  }
}

// A statement that another language begins with another word; nullptr: there is none.
StatementPtr Parser::parse_foreign_compound() {
  const Token& t = token();
  if (t.kind != TokenKind::kName || token(1).kind != TokenKind::kName) return nullptr;
  const bool is_loop = t.text == "foreach" && is("in", 2);
  const bool is_function = (t.text == "function" || t.text == "func") && is("(", 2);
  if (!is_loop && !is_function) return nullptr;
  const std::string meant = is_loop ? "for" : "def";
  // Braces behind it are the same habit.
  const bool has_braces = is_function && tokens_[tokens_[at_ + 2].partner + 1].text == "{";
  report_translated(t.span, "`" + std::string(t.text) + "`",
                    has_braces ? "write `def`, `:` at the end of the line, and indent the lines of the block"
                               : "write `" + meant + "`",
                    has_braces ? std::vector<Edit>{} : std::vector<Edit>{{t.span, meant, true}});
  was_mended_ = has_braces;
  return is_loop ? parse_for() : parse_function({}, t.span);
}

// `for (i = 0; i < n; i++)`: the statement is left.
void Parser::refuse_counting_loop() {
  if (!is("(") || token().partner == 0) return;
  const size_t end = token().partner;
  const bool counts = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                                  tokens_.begin() + static_cast<std::ptrdiff_t>(end),
                                  [](const Token& t) { return t.text == ";"; });
  if (!counts) return;
  report_unsupported(cover(token().span, tokens_[end].span), "a loop that counts by `;`",
                     "write `for i in range(3):`");
  throw SyntaxError{};
}

// What to do about a token that was not expected, where that is known.
void Parser::advise(Diagnostic& diagnostic, std::string_view wanted) const {
  const Token &t = token(), &next = token(1), &before = tokens_[at_ > 0 ? at_ - 1 : 0];
  const auto say = [&](std::string help, std::vector<Edit> edits = {}) {
    diagnostic.help = std::move(help);
    diagnostic.edits = std::move(edits);
  };
  const bool wants_colon = wanted.starts_with("`:`"), wants_end = wanted == "the end of the statement";
  const bool in_call = wanted == "`,` or `)`";
  const bool is_double_colon = is(":") && is(":", 1) && touches(t, next);
  if (wants_colon && is("{")) return say("write `:` and indent the lines of the block; it has no braces");
  if (wants_colon && t.text == "then")
    return say("write `:`", {{{t.span.file, before.span.end, t.span.end}, ":", true}});
  if (wants_colon && t.kind == TokenKind::kNewline)
    return say("write `:` at the end of the line", {{diagnostic.span, ":", true}});
  if (is(">") && before.text == "=" && touches(before, t)) return say("write `lambda x: …` for a function");
  const bool names_member = before.kind == TokenKind::kName && touches(before, t) &&
                            token(is_double_colon ? 2 : 1).kind == TokenKind::kName;
  if ((is("->") || is_double_colon) && names_member)
    return say("write `.`", {{is("->") ? t.span : cover(t.span, next.span), ".", true}});
  if (in_call && is(":") && before.kind == TokenKind::kName)
    return say("write `" + std::string(before.text) + "=…`", {{t.span, "=", true}});
  if (wanted.starts_with("`,` or `") && is(";")) return say("write `,`", {{t.span, ",", true}});
  if (is(">") && before.text == "|" && touches(before, t))
    return say("write `f(x)` for `x |> f()`: what an operator reads is its first argument");
  if (wanted == "an expression" && t.text == "return")
    return say("a `lambda` gives the value of its expression: leave `return` out",
               {{up_to_next(t), "", true}});
  if (t.text == "?" && before.text == "?") return say("write `b if a is None else a` for `a ?? b`");
  if (wants_colon && is(",") && next.kind == TokenKind::kName && wanted.ends_with("the clause of `try`"))
    return say("write `as`", {{cover(t.span, {t.span.file, t.span.begin, next.span.begin}), " as ", true}});
  if (is(";") && before.text == ";") return say("remove it", {{t.span, "", true}});
  if (is(":") && before.text == ":" && touches(before, t) && next.kind == TokenKind::kName)
    return say("write `.`");
  if (wants_end && is("{") && before.text == ")")
    return say("choose with `if` and `elif`; blocks have no braces");
  if (wants_end && is(":=")) return say("write `=`", {{t.span, "=", true}});
  if (wants_end && before.text == "new")
    return say("call it without `new`", {{{t.span.file, before.span.begin, t.span.begin}, "", true}});
  if (is("//") || (is("/") && is("*", 1))) {
    if (wanted == "an expression") return say("a comment begins with `#`");
  }
  if (wanted == "an expression" && is("/") && touches(t, next) && next.kind == TokenKind::kName)
    return say("a path is a text: write it in quotes");
  const bool begins_value = t.kind == TokenKind::kName || t.kind == TokenKind::kString ||
                            t.kind == TokenKind::kInteger || t.kind == TokenKind::kFloat;
  const bool is_typed = std::ranges::find(kDeclarations, before.text) != kDeclarations.end();
  if (wanted.starts_with("`,` or `") && begins_value && !is_typed)
    return say("write `,` between them", {{end_of_previous(), ",", false}});
}

}  // namespace galatea::dsl
