// What the leak sanitizer is told of libraries that are not ours. nvJitLink keeps what it has taken for the
// life of the process: after 500 links it has no more than after the first 100.

/// Read by the run-time library of the sanitizers; a build without them has nobody who calls it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libnvJitLink"; }
