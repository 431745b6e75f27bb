// What one stream is given at once: copies and launches, written down before any of them is enqueued.
//
// Comes in: addresses, sizes, functions, grids. Goes out: plain data that can be compared, and one call of
// the driver a command, or one for all of them (graph_cache.h).
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/cuda/context.h"

namespace galatea::runtime::cuda {

/// Equal commands are equal bytes.
struct Command {
  enum class Kind : uint32_t { kUpload, kDownload, kCopy, kLaunch };
  static constexpr size_t kMostWords = 4;

  Kind kind = Kind::kCopy;
  uint32_t num_blocks = 0, num_threads = 0, num_arguments = 0;  ///< of a launch
  FunctionHandle function = nullptr;
  /// A copy's target, source and bytes; a launch's arguments, and the bytes of its tensors where they count.
  std::array<uint64_t, kMostWords> words{};

  uint64_t to() const { return words[0]; }
  uint64_t from() const { return words[1]; }
  int64_t bytes() const { return static_cast<int64_t>(words[kind == Kind::kLaunch ? kMostWords - 1 : 2]); }
  friend bool operator==(const Command&, const Command&) = default;
};
static_assert(std::has_unique_object_representations_v<Command>);

/// In the order in which the stream does them.
class CommandList {
 public:
  void upload(DevicePointer to, const void* from, int64_t bytes) {
    copy_bytes(Command::Kind::kUpload, to, reinterpret_cast<uintptr_t>(from), bytes);
  }
  void download(void* to, DevicePointer from, int64_t bytes) {
    copy_bytes(Command::Kind::kDownload, reinterpret_cast<uintptr_t>(to), from, bytes);
  }
  void copy(DevicePointer to, DevicePointer from, int64_t bytes) {
    copy_bytes(Command::Kind::kCopy, to, from, bytes);
  }
  /// `arguments`: a word each, of which a kernel reads as many bytes, the low ones, as its parameter has.
  /// `bytes`: of the tensors of its calls, for CommandTimes; else 0, since launches that differ in them would
  /// be no equal commands.
  void launch(FunctionHandle function, uint32_t num_blocks, uint32_t num_threads,
              std::initializer_list<uint64_t> arguments, int64_t bytes = 0);

  std::span<const Command> commands() const { return commands_; }
  bool empty() const { return commands_.empty(); }
  void clear() { commands_.clear(); }

 private:
  void copy_bytes(Command::Kind kind, uint64_t to, uint64_t from, int64_t bytes);
  std::vector<Command> commands_;
};

/// The addresses of a launch's arguments, as the driver takes them.
class ArgumentList {
 public:
  explicit ArgumentList(const Command& launch);
  std::span<void*> list() { return std::span(list_).first(count_); }

 private:
  std::array<void*, Command::kMostWords> list_{};
  size_t count_;
};

/// A call of the driver each.
Status enqueue(const Stream& stream, std::span<const Command> commands);

}  // namespace galatea::runtime::cuda
