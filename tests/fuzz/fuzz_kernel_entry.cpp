// A file of the program cache, from anybody: decoding gives an object, a problem or a miss, and never reads
// outside. The first byte says how much of the rest is the key. What an entry says of a GPU's kernel fits
// that kernel, or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/codegen/cuda/device_kernel_text.h"
#include "compiler/codegen/kernel_cache.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_kernel_entry {
namespace {

/// Two inputs, two parameters.
galatea::kernel::Kernel small_kernel() {
  using galatea::DType;
  galatea::kernel::Kernel out;
  out.params = {{"n", DType::kI64}, {"gain", DType::kF32}};
  out.inputs.resize(2);
  return out;
}

void read_facts(const std::string& text) {
  using namespace galatea;  // NOLINT
  static const kernel::Kernel kKernel = small_kernel();
  const auto read = codegen::read_device_facts(text, kKernel);
  if (!read) return;
  if (!read->device || read->device->inputs < 0 || read->device->inputs > 2) std::abort();
  kernel::for_each_node(read->scratch_bytes, [](const kernel::Expr& e) {
    if (e->kind == kernel::ExprKind::kParam && (e->index < 0 || e->index > 1)) std::abort();
  });
  // What is believed is written as something that is believed.
  if (!codegen::read_device_facts(codegen::to_text(*read), kKernel)) std::abort();
}

}  // namespace

GALATEA_FUZZ_TARGET(kernel_entry, 10000)(const uint8_t* data, size_t size) {
  using namespace galatea::codegen;  // NOLINT
  if (size == 0) return;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  read_facts(rest);
  const DecodedEntry foreign = decode_entry(rest, "key");
  if (foreign.object) read_facts(foreign.object->bytes);
  if (foreign.object && (!foreign.problem.empty() || foreign.object->entry >= foreign.object->bytes.size()))
    std::abort();
  // What was written comes back; with one byte changed it does not.
  const std::string key = rest.substr(0, data[0]);
  const galatea::runtime::CodeObject object{rest + "x", size / 2};
  const std::string facts = rest.substr(rest.size() / 2);
  std::string file = encode_entry(key, object, facts);
  const DecodedEntry own = decode_entry(file, key);
  if (!own.object || !(*own.object == object) || own.facts != facts) std::abort();
  file[size % file.size()] = static_cast<char>(file[size % file.size()] ^ (1 << (data[0] % 8)));
  if (decode_entry(file, key).object || decode_entry(file, key).problem.empty()) std::abort();
}

}  // namespace galatea::fuzz::of_kernel_entry
