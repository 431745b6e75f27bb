// Instructions that make tensors and views of them.
#include <algorithm>
#include <cstring>

#include "runtime/copy_past_cache.h"
#include "runtime/messages.h"
#include "runtime/sample_program.h"

namespace galatea::runtime {
namespace {

/// Address `elements` elements on; wraps where the memory of a window begins before its tensor does.
uint8_t* advance(uint8_t* data, int64_t elements, DType dtype) {
  return reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(data) +
                                    static_cast<uintptr_t>(elements * size_of(dtype)));
}

Error bad_view(const char* what) { return make_error(message::kBadProgram, what).error(); }

}  // namespace

void Frame::set_slot(int32_t slot, Tensor tensor, int32_t block) {
  auto at = static_cast<size_t>(slot);
  release_block(blocks_[at]);
  blocks_[at] = block;
  slots_[at] = std::move(tensor);
  if (program_.device < 0) return;
  twins_[at] = Tensor{};
  windows_[at] = {};
}

void Frame::copy_slot(int32_t dst, int32_t src) {
  const auto to = static_cast<size_t>(dst), from = static_cast<size_t>(src);
  if (to == from) return;
  retain_block(blocks_[from]);
  set_slot(dst, slots_[from], blocks_[from]);
  if (program_.device < 0) return;
  twins_[to] = twins_[from];
  windows_[to] = windows_[from];
}

Result<int32_t> Frame::allocate_slot(int32_t slot, DType dtype, std::span<const int64_t> extents) {
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(dtype, extents));
  GALATEA_ASSIGN(int32_t block, arena_.acquire(bytes));
  Tensor tensor;
  tensor.data = arena_.data(block);
  tensor.set_dense(dtype, extents);
  set_slot(slot, std::move(tensor), block);
  return block;
}

std::span<const int64_t> Frame::extents_of_registers(int32_t first, int32_t count) {
  for (int32_t k = 0; k < count; ++k) extents_[k] = int_register(list(first + k));
  return {extents_, static_cast<size_t>(count)};
}

Status Frame::allocate(const Instruction& i) {
  if (i.on_device) {
    const auto extents = extents_of_registers(i.a, i.imm);
    GALATEA_ASSIGN(const int64_t bytes, dense_bytes(i.type, extents));
    allocate_on_device(i.dst, i.type, extents, bytes);
    return {};
  }
  const auto extents = extents_of_registers(i.a, i.imm);
  if (i.b == 1) {
    GALATEA_ASSIGN(Tensor tensor, allocate_shared(i.type, extents));
    set_slot(i.dst, std::move(tensor), -1);
    return {};
  }
  auto block = allocate_slot(i.dst, i.type, extents);
  if (!block) return std::unexpected(std::move(block.error()));
  return {};
}

/// Memory outside of the arena: whoever holds it last gives it back, on whatever thread that is.
Result<Tensor> Frame::allocate_shared(DType dtype, std::span<const int64_t> extents) {
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(dtype, extents));
  const int64_t cost = claimed_bytes(bytes);
  GALATEA_TRY(claim_.before_output(cost));
  Tensor tensor;
  GALATEA_ASSIGN(tensor.buffer, sink_->allocate_shared(bytes));
  claim_.after_output(cost);
  tensor.data = tensor.buffer->data();
  tensor.set_dense(dtype, extents);
  return tensor;
}

Status Frame::lend(const Instruction& i) {
  const Tensor& input = slots_[static_cast<size_t>(i.a)];
  if (input.memory != Memory::kHost)
    return std::unexpected(bad_view("a tensor of the device meets those of other samples"));
  if (input.buffer && blocks_[static_cast<size_t>(i.a)] < 0) {
    copy_slot(i.dst, i.a);
    return {};
  }
  GALATEA_ASSIGN(Tensor copy, allocate_shared(input.dtype, {input.extents, static_cast<size_t>(input.ndim)}));
  copy_dense(input, copy.data);
  set_slot(i.dst, std::move(copy), -1);
  return {};
}

Result<Tensor> Frame::give_output(int output, DType dtype, std::span<const int64_t> extents, Memory writer,
                                  Maker maker) {
  const OutputSpec& spec = program_.outputs[static_cast<size_t>(output)];
  // Outputs of known extents are the batch's, which has them already where memory is limited.
  if (!claim_.is_limited() || spec.on_device || fixed_bytes(spec) >= 0)
    return sink_->allocate_output(output, input_.slot, dtype, extents, writer);
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(dtype, extents));
  const int64_t cost = claimed_bytes(bytes);
  GALATEA_TRY(maker == Maker::kReader ? claim_.before_output_of_read(cost) : claim_.before_output(cost));
  GALATEA_ASSIGN(Tensor tensor, sink_->allocate_output(output, input_.slot, dtype, extents, writer));
  claim_.after_output(cost);
  return tensor;
}

