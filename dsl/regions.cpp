// Regions of samples. In: splits and joins. Out: which regions hold the same samples. See regions.h.
#include "dsl/regions.h"

#include <algorithm>
#include <set>

namespace galatea::dsl {

uint32_t Regions::add(Region region) {
  regions_.push_back(std::move(region));
  return static_cast<uint32_t>(regions_.size() - 1);
}

uint32_t Regions::make_root() { return add({}); }

std::pair<uint32_t, uint32_t> Regions::split(uint32_t region, Span condition) {
  auto first = static_cast<uint32_t>(regions_.size());
  add({region, first + 1, {}, condition});
  add({region, first, {}, condition});
  return {first, first + 1};
}

// From the largest number down: what could still complete a split has a larger number and has been seen.
uint32_t Regions::join(std::vector<uint32_t> regions) {
  std::set<uint32_t> open(regions.begin(), regions.end());
  std::vector<uint32_t> parts;
  while (!open.empty()) {
    uint32_t last = *open.rbegin();
    open.erase(last);
    const Region& region = regions_[last];
    if (!region.parts.empty())
      open.insert(region.parts.begin(), region.parts.end());
    else if (region.sibling != 0 && open.erase(region.sibling) > 0)
      open.insert(region.parent);
    else
      parts.push_back(last);
  }
  if (parts.size() == 1) return parts[0];
  std::reverse(parts.begin(), parts.end());
  auto [known, fresh] = unions_.try_emplace(parts, 0);
  if (fresh) {
    Region made;
    made.parent = common(parts);
    made.cause = regions_[parts.back()].cause;
    made.parts = parts;
    known->second = add(std::move(made));
  }
  return known->second;
}

uint32_t Regions::common(const std::vector<uint32_t>& regions) const {
  std::set<uint32_t> open(regions.begin(), regions.end());
  while (open.size() > 1) {
    uint32_t last = *open.rbegin();
    open.erase(last);
    open.insert(regions_[last].parent);
  }
  return *open.begin();
}

bool Regions::within(uint32_t region, uint32_t outer) const {
  while (region > outer) region = regions_[region].parent;
  return region == outer;
}

bool Regions::conditional(uint32_t region) const { return regions_[region].parent != 0; }

Span Regions::cause(uint32_t region) const { return regions_[region].cause; }

}  // namespace galatea::dsl
