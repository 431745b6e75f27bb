// Runs the passes of the list: timed, dumped, verified; any may be skipped or be the last, by name.
//
// Comes in: a verified graph. Goes out: the rewritten graph and what each pass did; an internal error if the
// passes leave an illegal graph.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/trace.h"
#include "compiler/passes/pass_list.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

/// When the graph is verified (ir::verify).
enum class VerifyPasses : uint8_t {
  kNever,
  kTypesAtEnd,  ///< after every pass that changed it, but for types: these once, after the last pass
  kAfterEach,   ///< whole, after every pass that changed it: which pass was wrong is known
};

struct PassOptions {
  std::vector<std::string> skip;
  std::string stop_after;   ///< the pass after whose (last) run to stop; empty: run all
  std::string dump_folder;  ///< NN-pass.graph for every pass that changed something; empty: none (default:
                            ///< the setting GALATEA_DUMP)
  int first_dump_number = 1;
  VerifyPasses verify = VerifyPasses::kAfterEach;
  bool for_gpu = false;  ///< PassContext::for_gpu
  bool remarks = true;   ///< false: nobody reads them, and what a pass finds out for them alone is left out
  Trace* trace = nullptr;
};

/// Options as the settings say.
PassOptions default_pass_options();

struct PassReport {
  std::string name;
  bool changed = false;
  double milliseconds = 0;
  std::vector<Remark> remarks;
};

/// `table` is of this graph, and stays so.
Result<std::vector<PassReport>> run_passes(ir::Graph& graph, const op::Registry& registry,
                                           const PassOptions& options, values::SharedTable& table);
/// For those who want nothing but the graph.
Result<std::vector<PassReport>> run_passes(ir::Graph& graph, const op::Registry& registry,
                                           const PassOptions& options);

}  // namespace galatea::passes