Status Frame::allocate_output(const Instruction& i) {
  Tensor& output = outputs_[static_cast<size_t>(i.b)];
  GALATEA_ASSIGN(output, give_output(i.b, i.type, extents_of_registers(i.a, i.imm),
                                     i.on_device ? Memory::kDevice : Memory::kHost));
  set_slot(i.dst, output, -1);
  return {};
}

Status Frame::load(const Instruction& i) {
  const Tensor& tensor = slots_[static_cast<size_t>(i.a)];
  if (tensor.memory != Memory::kHost)
    return std::unexpected(bad_view("an element is loaded from the device"));
  int64_t element = int_register(i.b);
  if (element < 0) return std::unexpected(bad_view("an element before the first is loaded"));
  if (tensor.volume() == 0) {
    registers_[static_cast<size_t>(i.dst)] = Cell{};
    return {};
  }
  element = std::min(element, tensor.volume() - 1);
  int64_t offset = 0;
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    offset += element % tensor.extents[d] * tensor.strides[d];
    element /= tensor.extents[d];
  }
  registers_[static_cast<size_t>(i.dst)] = load_cell(i.type, tensor.data + offset * size_of(i.type));
  return {};
}

/// A view of the tensor in `src`, of which the host has only the bytes `held` if it says so.
void Frame::set_view(int32_t dst, Tensor tensor, int32_t src, HostBytes held) {
  const int32_t block = blocks_[static_cast<size_t>(src)];
  retain_block(block);
  set_slot(dst, std::move(tensor), block);
  if (program_.device >= 0) windows_[static_cast<size_t>(dst)] = held;
}

Status Frame::view(const Instruction& i) {
  const ViewSpec& spec = program_.views[static_cast<size_t>(i.b)];
  if (spec.reshape) return reshape(i, spec);
  if (spec.window_origin) {
    window_view(i, spec);
    return {};
  }
  return strided_view(i, spec);
}

Status Frame::strided_view(const Instruction& i, const ViewSpec& spec) {
  const Tensor& input = slots_[static_cast<size_t>(i.a)];
  if (input.ndim != spec.input_ndim) return std::unexpected(bad_view("a view's input has another rank"));
  Tensor out;
  out.buffer = input.buffer;
  out.dtype = input.dtype;
  out.memory = input.memory;
  out.ndim = spec.ndim;
  int64_t offset = 0, low[kMaxRank], high[kMaxRank];
  for (int d = 0; d < input.ndim; ++d) {
    low[d] = high[d] = int_register(list(i.c + spec.ndim + d));
    offset += low[d] * input.strides[d];
  }
  bool empty = false;
  for (int d = 0; d < spec.ndim; ++d) {
    int64_t extent = int_register(list(i.c + d));
    int64_t step = int_register(list(i.c + spec.ndim + input.ndim + d));
    int axis = spec.input_dim[static_cast<size_t>(d)];
    if (extent < 0) return std::unexpected(bad_view("a view has a negative extent"));
    empty = empty || extent == 0;
    out.extents[d] = extent;
    out.strides[d] = axis < 0 ? 0 : step * input.strides[axis];
    if (axis >= 0) (step < 0 ? low : high)[axis] += (extent - 1) * step;
  }
  for (int d = 0; d < input.ndim && !empty; ++d) {
    if (low[d] < 0 || high[d] >= input.extents[d])
      return std::unexpected(bad_view("a view leaves its input"));
  }
  out.data = empty ? input.data : advance(input.data, offset, input.dtype);
  set_view(i.dst, std::move(out), i.a,
           program_.device < 0 ? HostBytes{} : windows_[static_cast<size_t>(i.a)]);
  return {};
}

Status Frame::reshape(const Instruction& i, const ViewSpec& spec) {
  int32_t source = i.a;
  if (!slots_[static_cast<size_t>(source)].is_dense()) {
    GALATEA_TRY(make_dense(i.dst, source));
    source = i.dst;
  }
  Tensor out = slots_[static_cast<size_t>(source)];
  int64_t volume = out.volume();
  auto extents = extents_of_registers(i.c, spec.ndim);
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(out.dtype, extents));
  if (bytes != volume * size_of(out.dtype))
    return std::unexpected(bad_view("a reshape changes the number of elements"));
  out.set_dense(out.dtype, extents);
  set_view(i.dst, std::move(out), source, {});
  return {};
}

void Frame::window_view(const Instruction& i, const ViewSpec& spec) {
  Tensor out = slots_[static_cast<size_t>(i.a)];
  int64_t offset = 0;
  for (int d = 0; d < spec.ndim; ++d) {
    out.extents[d] = int_register(list(i.c + d));
    offset += int_register(list(i.c + spec.ndim + d)) * out.strides[d];
  }
  HostBytes held;
  if (program_.device >= 0 && out.memory == Memory::kHost) {
    held = windows_[static_cast<size_t>(i.a)];
    if (!held.begin) held = host_bytes(slots_[static_cast<size_t>(i.a)]);
  }
  out.data = advance(out.data, -offset, out.dtype);
  set_view(i.dst, std::move(out), i.a, held);
}

