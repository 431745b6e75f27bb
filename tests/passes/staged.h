// Graphs of pipelines for tests of passes, from the body of their function.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"

namespace galatea::testing {

/// All operators.
inline const op::Registry& all_operators() {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  return kRegistry;
}

/// The staged graph of a pipeline whose body begins with `image`, fed bytes in HWC, and goes on with `body`;
/// the test fails where that is wrong. `imports`: lines before it.
inline std::unique_ptr<ir::Graph> staged(const std::string& body, const std::string& imports = "") {
  SourceMap sources;
  auto made = dsl::stage_pipeline("p.dali-dsl",
                                  "from galatea import fn, pipeline_def, types\n" + imports +
                                      "@pipeline_def(batch_size=4, num_threads=1, seed=3)\n"
                                      "def p():\n"
                                      "    image = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3, "
                                      "layout=\"HWC\")\n" +
                                      body,
                                  {}, all_operators(), sources);
  EXPECT_TRUE(made.ok) << render_text(made.diagnostics.front(), sources);
  return made.ok ? std::move(made.graphs.at(0)) : nullptr;
}

}  // namespace galatea::testing
