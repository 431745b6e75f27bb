// Containers that are read without looking through them first: one behind the other, or several in turns.
//
// Comes in: their paths, and how one is read from its start to its end. Goes out: a source that does not know
// its size. A container that cannot be opened or goes on wrongly is one sample that fails; the next follows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "runtime/native.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

struct ContainerStreamOptions {
  int64_t interleave = 1;     ///< containers that samples are taken from in turns
  bool by_container = false;  ///< a shard is every n-th container, not every n-th sample
  bool shuffle = false;       ///< containers come in another order in each epoch, the same in all shards
  int64_t num_shards = 1;
};
/// From the arguments of a reader: interleave, shard_by, random_shuffle, num_shards.
ContainerStreamOptions container_stream_options(const nlohmann::json& config);

/// Samples of one container, found one behind the other: null at the end, an error where it is damaged.
class ContainerPass {
 public:
  virtual ~ContainerPass() = default;
  /// `index`: what the sample's index() is to be.
  virtual Result<std::shared_ptr<const runtime::StreamSample>> next(int64_t index) = 0;
};
using OpenContainer =
    std::function<Result<std::unique_ptr<ContainerPass>>(std::shared_ptr<const ByteSource> container)>;

/// A sample that has its index.
class IndexedSample : public runtime::StreamSample {
 public:
  explicit IndexedSample(int64_t index) : index_(index) {}
  int64_t index() const override { return index_; }

 private:
  int64_t index_;
};

Result<std::unique_ptr<runtime::SampleSource>> stream_of_containers(std::vector<std::string> paths,
                                                                    const ContainerStreamOptions& options,
                                                                    OpenContainer open);

}  // namespace galatea::native
