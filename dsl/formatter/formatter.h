// The canonical form of a file: `galatea fmt`.
//
// In: text. Out: the same program in black's style with lines of at most 100 characters, or what is wrong
// with it. Comments are kept, the syntax tree stays the same, and formatting twice changes nothing more.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"

namespace galatea::dsl {

struct FormatResult {
  std::string text;                     ///< the canonical form; empty if there are diagnostics
  bool changed = false;                 ///< whether it differs from what came in
  std::vector<Diagnostic> diagnostics;  ///< syntax errors: the file is then not to be touched
};

/// Adds the file to `sources` for the diagnostics. Throws InternalError where the result would not mean the
/// same.
FormatResult format_source(const std::string& file_name, const std::string& text, SourceMap& sources);

/// Lines from `first` (from 0) that others stand for.
struct LineEdit {
  size_t first = 0, removed = 0;
  std::string text;  ///< whole lines
};
/// The fewest lines that turn `before` into `after`.
std::vector<LineEdit> line_edits(const std::string& before, const std::string& after);
/// A unified diff (three lines of context) that turns `before` into `after`; empty if they are equal.
std::string unified_diff(const std::string& file_name, const std::string& before, const std::string& after);

}  // namespace galatea::dsl
