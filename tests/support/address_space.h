// A bound on the memory that a test may ask for.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <fstream>

#include "tests/support/cases.h"

namespace galatea::testing {

/// For as long as it lives, the process may take this much more address space, and no more: a size that was
/// believed throws, or is refused. (A sanitizer's shadow leaves no room for that.)
class AddressSpace {
 public:
  explicit AddressSpace(uint64_t more) {
    if (kSanitized) return;
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = pages * 4096 + more;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~AddressSpace() {
    if (!kSanitized) ::setrlimit(RLIMIT_AS, &before_);
  }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  rlimit before_{};
};

}  // namespace galatea::testing
