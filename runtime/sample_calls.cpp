// Instructions that call out: sources, native functions, kernels. Each is timed.
#include <algorithm>
#include <span>

#include "runtime/cancellation.h"
#include "runtime/kernel_flags.h"
#include "runtime/messages.h"
#include "runtime/sample_program.h"
#include "runtime/site_timer.h"

namespace galatea::runtime {

namespace {

/// A source may go on after an error as if there were none: the first error is the one that counts.
std::unexpected<Error> keep(std::optional<Error>& first, std::unexpected<Error> error) {
  if (!first) first = error.error();
  return error;
}

/// A kernel of the user's own asked for an element that there is not (kernel_flags.h).
Error outside_error(uint32_t status, std::span<const KernelTensor> tensors) {
  const uint32_t parameter = (status >> kParameterBit) & ((1U << (kAxisBit - kParameterBit)) - 1);
  const uint32_t axis = (status >> kAxisBit) & ((1U << (kIndexBit - kAxisBit)) - 1);
  const int32_t index = static_cast<int32_t>(status) >> kIndexBit;
  const std::string where =
      parameter >= 1 && parameter <= tensors.size()
          ? fmt::format("parameter {}, which has {} there", parameter, tensors[parameter - 1].extents[axis])
          : "a tensor of its own";
  Error error =
      make_error(message::kCheckFailed,
                 fmt::format("the kernel asks for element {} along dimension {} of {}", index, axis, where))
          .error();
  error.diagnostics.front().help =
      "leave threads out that have nothing to do: `if (y >= out.extent(0)) return;`";
  return error;
}

}  // namespace

/// The runtime's side of a native call.
class FrameNativeContext final : public NativeContext {
 public:
  FrameNativeContext(Frame& frame, Worker& worker, const NativeCallSpec& spec,
                     const LoadedProgram::Native& native)
      : frame_(frame), worker_(worker), spec_(spec) {
    if (spec.output < 0) return;
    if (spec.allocates) {
      frame.delivery_.begin(native.ports);
    } else {
      output_ = frame.slots_[static_cast<size_t>(spec.output)];
      output = &output_;
    }
  }
  ~FrameNativeContext() override {
    for (int32_t block : scratch_) frame_.arena_.release(block);
  }
  FrameNativeContext(const FrameNativeContext&) = delete;
  FrameNativeContext& operator=(const FrameNativeContext&) = delete;

  Status allocate_output(DType dtype, const std::vector<int64_t>& extents) override {
    if (!spec_.allocates) return keep(refused_, wrong("it makes an output, but has none of its own to make"));
    if (std::string why = frame_.delivery_.take(0, dtype, extents); !why.empty())
      return keep(refused_, wrong(why));
    if (auto block = frame_.allocate_slot(spec_.output, dtype, extents); !block)
      return keep(refused_, std::unexpected(std::move(block.error())));
    output_ = frame_.slots_[static_cast<size_t>(spec_.output)];
    output = &output_;
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
  std::string sample_name(size_t source) const override {
    const auto& sources = frame_.loaded_->sources;
    if (source >= sources.size()) return {};
    return sources[source].describe(frame_.input_.reads[source]);
  }

  /// What the call has delivered, behind what it says of it.
  Status check(Status status) {
    if (refused_) return std::unexpected(std::move(*refused_));
    if (!status) return status;
    if (spec_.allocates && !frame_.delivery_.has(0)) return wrong("it made no output");
    for (size_t k = 0; k < spec_.ranges.size(); ++k) {
      const int64_t value = cell_to_int(DType::kI64, scalar_results[k]);
      const auto [least, most] = spec_.ranges[k];
      if (value < least || value > most)
        return wrong(fmt::format("result {} is {}, which is not in {} … {}", k, value, least, most));
    }
    return {};
  }

 private:
  std::unexpected<Error> wrong(const std::string& why) const {
    return frame_.refuse_delivery(fmt::format("native function '{}'", spec_.function), frame_.trace_detail(),
                                  why);
  }

  Frame& frame_;
  Worker& worker_;
  const NativeCallSpec& spec_;
  Tensor output_;  ///< a copy: what becomes of it changes no type
  std::optional<Error> refused_;
  std::vector<int32_t> scratch_;
};

std::string Frame::trace_detail() const {
  if (loaded_->sources.empty()) return fmt::format("sample {}", input_.number);
  return loaded_->sources[0].describe(input_.reads[0]);
}

std::unexpected<Error> Frame::refuse_delivery(const std::string& who, const std::string& sample,
                                              const std::string& why) const {
  return make_error(message::kWrongDelivery, fmt::format("{}, {}", who, sample), why);
}

/// One sample of a source, output by output.
class Frame::Reading {
 public:
  Reading(Frame& frame, const Instruction& instruction)
      : frame_(frame),
        instruction_(instruction),
        source_(frame.loaded_->sources[static_cast<size_t>(instruction.b)]),
        place_(frame.input_.reads[instruction.b]) {
    frame.delivery_.begin(source_.ports);
    frame.delivered_.resize(source_.ports.size());
  }

