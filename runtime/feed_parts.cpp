#include "runtime/feed_parts.h"

#include <fmt/format.h>

#include "base/scalar_op.h"
#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

/// A call that belongs to no sample: there is one result, and nothing to make.
class CountContext final : public NativeContext {
 public:
  Status allocate_output(DType, const std::vector<int64_t>&) override { return unsuited("an output"); }
  Result<uint8_t*> scratch(int64_t) override { return unsuited("scratch memory"); }
  std::shared_ptr<void> thread_object(const void*,
                                      const std::function<std::shared_ptr<void>()>& make) override {
    return make();
  }
  bool cancelled() const override { return false; }

 private:
  static std::unexpected<Error> unsuited(const char* wish) {
    return make_error(message::kBadProgram, fmt::format("a function that counts parts asks for {}", wish));
  }
};

}  // namespace

Result<int64_t> count_parts(const LoadedProgram& loaded, const ExternalInput& input, const Tensor& fed) {
  const LoadedProgram::Native& native = loaded.natives[static_cast<size_t>(input.parts)];
  Cell count{};
  CountContext context;
  context.inputs = {&fed, 1};
  context.scalar_results = {&count, 1};
  context.state = native.state.get();
  Status status = native.function.call(context);
  if (!status) {
    Error error = loaded.located(std::move(status.error()), input.location);
    if (!error.diagnostics.empty())
      error.diagnostics.front().notes.push_back(fmt::format("it was fed to '{}'", input.port.name));
    return std::unexpected(std::move(error));
  }
  const int64_t parts = cell_to_int(DType::kI64, count);
  if (parts < 1) return make_error(message::kBadProgram, fmt::format("a fed tensor is {} samples", parts));
  return parts;
}

}  // namespace galatea::runtime
