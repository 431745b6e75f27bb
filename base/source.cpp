#include "base/source.h"

#include <algorithm>

#include <fmt/core.h>

namespace galatea {

Span cover(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

LineColumn SourceFile::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto line = static_cast<uint32_t>(next - line_starts_.begin());
  uint32_t column = 1;
  for (uint32_t i = line_starts_[line - 1]; i < offset; ++i) {
    // Bytes 10xxxxxx continue a UTF-8 character.
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  }
  return {line, column};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  uint32_t begin = line_starts_[number - 1];
  uint32_t end =
      number < line_starts_.size() ? line_starts_[number] - 1 : static_cast<uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t SourceFile::offset(LineColumn at) const {
  if (at.line == 0) return 0;
  if (at.line > line_starts_.size()) return static_cast<uint32_t>(text_.size());
  const std::string_view text = line(at.line);
  size_t byte = 0;
  for (uint32_t column = 1; byte < text.size(); ++byte) {
    if ((static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80) continue;
    if (column++ >= at.column) break;
  }
  return line_starts_[at.line - 1] + static_cast<uint32_t>(byte);
}

void SourceMap::set_made_from(uint32_t id, std::vector<MadeFrom> parts) {
  if (!parts.empty()) made_from_[id] = std::move(parts);
}

Span SourceMap::resolve(Span span) const {
  const auto found = made_from_.find(span.file);
  if (found == made_from_.end()) return span;
  const MadeFrom* narrowest = nullptr;
  for (const MadeFrom& part : found->second) {
    const bool around = part.begin <= span.begin && span.begin < part.end && span.end <= part.end;
    if (around && (!narrowest || part.end - part.begin < narrowest->end - narrowest->begin))
      narrowest = &part;
  }
  return narrowest ? narrowest->place : span;
}

void SourceMap::add_all(const SourceMap& other) {
  const auto shift = static_cast<uint32_t>(files_.size());
  for (const auto& file : other.files_) add(file->name(), file->text());
  for (auto [id, parts] : other.made_from_) {
    for (MadeFrom& part : parts)
      if (part.place.valid()) part.place.file += shift;
    made_from_[id + shift] = std::move(parts);
  }
}

uint32_t SourceMap::add(std::string name, std::string text) {
  files_.push_back(std::make_unique<SourceFile>(std::move(name), std::move(text)));
  return static_cast<uint32_t>(files_.size());
}

const SourceFile* SourceMap::file(uint32_t id) const {
  return id == 0 || id > files_.size() ? nullptr : files_[id - 1].get();
}

std::string SourceMap::describe(Span given) const {
  const Span span = resolve(given);
  const SourceFile* source = file(span.file);
  if (!source) return {};
  LineColumn at = source->position(span.begin);
  return fmt::format("{}:{}:{}", source->name(), at.line, at.column);
}

}  // namespace galatea
