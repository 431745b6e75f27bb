// nvJitLink as galatea calls it: objects of the fake NVRTC are texts, and linked they are one text for the
// host shim. What would keep real objects apart is kept apart: objects of another architecture are refused,
// and a linker older than NVRTC says so. FAKE_NVJITLINK_VERSION (12080) is what it says it is;
// FAKE_NVJITLINK_FAIL=1: it links nothing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/codegen/cuda/shim_backend.h"
#include "tests/fake_cuda/fake_object.h"

namespace {

struct FakeLink {
  int architecture = 0;
  std::string text, cubin, log;
  std::vector<const char*> names;  ///< the caller's, which the real one reads again as it links
};
FakeLink& link_of(void* handle) { return *static_cast<FakeLink*>(handle); }
constexpr int kInvalidInput = 3, kInternal = 6, kArchMismatch = 13;

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  const char* text = std::getenv("FAKE_NVJITLINK_VERSION");
  const unsigned version = text && *text ? static_cast<unsigned>(std::atoi(text)) : 12080;
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return 0;
}
ENTRY int nvJitLinkCreate(void** out, uint32_t count, const char** options) {
  auto* made = new FakeLink;
  for (uint32_t k = 0; k < count; ++k) std::sscanf(options[k], "-arch=sm_%d", &made->architecture);
  *out = made;
  return 0;
}
ENTRY int nvJitLinkDestroy(void** handle) {
  delete &link_of(*handle);
  *handle = nullptr;
  return 0;
}
ENTRY int nvJitLinkAddData(void* handle, int type, const void* data, size_t size, const char* name) {
  const std::string object(static_cast<const char*>(data), size), head = galatea::testing::kFakeObject;
  const size_t line = object.find('\n');
  if (type != 1 || !object.starts_with(head) || line == std::string::npos) {
    link_of(handle).log = std::string(name) + " is no relocatable object";
    return kInvalidInput;
  }
  if (std::atoi(object.c_str() + head.size()) != link_of(handle).architecture) {
    link_of(handle).log = std::string(name) + " is for another architecture";
    return kArchMismatch;
  }
  link_of(handle).names.push_back(name);
  // Without the zero that NVRTC counts.
  link_of(handle).text += object.substr(line + 1).c_str();
  return 0;
}
ENTRY int nvJitLinkComplete(void* handle) {
  FakeLink& link = link_of(handle);
  link.text += "// linked of";
  for (const char* name : link.names) link.text += std::string(" ") + name;
  link.text += "\n";
  const char* fails = std::getenv("FAKE_NVJITLINK_FAIL");
  if (fails && *fails == '1') {
    link.log = "fake nvJitLink: asked to fail";
    return kInternal;
  }
  const auto file = galatea::codegen::compile_shim_file(link.text);
  if (!file) {
    link.log = file.error().message();
    return kInternal;
  }
  link.cubin = "galatea-fake-cubin\nsm_" + std::to_string(link.architecture) + "\n" + file->path;
  return 0;
}
ENTRY int nvJitLinkGetLinkedCubinSize(void* handle, size_t* size) {
  *size = link_of(handle).cubin.size() + 1;
  return 0;
}
ENTRY int nvJitLinkGetLinkedCubin(void* handle, void* out) {
  std::memcpy(out, link_of(handle).cubin.c_str(), link_of(handle).cubin.size() + 1);
  return 0;
}
ENTRY int nvJitLinkGetErrorLogSize(void* handle, size_t* size) {
  *size = link_of(handle).log.size() + 1;
  return 0;
}
ENTRY int nvJitLinkGetErrorLog(void* handle, char* out) {
  std::memcpy(out, link_of(handle).log.c_str(), link_of(handle).log.size() + 1);
  return 0;
}
