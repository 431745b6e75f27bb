// The syntax tree: what the text says, no behaviour.
//
// Comes in: the parser. Goes out: the evaluator, the AST printer, the formatter. Every node has a span. Nodes
// are owned by their parents; a Module owns the text's tree for as long as anything staged from it lives
// (functions keep their module alive).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"

namespace galatea::dsl {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using StatementPtr = std::unique_ptr<Statement>;
using Suite = std::vector<StatementPtr>;

enum class ExpressionKind : uint8_t {
  kError,  ///< failed to parse; evaluates to poison
  kName,
  kInteger,
  kFloat,
  kString,
  kFString,
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kTuple,
  kList,
  kDict,
  kListComp,
  kDictComp,
  kGenerator,
  kLambda,
  kConditional,  ///< operands: then, condition, otherwise
  kBoolOp,       ///< op "and"/"or", operands: two or more
  kUnary,        ///< op "not" "-" "+" "~"
  kBinary,       ///< op "+" "-" "*" "/" "//" "%" "**" "@" "<<" ">>" "&" "|" "^"
  kCompare,      ///< ops between operands; "is not", "not in" are one op
  kCall,
  kAttribute,
  kSubscript,
  kSlice,
  kStarred,  ///< *x in displays, targets and calls
  kNamed,    ///< name := value
};

/// `for target in iterable if c1 if c2`.
struct Comprehension {
  ExpressionPtr target, iterable;
  std::vector<ExpressionPtr> conditions;
};

struct Argument {
  enum class Kind : uint8_t { kPositional, kKeyword, kStar, kDoubleStar } kind = Kind::kPositional;
  std::string name;  ///< keyword
  Span name_span;
  ExpressionPtr value;
};

/// A part of an f-string: text, or an expression with conversion and format.
struct FStringPart {
  std::string text;
  ExpressionPtr value;  ///< empty: a text part
  char conversion = 0;  ///< 'r', 's', 'a' or 0
  std::vector<FStringPart> format;
  bool debug = false;  ///< {x=}: text holds "x="
};

enum class ParameterKind : uint8_t { kPositionalOnly, kNormal, kVarArgs, kKeywordOnly, kKwArgs };
struct Parameter {
  std::string name;
  Span span;
  ParameterKind kind = ParameterKind::kNormal;
  ExpressionPtr annotation, default_value;
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kError;
  Span span;
  std::string text;              ///< name, attribute, operator, string value, digits as written (numbers)
  Span text_span;                ///< of the attribute name or operator
  std::vector<std::string> ops;  ///< kCompare
  std::vector<ExpressionPtr>
      operands;  ///< children in order; kAttribute/kSubscript/kCall: [0] is the base; kSubscript: [1] the
                 ///< index (a tuple for several) kSlice: lower, upper, step (each may be null); kDict: key,
                 ///< value, key, value … (null key: **value); kDictComp: key, value
  std::vector<Argument> arguments;  ///< kCall
  std::vector<Comprehension> comprehensions;
  std::vector<Parameter> parameters;  ///< kLambda; operands[0] is the body
  std::vector<FStringPart> parts;     ///< kFString
  uint32_t ordinal =
      0;  ///< kCall: how many calls of the same last name stand before it in its function (for random keys)
  bool parenthesized = false;
};

enum class StatementKind : uint8_t {
  kError,  ///< failed to parse; skipped
  kExpression,
  kAssign,
  kAugAssign,
  kAnnAssign,
  kReturn,
  kIf,
  kFor,
  kWhile,
  kBreak,
  kContinue,
  kPass,
  kAssert,
  kRaise,
  kFunction,
  kImport,
  kImportFrom,
  kUnsupported,  ///< valid Python outside the language; `text` names the construct; `targets`, `body`: what
                 ///< it would bind; `value`: what `with` enters first
  kTryImport,  ///< a `try` around imports: `body` is what is tried, since an import that fails is an error here
};

struct ImportName {
  std::string name, alias;  ///< alias empty: none
  Span span;
};

struct Statement {
  StatementKind kind = StatementKind::kError;
  Span span;           ///< the whole statement
  Span keyword_span;   ///< `if`, `for`, `def`, … or the name in a def
  std::string text;    ///< kAugAssign: operator ("+="); kFunction: name; kImport/kImportFrom: module path;
                       ///< kUnsupported: construct
  std::string advice;  ///< kUnsupported: what to do, told where it runs; empty: the parser has told it
  std::vector<ExpressionPtr> targets;  ///< kAssign: one per `=`; others: [0]
  ExpressionPtr value;  ///< assigned value, condition (kIf, kWhile, kAssert), iterable (kFor), returned,
                        ///< raised or expression value
  ExpressionPtr annotation;
  ExpressionPtr message;  ///< kAssert
  Suite body, orelse;
  std::vector<ExpressionPtr> decorators;
  std::vector<Parameter> parameters;
  ExpressionPtr returns;
  std::string docstring;
  bool has_syntax_error = false;  ///< kFunction: it failed to parse somewhere; without a body, all of it
  int relative_level = 0;         ///< kImportFrom: number of leading dots
  std::vector<ImportName> names;  ///< kImport: (module, alias) each; kImportFrom: the names; "*" for a star
};

struct Module {
  uint32_t file = 0;
  Suite body;
  std::string docstring;
  size_t bytes = 0;        ///< that the tree takes, about
  bool too_large = false;  ///< it ends where memory did, which has been reported
};

}  // namespace galatea::dsl
