// Plug-ins: shared libraries that add to an engine by the functions of galatea.h.
#pragma once

#include <string>

#include "api/handles.h"
#include "include/galatea.h"

namespace galatea::api {

galatea_error* load_plugin(galatea_engine& engine, const std::string& path);
/// All of a folder, in the order of their names.
galatea_error* load_plugin_folder(galatea_engine& engine, const std::string& folder);

}  // namespace galatea::api
