// nvJPEG, found at run time.
//
// Comes in: GALATEA_CUDA_LIBRARY_PATH, the loader's places, the toolkit, the Python package. Goes out: its
// entry points, or an error that says where it was looked for and how to get it. Nothing links it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg_api.h"

namespace galatea::native {

class Nvjpeg {
 public:
  /// `newest_major` is the driver's, which runs no library of a later major version of CUDA; 0: any will do.
  static Result<std::shared_ptr<const Nvjpeg>> open(int newest_major = 0);
  /// The library at this place.
  static Result<std::shared_ptr<const Nvjpeg>> open_at(void* library, const std::string& path,
                                                       int newest_major = 0);

  const std::string& path() const { return path_; }
  std::string version_text() const;  ///< "12.4"
  const jpeg::Api& api() const { return api_; }

  /// The error of a call that returned `result`; `device` is what it was made for.
  std::unexpected<Error> failure(jpeg::Status result, const char* entry, std::string_view device) const;

 private:
  Nvjpeg() = default;
  Status load(void* library, const std::string& path, int newest_major);

  std::string path_;
  int major_ = 0, minor_ = 0;
  jpeg::Api api_;
};

}  // namespace galatea::native
