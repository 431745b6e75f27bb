// The entry points of the CUDA driver that galatea calls, over host memory. See fake_cuda.h.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <iterator>

#include "tests/fake_cuda/fake_call.h"
#include "tests/fake_cuda/fake_work.h"

namespace galatea::fake_cuda {

using runtime::cuda::ContextHandle;
using runtime::cuda::DeviceNumber;
using runtime::cuda::DevicePointer;
using runtime::cuda::DriverApi;
using runtime::cuda::EventHandle;
using runtime::cuda::FunctionHandle;
using runtime::cuda::ModuleHandle;
using runtime::cuda::StreamHandle;

namespace {

struct Name {
  Code code;
  const char *name, *text;
};
constexpr Name kNames[] = {
    {code::kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {code::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {code::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {code::kStubLibrary, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {code::kDeviceUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {code::kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {code::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {code::kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {code::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {code::kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for the device"},
    {code::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {code::kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {code::kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {code::kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {code::kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {code::kCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {code::kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {code::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {code::kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {code::kSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"}};

/// Done with the allocation of one kind at `data`.
Code release_memory(State& state, void* data, bool is_pinned) {
  Allocation* found = state.memory.find(data);
  if (!found || found->data != data || found->is_pinned != is_pinned) {
    state.complain("memory is freed that was not allocated so");
    return code::kInvalidValue;
  }
  state.finish_all();
  if (is_pinned) {
    --state.counters.live_pinned;
  } else {
    --state.counters.live_allocations;
    state.counters.live_bytes -= found->size;
  }
  state.memory.free(data);
  return code::kSuccess;
}

Code copy(State& state, StreamHandle handle, CopyKind kind, void* to, const void* from, size_t bytes) {
  const auto stream = state.stream(handle);
  if (!stream) return code::kInvalidHandle;
  Work work;
  if (const Code made = make_copy(state, kind, to, from, bytes, work); made != code::kSuccess) return made;
  const bool waits = work.writes_pageable;
  if (work.reads_pageable || waits) ++state.counters.pageable_copies;
  work.count(state.counters);
  state.enqueue(stream, work.what, work.run);
  if (waits) {
    state.finish(*stream, stream->enqueued);
    state.host.merge(stream->clock);
  }
  return code::kSuccess;
}

}  // namespace
}  // namespace galatea::fake_cuda

using namespace galatea::fake_cuda;  // NOLINT(google-build-using-namespace): entry points have C names

// ---- the library and its devices

ENTRY Code cuInit(unsigned) {
  Call call;
  call.state.read_environment();
  return call.fails() ? call.result : call.state.settings.init_code;
}
ENTRY Code cuDriverGetVersion(int* version) {
  Call call;
  if (call.fails()) return call.result;
  call.state.read_environment();
  *version = call.state.settings.driver_version;
  return code::kSuccess;
}
ENTRY Code cuGetErrorName(Code which, const char** out) {
  for (const Name& name : kNames)
    if (name.code == which) return *out = name.name, code::kSuccess;
  *out = nullptr;
  return code::kInvalidValue;
}
ENTRY Code cuGetErrorString(Code which, const char** out) {
  for (const Name& name : kNames)
    if (name.code == which) return *out = name.text, code::kSuccess;
  *out = nullptr;
  return code::kInvalidValue;
}
ENTRY Code cuDeviceGetCount(int* count) {
  Call call;
  if (call.fails()) return call.result;
  *count = call.state.settings.devices;
  return code::kSuccess;
}
ENTRY Code cuDeviceGet(DeviceNumber* device, int index) {
  Call call;
  if (call.fails()) return call.result;
  if (index < 0 || index >= call.state.settings.devices) return code::kInvalidDevice;
  *device = index;
  return code::kSuccess;
}
ENTRY Code cuDeviceGetName(char* name, int length, DeviceNumber device) {
  Call call;
  if (call.fails()) return call.result;
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %c", 'A' + device);
  return code::kSuccess;
}
ENTRY Code cuDeviceTotalMem_v2(size_t* bytes, DeviceNumber) {
  Call call;
  if (call.fails()) return call.result;
  *bytes = static_cast<size_t>(call.state.settings.memory);
  return code::kSuccess;
}
ENTRY Code cuDeviceGetAttribute(int* value, int which, DeviceNumber device) {
  Call call;
  if (call.fails()) return call.result;
  const int architecture = call.state.settings.architecture_of(device);
  namespace attribute = galatea::runtime::cuda::attribute;
  if (which == attribute::kMajor) return *value = architecture / 10, code::kSuccess;
  if (which == attribute::kMinor) return *value = architecture % 10, code::kSuccess;
  if (which == attribute::kNumProcessors) return *value = 4, code::kSuccess;
  return code::kInvalidValue;
}

// ---- contexts

ENTRY Code cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceNumber device) {
  Call call;
  if (call.fails()) return call.result;
  // What the host saw of streams that are gone, with all that they used, orders nothing any more.
  if (call.state.streams.empty() &&
      call.state.counters.live_allocations + call.state.counters.live_pinned == 0)
    call.state.host = {};
  ++call.state.counters.live_contexts;
  *context = reinterpret_cast<ContextHandle>(static_cast<uintptr_t>(device) + 1);
  return code::kSuccess;
}
ENTRY Code cuDevicePrimaryCtxRelease_v2(DeviceNumber) {
  Call call;
  --call.state.counters.live_contexts;
  return call.result;
}
ENTRY Code cuCtxPushCurrent_v2(ContextHandle context) {
  Call call;
  if (call.fails()) return call.result;
  if (!context) return code::kInvalidContext;
  current_devices.push_back(static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1);
  return code::kSuccess;
}
ENTRY Code cuCtxPopCurrent_v2(ContextHandle*) {
  // Not counted: nobody could do anything about it.
  if (current_devices.empty()) return code::kInvalidContext;
  current_devices.pop_back();
  return code::kSuccess;
}
ENTRY Code cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  *least = 0;
  *greatest = -5;
  return code::kSuccess;
}

// ---- streams and events

ENTRY Code cuStreamCreateWithPriority(StreamHandle* out, unsigned flags, int) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  auto stream = std::make_shared<Stream>();
  stream->number = call.state.take_number();
  stream->device = current_devices.back();
  stream->is_blocking = (flags & galatea::runtime::cuda::kStreamNonBlocking) == 0;
  *out = reinterpret_cast<StreamHandle>(stream.get());
  call.state.streams.emplace(stream.get(), stream);
  ++call.state.counters.live_streams;
  return code::kSuccess;
}
ENTRY Code cuStreamDestroy_v2(StreamHandle handle) {
  Call call;
  const auto found = call.state.streams.find(handle);
  if (found == call.state.streams.end()) return code::kInvalidHandle;
  call.state.finish(*found->second, found->second->enqueued);
  call.state.streams.erase(found);
  --call.state.counters.live_streams;
  return call.result;
}
ENTRY Code cuStreamSynchronize(StreamHandle handle) {
  Call call;
  if (call.fails()) return call.result;
  const auto found = call.state.stream(handle);
  if (!found) return code::kInvalidHandle;
  if (const Code refused = call.state.enter_waiting("cuStreamSynchronize")) return refused;
  ++call.state.counters.synchronizations;
  ++call.state.counters.spinning_waits;
  call.state.finish(*found, found->enqueued);
  call.state.host.merge(found->clock);
  return code::kSuccess;
}
ENTRY Code cuStreamWaitEvent(StreamHandle handle, EventHandle event, unsigned) {
  WorkCall call;
  if (call.fails()) return call.result;
  const auto stream = call.state.stream(handle);
  const auto found = call.state.events.find(event);
  if (!stream || found == call.state.events.end()) return code::kInvalidHandle;
  ++call.state.counters.stream_waits;
  if (found->second->is_captured != (stream->capture_mode >= 0)) {
    call.state.complain(found->second->is_captured ? "a stream is drawn into a capture by an event of it"
                                                   : "a captured stream waits for what is not captured");
    return code::kCaptureIsolation;
  }
  if (!found->second->stream) return code::kSuccess;
  stream->clock.merge(found->second->clock);
  const Event before = *found->second;  // as it is now: it may be recorded again
  call.state.enqueue(stream, "wait", [before](const Stream::Operation&) {
    State::get().finish(*before.stream, before.point);
  });
  return code::kSuccess;
}
ENTRY Code cuEventCreate(EventHandle* out, unsigned flags) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  auto event = std::make_shared<Event>();
  event->flags = flags;
  *out = reinterpret_cast<EventHandle>(event.get());
  call.state.events.emplace(event.get(), event);
  ++call.state.counters.live_events;
  return code::kSuccess;
}
ENTRY Code cuEventDestroy_v2(EventHandle handle) {
  Call call;
  if (call.state.events.erase(handle) == 0) return code::kInvalidHandle;
  --call.state.counters.live_events;
  return call.result;
}
ENTRY Code cuEventRecord(EventHandle handle, StreamHandle stream_handle) {
  WorkCall call;
  if (call.fails()) return call.result;
  const auto stream = call.state.stream(stream_handle);
  const auto found = call.state.events.find(handle);
  if (!stream || found == call.state.events.end()) return code::kInvalidHandle;
  if (stream_handle == galatea::runtime::cuda::legacy_stream() && call.state.legacy_is_captured())
    return code::kCaptureImplicit;
  ++call.state.counters.event_records;
  Event& event = *found->second;
  event.stream = stream;
  event.point = stream->enqueued;
  event.clock = stream->clock;
  event.is_captured = stream->capture_mode >= 0;
  event.recorded = std::chrono::steady_clock::now();
  return code::kSuccess;
}
ENTRY Code cuEventQuery(EventHandle handle) {
  Call call;
  if (call.fails()) return call.result;
  const auto found = call.state.events.find(handle);
  if (found == call.state.events.end()) return code::kInvalidHandle;
  const Event& event = *found->second;
  if (const Code refused = call.state.enter_unsafe("cuEventQuery")) return refused;
  if (event.is_captured) return code::kCapturedEvent;
  if (event.stream && event.stream->done < event.point) {
    // A caller that asks again and again shall see it happen.
    call.state.finish(*event.stream, event.stream->done + 1);
    return code::kNotReady;
  }
  call.state.host.merge(event.clock);
  return code::kSuccess;
}
ENTRY Code cuEventSynchronize(EventHandle handle) {
  Call call;
  if (call.fails()) return call.result;
  const auto found = call.state.events.find(handle);
  if (found == call.state.events.end()) return code::kInvalidHandle;
  if (const Code refused = call.state.enter_waiting("cuEventSynchronize")) return refused;
  if (found->second->is_captured) return code::kCapturedEvent;
  ++call.state.counters.synchronizations;
  if ((found->second->flags & galatea::runtime::cuda::kEventBlockingSync) == 0)
    ++call.state.counters.spinning_waits;
  if (found->second->stream) call.state.finish(*found->second->stream, found->second->point);
  call.state.host.merge(found->second->clock);
  return code::kSuccess;
}

ENTRY Code cuEventElapsedTime(float* milliseconds, EventHandle begin, EventHandle end) {
  Call call;
  if (call.fails()) return call.result;
  const auto first = call.state.events.find(begin), last = call.state.events.find(end);
  if (first == call.state.events.end() || last == call.state.events.end()) return code::kInvalidHandle;
  const Event &from = *first->second, &to = *last->second;
  if ((from.flags | to.flags) & galatea::runtime::cuda::kEventDisableTiming) return code::kInvalidHandle;
  if (!from.stream || !to.stream) return code::kInvalidHandle;
  if (to.stream->done < to.point) return code::kNotReady;
  // When they were recorded, which says nothing of a device.
  *milliseconds = std::chrono::duration<float, std::milli>(to.recorded - from.recorded).count();
  return code::kSuccess;
}

// ---- captures

ENTRY Code cuStreamIsCapturing(StreamHandle handle, int* status) {
  Call call;
  if (call.fails()) return call.result;
  const auto stream = call.state.stream_as_it_is(handle);
  if (!stream) return code::kInvalidHandle;
  if (handle == galatea::runtime::cuda::legacy_stream() && call.state.legacy_is_captured())
    return code::kCaptureImplicit;
  *status = stream->capture_mode >= 0 ? 1 : 0;
  return code::kSuccess;
}
ENTRY Code cuThreadExchangeStreamCaptureMode(int* mode) {
  // Not counted, as nobody could do anything about it.
  std::swap(*mode, thread_capture_mode);
  return code::kSuccess;
}

// ---- memory

ENTRY Code cuMemAlloc_v2(DevicePointer* out, size_t bytes) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  if (const Code refused = call.state.enter_unsafe("cuMemAlloc")) return refused;
  FakeCudaCounters& counters = call.state.counters;
  if (counters.live_bytes + static_cast<int64_t>(bytes) > call.state.settings.memory)
    return code::kOutOfMemory;
  Allocation* made = call.state.memory.allocate(static_cast<int64_t>(bytes), false);
  if (!made) return code::kOutOfMemory;
  made->device = current_devices.back();
  ++counters.allocations;
  ++counters.live_allocations;
  counters.live_bytes += made->size;
  *out = reinterpret_cast<uintptr_t>(made->data);
  return code::kSuccess;
}
ENTRY Code cuMemFree_v2(DevicePointer address) {
  Call call;
  if (const Code refused = call.state.enter_waiting("cuMemFree")) return refused;
  const Code result = release_memory(call.state, pointer(address), false);
  return call.fails() ? call.result : result;
}
ENTRY Code cuMemGetInfo_v2(size_t* free_bytes, size_t* all) {
  Call call;
  if (call.fails()) return call.result;
  *all = static_cast<size_t>(call.state.settings.memory);
  *free_bytes = *all - static_cast<size_t>(call.state.counters.live_bytes);
  return code::kSuccess;
}
ENTRY Code cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  if (const Code refused = call.state.enter_unsafe("cuMemHostAlloc")) return refused;
  Allocation* made = call.state.memory.allocate(static_cast<int64_t>(bytes), true);
  if (!made) return code::kOutOfMemory;
  ++call.state.counters.pinned_allocations;
  ++call.state.counters.live_pinned;
  *out = made->data;
  return code::kSuccess;
}
ENTRY Code cuMemFreeHost(void* data) {
  Call call;
  if (const Code refused = call.state.enter_waiting("cuMemFreeHost")) return refused;
  const Code result = release_memory(call.state, data, true);
  return call.fails() ? call.result : result;
}
ENTRY Code cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  WorkCall call;
  if (call.fails()) return call.result;
  return copy(call.state, stream, CopyKind::kUpload, pointer(to), from, bytes);
}
ENTRY Code cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  WorkCall call;
  if (call.fails()) return call.result;
  return copy(call.state, stream, CopyKind::kDownload, to, pointer(from), bytes);
}
ENTRY Code cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  WorkCall call;
  if (call.fails()) return call.result;
  return copy(call.state, stream, CopyKind::kOnDevice, pointer(to), pointer(from), bytes);
}

// ---- code

ENTRY Code cuModuleLoadData(ModuleHandle* out, const void* image) {
  Call call;
  if (call.fails()) return call.result;
  if (current_devices.empty()) return code::kInvalidContext;
  // What the fake NVRTC gives: "galatea-fake-cubin", the architecture, a path; a line each.
  const char* text = static_cast<const char*>(image);
  int architecture = 0, length = 0;
  if (std::sscanf(text, "galatea-fake-cubin\nsm_%d\n%n", &architecture, &length) != 1 || length == 0)
    return code::kInvalidImage;
  if (architecture != call.state.settings.architecture_of(current_devices.back()))
    return code::kNoBinaryForGpu;
  auto module = std::make_unique<Module>();
  module->library = dlopen(text + length, RTLD_NOW | RTLD_LOCAL);
  if (!module->library) return code::kInvalidImage;
  *out = reinterpret_cast<ModuleHandle>(module.get());
  call.state.modules.emplace(module.get(), std::move(module));
  ++call.state.counters.live_modules;
  return code::kSuccess;
}
ENTRY Code cuModuleUnload(ModuleHandle handle) {
  Call call;
  const auto found = call.state.modules.find(handle);
  if (found == call.state.modules.end()) return code::kInvalidHandle;
  call.state.finish_all();
  dlclose(found->second->library);
  call.state.modules.erase(found);
  --call.state.counters.live_modules;
  return call.result;
}
ENTRY Code cuModuleGetFunction(FunctionHandle* out, ModuleHandle handle, const char* name) {
  Call call;
  if (call.fails()) return call.result;
  const auto found = call.state.modules.find(handle);
  if (found == call.state.modules.end()) return code::kInvalidHandle;
  Module& module = *found->second;
  auto function = std::make_unique<Function>();
  function->module = &module;
  function->name = name;
  function->code = dlsym(module.library, name);
  const auto* tensors =
      static_cast<const int*>(dlsym(module.library, (std::string(name) + "_tensors").c_str()));
  if (!function->code || !tensors) return code::kNotFound;
  function->inputs = tensors[0];
  function->outputs = tensors[1];
  if (const auto* arms =
          static_cast<const int*>(dlsym(module.library, (std::string(name) + "_arms").c_str())))
    for (int k = 0; k < arms[0]; ++k) function->arms.emplace_back(arms[1 + 2 * k], arms[2 + 2 * k]);
  auto& entry = module.functions[name];
  if (!entry) entry = std::move(function);
  *out = reinterpret_cast<FunctionHandle>(entry.get());
  return code::kSuccess;
}
ENTRY Code cuLaunchKernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                          StreamHandle stream_handle, void** arguments, void**) {
  WorkCall call;
  if (call.fails()) return call.result;
  const auto stream = call.state.stream(stream_handle);
  if (!stream) return code::kInvalidHandle;
  if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) return code::kInvalidValue;
  Work work;
  if (const Code made = make_launch(call.state, handle, grid_x, block_x, arguments, work);
      made != code::kSuccess)
    return made;
  work.count(call.state.counters);
  call.state.enqueue(stream, work.what, work.run);
  return code::kSuccess;
}

// Each entry point is there, with the type that the driver's table gives it.
#define CHECK_ENTRY(member, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(DriverApi{}.member.function)>);
GALATEA_CUDA_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY

// ---- for other fake libraries

ENTRY int fake_cuda_enqueue(void* handle, const char* what, void (*run)(void*), void (*drop)(void*),
                            void* context, const void* reads, const void* writes, int64_t written) {
  const std::shared_ptr<void> kept(context, drop);
  State& state = State::get();
  std::lock_guard lock(state.mutex);
  const auto stream = state.stream(static_cast<StreamHandle>(handle));
  if (!stream) return code::kInvalidHandle;
  state.enqueue(stream, what, [=, &state](const Stream::Operation& operation) {
    if (!state.executes) return;
    if (reads && !state.use(reads, operation, false, "source")) return;
    if (writes && !state.use(writes, operation, true, "target", written)) return;
    run(kept.get());
  });
  return code::kSuccess;
}

ENTRY int fake_cuda_write(const char* what, void* to, const void* from, int64_t bytes) {
  State& state = State::get();
  std::lock_guard lock(state.mutex);
  static const int kNumber = state.take_number();
  static uint64_t count = 0;
  if (current_devices.empty()) return code::kInvalidContext;
  Stream::Operation operation;
  operation.tick = {kNumber, ++count, what};
  // It comes behind what the host has waited for, and what is given to streams from now on behind it.
  state.host[kNumber] = count;
  operation.clock = state.host;
  operation.device = current_devices.back();
  if (!state.executes) return code::kSuccess;
  if (!state.use(to, operation, true, "target", bytes)) return code::kInvalidValue;
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return code::kSuccess;
}

// ---- for tests

ENTRY void fake_cuda_count(FakeCudaCounters* out) {
  std::lock_guard lock(State::get().mutex);
  *out = State::get().counters;
}
ENTRY const char* fake_cuda_errors() {
  std::lock_guard lock(State::get().mutex);
  return State::get().errors.c_str();
}
ENTRY int64_t fake_cuda_calls(const char* entry) {
  std::lock_guard lock(State::get().mutex);
  const auto found = State::get().calls.find(entry);
  return found == State::get().calls.end() ? 0 : found->second;
}
ENTRY void fake_cuda_reset() {
  std::lock_guard lock(State::get().mutex);
  State::get().reset_counts();
}
ENTRY void fake_cuda_fail(int64_t call, int result) {
  std::lock_guard lock(State::get().mutex);
  State::get().fail_at(call, result);
}
ENTRY void fake_cuda_forbid_waits(int forbid) { thread_must_not_wait = forbid != 0; }
ENTRY void fake_cuda_capture(void* handle, int mode) {
  State& state = State::get();
  std::lock_guard lock(state.mutex);
  if (const auto stream = state.stream_as_it_is(static_cast<StreamHandle>(handle)))
    stream->capture_mode = mode;
}
ENTRY void fake_cuda_execute(int execute) {
  std::lock_guard lock(State::get().mutex);
  State::get().executes = execute != 0;
}
