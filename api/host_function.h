// A function of a host or a plug-in as an operator.
//
// Comes in: its declaration in texts, its C functions. Goes out: an operator whose type rule and definition
// follow from the ports, and the native functions that it calls: NAME fills the output, NAME.shape says those
// of its extents that the ports leave open.
#pragma once

#include "api/program_maker.h"
#include "include/galatea.h"

namespace galatea::api {

/// Adds to the library; an error leaves it as it was, and the context the host's.
Status register_function(Library& library, const galatea_function& function);

}  // namespace galatea::api
