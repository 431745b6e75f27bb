// Prints the syntax tree. In: ast.h. Out: text. Statements are lines, expressions stand in source form with
// all their brackets.
#include "dsl/ast_printer.h"

#include <cctype>

#include <fmt/format.h>

#include "base/text_writer.h"

namespace galatea::dsl {
namespace {

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string print_list(const std::vector<ExpressionPtr>& operands) {
  std::string out;
  for (const ExpressionPtr& operand : operands) out += (out.empty() ? "" : ", ") + print_expression(*operand);
  return out;
}

std::string print_clauses(const std::vector<Comprehension>& clauses) {
  std::string out;
  for (const Comprehension& clause : clauses) {
    out += fmt::format(" for {} in {}", print_expression(*clause.target), print_expression(*clause.iterable));
    for (const ExpressionPtr& condition : clause.conditions) out += " if " + print_expression(*condition);
  }
  return out;
}

std::string print_parameters(const std::vector<Parameter>& parameters) {
  std::string out;
  bool star_seen = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (i > 0) out += ", ";
    if (p.kind == ParameterKind::kKeywordOnly && !star_seen) out += "*, ", star_seen = true;
    if (p.kind == ParameterKind::kVarArgs) out += "*", star_seen = true;
    if (p.kind == ParameterKind::kKwArgs) out += "**";
    out += p.name;
    if (p.annotation) out += ": " + print_expression(*p.annotation);
    if (p.default_value) out += "=" + print_expression(*p.default_value);
    bool last_positional =
        p.kind == ParameterKind::kPositionalOnly &&
        (i + 1 == parameters.size() || parameters[i + 1].kind != ParameterKind::kPositionalOnly);
    if (last_positional) out += ", /";
  }
  return out;
}

// Neighbouring texts are one; `{x=}` is the text "x=" and the value, as CPython reads it.
std::string print_parts(const std::vector<FStringPart>& parts) {
  std::string out, text;
  auto flush = [&] {
    if (!text.empty()) out += quote(text);
    text.clear();
  };
  for (const FStringPart& part : parts) {
    text += part.text;
    if (!part.value) continue;
    flush();
    bool as_repr = part.debug && part.conversion == 0 && part.format.empty();
    out += "{" + print_expression(*part.value);
    if (part.conversion || as_repr) out += std::string("!") + (as_repr ? 'r' : part.conversion);
    if (!part.format.empty()) out += ":" + print_parts(part.format);
    out += "}";
  }
  flush();
  return out;
}

std::string print_call(const Expression& call) {
  std::string out;
  for (const Argument& argument : call.arguments) {
    if (!out.empty()) out += ", ";
    if (argument.kind == Argument::Kind::kStar) out += "*";
    if (argument.kind == Argument::Kind::kDoubleStar) out += "**";
    if (argument.kind == Argument::Kind::kKeyword) out += argument.name + "=";
    out += print_expression(*argument.value);
  }
  return print_expression(*call.operands[0]) + "(" + out + ")";
}

std::string print_dict(const Expression& dict) {
  std::string out;
  for (size_t i = 0; i + 1 < dict.operands.size(); i += 2) {
    if (i > 0) out += ", ";
    out += dict.operands[i] ? print_expression(*dict.operands[i]) + ": " : "**";
    out += print_expression(*dict.operands[i + 1]);
  }
  return "{" + out + print_clauses(dict.comprehensions) + "}";
}

std::string print_slice(const Expression& slice) {
  auto part = [&](size_t i) {
    return slice.operands[i] ? print_expression(*slice.operands[i]) : std::string();
  };
  return part(0) + ":" + part(1) + (slice.operands[2] ? ":" + part(2) : "");
}

std::string print_joined(const Expression& e) {
  std::string out = "(" + print_expression(*e.operands[0]);
  for (size_t i = 1; i < e.operands.size(); ++i) {
    const std::string& op = e.kind == ExpressionKind::kCompare ? e.ops[i - 1] : e.text;
    out += " " + op + " " + print_expression(*e.operands[i]);
  }
  return out + ")";
}

class Printer {
 public:
  void suite(const Suite& suite) {
    out_.indent();
    for (const StatementPtr& statement : suite) print(*statement);
    out_.dedent();
  }
  void print(const Statement& s);
  TextWriter out_;

