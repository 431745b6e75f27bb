// Where a call runs: `device=` if it is given, else where its inputs lie.
//
// Comes in: a call whose schema holds. Goes out: the device of its results, or the error of a call whose
// inputs lie elsewhere. The rules are DALI's: inputs are not moved silently, but for operands of arithmetic,
// constants, and what an operator takes from anywhere (Port::any_device); arguments that are data nodes
// lie on the CPU, since sizes and windows depend on them.
//
// Devices are checked as written. What becomes of them is decided later (passes/map_devices.h), so that a
// file gets the same errors on every machine.
#pragma once

#include <string>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::op {

/// Operators behind `.gpu()` and `.cpu()`.
inline constexpr std::string_view kToGpu = "to_gpu";
inline constexpr std::string_view kToCpu = "to_cpu";

Result<ir::Device> device_of_results(const ir::Graph& graph, const GraphBuilder::NodeSpec& spec);
/// The text of a node's hidden argument (kDeviceArg, kPlacedArg); empty where it has none.
std::string hidden_text(const std::vector<ir::Arg>& args, std::string_view name);

/// What a text said of devices, once its types name none (passes/map_devices.h): the plan follows it.
struct DeviceMapping {
  bool stated = false;               ///< the text puts something on a GPU: it is followed to the letter
  std::vector<bool> outputs_on_gpu;  ///< of each output, as the text says
};

}  // namespace galatea::op
