// Which samples stand on a path, as a tree: a branch splits the samples of a region in two.
//
// Comes in: the splits and joins of the evaluator's paths. Goes out: whether two paths hold the same samples,
// so that a list that was made for all of them may change again once they are together, whatever ended the
// paths in between (the end of an arm, `return`, `break`, `continue`).
//
// A region is a number. A join of both halves of a split is the region before it; a join of regions that do
// not add up to one is a region of its own, a union, which later joins take apart again. Numbers grow: a
// region's number is larger than those of its parent and its parts.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/source.h"

namespace galatea::dsl {

class Regions {
 public:
  /// All samples of one pipeline.
  uint32_t make_root();
  /// The samples of `region` for which the condition holds, and the others.
  std::pair<uint32_t, uint32_t> split(uint32_t region, Span condition);
  /// The samples of all the given regions, which have none in common.
  uint32_t join(std::vector<uint32_t> regions);
  /// The smallest region around all of them: what was made there was made before they parted.
  uint32_t common(const std::vector<uint32_t>& regions) const;
  /// Whether every sample of `region` is one of `outer`, as far as the splits tell.
  bool within(uint32_t region, uint32_t outer) const;
  /// Whether these are fewer samples than the pipeline's.
  bool conditional(uint32_t region) const;
  /// The condition that made these samples fewer than those of the region around.
  Span cause(uint32_t region) const;

 private:
  struct Region {
    uint32_t parent = 0;
    uint32_t sibling = 0;         ///< the other half of the split; 0: a root or a union
    std::vector<uint32_t> parts;  ///< of a union, sorted
    Span cause;
  };
  uint32_t add(Region region);

  std::vector<Region> regions_ = {{}};  ///< 0: outside every pipeline
  std::map<std::vector<uint32_t>, uint32_t> unions_;
};

}  // namespace galatea::dsl
