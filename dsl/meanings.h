// What the names and expressions of a text turned out to be, for editors; and what the library offers.
//
// Comes in: values, as the evaluator meets them. Goes out: for each place of the main text what stood there
// last, in words and, of data, as a value of the graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"

namespace galatea::dsl {

struct Meaning {
  enum class Kind : uint8_t { kStatic, kData, kOperator, kFunction, kModule } kind = Kind::kStatic;
  std::string text;              ///< the type, and the value where it is short: "int `224`", "u8[?,?,3] HWC"
  ir::ValueId node = ir::kNoId;  ///< kData: in the graph of `pipeline`
  std::string pipeline;          ///< that was staged; empty: the file itself
  const op::Operator* op = nullptr;  ///< kOperator
  Span definition;                   ///< kFunction: its name where it is defined; invalid: in the library
};

/// By place: a name, an expression or the target of an assignment.
class Meanings {
 public:
  /// Only places of this file are kept.
  void keep(uint32_t file) { file_ = file; }
  bool keeps(Span span) const { return span.file == file_ && span.valid(); }
  void note(Span span, Meaning meaning) { by_place_[{span.begin, span.end}] = std::move(meaning); }
  /// nullptr: nothing is known of it, since it was never evaluated.
  const Meaning* at(Span span) const;
  /// The shortest place that holds the bytes; an invalid span: none does.
  Span around(uint32_t begin, uint32_t end) const;

 private:
  uint32_t file_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, Meaning> by_place_;
};

/// A module that can be imported, and the names in it, sorted. Operators' namespaces are not among them: the
/// registry has their names. "builtins" has what every file sees without an import.
struct LibraryModule {
  struct Member {
    std::string name;
    Meaning::Kind kind = Meaning::Kind::kStatic;
    std::string text;  ///< as Meaning::text
  };
  std::string path;  ///< "nvidia.dali.types"
  std::vector<Member> members;
};
std::vector<LibraryModule> library_modules(const op::Registry& registry);

}  // namespace galatea::dsl
