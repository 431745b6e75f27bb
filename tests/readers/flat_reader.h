#pragma once

#include "compiler/op/source.h"

namespace galatea::testing {

op::SourceDeclaration flat_reader();

}  // namespace galatea::testing
