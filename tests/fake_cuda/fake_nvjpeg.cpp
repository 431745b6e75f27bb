// The entry points of nvJPEG that galatea calls, by libjpeg-turbo. See fake_nvjpeg.h.
#include "tests/fake_cuda/fake_nvjpeg.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg_api.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace galatea::fake_cuda {
namespace {

namespace jpeg = native::jpeg;
namespace status = jpeg::status;
using runtime::cuda::StreamHandle;

struct Shared {
  std::mutex mutex;
  FakeNvjpegCounters counters;
  std::set<StreamHandle> streams;
  int64_t fail_call = 0;
  int fail_status = 0;
};
Shared& shared() {
  static Shared* const kShared = new Shared;  // work of the process's streams may outlive everything
  return *kShared;
}

/// At the head of every entry point that can fail. What it takes is the fake's, which a benchmark of the
/// host's time takes off; the allocators' part of it is not.
class Call {
 public:
  Call() {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    ++s.counters.calls;
    if (s.fail_call == 0 || --s.fail_call > 0) return;
    fault = s.fail_status;
  }
  ~Call() {
    const int64_t taken = now() - begin_ - std::exchange(lent(), 0);
    std::lock_guard lock(shared().mutex);
    shared().counters.nanoseconds += taken;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Of this thread's call, what its allocators took.
  static int64_t& lent() {
    thread_local int64_t nanoseconds = 0;
    return nanoseconds;
  }
  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  int fault = status::kSuccess;

 private:
  int64_t begin_ = now();
};

void count(int64_t FakeNvjpegCounters::* which, int64_t by = 1) {
  std::lock_guard lock(shared().mutex);
  shared().counters.*which += by;
}

void count_stream(StreamHandle stream) {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.streams.insert(stream);
  s.counters.streams = static_cast<int64_t>(s.streams.size());
}

/// A call that stays until another thread has entered the host's phase, once in a test; see fake_nvjpeg.h.
class Meeting {
 public:
  void reset() {
    const std::lock_guard lock(mutex_);
    is_over_ = is_in_device_ = false;
    entered_ = passed_ = 0;
  }
  /// Of a host's phase: `waits` where it is the one that stays. Where a device's phase is to be met, the third
  /// is kept for it, so that not all are over before; the other thread comes to the end of a batch.
  void enter_host(bool waits, bool meets_device) {
    std::unique_lock lock(mutex_);
    if (++entered_ == 3 && meets_device) changed_.wait_for(lock, kLong, [&] { return is_in_device_; });
    ++passed_;
    changed_.notify_all();
    if (waits) stay(lock);
  }
  void enter_device() {
    std::unique_lock lock(mutex_);
    is_in_device_ = true;
    changed_.notify_all();
    stay(lock);
  }

 private:
  /// Long enough for any machine: only code that holds a lock meanwhile finds its end.
  static constexpr std::chrono::seconds kLong{60};

