#include "tests/docs/markdown.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace galatea::docs {
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream in(page, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_fence(const std::string& line) { return line.starts_with("```"); }

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The cells of a row; a `\|` inside code is no border.
std::vector<std::string> row_of(const std::string& line) {
  std::vector<std::string> row;
  std::string cell;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      row.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return row;
}

}  // namespace

bool Block::has(const std::string& word) const {
  std::istringstream words(info);
  for (std::string w; words >> w;)
    if (w == word) return true;
  return false;
}

std::string Block::value(const std::string& key) const {
  std::istringstream words(info);
  for (std::string w; words >> w;)
    if (w.starts_with(key + "=")) return w.substr(key.size() + 1);
  return {};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> out = {std::string(GALATEA_SOURCE_DIR) + "/README.md"};
  for (const auto& entry : fs::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/docs"))
    if (entry.path().extension() == ".md") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Block> blocks(const fs::path& page) {
  std::vector<Block> out;
  std::string section;
  bool open = false;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    if (is_fence(line)) {
      open = !open;
      if (open)
        out.push_back(
            {.path = page.string(), .line = number, .info = line.substr(3), .text = {}, .section = section});
    } else if (open) {
      out.back().text += line + "\n";
    } else if (line.starts_with("#")) {
      section = line;
    }
  }
  return out;
}

std::vector<Cell> cells(const fs::path& page) {
  std::vector<Cell> out;
  bool open = false;
  size_t column = std::string::npos;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    if (is_fence(line)) open = !open;
    if (open || !line.starts_with("|")) {
      column = std::string::npos;
      continue;
    }
    const std::vector<std::string> row = row_of(line);
    const auto head = std::find(row.begin(), row.end(), "galatea");
    if (head != row.end()) {
      column = static_cast<size_t>(head - row.begin());
      continue;
    }
    if (column == std::string::npos || column >= row.size()) continue;
    const std::string& cell = row[column];
    for (size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
      const size_t end = cell.find('`', at + 1);
      if (end == std::string::npos) break;
      const std::string rest = trimmed(cell.substr(end + 1));
      out.push_back(
          {page.string(), number, cell.substr(at + 1, end - at - 1), rest.starts_with("(not yet)")});
      at = end + 1;
    }
  }
  return out;
}

void replace_block(const fs::path& page, int line, const std::string& text) {
  const std::vector<std::string> lines = lines_of(page);
  std::ofstream out(page, std::ios::binary);
  bool inside = false;
  int number = 0;
  for (const std::string& each : lines) {
    ++number;
    if (inside && is_fence(each)) inside = false;
    if (!inside) out << each << "\n";
    if (number == line) {
      inside = true;
      out << text;
    }
  }
}

}  // namespace galatea::docs
