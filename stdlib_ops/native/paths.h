// Which files an argument names: paths, patterns and ranges of them.
//
// Comes in: "train-{000..099}.tar", "data/*.tfrecord", "file:///data/a.rec". Goes out: paths, in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace galatea::native {

/// The texts that braces stand for, as shells have it: {a,b} are alternatives, {08..11} and {0..90..10} are
/// numbers, with leading zeros where a bound has them. Braces that are neither stand for themselves.
Result<std::vector<std::string>> expand_braces(const std::string& text);

/// The files of a list: "file:///data/a" is "/data/a", braces are expanded, and *, ? and […] (glob(7)) are
/// what matches them, sorted by the bytes of the names; nothing that matches is an error. What is the name of
/// a file as it stands is that file.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);
/// Of an argument that is one text or a list of them.
Result<std::vector<std::string>> paths_of(const nlohmann::json& config, const char* key);
/// The same of a name in a folder, whose own name stands for itself: names in the folder.
Result<std::vector<std::string>> expand_name(const std::string& folder, const std::string& written);
/// Whether one of these may stand for another number of files than one.
bool has_patterns(const std::vector<std::string>& paths);

}  // namespace galatea::native
