// Stages that sample kernels are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"

namespace galatea::testing::sample {

using namespace galatea::kernel;

inline Expr i64(int index) { return param(index, DType::kI64); }
inline Expr f32(int index) { return param(index, DType::kF32); }
inline uint64_t bits(float value) { return cell_from_double(DType::kF32, static_cast<double>(value)).bits; }
inline uint64_t bits(double value) { return cell_from_double(DType::kF64, value).bits; }
inline uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
inline Expr in(int index, DType type, std::vector<Expr> at, Border border = Border::kNone, Cell fill = {}) {
  return load({LoadTarget::Kind::kInput, index}, type, std::move(at), border, fill);
}
inline Expr of(int stage, DType type, std::vector<Expr> at, Border border = Border::kNone) {
  return load({LoadTarget::Kind::kStage, stage}, type, std::move(at), border);
}
inline void add_params(Kernel& k, std::vector<std::pair<std::string, DType>> params) {
  for (auto& [name, type] : params) k.params.push_back({name, type});
}
inline Stage map(std::string name, DType type, std::vector<Expr> extents, Expr body) {
  Stage s;
  s.name = std::move(name);
  s.type = type;
  s.extents = std::move(extents);
  s.body = std::move(body);
  return s;
}

/// first(i) = floor((i + 0.5) * scale - reach), as a table of i32.
inline Stage first_table(std::string name, Expr width, Expr scale, Expr reach) {
  const Expr position = (convert(axis(0), DType::kF64) + const_float(0.5, DType::kF64)) * scale - reach;
  return map(std::move(name), DType::kI32, {std::move(width)},
             convert(unary(ScalarOp::kFloor, position), DType::kI32));
}
inline Stage weight_table(std::string name, DType type, Expr width, Expr taps) {
  const Expr seed = (axis(0) * const_int(7) + axis(1) * const_int(13)) % const_int(29) - const_int(9);
  Expr value = convert(seed, type);
  if (is_float(type))
    value = value * const_float(0.0371, type);
  else
    value = value * const_int(401, type);
  return map(std::move(name), type, {std::move(width), std::move(taps)}, value);
}
inline Stage band(std::string name, DType type, std::vector<Expr> extents, int along, DType accumulator,
                  Expr first, Expr taps, Expr weight, Expr source, Expr finish) {
  Stage s;
  s.form = StageForm::kBand;
  s.name = std::move(name);
  s.type = type;
  s.extents = std::move(extents);
  s.band_axis = along;
  s.accumulator = accumulator;
  s.first = std::move(first);
  s.taps = std::move(taps);
  s.weight = std::move(weight);
  s.source = std::move(source);
  s.finish = std::move(finish);
  return s;
}

}  // namespace galatea::testing::sample
