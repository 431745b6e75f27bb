// The entry points of nvJPEG that galatea calls, declared as NVIDIA's documentation states them.
//
// No header of CUDA is needed to build: nvjpeg.h fills the table with dlsym. tests/cuda holds these
// declarations against NVIDIA's header where there is one, and tests/fake_cuda implements exactly this table.
#pragma once

#include <cstddef>

#include "runtime/cuda/driver_api.h"

namespace galatea::native {

namespace cuda = runtime::cuda;

namespace jpeg {

using cuda::StreamHandle;

using Status = int;  ///< nvjpegStatus_t
using Handle = struct OpaqueNvjpeg*;
using Decoder = struct OpaqueNvjpegDecoder*;  ///< nvjpegJpegDecoder_t
using State = struct OpaqueNvjpegState*;      ///< nvjpegJpegState_t
using Stream = struct OpaqueNvjpegStream*;    ///< nvjpegJpegStream_t: a parsed file
using Params = struct OpaqueNvjpegParams*;    ///< nvjpegDecodeParams_t
using PinnedBuffer = struct OpaqueNvjpegPinned*;
using DeviceBuffer = struct OpaqueNvjpegDevice*;

/// nvjpegImage_t
struct Image {
  unsigned char* channel[4] = {};
  size_t pitch[4] = {};
};

/// nvjpegDevAllocatorV2_t, nvjpegPinnedAllocatorV2_t
struct Allocator {
  int (*allocate)(void* context, void** pointer, size_t size, StreamHandle stream) = nullptr;
  int (*free)(void* context, void* pointer, size_t size, StreamHandle stream) = nullptr;
  void* context = nullptr;
};

namespace status {
inline constexpr Status kSuccess = 0, kBadJpeg = 3, kNotSupported = 4, kAllocatorFailure = 5,
                        kExecutionFailed = 6, kArchMismatch = 7, kInternalError = 8,
                        kImplementationNotSupported = 9, kIncompleteBitstream = 10;
/// Said of a file, whoever asks.
constexpr bool is_the_files(Status result) {
  return result == kBadJpeg || result == kNotSupported || result == kImplementationNotSupported ||
         result == kIncompleteBitstream;
}
}  // namespace status

namespace backend {
inline constexpr int kHybrid = 1;     ///< Huffman codes on the host
inline constexpr int kGpuHybrid = 2;  ///< and on the device
inline constexpr int kHardware = 3;   ///< everything by the JPEG engine
}  // namespace backend

namespace format {
inline constexpr int kY = 2, kRgb = 5, kBgr = 6;  ///< interleaved
}  // namespace format

/// Chroma as libjpeg makes it, from version 12.1 on.
inline constexpr unsigned kFlagInterpolate = 1U << 5;
inline constexpr int kMajorVersion = 0, kMinorVersion = 1;  ///< libraryPropertyType

// X(member, symbol, parameters): the table is written once.
#define GALATEA_NVJPEG_ENTRIES(X)                                                               \
  X(property, nvjpegGetProperty, (int, int*))                                                   \
  X(create, nvjpegCreateExV2, (int, Allocator*, Allocator*, unsigned, Handle*))                 \
  X(destroy, nvjpegDestroy, (Handle))                                                           \
  X(create_decoder, nvjpegDecoderCreate, (Handle, int, Decoder*))                               \
  X(destroy_decoder, nvjpegDecoderDestroy, (Decoder))                                           \
  X(create_state, nvjpegDecoderStateCreate, (Handle, Decoder, State*))                          \
  X(destroy_state, nvjpegJpegStateDestroy, (State))                                             \
  X(create_stream, nvjpegJpegStreamCreate, (Handle, Stream*))                                   \
  X(destroy_stream, nvjpegJpegStreamDestroy, (Stream))                                          \
  X(parse, nvjpegJpegStreamParse, (Handle, const unsigned char*, size_t, int, int, Stream))     \
  X(create_params, nvjpegDecodeParamsCreate, (Handle, Params*))                                 \
  X(destroy_params, nvjpegDecodeParamsDestroy, (Params))                                        \
  X(set_format, nvjpegDecodeParamsSetOutputFormat, (Params, int))                               \
  X(create_pinned, nvjpegBufferPinnedCreateV2, (Handle, Allocator*, PinnedBuffer*))             \
  X(destroy_pinned, nvjpegBufferPinnedDestroy, (PinnedBuffer))                                  \
  X(create_device, nvjpegBufferDeviceCreateV2, (Handle, Allocator*, DeviceBuffer*))             \
  X(destroy_device, nvjpegBufferDeviceDestroy, (DeviceBuffer))                                  \
  X(attach_pinned, nvjpegStateAttachPinnedBuffer, (State, PinnedBuffer))                        \
  X(attach_device, nvjpegStateAttachDeviceBuffer, (State, DeviceBuffer))                        \
  X(is_supported, nvjpegDecoderJpegSupported, (Decoder, Stream, Params, int*))                  \
  X(decode_on_host, nvjpegDecodeJpegHost, (Handle, Decoder, State, Params, Stream))             \
  X(transfer, nvjpegDecodeJpegTransferToDevice, (Handle, Decoder, State, Stream, StreamHandle)) \
  X(decode_on_device, nvjpegDecodeJpegDevice, (Handle, Decoder, State, Image*, StreamHandle))   \
  X(parse_header, nvjpegJpegStreamParseHeader, (Handle, const unsigned char*, size_t, Stream))  \
  X(is_batch_supported, nvjpegDecodeBatchedSupported, (Handle, Stream, int*))                   \
  X(create_batch_state, nvjpegJpegStateCreate, (Handle, State*))                                \
  X(initialize_batch, nvjpegDecodeBatchedInitialize, (Handle, State, int, int, int))            \
  X(decode_batch, nvjpegDecodeBatched,                                                          \
    (Handle, State, const unsigned char* const*, const size_t*, Image*, StreamHandle))

struct Api {
#define GALATEA_NVJPEG_MEMBER(member, symbol, parameters) \
  cuda::Entry<Status parameters> member{#symbol, nullptr};
  GALATEA_NVJPEG_ENTRIES(GALATEA_NVJPEG_MEMBER)
#undef GALATEA_NVJPEG_MEMBER
};

}  // namespace jpeg
}  // namespace galatea::native