  void stay(std::unique_lock<std::mutex>& lock) {
    if (std::exchange(is_over_, true)) return;
    const int64_t before = passed_;
    if (changed_.wait_for(lock, kLong, [&] { return passed_ > before; })) count(&FakeNvjpegCounters::met);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t entered_ = 0, passed_ = 0;
  bool is_over_ = false, is_in_device_ = false;
};
Meeting& meeting() {
  static Meeting* const kMeeting = new Meeting;
  return *kMeeting;
}
bool meets_in(const char* phase) {
  const char* asked = std::getenv("FAKE_NVJPEG_MEETS");
  return asked && std::strcmp(asked, phase) == 0;
}
/// Objects are counted while they live.
struct Counted {
  Counted() { count(&FakeNvjpegCounters::live); }
  ~Counted() { count(&FakeNvjpegCounters::live, -1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

/// Memory of one of the allocators that grows.
struct Memory : Counted {
  explicit Memory(const jpeg::Allocator& from) : allocator(from) {}
  ~Memory() { release(nullptr); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  bool reserve(size_t wanted, StreamHandle stream) {
    if (wanted <= size) return true;
    release(stream);
    const int64_t begin = Call::now();
    const int result = allocator.allocate(allocator.context, &data, wanted, stream);
    Call::lent() += Call::now() - begin;
    if (result != 0) return data = nullptr, false;
    size = wanted;
    return true;
  }
  void release(StreamHandle stream) {
    if (data) allocator.free(allocator.context, data, size, stream);
    data = nullptr;
    size = 0;
  }
  jpeg::Allocator allocator;
  void* data = nullptr;
  size_t size = 0;
};

struct Library : Counted {
  jpeg::Allocator device, pinned;
  int backend = 0;
};
struct Decoder : Counted {
  int backend = 0;
};
struct File : Counted {
  std::vector<uint8_t> kept;
  native::Bytes bytes;
  native::ImageHeader header;
};
struct Params : Counted {
  int format = jpeg::format::kRgb;
};
struct State : Counted {
  Decoder* decoder = nullptr;
  Library* library = nullptr;  ///< of the engine's
  int batch = 0;               ///< images that it is ready for
  Memory *pinned = nullptr, *device = nullptr;
  size_t bytes = 0;  ///< in the pinned memory: an image, or a file for the device
  int64_t height = 0, width = 0;
  native::ImageType type = native::ImageType::kRgb;
  bool is_transferred = false;
  int64_t channels() const { return type == native::ImageType::kGray ? 1 : 3; }
};

template <typename To, typename From>
To* as(From* handle) {
  return reinterpret_cast<To*>(handle);
}

class OwnScratch final : public native::Scratch {
 public:
  Result<uint8_t*> bytes(int64_t size) override {
    blocks_.push_back(std::make_unique<uint8_t[]>(static_cast<size_t>(size)));
    return blocks_.back().get();
  }

 private:
  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
};

bool decode(native::Bytes bytes, native::ImageType type, uint8_t* to) {
  const auto header = native::read_header(bytes);
  if (!header) return false;
  native::DecodeOptions options;
  options.type = type;
  options.adjust_orientation = false;
  OwnScratch scratch;
  return native::decode_window(bytes, *header, {0, 0, header->height, header->width}, options, scratch, to)
      .has_value();
}

/// Whether this file is turned away at this point.
bool refuses(const char* where, size_t bytes) {
  const char* asked = std::getenv("FAKE_NVJPEG_REFUSES");
  return asked && std::string(asked) == where && bytes % 2 == 0;
}

/// Where this library was loaded from, with a slash: the driver that belongs to it lies beside it, wherever
/// both were copied to.
std::string own_folder() {
  Dl_info own = {};
  if (!dladdr(reinterpret_cast<const void*>(&refuses), &own) || !own.dli_fname) return {};
  const std::string file = own.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

int parse(File& file) {
  const auto header = native::read_header(file.bytes);
  if (!header || header->format != native::ImageFormat::kJpeg || refuses("parse", file.bytes.size()))
    return status::kBadJpeg;
  file.header = *header;
  count(&FakeNvjpegCounters::parsed);
  return status::kSuccess;
}

bool is_progressive(native::Bytes bytes) {
  return std::search(bytes.begin(), bytes.end(), std::begin("\xFF\xC2"), std::begin("\xFF\xC2") + 2,
                     [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }) != bytes.end();
}

native::ImageType type_of(int format) {
  return format == jpeg::format::kY     ? native::ImageType::kGray
         : format == jpeg::format::kBgr ? native::ImageType::kBgr
                                        : native::ImageType::kRgb;
}

int enqueue(StreamHandle stream, const char* what, std::function<void()> work, const void* reads,
            const void* writes, int64_t written = 0) {
  static auto* const kEnqueue = [] {
    void* driver = dlopen((own_folder() + "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return reinterpret_cast<FakeCudaEnqueue*>(driver ? dlsym(driver, "fake_cuda_enqueue") : nullptr);
  }();
  if (!kEnqueue) return status::kInternalError;
  using Work = std::function<void()>;
  const int result = kEnqueue(
      stream, what, [](void* context) { (*static_cast<Work*>(context))(); },
      [](void* context) { delete static_cast<Work*>(context); }, new Work(std::move(work)), reads, writes,
      written);
  return result == runtime::cuda::code::kSuccess ? status::kSuccess : status::kExecutionFailed;
}

template <typename Made, typename Handle>
int make(Handle* out, Made* made) {
  *out = reinterpret_cast<Handle>(made);
  return status::kSuccess;
}

}  // namespace
}  // namespace galatea::fake_cuda

using namespace galatea::fake_cuda;  // NOLINT(google-build-using-namespace): entry points have C names
using galatea::runtime::cuda::StreamHandle;

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY int nvjpegGetProperty(int which, int* value) {
  const char* text = std::getenv("FAKE_NVJPEG_VERSION");
  int major = 12, minor = 4;
  if (text) std::sscanf(text, "%d.%d", &major, &minor);
  if (which != jpeg::kMajorVersion && which != jpeg::kMinorVersion) return 2;
  *value = which == jpeg::kMajorVersion ? major : minor;
  return status::kSuccess;
}
ENTRY int nvjpegCreateExV2(int backend, jpeg::Allocator* device, jpeg::Allocator* pinned, unsigned flags,
                           jpeg::Handle* out) {
  const Call call;
  if (call.fault) return call.fault;
  const bool is_engine = backend == jpeg::backend::kHardware;
  if (!device || !pinned || flags != (is_engine ? 0 : jpeg::kFlagInterpolate)) return 2;
  if (is_engine && !std::getenv("FAKE_NVJPEG_ENGINE")) return status::kArchMismatch;
  auto* made = new Library;
  made->backend = backend;
  made->device = *device;
  made->pinned = *pinned;
  return make(out, made);
}
ENTRY int nvjpegDestroy(jpeg::Handle handle) { return delete as<Library>(handle), status::kSuccess; }
ENTRY int nvjpegDecoderCreate(jpeg::Handle, int backend, jpeg::Decoder* out) {
  const Call call;
  if (call.fault) return call.fault;
  auto* made = new Decoder;
  made->backend = backend;
  return make(out, made);
}
ENTRY int nvjpegDecoderDestroy(jpeg::Decoder decoder) {
  return delete as<Decoder>(decoder), status::kSuccess;
}
ENTRY int nvjpegDecoderStateCreate(jpeg::Handle, jpeg::Decoder decoder, jpeg::State* out) {
  const Call call;
  if (call.fault) return call.fault;
  auto* made = new State;
  made->decoder = as<Decoder>(decoder);
  return make(out, made);
}
ENTRY int nvjpegJpegStateDestroy(jpeg::State state) { return delete as<State>(state), status::kSuccess; }
ENTRY int nvjpegJpegStreamCreate(jpeg::Handle, jpeg::Stream* out) {
  const Call call;
  if (call.fault) return call.fault;
  return make(out, new File);
}
ENTRY int nvjpegJpegStreamDestroy(jpeg::Stream stream) { return delete as<File>(stream), status::kSuccess; }
ENTRY int nvjpegJpegStreamParse(jpeg::Handle, const unsigned char* data, size_t size, int, int keep,
                                jpeg::Stream stream) {
  const Call call;
  if (call.fault) return call.fault;
  File& file = *as<File>(stream);
  if (keep) {
    file.kept.assign(data, data + size);
    file.bytes = file.kept;
  } else {
    file.bytes = {data, size};
  }
  return parse(file);
}
ENTRY int nvjpegJpegStreamParseHeader(jpeg::Handle, const unsigned char* data, size_t size,
                                      jpeg::Stream stream) {
  const Call call;
  if (call.fault) return call.fault;
  File& file = *as<File>(stream);
  file.bytes = {data, size};
  return parse(file);
}
ENTRY int nvjpegDecodeParamsCreate(jpeg::Handle, jpeg::Params* out) {
  const Call call;
  if (call.fault) return call.fault;
  return make(out, new Params);
}
ENTRY int nvjpegDecodeParamsDestroy(jpeg::Params params) {
  return delete as<Params>(params), status::kSuccess;
}
ENTRY int nvjpegDecodeParamsSetOutputFormat(jpeg::Params params, int format) {
  const Call call;
  if (call.fault) return call.fault;
  as<Params>(params)->format = format;
  return status::kSuccess;
}
ENTRY int nvjpegBufferPinnedCreateV2(jpeg::Handle, jpeg::Allocator* allocator, jpeg::PinnedBuffer* out) {
  const Call call;
  if (call.fault) return call.fault;
  return make(out, new Memory(*allocator));
}
ENTRY int nvjpegBufferPinnedDestroy(jpeg::PinnedBuffer buffer) {
  return delete as<Memory>(buffer), status::kSuccess;
}
ENTRY int nvjpegBufferDeviceCreateV2(jpeg::Handle, jpeg::Allocator* allocator, jpeg::DeviceBuffer* out) {
  const Call call;
  if (call.fault) return call.fault;
  return make(out, new Memory(*allocator));
}
ENTRY int nvjpegBufferDeviceDestroy(jpeg::DeviceBuffer buffer) {
  return delete as<Memory>(buffer), status::kSuccess;
}
ENTRY int nvjpegStateAttachPinnedBuffer(jpeg::State state, jpeg::PinnedBuffer buffer) {
  const Call call;
  if (call.fault) return call.fault;
  as<State>(state)->pinned = as<Memory>(buffer);
  return status::kSuccess;
}
ENTRY int nvjpegStateAttachDeviceBuffer(jpeg::State state, jpeg::DeviceBuffer buffer) {
  const Call call;
  if (call.fault) return call.fault;
  as<State>(state)->device = as<Memory>(buffer);
  return status::kSuccess;
}
ENTRY int nvjpegDecoderJpegSupported(jpeg::Decoder decoder, jpeg::Stream stream, jpeg::Params, int* refused) {
  const Call call;
  if (call.fault) return call.fault;
  const File& file = *as<File>(stream);
  // The real one decodes on the device the codes of baseline files only.
  *refused =
      refuses("support", file.bytes.size()) ||
              (as<Decoder>(decoder)->backend == jpeg::backend::kGpuHybrid && is_progressive(file.bytes))
          ? 1
          : 0;
  return status::kSuccess;
}
ENTRY int nvjpegDecodeJpegHost(jpeg::Handle, jpeg::Decoder decoder, jpeg::State handle, jpeg::Params params,
                               jpeg::Stream stream) {
  const Call call;
  if (call.fault) return call.fault;
  meeting().enter_host(meets_in("host"), meets_in("device"));
  State& state = *as<State>(handle);
  const File& file = *as<File>(stream);
  if (state.decoder != as<Decoder>(decoder) || !state.pinned) return 2;
  if (refuses("host", file.bytes.size())) return status::kIncompleteBitstream;
  state.type = type_of(as<Params>(params)->format);
  state.height = file.header.height;
  state.width = file.header.width;
  state.is_transferred = false;
  const bool on_device = state.decoder->backend == jpeg::backend::kGpuHybrid;
  state.bytes =
      on_device ? file.bytes.size() : static_cast<size_t>(state.height * state.width * state.channels());
  if (!state.pinned->reserve(state.bytes, nullptr)) return status::kAllocatorFailure;
  auto* to = static_cast<uint8_t*>(state.pinned->data);
  if (on_device)
    std::memcpy(to, file.bytes.data(), state.bytes);
  else if (!decode(file.bytes, state.type, to))
    return status::kBadJpeg;
  return status::kSuccess;
}
ENTRY int nvjpegDecodeJpegTransferToDevice(jpeg::Handle, jpeg::Decoder, jpeg::State handle, jpeg::Stream,
                                           StreamHandle stream) {
  const Call call;
  if (call.fault) return call.fault;
  State& state = *as<State>(handle);
  if (!state.device || !state.pinned || state.bytes == 0) return 2;
  if (!state.device->reserve(state.bytes, stream)) return status::kAllocatorFailure;
  state.is_transferred = true;
  void *to = state.device->data, *from = state.pinned->data;
  const size_t bytes = state.bytes;
  return enqueue(stream, "nvJPEG's upload", [=] { std::memcpy(to, from, bytes); }, from, to);
}
ENTRY int nvjpegDecodeJpegDevice(jpeg::Handle, jpeg::Decoder, jpeg::State handle, jpeg::Image* image,
                                 StreamHandle stream) {
  const Call call;
  if (call.fault) return call.fault;
  if (meets_in("device")) meeting().enter_device();
  const State& state = *as<State>(handle);
  const int64_t row = state.width * state.channels(), height = state.height;
  if (!state.is_transferred || image->pitch[0] < static_cast<size_t>(row)) return 2;
  const bool on_device = state.decoder->backend == jpeg::backend::kGpuHybrid;
  count(&FakeNvjpegCounters::decoded);
  count_stream(stream);
  count(on_device ? &FakeNvjpegCounters::device_entropy : &FakeNvjpegCounters::host_entropy);
  const auto* from = static_cast<const uint8_t*>(state.device->data);
  uint8_t* const to = image->channel[0];
  const size_t pitch = image->pitch[0], bytes = state.bytes;
  const auto work = [=, type = state.type] {
    std::vector<uint8_t> made;
    if (on_device) {
      made.resize(static_cast<size_t>(row * height));
      if (!decode({from, bytes}, type, made.data())) return;
    }
    const uint8_t* const pixels = on_device ? made.data() : from;
    for (int64_t y = 0; y < height; ++y)
      std::memcpy(to + static_cast<size_t>(y) * pitch, pixels + y * row, static_cast<size_t>(row));
  };
  const int64_t written = (height - 1) * static_cast<int64_t>(pitch) + row;
  return enqueue(stream, "nvJPEG's decoding", work, from, to, written);
}

// ---- the JPEG engine, which reads files as late as it may

ENTRY int nvjpegJpegStateCreate(jpeg::Handle handle, jpeg::State* out) {
  const Call call;
  if (call.fault) return call.fault;
  if (as<Library>(handle)->backend != jpeg::backend::kHardware) return 2;
  auto* made = new State;
  made->library = as<Library>(handle);
  return make(out, made);
}
ENTRY int nvjpegDecodeBatchedSupported(jpeg::Handle handle, jpeg::Stream stream, int* refused) {
  const Call call;
  if (call.fault) return call.fault;
  if (as<Library>(handle)->backend != jpeg::backend::kHardware) return 2;
  const File& file = *as<File>(stream);
  *refused = refuses("engine", file.bytes.size()) || is_progressive(file.bytes) ? 1 : 0;
  return status::kSuccess;
}
ENTRY int nvjpegDecodeBatchedInitialize(jpeg::Handle, jpeg::State handle, int size, int threads, int format) {
  const Call call;
  if (call.fault) return call.fault;
  State& state = *as<State>(handle);
  if (!state.library || size < 1 || threads < 1) return 2;
  state.batch = size;
  state.type = type_of(format);
  return status::kSuccess;
}
ENTRY int nvjpegDecodeBatched(jpeg::Handle handle, jpeg::State state_handle, const unsigned char* const* data,
                              const size_t* sizes, jpeg::Image* images, StreamHandle stream) {
  const Call call;
  if (call.fault) return call.fault;
  const State& state = *as<State>(state_handle);
  if (state.library != as<Library>(handle) || state.batch < 1) return 2;
  count(&FakeNvjpegCounters::engine_batches);
  count_stream(stream);
  for (int k = 0; k < state.batch; ++k) {
    const galatea::native::Bytes bytes(data[k], sizes[k]);
    const auto header = galatea::native::read_header(bytes);
    if (!header) return status::kBadJpeg;
    const int64_t height = header->height;
    const int64_t row = header->width * state.channels();
    const size_t pitch = images[k].pitch[0];
    if (pitch < static_cast<size_t>(row)) return 2;
    uint8_t* const to = images[k].channel[0];
    const auto work = [=, type = state.type] {
      std::vector<uint8_t> made(static_cast<size_t>(row * height));
      if (!decode(bytes, type, made.data())) return;
      for (int64_t y = 0; y < height; ++y)
        std::memcpy(to + static_cast<size_t>(y) * pitch, made.data() + y * row, static_cast<size_t>(row));
    };
    count(&FakeNvjpegCounters::decoded);
    count(&FakeNvjpegCounters::by_engine);
    const int64_t written = (height - 1) * static_cast<int64_t>(pitch) + row;
    if (const int result = enqueue(stream, "the JPEG engine", work, nullptr, to, written)) return result;
  }
  return status::kSuccess;
}

// Each entry point is there, with the type that the table gives it.
#define CHECK_ENTRY(member, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(jpeg::Api{}.member.function)>);
GALATEA_NVJPEG_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY

// ---- for tests

ENTRY void fake_nvjpeg_count(FakeNvjpegCounters* out) {
  std::lock_guard lock(shared().mutex);
  *out = shared().counters;
}
ENTRY void fake_nvjpeg_reset() {
  meeting().reset();
  std::lock_guard lock(shared().mutex);
  const int64_t live = shared().counters.live;
  shared().counters = FakeNvjpegCounters();
  shared().streams.clear();
  shared().counters.live = live;
}
ENTRY void fake_nvjpeg_fail(int64_t call, int result) {
  std::lock_guard lock(shared().mutex);
  shared().fail_call = call;
  shared().fail_status = result;
}
