#include "runtime/reader_loop.h"

#include <algorithm>

#include "base/json.h"
#include "runtime/messages.h"
#include "runtime/random.h"

namespace galatea::runtime {
namespace {

constexpr uint64_t kScanKey = 524287;  // DALI's fixed seed of the permutation at scan time
constexpr uint64_t kSubstituteKey = 0x5AB5;

/// Reads one argument; absent and null leave the default.
template <typename T>
std::optional<ReaderObjection> read(const nlohmann::json& config, const char* name, T& out) {
  auto at = config.find(name);
  if (at == config.end() || at->is_null()) return {};
  bool fits = std::is_same_v<T, bool> ? at->is_boolean() || at->is_number_integer() : at->is_number_integer();
  if (!fits)
    return ReaderObjection{name,
                           fmt::format("{} must be {}, not {}", name,
                                       std::is_same_v<T, bool> ? "a bool" : "an integer", json_text(*at)),
                           {}};
  if constexpr (std::is_same_v<T, bool>) {
    out = at->is_boolean() ? at->get<bool>() : at->get<int64_t>() != 0;
  } else {
    out = at->get<int64_t>();
  }
  return {};
}

bool sticks(const ReaderOptions& options) { return options.stick_to_shard || options.shuffle_after_epoch; }

int64_t shard_of_epoch(const ReaderOptions& options, int64_t epoch) {
  return sticks(options) ? options.shard_id : (options.shard_id + epoch) % options.num_shards;
}

/// floor(size · shard / num_shards) without overflow.
int64_t shard_begin(int64_t size, int64_t shard, int64_t num_shards) {
  return size / num_shards * shard + size % num_shards * shard / num_shards;
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::optional<ReaderObjection> read_reader_options(const std::string& config, ReaderOptions& options) {
  const auto json = config.empty() ? nlohmann::json::object() : parse_json(config);
  if (!json.is_object()) return ReaderObjection{{}, "its arguments are not a JSON object", {}};
  int64_t seed = -1, num_shards = 1, shard_id = 0;
  std::optional<ReaderObjection> objection;
  auto all = [&](auto... one) { return ((objection = one()) || ...); };
  if (all([&] { return read(json, "random_shuffle", options.random_shuffle); },
          [&] { return read(json, "initial_fill", options.initial_fill); },
          [&] { return read(json, "seed", seed); }, [&] { return read(json, "num_shards", num_shards); },
          [&] { return read(json, "shard_id", shard_id); },
          [&] { return read(json, "stick_to_shard", options.stick_to_shard); },
          [&] { return read(json, "shuffle_after_epoch", options.shuffle_after_epoch); },
          [&] { return read(json, "shuffle_after_epoch_seed", options.shuffle_after_epoch_seed); },
          [&] { return read(json, "pad_last_batch", options.pad_last_batch); }))
    return objection;
  if (seed >= 0) options.seed = static_cast<uint64_t>(seed);
  if (num_shards < 1 || num_shards > 1'000'000)
    return ReaderObjection{
        "num_shards", fmt::format("num_shards is {}; it must be in 1 … 1000000", num_shards), {}};
  if (shard_id < 0 || shard_id >= num_shards)
    return ReaderObjection{"shard_id",
                           fmt::format("shard_id is {}, but there are {} shards; it must be in 0 … {}",
                                       shard_id, num_shards, num_shards - 1),
                           "shards are numbered from 0"};
  if (options.random_shuffle && options.initial_fill < 1)
    return ReaderObjection{
        "initial_fill", fmt::format("initial_fill is {}; it must be at least 1", options.initial_fill), {}};
  if (options.shuffle_after_epoch && (options.random_shuffle || options.stick_to_shard))
    return ReaderObjection{"shuffle_after_epoch",
                           fmt::format("shuffle_after_epoch and {} exclude each other",
                                       options.random_shuffle ? "random_shuffle" : "stick_to_shard"),
                           "keep one of them"};
  options.num_shards = static_cast<int>(num_shards);
  options.shard_id = static_cast<int>(shard_id);
  return {};
}

Result<ReaderOptions> parse_reader_options(const std::string& config, uint64_t program_seed,
                                           const std::string& reader) {
  ReaderOptions options;
  options.seed = program_seed;
  if (auto objection = read_reader_options(config, options)) {
    auto error = make_error(message::kReaderOptions, reader, objection->why);
    error.error().diagnostics.front().help = objection->help;
    return error;
  }
  return options;
}

/// Places floor(N·s/n) to floor(N·(s+1)/n) are those of shards s·m to s·m+m−1 of n·m together.
void take_part(ReaderOptions& options, const SessionShard& part) {
  options.shard_id = options.shard_id * part.count + part.number;
  options.num_shards *= part.count;
}

Status check_reader(const ReaderOptions& options, int64_t size, const std::string& reader) {
  if (size == SampleSource::kUnknownSize) {
    if (options.shuffle_after_epoch)
      return make_error(message::kStreamNeedsSize, reader, "shuffle_after_epoch");
    return {};
  }
  if (size < 1)
    return make_error(message::kReaderOptions, reader,
                      "there are no samples; check its folder, list and filters");
  if (size < options.num_shards) {
    return make_error(
        message::kReaderOptions, reader,
        fmt::format("{} samples cannot be split into {} shards; use fewer shards", size, options.num_shards));
  }
  return {};
}

EpochOrder::EpochOrder(const ReaderOptions& options, int64_t size, int64_t epoch, int batch_size)
    : options_(options), size_(size), epoch_(epoch) {
  const int64_t shards = options.num_shards;
  const int64_t shard = shard_of_epoch(options, epoch);
  shard_begin_ = shard_begin(size, shard, shards);
  shard_size_ = shard_begin(size, shard + 1, shards) - shard_begin_;
  padded_ =
      options.pad_last_batch ? divide_up(divide_up(size, shards), batch_size) * batch_size : shard_size_;
  base_key_ = mix(kScanKey, 0);
  if (options.shuffle_after_epoch) {
    base_key_ = mix(mix(kScanKey, static_cast<uint64_t>(options.shuffle_after_epoch_seed)),
                    static_cast<uint64_t>(epoch) + 1);
  }
  epoch_key_ = mix(options.seed, static_cast<uint64_t>(epoch));
}

int64_t EpochOrder::base(int64_t place) const {
  const int64_t at = shard_begin_ + place;
  if (!options_.random_shuffle && !options_.shuffle_after_epoch) return at;
  return static_cast<int64_t>(permuted(base_key_, static_cast<uint64_t>(at), static_cast<uint64_t>(size_)));
}

int64_t EpochOrder::next() {
  GALATEA_CHECK(!done());
  const int64_t position = position_++;
  if (position >= shard_size_) return last_;  // padding
  if (!options_.random_shuffle) return last_ = base(position);
  if (taken_ == 0) {
    window_.reserve(static_cast<size_t>(std::min(options_.initial_fill, shard_size_)));
    while (taken_ < std::min(options_.initial_fill, shard_size_)) window_.push_back(base(taken_++));
  }
  auto pick = uniform_below(epoch_key_, static_cast<uint64_t>(position), 0, window_.size());
  last_ = window_[pick];
  if (taken_ < shard_size_) {
    window_[pick] = base(taken_++);
  } else {
    window_[pick] = window_.back();
    window_.pop_back();
  }
  return last_;
}

int64_t EpochOrder::substitute(int64_t position, int64_t attempt) const {
  auto place = uniform_below(mix(epoch_key_, kSubstituteKey), static_cast<uint64_t>(position),
                             static_cast<uint64_t>(attempt), static_cast<uint64_t>(shard_size_));
  return base(static_cast<int64_t>(place));
}

namespace {

/// Stands for a sample that could not be found.
class FailedSample final : public StreamSample {
 public:
  FailedSample(int64_t index, Error error) : index_(index), error_(std::move(error)) {}
  std::string describe() const override { return fmt::format("sample {} of the stream", index_); }
  Status read(const AllocateOutput&) const override { return std::unexpected(error_); }

 private:
  int64_t index_;
  Error error_;
};

}  // namespace

StreamOrder::StreamOrder(const ReaderOptions& options, const SampleSource& source, int64_t epoch,
                         int batch_size, std::string reader)
    : options_(options),
      source_(source),
      batch_size_(batch_size),
      reader_(std::move(reader)),
      epoch_(epoch),
      shard_(shard_of_epoch(options, epoch)),
      epoch_key_(mix(options.seed, static_cast<uint64_t>(epoch))) {}

Result<std::shared_ptr<const StreamSample>> StreamOrder::find() {
  try {
    if (!stream_) {
      GALATEA_ASSIGN(stream_,
                     source_.start({.epoch = epoch_, .shard = shard_, .num_shards = options_.num_shards}));
      if (!stream_) return make_error(message::kUnexpected, "a source gave no stream");
    }
    return stream_->next();
  } catch (const std::bad_alloc&) {
    return make_error(message::kOutOfMemory, "an unknown number of");
  } catch (const std::exception& exception) {
    return make_error(message::kUnexpected, exception.what());
  }
}

std::optional<StreamOrder::Item> StreamOrder::pull() {
  while (!ended_) {
    auto found = find();
    ended_ = !found || !*found;
    std::shared_ptr<const StreamSample> sample;
    if (!ended_) {
      sample = std::move(*found);
    } else if (!found) {
      // Of every shard: none of them can go on.
      sample = std::make_shared<FailedSample>(found_, std::move(found.error()));
    } else if (own_ == 0) {
      sample = std::make_shared<FailedSample>(
          found_, make_error(message::kEmptyStream, reader_, shard_, options_.num_shards).error());
    }
    if (ended_) stream_.reset();
    if (!sample) break;
    const int64_t place = found_++;
    if (!ended_ && !source_.divides_itself() && place % options_.num_shards != shard_) continue;
    ++own_;
    const int64_t index = sample->index();
    return Item{index < 0 ? place : index, std::move(sample)};
  }
  return {};
}

void StreamOrder::fill() {
  const auto room = static_cast<size_t>(options_.random_shuffle ? options_.initial_fill : 1);
  while (window_.size() < room) {
    auto item = pull();
    if (!item) return;
    window_.push_back(std::move(*item));
  }
}

bool StreamOrder::done() {
  fill();
  if (!window_.empty()) return false;
  if (!options_.pad_last_batch) return true;
  const int64_t most = source_.divides_itself() ? own_ : divide_up(found_, options_.num_shards);
  return position_ >= divide_up(most, batch_size_) * batch_size_;
}

StreamOrder::Item StreamOrder::next() {
  GALATEA_CHECK(!done());
  const int64_t position = position_++;
  if (window_.empty()) return last_;  // padding
  const size_t pick = options_.random_shuffle
                          ? uniform_below(epoch_key_, static_cast<uint64_t>(position), 0, window_.size())
                          : 0;
  last_ = std::move(window_[pick]);
  if (auto item = pull()) {
    window_[pick] = std::move(*item);
  } else {
    std::swap(window_[pick], window_.back());
    window_.pop_back();
  }
  return last_;
}

ReaderLoop::ReaderLoop(ReaderOptions options, int64_t size, int batch_size)
    : options_(options), size_(size), batch_size_(batch_size) {
  start(0);
}

ReaderLoop::ReaderLoop(ReaderOptions options, const SampleSource& source, int batch_size, std::string reader)
    : options_(options), size_(source.size()), batch_size_(batch_size), reader_(std::move(reader)) {
  if (size_ == SampleSource::kUnknownSize) source_ = &source;
  start(0);
}

void ReaderLoop::start(int64_t epoch) {
  epoch_ = epoch;
  if (source_)
    stream_ = std::make_unique<StreamOrder>(options_, *source_, epoch, batch_size_, reader_);
  else
    order_.emplace(options_, size_, epoch, batch_size_);
}

bool ReaderLoop::seek(int64_t epoch, int64_t position) {
  if (epoch < 0 || position < 0) return false;
  start(epoch);
  for (int64_t given = 0; given < position; ++given) {
    if (at_end()) return false;
    next();
  }
  return true;
}

ReaderLoop::Place ReaderLoop::next() {
  if (at_end()) start_next_epoch();
  Place place;
  place.position = position();
  place.epoch = epoch_;
  if (!stream_) {
    place.index = order_->next();
    return place;
  }
  StreamOrder::Item item = stream_->next();
  place.index = item.index;
  place.sample = std::move(item.sample);
  return place;
}

ReaderMeta ReaderLoop::meta() const {
  ReaderMeta meta;
  const bool pads = options_.pad_last_batch && size_ >= 0;
  meta.epoch_size = size_;
  meta.epoch_size_padded = pads ? divide_up(size_, options_.num_shards) * options_.num_shards : size_;
  meta.num_shards = options_.num_shards;
  meta.shard_id = options_.shard_id;
  meta.pad_last_batch = options_.pad_last_batch;
  meta.stick_to_shard = sticks(options_);
  return meta;
}

int64_t substitute_index(const ReaderOptions& options, int64_t size, int64_t epoch, int64_t position,
                         int64_t attempt) {
  return EpochOrder(options, size, epoch, 1).substitute(position, attempt);
}

}  // namespace galatea::runtime
