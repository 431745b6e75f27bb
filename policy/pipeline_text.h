// A policy as a pipeline file of the language.
#pragma once

#include <string>

#include "policy/document.h"

namespace galatea::policy {

/// A whole file whose pipeline applies the policy that `expression` makes; in the formatter's style but for
/// the expression.
std::string pipeline_around(const std::string& expression);
/// The same with the document written out: it needs no other file, except for the document's imports.
std::string pipeline_of(const Document& document);

}  // namespace galatea::policy