Status Frame::make_dense(int32_t dst, int32_t src) {
  Tensor input = slots_[static_cast<size_t>(src)];
  const int32_t block = blocks_[static_cast<size_t>(src)];
  if (input.memory != Memory::kHost && !input.is_dense())
    return std::unexpected(bad_view("a tensor of the device is made dense"));
  // The input's memory must live on while it is copied, even if dst is src.
  retain_block(block);
  if (input.is_dense()) {
    set_slot(dst, std::move(input), block);
    return {};
  }
  auto made = allocate_slot(dst, input.dtype, {input.extents, static_cast<size_t>(input.ndim)});
  if (made) copy_dense(input, slots_[static_cast<size_t>(dst)].data);
  release_block(block);
  if (!made) return std::unexpected(std::move(made.error()));
  return {};
}

Status Frame::store_elements(const Instruction& i) {
  for (int32_t k = 0; k < i.imm; ++k) extents_[k] = list(i.a + k);
  auto block = allocate_slot(i.dst, i.type, {extents_, static_cast<size_t>(i.imm)});
  if (!block) return std::unexpected(std::move(block.error()));
  const Tensor& tensor = slots_[static_cast<size_t>(i.dst)];
  const int64_t volume = tensor.volume();
  for (int64_t k = 0; k < volume; ++k) {
    store_cell(i.type, tensor.data + k * size_of(i.type),
               registers_[static_cast<size_t>(list(i.b + static_cast<int32_t>(k)))]);
  }
  return {};
}

Status Frame::finish_outputs(const Instruction& i) {
  for (int32_t k = 0; k < i.imm; ++k) GALATEA_TRY(finish_output(k, list(i.a + k)));
  return {};
}

/// Is it what was fed, whole, and can it be the output itself? Not where memory is limited: what was fed does
/// not count among the outputs. Nor twice: whoever writes to an output writes to that one alone.
bool Frame::can_be_handed_on(int output, const Tensor& tensor) const {
  const OutputSpec& spec = program_.outputs[static_cast<size_t>(output)];
  if (spec.on_device || fixed_bytes(spec) >= 0 || claim_.is_limited()) return false;
  if (!tensor.buffer || !tensor.is_dense()) return false;
  const auto is_same = [&](const Tensor& other) { return other.data == tensor.data; };
  if (std::ranges::any_of(outputs_, is_same)) return false;
  for (size_t k = 0; k < program_.external_inputs.size(); ++k) {
    const Tensor* const fed = input_.feeds[k];
    if (fed && is_same(*fed) && fed->volume() == tensor.volume() && tensor.volume() > 0) return true;
  }
  return false;
}

/// Output k is in its place if a kernel stored it there, or is what was fed; whatever else it is (a view, a
/// merge) is copied.
Status Frame::finish_output(int output, int32_t slot) {
  const Tensor& tensor = slots_[static_cast<size_t>(slot)];
  const OutputSpec& spec = program_.outputs[static_cast<size_t>(output)];
  if (tensor.dtype != spec.port.dtype() || tensor.ndim != spec.port.rank())
    return std::unexpected(bad_view("an output has another type than was declared"));
  if (tensor.memory != Memory::kHost) return finish_device_output(output, tensor);
  Tensor& place = outputs_[static_cast<size_t>(output)];
  if (place.data && place.data == tensor.data && tensor.is_dense() && place.volume() == tensor.volume()) {
    // The sink looks at the extents again: a reshape may lie between.
    if (std::equal(tensor.extents, tensor.extents + tensor.ndim, place.extents)) return {};
  }
  if (!place.data && can_be_handed_on(output, tensor)) {
    sink_->hand_on(output, input_.slot, place = tensor);
    return {};
  }
  std::span<const int64_t> extents{tensor.extents, static_cast<size_t>(tensor.ndim)};
  GALATEA_ASSIGN(int64_t bytes, dense_bytes(tensor.dtype, extents));
  // The tensor may be a view of the very memory that it goes to, so it takes a detour.
  int32_t detour = -1;
  if (place.data) {
    GALATEA_ASSIGN(detour, arena_.acquire(bytes));
    copy_dense(tensor, arena_.data(detour));
  }
  GALATEA_ASSIGN(place, give_output(output, tensor.dtype, extents));
  if (detour >= 0) {
    std::memcpy(place.data, arena_.data(detour), static_cast<size_t>(bytes));
    arena_.release(detour);
  } else if (bytes >= kCachedBatch / std::max(program_.batch_size, 1)) {
    copy_past_cache(tensor, place.data);
  } else {
    copy_dense(tensor, place.data);
  }
  return {};
}

}  // namespace galatea::runtime
