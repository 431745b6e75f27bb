#include "base/layout.h"

#include <algorithm>

namespace galatea {

bool Layout::is_permutation_of(const Layout& other) const {
  return axes_.size() == other.axes_.size() &&
         std::is_permutation(axes_.begin(), axes_.end(), other.axes_.begin());
}

}  // namespace galatea
