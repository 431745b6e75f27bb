// What DALI did with a pipeline text, as recorded by make_operators.py.
//
// In: data/<group>.json (the index) and data/<group>.bin (its .npy blobs).
// Out: cases of pipeline text, inputs, outputs and tolerance; a comparison that says where two arrays differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace galatea::testing {

/// One dense array in row-major order.
struct RecordedArray {
  std::string dtype;  ///< numpy's name: "uint8", "float16", "bool"
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  int64_t num_elements() const;
  /// Exact for every element type: long double holds 64-bit integers.
  long double element(int64_t index) const;
};

/// Bytes of one element; 0 for a type that no case uses.
int64_t size_of_dtype(const std::string& dtype);

enum class ToleranceKind {
  kAbsolute,  ///< |got - expected| <= tolerance
  kRelative,  ///< ... <= tolerance * max(|expected|, 0.001)
  kRange,     ///< ... <= tolerance * the largest finite |expected| of the sample
};

/// One sample of each named input or of each output is a RecordedArray; a batch is a vector of them.
struct OracleCase {
  std::string name;
  std::string text;  ///< the whole pipeline file; the pipeline is called p
  std::map<std::string, std::vector<RecordedArray>> inputs;
  std::vector<std::vector<RecordedArray>> outputs;  ///< by output, then by sample; empty if refused
  std::vector<std::string> layouts;                 ///< by output
  double tolerance = 0;
  ToleranceKind kind = ToleranceKind::kAbsolute;
  std::optional<double> mean_tolerance;  ///< bound of the mean absolute difference of a sample
  std::string why;                       ///< why the tolerance is not zero
  std::optional<std::string> refused;    ///< DALI's words, if it refuses the text or the data
};

struct OracleGroup {
  std::string dali_version;
  std::vector<OracleCase> cases;
};

/// Reads a group; the error says which file and what is wrong with it.
std::expected<OracleGroup, std::string> load_group(const std::filesystem::path& folder,
                                                   const std::string& name);

/// Reads one .npy image: version 1, little endian, C order, the types that `size_of_dtype` knows.
std::expected<RecordedArray, std::string> parse_npy(std::span<const std::byte> blob);

/// Nothing if `got` is what the case expects of that output and sample, else a line that says how it differs.
/// NaN equals NaN, and an infinity only itself.
std::optional<std::string> compare(const OracleCase& oracle_case, size_t output, size_t sample,
                                   const RecordedArray& got);

}  // namespace galatea::testing
