// Data sets, written shard by shard.
//
// Comes in: samples. Goes out: files that readers of this library and others read: a folder a class, WebDataset
// archives, TFRecord, RecordIO, LMDB; indices beside them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib_ops/native/data_sets/data_set.h"

namespace galatea::native {

class DataWriter {
 public:
  virtual ~DataWriter() = default;
  /// Makes of a sample what the format can hold; what goes away for that is noted in left_out. An error is a
  /// sample that it cannot hold.
  virtual Status fit(DataSample& sample) const = 0;
  /// Begins shard number `shard`; `first`: how many samples come before it.
  virtual Status begin(int64_t shard, int64_t first) = 0;
  /// A sample that fits.
  virtual Status add(const DataSample& sample) = 0;
  /// Bytes of the shard so far.
  virtual int64_t bytes() const = 0;
  /// The shard is on the disk, under its name.
  virtual Status end() = 0;
  /// What end() has put there.
  virtual Result<std::unique_ptr<DataContainer>> read_back() = 0;
  /// How many samples a shard has at most, whatever was asked for.
  virtual int64_t most_samples() const { return INT64_MAX; }
  /// A number that is kept with the samples that are done, and given back where a run goes on.
  virtual int64_t mark() const { return 0; }
  /// Before the first begin() of a run that goes on.
  virtual Status go_on(int64_t /*mark*/) { return {}; }
  /// Takes away what a run before this one has written as shards `first` and later, as far as there are any.
  virtual Status remove_from(int64_t first) = 0;
};

/// `folder` is there; `prefix` begins the names of shards: "train" makes "train-000000.tar".
std::unique_ptr<DataWriter> data_writer(DataFormat format, const std::string& folder,
                                        const std::string& prefix);

std::unique_ptr<DataWriter> folder_writer(const std::string& folder);
std::unique_ptr<DataWriter> lmdb_writer(const std::string& folder);
/// Of files that become one shard each.
std::unique_ptr<DataWriter> shard_writer(DataFormat format, const std::string& folder,
                                         const std::string& prefix);

/// What is kept in the folder about a conversion that is under way.
inline constexpr std::string_view kConversionState = "galatea-convert.json";

// ---- what writers share
/// A name that stays within a folder wherever it is unpacked, and that fits on a line; else an error.
Status check_sample_name(const DataSample& sample);
/// A sample becomes its picture and one label for each; without a label it is 0.
Status fit_picture(DataSample& sample);
/// The one label as a whole number between the two; an error where it is none.
Result<int64_t> label_between(const DataSample& sample, int64_t least, int64_t most, const char* format);

}  // namespace galatea::native
