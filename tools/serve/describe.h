// What the page shows in words and numbers, as JSON (docs/serve.md has the members).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tools/serve/parameters.h"
#include "tools/serve/preview.h"

namespace galatea::tools::serve {

using Json = nlohmann::ordered_json;

/// {"ok", "text", "diagnostics"}: as the terminal prints them, and as --diagnostics=json does.
Json json_of(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources);
Json json_of(const std::vector<ParameterText>& parameters);
/// Columns, samples, and the graph with its lanes.
Json json_of(const Preview& preview);
/// Kernels with what each fuses, what decodes windows only, what each operator took.
Json json_of(const Measurement& measurement, const SourceMap& sources);
/// Extents, range, mean and histogram of a tensor; with `at`, x and y, the value there.
Json json_of(const runtime::Tensor& tensor, const Layout& layout,
             std::optional<std::pair<int64_t, int64_t>> at);

}  // namespace galatea::tools::serve
