// The page of a diagnostic: what it means, an example that causes it and one that does not.
//
// Comes in: docs/diagnostics/G0203.md, kept in the program. Goes out: its parts, the text of `galatea explain
// G0203`, and docs/diagnostics.md (`./dev docs` makes it).
//
// A page is Markdown: a title (`# …`), paragraphs, then `## Fails` and `## Passes`, each with one example:
//   ```python            the text of a pipeline file; checking it gives this code and nothing else, or
//                        nothing at all
//   ```console           commands, each after `$ `, and what the last one prints; files before it are
//   ```python title=…    files in the folder where the commands run (json likewise)
//   ```c                 a fragment of a host program; "Shown by the test `Suite.Name` in `path`." says where
//                        it is run
// A page of what only a test can provoke has that last line alone; one of what nothing can, "No example:
// why."
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/messages.h"

namespace galatea::tools {

enum class ExampleKind { kNone, kPipeline, kConsole, kHost };

struct Example {
  ExampleKind kind = ExampleKind::kNone;
  std::string text;  ///< without the fence, with a line break at the end
  std::vector<std::pair<std::string, std::string>> files;
};

struct PageText {
  std::string code, title;
  std::string meaning;  ///< paragraphs
  Example fails, passes;
  std::string test, test_file;  ///< "Suite.Name", path
  std::string no_example;       ///< why there is none
};

/// The pages kept in the program, in the order of their codes.
const std::vector<PageText>& page_texts();
/// The page of a code as it is kept; empty: it has none.
std::string_view page_markdown(std::string_view code);
Result<PageText> parse_page(std::string_view code, std::string_view text);
/// For a terminal: `galatea explain G0203`. The wording comes from the tables.
std::string page_for_terminal(const PageText& page, const std::vector<DiagnosticPage>& wording);
/// The wording of a table with dots for what is filled in.
std::string with_dots(std::string_view text);
/// The part of an example that a catalogue shows.
std::string example_markdown(const Example& example);

}  // namespace galatea::tools
