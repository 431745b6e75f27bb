// Runs one operator on one sample: type rule, scalars, checks, stages.
//
// Comes in: an operator's name, inputs, arguments. Goes out: its outputs' elements, or the message of what
// went wrong. A plain evaluator of scalar expressions stands in for the sample program; stages run in the
// stage interpreter.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/op/operator.h"
#include "compiler/op/recipe.h"

namespace galatea::ops_test {

/// A dense tensor.
struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> extents;
  Layout layout;
  std::vector<Cell> cells;

  size_t size() const { return cells.size(); }
  double operator[](size_t n) const { return cell_to_double(dtype, cells[n]); }
  int64_t integer(size_t n) const { return cell_to_int(dtype, cells[n]); }
  std::vector<double> numbers() const;
};

Tensor tensor(DType dtype, std::vector<int64_t> extents, const std::vector<double>& elements,
              Layout layout = {});
Tensor scalar(DType dtype, double value);
/// Pseudo-random elements: the full range of u8, a moderate range of other types.
Tensor random_tensor(DType dtype, std::vector<int64_t> extents, Layout layout, uint32_t seed);

/// Every operator's registry, shared by the tests; every operator that was run is remembered.
const op::Registry& registry();

class OpRun {
 public:
  explicit OpRun(std::string name);
  /// `known` says which extents the type declares (default: none but those of 0-d tensors).
  OpRun& input(Tensor value, std::vector<bool> known = {});
  /// The same with all extents declared.
  OpRun& fixed(Tensor value);
  OpRun& arg(std::string name, ir::Attr value);
  OpRun& arg(std::string name, Tensor per_sample);      ///< declared with all its extents
  OpRun& fed_arg(std::string name, Tensor per_sample);  ///< declared with none of them
  OpRun& sample(uint64_t index) {
    sample_ = index;
    return *this;
  }
  OpRun& key(uint64_t key) {
    key_ = key;
    return *this;
  }
  /// Results of native scalar functions, in order.
  OpRun& native(std::vector<int64_t> results) {
    native_results_ = std::move(results);
    return *this;
  }

  struct NativeCall {
    std::string function, config;
    std::vector<int64_t> scalars, extents;
    bool offers_window = false;
  };
  struct Outcome {
    std::string error;         ///< of the type rule
    std::string failed_check;  ///< of the sample, with its values filled in
    std::vector<ir::Type> types;
    std::vector<op::LoweredOutput::Kind> kinds;
    std::vector<Tensor> outputs;
    std::vector<NativeCall> natives;
    size_t num_stages = 0;
    bool ok() const { return error.empty() && failed_check.empty(); }
  };
  Outcome run();
  /// The outputs of a run that must succeed.
  Tensor result(size_t k = 0);
  /// The message of a run that must fail.
  std::string failure();

 private:
  struct Given {
    Tensor tensor;
    std::vector<bool> known;
  };
  ir::ValueId add_value(op::GraphBuilder& builder, const Given& given);

  std::string name_;
  std::vector<Given> inputs_;
  std::vector<std::pair<std::string, ir::Attr>> attrs_;
  std::vector<std::pair<std::string, Given>> values_;
  std::vector<int64_t> native_results_;
  uint64_t sample_ = 0, key_ = 1;
  // Of a run.
  std::map<ir::ValueId, Tensor> tensors_;
  std::vector<std::shared_ptr<op::Operator>> sources_;
};

/// Whether a message holds these words.
inline bool says(const std::string& message, const char* part) {
  return message.find(part) != std::string::npos;
}
/// |a - b| <= tolerance, element by element, with equal extents.
void expect_near(const Tensor& actual, const std::vector<double>& expected, double tolerance);
/// What kSaturate means, in double: half to even, clamp, NaN to 0.
double saturate(DType type, double value);

}  // namespace galatea::ops_test
