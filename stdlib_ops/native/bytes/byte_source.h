// Bytes at a place that has a name: what lies on this machine (native/bytes.h) and what is far away
// (native/far/) have in common, and the errors that both give.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace galatea::native {

/// What a container's author or writer did wrong: G0802, the user's, with the place that is damaged.
std::unexpected<Error> damaged(const std::string& name, int64_t offset, const std::string& what);
/// What cannot be opened or does not fit its arguments: G0801, the user's.
std::unexpected<Error> unusable(std::string message, std::string help = {});

/// A part of a source, and where its bytes go.
struct BytesPart {
  int64_t offset = 0;
  std::span<uint8_t> to;
};

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The path as it was given; of an address, what may be shown of it.
  const std::string& name() const { return name_; }
  /// How many bytes there are, as it was when the source was opened.
  int64_t size() const { return size_; }
  /// Fills `to` with what stands at `offset`: all of it, or an error that names the source and the place.
  virtual Status read(int64_t offset, std::span<uint8_t> to) const = 0;
  /// The same for several parts, in the order of their offsets: neighbours may come with one request.
  virtual Status read_parts(std::span<const BytesPart> parts) const;
  /// So many bytes will be read from `offset` soon. Never blocks for long, never fails.
  virtual void will_read(int64_t /*offset*/, int64_t /*bytes*/) const {}

 protected:
  int64_t size_ = 0;

 private:
  std::string name_;
};

}  // namespace galatea::native
