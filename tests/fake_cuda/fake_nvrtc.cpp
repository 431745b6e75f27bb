// NVRTC as galatea calls it, over the host shim: the "cubin" names the library that the C++ compiler made of
// the text. FAKE_NVRTC_VERSION (12080) is what it says it is; FAKE_NVRTC_FAIL=1: it refuses every text.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "compiler/codegen/cuda/shim_backend.h"

namespace {

struct FakeProgram {
  std::string text, cubin, log;
};
constexpr int kArchitectures[] = {75, 80, 90, 100, 120};
constexpr int kCompilation = 6;  ///< NVRTC_ERROR_COMPILATION

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY int nvrtcVersion(int* major, int* minor) {
  const char* text = std::getenv("FAKE_NVRTC_VERSION");
  const int version = text && *text ? std::atoi(text) : 12080;
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return 0;
}
ENTRY int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(std::size(kArchitectures));
  return 0;
}
ENTRY int nvrtcGetSupportedArchs(int* out) {
  std::memcpy(out, kArchitectures, sizeof(kArchitectures));
  return 0;
}
ENTRY int nvrtcCreateProgram(FakeProgram** out, const char* text, const char*, int, const char* const*,
                             const char* const*) {
  *out = new FakeProgram{text, {}, {}};
  return 0;
}
ENTRY int nvrtcDestroyProgram(FakeProgram** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
ENTRY int nvrtcCompileProgram(FakeProgram* program, int count, const char* const* options) {
  int architecture = 0;
  for (int k = 0; k < count; ++k)
    if (std::sscanf(options[k], "--gpu-architecture=sm_%d", &architecture) != 1)
      std::sscanf(options[k], "--gpu-architecture=compute_%d", &architecture);
  const char* fails = std::getenv("FAKE_NVRTC_FAIL");
  if (fails && *fails == '1') {
    program->log = "fake NVRTC: asked to fail";
    return kCompilation;
  }
  const auto file = galatea::codegen::compile_shim_file(program->text);
  if (!file) {
    program->log = file.error().message();
    return kCompilation;
  }
  program->cubin = "galatea-fake-cubin\nsm_" + std::to_string(architecture) + "\n" + file->path;
  return 0;
}
ENTRY int nvrtcGetCUBINSize(FakeProgram* program, size_t* size) {
  *size = program->cubin.size() + 1;
  return 0;
}
ENTRY int nvrtcGetCUBIN(FakeProgram* program, char* out) {
  std::memcpy(out, program->cubin.c_str(), program->cubin.size() + 1);
  return 0;
}
ENTRY int nvrtcGetPTXSize(FakeProgram* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
ENTRY int nvrtcGetPTX(FakeProgram* program, char* out) { return nvrtcGetCUBIN(program, out); }
ENTRY int nvrtcGetProgramLogSize(FakeProgram* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
ENTRY int nvrtcGetProgramLog(FakeProgram* program, char* out) {
  std::memcpy(out, program->log.c_str(), program->log.size() + 1);
  return 0;
}
