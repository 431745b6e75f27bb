// Makes a failing pipeline smaller while it keeps failing.
#pragma once

#include <functional>

#include "tests/pipelines/pipeline_generator.h"

namespace galatea::testing {

/// `fails` says whether a text still shows the fault; at most `tries` texts are looked at.
GeneratedPipeline shrink(GeneratedPipeline pipeline, const std::function<bool(const std::string&)>& fails,
                         int tries = 400);

}  // namespace galatea::testing
