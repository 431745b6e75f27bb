// Outputs of a batch: room for what kernels write, uploads of what the host made, no gaps.
#include <algorithm>

#include "runtime/cuda/device_batch.h"

namespace galatea::runtime::cuda {

/// Outputs of known extents lie as they will on the device, slot by slot.
Result<Staging::Place> CudaBatch::stage_output(Output& output, int slot, int64_t bytes) {
  std::lock_guard lock(mutex_);
  const bool is_fixed = output.sample_bytes >= 0;
  if (!output.staging)
    output.staging = std::make_unique<Staging>(session_->pinned_pool(), streams().upload,
                                               is_fixed ? 0 : session_->chunk_bytes());
  if (!is_fixed) return output.staging->take(bytes);
  if (output.staging->chunks().empty()) GALATEA_TRY(output.staging->take(output.sample_bytes * num_slots_));
  const int64_t offset = output.sample_bytes * slot;
  return Staging::Place{0, offset, output.staging->chunks().front().host.host() + offset};
}

Result<DeviceBatch::Staged> CudaBatch::take_output(int output, int slot, int64_t bytes, bool on_host) {
  Output& out = outputs_[static_cast<size_t>(output)];
  Room room;
  room.maker = on_host ? Room::Maker::kHost : Room::Maker::kDevice;
  room.bytes = bytes;
  if (on_host) {
    GALATEA_ASSIGN(room.staged, stage_output(out, slot, bytes));
  }
  out.rooms[static_cast<size_t>(slot)] = room;
  return Staged{room.staged.host, virtual_memory::address(virtual_memory::kFirstOutput + output, 0)};
}

/// Memory for an output's samples in `block`, which it owns from then on.
void CudaBatch::give(Output& output, MemoryBlock block) {
  if (output.buffer)
    output.buffer->add(std::move(block));
  else
    output.buffer = std::make_shared<DeviceBuffer>(std::move(block));
}

Status CudaBatch::take_fixed(Output& output, const std::shared_ptr<const Stream>& stream) {
  if (output.buffer) return {};
  GALATEA_ASSIGN(MemoryBlock block,
                 session_->device_pool()->acquire(output.sample_bytes * num_slots_, stream));
  if (stream != streams().compute) block.also_used_by(streams().compute);
  give(output, std::move(block));
  return {};
}

/// Room for what kernels of these samples write.
Status CudaBatch::take_room(Output& output, std::span<const Part> parts) {
  std::vector<Room*> wanted;
  for (const Part& part : parts) {
    Room& room = output.rooms[static_cast<size_t>(part.slot)];
    if (room.maker == Room::Maker::kDevice && room.device == 0) wanted.push_back(&room);
  }
  if (wanted.empty()) return {};
  if (output.sample_bytes >= 0) {
    GALATEA_TRY(take_fixed(output, streams().compute));
    for (Room* room : wanted) room->device = fixed_address(output, room - output.rooms.data());
    return {};
  }
  int64_t bytes = 0;
  for (const Room* room : wanted) bytes += device_bytes(room->bytes);
  GALATEA_ASSIGN(MemoryBlock block, session_->device_pool()->acquire(bytes, streams().compute));
  DevicePointer next = block.device();
  for (Room* room : wanted) {
    room->device = next;
    next += static_cast<DevicePointer>(device_bytes(room->bytes));
  }
  give(output, std::move(block));
  return {};
}

DevicePointer CudaBatch::fixed_address(const Output& output, int64_t place) const {
  return output.buffer->address() + static_cast<DevicePointer>(output.sample_bytes * place);
}

/// Slots in a row go up together.
Status CudaBatch::upload_fixed(Output& output, std::span<const int> live, CommandList& commands) {
  const auto is_made = [&](int slot) {
    return output.rooms[static_cast<size_t>(slot)].maker == Room::Maker::kHost;
  };
  const bool is_shared = output.buffer != nullptr;  // with kernels
  GALATEA_TRY(take_fixed(output, streams().upload));
  if (is_shared) {
    GALATEA_TRY(streams().order(*streams().compute, *streams().upload));
    output.buffer->also_used_by(streams().upload);
  }
  const uint8_t* const staged = output.staging->chunks().front().host.host();
  for (size_t k = 0; k < live.size(); ++k) {
    if (!is_made(live[k])) continue;
    const int64_t first = live[k];
    // Where kernels made nothing, gaps may go up with the rest.
    while (k + 1 < live.size() && is_made(live[k + 1]) && (!is_shared || live[k + 1] == live[k] + 1)) ++k;
    commands.upload(fixed_address(output, first), staged + first * output.sample_bytes,
                    (live[k] + 1 - first) * output.sample_bytes);
  }
  for (const int slot : live) {
    Room& room = output.rooms[static_cast<size_t>(slot)];
    if (room.maker == Room::Maker::kHost) room.device = fixed_address(output, slot);
  }
  return {};
}

/// Whole chunks go up, and samples lie on the device as they do there.
Status CudaBatch::upload_varying(Output& output, std::span<const int> live, CommandList& commands) {
  auto& chunks = output.staging->chunks();
  // Tried again for want of memory of another output, it has its own already.
  if (chunks.front().device == 0) {
    GALATEA_ASSIGN(MemoryBlock block,
                   session_->device_pool()->acquire(output.staging->total_bytes(), streams().upload));
    block.also_used_by(streams().compute);
    DevicePointer next = block.device();
    give(output, std::move(block));
    for (Staging::Chunk& chunk : chunks) {
      chunk.device = next;
      next += static_cast<DevicePointer>(chunk.used);
    }
  }
  for (const Staging::Chunk& chunk : chunks) commands.upload(chunk.device, chunk.host.host(), chunk.used);
  for (const int slot : live) {
    Room& room = output.rooms[static_cast<size_t>(slot)];
    if (room.maker == Room::Maker::kHost)
      room.device = chunks[room.staged.chunk].device + static_cast<DevicePointer>(room.staged.offset);
  }
  return {};
}

/// Closes the gaps that skipped samples leave in a block.
void CudaBatch::compact(Output& output, std::span<const int> live, CommandList& commands) {
  for (size_t place = 0; place < live.size(); ++place) {
    if (live[place] == static_cast<int>(place)) continue;
    commands.copy(fixed_address(output, static_cast<int64_t>(place)), fixed_address(output, live[place]),
                  output.sample_bytes);
    ++session_->counts().device_copies;
  }
}

Result<std::shared_ptr<DeviceOutputs>> CudaBatch::finish(std::span<const int> live) {
  const Timer timer(*session_);
  live_.assign(live.begin(), live.end());
  BatchCommands commands;
  bool has_uploaded = false;
  for (Output& output : outputs_) {
    const bool has_host = std::any_of(live.begin(), live.end(), [&](int slot) {
      return output.on_device && output.rooms[static_cast<size_t>(slot)].maker == Room::Maker::kHost;
    });
    if (!has_host) continue;
    has_uploaded = true;
    GALATEA_TRY(output.sample_bytes >= 0 ? upload_fixed(output, live, commands.upload)
                                         : upload_varying(output, live, commands.upload));
  }
  GALATEA_TRY(session_->graphs().submit(*streams().upload, commands.upload.commands()));
  for (const Command& each : commands.upload.commands()) {
    ++session_->counts().uploads;
    session_->counts().upload_bytes += each.bytes();
  }
  if (has_uploaded) GALATEA_TRY(streams().order(*streams().upload, *streams().compute));
  for (Output& output : outputs_)
    if (output.on_device && output.sample_bytes >= 0) compact(output, live, commands.compute);
  GALATEA_TRY(session_->graphs().submit(*streams().compute, commands.compute.commands()));
  GALATEA_ASSIGN(std::shared_ptr<Event> ready, session_->events().take());
  // Flags are down with it, where kernels may raise any.
  const bool has_flags = may_fail();
  if (has_flags) GALATEA_TRY(streams().order(*streams().compute, *streams().download));
  GALATEA_TRY(ready->record(has_flags ? *streams().download : *streams().compute));
  auto out = std::make_shared<CudaOutputs>(std::move(ready), streams().download);
  for (const Output& output : outputs_)
    if (output.buffer) out->add(output.buffer);
  session_->note_staged(uploads_.total_bytes());
  // Nobody goes on with addresses of it: the next batch may have the memory before this one is taken.
  blocks_.clear();
  for (Output& output : outputs_) output.staging.reset();
  session_->keep_uploaded(std::move(uploaded_));
  uploaded_.clear();
  return out;
}

uint64_t CudaBatch::output_address(int output, int place) const {
  const Output& out = outputs_[static_cast<size_t>(output)];
  if (out.sample_bytes >= 0) return fixed_address(out, place);
  return out.rooms[static_cast<size_t>(live_[static_cast<size_t>(place)])].device;
}

}  // namespace galatea::runtime::cuda
