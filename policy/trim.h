// Taking out of a policy what nothing uses.
#pragma once

#include "policy/document.h"

namespace galatea::policy {

/// The same policy without augmentations that nothing applies and definitions that nothing refers to: what is
/// left when a search has chosen among names.
Document trimmed(const Document& document);

}  // namespace galatea::policy
