// NVRTC as galatea calls it, over the host shim: the "cubin" names the library that the C++ compiler made of
// the text; a relocatable object is the text itself (fake_nvjitlink.cpp). FAKE_NVRTC_VERSION (12080) is what
// it says it is; FAKE_NVRTC_FAIL: the nvrtcResult of every compilation (6: the text is refused; 7: a file of
// NVRTC's is missing).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "compiler/codegen/cuda/shim_backend.h"
#include "tests/fake_cuda/fake_object.h"

namespace {

struct FakeProgram {
  std::string text, cubin, log;
};
/// Handles are addresses of no type here and in nvrtc.cpp, so that sanitizers see one type of each function.
FakeProgram& program_of(void* handle) { return *static_cast<FakeProgram*>(handle); }
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
ENTRY int nvrtcCreateProgram(void** out, const char* text, const char*, int, const char* const*,
                             const char* const*) {
  *out = new FakeProgram{text, {}, {}};
  return 0;
}
ENTRY int nvrtcDestroyProgram(void** program) {
  delete &program_of(*program);
  *program = nullptr;
  return 0;
}
ENTRY int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  int architecture = 0;
  bool is_object = false;
  for (int k = 0; k < count; ++k) {
    if (std::sscanf(options[k], "--gpu-architecture=sm_%d", &architecture) != 1)
      std::sscanf(options[k], "--gpu-architecture=compute_%d", &architecture);
    is_object = is_object || std::strcmp(options[k], "--relocatable-device-code=true") == 0;
  }
  const char* fails = std::getenv("FAKE_NVRTC_FAIL");
  if (const int code = fails ? std::atoi(fails) : 0; code != 0) {
    program_of(program).log = "fake NVRTC: asked to fail";
    return code;
  }
  if (is_object) {
    program_of(program).cubin =
        galatea::testing::kFakeObject + std::to_string(architecture) + "\n" + program_of(program).text;
    return 0;
  }
  const auto file = galatea::codegen::compile_shim_file(program_of(program).text);
  if (!file) {
    program_of(program).log = file.error().message();
    return kCompilation;
  }
  program_of(program).cubin = "galatea-fake-cubin\nsm_" + std::to_string(architecture) + "\n" + file->path;
  return 0;
}
ENTRY int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = program_of(program).cubin.size() + 1;
  return 0;
}
ENTRY int nvrtcGetCUBIN(void* program, char* out) {
  std::memcpy(out, program_of(program).cubin.c_str(), program_of(program).cubin.size() + 1);
  return 0;
}
ENTRY int nvrtcGetPTXSize(void* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
ENTRY int nvrtcGetPTX(void* program, char* out) { return nvrtcGetCUBIN(program, out); }
ENTRY const char* nvrtcGetErrorString(int code) {
  return code == kCompilation ? "NVRTC_ERROR_COMPILATION"
         : code == 7          ? "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"
                              : "NVRTC_ERROR unknown";
}
ENTRY int nvrtcGetProgramLogSize(void* program, size_t* size) {
  *size = program_of(program).log.size() + 1;
  return 0;
}
ENTRY int nvrtcGetProgramLog(void* program, char* out) {
  std::memcpy(out, program_of(program).log.c_str(), program_of(program).log.size() + 1);
  return 0;
}
