#include "base/port.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace galatea {

int Port::rank() const {
  if (ndim >= 0) return ndim;
  if (!extents.empty()) return static_cast<int>(extents.size());
  if (layouts.empty()) return -1;
  const size_t size = layouts.front().size();
  const bool is_same =
      std::ranges::all_of(layouts, [&](const auto& layout) { return layout.size() == size; });
  return is_same ? static_cast<int>(size) : -1;
}

bool Port::is_concrete() const {
  const int num_axes = rank();
  return dtypes.size() == 1 && num_axes >= 0 && layouts.size() <= 1 &&
         (layouts.empty() || static_cast<int>(layouts.front().size()) == num_axes) &&
         (extents.empty() || static_cast<int>(extents.size()) == num_axes);
}

const std::string& Port::layout_text() const {
  static const std::string none;
  return layouts.size() == 1 ? layouts.front() : none;
}

std::vector<int64_t> Port::numbers() const {
  std::vector<int64_t> out(static_cast<size_t>(std::max(0, rank())), -1);
  for (size_t d = 0; d < std::min(extents.size(), out.size()); ++d) out[d] = extents[d].number();
  return out;
}

Port make_port(std::string name, DType dtype, int ndim, const Layout& layout,
               std::span<const int64_t> extents) {
  Port port;
  port.name = std::move(name);
  port.dtypes = {dtype};
  port.ndim = ndim;
  if (!layout.empty()) port.layouts = {layout.str()};
  port.extents.assign(extents.begin(), extents.end());
  port.extents.resize(static_cast<size_t>(std::max(0, ndim)));
  return port;
}

std::string to_text(const Port& port) {
  std::string out;
  for (DType dtype : port.dtypes) out += fmt::format("{}{}", out.empty() ? "" : "|", short_name(dtype));
  if (out.empty()) out = "any";
  std::vector<std::string> axes;
  for (const Extent& extent : port.extents)
    axes.push_back(extent.is_static()     ? fmt::to_string(extent.number())
                   : extent.is_symbolic() ? extent.name()
                                          : "?");
  const int rank = port.rank();
  if (axes.empty() && rank < 0) axes = {"…"};
  if (axes.empty()) axes.assign(static_cast<size_t>(rank), "?");
  out += fmt::format("[{}]", fmt::join(axes, ","));
  if (!port.layouts.empty()) out += fmt::format(" {}", fmt::join(port.layouts, "|"));
  return out;
}

std::string type_text(DType dtype, std::span<const int64_t> extents) {
  return fmt::format("{}[{}]", short_name(dtype), fmt::join(extents, ","));
}

std::string port_text(std::string_view word, size_t index, const std::string& name) {
  return name.empty() ? fmt::format("{} {}", word, index) : fmt::format("{} {} ({})", word, index, name);
}

bool accepts(const Port& port, DType dtype, std::span<const int64_t> extents) {
  if (!port.dtypes.empty() && std::ranges::find(port.dtypes, dtype) == port.dtypes.end()) return false;
  const auto rank = static_cast<int>(extents.size());
  if (port.rank() >= 0 && port.rank() != rank) return false;
  const bool has_layout = port.layouts.empty() || std::ranges::any_of(port.layouts, [&](const auto& layout) {
                            return static_cast<int>(layout.size()) == rank;
                          });
  if (!has_layout) return false;
  for (size_t d = 0; d < std::min(port.extents.size(), extents.size()); ++d)
    if (port.extents[d].is_static() && extents[d] >= 0 && port.extents[d].number() != extents[d])
      return false;
  return true;
}

}  // namespace galatea
