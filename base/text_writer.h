// Indented text for every printer.
#pragma once

#include <string>
#include <string_view>

namespace galatea {

class TextWriter {
 public:
  /// One line at the current indentation.
  void line(std::string_view text) {
    out_.append(static_cast<size_t>(2 * depth_), ' ').append(text).push_back('\n');
  }
  /// An empty line.
  void blank() { out_.push_back('\n'); }
  void indent() { ++depth_; }
  void dedent() { --depth_; }
  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  int depth_ = 0;
};

}  // namespace galatea
