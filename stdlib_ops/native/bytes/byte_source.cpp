#include "stdlib_ops/native/bytes/byte_source.h"

#include <fmt/format.h>

namespace galatea::native {

Status ByteSource::read_parts(std::span<const BytesPart> parts) const {
  for (const BytesPart& part : parts) GALATEA_TRY(read(part.offset, part.to));
  return {};
}

std::unexpected<Error> damaged(const std::string& name, int64_t offset, const std::string& what) {
  return make_error(
      ErrorKind::kUser, "G0802", fmt::format("{} is damaged at byte {}: {}", name, offset, what),
      "copy or make the file again; on_error=\"skip\" goes on without records that cannot be read");
}

std::unexpected<Error> unusable(std::string message, std::string help) {
  return make_error(ErrorKind::kUser, "G0801", std::move(message), std::move(help));
}

}  // namespace galatea::native
