// What comes from outside the compiler is compared with its port where it is delivered: every sample of every
// source and native function, and every tensor that a host feeds.
//
// Comes in: the ports that a program was compiled for, and the type of what is delivered. Goes out: nothing,
// or what is wrong, in words. Kernels are compiled for what the ports say, so nothing else may reach them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/port.h"

namespace galatea::runtime {

/// Concrete ports, in the form in which a delivery is compared with them.
class DeliveryPorts {
 public:
  DeliveryPorts() = default;
  explicit DeliveryPorts(std::vector<Port> ports);
  size_t size() const { return ports_.size(); }
  const Port& operator[](size_t port) const { return ports_[port]; }

 private:
  friend class Delivery;
  struct Expected {
    DType dtype = DType::kU8;
    std::vector<int64_t> extents;  ///< a number; -1: any; -2 - s: what symbol s is in this sample
  };
  std::vector<Port> ports_;
  std::vector<Expected> expected_;
  size_t num_symbols_ = 0;
};

/// What one sample is given, output by output. Used again for sample after sample: a delivery that fits
/// allocates nothing.
class Delivery {
 public:
  /// `ports` must outlive the delivery.
  void begin(const DeliveryPorts& ports);
  /// Notes that port `k` is delivered so. What is wrong with that, or "".
  std::string take(int64_t k, DType dtype, std::span<const int64_t> extents);
  /// Whether port `k` was delivered.
  bool has(size_t k) const { return taken_[k]; }
  /// Extents of an optional output that was left out: 0 where they are late, so that it has no elements.
  std::vector<int64_t> extents_of_nothing(size_t k) const;

 private:
  const DeliveryPorts* ports_ = nullptr;
  std::vector<bool> taken_;
  std::vector<int64_t> symbols_;  ///< -1: not met yet
};

}  // namespace galatea::runtime
