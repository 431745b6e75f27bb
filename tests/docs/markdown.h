// What the pages in docs/ hold for the tests: code blocks and the cells of tables.
//
// The words behind "```python galatea" say how a block is tested:
//   (nothing)      a whole file: `galatea check` accepts it
//   fragment       lines of a pipeline: they follow the lines of kPrelude, which define `encoded`, `label`
//                  and `image`
//   static         a whole file without data: CPython runs it too, and its assertions hold there as here
//   error=G0304    `galatea check` refuses it with this code, and with no other
//   file=NAME      written beside the blocks that follow in its section, for their imports; not checked by
//                  itself
// A block "```text diagnostics" repeats what `galatea check` prints for the block before it; "```text values"
// what its pipeline delivers for one sample. In a table with a column named `galatea`, the code in that
// column is an expression, checked as a fragment; `(not yet)` behind it says that the operator is missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace galatea::docs {

struct Block {
  std::string path;  ///< of the page
  int line = 0;      ///< of the opening fence
  std::string info;  ///< the words behind "```"
  std::string text;
  std::string section;  ///< the heading above it

  bool has(const std::string& word) const;
  /// The value of `key=value` among the words, or empty.
  std::string value(const std::string& key) const;
};

struct Cell {
  std::string path;
  int line = 0;
  std::string code;
  bool missing = false;  ///< marked "(not yet)"
};

/// README.md and the pages of docs/, sorted.
std::vector<std::filesystem::path> pages();
std::vector<Block> blocks(const std::filesystem::path& page);
std::vector<Cell> cells(const std::filesystem::path& page);
/// Writes `text` into the block that begins at a line of a page.
void replace_block(const std::filesystem::path& page, int line, const std::string& text);

}  // namespace galatea::docs
