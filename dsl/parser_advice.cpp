// What to do about a token that was not expected: what stands there in other languages, and what was left out.
// In: the diagnostic, and what was expected. Out: its help and its edits.
#include <algorithm>
#include <array>

#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

constexpr std::array kTypes = {"int",  "double", "float",    "bool",   "long", "short",
                               "char", "string", "unsigned", "size_t", "auto", "const"};

bool is_type(std::string_view word) { return std::ranges::find(kTypes, word) != kTypes.end(); }

}  // namespace

// What to do about a token that was not expected, where that is known.
void Parser::advise(Diagnostic& diagnostic, std::string_view wanted) const {
  const Token &t = token(), &next = token(1), &before = tokens_[at_ > 0 ? at_ - 1 : 0];
  const auto say = [&](std::string help, std::vector<Edit> edits = {}) {
    diagnostic.help = std::move(help);
    diagnostic.edits = std::move(edits);
  };
  const bool wants_colon = wanted.starts_with("`:`"), wants_end = wanted == "the end of the statement";
  const bool in_call = wanted == "`,` or `)`";
  if (advise_on_foreign(diagnostic, wanted)) return;
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
  if (wanted.starts_with("an expression") && is("|") && next.kind == TokenKind::kName &&
      (is("|", 2) || is(",", 2)))
    return say("write `lambda " + std::string(next.text) + ": …` for a function");
  if ((wants_colon || wants_end) && t.kind == TokenKind::kFloat && t.text.starts_with('.') &&
      before.text.ends_with('.') && touches(before, t)) {
    const std::string range = "range(" + std::string(before.text.substr(0, before.text.size() - 1)) + ", " +
                              std::string(t.text.substr(1)) + ")";
    return say("write `" + range + "`", {{cover(before.span, t.span), range, true}});
  }
  if (wanted == "`(` after the function's name" && is(":"))
    return say("write `" + std::string(before.text) + "():`", {{end_of_previous(), "()", true}});
  if (t.kind == TokenKind::kNewline && before.text == "?") return say("leave the `?` out");
  if (wants_end && (before.text == "unless" || before.text == "until")) {
    const std::string meant = before.text == "unless" ? "if not" : "while not";
    return say("write `" + meant + " …:`", {{before.span, meant, false}});
  }
  if (wants_end && is("as"))
    return say("types are converted by an operator: write `fn.cast(x, dtype=types.FLOAT)`");
  if (wants_end && is("{") && before.text == "do")
    return say("write `while True:`, and leave it with `break`");
  if (wants_end && before.text == "match") return say("choose with `if` and `elif`");
  if (wanted.starts_with("an expression") && is("&") && touches(t, next))
    return say("names have no addresses: leave the `&` out", {{t.span, "", true}});
  const bool begins_line = at_ == begin_of_line();
  if (begins_line && (is("%") || is("//"))) return say("a comment begins with `#`", {{t.span, "#", true}});
  if (wants_colon && is(",") && next.kind == TokenKind::kName && wanted.ends_with("the clause of `try`"))
    return say("write `as`", {{cover(t.span, {t.span.file, t.span.begin, next.span.begin}), " as ", true}});
  if (wanted == "an expression" && is(":") && before.text == ":" && touches(before, t))
    return say("one `:` begins a block: remove the other", {{t.span, "", true}});
  if (wanted == "an expression" && before.text == ":" && t.kind == TokenKind::kNewline)
    return say("a value is given with `=`, an argument as `name=value` in the call of its operator");
  if (is(";") && before.text == ";") return say("remove it", {{t.span, "", true}});
  if (is(":") && before.text == ":" && touches(before, t) && next.kind == TokenKind::kName)
    return say("write `.`");
  if (wants_end && is("{") && before.text == ")")
    return say("choose with `if` and `elif`; blocks have no braces");
  if (wants_end && is(":=")) return say("write `=`", {{t.span, "=", true}});
  if (wanted == "an expression" && is("/") && touches(t, next) && next.kind == TokenKind::kName)
    return say("a path is a text: write it in quotes");
  if (in_call && is(":"))
    return say("elements from one place to another stand in brackets behind what holds them: `x[0:10]`");
  if (wanted == "the name of an argument")
    return say("write `" + name_in_quotes() + "=…`", {{t.span, name_in_quotes(), true}});
  if (wanted.starts_with("`else`")) {
    // `image = fn.flip(image) if c`: the other case leaves it as it is.
    std::string name = assigned_name();
    bool is_read = false;
    for (size_t i = begin_of_line() + 2; i < at_; ++i) is_read = is_read || tokens_[i].text == name;
    if (!is_read) name.clear();
    if (name.empty()) return say("write `else` and the value for the other case behind it");
    return say("write `else " + name + "` behind it", {{end_of_previous(), " else " + name, false}});
  }
  const bool is_typed = is_type(before.text);
  const bool in_list = wanted.starts_with("`,` or `") || (wants_end && word_of_line() == "return");
  if (in_list && begins_value(t) && !is_typed)
    return say("write `,` between them", {{end_of_previous(), ",", false}});
}

