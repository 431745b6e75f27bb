// What a batch of a program costs on a GPU, counted: launches, uploads, downloads, waits, and why.
//
// Comes in: a program and its launches. Goes out: a report for explain and for tests; nothing here runs.
// Counts are of a batch in which every path is taken.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "compiler/op/recipe.h"
#include "compiler/plan/device_branches.h"
#include "compiler/plan/launches.h"
#include "runtime/program.h"

namespace galatea::plan {

struct DeviceReport {
  struct LaunchLine {
    std::vector<std::string> kernels;  ///< names
    std::vector<uint32_t> lines;       ///< of the calls, ascending, each once
    size_t sites = 0;
    bool spreads = false;        ///< blocks may share a call
    bool shares_phases = false;  ///< and wait for each other there
    bool guarded = false;        ///< calls of arms among which the GPU chooses
    std::string why;
  };
  struct Transfer {
    std::string what, why;
    uint32_t line = 0;
  };
  /// A branch on a condition that the GPU computes.
  struct Branch {
    uint32_t line = 0;
    size_t arms = 2;
    bool waits = false;
    std::string why;                     ///< it waits
    std::vector<std::string> if_failed;  ///< operators in its arms: where a check of theirs fails, it waits
  };
  bool used = false;
  std::string placement;  ///< why nodes are where they are; lines
  std::vector<LaunchLine> launches;
  /// What an alternative makes where it is there, of samples that suit it.
  struct Offered : Transfer {
    std::vector<std::string> suited;
  };
  std::vector<Offered> decodes, reads;
  std::vector<Transfer> uploads;  ///< bytes of the samples
  std::vector<Transfer> once;     ///< uploads of a session, not of a batch
  std::vector<Transfer> downloads;
  std::vector<Transfer> waits;  ///< where samples wait for the GPU before they go on
  std::vector<Branch> branches;
  std::vector<Transfer> made_whole;  ///< tensors of which a window would do if branches waited
  bool last_waits = false;           ///< a batch is complete when the GPU is done with it
  std::vector<std::string> graphs;   ///< what may be one call of the driver, where it comes again
  size_t parameter_uploads = 0;      ///< descriptors, parameters and flags: one copy a round
};

/// By function and configuration of a native call that a device may take over.
using DeviceOffers = std::map<std::pair<std::string, std::string>, op::DeviceOffer>;
DeviceOffers offers_of(const ir::Graph& graph, const ValueTable& table);

DeviceReport report_device(const runtime::Program& program, const std::vector<Launch>& launches,
                           std::string placement, const DeviceBranches& branches, const DeviceOffers& offers,
                           const SourceMap& sources);
/// For people.
std::string to_text(const DeviceReport& report);
std::string to_json(const DeviceReport& report);

}  // namespace galatea::plan
