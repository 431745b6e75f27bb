// In which order a session reads a source: shuffling, shards, padding, epochs. Works on indices; no sample is
// ever held back to be shuffled.
//
// Comes in: a reader's arguments, the number of samples, a seed. Goes out: (index, epoch) per sample, in
// order.
//
// The order is a pure function of (arguments, seed, epoch, position); batch size, threads and prefetching
// have no part in it (only padding knows the batch size). With N samples and n shards:
// - base order of epoch e: the list itself; with random_shuffle permuted(mix(kScanKey, 0), ·, N), the same on
// all shards and runs;
//   with shuffle_after_epoch permuted(mix(mix(kScanKey, shuffle_after_epoch_seed or 0), e + 1), ·, N).
// - shard s covers places floor(N·s/n) … floor(N·(s+1)/n) − 1 of the base order. A session with shard_id
// reads in epoch e shard
//   (shard_id + e) mod n; with stick_to_shard, or shuffle_after_epoch (which implies it), always shard_id.
// - random_shuffle then draws through a window of B = initial_fill places: the window starts with the first B
// of the shard; position p takes place
//   uniform_below(mix(seed, e), p, 0, window size) of it, and the next of the shard, or else the last of the
//   window, moves there. Samples of different epochs never share a window, so that an epoch holds every
//   sample of the shard exactly once.
// - pad_last_batch repeats the last sample of the order until ceil(ceil(N/n) / batch) · batch samples were
// given.
// - the substitute of a failed sample at position p, attempt a: place uniform_below(mix(mix(seed, e),
// kSubstituteKey), p, a, shard size) of the shard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/session.h"

namespace galatea::runtime {

struct ReaderOptions {
  bool random_shuffle = false;
  int64_t initial_fill = 1024;
  uint64_t seed = 0;
  int num_shards = 1, shard_id = 0;
  bool stick_to_shard = false;
  bool shuffle_after_epoch = false;
  int64_t shuffle_after_epoch_seed = 0;
  bool pad_last_batch = false;
};

/// Reads the options out of a source's arguments (JSON; others are left alone). `program_seed` stands where
/// seed is absent or negative. `reader` names it in errors.
Result<ReaderOptions> parse_reader_options(const std::string& config, uint64_t program_seed,
                                           const std::string& reader);
/// Against the number of samples: an empty set, fewer samples than shards.
Status check_reader(const ReaderOptions& options, int64_t size, const std::string& reader);

/// One epoch of one shard, from its first sample on.
class EpochOrder {
 public:
  EpochOrder(const ReaderOptions& options, int64_t size, int64_t epoch, int batch_size);
  int64_t num_samples() const { return padded_; }  ///< with padding
  int64_t position() const { return position_; }
  bool done() const { return position_ >= padded_; }
  /// The next index; past the end it must not be called.
  int64_t next();
  int64_t substitute(int64_t position, int64_t attempt) const;

 private:
  int64_t base(int64_t place) const;  ///< element `place` of the shard in base order

  ReaderOptions options_;
  int64_t size_, epoch_;
  int64_t shard_begin_ = 0, shard_size_ = 0, padded_ = 0;
  int64_t position_ = 0;  ///< samples given
  int64_t taken_ = 0;     ///< places of the shard that entered the window
  int64_t last_ = 0;      ///< index given last
  uint64_t base_key_ = 0, epoch_key_ = 0;
  std::vector<int64_t> window_;
};

/// Epoch after epoch of one source.
class ReaderLoop {
 public:
  struct Place {
    int64_t index = 0, epoch = 0, position = 0;
  };
  ReaderLoop(ReaderOptions options, int64_t size, int batch_size);
  /// Samples left in the epoch; 0 until start_epoch() moves on.
  int64_t remaining() const { return order_.num_samples() - order_.position(); }
  int64_t epoch() const { return epoch_; }
  int64_t position() const { return order_.position(); }
  int64_t epoch_samples() const { return order_.num_samples(); }
  void start_next_epoch();
  /// The next sample; goes on with the next epoch by itself.
  Place next();
  /// As if all before this had been given; false: the epoch has no such position.
  bool move_to(int64_t epoch, int64_t position);
  ReaderMeta meta() const;
  const ReaderOptions& options() const { return options_; }
  int64_t size() const { return size_; }

 private:
  ReaderOptions options_;
  int64_t size_;
  int batch_size_;
  int64_t epoch_ = 0;
  EpochOrder order_;
};

/// Index that stands in for the failed sample at (epoch, position); pure, so that any thread may ask.
int64_t substitute_index(const ReaderOptions& options, int64_t size, int64_t epoch, int64_t position,
                         int64_t attempt);

}  // namespace galatea::runtime
