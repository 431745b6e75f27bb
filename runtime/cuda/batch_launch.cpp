// Sorting calls by site, laying out the one copy, launching.
#include "runtime/cuda/batch_launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace galatea::runtime::cuda {

namespace {

// What kernels are compiled against: galatea_call, galatea_guard and galatea_tensor of the prelude.
static_assert(sizeof(DeviceCall) == 56 && sizeof(DeviceGuard) == 16 &&
              sizeof(KernelTensor) == 8 + 2 * 8 * kMaxRank);

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Takes room in the copy.
int64_t take(int64_t& end, int64_t bytes) {
  const int64_t begin = aligned(end);
  end = begin + bytes;
  return begin;
}

template <typename T>
int64_t bytes_of(size_t count) {
  return static_cast<int64_t>(count * sizeof(T));
}

}  // namespace

LaunchedBatch::Failure LaunchedBatch::failure_at(size_t k) const {
  Failure out = may_fail_[k];
  std::memcpy(&out.flags, status_.host() + k * sizeof(uint32_t), sizeof(uint32_t));
  return out;
}

std::optional<LaunchedBatch::Failure> LaunchedBatch::first_failure() const {
  std::optional<Failure> first;
  for (size_t k = 0; k < may_fail_.size(); ++k) {
    const Failure each = failure_at(k);
    if (each.flags == 0) continue;
    if (!first || std::pair(each.sample, each.site) < std::pair(first->sample, first->site)) first = each;
  }
  return first;
}

std::optional<LaunchedBatch::Failure> LaunchedBatch::first_failure(int32_t sample) const {
  // Calls are in the order of sites.
  for (size_t k = 0; k < may_fail_.size(); ++k)
    if (may_fail_[k].sample == sample)
      if (const Failure each = failure_at(k); each.flags != 0) return each;
  return std::nullopt;
}

int32_t BatchLaunch::add_upload(const void* data, int64_t bytes) {
  uploads_.push_back({data, bytes, 0});
  return static_cast<int32_t>(uploads_.size()) - 1;
}

void BatchLaunch::add_call(int32_t site, int32_t sample, std::span<const LaunchTensor> tensors,
                           std::span<const uint64_t> params, int64_t scratch_bytes, int32_t location,
                           int32_t kernel, std::span<const DeviceGuard> guards, int64_t blocks,
                           int64_t bytes) {
  calls_.push_back({site, sample, location, kernel < 0 ? site : kernel, tensors_.size(), tensors.size(),
                    params_.size(), params.size(), guards_.size(), guards.size(), scratch_bytes, blocks,
                    bytes});
  tensors_.insert(tensors_.end(), tensors.begin(), tensors.end());
  params_.insert(params_.end(), params.begin(), params.end());
  guards_.insert(guards_.end(), guards.begin(), guards.end());
}

uint32_t BatchLaunch::count_tiles(const Call& call, const LaunchKernel& kernel) const {
  constexpr int64_t kMostBlocks = 1 << 16;
  if (kernel.has_grid) {
    // A block takes several of the grid's where there are more.
    const uint64_t* grid = params_.data() + call.first_param;
    return static_cast<uint32_t>(
        std::clamp<int64_t>(static_cast<int64_t>(grid[0] * grid[1] * grid[2]), 1, kMostBlocks));
  }
  if (!kernel.is_tiled || static_cast<size_t>(kernel.inputs) >= call.num_tensors) return 1;
  const int64_t most = kernel.shares_phases ? kMostSharing : kMostBlocks;
  if (call.blocks > 0) return static_cast<uint32_t>(std::min(call.blocks, most));
  const auto volume = [&](size_t t) {
    const KernelTensor& tensor = tensors_[call.first_tensor + t].view;
    int64_t elements = 1;
    for (int d = 0; d < kMaxRank && tensor.extents[d] > 0; ++d) elements *= tensor.extents[d];
    return elements;
  };
  // What blocks share of several phases is the work on the largest tensor: a mean has a small output.
  int64_t largest = volume(static_cast<size_t>(kernel.inputs));
  for (size_t t = 0; kernel.shares_phases && t < call.num_tensors; ++t)
    largest = std::max(largest, volume(t));
  constexpr int64_t kTile = kThreads * kElementsPerThread;
  return static_cast<uint32_t>(std::clamp<int64_t>((largest + kTile - 1) / kTile, 1, most));
}

