// The operations that a policy may name without importing anything, and the functions from magnitude to
// parameter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/document.h"

namespace galatea::policy {

/// What an operation takes as its parameter.
enum class ParameterKind : uint8_t { kNothing, kScalar, kPairX, kPairY, kKernel, kMask };

/// What an operation works on.
enum class DataKind : uint8_t { kAny, kPictures, kSound };

struct Operation {
  std::string_view name;
  ParameterKind parameter;
  std::vector<std::string_view> extras;  ///< named arguments
  bool needs_shape;                      ///< of the image, from whoever applies the policy
  std::string_view meaning;
  std::string_view unit;  ///< of the parameter, for tables
  DataKind data = DataKind::kPictures;
};
const std::vector<Operation>& operations();
const Operation* find_operation(std::string_view name);
std::vector<std::string> operation_names();

/// What the library's operations of a policy work on; kAny: none says.
DataKind data_of(const Document& document);

/// How warps interpolate.
const std::vector<std::string>& interpolation_words();
/// What the value of an operation's argument has to be, where it is not that; empty: it is.
std::string wanted_value(const Extra& extra);

struct ParameterFunction {
  std::string_view name;
  ParameterKind gives;
  std::string_view meaning;
};
const std::vector<ParameterFunction>& parameter_functions();
const ParameterFunction* find_parameter_function(std::string_view name);

/// The magnitude at the part `t` of the way, quantised, before the sign. Float32 as the pipeline has it.
double magnitude_at(const Augmentation& augmentation, double t);
/// The magnitude of a bin.
double magnitude_of_bin(const Augmentation& augmentation, int64_t bin, int64_t bins);
/// The parameter as people read it: "±0.09", "7 bits", "1 ± 0.27".
std::string parameter_text(const Augmentation& augmentation, double magnitude);
/// "bin 9", "bins 0 to 30", "level 9 ± 0.5 of 10".
std::string magnitude_text(const Magnitude& magnitude);

}  // namespace galatea::policy
