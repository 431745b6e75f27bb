// What the fake driver offers to tests, beside the driver's own entry points.
//
// The library libcuda.so.1 of tests/fake_cuda implements the entry points of runtime/cuda/driver_api.h over
// host memory, so that galatea's GPU executor runs unmodified where there is no GPU. What it adds:
//   - work is done as late as it may be: at a synchronisation, and then no more than that needs. Whoever
//   reads
//     a result without waiting for it, or writes memory that a copy has not read yet, gets wrong bytes;
//   - every two uses of one allocation, one of them a write, must be ordered by streams, events or
//     synchronisation; what is not is an error, whatever order it happened to run in. Work of another library
//     may say which bytes it writes, and meets only those that use them;
//   - nodes of a graph are ordered by their edges alone, and a graph must not outlive the memory that it
//   names;
//   - memory of one device is used by streams of another nowhere: no access between peers is asked for;
//   - every allocation stands alone in its address space: a byte past its end is a fault;
//   - streams are captured as a consumer's are: a call that CUDA calls unsafe, of a thread that has not
//     exchanged its capture mode, breaks a global capture; an event of a captured stream tells nobody anything;
//   - calls, launches, copies, waits and live objects are counted, and the n-th call can be made to fail.
// The environment, read by cuInit: FAKE_CUDA_DEVICES (1), FAKE_CUDA_DRIVER_VERSION (12080),
// FAKE_CUDA_ARCHITECTURE (90), FAKE_CUDA_OTHER_ARCHITECTURE (of odd devices), FAKE_CUDA_MEMORY (bytes), FAKE_CUDA_INIT (a code that cuInit returns),
// FAKE_CUDA_FAIL_CALL and FAKE_CUDA_FAIL_CODE, FAKE_CUDA_EAGER (1: work is done at once), FAKE_CUDA_EXECUTE
// (0: work is counted, not done), FAKE_CUDA_PERMUTED (1: threads of a phase in another order),
// FAKE_CUDA_REPORT (a file for counts and errors at exit).
#pragma once

#include <cstdint>

struct FakeCudaCounters {
  int64_t calls = 0;                 ///< entry points that can fail
  int64_t launches = 0, blocks = 0;  ///< here and below: those of graphs too
  int64_t uploads = 0, upload_bytes = 0, downloads = 0, download_bytes = 0, device_copies = 0;
  int64_t pageable_copies = 0;   ///< from or to memory that is not pinned: the driver waits there
  int64_t synchronizations = 0;  ///< the host waited for a stream or an event
  int64_t spinning_waits = 0;    ///< of those: for a stream, or an event that lets no thread sleep
  int64_t graph_launches = 0, graphs_made = 0;
  int64_t stream_waits = 0, event_records = 0;
  int64_t allocations = 0, pinned_allocations = 0;
  int64_t live_contexts = 0, live_streams = 0, live_events = 0, live_modules = 0;
  int64_t live_graphs = 0, live_graph_execs = 0;
  int64_t live_allocations = 0, live_pinned = 0, live_bytes = 0;  ///< bytes of the device only
  int64_t errors = 0;
  int64_t work_nanoseconds = 0;  ///< in calls that gave a stream something to do
};

/// The extra entry points, found with dlsym.
extern "C" {
using FakeCudaCount = void(FakeCudaCounters*);      ///< fake_cuda_count
using FakeCudaCalls = int64_t(const char* entry);   ///< fake_cuda_calls: of one entry point
using FakeCudaErrors = const char*();               ///< fake_cuda_errors: a line an error
using FakeCudaReset = void();                       ///< fake_cuda_reset: counts and errors, not objects
using FakeCudaFail = void(int64_t call, int code);  ///< fake_cuda_fail: the n-th call from now; 0: none
using FakeCudaExecute = void(int execute);          ///< fake_cuda_execute: 0: work is counted, not done
/// fake_cuda_forbid_waits: 1: a call of this thread that may wait for the device is an error.
using FakeCudaForbidWaits = void(int forbid);
/// fake_cuda_capture: `stream` is captured in a mode of CUstreamCaptureMode; -1: no more.
using FakeCudaCapture = void(void* stream, int mode);
/// fake_cuda_enqueue: work of another fake library in a stream; `drop` ends `context` once it was done. Null
/// addresses are none. `written`: how many bytes from `writes` on; 0: all of that allocation. A code of the
/// driver.
using FakeCudaEnqueue = int(void* stream, const char* what, void (*run)(void*), void (*drop)(void*),
                            void* context, const void* reads, const void* writes, int64_t written);
/// fake_cuda_write: another fake library has written so many bytes of the device's, beside all streams, before it
/// returns. A code of the driver.
using FakeCudaWrite = int(const char* what, void* to, const void* from, int64_t bytes);
}
