#include "runtime/cuda/commands.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace galatea::runtime::cuda {

namespace {

// The low bytes of a word come first.
static_assert(std::endian::native == std::endian::little);

void* pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

Status enqueue_one(const Stream& stream, const Command& command) {
  switch (command.kind) {
    case Command::Kind::kUpload:
      return stream.upload(command.to(), pointer(command.from()), command.bytes());
    case Command::Kind::kDownload:
      return stream.download(pointer(command.to()), command.from(), command.bytes());
    case Command::Kind::kCopy:
      return stream.copy(command.to(), command.from(), command.bytes());
    case Command::Kind::kLaunch:
      break;
  }
  return stream.launch(command.function, command.num_blocks, command.num_threads,
                       ArgumentList(command).list());
}

}  // namespace

void CommandList::copy_bytes(Command::Kind kind, uint64_t to, uint64_t from, int64_t bytes) {
  if (bytes == 0) return;
  Command command;
  command.kind = kind;
  command.words = {to, from, static_cast<uint64_t>(bytes)};
  commands_.push_back(command);
}

void CommandList::launch(FunctionHandle function, uint32_t num_blocks, uint32_t num_threads,
                         std::initializer_list<uint64_t> arguments, int64_t bytes) {
  assert(arguments.size() < Command::kMostWords);
  Command command;
  command.kind = Command::Kind::kLaunch;
  command.num_blocks = num_blocks;
  command.num_threads = num_threads;
  command.num_arguments = static_cast<uint32_t>(arguments.size());
  command.function = function;
  std::copy(arguments.begin(), arguments.end(), command.words.begin());
  command.words.back() = static_cast<uint64_t>(bytes);
  commands_.push_back(command);
}

ArgumentList::ArgumentList(const Command& launch) : count_(launch.num_arguments) {
  // The driver reads what the list points to, and does not write to it.
  for (size_t k = 0; k < count_; ++k) list_[k] = const_cast<uint64_t*>(&launch.words[k]);
}

Status enqueue(const Stream& stream, std::span<const Command> commands) {
  for (const Command& command : commands) GALATEA_TRY(enqueue_one(stream, command));
  return {};
}

}  // namespace galatea::runtime::cuda