 private:
  void function(const Statement& s);
  void branches(const Statement& s, std::string header);
  void import(const Statement& s);
};

void Printer::branches(const Statement& s, std::string header) {
  out_.line(header);
  suite(s.body);
  if (s.orelse.empty()) return;
  out_.line("else");
  suite(s.orelse);
}

void Printer::function(const Statement& s) {
  for (const ExpressionPtr& decorator : s.decorators) out_.line("@" + print_expression(*decorator));
  std::string returns = s.returns ? " -> " + print_expression(*s.returns) : "";
  out_.line(fmt::format("def {}({}){}{}", s.text, print_parameters(s.parameters), returns,
                        s.has_syntax_error ? " (syntax error)" : ""));
  suite(s.body);
}

void Printer::import(const Statement& s) {
  std::string names;
  for (const ImportName& name : s.names) {
    names += (names.empty() ? "" : ", ") + name.name + (name.alias.empty() ? "" : " as " + name.alias);
  }
  if (s.kind == StatementKind::kImport) return out_.line("import " + names);
  out_.line(fmt::format("from {}{} import {}", std::string(static_cast<size_t>(s.relative_level), '.'),
                        s.text, names));
}

void Printer::print(const Statement& s) {
  auto value = [&] { return s.value ? print_expression(*s.value) : std::string(); };
  switch (s.kind) {
    case StatementKind::kError:
      return out_.line("error");
    case StatementKind::kExpression:
      return out_.line(value());
    case StatementKind::kAssign: {
      std::string targets;
      for (const ExpressionPtr& target : s.targets) targets += print_expression(*target) + " = ";
      return out_.line(targets + value());
    }
    case StatementKind::kAugAssign:
      return out_.line(print_expression(*s.targets[0]) + " " + s.text + " " + value());
    case StatementKind::kAnnAssign:
      return out_.line(print_expression(*s.targets[0]) + ": " + print_expression(*s.annotation) +
                       (s.value ? " = " + value() : ""));
    case StatementKind::kReturn:
      return out_.line(s.value ? "return " + value() : "return");
    case StatementKind::kIf:
      return branches(s, "if " + value());
    case StatementKind::kFor:
      return branches(s, "for " + print_expression(*s.targets[0]) + " in " + value());
    case StatementKind::kWhile:
      return branches(s, "while " + value());
    case StatementKind::kBreak:
      return out_.line("break");
    case StatementKind::kContinue:
      return out_.line("continue");
    case StatementKind::kPass:
      return out_.line("pass");
    case StatementKind::kAssert:
      return out_.line("assert " + value() + (s.message ? ", " + print_expression(*s.message) : ""));
    case StatementKind::kRaise:
      return out_.line(s.value ? "raise " + value() : "raise");
    case StatementKind::kFunction:
      return function(s);
    case StatementKind::kImport:
    case StatementKind::kImportFrom:
      return import(s);
    case StatementKind::kTryImport:
      out_.line("try:");
      return suite(s.body);
    case StatementKind::kUnsupported:
      return out_.line("unsupported " + s.text);
  }
}

}  // namespace

std::string print_expression(const Expression& e) {
  switch (e.kind) {
    case ExpressionKind::kError:
      return "<error>";
    case ExpressionKind::kName:
    case ExpressionKind::kInteger:
    case ExpressionKind::kFloat:
      return e.text;
    case ExpressionKind::kString:
      return quote(e.text);
    case ExpressionKind::kFString:
      return "f(" + print_parts(e.parts) + ")";
    case ExpressionKind::kTrue:
      return "True";
    case ExpressionKind::kFalse:
      return "False";
    case ExpressionKind::kNone:
      return "None";
    case ExpressionKind::kEllipsis:
      return "...";
    case ExpressionKind::kTuple:
      return "(" + print_list(e.operands) + (e.operands.size() == 1 ? ",)" : ")");
    case ExpressionKind::kList:
      return "[" + print_list(e.operands) + "]";
    case ExpressionKind::kDict:
    case ExpressionKind::kDictComp:
      return print_dict(e);
    case ExpressionKind::kListComp:
      return "[" + print_expression(*e.operands[0]) + print_clauses(e.comprehensions) + "]";
    case ExpressionKind::kGenerator:
      return "(" + print_expression(*e.operands[0]) + print_clauses(e.comprehensions) + ")";
    case ExpressionKind::kLambda: {
      std::string parameters = print_parameters(e.parameters);
      return "(lambda" + (parameters.empty() ? "" : " " + parameters) + ": " +
             print_expression(*e.operands[0]) + ")";
    }
    case ExpressionKind::kConditional:
      return fmt::format("({} if {} else {})", print_expression(*e.operands[0]),
                         print_expression(*e.operands[1]), print_expression(*e.operands[2]));
    case ExpressionKind::kBoolOp:
    case ExpressionKind::kCompare:
    case ExpressionKind::kBinary:
      return print_joined(e);
    case ExpressionKind::kUnary:
      return "(" + e.text + (e.text == "not" ? " " : "") + print_expression(*e.operands[0]) + ")";
    case ExpressionKind::kCall:
      return print_call(e);
    case ExpressionKind::kAttribute:
      return print_expression(*e.operands[0]) + "." + e.text;
    case ExpressionKind::kSubscript:
      return print_expression(*e.operands[0]) + "[" + print_expression(*e.operands[1]) + "]";
    case ExpressionKind::kSlice:
      return print_slice(e);
    case ExpressionKind::kStarred:
      return "*" + print_expression(*e.operands[0]);
    case ExpressionKind::kNamed:
      return "(" + e.text + " := " + print_expression(*e.operands[0]) + ")";
  }
  return "<error>";
}

std::string print_module(const Module& module) {
  Printer printer;
  for (const StatementPtr& statement : module.body) printer.print(*statement);
  return printer.out_.take();
}

}  // namespace galatea::dsl
