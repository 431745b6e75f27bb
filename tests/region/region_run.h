// Runs a graph over a few encoded photographs, with windows pushed into it and without.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace galatea {

/// `blocks` are those of a graph in which %image is decoded at the start of block 0. Its outputs must be
/// those of the unfused stage interpreter without passes: on the loop interpreter, fused and not, and, if
/// asked for, as machine code. How many nodes are computed for a window.
size_t expect_equal_to_whole_images(const std::string& blocks, bool machine_code);

}  // namespace galatea