  Status run() {
    const Status status =
        source_.read(place_, [this](int k, DType dtype, const std::vector<int64_t>& extents) {
          return allocate(k, dtype, extents);
        });
    if (refused_) return std::unexpected(std::move(*refused_));
    if (!status) return status;
    for (size_t k = 0; k < source_.ports.size(); ++k)
      if (!frame_.delivery_.has(k)) GALATEA_TRY(leave_out(k));
    return {};
  }

 private:
  Result<Tensor*> allocate(int k, DType dtype, std::span<const int64_t> extents) {
    if (std::string why = frame_.delivery_.take(k, dtype, extents); !why.empty())
      return keep(refused_, wrong(why));
    if (Status status = place(k, dtype, extents); !status)
      return keep(refused_, std::unexpected(std::move(status.error())));
    // A copy: whatever becomes of it changes no type.
    Tensor& tensor = frame_.delivered_[static_cast<size_t>(k)];
    tensor = frame_.slots_[static_cast<size_t>(frame_.list(instruction_.a + k))];
    return &tensor;
  }

  /// Into the batch where it is an output as it was read.
  Status place(int k, DType dtype, std::span<const int64_t> extents) {
    const int32_t slot = frame_.list(instruction_.a + k);
    const int32_t output = instruction_.c < 0 ? -1 : frame_.list(instruction_.c + k);
    if (output >= 0) {
      Tensor& made = frame_.outputs_[static_cast<size_t>(output)];
      GALATEA_ASSIGN(made, frame_.give_output(output, dtype, extents, Memory::kHost, Frame::Maker::kReader));
      frame_.set_slot(slot, made, -1);
      return {};
    }
    GALATEA_ASSIGN(const int32_t block, frame_.allocate_slot(slot, dtype, extents));
    static_cast<void>(block);  // the slot has it
    frame_.claim_.note_read(claimed_bytes(frame_.slots_[static_cast<size_t>(slot)].num_bytes()));
    return {};
  }

  Status leave_out(size_t k) {
    const Port& port = source_.ports[k];
    if (!port.optional) return wrong(port_text("output", k, port.name) + " was not delivered");
    return place(static_cast<int>(k), port.dtype(), frame_.delivery_.extents_of_nothing(k));
  }

  std::unexpected<Error> wrong(const std::string& why) const {
    return frame_.refuse_delivery(fmt::format("reader '{}'", source_.name), source_.describe(place_), why);
  }

  Frame& frame_;
  const Instruction& instruction_;
  const LoadedProgram::Source& source_;
  const ReaderLoop::Place& place_;
  std::optional<Error> refused_;
};

Status Frame::read(const Instruction& i, Worker& worker) {
  SiteTimer timer(*loaded_, static_cast<size_t>(i.b), worker, worker.trace ? trace_detail() : std::string());
  const CancelScope scope(worker.cancelled);
  return Reading(*this, i).run();
}

/// Its number, where the planner keeps it: nobody writes to what is fed.
Tensor Frame::part_of_feed(int32_t input) const {
  const int64_t extent = 1;
  Tensor number;
  number.set_dense(DType::kI64, {&extent, 1});
  number.data = reinterpret_cast<uint8_t*>(const_cast<int64_t*>(input_.feed_parts[input]));
  return number;
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
    const Result<bool> is_there = make_on_device(i.a);
    if (!is_there || *is_there) native_inputs_.clear();
    if (!is_there) return std::unexpected(is_there.error());
    if (*is_there) return {};
  }
  native_results_.assign(spec.scalar_results.size(), Cell{});
  Status status;
  {
    SiteTimer timer(*loaded_, loaded_->native_site(i.a), worker,
                    worker.trace ? trace_detail() : std::string());
    FrameNativeContext context(*this, worker, spec, native);
    context.inputs = native_inputs_;
    context.scalars = native_scalars_;
    context.scalar_results = native_results_;
    context.state = native.state.get();
    status = native.function.call(context);
    status = context.check(std::move(status));
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
  if (status & kFlagOutside)
    return std::unexpected(loaded_->located(outside_error(status, kernel_tensors_), i.location));
  return {};
}

}  // namespace galatea::runtime
