// What a cubin says about its functions.
//
// Comes in: a cubin (ELF, 64 bits). Goes out: per function the registers and the memory that a thread and a
// block take. Bytes of local memory a thread are spilled registers and arrays that are indexed at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galatea::codegen {

struct CubinFigures {
  std::string function;
  int registers = 0;   ///< a thread
  int64_t local = 0;   ///< bytes of a thread
  int64_t shared = 0;  ///< bytes of a block
  int64_t code = 0;    ///< bytes
};

/// In the order of the file; empty where it is not a cubin as NVRTC makes them.
std::vector<CubinFigures> read_cubin_figures(const std::string& cubin);

}  // namespace galatea::codegen
