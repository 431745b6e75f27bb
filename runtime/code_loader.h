// Machine code into memory: bytes that need no linking become functions that can be called.
//
// Comes in: code objects, as code generation made them or as the program cache kept them. Goes out:
// KernelCode. All objects of one call share one mapping, which is written first and executable afterwards,
// never both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/program.h"

namespace galatea::runtime {

/// One function of type KernelFunction with its constants: position-independent, without symbols and
/// relocations.
struct CodeObject {
  std::string bytes;
  uint64_t entry = 0;  ///< offset of the function's first byte
  friend bool operator==(const CodeObject&, const CodeObject&) = default;
};

/// What every object's first byte is aligned to: no section of generated code asks for more.
inline constexpr uint64_t kCodeAlignment = 64;

struct NamedCode {
  const CodeObject* object = nullptr;
  std::string name;  ///< for profilers
};

/// Loads the objects, in order. Fails where this process may not have executable memory.
Result<std::vector<std::shared_ptr<const KernelCode>>> load_code(std::span<const NamedCode> objects);

}  // namespace galatea::runtime
