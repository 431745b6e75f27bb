// Instructions that call out: sources, native functions, kernels. Each is timed.
#include <algorithm>

#include "runtime/messages.h"
#include "runtime/sample_program.h"
#include "runtime/site_timer.h"

namespace galatea::runtime {

/// The runtime's side of a native call.
class FrameNativeContext final : public NativeContext {
 public:
  FrameNativeContext(Frame& frame, Worker& worker, const NativeCallSpec& spec)
      : frame_(frame), worker_(worker), spec_(spec) {}
  ~FrameNativeContext() override {
    for (int32_t block : scratch_) frame_.arena_.release(block);
  }
  FrameNativeContext(const FrameNativeContext&) = delete;
  FrameNativeContext& operator=(const FrameNativeContext&) = delete;

  Status allocate_output(DType dtype, const std::vector<int64_t>& extents) override {
    if (spec_.output < 0)
      return make_error(message::kBadProgram, "a native call without output allocates one");
    auto block = frame_.allocate_slot(spec_.output, dtype, extents);
    if (!block) return std::unexpected(std::move(block.error()));
    output = &frame_.slots_[static_cast<size_t>(spec_.output)];
    return {};
  }
  Result<uint8_t*> scratch(int64_t bytes) override {
    GALATEA_ASSIGN(int32_t block, frame_.arena_.acquire(bytes));
    scratch_.push_back(block);
    return frame_.arena_.data(block);
  }
  std::shared_ptr<void> thread_object(const void* key,
                                      const std::function<std::shared_ptr<void>()>& make) override {
    auto& object = worker_.thread_objects[key];
    if (!object) object = make();
    return object;
  }
  bool cancelled() const override {
    return worker_.cancelled && worker_.cancelled->load(std::memory_order_relaxed);
  }

 private:
  Frame& frame_;
  Worker& worker_;
  const NativeCallSpec& spec_;
  std::vector<int32_t> scratch_;
};

std::string Frame::trace_detail() const {
  if (loaded_->sources.empty()) return fmt::format("sample {}", input_.number);
  return loaded_->sources[0].samples->describe(input_.reads[0].index);
}

Status Frame::read(const Instruction& i, Worker& worker) {
  const LoadedProgram::Source& source = loaded_->sources[static_cast<size_t>(i.b)];
  SiteTimer timer(*loaded_, static_cast<size_t>(i.b), worker, worker.trace ? trace_detail() : std::string());
  const int32_t count = program_.sources[static_cast<size_t>(i.b)].num_outputs;
  return source.samples->read(
      input_.reads[i.b].index,
      [&](int k, DType dtype, const std::vector<int64_t>& extents) -> Result<Tensor*> {
        if (k < 0 || k >= count)
          return make_error(message::kBadProgram, "a reader gives more outputs than were declared");
        const int32_t slot = list(i.a + k);
        auto block = allocate_slot(slot, dtype, extents);
        if (!block) return std::unexpected(std::move(block.error()));
        return &slots_[static_cast<size_t>(slot)];
      });
}

void Frame::gather_operands(const NativeCallSpec& spec) {
  native_inputs_.clear();
  for (int32_t slot : spec.inputs) native_inputs_.push_back(slots_[static_cast<size_t>(slot)]);
  native_scalars_.clear();
  for (int32_t index : spec.scalars) native_scalars_.push_back(registers_[static_cast<size_t>(index)]);
}

int64_t Frame::working_bytes(const Instruction& i) {
  const NativeCallSpec& spec = program_.natives[static_cast<size_t>(i.a)];
  const LoadedProgram::Native& native = loaded_->natives[static_cast<size_t>(i.a)];
  if (!native.function.working_bytes) return 0;
  gather_operands(spec);
  const int64_t bytes = native.function.working_bytes(native_inputs_, native_scalars_, native.state.get());
  native_inputs_.clear();
  return bytes;
}

Status Frame::call_native(const Instruction& i, Worker& worker) {
  const NativeCallSpec& spec = program_.natives[static_cast<size_t>(i.a)];
  const LoadedProgram::Native& native = loaded_->natives[static_cast<size_t>(i.a)];
  for (int32_t slot : spec.inputs)
    if (slots_[static_cast<size_t>(slot)].memory != Memory::kHost)
      return make_error(message::kBadProgram, "a native function is given memory of the device");
  gather_operands(spec);
  if (i.on_device) {
    const Result<bool> is_there = decode_on_device(i.a);
    if (!is_there || *is_there) native_inputs_.clear();
    if (!is_there) return std::unexpected(is_there.error());
    if (*is_there) return {};
  }
  native_results_.assign(spec.scalar_results.size(), Cell{});
  Status status;
  {
    SiteTimer timer(*loaded_, loaded_->native_site(i.a), worker,
                    worker.trace ? trace_detail() : std::string());
    FrameNativeContext context(*this, worker, spec);
    context.inputs = native_inputs_;
    context.scalars = native_scalars_;
    context.scalar_results = native_results_;
    context.state = native.state.get();
    if (spec.output >= 0 && !spec.allocates) context.output = &slots_[static_cast<size_t>(spec.output)];
    status = native.function.call(context);
  }
  native_inputs_.clear();  // no reference to a fed tensor shall outlive the call
  for (size_t k = 0; k < spec.scalar_results.size(); ++k)
    registers_[static_cast<size_t>(spec.scalar_results[k])] = native_results_[k];
  return status;
}

Status Frame::call_kernel(const Instruction& i, Worker& worker) {
  const KernelCallSpec& spec = program_.kernel_calls[static_cast<size_t>(i.a)];
  kernel_tensors_.resize(spec.tensors.size());
  for (size_t k = 0; k < spec.tensors.size(); ++k) {
    const Tensor& tensor = slots_[static_cast<size_t>(spec.tensors[k])];
    if (tensor.memory != Memory::kHost)
      return make_error(message::kBadProgram, "a kernel of the host is given memory of the device");
    kernel_tensors_[k] = kernel_tensor(tensor);
  }
  kernel_params_.resize(spec.params.size());
  for (size_t k = 0; k < spec.params.size(); ++k)
    kernel_params_[k] = registers_[static_cast<size_t>(spec.params[k])].bits;
  int64_t scratch_bytes = spec.scratch_bytes >= 0 ? int_register(spec.scratch_bytes) : 0;
  if (scratch_bytes < 0) return make_error(message::kBadProgram, "a kernel asks for negative scratch memory");
  int32_t scratch = -1;
  if (scratch_bytes > 0) {
    GALATEA_ASSIGN(scratch, arena_.acquire(scratch_bytes));
  }
  uint32_t status = 0;
  {
    SiteTimer timer(*loaded_, loaded_->kernel_site(i.a), worker,
                    worker.trace ? trace_detail() : std::string());
    KernelCall call{kernel_tensors_.data(), kernel_params_.data(),
                    scratch >= 0 ? arena_.data(scratch) : nullptr, &status,
                    kCachedBatch / std::max(program_.batch_size, 1)};
    program_.kernels[static_cast<size_t>(spec.kernel)].code->run(call);
  }
  arena_.release(scratch);
  if (status & kFlagDivisionByZero) return std::unexpected(loaded_->division_error(spec, i.location));
  return {};
}

}  // namespace galatea::runtime
