// The source map that a program carries in its locations: each file holds the known lines, and empty ones
// between them. Where the host has the file itself, places point into that instead.
#include <algorithm>
#include <map>

#include "runtime/program.h"

namespace galatea::runtime {
namespace {

constexpr uint32_t kMaxLine = 1'000'000;

using Lines = std::map<uint32_t, std::string>;

bool is_known(const Place& place) { return !place.file.empty() && place.line > 0 && place.line <= kMaxLine; }

/// Files in the order in which locations first name them, with the lines that are known of them.
std::vector<std::pair<std::string, Lines>> known_lines(const Program& program) {
  std::vector<std::pair<std::string, Lines>> files;
  auto add = [&](const Place& place) {
    if (!is_known(place)) return;
    auto file = std::find_if(files.begin(), files.end(),
                             [&](const auto& candidate) { return candidate.first == place.file; });
    if (file == files.end()) file = files.insert(file, {place.file, {}});
    std::string& text = file->second[place.line];
    if (text.empty()) text = place.text;
  };
  for (const Location& location : program.locations) {
    add(location);
    for (const Location::Call& call : location.calls) add(call.place);
  }
  return files;
}

/// Id of the file in the map, if it has one of this name with these lines.
uint32_t find_file(const SourceMap& map, const std::string& name, const Lines& lines) {
  for (uint32_t id = 1; const SourceFile* file = map.file(id); ++id) {
    if (file->name() != name) continue;
    if (std::all_of(lines.begin(), lines.end(),
                    [&](const auto& line) { return file->line(line.first) == line.second; })) {
      return id;
    }
  }
  return 0;
}

std::string text_of(const Lines& lines) {
  std::string text;
  uint32_t current = 1;
  for (const auto& [line, content] : lines) {
    text.append(line - current, '\n');
    text += content;
    current = line;
  }
  return text;
}

/// Byte offset of a column (characters from 1) in a line.
uint32_t byte_of_column(std::string_view line, uint32_t column) {
  uint32_t byte = 0;
  for (uint32_t character = 1; character < column && byte < line.size(); ++character) {
    ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0) == 0x80) ++byte;
  }
  return byte;
}

Span span_of(const Place& place, uint32_t id, const SourceFile& file) {
  const std::string_view line = file.line(place.line);
  const auto line_begin = static_cast<uint32_t>(line.data() - file.text().data());
  const uint32_t begin = byte_of_column(line, place.column);
  // A place of several lines is shown by its first one.
  const uint32_t end = place.end_line == place.line ? byte_of_column(line, place.end_column)
                                                    : static_cast<uint32_t>(line.size());
  return {id, line_begin + begin, line_begin + std::max(begin, end)};
}

}  // namespace

std::vector<LocationSpans> location_spans(const Program& program, SourceMap& sources) {
  std::map<std::string, uint32_t> ids;
  for (const auto& [name, lines] : known_lines(program)) {
    uint32_t id = find_file(sources, name, lines);
    ids[name] = id != 0 ? id : sources.add(name, text_of(lines));
  }
  auto in_map = [&](const Place& place) {
    if (!is_known(place)) return Span{};
    const uint32_t id = ids[place.file];
    return span_of(place, id, *sources.file(id));
  };
  std::vector<LocationSpans> spans;
  for (const Location& location : program.locations) {
    LocationSpans& entry = spans.emplace_back(in_map(location), std::vector<CallSite>{});
    for (const Location::Call& call : location.calls)
      entry.calls.push_back({in_map(call.place), call.function});
  }
  return spans;
}

}  // namespace galatea::runtime
