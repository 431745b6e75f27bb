// readers.numpy: arrays in files, whole or in part.
//
// Comes in: the operator's arguments as JSON. Goes out: a source of arrays; or, where the region of each array
// is known only with its sample, a source of their names, and the native functions that read from them:
//
// numpy.part_shape: input 0 = the name of a file (u8 [n]). Scalars: the bounds that are given, a number for each
// axis: those of the start (i64; relative: f32), then those of the end. Results: the extents of the part (i64).
// numpy.part: the same inputs and scalars; output: the part.
// Configuration of both: {"bounds": ["roi_start", "rel_roi_end"], "count": 2, "dtype": "f32", "ndim": 3,
// "roi_axes": …, "out_of_bounds_policy": …, "fill_value": …, "cache_header_information": …}.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "runtime/native.h"
#include "stdlib_ops/native/npy.h"

namespace galatea::native {

inline constexpr const char* kNumpyPartShape = "numpy.part_shape";
inline constexpr const char* kNumpyPart = "numpy.part";

/// The source of names.
inline constexpr const char* kNumpyNames = "readers.numpy_names";

/// Headers of files, each read once while the file keeps its size; of any thread.
class NpyHeaders {
 public:
  /// Unless `kept`, all are read each time.
  explicit NpyHeaders(bool kept) : kept_(kept) {}
  Result<NpyHeader> of(const ByteSource& file);

 private:
  struct Known {
    int64_t file_size = 0;
    NpyHeader header;
  };
  bool kept_;
  std::shared_mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
};

/// Names of arrays, by the arguments of readers.numpy: file_root with file_filter, files or file_list.
Result<std::vector<std::string>> list_arrays(const nlohmann::json& config);

Result<std::unique_ptr<runtime::SampleSource>> open_numpy(const std::string& config);
Result<std::unique_ptr<runtime::SampleSource>> open_numpy_names(const std::string& config);
std::vector<runtime::NativeFunction> numpy_part_functions();

}  // namespace galatea::native
