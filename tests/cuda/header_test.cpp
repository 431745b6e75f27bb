// Our declarations of the driver against NVIDIA's header, where there is one: as many parameters, each of the
// same size and kind, and constants of the same value.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "runtime/cuda/driver_api.h"
#include "tests/cuda/same_shape.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace galatea::testing {
namespace {

using namespace runtime::cuda;  // NOLINT(google-build-using-namespace): the table's names

TEST(DriverHeader, EntryPointsAgree) {
#define CHECK_ENTRY(member, symbol, parameters) \
  static_assert(SameShape<decltype(&::symbol), decltype(DriverApi{}.member.function)>::value);
  GALATEA_CUDA_ENTRIES(CHECK_ENTRY)
  GALATEA_CUDA_GRAPH_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY
  EXPECT_EQ(code::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(code::kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(code::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(code::kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(code::kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(code::kNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(code::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(code::kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(code::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(code::kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(code::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(code::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(code::kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(code::kNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(code::kNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(code::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(code::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(code::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(code::kAssert, CUDA_ERROR_ASSERT);
  EXPECT_EQ(code::kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(code::kCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(code::kCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(code::kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(code::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(code::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(code::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(code::kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(code::kInvalidPc, CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(code::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(code::kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
  EXPECT_EQ(code::kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(code::kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
  EXPECT_EQ(code::kUnknown, CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(attribute::kNumProcessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(attribute::kMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(attribute::kMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kEventDisableTiming, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kEventBlockingSync, static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC));
  EXPECT_EQ(capture_mode::kGlobal, static_cast<int>(CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(capture_mode::kThreadLocal, static_cast<int>(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(capture_mode::kRelaxed, static_cast<int>(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(kNoCapture, static_cast<int>(CU_STREAM_CAPTURE_STATUS_NONE));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(legacy_stream()), reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(per_thread_stream()),
            reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD));
  EXPECT_EQ(kHostAllocPortable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
}

TEST(DriverHeader, StructsAgree) {
  EXPECT_EQ(sizeof(KernelNodeParams), sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
#define CHECK_FIELD(ours, theirs) \
  EXPECT_EQ(offsetof(KernelNodeParams, ours), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, theirs))
  CHECK_FIELD(function, func);
  CHECK_FIELD(grid_x, gridDimX);
  CHECK_FIELD(grid_z, gridDimZ);
  CHECK_FIELD(block_x, blockDimX);
  CHECK_FIELD(block_z, blockDimZ);
  CHECK_FIELD(shared_bytes, sharedMemBytes);
  CHECK_FIELD(arguments, kernelParams);
  CHECK_FIELD(extra, extra);
  CHECK_FIELD(kernel, kern);
  CHECK_FIELD(context, ctx);
#undef CHECK_FIELD
  EXPECT_EQ(sizeof(CopyNodeParams), sizeof(CUDA_MEMCPY3D_v2));
#define CHECK_FIELD(ours, theirs) \
  EXPECT_EQ(offsetof(CopyNodeParams, ours), offsetof(CUDA_MEMCPY3D_v2, theirs))
  CHECK_FIELD(from.x, srcXInBytes);
  CHECK_FIELD(from.lod, srcLOD);
  CHECK_FIELD(from.type, srcMemoryType);
  CHECK_FIELD(from.host, srcHost);
  CHECK_FIELD(from.device, srcDevice);
  CHECK_FIELD(from.array, srcArray);
  CHECK_FIELD(from.reserved, reserved0);
  CHECK_FIELD(from.pitch, srcPitch);
  CHECK_FIELD(from.height, srcHeight);
  CHECK_FIELD(to.x, dstXInBytes);
  CHECK_FIELD(to.type, dstMemoryType);
  CHECK_FIELD(to.host, dstHost);
  CHECK_FIELD(to.device, dstDevice);
  CHECK_FIELD(to.pitch, dstPitch);
  CHECK_FIELD(to.height, dstHeight);
  CHECK_FIELD(bytes, WidthInBytes);
  CHECK_FIELD(height, Height);
  CHECK_FIELD(depth, Depth);
#undef CHECK_FIELD
  EXPECT_EQ(memory_type::kHost, static_cast<int>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(memory_type::kDevice, static_cast<int>(CU_MEMORYTYPE_DEVICE));
}

}  // namespace
}  // namespace galatea::testing

#else

TEST(DriverHeader, EntryPointsAgree) { GTEST_SKIP() << "no cuda.h on this machine"; }

#endif
