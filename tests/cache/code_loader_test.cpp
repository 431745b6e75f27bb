// Code objects written by hand, loaded and called.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "runtime/code_loader.h"

namespace galatea::runtime {
namespace {

/// mov rax, [rdi+24]; or dword [rax], flags; ret: sets flags in the status word.
CodeObject flag_setter(uint32_t flags, size_t before) {
  static_assert(offsetof(KernelCall, status) == 24);
  CodeObject out{std::string(before, '\xCC'), before};
  out.bytes += std::string("\x48\x8B\x47\x18\x81\x08", 6);
  for (int i = 0; i < 4; ++i) out.bytes.push_back(static_cast<char>(flags >> (8 * i)));
  out.bytes.push_back('\xC3');
  return out;
}

uint32_t flags_of(const KernelCode& code) {
  uint32_t status = 0;
  code.run({nullptr, nullptr, nullptr, &status});
  return status;
}

struct Maps {
  int ours = 0, writable_and_executable = 0;
};
/// The mappings of this process that hold `address`, and whether any is both writable and executable.
Maps maps_around(const void* address) {
  Maps out;
  std::ifstream in("/proc/self/maps");
  for (std::string line; std::getline(in, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at < begin || at >= end) continue;
    ++out.ours;
    out.writable_and_executable +=
        rights.find('w') != std::string::npos && rights.find('x') != std::string::npos;
    EXPECT_NE(rights.find('x'), std::string::npos) << line;
  }
  return out;
}

struct CodeMaps {
  size_t number = 0, bytes = 0;
};
/// The mappings of this process that hold code: what the heap asks for is none.
CodeMaps code_maps() {
  CodeMaps out;
  std::ifstream in("/proc/self/maps");
  for (std::string line; std::getline(in, line);) {
    size_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights;
    if (rights.find('x') == std::string::npos) continue;
    ++out.number;
    out.bytes += end - begin;
  }
  return out;
}

class CodeLoader : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the code of these tests is for x86-64";
#endif
  }
};

TEST_F(CodeLoader, NothingIsNothing) {
  auto code = load_code({});
  ASSERT_TRUE(code);
  EXPECT_TRUE(code->empty());
}

TEST_F(CodeLoader, AHundredObjectsShareAMapping) {
  std::vector<CodeObject> objects;
  for (uint32_t i = 0; i < 100; ++i) objects.push_back(flag_setter(i * 0x01010101, i % 70));
  std::vector<NamedCode> named;
  for (const CodeObject& object : objects) named.push_back({&object, "f"});
  const CodeMaps before = code_maps();
  auto code = load_code(named);
  ASSERT_TRUE(code) << code.error().message();
  // A hundred of less than two hundred bytes; a page for each would be 400 KiB, also where the system makes one
  // mapping of neighbours.
  const CodeMaps with = code_maps();
  EXPECT_LE(with.number, before.number + 1);
  EXPECT_LE(with.bytes, before.bytes + (size_t{64} << 10));
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(flags_of(*(*code)[i]), i * 0x01010101);
}

TEST_F(CodeLoader, CodeOutlivesItsNeighbours) {
  const CodeObject one = flag_setter(1, 0), two = flag_setter(2, 3);
  const NamedCode named[] = {{&one, "one"}, {&two, "two"}};
  auto code = load_code(named);
  ASSERT_TRUE(code);
  const std::shared_ptr<const KernelCode> last = (*code)[1];
  code->clear();
  EXPECT_EQ(flags_of(*last), 2U);
}

TEST_F(CodeLoader, AnEntryOutsideIsABug) {
  const CodeObject object{"\xC3", 1};
  const NamedCode named{&object, "f"};
  EXPECT_THROW(static_cast<void>(load_code(std::span(&named, 1))), InternalError);
}

TEST_F(CodeLoader, ThePerfMapNamesWhatIsLoaded) {
  ::setenv("GALATEA_PERF_MAP", "1", 1);
  const CodeObject object = flag_setter(4, 0);
  const NamedCode named{&object, "resize+flip"};
  auto code = load_code(std::span(&named, 1));
  ::unsetenv("GALATEA_PERF_MAP");
  ASSERT_TRUE(code);
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::ifstream in(path);
  uintptr_t address = 0;
  size_t size = 0;
  std::string name;
  in >> std::hex >> address >> size >> name;
  EXPECT_EQ(name, "galatea:resize+flip");
  EXPECT_EQ(size, object.bytes.size());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(address), size), object.bytes);
  const Maps maps = maps_around(reinterpret_cast<const void*>(address));
  EXPECT_EQ(maps.ours, 1);
  EXPECT_EQ(maps.writable_and_executable, 0);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace galatea::runtime
