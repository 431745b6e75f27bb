// What a policy did to pictures: how they changed, which operations ran, with what, and what they took.
//
// Comes in: a document, pictures. Goes out: counts. What a sample went through is told by outputs of the
// pipeline itself (dsl::AugmentationRun); what an operation takes is measured on every picture with the
// operation alone.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "policy/document.h"
#include "tools/policy/over_pictures.h"

namespace galatea::tools {

/// Parameters of the runs of an operation as one number each: bits that a mask keeps, the component of a pair
/// that is not 0, the magnitude of a kernel.
struct ParameterStatistics {
  int64_t count = 0, negative = 0;  ///< `negative`: below what changes nothing
  double least = 0, most = 0, mean = 0;
  static constexpr size_t kBars = 8;
  std::array<int64_t, kBars> histogram{};  ///< equal parts from the least to the greatest
};

struct OperationStatistics {
  std::string name;
  int64_t runs = 0;
  double expected = 0;                           ///< runs on a sample, by the document
  std::optional<ParameterStatistics> parameter;  ///< of those that take a number
  std::optional<double> microseconds;            ///< of one run, where it can be had alone
};

struct PolicyStatistics {
  int64_t samples = 0, unchanged = 0, saturated = 0, empty = 0;
  double change = 0;        ///< sum of the samples' mean differences
  double microseconds = 0;  ///< in the kernels of the policy, for each sample
  std::vector<OperationStatistics> operations;
};

struct StatisticsOptions {
  std::string policy;
  Pictures pictures;
  int64_t samples = 0;
  std::string arguments;  ///< of the policy's call, in the language
};

/// nullopt: an error was reported. After an interruption: what was seen until then.
std::optional<PolicyStatistics> gather_statistics(const PipelineHost& host, const policy::Document& document,
                                                  const StatisticsOptions& options, Reporter& reporter);

/// The numbers of runs as a histogram's. For tests.
ParameterStatistics describe_parameters(const std::vector<double>& values, double neutral);

}  // namespace galatea::tools
