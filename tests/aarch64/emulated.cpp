#include "tests/aarch64/emulated.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "tests/aarch64/wire.h"

#ifndef GALATEA_AARCH64_RUNNER
#define GALATEA_AARCH64_RUNNER ""
#define GALATEA_AARCH64_EMULATOR ""
#endif

extern char** environ;  // NOLINT

namespace galatea::testing {

std::optional<std::string> EmulatedProcessor::missing() {
  if (std::string_view(GALATEA_AARCH64_RUNNER).empty())
    return "the packages qemu-user and g++-aarch64-linux-gnu were not installed when this was configured: "
           "./dev test --aarch64";
  return std::nullopt;
}

EmulatedProcessor::EmulatedProcessor() {
  // A runner that dies is an error of the call that notices, not the end of the test.
  std::signal(SIGPIPE, SIG_IGN);
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) fail("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::string emulator = GALATEA_AARCH64_EMULATOR, runner = GALATEA_AARCH64_RUNNER;
  char* arguments[] = {emulator.data(), runner.data(), nullptr};
  const int error = ::posix_spawn(&process_, emulator.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error != 0) throw std::runtime_error(emulator + ": " + std::strerror(error));
}

EmulatedProcessor::~EmulatedProcessor() {
  ::close(to_);
  ::close(from_);
  int status = 0;
  ::waitpid(process_, &status, 0);
}

void EmulatedProcessor::fail(const std::string& what) {
  throw std::runtime_error("the emulated processor: " + what + ": " + std::strerror(errno));
}

void EmulatedProcessor::send(const void* from, size_t size) {
  const auto* bytes = static_cast<const char*>(from);
  for (size_t done = 0; done < size;) {
    const ssize_t put = ::write(to_, bytes + done, size - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("writing a request");
    done += static_cast<size_t>(put);
  }
}

void EmulatedProcessor::receive(void* to, size_t size) {
  auto* bytes = static_cast<char*>(to);
  for (size_t done = 0; done < size;) {
    const ssize_t got = ::read(from_, bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("it ended without an answer");
    done += static_cast<size_t>(got);
  }
}

void EmulatedProcessor::run(const runtime::CodeObject& code, const runtime::KernelCall& call, size_t params,
                            const std::vector<DType>& types, const std::vector<int>& ranks,
                            uint64_t scratch_bytes) {
  const RequestHeader request{code.bytes.size(), code.entry, params, types.size(), scratch_bytes};
  send(&request, sizeof(request));
  send(code.bytes.data(), code.bytes.size());
  send(call.params, params * sizeof(uint64_t));
  std::vector<std::pair<uint8_t*, uint64_t>> blocks;
  for (size_t t = 0; t < types.size(); ++t) {
    const runtime::KernelTensor& tensor = call.tensors[t];
    int64_t low = 0, high = 0;  // of the elements' offsets
    bool empty = false;
    for (int d = 0; d < ranks[t]; ++d) {
      const int64_t reach = (tensor.extents[d] - 1) * tensor.strides[d];
      (reach < 0 ? low : high) += reach;
      empty |= tensor.extents[d] <= 0;
    }
    if (empty) low = high = 0;
    const int64_t size = size_of(types[t]);
    uint8_t* first = static_cast<uint8_t*>(tensor.data) + low * size;
    TensorHeader header;
    header.block_bytes =
        static_cast<uint64_t>((high - low) * size + (empty ? 0 : size) + runtime::kBufferPadding);
    header.misalignment = reinterpret_cast<uintptr_t>(first) % runtime::kBufferAlignment;
    header.origin = static_cast<uint64_t>(-low * size);
    std::memcpy(header.extents, tensor.extents, sizeof(header.extents));
    std::memcpy(header.strides, tensor.strides, sizeof(header.strides));
    send(&header, sizeof(header));
    send(first, header.block_bytes);
    blocks.emplace_back(first, header.block_bytes);
  }
  uint32_t status = 0;
  receive(&status, sizeof(status));
  *call.status |= status;
  for (const auto& [first, size] : blocks) receive(first, size);
}

}  // namespace galatea::testing
