// Programs written by hand, once for the CPU and once for a GPU: what both deliver must be the same bytes.
//
// Comes in: a recipe that adds instructions. Goes out: two programs of one meaning. On the CPU, kernels run
// in the stage interpreter; for the GPU they are compiled as galatea does, by the fake NVRTC.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda/fake_cuda_control.h"
#include "tests/runtime/program_maker.h"

namespace galatea::testing {

/// Kernels over vectors of bytes; n is their length.
///   scale    u8[n], n, gain f32, shift f32 → u8[n] = saturate(gain x + shift)
///   add      u8[n] a, u8[n] b, n → u8[n] = a + 3 b, wrapping
///   look_up  u8[n], u8[256] table, n → u8[n]
///   divide   u8[n], n, from i64 → i64[n] = 1000 / (x - from): a division by zero where x = from
///   total    u8[n], n → i64[]: two phases or more
///   pick     u8[m], n, m, first → u8[n] = x[first + i]
///   blur     u8[h, w, 3], h, w, size, radius → u8[h, w, 3]: tables, windows, scratch
class TwinMaker : public runtime::testing::ProgramMaker {
 public:
  explicit TwinMaker(bool gpu);

  bool gpu() const { return gpu_; }
  /// A call whose output is a new tensor of the device (of the host without a GPU).
  int32_t call(const std::string& kernel, const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& params, DType dtype, const std::vector<int32_t>& extents,
               int32_t launch = -1);
  /// The same into output `output` of the batch.
  int32_t call_output(int output, const std::string& kernel, const std::vector<int32_t>& inputs,
                      const std::vector<int32_t>& params, DType dtype, const std::vector<int32_t>& extents);
  int32_t to_host(int32_t slot);
  void barrier(bool waits);
  void copy(int32_t to, int32_t from);
  int32_t extent(int32_t slot, int axis);
  /// Output of the device (of the host without a GPU).
  void device_output(const std::string& name, DType dtype, std::vector<int64_t> extents);
  /// Every `step`-th element from `first` on, `count` of them, of a vector.
  int32_t strided(int32_t slot, int32_t count, int32_t first, int64_t step);
  /// The vector of `whole` elements of which `slot` holds those from `origin` on.
  int32_t window(int32_t slot, int32_t whole, int32_t origin);
  int32_t table(const std::vector<uint8_t>& elements);
  /// if (condition) then() else otherwise().
  void branch(int32_t condition, const std::function<void()>& then, const std::function<void()>& otherwise);

 private:
  int32_t kernel(const std::string& name);
  void add_call(const std::string& name, const std::vector<int32_t>& inputs, int32_t output,
                const std::vector<int32_t>& params, int32_t launch);
  bool gpu_;
  std::vector<std::string> kernel_names_;
};

/// Adds everything but the kReturn: slots of the outputs.
using TwinRecipe = std::function<std::vector<int32_t>(TwinMaker&)>;
struct TwinProgram {
  std::shared_ptr<const runtime::Program> cpu, gpu;
};
/// A FakeCuda must be there, for NVRTC's sake.
TwinProgram make_twins(const TwinRecipe& recipe, int batch_size, int prefetch_depth = 2,
                       runtime::OnErrorPolicy on_error = runtime::OnErrorPolicy::kRaise);

/// Natives of program_maker, and "test.stretch": n bytes (config "n") that begin with the input's first one
/// and count on.
const runtime::NativeTable& twin_natives();

struct TwinDelivered {
  std::vector<std::vector<std::vector<std::vector<uint8_t>>>> outputs;  ///< [epoch][sample][output] = bytes
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::string> errors;
  friend bool operator==(const TwinDelivered&, const TwinDelivered&) = default;
};
/// Runs epochs; outputs on the device are downloaded.
TwinDelivered deliver_all(runtime::Session& session, int num_epochs);
/// What the program for the CPU gives, on one thread.
TwinDelivered judge(const TwinProgram& twins, int num_epochs);

/// A program in which every kind of instruction for a device stands, in arms and outside: inputs of the host,
/// views, windows, constants; outputs that kernels and the host make, of known and unknown extents.
TwinRecipe everything(const std::string& reader_options = "\"size\": 23");
/// The host reads what the device made, and gives it back as a parameter; only samples of odd number.
TwinRecipe round_trip(const std::string& reader_options = "\"size\": 17");

}  // namespace galatea::testing
