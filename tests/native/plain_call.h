// A call of a native function that takes no memory: its inputs, scalars and outputs are the test's.
#pragma once

#include "runtime/native.h"

namespace galatea::testing {

class PlainCall : public runtime::NativeContext {
 public:
  Status allocate_output(DType, const std::vector<int64_t>&) override { return not_expected(); }
  Result<uint8_t*> scratch(int64_t) override { return not_expected(); }
  std::shared_ptr<void> thread_object(const void*,
                                      const std::function<std::shared_ptr<void>()>& make) override {
    return make();
  }
  bool cancelled() const override { return false; }

 private:
  static std::unexpected<Error> not_expected() {
    return make_error(ErrorKind::kInternal, "G0000", "not expected");
  }
};

}  // namespace galatea::testing
