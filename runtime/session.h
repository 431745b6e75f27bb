// A running program: epochs, batches, feeding, errors that travel with their batch.
//
// Comes in: a Program, the natives, an executor's options. Goes out: batches in ticket order. One thread at a
// time may use a session.
//
// Epochs: with readers, an epoch is one pass of the first reader over its shard; other readers go on side by
// side. With external inputs, an epoch ends where end_of_feed() stands in the feed, and a batch has the size
// that was fed. With neither, there is one endless epoch. The first epoch starts with the session; of a later
// epoch nothing is read before next() asks for it (what was fed is worked on at once).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/trace.h"
#include "runtime/device_session.h"
#include "runtime/program.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

enum class ExecutorKind : uint8_t { kInline, kCpu };

/// Where a run stands between two batches: what comes next.
struct ResumePoint {
  int64_t epoch = 0;
  int64_t batch = 0;                                 ///< in the epoch
  int64_t sample = 0;                                ///< in the epoch
  int64_t number = 0;                                ///< of the next sample, over all epochs
  std::vector<std::pair<int64_t, int64_t>> readers;  ///< epoch and position of each
  /// Per external input how many samples of the tensor at work were given; empty where each is one sample.
  std::vector<int64_t> parts = {};
  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

/// Samples of a batch that could not be made, and why.
using FeedFailures = std::map<size_t, Error>;
/// How to feed a batch.
struct FeedOptions {
  /// Where as many batches wait as are made ahead, waits until fewer do, at most so long; an error of code
  /// G0974 if none is taken. Not given: only a queue that is out of all proportion is an error.
  std::optional<std::chrono::milliseconds> patience;
  FeedFailures failures;  ///< of samples whose tensors are not looked at
  Layout layout;  ///< of the samples, for an input whose type its first batch says; else not looked at
};

/// A sample that failed and was skipped or replaced.
struct SampleFailure {
  int64_t epoch = 0;
  int64_t position = 0;  ///< place in the epoch's order
  std::string source;    ///< file, or "sample 17"
  Diagnostic diagnostic;
};

/// Of several sessions of one program, each over its own part of the data: which this is.
struct SessionShard {
  static constexpr int kMost = 1024;
  int number = 0, count = 1;
};

struct SessionOptions {
  ExecutorKind executor = ExecutorKind::kCpu;
  int num_threads = 0;       ///< 0: the program's
  int max_held_batches = 8;  ///< batches that the consumer may hold before next() is an error that says so
  Trace* trace = nullptr;
  /// What diagnostics of the session point into. Files that are missing there are added by create(); later it
  /// is left alone. None: a map of the session's own (Session::sources()), and then an error of create() has
  /// no place to point at but names it in a note.
  SourceMap* sources = nullptr;
  std::shared_ptr<Allocator>
      allocator;         ///< counts all memory; none: one of the session's own with the program's limit
  DeviceOptions device;  ///< of a program for a GPU
  /// Readers read this part of what the program has them read: of their shard, where they have one.
  SessionShard shard;
  /// Where to begin, as Session::state() gave it; empty: at the beginning.
  std::string state;
  /// Told of each sample that is left out or replaced when its batch is delivered, by the consumer's thread.
  std::function<void(const SampleFailure& failure, bool replaced)> on_failure;
};

/// One delivered batch. Buffers go back to the session's pool when the last reference is gone (also after the
/// session has ended).
struct Batch {
  struct Output {
    OutputSpec spec;
    std::vector<Tensor> samples;
    std::shared_ptr<Buffer> contiguous;  ///< set where all samples lie in one buffer, one after the other
  };
  std::vector<Output> outputs;
  std::shared_ptr<DeviceOutputs> device;  ///< where some lie on a GPU; they may not be ready yet
  std::vector<int64_t> sample_ids;        ///< number in the data set per sample
  std::vector<std::string> sample_names;  ///< file names, for people
  int64_t epoch = 0;
  int64_t index = 0;  ///< of the batch in its epoch
  int num_samples() const { return static_cast<int>(sample_ids.size()); }
};

/// What calls of one operator, or of one kernel made of several, took on all threads.
struct OperatorTime {
  std::string name;
  uint32_t line = 0;
  double seconds = 0;
  int64_t calls = 0;
  std::string kind;  ///< "read", "decode", "native" or "kernel"
};
struct SessionStatistics {
  int64_t samples = 0, batches = 0;
  double seconds = 0;  ///< first read to last batch
  double read_seconds = 0, decode_seconds = 0, compute_seconds = 0, wait_seconds = 0;
  int64_t peak_memory_bytes = 0;
  std::vector<OperatorTime> operators;
  DeviceStatistics device;
  std::vector<SampleFailure> skipped,
      replaced;  ///< in order of delivery; the first kMaxListedFailures of each
  int64_t num_skipped = 0, num_replaced = 0;
};
inline constexpr size_t kMaxListedFailures = 1000;

struct ReaderMeta {
  int64_t epoch_size = 0, epoch_size_padded = 0;  ///< -1: a stream
  int num_shards = 1, shard_id = 0;
  bool pad_last_batch = false, stick_to_shard = false;
};

class Session {
 public:
  /// Opens sources (scans folders), checks the program's needs, starts threads.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Program> program,
                                                 const NativeTable& natives, SessionOptions options = {});
  virtual ~Session() = default;  ///< cancels, waits for the threads; batches still held stay valid

  /// The next batch; nullopt at the end of the epoch (the next call begins the next epoch). With a time-out:
  /// an error of code G0901 if it passes (the inline executor works in this call and knows no time-out). A
  /// failed sample under on_error=raise gives its error; the session then goes on with the next batch.
  virtual Result<std::optional<std::shared_ptr<Batch>>> next(
      std::optional<std::chrono::milliseconds> timeout = {}) = 0;
  /// Queues one batch for an external input: one tensor per sample, read where it lies if it is dense and has
  /// a buffer, else copied. Optional ids replace the running numbers. With a CPU executor another thread than
  /// the consumer's may call it.
  virtual Status feed(const std::string& input, const std::vector<Tensor>& samples,
                      const std::vector<int64_t>& ids = {}, const FeedOptions& options = {}) = 0;
  /// No more will be fed in this epoch.
  virtual Status end_of_feed() = 0;
  /// Samples an epoch of this session's shard delivers; -1 if only external inputs feed it, or a stream.
  virtual int64_t epoch_size() const = 0;
  virtual std::map<std::string, ReaderMeta> reader_meta() const = 0;
  /// What comes behind the last batch that next() gave (or the end of an epoch, or a batch's error).
  virtual ResumePoint position() const = 0;
  /// The same, with what tells whether it fits a program and its data, as text (session_state.h): a session
  /// that begins from it goes on as this one does.
  virtual Result<std::string> state() const = 0;
  /// Stops within a second; next() then returns an error of code G0902. Any thread may call it.
  virtual void cancel() = 0;
  virtual SessionStatistics statistics() const = 0;
  /// What the diagnostics of this session point into.
  virtual const SourceMap& sources() const = 0;
  /// What it runs; nullptr where that is not known yet.
  virtual const Program* program() const = 0;
};

}  // namespace galatea::runtime
