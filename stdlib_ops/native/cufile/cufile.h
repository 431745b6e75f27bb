// cuFile (GPUDirect Storage), found at run time.
//
// Comes in: GALATEA_CUDA_LIBRARY_PATH, the loader's places, the toolkit, the Python package; GALATEA_CUFILE.
// Goes out: its entry points behind a driver that is open, or an error that says why it is not used. Nothing
// links it. Its driver is the process's, so that it stays open: another library may read by it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "stdlib_ops/native/cufile/cufile_api.h"

namespace galatea::native {

class Cufile {
 public:
  /// `any_storage`: also where it reads no kind of storage directly, but copies through the host itself.
  static Result<std::shared_ptr<const Cufile>> open(bool any_storage);

  const std::string& path() const { return path_; }
  const std::string& version_text() const { return version_; }  ///< "1.14"; empty: it does not tell
  const cufile::Api& api() const { return api_; }

  /// "CU_FILE_IO_NOT_SUPPORTED", or the number.
  static std::string name_of(int error);

 private:
  Cufile() = default;
  Status load(void* library, const std::string& path, bool any_storage);

  std::string path_, version_;
  cufile::Api api_;
};

}  // namespace galatea::native
