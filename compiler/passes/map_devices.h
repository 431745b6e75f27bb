// Devices as written become devices at hand.
//
// Needs: a graph as staged, whose types say where each value lies. Gives: a graph of one device, whose types
// name none, so that no other pass has to know of devices: `.gpu()` and `.cpu()` are gone, and a decoder's
// region sees through them. For a GPU every node that the text puts somewhere carries a remark (kPlacedArg):
// "gpu"; "mixed", which runs on the CPU and whose result is meant for the GPU; "cpu". Copies of a node, and
// what passes move, keep their place. A node that a pass makes has no remark: it goes where its inputs are
// (plan/placement.h), which also finds out where bytes have to move.
//
//   %b = decoders.image(%a) {device="mixed"} : u8[?,?,3] HWC gpu
//   %c = flip(%b) : u8[?,?,3] HWC gpu
//   %d = to_cpu(%c) : u8[?,?,3] HWC
//   return %d
//     ->
//   %b = decoders.image(%a) {placed="mixed"} : u8[?,?,3] HWC
//   %c = flip(%b) {placed="gpu"} : u8[?,?,3] HWC
//   return %c
//
// Considered: devices in types throughout (every pass that merges, sinks or composes would have to keep them
// right, and transfers in the graph stop regions and fusion).
#pragma once

#include "compiler/op/devices.h"

namespace galatea::passes {

/// Whether the text puts anything on a GPU.
bool names_gpu(const ir::Graph& graph);
/// `has_gpu`: false maps everything to the CPU.
op::DeviceMapping map_devices(ir::Graph& graph, bool has_gpu);

}  // namespace galatea::passes
