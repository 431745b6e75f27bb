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
using GraphHandle = struct OpaqueGraph*;
using GraphNodeHandle = struct OpaqueGraphNode*;
using GraphExecHandle = struct OpaqueGraphExec*;

/// Codes that mean something to us; every other one is named by the driver itself.
namespace code {
inline constexpr Code kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
                      kStubLibrary = 34, kDeviceUnavailable = 46, kNoDevice = 100, kInvalidDevice = 101,
                      kInvalidImage = 200, kInvalidContext = 201, kNoBinaryForGpu = 209,
                      kEccUncorrectable = 214, kNvlinkUncorrectable = 220, kContained = 226,
                      kInvalidHandle = 400, kNotFound = 500, kNotReady = 600, kIllegalAddress = 700,
                      kLaunchTimeout = 702, kContextIsDestroyed = 709, kAssert = 710,
                      kHardwareStackError = 714, kIllegalInstruction = 715, kMisalignedAddress = 716,
                      kInvalidAddressSpace = 717, kInvalidPc = 718, kLaunchFailed = 719,
                      kTensorMemoryLeak = 721, kSystemNotReady = 802, kSystemDriverMismatch = 803,
                      kCompatNotSupported = 804, kMpsClientTerminated = 810, kCaptureUnsupported = 900,
                      kCaptureIsolation = 905, kCaptureImplicit = 906, kCapturedEvent = 907, kUnknown = 999;
}  // namespace code

namespace attribute {
inline constexpr int kNumProcessors = 16, kMajor = 75, kMinor = 76;
}  // namespace attribute

inline constexpr unsigned kStreamNonBlocking = 1, kHostAllocPortable = 1;
inline constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2;

/// CUstreamCaptureMode.
namespace capture_mode {
inline constexpr int kGlobal = 0, kThreadLocal = 1, kRelaxed = 2;
}  // namespace capture_mode
/// CUstreamCaptureStatus: anything else is a capture, whole or broken.
inline constexpr int kNoCapture = 0;

/// Streams that every process has: CU_STREAM_LEGACY, and CU_STREAM_PER_THREAD, which is another one on each
/// thread.
inline StreamHandle legacy_stream() { return reinterpret_cast<StreamHandle>(uintptr_t{1}); }
inline StreamHandle per_thread_stream() { return reinterpret_cast<StreamHandle>(uintptr_t{2}); }

/// CUmemorytype.
namespace memory_type {
inline constexpr int kHost = 1, kDevice = 2;
}  // namespace memory_type

/// CUDA_KERNEL_NODE_PARAMS_v2: a kernel in a graph. What `arguments` points to is read when the node is
/// added.
struct KernelNodeParams {
  FunctionHandle function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;  ///< unused beside a function, as is the context
  ContextHandle context = nullptr;
};

/// One side of CopyNodeParams.
template <typename HostPointer>
struct CopyNodeSide {
  size_t x = 0, y = 0, z = 0, lod = 0;
  int type = 0;  ///< memory_type
  HostPointer host = nullptr;
  DevicePointer device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  size_t pitch = 0, height = 0;
};
/// CUDA_MEMCPY3D_v2: a copy in a graph; of bytes in a row where height and depth are 1.
struct CopyNodeParams {
  CopyNodeSide<const void*> from;
  CopyNodeSide<void*> to;
  size_t bytes = 0, height = 1, depth = 1;
};

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
  X(event_time, cuEventElapsedTime, (float*, EventHandle, EventHandle))                                  \
  X(is_capturing, cuStreamIsCapturing, (StreamHandle, int*))                                             \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, (int*))                                    \
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

// Drivers of CUDA 12 have these; where one is missing, nothing is enqueued as a graph.
#define GALATEA_CUDA_GRAPH_ENTRIES(X)                                                                      \
  X(create_graph, cuGraphCreate, (GraphHandle*, unsigned))                                                 \
  X(add_kernel_node, cuGraphAddKernelNode_v2,                                                              \
    (GraphNodeHandle*, GraphHandle, const GraphNodeHandle*, size_t, const KernelNodeParams*))              \
  X(add_copy_node, cuGraphAddMemcpyNode,                                                                   \
    (GraphNodeHandle*, GraphHandle, const GraphNodeHandle*, size_t, const CopyNodeParams*, ContextHandle)) \
  X(instantiate_graph, cuGraphInstantiateWithFlags, (GraphExecHandle*, GraphHandle, uint64_t))             \
  X(launch_graph, cuGraphLaunch, (GraphExecHandle, StreamHandle))                                          \
  X(destroy_graph, cuGraphDestroy, (GraphHandle))                                                          \
  X(destroy_graph_exec, cuGraphExecDestroy, (GraphExecHandle))

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
  GALATEA_CUDA_GRAPH_ENTRIES(GALATEA_CUDA_MEMBER)
#undef GALATEA_CUDA_MEMBER
};

}  // namespace galatea::runtime::cuda
