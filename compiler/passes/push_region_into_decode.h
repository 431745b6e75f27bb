// Images are decoded no further than they are read.
//
// Needs: a legal graph without dead nodes (a dead user would ask for pixels). Gives: every node whose
// definition makes an output by a native function that can fill a window only (NativeOutput::region) is
// marked, if all its readers' windows are known before it runs:
//   `region_from` = [values]   the outputs of the nodes that read it (views of it count through what reads
//   the views).
// The plan asks region_of() for the window, the union over these readers, as expressions of the sample
// program; the elements that they name (draws, crop positions, shapes) are computed before the decode, which
// is possible: the pass marks a node only if none of them depends on its pixels and all stand in blocks that
// dominate it. Never looks at operators' names: windows come from the stages' reads (access and border) and
// from views. Stands last: it depends on which readers are left.
//
//   %x = decode(%e) : u8[?,?,3] HWC                               %x = decode(%e) {region_from=[%y]} :
//   u8[?,?,3] HWC %y = crop(%x) {size=[8, 8]} : u8[8,8,3] HWC         ->        %y = crop(%x) {size=[8, 8]} :
//   u8[8,8,3] HWC
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

/// The remark's name: an integer list of value ids.
inline constexpr const char* kRegionFromArg = "region_from";

bool push_region_into_decode(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
