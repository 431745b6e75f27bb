// Search spaces: a policy document in which a value may be a choice.
//
// Comes in: a tree in which {"$choice": […]}, {"$int": [low, high]} or {"$float": [low, high]} stands where a
// value may stand. Goes out: the genes in the order of the text, and the tree for each point.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/json_value.h"
#include "policy/random.h"

namespace galatea::policy {

struct Gene {
  enum class Kind : uint8_t { kChoice, kInteger, kNumber };
  Kind kind = Kind::kChoice;
  std::string path;                  ///< "policy.each.mag.bin"
  double low = 0, high = 0;          ///< both inclusive; of a choice: indices
  std::vector<std::string> choices;  ///< as people read them
  Span span;

  /// How many values there are; 0: any number between two.
  int64_t count() const { return kind == Kind::kNumber ? 0 : static_cast<int64_t>(high - low) + 1; }
};

/// A value for each gene.
using Point = std::vector<double>;

class Space {
 public:
  /// Reports what is wrong with the choices, and what no policy can be, tried at the first point.
  static std::optional<Space> read(uint32_t file, const SourceMap& sources, DiagnosticSink& sink);

  const std::vector<Gene>& genes() const { return genes_; }
  /// The document at a point.
  JsonValue at(const Point& point) const;
  bool contains(const Point& point) const;
  Point random(Random& random) const;
  /// One gene has another value.
  Point mutated(const Point& point, Random& random) const;
  /// The number-th point when all are counted, numbers taken at `levels` places; none: there are fewer.
  std::optional<Point> counted(int64_t number, int64_t levels) const;

 private:
  JsonValue root_;
  std::vector<Gene> genes_;
};

}  // namespace galatea::policy
