// What has been emitted of the expressions of a statement.
//
// Comes in: an expression and its value. Goes out: the value again, for the same node. Expressions are known
// by their addresses, and what is known is kept: an emitter may make expressions of its own as it goes, and
// no later one can take the address of one that is gone.
#pragma once

#include <unordered_map>
#include <utility>

#include <llvm/IR/Value.h>

#include "compiler/kernel/expr.h"

namespace galatea::codegen {

class ValueMemo {
 public:
  /// nullptr: not emitted yet.
  llvm::Value* find(const kernel::Expr& e) const {
    const auto found = values_.find(e.get());
    return found == values_.end() ? nullptr : found->second.second;
  }
  void add(const kernel::Expr& e, llvm::Value* value) { values_.emplace(e.get(), std::pair(e, value)); }
  void clear() { values_.clear(); }

 private:
  std::unordered_map<const kernel::ExprNode*, std::pair<kernel::Expr, llvm::Value*>> values_;
};

}  // namespace galatea::codegen
