// Runs code objects on the processor that it was compiled for; see wire.h.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/aarch64/wire.h"

namespace {

using galatea::runtime::kBufferAlignment;
using galatea::runtime::KernelCall;
using galatea::runtime::KernelFunction;
using galatea::runtime::KernelTensor;
using galatea::testing::RequestHeader;
using galatea::testing::TensorHeader;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "aarch64 runner: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

/// False at the end of the input, which may only be where a request could begin.
bool read_all(void* to, size_t size, bool may_end = false) {
  auto* bytes = static_cast<char*>(to);
  for (size_t done = 0; done < size;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 && done == 0 && may_end) return false;
    if (got <= 0) fail("reading a request");
    done += static_cast<size_t>(got);
  }
  return true;
}

void write_all(const void* from, size_t size) {
  const auto* bytes = static_cast<const char*>(from);
  for (size_t done = 0; done < size;) {
    const ssize_t put = ::write(STDOUT_FILENO, bytes + done, size - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("writing an answer");
    done += static_cast<size_t>(put);
  }
}

/// Memory whose first byte has the alignment asked for and not more.
class Block {
 public:
  Block(size_t size, size_t misalignment) : storage_(size + 2 * kBufferAlignment) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    start_ =
        storage_.data() + (kBufferAlignment - address % kBufferAlignment) % kBufferAlignment + misalignment;
  }
  uint8_t* start() const { return start_; }

 private:
  std::vector<uint8_t> storage_;
  uint8_t* start_;
};

/// Code at an address that is aligned to 64 bytes and not to a page, as the product's loader may place it.
class Code {
 public:
  Code(size_t size, size_t offset) : size_(size + offset) {
    start_ = static_cast<uint8_t*>(
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED) fail("mapping code");
    code_ = start_ + offset;
    read_all(code_, size);
    if (::mprotect(start_, size_, PROT_READ | PROT_EXEC) != 0) fail("making code executable");
    __builtin___clear_cache(reinterpret_cast<char*>(start_), reinterpret_cast<char*>(start_ + size_));
  }
  ~Code() { ::munmap(start_, size_); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  KernelFunction function(size_t entry) const {
    return reinterpret_cast<KernelFunction>(reinterpret_cast<uintptr_t>(code_ + entry));
  }

 private:
  size_t size_;
  uint8_t *start_, *code_;
};

void answer(const RequestHeader& request) {
  const Code code(request.code_bytes, 64);
  std::vector<uint64_t> params(request.params + 1);
  read_all(params.data(), request.params * sizeof(uint64_t));
  std::vector<TensorHeader> headers;
  std::vector<Block> blocks;
  std::vector<KernelTensor> tensors;
  for (uint64_t i = 0; i < request.tensors; ++i) {
    TensorHeader header;
    read_all(&header, sizeof(header));
    blocks.emplace_back(header.block_bytes, header.misalignment);
    read_all(blocks.back().start(), header.block_bytes);
    KernelTensor tensor;
    tensor.data = blocks.back().start() + header.origin;
    std::memcpy(tensor.extents, header.extents, sizeof(tensor.extents));
    std::memcpy(tensor.strides, header.strides, sizeof(tensor.strides));
    tensors.push_back(tensor);
    headers.push_back(header);
  }
  const Block scratch(request.scratch_bytes, 0);
  std::memset(scratch.start(), 0xA5, request.scratch_bytes);
  uint32_t status = 0;
  const KernelCall call{tensors.data(), params.data(), scratch.start(), &status};
  code.function(request.entry)(&call);
  write_all(&status, sizeof(status));
  for (size_t i = 0; i < blocks.size(); ++i) write_all(blocks[i].start(), headers[i].block_bytes);
}

}  // namespace

int main() {
  RequestHeader request;
  while (read_all(&request, sizeof(request), true)) answer(request);
  return 0;
}
