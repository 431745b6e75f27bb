// The concrete syntax tree of one logical line: every token of the text, and how they group.
//
// The abstract tree of ast.h has no place for comments, redundant brackets and trailing commas, and the
// formatter must also lay out host code that the language only skips. So it groups the tokens itself, by the
// precedence of Python's operators.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace galatea::dsl::formatter {

enum class Kind : uint8_t {
  // Tokens.
  kName,  ///< names and keywords
  kNumber,
  kString,
  kOperator,  ///< brackets too; an empty text is a bracket that need not be written
  kComment,   ///< at the end of a line
  kOwnLine,   ///< a comment on lines of its own, or text that stays as it is written
  // Expressions. A group of one is its element.
  kTernary,
  kLambda,
  kLambdaParameters,
  kBool,
  kNot,
  kComparison,
  kComparisonWords,  ///< `is not`, `not in`
  kBinary,
  kUnary,
  kPower,  ///< operand, trailers, `**` and exponent
  kAtom,   ///< brackets and what they hold
  kStrings,
  kTrailer,
  kSlice,
  kSliceStep,
  kSubscripts,
  kArguments,
  kArgument,
  kElements,   ///< a, b
  kTargets,    ///< the same after `for` and `del`
  kBracketed,  ///< the same, or a comprehension, in round brackets
  kListItems,  ///< … in square brackets
  kDictItems,  ///< … in braces
  kComprehension,
  kCondition,  ///< `if` of a comprehension
  kNamed,
  kStar,
  kYield,
  // Statements, up to their colon.
  kAssignment,
  kAnnotation,  ///< `: type = value`
  kReturn,
  kAssert,
  kIf,
  kWhile,
  kFor,
  kDelete,
  kFunction,
  kParameterList,  ///< with its brackets
  kParameters,
  kParameter,  ///< name: type
  kDecorator,
  kClass,
  kImport,
  kImportFrom,
  kDottedName,
  kImportName,  ///< name as alias
  kOtherStatement,
};

/// A comment, and the empty lines before it.
struct Comment {
  std::string text;
  int empty_lines = 0;
  int column = 0;
  bool own_line = false;
  uint32_t begin = 0;  ///< in the source
};

struct Node {
  Kind kind = Kind::kName;
  std::vector<Node*> children;
  Node* parent = nullptr;
  size_t index = 0;  ///< in parent->children

  // Tokens only.
  std::string text;
  char bracket = 0;               ///< which bracket, also if it is not written
  std::string blanks;             ///< what stands between it and the token before it
  std::vector<Comment> comments;  ///< before it
  int empty_lines = 0;            ///< between the last of them and it
  Node* partner = nullptr;        ///< closing brackets: the opening one, once both are on a line
  int depth = 0;                  ///< number of brackets around it on the line where it was put last

  bool is_token() const { return kind <= Kind::kOwnLine; }
  bool is(const char* what) const { return kind <= Kind::kOperator && text == what; }
  bool opens() const { return bracket == '(' || bracket == '[' || bracket == '{'; }
  bool closes() const { return bracket == ')' || bracket == ']' || bracket == '}'; }
  bool written() const { return !text.empty(); }
  bool in(Kind group) const { return parent && parent->kind == group; }
  Node* previous_sibling() const { return parent && index > 0 ? parent->children[index - 1] : nullptr; }
  Node* next_sibling() const {
    return parent && index + 1 < parent->children.size() ? parent->children[index + 1] : nullptr;
  }
};

/// Owns the nodes of a file.
class NodeStore {
 public:
  Node* token(Kind kind, std::string text);
  Node* bracket(char bracket, bool written);
  /// A group; the children get it as their parent.
  Node* group(Kind kind, std::vector<Node*> children);
  Node* copy(const Node& node);

 private:
  std::deque<Node> nodes_;
};

/// Sets parent and index of every child.
void adopt_children(Node& parent);
Node* first_token(Node* node);
Node* last_token(Node* node);
/// The token before this one in its logical line.
Node* token_before(const Node* node);
bool is_multiline_string(const Node& node);

// What stands in brackets; all take the node with its brackets.
bool is_atom(const Node& node, char bracket);
bool is_empty_tuple(const Node& node);
/// `(x,)`, or `x,` without brackets.
bool is_one_tuple(const Node& node);
bool is_tuple(const Node& node);  ///< a comprehension in brackets too
bool is_comprehension(const Node& node);

}  // namespace galatea::dsl::formatter
