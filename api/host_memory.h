// Memory of the host that a session reads in place, and the word to the host when it no longer does.
#pragma once

#include <memory>
#include <vector>

#include "runtime/tensor.h"

namespace galatea::api {

/// Tells the host, with its last reference, that nothing reads what it lent. Until arm() it keeps silent: a
/// feed that fails has taken nothing.
class HostLoan {
 public:
  using Release = void (*)(void* context);
  HostLoan(Release release, void* context) : release_(release), context_(context) {}
  HostLoan(const HostLoan&) = delete;
  HostLoan& operator=(const HostLoan&) = delete;
  ~HostLoan() {
    if (is_armed_ && release_) release_(context_);
  }
  /// The caller holds a reference, so that no other thread can be in the destructor.
  void arm() { is_armed_ = true; }

 private:
  Release release_;
  void* context_;
  bool is_armed_ = false;
};

/// Gives a buffer on `loan` to those tensors that kernels may read where they lie; the others, whose buffer
/// stays null, have to be copied.
void lend(std::vector<runtime::Tensor>& samples, const std::shared_ptr<HostLoan>& loan);

}  // namespace galatea::api
