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
Status read(const nlohmann::json& config, const char* name, const std::string& reader, T& out) {
  auto at = config.find(name);
  if (at == config.end() || at->is_null()) return {};
  bool fits = std::is_same_v<T, bool> ? at->is_boolean() || at->is_number_integer() : at->is_number_integer();
  if (!fits)
    return make_error(message::kReaderOptions, reader,
                      fmt::format("{} must be {}, not {}", name,
                                  std::is_same_v<T, bool> ? "a bool" : "an integer", json_text(*at)));
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

Result<ReaderOptions> parse_reader_options(const std::string& config, uint64_t program_seed,
                                           const std::string& reader) {
  auto json = config.empty() ? nlohmann::json::object() : parse_json(config);
  if (!json.is_object())
    return make_error(message::kBadProgram,
                      fmt::format("the arguments of reader '{}' are not a JSON object", reader));
  ReaderOptions options;
  int64_t seed = -1, num_shards = 1, shard_id = 0;
  GALATEA_TRY(read(json, "random_shuffle", reader, options.random_shuffle));
  GALATEA_TRY(read(json, "initial_fill", reader, options.initial_fill));
  GALATEA_TRY(read(json, "seed", reader, seed));
  GALATEA_TRY(read(json, "num_shards", reader, num_shards));
  GALATEA_TRY(read(json, "shard_id", reader, shard_id));
  GALATEA_TRY(read(json, "stick_to_shard", reader, options.stick_to_shard));
  GALATEA_TRY(read(json, "shuffle_after_epoch", reader, options.shuffle_after_epoch));
  GALATEA_TRY(read(json, "shuffle_after_epoch_seed", reader, options.shuffle_after_epoch_seed));
  GALATEA_TRY(read(json, "pad_last_batch", reader, options.pad_last_batch));
  options.seed = seed >= 0 ? static_cast<uint64_t>(seed) : program_seed;
  auto refuse = [&](std::string why) { return make_error(message::kReaderOptions, reader, why); };
  if (num_shards < 1 || num_shards > 1'000'000)
    return refuse(fmt::format("num_shards is {}; it must be at least 1", num_shards));
  if (shard_id < 0 || shard_id >= num_shards)
    return refuse(fmt::format("shard_id is {}, but there are {} shards; it must be in 0 … {}", shard_id,
                              num_shards, num_shards - 1));
  if (options.initial_fill < 1)
    return refuse(fmt::format("initial_fill is {}; it must be at least 1", options.initial_fill));
  if (options.shuffle_after_epoch && options.random_shuffle)
    return refuse("shuffle_after_epoch and random_shuffle exclude each other; drop one");
  if (options.shuffle_after_epoch && options.stick_to_shard)
    return refuse("shuffle_after_epoch and stick_to_shard exclude each other; drop one");
  options.num_shards = static_cast<int>(num_shards);
  options.shard_id = static_cast<int>(shard_id);
  return options;
}

Status check_reader(const ReaderOptions& options, int64_t size, const std::string& reader) {
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

ReaderLoop::ReaderLoop(ReaderOptions options, int64_t size, int batch_size)
    : options_(options), size_(size), batch_size_(batch_size), order_(options_, size, 0, batch_size) {}

void ReaderLoop::start_next_epoch() { order_ = EpochOrder(options_, size_, ++epoch_, batch_size_); }

ReaderLoop::Place ReaderLoop::next() {
  if (order_.done()) start_next_epoch();
  Place place;
  place.position = order_.position();
  place.index = order_.next();
  place.epoch = epoch_;
  return place;
}

bool ReaderLoop::move_to(int64_t epoch, int64_t position) {
  EpochOrder order(options_, size_, epoch, batch_size_);
  if (epoch < 0 || position < 0 || position > order.num_samples()) return false;
  while (order.position() < position) order.next();
  epoch_ = epoch;
  order_ = std::move(order);
  return true;
}

ReaderMeta ReaderLoop::meta() const {
  ReaderMeta meta;
  meta.epoch_size = size_;
  meta.epoch_size_padded =
      options_.pad_last_batch ? divide_up(size_, options_.num_shards) * options_.num_shards : size_;
  meta.num_shards = options_.num_shards;
  meta.shard_id = options_.shard_id;
  meta.pad_last_batch = options_.pad_last_batch;
  meta.stick_to_shard = options_.stick_to_shard;
  return meta;
}

int64_t substitute_index(const ReaderOptions& options, int64_t size, int64_t epoch, int64_t position,
                         int64_t attempt) {
  return EpochOrder(options, size, epoch, 1).substitute(position, attempt);
}

}  // namespace galatea::runtime
