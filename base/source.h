// Source files, spans in them, and where a span is in lines and columns.
//
// Comes in: texts with names. Goes out: SourceMap, which turns a Span (file, byte range) into line, column
// and text. A Span is 12 bytes and is carried by every token, AST node, value, graph node, stage and
// instruction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace galatea {

/// A byte range [begin, end) of one file; file 0 is "no file".
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both (of the same file; else the first).
Span cover(Span a, Span b);

/// A position as people count: both from 1; columns count characters (code points), not bytes.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// One text with a name.
class SourceFile {
 public:
  SourceFile(std::string name, std::string text);
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// The position of a byte offset; offsets past the end give the end.
  LineColumn position(uint32_t offset) const;
  /// The line (from 1) without its line break.
  std::string_view line(uint32_t number) const;
  /// The byte at a position; those past the end of a line or of the text give its end.
  uint32_t offset(LineColumn at) const;
  uint32_t num_lines() const { return static_cast<uint32_t>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

/// A part of a text that was made from another one, and the place there.
struct MadeFrom {
  uint32_t begin = 0, end = 0;  ///< bytes of the text
  Span place;
};

/// All files of one compilation. Files are only ever added, so ids and references stay valid.
class SourceMap {
 public:
  /// Adds a file and returns its id (from 1).
  uint32_t add(std::string name, std::string text);
  /// The file of an id, or nullptr for 0 and unknown ids.
  const SourceFile* file(uint32_t id) const;
  /// Says where parts of a text come from: resolve() then gives those places. Parts may lie in each other.
  void set_made_from(uint32_t id, std::vector<MadeFrom> parts);
  /// Where people wrote what a span names: the place of the narrowest part around it; the span itself where
  /// there is none. Whoever shows a place asks this first.
  Span resolve(Span span) const;
  /// Whether resolve() may give another span.
  bool has_made_texts() const { return !made_from_.empty(); }
  /// Adds the files of another map, which here have the same numbers if there were none before.
  void add_all(const SourceMap& other);
  /// "name:line:column" of the span's begin, or "" for an invalid span.
  std::string describe(Span span) const;

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  std::map<uint32_t, std::vector<MadeFrom>> made_from_;  ///< by file
};

}  // namespace galatea