/// A division by what the host knows is no reason to look for flags where that is not zero.
bool BatchLaunch::may_fail(const Call& call, const LaunchKernel& kernel) const {
  return kernel.may_fail || std::ranges::any_of(kernel.divisors, [&](int32_t param) {
           return params_[call.first_param + static_cast<size_t>(param)] == 0;
         });
}

BatchLaunch::Plan BatchLaunch::plan(std::span<const LaunchKernel> kernels) {
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const Call& a, const Call& b) { return a.site < b.site; });
  Plan out;
  for (size_t begin = 0; begin < calls_.size();) {
    Group group{begin, begin, 0, 0};
    int64_t scratch = 0;
    for (; group.end < calls_.size() && calls_[group.end].site == calls_[begin].site; ++group.end) {
      scratch += aligned(calls_[group.end].scratch_bytes);
      const LaunchKernel& kernel = kernels[static_cast<size_t>(calls_[group.end].kernel)];
      if (may_fail(calls_[group.end], kernel)) ++out.num_status;
      if (kernel.shares_phases) out.num_counters += kCallCounters;
    }
    out.scratch_bytes = std::max(out.scratch_bytes, scratch);
    group.blocks_offset = take(out.bytes, bytes_of<uint32_t>(group.end - begin + 1));
    out.groups.push_back(group);
    begin = group.end;
  }
  out.calls = take(out.bytes, bytes_of<DeviceCall>(calls_.size()));
  out.tensors = take(out.bytes, bytes_of<KernelTensor>(tensors_.size()));
  out.params = take(out.bytes, bytes_of<uint64_t>(params_.size()));
  out.guards = take(out.bytes, bytes_of<DeviceGuard>(guards_.size()));
  out.status = take(out.bytes, bytes_of<uint32_t>(out.num_status));
  out.counters = take(out.bytes, bytes_of<uint32_t>(out.num_counters));
  for (Upload& upload : uploads_) upload.offset = take(out.bytes, upload.bytes + kBufferPadding);
  return out;
}

LaunchedBatch BatchLaunch::fill(Plan& plan, std::span<const LaunchKernel> kernels, uint8_t* host,
                                DevicePointer device, DevicePointer scratch) const {
  LaunchedBatch out;
  const auto base = static_cast<uint64_t>(device);
  for (const Upload& upload : uploads_)
    std::memcpy(host + upload.offset, upload.data, static_cast<size_t>(upload.bytes));
  if (!params_.empty()) std::memcpy(host + plan.params, params_.data(), params_.size() * sizeof(uint64_t));
  if (!guards_.empty()) std::memcpy(host + plan.guards, guards_.data(), guards_.size() * sizeof(DeviceGuard));
  std::memset(host + plan.status, 0, plan.num_status * sizeof(uint32_t));
  // Zero with every upload: no kernel has to leave them so.
  std::memset(host + plan.counters, 0, plan.num_counters * sizeof(uint32_t));
  auto* tensors = reinterpret_cast<KernelTensor*>(host + plan.tensors);
  for (size_t t = 0; t < tensors_.size(); ++t) {
    tensors[t] = tensors_[t].view;
    if (tensors_[t].upload < 0) continue;
    const Upload& upload = uploads_[static_cast<size_t>(tensors_[t].upload)];
    const uint64_t within =
        reinterpret_cast<uintptr_t>(tensors_[t].view.data) - reinterpret_cast<uintptr_t>(upload.data);
    tensors[t].data = reinterpret_cast<void*>(base + static_cast<uint64_t>(upload.offset) + within);
  }
  auto* calls = reinterpret_cast<DeviceCall*>(host + plan.calls);
  uint64_t next_counters = base + static_cast<uint64_t>(plan.counters);
  for (Group& group : plan.groups) {
    auto* first_blocks = reinterpret_cast<uint32_t*>(host + group.blocks_offset);
    uint64_t next_scratch = scratch;
    for (size_t c = group.begin; c < group.end; ++c) {
      const Call& call = calls_[c];
      const LaunchKernel& kernel = kernels[static_cast<size_t>(call.kernel)];
      first_blocks[c - group.begin] = group.num_blocks;
      group.num_blocks += count_tiles(call, kernel);
      calls[c].tensors =
          base + static_cast<uint64_t>(plan.tensors) + call.first_tensor * sizeof(KernelTensor);
      calls[c].params = call.num_params > 0
                            ? base + static_cast<uint64_t>(plan.params) + call.first_param * sizeof(uint64_t)
                            : 0;
      calls[c].scratch = call.scratch_bytes > 0 ? next_scratch : 0;
      next_scratch += static_cast<uint64_t>(aligned(call.scratch_bytes));
      calls[c].status = 0;
      calls[c].kernel = static_cast<uint32_t>(kernel.opcode);
      calls[c].num_guards = static_cast<uint32_t>(call.num_guards);
      calls[c].guards = base + static_cast<uint64_t>(plan.guards) + call.first_guard * sizeof(DeviceGuard);
      calls[c].counters = kernel.shares_phases ? next_counters : 0;
      if (kernel.shares_phases) next_counters += kCallCounters * sizeof(uint32_t);
      if (!may_fail(call, kernel)) continue;
      calls[c].status = base + static_cast<uint64_t>(plan.status) + out.may_fail_.size() * sizeof(uint32_t);
      out.may_fail_.push_back({call.site, call.sample, call.location, 0});
    }
    first_blocks[group.end - group.begin] = group.num_blocks;
  }
  return out;
}

