#include "stdlib_ops/native/container_stream.h"

#include <optional>

#include <fmt/format.h>

#include "runtime/random.h"
#include "stdlib_ops/native/far/address.h"

namespace galatea::native {
namespace {

/// Of the order of containers.
constexpr uint64_t kContainerKey = 0xC047;
/// Samples of one container, at most; an index is the container's number times this, and the sample's.
constexpr int64_t kMostSamples = int64_t{1} << 32;

/// Stands for what a container would have held from there on.
class BrokenContainer final : public IndexedSample {
 public:
  BrokenContainer(int64_t index, std::string name, Error error)
      : IndexedSample(index), name_(std::move(name)), error_(std::move(error)) {}
  std::string describe() const override { return name_; }
  Status read(const runtime::AllocateOutput&) const override { return std::unexpected(error_); }

 private:
  std::string name_;
  Error error_;
};

/// One container while it is read.
struct OpenedContainer {
  int64_t number = 0;  ///< in the list of paths
  int64_t found = 0;   ///< samples of it
  std::unique_ptr<ContainerPass> pass;
};

class ContainersInTurns final : public runtime::SampleStream {
 public:
  ContainersInTurns(const std::vector<std::string>& paths, const OpenContainer& open,
                    std::vector<int64_t> order, int64_t interleave)
      : paths_(paths), open_(open), order_(std::move(order)), turns_(static_cast<size_t>(interleave)) {}

  Result<std::shared_ptr<const runtime::StreamSample>> next() override {
    for (size_t empty = 0; empty < turns_.size();) {
      std::optional<OpenedContainer>& here = turns_[turn_];
      if (!here && at_ < order_.size()) here.emplace().number = order_[at_++];
      if (here) {
        auto sample = next_of(*here);
        if (sample && !*sample) {  // the next container takes this turn
          here.reset();
          continue;
        }
        turn_ = (turn_ + 1) % turns_.size();
        if (sample) return std::move(*sample);
        auto broken =
            std::make_shared<BrokenContainer>(index_of(*here), far::shown(path_of(*here)), sample.error());
        here.reset();
        return broken;
      }
      ++empty;
      turn_ = (turn_ + 1) % turns_.size();
    }
    return nullptr;
  }

 private:
  static int64_t index_of(const OpenedContainer& one) { return one.number * kMostSamples + one.found; }
  const std::string& path_of(const OpenedContainer& one) const {
    return paths_[static_cast<size_t>(one.number)];
  }

  Result<std::shared_ptr<const runtime::StreamSample>> next_of(OpenedContainer& one) {
    if (!one.pass) {
      GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_file(path_of(one)));
      GALATEA_ASSIGN(one.pass, open_(std::move(file)));
    }
    GALATEA_ASSIGN(std::shared_ptr<const runtime::StreamSample> sample, one.pass->next(index_of(one)));
    ++one.found;
    return sample;
  }

  const std::vector<std::string>& paths_;
  const OpenContainer& open_;
  std::vector<int64_t> order_;  ///< numbers of containers
  size_t at_ = 0;               ///< the next of them
  std::vector<std::optional<OpenedContainer>> turns_;
  size_t turn_ = 0;
};

class ContainerStream final : public runtime::SampleSource {
 public:
  ContainerStream(std::vector<std::string> paths, const ContainerStreamOptions& options, OpenContainer open)
      : paths_(std::move(paths)), options_(options), open_(std::move(open)) {}

  int64_t size() const override { return kUnknownSize; }
  bool divides_itself() const override { return options_.by_container; }

  Result<std::unique_ptr<runtime::SampleStream>> start(const runtime::StreamPass& pass) const override {
    std::vector<int64_t> order;
    const auto count = static_cast<int64_t>(paths_.size());
    const uint64_t key = runtime::mix(kContainerKey, static_cast<uint64_t>(pass.epoch) + 1);
    for (int64_t place = 0; place < count; ++place) {
      if (options_.by_container && place % pass.num_shards != pass.shard) continue;
      order.push_back(options_.shuffle ? static_cast<int64_t>(runtime::permuted(
                                             key, static_cast<uint64_t>(place), static_cast<uint64_t>(count)))
                                       : place);
    }
    return std::make_unique<ContainersInTurns>(paths_, open_, std::move(order), options_.interleave);
  }

 private:
  std::vector<std::string> paths_;
  ContainerStreamOptions options_;
  OpenContainer open_;
};

}  // namespace

ContainerStreamOptions container_stream_options(const nlohmann::json& config) {
  return {.interleave = config.value("interleave", int64_t{1}),
          .by_container = config.value("shard_by", "sample") == "container",
          .shuffle = config.value("random_shuffle", false),
          .num_shards = config.value("num_shards", int64_t{1})};
}

Result<std::unique_ptr<runtime::SampleSource>> stream_of_containers(std::vector<std::string> paths,
                                                                    const ContainerStreamOptions& options,
                                                                    OpenContainer open) {
  if (options.by_container && static_cast<int64_t>(paths.size()) < options.num_shards)
    return unusable(
        fmt::format("{} containers cannot be divided into {} shards", paths.size(), options.num_shards),
        "use fewer shards, or shard_by=\"sample\"");
  return std::make_unique<ContainerStream>(std::move(paths), options, std::move(open));
}

}  // namespace galatea::native
