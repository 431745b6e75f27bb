// In which order a session reads a source: shuffling, shards, padding, epochs. Works on indices, and on the
// samples of streams as they are found; no sample is read to be shuffled.
//
// Comes in: a reader's arguments, its source, a seed. Goes out: (index, epoch) per sample, in order.
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
//
// Of a stream, whose N is known at its end only:
// - the base order is that of the stream, also with random_shuffle; the index of a sample is its own
// (StreamSample::index) or else its place in the stream.
// - shard s covers the samples whose place is s modulo n; they are found by every shard, and read by one. A
// source that divides itself finds those of one shard alone; they are padded to whole batches, as how many the
// other shards have is not known.
// - the window, padding and rotation of shards are as above. shuffle_after_epoch and substitutes need N and
// are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/native.h"
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

/// What is wrong with the arguments that all readers share.
struct ReaderObjection {
  std::string arg;  ///< the argument to point at
  std::string why, help;
};
/// The one reading of these arguments, out of a source's (JSON; others are left alone): nothing where they
/// hold. `options.seed` stands where seed is absent or negative.
std::optional<ReaderObjection> read_reader_options(const std::string& config, ReaderOptions& options);
/// The same as an error that names the reader.
Result<ReaderOptions> parse_reader_options(const std::string& config, uint64_t program_seed,
                                           const std::string& reader);
/// A part of the shard in place of all of it.
void take_part(ReaderOptions& options, const SessionShard& part);
/// Against the number of samples: an empty set, fewer samples than shards, a stream that would need it.
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

/// The same of a stream. What a pass throws or returns as an error is a sample that fails with it, the last.
class StreamOrder {
 public:
  struct Item {
    int64_t index = 0;
    std::shared_ptr<const StreamSample> sample;
  };
  StreamOrder(const ReaderOptions& options, const SampleSource& source, int64_t epoch, int batch_size,
              std::string reader);
  int64_t position() const { return position_; }
  /// Looks one sample ahead.
  bool done();
  Item next();

 private:
  Result<std::shared_ptr<const StreamSample>> find();
  /// The next of the shard, behind which the stream may have ended.
  std::optional<Item> pull();
  void fill();

  ReaderOptions options_;
  const SampleSource& source_;
  int batch_size_;
  std::string reader_;
  int64_t epoch_, shard_;
  uint64_t epoch_key_;
  std::unique_ptr<SampleStream> stream_;
  std::vector<Item> window_;
  Item last_;             ///< given last
  int64_t position_ = 0;  ///< samples given
  int64_t found_ = 0;     ///< samples of the stream, or of the shard, if that is what passes find
  int64_t own_ = 0;       ///< of the shard
  bool ended_ = false;
};

/// Epoch after epoch of one source.
class ReaderLoop {
 public:
  struct Place {
    int64_t index = 0, epoch = 0, position = 0;
    std::shared_ptr<const StreamSample> sample;  ///< of a stream
  };
  ReaderLoop(ReaderOptions options, int64_t size, int batch_size);
  /// `source` must outlive the loop.
  ReaderLoop(ReaderOptions options, const SampleSource& source, int batch_size, std::string reader);
  /// Whether the epoch has given all its samples.
  bool at_end() { return stream_ ? stream_->done() : order_->done(); }
  int64_t epoch() const { return epoch_; }
  /// Samples given in this epoch.
  int64_t position() const { return stream_ ? stream_->position() : order_->position(); }
  /// With padding; -1: a stream.
  int64_t epoch_samples() const { return stream_ ? -1 : order_->num_samples(); }
  void start_next_epoch() { start(epoch_ + 1); }
  /// Goes on as if so many samples of that epoch had been given; false: the epoch has no such position. A
  /// stream is searched again, nothing is read.
  bool seek(int64_t epoch, int64_t position);
  /// The next sample; goes on with the next epoch by itself.
  Place next();
  ReaderMeta meta() const;
  const ReaderOptions& options() const { return options_; }
  int64_t size() const { return size_; }

 private:
  void start(int64_t epoch);

  ReaderOptions options_;
  int64_t size_;
  int batch_size_;
  const SampleSource* source_ = nullptr;  ///< of a stream
  std::string reader_;
  int64_t epoch_ = 0;
  std::optional<EpochOrder> order_;
  std::unique_ptr<StreamOrder> stream_;
};

/// Index that stands in for the failed sample at (epoch, position); pure, so that any thread may ask.
int64_t substitute_index(const ReaderOptions& options, int64_t size, int64_t epoch, int64_t position,
                         int64_t attempt);

}  // namespace galatea::runtime
