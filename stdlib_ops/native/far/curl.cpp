#include "stdlib_ops/native/far/curl.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/fault.h"

namespace galatea::native::far {
namespace {

constexpr const char* kLibraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

std::unexpected<Error> no_curl(const std::string& why) {
  return make_error(ErrorKind::kSystem, "G0996",
                    fmt::format("libcurl, by which far data is read, cannot be used: {}", why),
                    "install it (the Debian package is libcurl4), or copy the data to this machine");
}

}  // namespace

Result<Curl> Curl::open(std::span<const char* const> names) {
  std::string why;
  need_room(kRoomOfLibraries);
  for (const char* name : names) {
    // Never unloaded: its libraries keep what they were given.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
      const char* said = dlerror();
      if (why.empty()) why = said ? said : name;
      continue;
    }
    Curl curl;
    const char* missing = nullptr;
#define GALATEA_CURL_FIND(entry)                                                       \
  curl.entry = reinterpret_cast<decltype(curl.entry)>(dlsym(library, "curl_" #entry)); \
  if (!curl.entry && !missing) missing = "curl_" #entry;
    GALATEA_CURL_ENTRIES(GALATEA_CURL_FIND)
#undef GALATEA_CURL_FIND
    if (missing) {
      why = fmt::format("{} is too old: it has no {}", name, missing);
      continue;
    }
    if (const CURLcode result = curl.global_init(CURL_GLOBAL_DEFAULT); result != CURLE_OK)
      return no_curl(curl.easy_strerror(result));
    return curl;
  }
  return no_curl(why);
}

Result<const Curl*> Curl::get() {
  static const Result<Curl> curl = open(kLibraries);
  if (!curl) return std::unexpected(curl.error());
  return &*curl;
}

}  // namespace galatea::native::far
