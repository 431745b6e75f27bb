// See cufile_alternative.h.
#include "stdlib_ops/native/cufile_alternative.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "base/settings.h"
#include "runtime/cuda/alternative.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/bytes/byte_source.h"
#include "stdlib_ops/native/cufile/cufile.h"
#include "stdlib_ops/native/in_file.h"

namespace galatea::native {
namespace {

namespace cuda = runtime::cuda;

/// Where storage's blocks begin: a read that begins there needs no copy within cuFile.
constexpr int64_t kStorageBlock = 4096;

/// A file that is open, and registered with cuFile.
class RegisteredFile {
 public:
  explicit RegisteredFile(const Cufile& library) : library_(library) {}
  ~RegisteredFile() {
    if (handle_) library_.api().deregister_file(handle_);
    if (file_ >= 0) ::close(file_);
  }
  RegisteredFile(const RegisteredFile&) = delete;
  RegisteredFile& operator=(const RegisteredFile&) = delete;

  /// False: errno says why.
  bool open(const std::string& path) {
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
    file_ = ::open(path.c_str(), kFlags | O_DIRECT);
    // A file system without it: cuFile says whether it reads it all the same.
    if (file_ < 0 && errno == EINVAL) file_ = ::open(path.c_str(), kFlags);
    return file_ >= 0;
  }
  int register_it() {
    cufile::Descriptor descriptor;
    descriptor.handle.file = file_;
    return library_.api().register_file(&handle_, &descriptor).error;
  }
  /// All bytes, or an error with the place.
  Status read(const FileWindow& window, int64_t skew, cuda::DevicePointer to) const {
    const int64_t begin = window.offset - skew, bytes = window.bytes + skew;
    auto* const pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(to));
    for (int64_t done = 0; done < bytes;) {
      const ssize_t count =
          library_.api().read(handle_, pointer, static_cast<size_t>(bytes - done), begin + done, done);
      if (count == 0)
        return damaged(window.path, begin + done, fmt::format("{} bytes are missing", bytes - done));
      if (count == -1 && errno == EINTR) continue;
      if (count == -1)
        return runtime::make_error(
            runtime::message::kSampleFault, window.path,
            fmt::format("cuFileRead failed at byte {}: {}", begin + done, std::strerror(errno)));
      if (count < 0)
        return runtime::make_error(runtime::message::kCufileCall, window.path, "cuFileRead",
                                   Cufile::name_of(static_cast<int>(-count)), begin + done);
      done += count;
    }
    return {};
  }

 private:
  const Cufile& library_;
  int file_ = -1;
  cufile::Handle handle_ = nullptr;
};

class Job final : public runtime::DeviceJob {
 public:
  Job(cuda::MemoryBlock read, int64_t begin, int64_t size)
      : block(std::move(read)), skew(begin), bytes(size) {}
  cuda::MemoryBlock block;
  int64_t skew, bytes;
};

class CufileAlternative final : public runtime::DeviceAlternative {
 public:
  CufileAlternative(std::shared_ptr<const Cufile> library, const runtime::DeviceMeans& means,
                    std::shared_ptr<const cuda::Stream> stream)
      : library_(std::move(library)),
        context_(means.context),
        device_(means.device),
        stream_(std::move(stream)) {}

  const std::shared_ptr<const cuda::Stream>& stream() const override { return stream_; }
  bool decodes() const override { return false; }

  Result<std::optional<runtime::DeviceWork>> begin(const runtime::NativeArguments& call) override {
    const auto* state = dynamic_cast<const InFileState*>(call.state);
    if (!state) return runtime::make_error(runtime::message::kBadProgram, "a read that names no file");
    if (device_->limit() > 0)
      return refuse("a limit on the GPU's memory, of which this way takes twice as much");
    const auto window = state->window(call);
    if (!window) return std::nullopt;  // the host says what is wrong
    if (!window->why_not.empty()) return refuse(window->why_not);
    if (window->bytes < kLeastCufileBytes)
      return refuse(fmt::format("shorter than {} bytes", kLeastCufileBytes));
    return read(*window, call.output);
  }

  Status run(std::unique_ptr<runtime::DeviceJob>& job, cuda::DevicePointer to) override {
    auto& own = static_cast<Job&>(*job);
    GALATEA_TRY(
        stream_->copy(to, own.block.device() + static_cast<cuda::DevicePointer>(own.skew), own.bytes));
    copied_.push_back(std::move(own.block));
    job.reset();
    return {};
  }

