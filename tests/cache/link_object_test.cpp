// The linker of code objects, on objects of the C compiler: what it links computes what the text says, and
// what would need something at run time is refused by name.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "compiler/codegen/llvm/generate.h"
#include "runtime/code_loader.h"

namespace galatea::codegen {
namespace {

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::string refusal(const std::string& elf) {
  try {
    link_object(elf, "galatea_kernel");
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(LinkObject, ConstantsTablesAndCallsInside) {
  const runtime::CodeObject object = link_object(read(PLAIN), "galatea_kernel");
  const runtime::NamedCode named{&object, "plain"};
  auto code = runtime::load_code(std::span(&named, 1));
  ASSERT_TRUE(code) << code.error().message();
  constexpr uint32_t kWords[4] = {11, 22, 33, 44};
  const uint32_t chosen[] = {5, 23, 77 * 22, 1U << 11, 44 ^ 9, 123456, 33, 44};
  for (uint64_t n = 0; n < 8; ++n) {
    const uint64_t params[] = {n, n + 1};
    uint32_t status = 0;
    (*code)[0]->run({nullptr, params, nullptr, &status});
    EXPECT_EQ(status, chosen[n] + kWords[(n + 1) & 3]) << n;
  }
}

TEST(LinkObject, ACallOutsideIsRefusedByName) {
  EXPECT_NE(refusal(read(CALLS_OUT)).find("memcpy"), std::string::npos) << refusal(read(CALLS_OUT));
}

TEST(LinkObject, WritableDataIsRefusedByName) {
  EXPECT_NE(refusal(read(WRITES_DATA)).find(".data"), std::string::npos) << refusal(read(WRITES_DATA));
}

TEST(LinkObject, AFunctionThatIsNotThere) {
  EXPECT_THROW(link_object(read(PLAIN), "other_kernel"), InternalError);
}

TEST(LinkObject, CutOffAnywhereIsAnErrorOrTheSame) {
  const std::string whole = read(PLAIN);
  const runtime::CodeObject object = link_object(whole, "galatea_kernel");
  for (size_t length = 0; length < whole.size(); ++length) {
    try {
      EXPECT_EQ(link_object(whole.substr(0, length), "galatea_kernel"), object) << length;
    } catch (const std::exception& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

}  // namespace
}  // namespace galatea::codegen
