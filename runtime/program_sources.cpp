// The source map that a program carries in its locations: each file holds the known lines, and empty ones
// between them.
#include <algorithm>
#include <map>

#include "runtime/program.h"

namespace galatea::runtime {
namespace {

constexpr uint32_t kMaxLine = 1'000'000;

/// Files in the order in which locations first name them; per file, line → text.
struct FileLines {
  std::vector<std::string> names;
  std::map<std::string, uint32_t> ids;
  std::vector<std::map<uint32_t, std::string>> lines;

  explicit FileLines(const Program& program) {
    for (const Location& location : program.locations) {
      if (location.file.empty() || location.line == 0 || location.line > kMaxLine) continue;
      auto [at, is_new] = ids.emplace(location.file, static_cast<uint32_t>(names.size()) + 1);
      if (is_new) {
        names.push_back(location.file);
        lines.emplace_back();
      }
      std::string& text = lines[at->second - 1][location.line];
      if (text.empty()) text = location.text;
    }
  }
};

/// Byte offset of a column (characters from 1) in a line.
uint32_t byte_of_column(std::string_view line, uint32_t column) {
  uint32_t byte = 0;
  for (uint32_t character = 1; character < column && byte < line.size(); ++character) {
    ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0) == 0x80) ++byte;
  }
  return byte;
}

}  // namespace

SourceMap sources_of(const Program& program) {
  FileLines files(program);
  SourceMap map;
  for (size_t i = 0; i < files.names.size(); ++i) {
    std::string text;
    uint32_t current = 1;
    for (const auto& [line, content] : files.lines[i]) {
      text.append(line - current, '\n');
      text += content;
      current = line;
    }
    map.add(files.names[i], std::move(text));
  }
  return map;
}

std::vector<Span> location_spans(const Program& program) {
  FileLines files(program);
  // Offset of each known line in the text that sources_of() makes.
  std::vector<std::map<uint32_t, uint32_t>> offsets(files.names.size());
  for (size_t i = 0; i < files.names.size(); ++i) {
    uint32_t offset = 0, current = 1;
    for (const auto& [line, content] : files.lines[i]) {
      offset += line - current;
      offsets[i][line] = offset;
      offset += static_cast<uint32_t>(content.size());
      current = line;
    }
  }
  std::vector<Span> spans;
  for (const Location& location : program.locations) {
    auto file = files.ids.find(location.file);
    if (file == files.ids.end() || location.line == 0 || location.line > kMaxLine) {
      spans.emplace_back();
      continue;
    }
    const std::string& text = files.lines[file->second - 1][location.line];
    uint32_t line_begin = offsets[file->second - 1][location.line];
    uint32_t begin = byte_of_column(text, location.column);
    // A place of several lines is shown by its first one.
    uint32_t end = location.end_line == location.line ? byte_of_column(text, location.end_column)
                                                      : static_cast<uint32_t>(text.size());
    spans.push_back({file->second, line_begin + begin, line_begin + std::max(begin, end)});
  }
  return spans;
}

}  // namespace galatea::runtime
