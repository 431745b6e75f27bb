#include "runtime/cuda/session.h"

#include <algorithm>
#include <map>

#include "runtime/cuda/device_batch.h"
#include "runtime/messages.h"

namespace galatea::runtime::cuda {

Result<std::shared_ptr<DeviceSession>> CudaSession::open(const LoadedProgram& loaded,
                                                         const DeviceOptions& options) {
  const int number = options.number >= 0 ? options.number : loaded.program->device;
  GALATEA_ASSIGN(auto driver, Driver::shared());
  GALATEA_ASSIGN(auto context, Context::open(std::move(driver), number));
  std::shared_ptr<CudaSession> out(new CudaSession(loaded.program, std::move(context), options));
  GALATEA_TRY(out->prepare(loaded, options.priority));
  return out;
}

CudaSession::CudaSession(std::shared_ptr<const Program> program, std::shared_ptr<const Context> context,
                         const DeviceOptions& options)
    : program_(std::move(program)),
      context_(std::move(context)),
      device_(MemoryPool::make(context_, MemoryKind::kDevice, options.memory_limit)),
      pinned_(MemoryPool::make(context_, MemoryKind::kPinned)),
      events_(EventPool::make(context_)),
      times_(options.times_commands
                 ? std::make_unique<CommandTimes>(context_, [this](FunctionHandle f) { return name_of(f); })
                 : nullptr),
      graphs_(std::make_unique<GraphCache>(context_, options.graphs, times_.get())),
      takes_turns_(options.memory_limit > 0) {
  device_->tell(graphs_->freed());
  pinned_->tell(graphs_->freed());
  counts_.device = context_->device().describe();
}

std::string CudaSession::name_of(FunctionHandle function) const {
  std::string out;
  for (size_t k = 0; k < kernels_.size(); ++k)
    if (kernels_[k].function == function) out += (out.empty() ? "" : " | ") + program_->kernels[k].name;
  return out;
}

Status CudaSession::prepare(const LoadedProgram& loaded, Priority priority) {
  GALATEA_ASSIGN(streams_, Streams::create(context_, priority));
  GALATEA_ASSIGN(order_, launch_order(*program_));
  GALATEA_TRY(load_kernels());
  GALATEA_TRY(upload_constants());
  GALATEA_TRY(open_alternatives(loaded, priority));
  launch_ = std::make_unique<BatchLaunch>(streams_, device_, pinned_);
  return {};
}

Status CudaSession::load_kernels() {
  std::map<const std::string*, std::shared_ptr<const Module>> loaded;
  std::vector<bool> is_called(program_->kernels.size());
  for (const KernelCallSpec& call : program_->kernel_calls)
    is_called[static_cast<size_t>(call.kernel)] = true;
  for (size_t number = 0; number < is_called.size(); ++number) {
    const ProgramKernel& kernel = program_->kernels[number];
    if (!kernel.device || !is_called[number]) {
      kernels_.emplace_back();
      continue;
    }
    if (!kernel.device->cubin)
      return make_error(message::kBadProgram, "its kernels were planned, not compiled, for a GPU");
    auto& module = loaded[kernel.device->cubin.get()];
    if (!module) {
      GALATEA_ASSIGN(module, Module::load(context_, *kernel.device->cubin));
      modules_.push_back(module);
    }
    LaunchKernel launch;
    GALATEA_ASSIGN(launch.function, module->function(kDeviceFunction));
    launch.inputs = kernel.device->inputs;
    launch.is_tiled = kernel.device->can_be_tiled;
    launch.may_fail = kernel.device->may_fail;
    launch.opcode = kernel.device->opcode;
    launch.shares_phases = kernel.device->shares_phases;
    launch.divisors = kernel.device->divisors;
    launch.threads = kernel.device->threads;
    launch.has_grid = kernel.device->has_grid;
    kernels_.push_back(launch);
  }
  return {};
}

/// Behind them in the stream is everything that reads them.
Status CudaSession::upload_constants() {
  int64_t bytes = 0;
  for (const auto& constant : program_->constant_tensors) bytes += device_bytes(constant->size());
  if (bytes == 0) return {};
  GALATEA_ASSIGN(const MemoryBlock host, pinned_->acquire(bytes, streams_.compute));
  GALATEA_ASSIGN(constant_block_, device_->acquire(bytes, streams_.compute));
  int64_t offset = 0;
  for (const auto& constant : program_->constant_tensors) {
    std::copy_n(constant->data(), constant->size(), host.host() + offset);
    constants_.emplace(constant.get(), constant_block_.device() + static_cast<DevicePointer>(offset));
    offset += device_bytes(constant->size());
  }
  return streams_.compute->upload(constant_block_.device(), host.host(), bytes);
}

/// A library that is missing or too old is the machine's; one that is there and fails is an error, so that
/// who decodes does not depend on the moment.
Status CudaSession::open_alternatives(const LoadedProgram& loaded, Priority priority) {
  for (const DeviceAlternativeFactory& factory : loaded.alternatives) {
    const auto number = static_cast<int32_t>(alternatives_.size());
    alternatives_.emplace_back();
    const bool decodes = std::ranges::any_of(loaded.natives, [&](const LoadedProgram::Native& native) {
      return native.alternative == number && native.function.category == "decode";
    });
    auto library = factory.find(context_->driver().major_version());
    if (!library && decodes && program_->decoder == DecodeChoice::kDevice)
      return std::unexpected(std::move(library.error()));
    if (!library && !decodes) counts_.host_reads_because = library.error().message();
    if (!library) continue;
    std::string& name = decodes ? counts_.decoder : counts_.storage;
    name += (name.empty() ? "" : ", ") + (*library)->describe();
    GALATEA_ASSIGN(alternatives_.back(), (*library)->open({context_, priority, device_, pinned_}));
    name += alternatives_.back()->uses();
  }
  return {};
}

std::unique_ptr<DeviceBatch> CudaSession::make_batch(int num_samples, int num_slots) {
  return std::make_unique<CudaBatch>(shared_from_this(), num_samples, num_slots);
}

uint64_t CudaSession::constant(const Buffer& constant) const {
  const auto found = constants_.find(&constant);
  return found == constants_.end() ? 0 : found->second;
}

int64_t CudaSession::chunk_bytes() const {
  std::lock_guard lock(mutex_);
  return chunk_bytes_;
}

void CudaSession::note_staged(int64_t bytes) {
  constexpr int64_t kLargest = int64_t{64} << 20;
  std::lock_guard lock(mutex_);
  chunk_bytes_ = std::max(chunk_bytes_, std::min(bytes + bytes / 8, kLargest));
}

Status CudaSession::pace(const std::shared_ptr<DeviceOutputs>& taken) {
  const auto& outputs = static_cast<const CudaOutputs&>(*taken);
  std::shared_ptr<const Event> oldest;
  {
    std::lock_guard lock(mutex_);
    taken_.push_back(outputs.ready());
    if (taken_.size() <= static_cast<size_t>(std::max(1, program_->prefetch_depth))) return {};
    oldest = std::move(taken_.front());
    taken_.pop_front();
  }
  GALATEA_ASSIGN(const bool is_done, oldest->is_done());
  return is_done ? Status{} : oldest->synchronize();
}

void CudaSession::settled(int64_t serial) {
  int64_t turn = turn_.load();
  while (turn <= serial && !turn_.compare_exchange_weak(turn, serial + 1)) {
  }
}

void CudaSession::drop_idle() {
  {
    const EnqueueTimer timer(*this);
    uploaded_.clear();
  }
  device_->drop_idle();
  pinned_->drop_idle();
}

DeviceStatistics CudaSession::statistics() const {
  auto& self = const_cast<CudaSession&>(*this);
  DeviceStatistics out;
  {
    std::lock_guard lock(self.enqueue_mutex_);
    out = counts_;
    const GraphCounts& graphs = graphs_->counts();
    out.graph_launches = graphs.launches;
    out.graph_commands = graphs.commands;
    out.plain_runs = graphs.plain;
    out.graphs_made = graphs.made;
    out.graphs_off = graphs_->off_because();
    if (times_) out.command_times = self.times_->results();
    for (const auto& alternative : alternatives_)
      if (alternative) alternative->count(out);
  }
  std::lock_guard lock(mutex_);
  out.waits = num_waits_;
  out.peak_bytes = device_->peak_bytes();
  out.peak_pinned_bytes = pinned_->peak_bytes();
  return out;
}

CudaSession::EnqueueTimer::EnqueueTimer(CudaSession& session)
    : session_(session),
      lock_(session.enqueue_mutex_),
      scope_(*session.context_),
      begin_(std::chrono::steady_clock::now()) {}

CudaSession::EnqueueTimer::~EnqueueTimer() {
  session_.counts_.enqueue_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

Result<MemoryBlock> CudaSession::take_upload_block(int64_t bytes,
                                                   const std::shared_ptr<const Stream>& stream) {
  auto out = device_->acquire(bytes, stream);
  if (!out && !uploaded_.empty()) {
    // Overlap is worth less than going on.
    uploaded_.clear();
    out = device_->acquire(bytes, stream);
  }
  if (out) out->also_used_by(streams_.compute);
  return out;
}

void CudaSession::keep_uploaded(std::vector<MemoryBlock> blocks) { uploaded_ = std::move(blocks); }

bool CudaSession::let_uploaded_go() {
  if (uploaded_.empty()) return false;
  MemoryPool::give_back(std::exchange(uploaded_, {}));
  return true;
}

void CudaSession::count_wait() {
  std::lock_guard lock(mutex_);
  ++num_waits_;
}

}  // namespace galatea::runtime::cuda

namespace galatea::runtime {

Result<std::shared_ptr<DeviceSession>> open_device_session(const LoadedProgram& loaded,
                                                           const DeviceOptions& options) {
  if (loaded.program->device < 0) return nullptr;
  return cuda::CudaSession::open(loaded, options);
}

}  // namespace galatea::runtime