Result<LaunchedBatch> BatchLaunch::record(std::span<const LaunchKernel> kernels, BatchCommands& commands) {
  auto out = record_calls(kernels, commands);
  uploads_.clear();
  calls_.clear();
  tensors_.clear();
  params_.clear();
  guards_.clear();
  return out;
}

Result<LaunchedBatch> BatchLaunch::enqueue(std::span<const LaunchKernel> kernels) {
  BatchCommands commands;
  GALATEA_ASSIGN(LaunchedBatch out, record(kernels, commands));
  GALATEA_TRY(cuda::enqueue(*streams_->upload, commands.upload.commands()));
  GALATEA_TRY(streams_->order(*streams_->upload, *streams_->compute));
  GALATEA_TRY(cuda::enqueue(*streams_->compute, commands.compute.commands()));
  if (!commands.download.empty()) {
    GALATEA_TRY(streams_->order(*streams_->compute, *streams_->download));
    GALATEA_TRY(cuda::enqueue(*streams_->download, commands.download.commands()));
  }
  out.take_staged();
  return out;
}

Result<LaunchedBatch> BatchLaunch::record_calls(std::span<const LaunchKernel> kernels,
                                                BatchCommands& commands) {
  if (calls_.empty()) return LaunchedBatch{};
  Plan plan = this->plan(kernels);
  // All of these go back to their pools in the end; the pools know what the streams still do with them.
  GALATEA_ASSIGN(MemoryBlock host, pinned_->acquire(plan.bytes, streams_->upload));
  GALATEA_ASSIGN(MemoryBlock device, device_->acquire(plan.bytes, streams_->upload));
  device.also_used_by(streams_->compute);
  MemoryBlock scratch;
  if (plan.scratch_bytes > 0) {
    GALATEA_ASSIGN(scratch, device_->acquire(plan.scratch_bytes, streams_->compute));
  }
  LaunchedBatch out =
      fill(plan, kernels, host.host(), device.device(), plan.scratch_bytes > 0 ? scratch.device() : 0);
  if (plan.num_status > 0) {
    GALATEA_ASSIGN(out.status_, pinned_->acquire(bytes_of<uint32_t>(plan.num_status), streams_->download));
    device.also_used_by(streams_->download);
  }
  out.upload_bytes_ = plan.bytes;
  commands.upload.upload(device.device(), host.host(), plan.bytes);
  for (const Group& group : plan.groups) {
    const DevicePointer calls =
        device.device() + static_cast<DevicePointer>(plan.calls) + group.begin * sizeof(DeviceCall);
    const LaunchKernel& kernel = kernels[static_cast<size_t>(calls_[group.begin].kernel)];
    int64_t bytes = 0;
    for (size_t k = group.begin; k < group.end; ++k) bytes += calls_[k].bytes;
    commands.compute.launch(
        kernel.function, group.num_blocks, kernel.threads > 0 ? kernel.threads : kThreads,
        {calls, device.device() + static_cast<DevicePointer>(group.blocks_offset), group.end - group.begin},
        bytes);
    ++out.num_launches_;
  }
  if (plan.num_status > 0)
    commands.download.download(out.status_.host(), device.device() + static_cast<DevicePointer>(plan.status),
                               bytes_of<uint32_t>(plan.num_status));
  out.parameters_ = std::move(device);
  out.staged_.push_back(std::move(host));
  if (scratch) out.staged_.push_back(std::move(scratch));
  return out;
}

}  // namespace galatea::runtime::cuda
