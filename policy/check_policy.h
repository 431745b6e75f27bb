// What a document must hold beyond the form of its parts: names exist, magnitudes fit, definitions end.
#pragma once

#include "policy/document.h"
#include "policy/fields.h"

namespace galatea::policy {

void check_policy(const Document& document, Fields& fields);

}  // namespace galatea::policy
