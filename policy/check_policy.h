// What a document must hold beyond the form of its parts: names exist, magnitudes fit, definitions end.
#pragma once

#include "policy/document.h"
#include "policy/fields.h"

namespace galatea::policy {

void check_policy(const Document& document, Fields& fields);

/// Parts of a document that say which names there are, and could not be read: what they name is not looked
/// for.
struct UnreadParts {
  bool imports = false, augmentations = false, definitions = false, bins = false;
};
/// Of a document whose form is wrong: names and numbers in what could be read, as far as what they must fit was
/// read as well, and definitions that contain themselves. Unread: operations and parameter functions that are
/// empty, names of steps without a place, members of a choice that are nothing.
void check_readable(const Document& document, const UnreadParts& unread, Fields& fields);

}  // namespace galatea::policy
