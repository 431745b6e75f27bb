#include "runtime/delivery.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/result.h"

namespace galatea::runtime {

DeliveryPorts::DeliveryPorts(std::vector<Port> ports) : ports_(std::move(ports)) {
  std::vector<std::string> symbols;
  for (const Port& port : ports_) {
    GALATEA_CHECK(port.is_concrete(), "a delivery to a port that is not concrete: " + to_text(port));
    Expected expected{port.dtype(), port.numbers()};
    for (size_t d = 0; d < port.extents.size(); ++d) {
      if (!port.extents[d].is_symbolic()) continue;
      const auto known = std::ranges::find(symbols, port.extents[d].name());
      expected.extents[d] = -2 - (known - symbols.begin());
      if (known == symbols.end()) symbols.push_back(port.extents[d].name());
    }
    expected_.push_back(std::move(expected));
  }
  num_symbols_ = symbols.size();
}

void Delivery::begin(const DeliveryPorts& ports) {
  ports_ = &ports;
  taken_.assign(ports.size(), false);
  symbols_.assign(ports.num_symbols_, -1);
}

std::string Delivery::take(int64_t k, DType dtype, std::span<const int64_t> extents) {
  const auto at = static_cast<size_t>(k);
  if (k < 0 || at >= ports_->size())
    return fmt::format("output {} was delivered, but there are {} outputs", k, ports_->size());
  const Port& port = ports_->ports_[at];
  if (taken_[at]) return fmt::format("{} was delivered twice", port_text("output", at, port.name));
  taken_[at] = true;
  const DeliveryPorts::Expected& expected = ports_->expected_[at];
  auto differs = [&](const std::string& why = {}) {
    return fmt::format("{} is {}, but its port is {}{}", port_text("output", at, port.name),
                       type_text(dtype, extents), to_text(port), why);
  };
  if (dtype != expected.dtype || extents.size() != expected.extents.size()) return differs();
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t wanted = expected.extents[d];
    if (extents[d] < 0 || (wanted >= 0 && wanted != extents[d])) return differs();
    if (wanted > -2) continue;
    int64_t& symbol = symbols_[static_cast<size_t>(-2 - wanted)];
    if (symbol < 0) symbol = extents[d];
    if (symbol != extents[d])
      return differs(fmt::format(", where {} is {} in this sample", port.extents[d].name(), symbol));
  }
  return {};
}

std::vector<int64_t> Delivery::extents_of_nothing(size_t k) const {
  std::vector<int64_t> extents = ports_->expected_[k].extents;
  for (int64_t& extent : extents) {
    if (extent <= -2) extent = symbols_[static_cast<size_t>(-2 - extent)];
    extent = std::max<int64_t>(extent, 0);
  }
  return extents;
}

}  // namespace galatea::runtime
