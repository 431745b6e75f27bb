// experimental.readers.fits: images of FITS files.
//
// Comes in: the operator's arguments as JSON. Goes out: a source with an output for each of hdu_indices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "runtime/native.h"
#include "stdlib_ops/native/fits.h"

namespace galatea::native {

/// Names of files, by the arguments: file_root with file_filter, files or file_list.
Result<std::vector<std::string>> list_fits(const nlohmann::json& config);

Result<std::unique_ptr<runtime::SampleSource>> open_fits(const std::string& config);

}  // namespace galatea::native