  Status finish() override {
    cuda::MemoryPool::give_back(std::exchange(copied_, {}));
    return {};
  }

  void count(runtime::DeviceStatistics& into) const override {
    const std::lock_guard lock(mutex_);
    into.storage_reads += reads_;
    into.storage_bytes += bytes_;
    for (const auto& [why, times] : refused_)
      into.host_reads_because +=
          fmt::format("{}{}: {}", into.host_reads_because.empty() ? "" : "; ", times, why);
  }

 private:
  std::optional<runtime::DeviceWork> refuse(const std::string& why) {
    const std::lock_guard lock(mutex_);
    ++refused_[why];
    return std::nullopt;
  }

  Result<std::optional<runtime::DeviceWork>> read(const FileWindow& window, const runtime::Tensor& output) {
    const cuda::Context::Scope scope(*context_);
    RegisteredFile file(*library_);
    if (!file.open(window.path)) return std::nullopt;  // the host says what is wrong
    if (const int error = file.register_it(); error != cufile::error::kSuccess) {
      if (cufile::error::is_the_files(error)) return refuse("where cuFile says " + Cufile::name_of(error));
      return runtime::make_error(runtime::message::kCufileCall, window.path, "cuFileHandleRegister",
                                 Cufile::name_of(error), window.offset);
    }
    const int64_t skew = window.offset % kStorageBlock;
    auto block = device_->acquire_unused(skew + window.bytes, stream_);
    if (!block) {
      if (block.error().diagnostics.front().code != runtime::message::kDeviceOutOfMemory.code)
        return std::unexpected(std::move(block.error()));
      return refuse("no memory of the GPU was left");
    }
    GALATEA_TRY(file.read(window, skew, block->device()));
    {
      const std::lock_guard lock(mutex_);
      ++reads_;
      bytes_ += window.bytes;
    }
    runtime::DeviceWork work;
    work.job = std::make_unique<Job>(std::move(*block), skew, window.bytes);
    work.bytes = window.bytes;
    runtime::Tensor dense;
    dense.set_dense(output.dtype, {output.extents, static_cast<size_t>(output.ndim)});
    std::copy_n(dense.strides, output.ndim, work.strides.begin());
    return work;
  }

  std::shared_ptr<const Cufile> library_;
  std::shared_ptr<const cuda::Context> context_;
  std::shared_ptr<cuda::MemoryPool> device_;
  std::shared_ptr<const cuda::Stream> stream_;
  std::vector<cuda::MemoryBlock> copied_;  ///< of the batch that is being enqueued
  mutable std::mutex mutex_;               ///< of what follows
  int64_t reads_ = 0, bytes_ = 0;
  std::map<std::string, int64_t> refused_;
};

class CufileLibrary final : public runtime::DeviceLibrary {
 public:
  /// An error: it must be here, and is not.
  explicit CufileLibrary(Result<std::shared_ptr<const Cufile>> found) : found_(std::move(found)) {}

  std::string describe() const override {
    const std::string version = found_ ? (*found_)->version_text() : "";
    return version.empty() ? kCufile : fmt::format("{} {}", kCufile, version);
  }
  std::string path() const override { return found_ ? (*found_)->path() : ""; }
  Result<std::shared_ptr<runtime::DeviceAlternative>> open(const runtime::DeviceMeans& means) const override {
    if (!found_) return std::unexpected(found_.error());
    GALATEA_ASSIGN(std::shared_ptr<const cuda::Stream> stream,
                   cuda::Stream::create(means.context, means.priority));
    return std::make_shared<CufileAlternative>(*found_, means, std::move(stream));
  }

 private:
  Result<std::shared_ptr<const Cufile>> found_;
};

Result<std::shared_ptr<const runtime::DeviceLibrary>> find(int /*newest_major*/) {
  const std::string choice = setting("GALATEA_CUFILE");
  if (choice == "off")
    return runtime::make_error(runtime::message::kUnfitCufile, "(libcufile.so.0)", "GALATEA_CUFILE is off");
  const bool must_be_here = choice == "must";
  auto found = Cufile::open(must_be_here);
  if (!found && !must_be_here) return std::unexpected(std::move(found.error()));
  return std::make_shared<const CufileLibrary>(std::move(found));
}

}  // namespace

runtime::DeviceAlternativeFactory cufile_factory() { return {kCufile, find}; }

}  // namespace galatea::native
