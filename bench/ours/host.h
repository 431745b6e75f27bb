// What the programs that run our pipelines share: errors, clocks, compiling through the C API.
#pragma once

#include <string>
#include <vector>

#include "include/galatea.h"

namespace galatea::bench {

/// How a pipeline is compiled.
struct ProgramSettings {
  std::string file, pipeline;           ///< no pipeline: the only one of the file
  std::vector<std::string> parameters;  ///< "name=value"
  int threads = 1, batch_size = 64;
  int prefetch_depth = 0;  ///< 0: as the file says
  int64_t seed = 42;
  bool exact = true;
};

/// Ends the program with a message.
[[noreturn]] void fail(const std::string& message);
/// Ends the program with the error's text, if there is one.
void require(galatea_error* error);
/// Of all threads of this process.
double cpu_seconds();
galatea_program* compile(galatea_engine* engine, const ProgramSettings& settings);

}  // namespace galatea::bench
