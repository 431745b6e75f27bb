// Options of a program for texts that Python made: where their lines come from, and arrays beside them.
#pragma once

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "binding/handles.h"

namespace galatea_python {

/// Line, column, end line, end column.
using TextRange = std::tuple<int32_t, int32_t, int32_t, int32_t>;
/// A part of the text, the name of a source, the place there.
using MadeRange = std::tuple<TextRange, std::string, TextRange>;

/// Element type, extents, row-major elements.
using Constant = std::tuple<int, std::vector<int64_t>, nb::bytes>;

void set_made_text(galatea_program_options* options, const std::map<std::string, std::string>& sources,
                   const std::vector<MadeRange>& line_map, const std::map<std::string, Constant>& constants);

}  // namespace galatea_python
