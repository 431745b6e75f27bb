// What the fake nvJPEG offers to tests, beside nvJPEG's own entry points.
//
// The library libnvjpeg.so.12 of tests/fake_cuda implements the entry points of stdlib_ops/native/nvjpeg/nvjpeg_api.h by
// libjpeg-turbo, so that images equal the CPU's bit for bit. The host's part writes pinned memory, the
// transfer and the device's part are work of the fake driver's streams, done as late as there; the codes of
// images for the device's Huffman decoder are decoded in that part only. All memory comes from the allocators
// that it was given. The environment, read when a handle is made: FAKE_NVJPEG_VERSION (12.4), FAKE_NVJPEG_ENGINE (anything: there is
// a JPEG engine, with bits as those of the rest); read at each file: FAKE_NVJPEG_REFUSES (parse, support, host
// or engine: every file of an even number of bytes is refused there);
// FAKE_NVJPEG_MEETS (host or device: the first such phase after a reset ends when another thread has begun a
// host's phase).
#pragma once

#include <cstdint>

struct FakeNvjpegCounters {
  int64_t calls = 0;                             ///< entry points that can fail
  int64_t parsed = 0, decoded = 0;               ///< files, images
  int64_t host_entropy = 0, device_entropy = 0;  ///< of the decoded
  int64_t by_engine = 0, engine_batches = 0;     ///< of the decoded; calls
  int64_t live = 0;                              ///< objects of any kind
  int64_t streams = 0;                           ///< that images were decoded in
  int64_t nanoseconds = 0;                       ///< in entry points, without the allocators
  int64_t met = 0;                               ///< phases that another thread came to
};

/// The extra entry points, found with dlsym.
extern "C" {
using FakeNvjpegCount = void(FakeNvjpegCounters*);      ///< fake_nvjpeg_count
using FakeNvjpegReset = void();                         ///< fake_nvjpeg_reset: counts, not objects
using FakeNvjpegFail = void(int64_t call, int status);  ///< fake_nvjpeg_fail: the n-th call from now; 0: none
}
