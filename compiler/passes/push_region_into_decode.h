// Tensors are decoded, and computed, no further than they are read.
//
// Needs: a legal graph without dead nodes (a dead user would ask for elements). Gives: a node is marked
//   `region_from` = [values]   the outputs of the nodes that read it (views count through what reads them)
// if its definition makes its output by a native function that offers windows (op::NativeOutput::window)
// or by stages, and if the window that its readers ask for (values/windows.h) leaves something out and is known
// before the node runs. The plan asks Windows for the window again, as expressions of the sample program: a
// marked node's memory holds its window, and behaves as a view of the whole. Through marked nodes a window
// reaches the decoder: over pointwise work, resizes, merges, several readers. A node moves down in its block,
// as far as its first user lets it, where only that makes its window known in time.
//
// Never looks at operators' names: windows come from the stages' reads (access and border) and from views. A
// stage that may raise a flag (a division by zero fails the sample) is computed on its whole domain. Stands
// last: it depends on which readers are left.
//
//   %x = decode(%e) : u8[?,?,3] HWC               %x = decode(%e) {region_from=[%b]} : u8[?,?,3] HWC
//   %b = brighten(%x) : u8[?,?,3] HWC       ->    %b = brighten(%x) {region_from=[%y]} : u8[?,?,3] HWC
//   %y = crop(%b) {size=[8, 8]} : u8[8,8,3] HWC   %y = crop(%b) {size=[8, 8]} : u8[8,8,3] HWC
#pragma once

#include "compiler/passes/pass.h"
#include "compiler/values/windows.h"

namespace galatea::passes {

bool push_region_into_decode(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
