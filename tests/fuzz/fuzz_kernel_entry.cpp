// A file of the program cache, from anybody: decoding gives an object, a problem or a miss, and never reads
// outside. The first byte says how much of the rest is the key.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/codegen/kernel_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galatea::codegen;  // NOLINT
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const DecodedEntry foreign = decode_entry(rest, "key");
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
  return 0;
}
