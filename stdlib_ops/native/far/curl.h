// libcurl, opened when the first far address is read: a machine that reads none does without it.
//
// Comes in: nothing. Goes out: its functions, or one error that names the package.
#pragma once

#include <curl/curl.h>

#include <span>
#include <string>

#include "base/result.h"

namespace galatea::native::far {

#define GALATEA_CURL_ENTRIES(entry)                                                                        \
  entry(global_init) entry(easy_init) entry(easy_setopt) entry(easy_getinfo) entry(easy_cleanup)           \
      entry(easy_reset) entry(easy_strerror) entry(multi_init) entry(multi_setopt) entry(multi_add_handle) \
          entry(multi_perform) entry(multi_poll) entry(multi_info_read) entry(multi_remove_handle)         \
              entry(multi_cleanup) entry(slist_append) entry(slist_free_all)

struct Curl {
#define GALATEA_CURL_MEMBER(name) decltype(&::curl_##name) name = nullptr;
  GALATEA_CURL_ENTRIES(GALATEA_CURL_MEMBER)
#undef GALATEA_CURL_MEMBER

  /// The one of this process. The error is the machine's (G0996).
  static Result<const Curl*> get();
  /// Looks for these names only, for tests of what is not there.
  static Result<Curl> open(std::span<const char* const> names);
};

}  // namespace galatea::native::far
