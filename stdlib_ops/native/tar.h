// Tar archives: POSIX ustar with pax headers (IEEE Std 1003.1, pax), and GNU's long names.
//
// Comes in: an archive. Goes out: its regular files, one behind the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

struct TarMember {
  std::string name;
  int64_t offset = 0;  ///< of its bytes
  int64_t size = 0;
};

class TarReader {
 public:
  explicit TarReader(const ByteSource& archive) : archive_(archive) {}
  /// The next regular file; none at the end of the archive. Folders, links and devices are passed over.
  Result<std::optional<TarMember>> next();

 private:
  Result<std::string> extension(int64_t offset, int64_t size) const;
  Status take_pax(const std::string& records, int64_t offset);

  const ByteSource& archive_;
  int64_t at_ = 0;
  // What extended headers say of the next member.
  std::optional<std::string> next_name_;
  std::optional<int64_t> next_size_;
  bool next_is_sparse_ = false;
};

}  // namespace galatea::native
