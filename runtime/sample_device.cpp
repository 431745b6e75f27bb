// Instructions of a program for a GPU: calls are recorded, host tensors that they read go up with the batch,
// and memory of the device is an address.
#include <algorithm>
#include <cstring>

#include "runtime/messages.h"
#include "runtime/sample_program.h"
#include "runtime/site_timer.h"

namespace galatea::runtime {
namespace {

uint8_t* pointer(uint64_t address) { return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)); }
uint64_t address(const uint8_t* data) { return reinterpret_cast<uintptr_t>(data); }

/// Addresses, which may leave what they began in.
uint8_t* advance(const uint8_t* data, int64_t bytes) {
  return pointer(address(data) + static_cast<uint64_t>(bytes));
}

Error malformed(const char* what) { return make_error(message::kBadProgram, what).error(); }

/// Elements that a tensor's indices reach, from its first one on.
struct Reach {
  int64_t low = 0, high = 0;  ///< [low, high)
};

Reach reach_of(const Tensor& tensor) {
  Reach out;
  for (int d = 0; d < tensor.ndim; ++d) {
    if (tensor.extents[d] == 0) return {};
    const int64_t last = (tensor.extents[d] - 1) * tensor.strides[d];
    (last < 0 ? out.low : out.high) += last;
  }
  ++out.high;
  return out;
}

/// A tensor whose rows are far apart goes up without what lies between them.
bool has_gaps(int64_t reached_bytes, int64_t dense_bytes) {
  return reached_bytes > dense_bytes + dense_bytes / 8 + 256;
}

}  // namespace

Frame::HostBytes Frame::host_bytes(const Tensor& tensor) {
  const Reach reach = reach_of(tensor);
  const int64_t size = size_of(tensor.dtype);
  return {advance(tensor.data, reach.low * size), (reach.high - reach.low) * size};
}

void Frame::retain_block(int32_t block) {
  if (block >= kDeviceBlock)
    device_arena_.retain(block - kDeviceBlock);
  else
    arena_.retain(block);
}

void Frame::release_block(int32_t block) {
  if (block >= kDeviceBlock)
    device_arena_.release(block - kDeviceBlock);
  else
    arena_.release(block);
}

void Frame::allocate_on_device(int32_t slot, DType dtype, std::span<const int64_t> extents, int64_t bytes) {
  const int32_t block = device_arena_.acquire(bytes);
  Tensor tensor;
  tensor.memory = Memory::kDevice;
  tensor.data = pointer(device_arena_.address(block));
  tensor.set_dense(dtype, extents);
  set_slot(slot, std::move(tensor), block + kDeviceBlock);
  record_.arena_bytes = device_arena_.peak_bytes();
}

/// The tensor of a slot as the device sees it.
Result<Tensor> Frame::on_device(int32_t slot) {
  const auto at = static_cast<size_t>(slot);
  const Tensor& tensor = slots_[at];
  if (tensor.memory == Memory::kDevice) return tensor;
  if (!twins_[at].data) {
    GALATEA_ASSIGN(twins_[at], upload(slot));
  }
  return twins_[at];
}

Result<Tensor> Frame::upload(int32_t slot) {
  const Tensor& tensor = slots_[static_cast<size_t>(slot)];
  Tensor out = tensor;
  out.buffer.reset();
  out.memory = Memory::kDevice;
  if (const uint64_t there = tensor.buffer ? input_.device->constant(*tensor.buffer) : 0; there != 0) {
    out.data = pointer(there + (address(tensor.data) - address(tensor.buffer->data())));
    return out;
  }
  HostBytes bytes = host_bytes(tensor);
  const HostBytes window = windows_[static_cast<size_t>(slot)];
  const bool is_partial =
      window.begin && (bytes.begin < window.begin || bytes.begin + bytes.size > window.begin + window.size);
  if (is_partial) {
    // Nobody reads the rest of it.
    uint8_t* const end = std::min(bytes.begin + bytes.size, window.begin + window.size);
    bytes.begin = std::clamp(bytes.begin, window.begin, window.begin + window.size);
    bytes.size = std::max<int64_t>(0, end - bytes.begin);
  } else if (has_gaps(bytes.size, tensor.num_bytes())) {
    GALATEA_ASSIGN(const DeviceBatch::Staged staged, input_.device->stage(tensor.num_bytes()));
    copy_dense(tensor, staged.host);
    out.set_dense(tensor.dtype, {tensor.extents, static_cast<size_t>(tensor.ndim)});
    out.data = pointer(staged.address);
    return out;
  }
  GALATEA_ASSIGN(const DeviceBatch::Staged staged, input_.device->stage(bytes.size));
  if (bytes.size > 0) std::memcpy(staged.host, bytes.begin, static_cast<size_t>(bytes.size));
  out.data = pointer(staged.address + (address(tensor.data) - address(bytes.begin)));
  return out;
}

