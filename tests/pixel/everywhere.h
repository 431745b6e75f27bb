// Runs a text on arrays that a test feeds, on every backend, fused and not; of the targets that run here for
// one, or for all (./dev test --all).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace galatea::testing {

/// A tensor: its bytes, and its elements as numbers.
struct Array {
  DType dtype = DType::kU8;
  std::vector<int64_t> extents;
  std::vector<uint8_t> bytes;
  std::vector<double> values;
  friend bool operator==(const Array& a, const Array& b) {
    return a.dtype == b.dtype && a.extents == b.extents && a.bytes == b.bytes;
  }
};
/// Numbers of a fixed pseudo-random sequence; integers of the type, floats in [-1, 1).
Array random_array(DType dtype, std::vector<int64_t> extents, uint64_t seed);

/// Per input, one array for each sample.
using Feed = std::map<std::string, std::vector<Array>>;
/// Per output, one array for each sample.
using Outputs = std::vector<std::vector<Array>>;

/// The staged graph, or nullptr after failures of the test.
std::unique_ptr<ir::Graph> stage(const std::string& text, SourceMap& sources);
/// What the stage interpreter gives, after all other ways gave the same bits.
Outputs run_everywhere(const std::string& text, const Feed& feed);
/// What the stage interpreter gives, and no other way: for texts of which others of their kind run everywhere.
Outputs run_stages(const std::string& text, const Feed& feed);
/// The error of the run; empty where there is none.
std::string failure_of(const std::string& text, const Feed& feed);

}  // namespace galatea::testing
