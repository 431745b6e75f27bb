#include "stdlib_ops/native/fed_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/scalar_op.h"
#include "stdlib_ops/native/far/address.h"

namespace galatea::native {
namespace {

/// The longest name that Linux opens.
constexpr size_t kMostLetters = 4096;

/// What a thread looked at last.
struct LookedAt {
  std::shared_ptr<const ByteSource> file;
};
constexpr char kLookedAt = 0;  ///< its address is the key

std::shared_ptr<LookedAt> looked_at(runtime::NativeContext& context) {
  return std::static_pointer_cast<LookedAt>(
      context.thread_object(&kLookedAt, [] { return std::make_shared<LookedAt>(); }));
}

Status file_size(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, look_at_fed_file(context, context.inputs[0]));
  context.scalar_results[0] = cell_from_int(DType::kI64, file->size());
  return {};
}

Status file_read(runtime::NativeContext& context) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, fed_file(context, context.inputs[0]));
  return file->read(0, {context.output->data, static_cast<size_t>(context.output->extents[0])});
}

}  // namespace

Result<std::string> name_of_fed_file(const runtime::Tensor& tensor) {
  std::vector<uint8_t> copy;
  const std::span<const uint8_t> bytes = bytes_of_input(tensor, copy);
  const std::string written(bytes.begin(), std::ranges::find(bytes, uint8_t{0}));
  std::string name(far::path_of_address(written));
  if (name.empty()) return unusable("the name of a file is empty", "give its bytes, as np.frombuffer does");
  if (name.size() >= kMostLetters)
    return unusable(fmt::format("the name of a file has {} bytes", name.size()),
                    fmt::format("a name has less than {}: is it the file's content?", kMostLetters));
  return name;
}

int64_t bytes_of_copy(const runtime::Tensor& tensor) { return tensor.is_dense() ? 0 : tensor.num_bytes(); }

std::span<const uint8_t> bytes_of_input(const runtime::Tensor& tensor, std::vector<uint8_t>& copy) {
  if (!tensor.is_dense()) {
    copy.resize(static_cast<size_t>(tensor.num_bytes()));
    runtime::copy_dense(tensor, copy.data());
    return copy;
  }
  return {tensor.data, static_cast<size_t>(tensor.num_bytes())};
}

Result<std::shared_ptr<const ByteSource>> look_at_fed_file(runtime::NativeContext& context,
                                                           const runtime::Tensor& name) {
  GALATEA_ASSIGN(const std::string path, name_of_fed_file(name));
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_file(path));
  looked_at(context)->file = file;
  return file;
}

Result<std::shared_ptr<const ByteSource>> fed_file(runtime::NativeContext& context,
                                                   const runtime::Tensor& name) {
  GALATEA_ASSIGN(const std::string path, name_of_fed_file(name));
  // It is let go here: no file stays open behind its sample.
  if (auto last = std::exchange(looked_at(context)->file, nullptr); last && last->name() == path) return last;
  return open_file(path);
}

std::vector<runtime::NativeFunction> fed_file_functions() {
  return {{.name = kFileSize, .category = "read", .prepare = {}, .call = file_size},
          {.name = kFileRead, .category = "read", .prepare = {}, .call = file_read}};
}

}  // namespace galatea::native