Status Frame::record_call(const Instruction& i, Worker& worker) {
  const KernelCallSpec& spec = program_.kernel_calls[static_cast<size_t>(i.a)];
  const DeviceKernel& kernel = *program_.kernels[static_cast<size_t>(spec.kernel)].device;
  SiteTimer timer(*loaded_, loaded_->kernel_site(i.a), worker, worker.trace ? trace_detail() : std::string());
  DeviceRecord::Call call;
  call.call = i.a;
  call.location = i.location;
  call.first_tensor = static_cast<uint32_t>(record_.tensors.size());
  call.num_tensors = static_cast<uint32_t>(spec.tensors.size());
  for (size_t k = 0; k < spec.tensors.size(); ++k) {
    if (static_cast<int>(k) >= kernel.inputs &&
        slots_[static_cast<size_t>(spec.tensors[k])].memory != Memory::kDevice)
      return std::unexpected(malformed("a kernel of the device writes memory of the host"));
    GALATEA_ASSIGN(const Tensor tensor, on_device(spec.tensors[k]));
    record_.tensors.push_back(kernel_tensor(tensor));
    call.bytes += tensor.num_bytes();
  }
  call.first_param = static_cast<uint32_t>(record_.params.size());
  call.num_params = static_cast<uint32_t>(spec.params.size());
  for (const int32_t index : spec.params)
    record_.params.push_back(registers_[static_cast<size_t>(index)].bits);
  call.first_guard = static_cast<uint32_t>(record_.guards.size());
  call.num_guards = static_cast<uint32_t>(spec.guards.size());
  for (const CallGuard& guard : spec.guards) {
    const Tensor& flag = slots_[static_cast<size_t>(guard.slot)];
    if (flag.memory != Memory::kDevice || size_of(flag.dtype) != 1)
      return std::unexpected(malformed("a guard is no byte of the device"));
    record_.guards.push_back({address(flag.data), guard.wanted, guard.largest});
  }
  if (spec.scratch_bytes >= 0) call.scratch_bytes = int_register(spec.scratch_bytes);
  if (call.scratch_bytes < 0) return std::unexpected(malformed("a kernel asks for negative scratch memory"));
  if (spec.blocks >= 0) call.blocks = std::max<int64_t>(int_register(spec.blocks), 1);
  record_.calls.push_back(call);
  return {};
}

Result<bool> Frame::make_on_device(int32_t call) {
  const NativeCallSpec& spec = program_.natives[static_cast<size_t>(call)];
  const LoadedProgram::Native& native = loaded_->natives[static_cast<size_t>(call)];
  if (!input_.device || native.alternative < 0) return false;
  Tensor out = slots_[static_cast<size_t>(spec.output)];
  GALATEA_ASSIGN(
      std::optional<DeviceWork> work,
      input_.device->begin(native.alternative, {native_inputs_, native_scalars_, native.state.get(), out}));
  if (!work) return false;
  std::copy_n(work->strides.begin(), out.ndim, out.strides);
  const Reach reach = reach_of(out);
  const int64_t size = size_of(out.dtype);
  if (work->first + reach.low * size < 0 || work->first + reach.high * size > work->bytes)
    return std::unexpected(malformed("an alternative's output is not inside what it makes"));
  const int64_t offset = record_.made_bytes;
  record_.made_bytes += device_bytes(work->bytes);
  record_.made.push_back({std::move(work->job), native.alternative, offset});
  out.buffer.reset();
  out.memory = Memory::kDevice;
  out.data = pointer(virtual_memory::address(virtual_memory::kMade, offset + work->first));
  set_slot(spec.output, std::move(out), -1);
  return true;
}

