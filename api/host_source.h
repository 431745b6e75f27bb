// A reader of a host or a plug-in.
//
// Comes in: its declaration in texts, its C functions. Goes out: an operator with the arguments of all
// readers, and the source behind it.
#pragma once

#include "api/program_maker.h"
#include "include/galatea.h"

namespace galatea::api {

/// Adds to the library; an error leaves it as it was, and the context the host's.
Status register_host_source(Library& library, const galatea_source& source);

}  // namespace galatea::api
