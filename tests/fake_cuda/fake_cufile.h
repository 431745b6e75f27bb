// What the fake cuFile offers to tests, beside cuFile's own entry points.
//
// The library libcufile.so.0 of tests/fake_cuda implements the entry points of
// stdlib_ops/native/cufile/cufile_api.h: it reads files by pread, into memory of the fake driver, where the order of
// uses is kept (fake_cuda_write). The environment, read at each call: FAKE_CUFILE_STORAGE (0: it reads no storage
// directly), FAKE_CUFILE_DRIVER (a code that cuFileDriverOpen answers), FAKE_CUFILE_REGISTER (a code that
// cuFileHandleRegister answers), FAKE_CUFILE_AT_ONCE (bytes that a read gives at most).
#pragma once

#include <cstdint>

struct FakeCufileCounters {
  int64_t registered = 0, live = 0;  ///< files
  int64_t reads = 0, bytes = 0;
  int64_t unaligned = 0;  ///< reads that begin within a block of storage
};

/// The extra entry points, found with dlsym.
extern "C" {
using FakeCufileCount = void(FakeCufileCounters*);  ///< fake_cufile_count
using FakeCufileReset = void();                     ///< fake_cufile_reset: counts, not files
/// fake_cufile_fail: the n-th read from now answers this, with this errno; 0: none.
using FakeCufileFail = void(int64_t read, int64_t answer, int number);
}