// Operators and words of R, MATLAB, Julia, Lua, Ruby, JavaScript and C++. False: it is none of them.
bool Parser::advise_on_foreign(Diagnostic& diagnostic, std::string_view wanted) const {
  const Token &t = token(), &next = token(1), &before = tokens_[at_ > 0 ? at_ - 1 : 0];
  const bool wants_end = wanted == "the end of the statement",
             wants_value = wanted.starts_with("an expression");
  const auto say = [&](std::string help, std::vector<Edit> edits = {}) {
    diagnostic.help = std::move(help);
    diagnostic.edits = std::move(edits);
    return true;
  };
  const auto write = [&](Span span, std::string_view meant) {
    return say("write `" + std::string(meant) + "`", {{span, std::string(meant), true}});
  };
  // Operators that are words elsewhere.
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"div", "//"}, {"mod", "%"}, {"AND", "and"}, {"OR", "or"}, {"And", "and"}, {"Or", "or"}, {"XOR", "^"},
      {"xor", "^"},  {"MOD", "%"}, {"DIV", "//"},  {"eq", "=="}, {"ne", "!="},   {"lt", "<"},  {"gt", ">"},
      {"le", "<="},  {"ge", ">="}, {"IN", "in"},   {"IS", "is"}, {"shl", "<<"},  {"shr", ">>"}};
  for (const auto& [word, meant] : kWords)
    if (t.kind == TokenKind::kName && t.text == word && begins_value(next)) return write(t.span, meant);
  if (before.kind == TokenKind::kName && (before.text == "NOT" || before.text == "Not") && begins_value(t))
    return write(before.span, "not");
  if (wanted == "`,` or `)`" && before.kind == TokenKind::kName && arrow_at(0) > 0)
    return say("write `" + std::string(before.text) + "=…`",
               {{cover(t.span, token(arrow_at(0) - 1).span), "=", true}});
  if (wanted == "`,` or `)`" && is("=") && before.kind == TokenKind::kName && at_ > 1 &&
      (tokens_[at_ - 2].text == "-" || tokens_[at_ - 2].text == "--"))
    return say("the name of an argument stands alone before `=`: write `" + std::string(before.text) + "=…`");
  if (wanted == "`:` after the key" && is("=")) return write(t.span, ":");
  if (wanted.starts_with("a parameter after `*"))
    return say("behind a `*` alone stand parameters that are given by name; `*args` takes the others");
  if (wanted == "an attribute name after `.`" && t.kind == TokenKind::kString)
    return say("texts are joined by `+`", {{before.span, "+", true}});
  if (wanted == "an attribute name after `.`" && touches(before, t)) {
    const Span both = cover(before.span, t.span);
    if (is("^")) return write(both, "**");
    if (is("*") || is("/") || is("+") || is("-")) return write(both, t.text);
    if (is("("))
      return say("functions work on whole arrays: call it without the `.`", {{before.span, "", true}});
    if (is(".")) return say("texts are joined by `+`; numbers from a to b are `range(a, b)`");
    if (is("=")) return say("write `range(a, b + 1)` for `a..=b`");
  }
  if (before.text == "%" && touches(before, t) && wants_value) {
    const Span all = cover(before.span, next.span);
    if (is(">") && is("%", 1))
      return say("write `f(x)` for `x %>% f()`: what an operator reads is its first argument");
    if (is("/") && is("%", 1)) return write(all, "//");
    if (is("in") && is("%", 1)) return write(all, "in");
    if (is("%")) return write(cover(before.span, t.span), "%");
  }
  if (wanted == "`in` after the loop variable" || wanted.starts_with("`in` ")) {
    const std::string range = is("=") ? range_of(at_ + 1) : "";
    if (is("="))
      return say("write `for " + std::string(before.text) + " in " + (range.empty() ? "range(…)" : range) +
                 ":`");
    if (t.text == "of") return write(t.span, "in");
  }
  if (wants_end && is(":")) {
    if (const std::string range = at_ > 0 ? range_of(at_ - 1) : ""; !range.empty())
      return say("write `" + range + "` for the numbers from one to the other",
                 {{cover(before.span, next.span), range, false}});
  }
  if (wants_end && is("->") && next.kind == TokenKind::kName && !touches(before, t))
    return say("write `" + std::string(next.text) + " = …`: what is assigned stands on the left");
  if (wants_end && before.text == ")" && before.partner > 0 && tokens_[before.partner - 1].text == "function")
    return say("write `lambda " +
               std::string(written({file_, tokens_[before.partner].span.end, before.span.begin})) +
               ": …` for a function");
  if (wants_end && before.text == ")" && before.partner + 2 == at_ - 1 && is_type(tokens_[at_ - 2].text))
    return say("write `" + std::string(tokens_[at_ - 2].text) + "(…)` around the value");
  if (wanted == "a parameter" && is("(") && before.text == "lambda")
    return say("the parameters stand without brackets: `lambda a, b: …`");
  if (wants_value && is("@")) return say("write `lambda x: …` for a function");
  if (wants_value && t.text == "if" && before.text == "=")
    return say("the value stands first: write `a if condition else b`");
  if (wants_value && is("&") && before.text == "[") return say("write `lambda x: …` for a function");
  if (is(":") && before.text == ":" && at_ > 1 && tokens_[at_ - 2].text == "std")
    return say("there is no C++ here: names are not declared, lists are `[…]`, and `print(x)` shows a value");
  if (wants_value && is(":") && touches(t, next) && next.kind == TokenKind::kName)
    return say("a name by itself is a text: write `\"" + std::string(next.text) + "\"`",
               {{cover(t.span, next.span), "\"" + std::string(next.text) + "\"", false}});
  if (before.text == "typeof") return say("write `type(…)`");
  if (before.text == "sizeof") return say("write `len(…)`, or `x.shape()` for the extents of a data node");
  if (wants_end && is_increment())
    return say("write `" + std::string(before.text) + " " + std::string(t.text) +
               "= 1` on a line of its own");
  if (wants_end && t.kind == TokenKind::kString && before.kind == TokenKind::kInteger && touches(before, t))
    return say("groups of digits are parted by `_`, as in `1_000_000`");
  if (wants_end && t.kind == TokenKind::kString && before.kind == TokenKind::kName && touches(before, t))
    return say("leave out `" + std::string(before.text) + "`: texts are Unicode", {{before.span, "", false}});
  if (wants_end && (t.text == "unless" || t.text == "until"))
    return say("the condition stands first, on a line before: `if not …:`");
  if (wants_end && tokens_[begin_of_line()].text == "-" && tokens_[begin_of_line() + 1].text == "-")
    return say("a comment begins with `#`",
               {{cover(tokens_[begin_of_line()].span, tokens_[begin_of_line() + 1].span), "#", true}});
  if (wants_end) {
    for (size_t i = begin_of_line(); i < at_; ++i)
      if (tokens_[i].text == "//") return say("a comment begins with `#`", {{tokens_[i].span, "#", true}});
  }
  return false;
}

