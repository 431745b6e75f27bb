// What a native function receives and returns.
//
// Native functions are C++ per sample, for foreign bytes and foreign libraries only. They see the runtime,
// never the compiler. One NativeFunction value describes one; a NativeTable (filled by an explicit list,
// stdlib_ops/native/register_natives.cpp) finds it by name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/port.h"
#include "base/scalar_op.h"
#include "runtime/device_alternative.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

/// Static configuration of one call site, parsed once from JSON when a program is loaded; shared by all
/// threads.
class NativeState {
 public:
  virtual ~NativeState() = default;
};

/// One call for one sample, on a worker thread.
class NativeContext {
 public:
  virtual ~NativeContext() = default;
  std::span<const Tensor> inputs;
  std::span<const Cell> scalars;
  std::span<Cell> scalar_results;  ///< native scalars: to be filled
  Tensor* output = nullptr;        ///< native outputs: allocated already, unless the function allocates; only
                                   ///< its elements are the function's to change
  const NativeState* state = nullptr;
  /// Makes *output (for functions that allocate it, once). It must be what the function's port says: where it
  /// is not, this is an error, and the call's.
  virtual Status allocate_output(DType dtype, const std::vector<int64_t>& extents) = 0;
  /// Memory for the length of this call, reused by the thread; at least 64-byte aligned.
  virtual Result<uint8_t*> scratch(int64_t bytes) = 0;
  /// An object that this thread keeps between calls for this key (a decompressor, say); made by `make` at
  /// first.
  virtual std::shared_ptr<void> thread_object(const void* key,
                                              const std::function<std::shared_ptr<void>()>& make) = 0;
  /// Has the session been cancelled? Long loops ask now and then.
  virtual bool cancelled() const = 0;
  /// What source number `source` of the program calls this sample (SampleSource::describe).
  virtual std::string sample_name(size_t /*source*/) const { return {}; }
};

struct NativeFunction {
  std::string name;      ///< "jpeg.decode"
  std::string category;  ///< for traces and the summary: "read", "decode", "compute"
  /// Parses the configuration; may be empty (no state).
  std::function<Result<std::shared_ptr<NativeState>>(const std::string& config)> prepare;
  /// Errors are user errors about the sample (corrupt file, say): say what and what to do; the runtime adds
  /// sample, operator and line.
  std::function<Status(NativeContext&)> call;
  /// The most memory that a call takes beside its output: scratch, and what a library allocates itself. Asked
  /// where a memory limit is set. Empty: none.
  std::function<int64_t(std::span<const Tensor> inputs, std::span<const Cell> scalars, const NativeState*)>
      working_bytes = {};
  /// What it takes and what it gives; empty: not stated. A program that was made for other ports is refused
  /// when it is loaded.
  std::vector<Port> inputs = {}, outputs = {};
};

/// Gives output `k` of a sample its memory, once: another type, rank, extent or number of outputs than the
/// ports say is an error, and the sample's, whatever the source does about it. Of the tensor, only the
/// elements are the source's to change.
using AllocateOutput =
    std::function<Result<Tensor*>(int k, DType dtype, const std::vector<int64_t>& extents)>;

/// One sample of a stream, found but not read yet: as little as says where it lies, or its bytes where they
/// come only once. It may outlive its stream, be read on any thread, late, in another order, and again.
class StreamSample {
 public:
  virtual ~StreamSample() = default;
  /// A short name for messages.
  virtual std::string describe() const = 0;
  virtual Status read(const AllocateOutput& allocate) const = 0;
  /// A number that no other sample of the source has, and this one in each pass: what is drawn for it depends
  /// on it. -1: its place in the stream.
  virtual int64_t index() const { return -1; }
  /// As SampleSource::bytes.
  virtual int64_t bytes() const { return 0; }
};

/// Which pass over a stream it is.
struct StreamPass {
  int64_t epoch = 0;
  int64_t shard = 0, num_shards = 1;
};

/// One pass over a source that does not know its size.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// The next sample, or null at the end. Called by one thread at a time, which others may wait for: it finds
  /// samples, and leaves reading them to read(). An error is a sample's, and ends the pass. Unless the source
  /// divides_itself(), passes of all shards find the same samples in the same order.
  virtual Result<std::shared_ptr<const StreamSample>> next() = 0;
};

/// A source of samples (readers.file, …). It either knows how many there are and reads the i-th, or is a
/// stream, which finds one sample behind the other. Order, shuffling, shards and epochs are the runtime's
/// (reader_loop.h) for both.
class SampleSource {
 public:
  using AllocateOutput = runtime::AllocateOutput;
  static constexpr int64_t kUnknownSize = -1;

  virtual ~SampleSource() = default;
  /// Number of samples; kUnknownSize: a stream.
  virtual int64_t size() const = 0;
  // ---- of a stream
  /// A pass from its beginning.
  virtual Result<std::unique_ptr<SampleStream>> start(const StreamPass& pass) const;
  /// Whether a pass finds the samples of its shard alone.
  virtual bool divides_itself() const { return false; }
  // ---- of a source that is no stream
  /// A short name of the sample for messages: its path relative to the root.
  virtual std::string describe(int64_t index) const;
  /// Reads sample `index` into the outputs.
  virtual Status read(int64_t index, const AllocateOutput& allocate) const;
  /// Bytes that read() will allocate for the sample, each output rounded as a buffer is (claimed_bytes); 0:
  /// unknown, or it cannot be read. Asked where a memory limit is set.
  virtual int64_t bytes(int64_t /*index*/) const { return 0; }
  /// The sample will be read soon: a source that waits for a disk may start now. Never blocks for long, never
  /// fails.
  virtual void will_read(int64_t /*index*/) const {}
};

/// A code that a source or native function gives its errors, beside galatea's own.
struct OwnCode {
  std::string code;     ///< "FLAT001"; not G and digits, which are galatea's
  std::string meaning;  ///< what it means and what to do: `galatea explain FLAT001` prints it
};

struct SourceFactory {
  std::string name;  ///< "readers.file"
  /// Scans and checks (missing or empty folder, malformed list: user error naming it). `config` is JSON with
  /// the operator's arguments.
  std::function<Result<std::unique_ptr<SampleSource>>(const std::string& config)> open;
  /// What it delivers; empty: not stated, as where the arguments decide it. A program that was made for other
  /// ports is refused when it is loaded.
  std::vector<Port> outputs = {};
  std::vector<OwnCode> codes = {};
};

class NativeTable {
 public:
  void add(NativeFunction function);
  void add(SourceFactory factory);
  /// Puts a function in the place of the one that has its name: one that does more, say, around it.
  void replace(NativeFunction function);
  void add(DeviceAlternativeFactory factory);
  const NativeFunction* find_function(std::string_view name) const;
  const SourceFactory* find_source(std::string_view name) const;
  const DeviceAlternativeFactory* find_alternative(std::string_view name) const;
  /// What a source says of a code of its own; nullptr if none knows it.
  const OwnCode* find_code(std::string_view code) const;

 private:
  std::vector<std::unique_ptr<NativeFunction>> functions_;
  std::vector<std::unique_ptr<SourceFactory>> sources_;
  std::vector<std::unique_ptr<DeviceAlternativeFactory>> alternatives_;
};

}  // namespace galatea::runtime
