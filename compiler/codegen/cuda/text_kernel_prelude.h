// What stands between the prelude of all CUDA text (emit.h) and a user's own: tensors, the names of CUDA that
// a user's text may use, and how a block's threads run.
#pragma once

#include <string>

namespace galatea::codegen {

/// Behind a definition of GALATEA_BLOCK_X, GALATEA_BLOCK_Y and GALATEA_BLOCK_Z, and, where the text has
/// barriers, of GALATEA_BARRIERS.
const std::string& text_kernel_prelude();
/// Takes the names of the user's block away again.
const std::string& text_kernel_epilogue();

}  // namespace galatea::codegen
