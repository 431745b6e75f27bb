// A folder of a store, page by page of its listing.
//
// Comes in: the address of a folder. Goes out: what lies in it, by names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stdlib_ops/native/far/fetch.h"

namespace galatea::native::far {

/// What a folder of a store holds, by names in it.
struct FarFolder {
  std::vector<std::string> files, folders;
};

/// Only stores list their folders, web servers do not. A folder of which nothing is listed is an error: it may hold
/// nothing only where an object stands for it, as consoles of stores make one.
Result<FarFolder> list_folder(Fetcher& fetcher, const std::string& text);

}  // namespace galatea::native::far
