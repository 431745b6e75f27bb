// Where galatea keeps what it may lose: the folder, and whether what lies there is this user's own.
//
// Comes in: settings, the state of a file. Goes out: a folder; why a file is not to be trusted.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace galatea {

/// The folder of all that galatea keeps: GALATEA_CACHE_DIR, else galatea/ in the user's cache folder; empty
/// where neither it nor the home folder is known.
std::filesystem::path cache_root();

/// Why this process may not use a file or folder of this state, which others may have written: "it belongs to
/// another user"; empty where it may.
std::string why_distrusted(const struct stat& status);

/// How files of a cache are named while they are written, in the folder where they will lie.
inline constexpr const char* kUnfinishedFile = ".unfinished-";

/// Of the files that end in `suffix`, in the folder and `depth` folders below it, removes those used least
/// recently (by time of change) until `goal` bytes are left; none as long as there are no more than `most`. Files
/// that a process left unfinished go after ten minutes. Other processes may do the same meanwhile.
void trim_cache(const std::filesystem::path& folder, int depth, const char* suffix, int64_t most,
                int64_t goal);

}  // namespace galatea
