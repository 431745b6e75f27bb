// Blanks and break priorities, from a token's place in the tree. See spacing.h.
#include "dsl/formatter/spacing.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace galatea::dsl::formatter {
namespace {

// Slices of more than names and numbers get blanks around their colons.
bool is_complex(const Node& node) {
  constexpr std::array kComplex = {Kind::kTernary,    Kind::kLambda, Kind::kBool,   Kind::kNot,
                                   Kind::kComparison, Kind::kStar,   Kind::kBinary, Kind::kPower,
                                   Kind::kTrailer,    Kind::kNamed};
  if (std::find(kComplex.begin(), kComplex.end(), node.kind) != kComplex.end()) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const Node* child) { return is_complex(*child); });
}

const Node* slice_of_colon(const Node& token) {
  if (!token.is(":") || !token.parent) return nullptr;
  if (token.parent->kind == Kind::kSliceStep)
    return token.parent->in(Kind::kSlice) ? token.parent->parent : token.parent;
  if (token.parent->kind == Kind::kSlice) return token.parent;
  // A lone `:` is its own group.
  bool lone = token.in(Kind::kSubscripts) ||
              (token.in(Kind::kTrailer) && token.parent->children.front()->bracket == '[');
  return lone ? &token : nullptr;
}

std::string blanks_around_slice_colon(const Node& slice) { return is_complex(slice) ? " " : ""; }

// `*` and `**` that spread or collect, not those that multiply.
bool is_spread(const Node& token) {
  if (!token.is("*") && !token.is("**")) return false;
  constexpr std::array kPlaces = {Kind::kStar,          Kind::kArgument,
                                  Kind::kParameters,    Kind::kLambdaParameters,
                                  Kind::kParameterList, Kind::kLambda};
  return token.parent && std::find(kPlaces.begin(), kPlaces.end(), token.parent->kind) != kPlaces.end();
}

bool hugs_equals(const Node& equals) {
  if (!equals.is("=")) return false;
  if (equals.in(Kind::kArgument) || equals.in(Kind::kLambdaParameters)) return true;
  return equals.in(Kind::kParameters) && equals.previous_sibling() &&
         equals.previous_sibling()->kind != Kind::kParameter;
}

}  // namespace

std::string blanks_before(const Node& token) {
  if (token.kind == Kind::kComment) return "  ";
  if (token.kind == Kind::kOwnLine || token.closes() || token.is(",")) return "";
  const Node* previous = token_before(&token);
  if (!previous || previous->opens()) return "";
  if (token.is(":")) {
    const Node* slice = slice_of_colon(token);
    if (!slice || previous->is(":")) return "";
    return previous->is(",") ? " " : blanks_around_slice_colon(*slice);
  }
  if (previous->is(":")) {
    if (const Node* slice = slice_of_colon(*previous)) return blanks_around_slice_colon(*slice);
    return " ";
  }
  bool import_dots = token.parent && token.parent->kind == Kind::kImportFrom;
  if (import_dots) {
    if (token.is(".") || token.is("...")) return previous->is("from") ? " " : "";
    if (token.is("import")) return " ";
  }
  if (previous->is(".") || (previous->is("...") && previous->in(Kind::kImportFrom))) return "";
  if (token.is(".")) return "";
  if (token.in(Kind::kTrailer) && token.opens()) return "";
  if (token.in(Kind::kParameterList) || (token.in(Kind::kClass) && token.bracket == '(')) return "";
  if (hugs_equals(token) || hugs_equals(*previous)) return "";
  if (previous->in(Kind::kUnary) && previous->index == 0) return "";
  if (is_spread(*previous) && !token.is(",")) return "";
  if (previous->is("@") && previous->in(Kind::kDecorator))
    return token.in(Kind::kDecorator) || token.parent->in(Kind::kDecorator) ? "" : " ";
  return " ";
}

int break_before(const Node& token, const Node* previous) {
  if (is_spread(token) || !token.parent) return kNoBreak;
  const Node& parent = *token.parent;
  if (token.is(".") && parent.kind == Kind::kTrailer && previous && previous->closes()) return kAttribute;
  if (parent.kind == Kind::kBinary || parent.kind == Kind::kPower) {
    struct Level {
      std::string_view text;
      Priority priority;
    };
    constexpr std::array<Level, 13> kLevels = {{{"|", kOr},
                                                {"^", kXor},
                                                {"&", kAnd},
                                                {"<<", kShift},
                                                {">>", kShift},
                                                {"+", kSum},
                                                {"-", kSum},
                                                {"*", kProduct},
                                                {"/", kProduct},
                                                {"//", kProduct},
                                                {"%", kProduct},
                                                {"@", kProduct},
                                                {"**", kPowerBreak}}};
    if (token.kind == Kind::kOperator) {
      for (const Level& level : kLevels) {
        if (token.text == level.text) return level.priority;
      }
    }
    return kNoBreak;
  }
  if (parent.kind == Kind::kComparison && token.index % 2 == 1) return kComparisonBreak;
  if (parent.kind == Kind::kComparisonWords && token.index == 0) return kComparisonBreak;
  if (token.kind == Kind::kString && previous && previous->kind == Kind::kString) return kStringBreak;
  if (parent.kind == Kind::kComprehension && token.is("for")) return kComprehensionBreak;
  if (parent.kind == Kind::kCondition && token.is("if")) return kComprehensionBreak;
  if (parent.kind == Kind::kTernary && (token.is("if") || token.is("else"))) return kTernaryBreak;
  if (parent.kind == Kind::kBool && (token.is("and") || token.is("or"))) return kLogic;
  return kNoBreak;
}

int break_after(const Node& token) {
  if (!token.is(",")) return kNoBreak;
  bool target =
      token.in(Kind::kTargets) && (token.parent->in(Kind::kFor) || token.parent->in(Kind::kComprehension));
  return target ? kNoBreak : kComma;
}

}  // namespace galatea::dsl::formatter
