// Layouts: one letter an axis, outermost first ("HWC"); empty means unknown.
#pragma once

#include <string>
#include <string_view>

namespace galatea {

class Layout {
 public:
  Layout() = default;
  Layout(std::string_view axes) : axes_(axes) {}  // NOLINT: a layout is written as its letters
  Layout(const char* axes) : axes_(axes) {}       // NOLINT

  bool empty() const { return axes_.empty(); }
  int size() const { return static_cast<int>(axes_.size()); }
  char operator[](int axis) const { return axes_[static_cast<size_t>(axis)]; }
  /// Index of a letter, -1 if absent.
  int find(char letter) const {
    auto at = axes_.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }
  bool contains(char letter) const { return find(letter) >= 0; }
  const std::string& str() const { return axes_; }
  /// Whether the letters are the same ones in any order.
  bool is_permutation_of(const Layout& other) const;
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::string axes_;
};

}  // namespace galatea
