// Runs a graph over a few encoded photographs, with windows pushed into it and without.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/codegen/backend.h"

namespace galatea {

/// How a graph is compiled.
struct RegionRun {
  codegen::KernelBackend* backend = nullptr;
  bool fuse = true, passes = true;
  std::string options;  ///< of the pipeline: "exact=false"
};
/// Bytes of every output of every photograph: five for the first output, then five for the next. The third
/// and fourth are turned by EXIF, the fifth is a PNG. `marked` gets the number of nodes computed for a
/// window.
std::vector<std::string> run_on_photographs(const std::string& blocks, const RegionRun& how, size_t* marked);

/// `body` (block 0 behind the decoder, as text) with passes, the same on every backend: the stage
/// interpreter's bytes, with which loops and machine code must agree. `options` are the pipeline's.
std::vector<std::string> run_everywhere(const std::string& body, const std::string& options);

/// `blocks` are those of a graph in which %image is decoded at the start of block 0. Its outputs must be
/// those of the unfused stage interpreter without passes: on the loop interpreter, fused and not, and, if
/// asked for, as machine code. How many nodes are computed for a window.
size_t expect_equal_to_whole_images(const std::string& blocks, bool machine_code);

}  // namespace galatea
