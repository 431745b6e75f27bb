// Recording, enqueueing and waiting; outputs are in batch_outputs.cpp.
#include "runtime/cuda/device_batch.h"

#include <algorithm>
#include <iterator>

namespace galatea::runtime::cuda {

namespace vm = virtual_memory;

CudaBatch::CudaBatch(std::shared_ptr<CudaSession> session, int num_samples, int num_slots)
    : session_(std::move(session)),
      num_slots_(num_slots),
      uploads_(session_->pinned_pool(), session_->streams().upload, session_->chunk_bytes()),
      downloads_(session_->pinned_pool(), session_->streams().download, int64_t{64} << 10),
      arenas_(static_cast<size_t>(num_samples), 0),
      made_(static_cast<size_t>(num_samples), 0),
      launched_from_(static_cast<size_t>(num_samples), 0) {
  for (const OutputSpec& spec : session_->program().outputs) {
    Output output;
    output.on_device = spec.on_device;
    output.sample_bytes = fixed_bytes(spec);
    if (spec.on_device) output.rooms.resize(static_cast<size_t>(num_samples));
    outputs_.push_back(std::move(output));
  }
}

CudaBatch::~CudaBatch() {
  if (uploaded_.empty()) return;
  const Timer timer(*session_);
  session_->keep_uploaded(std::move(uploaded_));
}

Result<DeviceBatch::Staged> CudaBatch::stage(int64_t bytes) {
  GALATEA_ASSIGN(const Staging::Place place, uploads_.take(bytes));
  return Staged{place.host, vm::address(vm::kFirstChunk + static_cast<int>(place.chunk), place.offset)};
}

Result<uint8_t*> CudaBatch::stage_download(int64_t bytes) {
  GALATEA_ASSIGN(const Staging::Place place, downloads_.take(bytes));
  return place.host;
}

Status CudaBatch::enqueue(std::span<const Part> parts) {
  if (parts.empty()) return {};
  const Timer timer(*session_);
  const size_t num_blocks = blocks_.size(), num_uploaded = uploaded_.size();
  Status status = enqueue_parts(parts);
  // What failed for want of memory may be tried again: nothing of it is enqueued but the work of alternatives.
  if (!status) {
    blocks_.resize(num_blocks);
    uploaded_.resize(num_uploaded);
  }
  return status;
}

Status CudaBatch::enqueue_parts(std::span<const Part> parts) {
  GALATEA_TRY(take_arena(parts));
  for (Output& output : outputs_)
    if (output.on_device) GALATEA_TRY(take_room(output, parts));
  GALATEA_TRY(run_alternatives(parts));
  BatchCommands commands;
  GALATEA_TRY(record_chunks(commands));
  auto recorded = record_calls(parts, commands);
  // Overlap is worth less than going on.
  if (session_->let_uploaded_go() && !recorded) recorded = record_calls(parts, commands);
  GALATEA_ASSIGN(LaunchedBatch launched, std::move(recorded));
  record_copies(parts, commands);
  record_downloads(parts, commands);
  GALATEA_TRY(submit(commands));
  let_staged_go(launched);
  std::move(made_blocks_.begin(), made_blocks_.end(), std::back_inserter(uploaded_));
  made_blocks_.clear();
  if (launched.may_fail()) launched_.push_back(std::move(launched));
  ++session_->counts().enqueues;
  if (!done_) {
    GALATEA_ASSIGN(done_, session_->events().take());
  }
  if (!has_downloads_) return done_->record(*streams().compute);
  if (commands.download.empty()) GALATEA_TRY(streams().order(*streams().compute, *streams().download));
  return done_->record(*streams().download);
}

Status CudaBatch::submit(BatchCommands& commands) {
  GraphCache& graphs = session_->graphs();
  GALATEA_TRY(graphs.submit(*streams().upload, commands.upload.commands()));
  if (!commands.upload.empty()) GALATEA_TRY(streams().order(*streams().upload, *streams().compute));
  GALATEA_TRY(graphs.submit(*streams().compute, commands.compute.commands()));
  if (commands.download.empty()) return {};
  has_downloads_ = true;
  GALATEA_TRY(streams().order(*streams().compute, *streams().download));
  return graphs.submit(*streams().download, commands.download.commands());
}

/// Pinned memory whose bytes are on their way, and scratch, are for whoever comes next.
void CudaBatch::let_staged_go(LaunchedBatch& launched) {
  DeviceStatistics& counts = session_->counts();
  std::vector<MemoryBlock> staged = launched.take_staged();
  for (auto& chunks = uploads_.chunks(); num_uploaded_ < chunks.size(); ++num_uploaded_) {
    Staging::Chunk& chunk = chunks[num_uploaded_];
    staged.push_back(std::move(chunk.host));
    ++counts.uploads;
    counts.upload_bytes += chunk.used;
  }
  MemoryPool::give_back(std::move(staged));
}

/// One block for the intermediates of all samples, each at its most.
Status CudaBatch::take_arena(std::span<const Part> parts) {
  int64_t bytes = 0;
  for (const Part& part : parts) bytes += part.record->arena_bytes;
  if (bytes == 0) return {};
  GALATEA_ASSIGN(MemoryBlock block, session_->device_pool()->acquire(bytes, streams().compute));
  DevicePointer next = block.device();
  for (const Part& part : parts) {
    arenas_[static_cast<size_t>(part.slot)] = next;
    next += static_cast<DevicePointer>(part.record->arena_bytes);
  }
  blocks_.push_back(std::move(block));
  return {};
}

Status CudaBatch::record_chunks(BatchCommands& commands) {
  uploads_.seal();
  auto& chunks = uploads_.chunks();
  int64_t bytes = 0;
  for (size_t c = num_uploaded_; c < chunks.size(); ++c) bytes += chunks[c].used;
  if (bytes == 0) return {};
  GALATEA_ASSIGN(MemoryBlock block, session_->take_upload_block(bytes, streams().upload));
  DevicePointer next = block.device();
  uploaded_.push_back(std::move(block));
  for (size_t c = num_uploaded_; c < chunks.size(); ++c) {
    chunks[c].device = next;
    next += static_cast<DevicePointer>(chunks[c].used);
    commands.upload.upload(chunks[c].device, chunks[c].host.host(), chunks[c].used);
  }
  return {};
}

Result<LaunchedBatch> CudaBatch::record_calls(std::span<const Part> parts, BatchCommands& commands) {
  BatchLaunch& launch = session_->launch();
  std::vector<LaunchTensor> tensors;
  std::vector<DeviceGuard> guards;
  int64_t num_calls = 0;
  for (const Part& part : parts) {
    const DeviceRecord& record = *part.record;
    for (const DeviceRecord::Call& call : record.calls) {
      tensors.clear();
      for (uint32_t t = 0; t < call.num_tensors; ++t) {
        LaunchTensor tensor{record.tensors[call.first_tensor + t], -1};
        tensor.view.data = reinterpret_cast<void*>(
            static_cast<uintptr_t>(address_of(part.slot, reinterpret_cast<uintptr_t>(tensor.view.data))));
        tensors.push_back(tensor);
      }
      guards.clear();
      for (uint32_t g = 0; g < call.num_guards; ++g) {
        const DeviceRecord::Guard& guard = record.guards[call.first_guard + g];
        guards.push_back({address_of(part.slot, guard.address), guard.wanted, guard.largest});
      }
      launch.add_call(session_->order().launch_of[static_cast<size_t>(call.call)], part.slot, tensors,
                      std::span(record.params).subspan(call.first_param, call.num_params), call.scratch_bytes,
                      call.location, session_->kernel_of(call.call), guards, call.blocks,
                      session_->times_commands() ? call.bytes : 0);
      ++num_calls;
    }
  }
  GALATEA_ASSIGN(LaunchedBatch launched, launch.record(session_->kernels(), commands));
  if (num_calls == 0) return launched;
  DeviceStatistics& counts = session_->counts();
  counts.calls += num_calls;
  counts.launches += launched.num_launches();
  counts.upload_bytes += launched.upload_bytes();
  ++counts.parameter_uploads;
  uploaded_.push_back(launched.take_parameters());
  return launched;
}

void CudaBatch::record_copies(std::span<const Part> parts, BatchCommands& commands) const {
  for (const Part& part : parts) {
    for (const DeviceRecord::Copy& copy : part.record->copies) {
      commands.compute.copy(address_of(part.slot, copy.to), address_of(part.slot, copy.from), copy.bytes);
      ++session_->counts().device_copies;
    }
  }
}

void CudaBatch::record_downloads(std::span<const Part> parts, BatchCommands& commands) {
  const bool is_needed = std::any_of(parts.begin(), parts.end(),
                                     [](const Part& part) { return !part.record->downloads.empty(); });
  if (!is_needed) return;
  for (MemoryBlock& block : blocks_) block.also_used_by(streams().download);
  for (MemoryBlock& block : uploaded_) block.also_used_by(streams().download);
  for (MemoryBlock& block : made_blocks_) block.also_used_by(streams().download);
  for (const Output& output : outputs_)
    if (output.buffer) output.buffer->also_used_by(streams().download);
  for (const Part& part : parts) {
    for (const DeviceRecord::Download& download : part.record->downloads) {
      commands.download.download(download.to, address_of(part.slot, download.from), download.bytes);
      ++session_->counts().downloads;
      session_->counts().download_bytes += download.bytes;
    }
  }
  downloads_.seal();
}

DevicePointer CudaBatch::address_of(int slot, uint64_t address) const {
  if (!vm::holds(address)) return address;
  const int region = vm::region_of(address);
  const auto offset = static_cast<DevicePointer>(vm::offset_of(address));
  if (region == vm::kArena) return arenas_[static_cast<size_t>(slot)] + offset;
  if (region == vm::kMade) return made_[static_cast<size_t>(slot)] + offset;
  if (region >= vm::kFirstChunk)
    return uploads_.device(static_cast<size_t>(region - vm::kFirstChunk)) + offset;
  const Output& output = outputs_[static_cast<size_t>(region - vm::kFirstOutput)];
  return output.rooms[static_cast<size_t>(slot)].device + offset;
}

uint64_t CudaBatch::resolve(int slot, uint64_t address) const { return address_of(slot, address); }

Result<bool> CudaBatch::is_done() const { return done_ ? done_->is_done() : Result<bool>(true); }

Status CudaBatch::wait() const {
  session_->count_wait();
  return done_ ? done_->synchronize() : Status{};
}

bool CudaBatch::may_fail() const { return !launched_.empty(); }

void CudaBatch::forget(int slot) {
  launched_from_[static_cast<size_t>(slot)] = launched_.size();
  for (Output& output : outputs_)
    if (output.on_device) output.rooms[static_cast<size_t>(slot)] = Room();
}

std::optional<DeviceBatch::Failure> CudaBatch::failure(int slot) const {
  for (size_t n = launched_from_[static_cast<size_t>(slot)]; n < launched_.size(); ++n)
    if (const auto first = launched_[n].first_failure(slot)) return Failure{first->location, first->flags};
  return std::nullopt;
}

}  // namespace galatea::runtime::cuda
