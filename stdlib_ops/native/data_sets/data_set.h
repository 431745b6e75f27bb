// Data sets, read from the first sample to the last, whatever they lie in: a folder with a folder a class, a
// list of files, WebDataset archives, TFRecord, RecordIO, LMDB.
//
// Comes in: paths. Goes out: samples, one behind the other; memory for the one that is looked at.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/data_sets/data_sample.h"

namespace galatea::native {

/// What a file is, by its content; nothing where it is no container.
Result<std::optional<DataFormat>> container_format(const std::string& path);

/// Names of features in TFRecord files; empty: those that are usual (see docs/data.md).
struct DataFeatures {
  std::string image, label, name;
};

/// One file of samples, or one folder.
class DataContainer {
 public:
  virtual ~DataContainer() = default;
  /// Goes to the next sample, without reading it: false at the end. An error is the container's, which ends.
  virtual Result<bool> next() = 0;
  /// Reads the sample; an error is the sample's.
  virtual Status read(DataSample& sample) = 0;
  virtual DataPlace place() const = 0;
  /// Bytes behind and before the sample, for progress.
  virtual double share() const = 0;
  /// What was met so far that belongs to no sample: kinds of files, in words.
  const std::set<std::string>& passed_over() const { return passed_over_; }

 protected:
  void pass_over(std::string what) {
    if (passed_over_.size() < kMostPassedOver) passed_over_.insert(std::move(what));
  }

 private:
  static constexpr size_t kMostPassedOver = 100;
  std::set<std::string> passed_over_;
};

/// What data_set() knows before it opens anything.
struct DataSource {
  DataFormat format = DataFormat::kFolder;
  std::vector<std::string> paths;  ///< the containers, in order; a folder or a list is one
  std::vector<int64_t> sizes;      ///< bytes of each; 0 of a folder
  uint64_t state = 0;              ///< changes when a file is added, removed or written
};
/// Looks at what was named: containers, a folder of containers, a folder of classes, a list of files.
Result<DataSource> find_data(const std::vector<std::string>& paths);

/// `first`: how many samples of the data set come before it, which numbers those without a name.
Result<std::unique_ptr<DataContainer>> open_container(DataFormat format, const std::string& path,
                                                      const DataFeatures& features, int64_t first);

/// All containers of a source, one behind the other.
class DataSet {
 public:
  explicit DataSet(DataSource source, DataFeatures features = {});
  /// As DataContainer's; after an error it goes on with the next container.
  Result<bool> next();
  Status read(DataSample& sample);
  DataPlace place() const;
  /// How much of the bytes is behind, 0 to 1.
  double share() const;
  /// What containers that have ended held beside samples.
  const std::set<std::string>& passed_over() const { return passed_over_; }
  const DataSource& source() const { return source_; }

 private:
  DataSource source_;
  DataFeatures features_;
  int64_t all_bytes_ = 0, bytes_behind_ = 0, samples_ = 0;
  size_t at_ = 0;
  std::unique_ptr<DataContainer> open_;
  std::set<std::string> passed_over_;
};

}  // namespace galatea::native
