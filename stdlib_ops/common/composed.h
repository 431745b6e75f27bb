// Expressions that travel as texts in arguments: what operators are written with that replace several nodes
// (compiler/passes/composing.h).
//
// Comes in: texts in the grammar of kernels (compiler/kernel/reader.h) over symbols of this node's inputs.
// Goes out: what is wrong with them, for type rules; expressions, for definitions. Being arguments, a graph
// with them prints and reads back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// More inputs than a chain of nodes has.
inline constexpr int kMaxComposedInputs = 64;

/// The number of texts in a list argument.
size_t num_texts(const TypeContext& ctx, std::string_view arg);
/// The text must be an expression of this type over the node's inputs.
Status check_text(const TypeContext& ctx, std::string_view arg, const std::string& text, DType type);
/// The argument "checks", if given: runs of condition, message, help, how many values, the values.
Status check_composed_checks(const TypeContext& ctx);
/// `type` with the extents of the argument "known_extents".
Result<ir::Type> with_known_extents(const TypeContext& ctx, ir::Type type);

/// Reads the texts of an argument in terms of this node's inputs. Numbers are the user's, as they were where
/// they came from.
class ComposedTexts {
 public:
  ComposedTexts(RecipeBuilder& b, std::string_view arg);

  size_t size() const { return texts_.size(); }
  bool is_empty(size_t i) const { return texts_[i].empty(); }
  const std::string& text(size_t i) const { return texts_[i]; }
  Expr operator()(size_t i) const;

 private:
  RecipeBuilder& b_;
  const std::vector<std::string>& texts_;
  mutable uint64_t number_ = 0;
};

/// Asks what the nodes asked that are gone.
void ask_composed_checks(RecipeBuilder& b);

/// checks, known_extents.
std::vector<ArgSpec> composed_args();

}  // namespace galatea::ops
