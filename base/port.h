// Ports: one description of what flows through a border, whichever border it is: inputs and outputs of
// operators, what sources and native functions deliver, what a host feeds and receives.
//
// Comes in: what an operator, a source, a plug-in or a pipeline declares. Goes out: what callers are checked
// against, what is printed for people, what bindings are generated from.
//
// A port of an operator says what is accepted, so several element types and layouts may be listed, and
// nothing need be. A port of a program is *concrete*: one element type, a rank, one layout or none.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"

namespace galatea {

/// An extent that a port states: a number; a name, where extents of the same name are equal within one sample
/// ("n" boxes and "n" labels); or late, where nothing is known before the data is there.
class Extent {
 public:
  Extent() = default;  ///< late
  template <std::integral T>
  Extent(T number)
      : number_(number < 0 ? -1 : static_cast<int64_t>(number)) {}  // NOLINT: written as a number
  Extent(const char* name) : name_(name) {}                         // NOLINT: written as a name
  Extent(std::string name) : name_(std::move(name)) {}              // NOLINT

  bool is_static() const { return number_ >= 0; }
  bool is_symbolic() const { return !name_.empty(); }
  bool is_late() const { return number_ < 0 && name_.empty(); }
  int64_t number() const { return number_; }  ///< -1 unless static
  const std::string& name() const { return name_; }
  friend bool operator==(const Extent&, const Extent&) = default;

 private:
  int64_t number_ = -1;
  std::string name_;
};

struct Port {
  std::string name;
  std::string documentation;
  std::vector<std::string> layouts;  ///< named axes that are accepted ("HWC", "CHW"); empty: any
  std::vector<DType> dtypes;         ///< accepted; empty: any
  /// Letters of the axes that an operator works on; over all others of a layout it is lifted
  /// (compiler/op/lifting.h). "^F": on all but these. Empty: those that `layouts` name, or all.
  std::string axes;
  int ndim = -1;                ///< number of axes; -1: as extents and layouts say, else any
  std::vector<Extent> extents;  ///< one per axis; empty: not stated
  bool optional = false;        ///< may be left out; an output of a source that was left out has no elements
  bool any_device = false;      ///< an operator on the GPU takes it from the CPU as well
  /// An operator reads no element of it. Frames of it, which have all the same extents, lift no call; where
  /// something else does, there must be as many.
  bool extents_only = false;
  /// Data of four axes without a layout are a volume of it where it takes volumes; else they are frames.
  bool volumes_first = false;

  /// Number of axes where there is only one; else -1.
  int rank() const;
  /// One element type, and a rank that its extents fit.
  bool is_concrete() const;
  // ---- of concrete ports
  DType dtype() const { return dtypes.front(); }
  Layout layout() const { return Layout(layout_text()); }
  const std::string& layout_text() const;  ///< empty: none
  /// One per axis, -1 where only the run can tell.
  std::vector<int64_t> numbers() const;

  friend bool operator==(const Port&, const Port&) = default;
};

/// A concrete port; extents of -1 are late, no extents are all late.
Port make_port(std::string name, DType dtype, int ndim, const Layout& layout = {},
               std::span<const int64_t> extents = {});

/// "u8[?,?,3] HWC", "u8|f32[n,4]", "any[…]".
std::string to_text(const Port& port);
/// "f32[2,3]": what was delivered.
std::string type_text(DType dtype, std::span<const int64_t> extents);
/// "output 1 (label)": `word` is "input" or "output".
std::string port_text(std::string_view word, size_t index, const std::string& name);

/// Whether a tensor of this type may flow through the port; extents of -1 are not known yet and fit. Names of
/// extents are not compared.
bool accepts(const Port& port, DType dtype, std::span<const int64_t> extents);

}  // namespace galatea
