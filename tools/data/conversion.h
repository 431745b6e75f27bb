// A conversion that survives being killed: what is done stands in a file of the folder that is written.
//
// Comes in: a data set, a folder. Goes out: shards in the folder, each of them read back and compared before it
// counts, and galatea-convert.json.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/json.h"
#include "stdlib_ops/native/data_sets/data_writer.h"

namespace galatea::tools {

struct ConversionOptions {
  native::DataFormat format = native::DataFormat::kWebDataset;
  std::string folder, prefix = "data";
  int64_t shard_bytes = int64_t{1} << 30, shard_samples = 100'000;
  bool overwrite = false, skip = false;
};

/// What is on the disk for certain.
struct ConversionState {
  int64_t read = 0;     ///< samples of the source that are done with, skipped ones included
  int64_t samples = 0;  ///< of them, written
  int64_t skipped = 0;
  int64_t shards = 0;
  int64_t bytes = 0;  ///< of the shards
  int64_t mark = 0;   ///< DataWriter::mark()
  bool is_complete = false;
};

class Conversion {
 public:
  Conversion(native::DataSet& data, ConversionOptions options) : data_(data), options_(std::move(options)) {}
  ~Conversion();
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;

  /// Makes the folder, or finds what is there: refuses what is not this conversion's.
  Status open();
  /// Until the end, or until `progress` says false. A sample that is skipped is told to `skipped`.
  Status run(const std::function<bool(double share, int64_t samples)>& progress,
             const std::function<void(const native::DataPlace&, const Error&)>& skipped);

  const ConversionState& state() const { return state_; }
  /// How many samples were there at the start.
  int64_t resumed_at() const { return resumed_at_; }
  /// What the form has no place for, by name.
  const std::set<std::string>& left_out() const { return left_out_; }
  /// What the source has beside samples.
  const std::set<std::string>& passed_over() const { return data_.passed_over(); }

 private:
  Status lock();
  Result<nlohmann::ordered_json> read_manifest() const;
  Status write_manifest() const;
  nlohmann::ordered_json identity() const;
  Status pass_over_what_is_done();
  Status commit_shard(const std::vector<uint64_t>& digests, ConversionState next);

  native::DataSet& data_;
  ConversionOptions options_;
  ConversionState state_;
  std::unique_ptr<native::DataWriter> writer_;
  std::set<std::string> left_out_;
  int64_t resumed_at_ = 0;
  int lock_ = -1;
};

}  // namespace galatea::tools
