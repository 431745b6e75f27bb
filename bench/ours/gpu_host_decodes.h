// What images that nvJPEG decodes cost the host beside nvJPEG itself.
#pragma once

#include <string>

namespace galatea::bench {

/// One line of JSON, or an error in words on stderr and nothing. Microseconds a batch, medians: `begin_us` of
/// the samples' threads and `run_us` of who enqueues, as they are and without what the fake nvJPEG took.
/// A FakeCuda must be there.
std::string measure_decodes(int batch_size, int batches);

}  // namespace galatea::bench
