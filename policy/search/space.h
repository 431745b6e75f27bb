// Search spaces: a policy document in which a value may be a choice.
//
// Comes in: a tree in which {"$choice": […]}, {"$int": [low, high]} or {"$float": [low, high]} stands where a
// value may stand; the latter two may have "log": true beside them, and what is chosen from may hold choices.
// Goes out: the genes in the order of the text, and the tree for each point.
#pragma once

#include <cstddef>
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
  bool is_log = false;               ///< equal ratios are equally far; low is above 0
  std::vector<std::string> choices;  ///< as people read them
  /// Of a choice: behind which gene those of each item end; those of the first begin behind the choice.
  std::vector<size_t> ends;
  std::ptrdiff_t parent = -1;  ///< the choice that it is an item's of; -1: it is always there
  double item = 0;             ///< the item of that choice
  Span span;

  /// How many values there are; 0: any number between two.
  int64_t count() const { return kind == Kind::kNumber ? 0 : static_cast<int64_t>(high - low) + 1; }
};

/// A value for each gene; of genes whose item is not chosen the least.
using Point = std::vector<double>;

class Space {
 public:
  /// Reports what is wrong with the choices, and what no policy can be, tried at the first point.
  static std::optional<Space> read(uint32_t file, const SourceMap& sources, DiagnosticSink& sink);

  const std::vector<Gene>& genes() const { return genes_; }
  /// The document at a point.
  JsonValue at(const Point& point) const;
  bool contains(const Point& point) const;
  /// Which genes the document at a point is made of.
  std::vector<bool> active(const Point& point) const;
  Point random(Random& random) const;
  /// One gene has another value.
  Point mutated(const Point& point, Random& random) const;
  /// The number-th point when all are counted, numbers taken at `levels` places; none: there are fewer.
  std::optional<Point> counted(int64_t number, int64_t levels) const;

 private:
  /// How many points genes have, up to 2^40; numbers at `levels` places.
  int64_t size(size_t begin, size_t end, int64_t levels) const;
  /// Sets genes to their place in the count; gives what is left of the number.
  int64_t set_counted(size_t begin, size_t end, int64_t number, int64_t levels, Point& point) const;
  void clear_inactive(Point& point) const;

  JsonValue root_;
  std::vector<Gene> genes_;
};

}  // namespace galatea::policy