Status Frame::to_host(const Instruction& i) {
  const Tensor from = slots_[static_cast<size_t>(i.a)];
  if (from.memory == Memory::kHost) {
    copy_slot(i.dst, i.a);
    return {};
  }
  const Reach reach = reach_of(from);
  const int64_t size = size_of(from.dtype), bytes = (reach.high - reach.low) * size;
  GALATEA_ASSIGN(uint8_t* to, input_.device->stage_download(bytes));
  if (bytes > 0) {
    record_.downloads.push_back({address(from.data) + static_cast<uint64_t>(reach.low * size), to, bytes});
    // Its memory shall not be another's before it was copied.
    const int32_t block = blocks_[static_cast<size_t>(i.a)];
    retain_block(block);
    downloading_.push_back(block);
  }
  Tensor out = from;
  out.buffer.reset();
  out.memory = Memory::kHost;
  out.data = advance(to, -reach.low * size);
  set_slot(i.dst, std::move(out), -1);
  downloads_.push_back(i.dst);
  return {};
}

/// An output that a kernel stored in its place is there; another tensor of the device is copied there.
Status Frame::finish_device_output(int output, const Tensor& tensor) {
  const OutputSpec& spec = program_.outputs[static_cast<size_t>(output)];
  if (!spec.on_device) return std::unexpected(malformed("an output for the host lies on the device"));
  if (!tensor.is_dense()) return std::unexpected(malformed("an output on the device is not dense"));
  Tensor& place = outputs_[static_cast<size_t>(output)];
  const std::span<const int64_t> extents{tensor.extents, static_cast<size_t>(tensor.ndim)};
  const bool is_there = place.data && place.memory == Memory::kDevice && place.data == tensor.data &&
                        place.volume() == tensor.volume();
  if (is_there && std::equal(extents.begin(), extents.end(), place.extents)) return {};
  if (!is_there && place.data && place.memory == Memory::kDevice)
    return std::unexpected(malformed("an output on the device is part of its own memory"));
  const Tensor from = tensor;
  GALATEA_ASSIGN(place, give_output(output, from.dtype, extents, Memory::kDevice));
  if (!is_there && from.num_bytes() > 0)
    record_.copies.push_back({address(from.data), address(place.data), from.num_bytes()});
  return {};
}

/// What the sample recorded is on its way, and done where the barrier waited: addresses are real ones now.
Status Frame::leave_device_barrier() {
  DeviceBatch& device = *input_.device;
  const auto resolve = [&](Tensor& tensor) {
    if (tensor.memory == Memory::kDevice && virtual_memory::holds(address(tensor.data)))
      tensor.data = pointer(device.resolve(input_.slot, address(tensor.data)));
  };
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    resolve(slots_[slot]);
    resolve(twins_[slot]);
    if (blocks_[slot] >= kDeviceBlock) blocks_[slot] = -1;
  }
  for (Tensor& output : outputs_) resolve(output);
  device_arena_.reset();
  record_.clear();
  downloading_.clear();
  const std::vector<int32_t> downloads = std::exchange(downloads_, {});
  if (!waits_for_device_) {
    downloads_ = downloads;  // a later barrier waits for them
    return {};
  }
  if (const auto failure = device.failure(input_.slot))
    return std::unexpected(loaded_->flag_error(failure->flags, failure->location));
  for (const int32_t slot : downloads)
    if (!slots_[static_cast<size_t>(slot)].is_dense()) GALATEA_TRY(make_dense(slot, slot));
  return {};
}

void Frame::forget_device() {
  for (Tensor& twin : twins_) twin = Tensor{};
  std::fill(windows_.begin(), windows_.end(), HostBytes{});
  downloads_.clear();
  downloading_.clear();
  record_.clear();
  device_arena_.reset();
  at_device_barrier_ = waits_for_device_ = false;
  doubt_.reset();
}

}  // namespace galatea::runtime
