// A file that is there only when it is whole.
//
// Comes in: bytes. Goes out: the file, under its name from finish() on; before that it is NAME.partial, which
// goes with the object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace galatea::native {

/// What the system refused of a file that should be written: G0854.
std::unexpected<Error> cannot_write(const std::string& path, int number);

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  Status write(std::string_view bytes);
  Status write(std::span<const uint8_t> bytes) {
    return write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  int64_t size() const { return size_; }
  /// On the disk, and under its name.
  Status finish();

 private:
  OutputFile() = default;
  Status flush();
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
  std::string buffer_;
};

}  // namespace galatea::native