// Lines that begin with a word of another language, and go on as no statement of Python does.
void Parser::refuse_foreign_line() {
  const Token t = token();
  const bool is_entry = is("-") && token(1).kind == TokenKind::kName && is(":", 2);
  if (is_entry) {
    // The entries below it are of the same list.
    const bool is_told =
        !diagnostics_.empty() && diagnostics_.back().span.end <= t.span.begin &&
        written({file_, diagnostics_.back().span.end, t.span.begin}).find_first_not_of(" \t\r\n") ==
            std::string_view::npos;
    if (!is_told)
      report_unsupported(cover(t.span, token(2).span), "an entry of YAML",
                         "a pipeline calls operators: `image = fn.resize(image, size=224)`");
    const std::string_view dash = t.text;
    while (token().text == dash && is(":", 2)) skip_line();
    throw SyntaxError{};
  }
  if (t.kind != TokenKind::kName) return;
  const Token& next = token(1);
  const bool is_do = t.text == "do" && is(":", 1) && token(2).kind == TokenKind::kNewline;
  const bool is_switch =
      t.text == "switch" && is("(", 1) && token(1).partner > 0 && tokens_[token(1).partner + 1].text == ":";
  if (is_do || is_switch) {
    report_unsupported(
        t.span, "`" + std::string(t.text) + "`",
        is_do ? "write `while True:`, and leave it with `break`" : "choose with `if` and `elif`");
    throw SyntaxError{};
  }
  const bool goes_on = next.kind == TokenKind::kName || next.kind == TokenKind::kString ||
                       next.kind == TokenKind::kInteger || next.text == "{";
  if (!goes_on || is("=", 2)) return;
  constexpr std::string_view kImport = "a pipeline file imports with `from nvidia.dali import fn, types`";
  constexpr std::string_view kRecord = "write functions, and `galatea.struct(name=value)` for records";
  constexpr std::string_view kPrint = "write `print(…)`", kRemove = "remove the line";
  constexpr std::string_view kBlock = "blocks are indented; they have no words and no braces around them";
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"use", kImport},
      {"using", kImport},
      {"require", kImport},
      {"include", kImport},
      {"package", kRemove},
      {"namespace", kRemove},
      {"module", kRemove},
      {"clear", kRemove},
      {"close", kRemove},
      {"hold", kRemove},
      {"struct", kRecord},
      {"enum", kRecord},
      {"impl", kRecord},
      {"interface", kRecord},
      {"trait", kRecord},
      {"typedef", kRecord},
      {"template", kRecord},
      {"union", kRecord},
      {"puts", kPrint},
      {"echo", kPrint},
      {"say", kPrint},
      {"disp", kPrint},
      {"loop", "write `while True:`, and leave it with `break`"},
      {"begin", kBlock},
      {"guard", "write `if` with the condition turned round"},
      {"case", "choose with `if` and `elif`"}};
  for (const auto& [word, advice] : kWords) {
    if (t.text != word) continue;
    report_unsupported(t.span, "`" + std::string(word) + "`", std::string(advice));
    throw SyntaxError{};
  }
  if (t.text != "throw") return;
  const bool is_new = next.text == "new";
  const Span all = cover(t.span, is_new ? next.span : t.span);
  report_unsupported(all, "`" + std::string(written(all)) + "`", "write `raise ValueError(…)`");
  throw SyntaxError{};
}

}  // namespace galatea::dsl
