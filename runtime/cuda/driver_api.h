// The entry points of the CUDA driver that galatea calls, declared as NVIDIA's documentation states them.
//
// No header of CUDA is needed to build, and no library of it to link: driver.h fills the table with dlsym.
// tests/cuda holds these declarations against NVIDIA's header where there is one, and tests/fake_cuda
// implements exactly this table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace galatea::runtime::cuda {

using Code = int;                          ///< CUresult
using DeviceNumber = int;                  ///< CUdevice
using DevicePointer = unsigned long long;  // NOLINT(google-runtime-int): CUdeviceptr
using ContextHandle = struct OpaqueContext*;
using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;

/// Codes that mean something to us; every other one is named by the driver itself.
namespace code {
inline constexpr Code kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
                      kStubLibrary = 34, kDeviceUnavailable = 46, kNoDevice = 100, kInvalidDevice = 101,
                      kInvalidImage = 200, kInvalidContext = 201, kNoBinaryForGpu = 209,
                      kEccUncorrectable = 214, kNvlinkUncorrectable = 220, kInvalidHandle = 400,
                      kNotFound = 500, kNotReady = 600, kIllegalAddress = 700, kLaunchTimeout = 702,
                      kContextIsDestroyed = 709, kHardwareStackError = 714, kIllegalInstruction = 715,
                      kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                      kLaunchFailed = 719, kSystemNotReady = 802, kSystemDriverMismatch = 803,
                      kCompatNotSupported = 804, kUnknown = 999;
}  // namespace code

namespace attribute {
inline constexpr int kNumProcessors = 16, kMajor = 75, kMinor = 76;
}  // namespace attribute

inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2, kHostAllocPortable = 1;

// X(member, symbol, parameters): the table is written once.
#define GALATEA_CUDA_ENTRIES(X)                                                                          \
  X(init, cuInit, (unsigned))                                                                            \
  X(driver_version, cuDriverGetVersion, (int*))                                                          \
  X(error_name, cuGetErrorName, (Code, const char**))                                                    \
  X(error_text, cuGetErrorString, (Code, const char**))                                                  \
  X(device_count, cuDeviceGetCount, (int*))                                                              \
  X(device, cuDeviceGet, (DeviceNumber*, int))                                                           \
  X(device_name, cuDeviceGetName, (char*, int, DeviceNumber))                                            \
  X(device_memory, cuDeviceTotalMem_v2, (size_t*, DeviceNumber))                                         \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, DeviceNumber))                                   \
  X(retain_context, cuDevicePrimaryCtxRetain, (ContextHandle*, DeviceNumber))                            \
  X(release_context, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))                                       \
  X(push_context, cuCtxPushCurrent_v2, (ContextHandle))                                                  \
  X(pop_context, cuCtxPopCurrent_v2, (ContextHandle*))                                                   \
  X(priority_range, cuCtxGetStreamPriorityRange, (int*, int*))                                           \
  X(create_stream, cuStreamCreateWithPriority, (StreamHandle*, unsigned, int))                           \
  X(destroy_stream, cuStreamDestroy_v2, (StreamHandle))                                                  \
  X(synchronize_stream, cuStreamSynchronize, (StreamHandle))                                             \
  X(wait_event, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned))                                \
  X(create_event, cuEventCreate, (EventHandle*, unsigned))                                               \
  X(destroy_event, cuEventDestroy_v2, (EventHandle))                                                     \
  X(record_event, cuEventRecord, (EventHandle, StreamHandle))                                            \
  X(query_event, cuEventQuery, (EventHandle))                                                            \
  X(synchronize_event, cuEventSynchronize, (EventHandle))                                                \
  X(allocate, cuMemAlloc_v2, (DevicePointer*, size_t))                                                   \
  X(free, cuMemFree_v2, (DevicePointer))                                                                 \
  X(memory_info, cuMemGetInfo_v2, (size_t*, size_t*))                                                    \
  X(allocate_pinned, cuMemHostAlloc, (void**, size_t, unsigned))                                         \
  X(free_pinned, cuMemFreeHost, (void*))                                                                 \
  X(upload, cuMemcpyHtoDAsync_v2, (DevicePointer, const void*, size_t, StreamHandle))                    \
  X(download, cuMemcpyDtoHAsync_v2, (void*, DevicePointer, size_t, StreamHandle))                        \
  X(copy, cuMemcpyDtoDAsync_v2, (DevicePointer, DevicePointer, size_t, StreamHandle))                    \
  X(load_module, cuModuleLoadData, (ModuleHandle*, const void*))                                         \
  X(unload_module, cuModuleUnload, (ModuleHandle))                                                       \
  X(find_function, cuModuleGetFunction, (FunctionHandle*, ModuleHandle, const char*))                    \
  X(launch, cuLaunchKernel,                                                                              \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, \
     void**, void**))

/// A function of the driver and its name, for errors.
template <typename Signature>
struct Entry;
template <typename... Parameters>
struct Entry<Code(Parameters...)> {
  const char* name = nullptr;
  Code (*function)(Parameters...) = nullptr;
};

struct DriverApi {
#define GALATEA_CUDA_MEMBER(member, symbol, parameters) Entry<Code parameters> member{#symbol, nullptr};
  GALATEA_CUDA_ENTRIES(GALATEA_CUDA_MEMBER)
#undef GALATEA_CUDA_MEMBER
};

}  // namespace galatea::runtime::cuda
