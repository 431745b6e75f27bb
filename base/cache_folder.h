// Where galatea keeps what it may lose: the folder, and whether what lies there is this user's own.
//
// Comes in: settings, the state of a file. Goes out: a folder; why a file is not to be trusted.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace galatea {

/// The folder of all that galatea keeps: GALATEA_CACHE_DIR, else galatea/ in the user's cache folder; empty
/// where neither it nor the home folder is known.
std::filesystem::path cache_root();

/// Why this process may not use a file or folder of this state, which others may have written: "it belongs to
/// another user"; empty where it may.
std::string why_distrusted(const struct stat& status);

}  // namespace galatea
