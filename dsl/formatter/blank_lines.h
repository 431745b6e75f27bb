// How many empty lines stand between two lines.
#pragma once

#include <string>
#include <vector>

namespace galatea::dsl::formatter {

/// What counts about a logical line.
struct LineTraits {
  int depth = 0;
  bool own_line = false;  ///< a comment, or text kept as it is written
  bool kept = false;      ///< the latter
  bool decorator = false, function = false, is_class = false, stub = false, import = false, docstring = false;
  bool opens_block = false;
  bool continues = false;  ///< `elif`, `else`, `except`, `finally`
  bool directive_on = false;
};

/// A logical line as it is written, and the empty lines around it.
struct Block {
  LineTraits traits;
  std::string text;
  int before = 0, after = 0;
};

/// Two empty lines around functions, one around nested ones, at most what was written elsewhere.
class BlankLines {
 public:
  /// Adds a line before which the source has this many empty lines.
  void add(LineTraits traits, std::string text, int empty_lines);
  std::string text() const;

 private:
  struct Count {
    int before, after;
  };
  Count count(const LineTraits& traits, int empty_lines);
  Count count_definition(const LineTraits& traits, int before, bool user_had);
  bool follows_module_docstring(const LineTraits& traits) const;
  const LineTraits& last() const { return blocks_.back().traits; }

  std::vector<Block> blocks_;
  std::vector<LineTraits> definitions_;
  long leading_comment_ = -1;  ///< block of the first comment of those that belong to the next definition
};

}  // namespace galatea::dsl::formatter
