// Which names a text has, and where each is bound and used: by the rules of Python's scopes, from the syntax
// tree alone, so that it works for texts that do not check and for functions that nobody calls.
//
// Comes in: a syntax tree and its tokens. Goes out: symbols with all of their places.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/source.h"
#include "dsl/ast.h"
#include "dsl/lexer.h"

namespace galatea::tools::lsp {

struct Symbol {
  enum class Kind : uint8_t { kVariable, kParameter, kFunction, kPipeline, kImport };
  static constexpr size_t kNone = SIZE_MAX;

  Kind kind = Kind::kVariable;
  std::string name;
  Span definition;                           ///< of the name, where it is bound first
  std::vector<Span> places;                  ///< of the name, all, in the order of the text
  std::vector<Span> bindings;                ///< those of them that bind it
  const dsl::Statement* function = nullptr;  ///< kFunction, kPipeline
  size_t scope = 0;
  // kImport: `from MODULE import IMPORTED as name`, or `import MODULE as name`.
  std::string module, imported;  ///< imported is empty for a module as such
  int level = 0;                 ///< number of leading dots
  Span imported_span;            ///< of IMPORTED, or of the module's path
};

class Names {
 public:
  Names(const dsl::Module& tree, const std::vector<dsl::Token>& tokens);

  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// The symbol one of whose places holds the byte, its end included; nullptr: there is none.
  const Symbol* at(uint32_t offset) const;
  /// What a name means at a byte; nullptr: nothing of this file.
  const Symbol* find(const std::string& name, uint32_t offset) const;
  /// All that can be named at a byte: inner ones hide outer ones.
  std::vector<const Symbol*> visible(uint32_t offset) const;
  /// Of the file's own scope; nullptr: there is none.
  const Symbol* global(const std::string& name) const;

 private:
  friend class NameWalk;
  struct Scope {
    Span span;
    size_t parent = Symbol::kNone;
    std::map<std::string, size_t> names;
  };
  size_t innermost(uint32_t offset) const;

  std::vector<Symbol> symbols_;
  std::vector<Scope> scopes_;            ///< [0]: of the file; outer ones before inner ones
  std::map<uint32_t, size_t> by_place_;  ///< begin of a place → symbol
};

}  // namespace galatea::tools::lsp
