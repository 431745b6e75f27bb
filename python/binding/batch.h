#pragma once

#include "binding/handles.h"

namespace galatea_python {

/// A batch of the library, which many tensors may hold.
class Batch {
 public:
  explicit Batch(galatea_batch* batch);
  /// The batch, held for the length of a call: another thread may release it meanwhile.
  std::shared_ptr<galatea_batch> get() const;
  void release() { batch_.reset(); }
  bool is_released() const { return batch_ == nullptr; }

 private:
  std::shared_ptr<galatea_batch> batch_;
  unsigned generation_;
};

}  // namespace galatea_python
