// Programs written by hand, and natives whose results are easy to predict.
//
// Sample i of "test.numbers" (config: "size", and reader options) has two outputs: u8[i % 7 + 1] filled with
// i % 251, each "repeat" times, and i64 scalar i. Its description is "number i". "bad" (list) names samples that cannot be read;
// with "knows_bytes" it says beforehand what a sample takes.
// "test.twice" allocates its output: each u8 element doubled; config "refuse": a first element that it
// refuses, "wait": it waits until cancelled, "wait_at": where a sample begins so.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory_gate.h"
#include "runtime/session.h"

namespace galatea::runtime::testing {

class ProgramMaker {
 public:
  ProgramMaker();
  Program program;

  int32_t reg() { return program.num_registers++; }
  int32_t slot() { return program.num_slots++; }
  /// Appends values to Program::lists and returns where they begin.
  int32_t list(const std::vector<int32_t>& values);
  int32_t constant(uint64_t bits);
  /// A register that holds the constant.
  int32_t value(int64_t number);
  int32_t real(double number);
  Instruction& add(Opcode op);
  int32_t scalar(ScalarOp op, DType type, std::vector<int32_t> operands, DType from = DType::kI64);
  int32_t here() const { return static_cast<int32_t>(program.code.size()); }
  /// Makes later instructions come from this line.
  void at_line(uint32_t line, const std::string& op);
  int32_t source(const std::string& config);
  /// Reads source `index`: slots of its outputs.
  std::vector<int32_t> read(int32_t index);
  int32_t native(const std::string& function, const std::string& config, const std::vector<int32_t>& inputs,
                 bool allocates);
  void check(int32_t condition, const std::string& text, const std::vector<int32_t>& values,
             const std::vector<DType>& types, const std::string& help = {});
  /// Element `element` of a slot.
  int32_t load(int32_t slot, int64_t element, DType type);
  /// A tensor of register values.
  int32_t store(DType type, const std::vector<int32_t>& extents, const std::vector<int32_t>& registers);
  void output(const std::string& name, DType dtype, std::vector<int64_t> extents);
  /// Ends the program.
  std::shared_ptr<const Program> finish(const std::vector<int32_t>& slots);

 private:
  int32_t location_ = -1;
};

/// A number of a native's configuration (JSON).
int64_t number_in(const std::string& config, const std::string& key, int64_t otherwise);
/// The natives described above.
NativeTable test_natives();
/// Calls of "test.twice" that are waiting to be cancelled.
std::atomic<int>& num_waiting();

/// A program with everything that has an effect on values: shuffled reads, a native, draws, a kernel that
/// stores into the output, a branch.
std::shared_ptr<const Program> mixed_program(int64_t size, int batch_size, int prefetch_depth,
                                             const std::string& reader_options = {},
                                             OnErrorPolicy on_error = OnErrorPolicy::kRaise);

/// Elements of one sample of one output.
std::vector<uint8_t> bytes_of(const Tensor& tensor);
template <typename T>
std::vector<T> elements_of(const Tensor& tensor) {
  std::vector<uint8_t> bytes = bytes_of(tensor);
  std::vector<T> elements(bytes.size() / sizeof(T));
  for (size_t i = 0; i < elements.size(); ++i)
    __builtin_memcpy(&elements[i], &bytes[i * sizeof(T)], sizeof(T));
  return elements;
}

/// What a session gave: per epoch, per sample (in order), the bytes of all outputs one after the other; and
/// the ids.
struct Delivered {
  std::vector<std::vector<std::vector<uint8_t>>> samples;
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<int>> batch_sizes;
  std::vector<std::string> errors;
};
Delivered deliver(Session& session, int num_epochs);

}  // namespace galatea::runtime::testing
