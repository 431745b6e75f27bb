#include "stdlib_ops/native/sample_name.h"

#include <algorithm>
#include <charconv>

#include "base/result.h"

namespace galatea::native {
namespace {

class SampleNameState final : public runtime::NativeState {
 public:
  size_t source = 0;
};

Result<std::shared_ptr<runtime::NativeState>> number_of_source(const std::string& config) {
  auto state = std::make_shared<SampleNameState>();
  const char* end = config.data() + config.size();
  const auto parsed = std::from_chars(config.data(), end, state->source);
  GALATEA_CHECK(parsed.ec == std::errc() && parsed.ptr == end, "sample.name: the source is no number");
  return state;
}

Status name_sample(runtime::NativeContext& context) {
  const std::string name = context.sample_name(static_cast<const SampleNameState*>(context.state)->source);
  GALATEA_TRY(context.allocate_output(DType::kU8, {static_cast<int64_t>(name.size())}));
  std::ranges::copy(name, context.output->data);
  return {};
}

}  // namespace

runtime::NativeFunction sample_name_function() {
  runtime::NativeFunction function;
  function.name = kSampleName;
  function.category = "read";
  function.prepare = number_of_source;
  function.call = name_sample;
  return function;
}

}  // namespace galatea::native
