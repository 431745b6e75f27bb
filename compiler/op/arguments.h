// Arguments of one call as its schema sees them: given, per sample, or the default. Shared by TypeContext and
// RecipeBuilder.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::op {

class Arguments {
 public:
  Arguments(const Operator& op, const std::vector<ir::Arg>& args) : op_(op), args_(args) {}
  const ir::Arg* find(std::string_view name) const;
  bool given(std::string_view name) const;
  bool is_per_sample(std::string_view name) const;
  const ir::Attr& attr(std::string_view name) const;  ///< static value or default; must not be per sample

 private:
  const Operator& op_;
  const std::vector<ir::Arg>& args_;
};

/// A layout for an input that has none: the first of its rank that the operator accepts.
Layout assumed_layout(const Operator& op, int k, const ir::Type& type);

}  // namespace galatea::op
