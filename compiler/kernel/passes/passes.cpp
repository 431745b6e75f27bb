// The table of kernel passes, and the runner. Read this first.
#include "compiler/kernel/passes/passes.h"

#include <algorithm>

#include "base/result.h"

namespace galatea::kernel {

const std::vector<KernelPass>& kernel_passes() {
  static const std::vector<KernelPass> kPasses = {
      {"remove_dead_stages", "drops what no output needs", remove_dead_stages},
      {"merge_equal_stages", "computes equal stages once", merge_equal_stages},
      {"simplify", "exact rewrites of expressions", simplify},
      // Before sinking, after which a band's last step is no plain sum any more.
      {"integer_bands", "windows of integer weights add integers", integer_bands},
      // Before inlining and sinking, so that both see indices in the order of the source.
      {"permute_outputs", "layout changes move into the output's order of axes", permute_outputs, true},
      // Before inlining, after which the map that takes groups apart is no load alone.
      {"regroup_bands", "bands over what was made in groups run on the groups", regroup_bands, true},
      // Before sinking, so that a chain of maps sinks as one.
      {"inline_maps", "computes maps where they are read", inline_maps, true},
      // Before sinking, which wants equal domains.
      {"narrow_producers", "computes only the window that is read", narrow_producers, true},
      {"sink_into_store", "maps become the last step of their band or reduction", sink_into_store, true},
      // Sinking brings expressions together that simplify further.
      {"simplify", "exact rewrites of expressions", simplify},
      // Once nothing moves between stages any more.
      {"tabulate", "functions of one byte become tables", tabulate, true},
      {"narrow_arithmetic", "integers are computed in as few bits as hold them", narrow_arithmetic, true},
      // Last: the passes above know nothing of what the expansions look like.
      {"expand_math", "mathematical functions become basic operations", expand_math_functions},
  };
  return kPasses;
}

namespace {

Kernel run_passes_once(Kernel kernel, const KernelPassOptions& options, bool verify_each) {
  for (const KernelPass& pass : kernel_passes()) {
    bool skipped = std::find(options.skip.begin(), options.skip.end(), pass.name) != options.skip.end() ||
                   (pass.fuses && !options.fuse);
    if (!skipped) {
      std::string before = options.on_change ? canonical_text(kernel) : std::string();
      pass.run(kernel);
      if (verify_each) {
        const Status status = verify(kernel);
        GALATEA_CHECK(status.has_value(), "after " + std::string(pass.name) + ": " +
                                              status.error().message() + "\n" + to_text(kernel));
      }
      if (options.on_change && canonical_text(kernel) != before) options.on_change(pass, kernel);
    }
    if (pass.name == options.stop_after) break;
  }
  return kernel;
}

}  // namespace

Kernel run_kernel_passes(Kernel kernel, const KernelPassOptions& options) {
  Kernel out = run_passes_once(kernel, options, options.verify_each);
  if (options.verify_each || verify(out)) return out;
  // Which one it was, a second run tells, up to what it made wrong.
  run_passes_once(std::move(kernel), options, true);
  GALATEA_CHECK(false, "passes over a kernel made two different ones of it");
  return out;
}

}  // namespace galatea::kernel
