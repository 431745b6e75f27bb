// nvJPEG's objects, their lives, and the two parts of a decode.
#include "stdlib_ops/native/nvjpeg/jpeg_decoder.h"

#include <algorithm>

namespace galatea::native {

// ---- memory

JpegMemory::JpegMemory(std::shared_ptr<cuda::MemoryPool> pool, std::shared_ptr<const cuda::Stream> stream)
    : pool_(std::move(pool)), allocator_{allocate, free, this}, streams_{std::move(stream)} {}

void JpegMemory::add(const std::shared_ptr<const cuda::Stream>& stream) {
  std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  for (auto& [pointer, block] : blocks_) block.also_used_by(stream);
}

void* JpegMemory::address(const cuda::MemoryBlock& block, cuda::MemoryKind kind) {
  return kind == cuda::MemoryKind::kPinned ? static_cast<void*>(block.host())
                                           : reinterpret_cast<void*>(static_cast<uintptr_t>(block.device()));
}

Result<cuda::MemoryBlock> JpegMemory::acquire(size_t size, cuda::StreamHandle named) {
  std::vector<std::shared_ptr<const cuda::Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    streams = streams_;
  }
  auto own = std::ranges::find_if(streams, [&](const auto& stream) { return stream->handle() == named; });
  if (own == streams.end()) own = streams.begin();
  GALATEA_ASSIGN(cuda::MemoryBlock block, pool_->acquire(static_cast<int64_t>(size), *own));
  for (const auto& stream : streams)
    if (stream != *own) block.also_used_by(stream);
  return block;
}

int JpegMemory::allocate(void* self, void** pointer, size_t size, cuda::StreamHandle named) {
  auto& memory = *static_cast<JpegMemory*>(self);
  auto block = memory.acquire(size, named);
  std::lock_guard lock(memory.mutex_);
  if (!block) {
    memory.failure_ = std::move(block.error());
    return 1;
  }
  *pointer = address(*block, memory.pool_->kind());
  memory.blocks_.emplace(*pointer, std::move(*block));
  return 0;
}

int JpegMemory::free(void* self, void* pointer, size_t, cuda::StreamHandle) {
  auto& memory = *static_cast<JpegMemory*>(self);
  cuda::MemoryBlock block;  // goes back to its pool without the lock
  std::lock_guard lock(memory.mutex_);
  const auto found = memory.blocks_.find(pointer);
  if (found == memory.blocks_.end()) return 1;
  block = std::move(found->second);
  memory.blocks_.erase(found);
  return 0;
}

std::optional<Error> JpegMemory::take_failure() {
  std::lock_guard lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

// ---- the decoder

/// Holds a slot from begin() to run(); gives it back unused where the sample starts over.
class JpegDecoder::Job final : public runtime::DeviceJob {
 public:
  Job(std::shared_ptr<JpegDecoder> owner, std::unique_ptr<Slot> taken, Backend how, int64_t bytes_of_row)
      : decoder(std::move(owner)), slot(std::move(taken)), backend(how), row_bytes(bytes_of_row) {}
  Job(std::shared_ptr<JpegDecoder> owner, std::unique_ptr<JpegEngine::File> taken)
      : decoder(std::move(owner)), file(std::move(taken)) {}
  ~Job() override {
    if (slot) decoder->give_back(std::move(slot));
    if (file) decoder->engine_->give_back(std::move(file));
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::shared_ptr<JpegDecoder> decoder;
  std::unique_ptr<Slot> slot;
  Backend backend = kHostEntropy;
  int64_t row_bytes = 0;
  std::unique_ptr<JpegEngine::File> file;  ///< the engine's; else there is a slot
};

Result<std::shared_ptr<JpegDecoder>> JpegDecoder::create(std::shared_ptr<const Nvjpeg> library,
                                                         std::shared_ptr<const cuda::Context> context,
                                                         cuda::Priority priority,
                                                         std::shared_ptr<cuda::MemoryPool> device,
                                                         std::shared_ptr<cuda::MemoryPool> pinned) {
  GALATEA_ASSIGN(std::shared_ptr<const cuda::Stream> stream, cuda::Stream::create(context, priority));
  std::shared_ptr<JpegDecoder> out(
      new JpegDecoder(std::move(library), std::move(context), std::move(device), std::move(pinned), stream));
  GALATEA_TRY(out->prepare(priority));
  return out;
}

JpegDecoder::JpegDecoder(std::shared_ptr<const Nvjpeg> library, std::shared_ptr<const cuda::Context> context,
                         std::shared_ptr<cuda::MemoryPool> device, std::shared_ptr<cuda::MemoryPool> pinned,
                         const std::shared_ptr<const cuda::Stream>& stream)
    : library_(std::move(library)),
      context_(std::move(context)),
      stream_(stream),
      device_memory_(std::move(device), stream),
      pinned_memory_(std::move(pinned), stream) {}

Status JpegDecoder::prepare(cuda::Priority priority) {
  const cuda::Context::Scope scope(*context_);
  priority_ = priority;
  const jpeg::Api& api = library_->api();
  GALATEA_TRY(call(api.create, jpeg::backend::kHybrid, device_memory_.allocator(), pinned_memory_.allocator(),
                   jpeg::kFlagInterpolate, &handle_));
  GALATEA_TRY(call(api.create_decoder, handle_, jpeg::backend::kHybrid, &decoders_[kHostEntropy]));
  GALATEA_TRY(call(api.create_decoder, handle_, jpeg::backend::kGpuHybrid, &decoders_[kDeviceEntropy]));
  GALATEA_TRY(add_lane());
  return add_engine();
}

Status JpegDecoder::add_engine() {
  auto made = JpegEngine::create(*library_, device_memory_.allocator(), pinned_memory_.allocator());
  if (!made) {
    // The pool knows better what there was none of.
    return failure(jpeg::status::kAllocatorFailure, library_->api().create.name);
  }
  if (!*made) return {};
  GALATEA_ASSIGN(engine_lane_.stream, cuda::Stream::create(context_, priority_));
  GALATEA_ASSIGN(cuda::Event event, cuda::Event::create(context_));
  engine_lane_.event = std::make_unique<cuda::Event>(std::move(event));
  device_memory_.add(engine_lane_.stream);
  pinned_memory_.add(engine_lane_.stream);
  engine_ = std::move(*made);
  return {};
}

Status JpegDecoder::add_lane() {
  Lane lane;
  lane.stream = stream_;
  if (!lanes_.empty()) {
    GALATEA_ASSIGN(lane.stream, cuda::Stream::create(context_, priority_));
  }
  GALATEA_ASSIGN(cuda::Event event, cuda::Event::create(context_));
  lane.event = std::make_unique<cuda::Event>(std::move(event));
  GALATEA_TRY(call(library_->api().create_device, handle_, device_memory_.allocator(), &lane.buffer));
  if (!lanes_.empty()) {
    device_memory_.add(lane.stream);
    pinned_memory_.add(lane.stream);
  }
  lanes_.push_back(std::move(lane));
  return {};
}

JpegDecoder::~JpegDecoder() {
  const cuda::Context::Scope scope(*context_);
  // A device that is lost answers with an error, and is done as well.
  wait_for_lanes();
  engine_.reset();
  const jpeg::Api& api = library_->api();
  for (auto& slot : free_) destroy(*slot);
  for (auto& slot : running_) destroy(*slot);
  for (const Lane& lane : lanes_)
    if (lane.buffer) api.destroy_device.function(lane.buffer);
  for (const jpeg::Decoder decoder : decoders_)
    if (decoder) api.destroy_decoder.function(decoder);
  if (handle_) api.destroy.function(handle_);
}

template <typename... Parameters>
Status JpegDecoder::call(const cuda::Entry<jpeg::Status(Parameters...)>& entry,
                         std::type_identity_t<Parameters>... arguments) {
  const jpeg::Status result = entry.function(arguments...);
  if (result != jpeg::status::kSuccess) return failure(result, entry.name);
  return {};
}

std::unexpected<Error> JpegDecoder::failure(jpeg::Status result, const char* entry) {
  if (result == jpeg::status::kAllocatorFailure)
    for (JpegMemory* memory : {&device_memory_, &pinned_memory_})
      if (auto why = memory->take_failure()) return std::unexpected(std::move(*why));
  return library_->failure(result, entry, context_->device().describe());
}

// ---- slots

Result<std::unique_ptr<JpegDecoder::Slot>> JpegDecoder::make_slot() {
  auto slot = std::make_unique<Slot>();
  const jpeg::Api& api = library_->api();
  const auto fill = [&]() -> Status {
    GALATEA_TRY(call(api.create_stream, handle_, &slot->stream));
    GALATEA_TRY(call(api.create_params, handle_, &slot->params));
    return call(api.create_pinned, handle_, pinned_memory_.allocator(), &slot->pinned);
  };
  if (auto status = fill(); !status) {
    destroy(*slot);
    return std::unexpected(std::move(status.error()));
  }
  return slot;
}

Status JpegDecoder::add_state(Slot& slot, Backend backend) {
  jpeg::State& state = slot.states[backend];
  if (state) return {};
  const jpeg::Api& api = library_->api();
  GALATEA_TRY(call(api.create_state, handle_, decoders_[backend], &state));
  return call(api.attach_pinned, state, slot.pinned);
}

void JpegDecoder::destroy(Slot& slot) const {
  const jpeg::Api& api = library_->api();
  for (jpeg::State& state : slot.states)
    if (state) api.destroy_state.function(std::exchange(state, nullptr));
  if (slot.pinned) api.destroy_pinned.function(std::exchange(slot.pinned, nullptr));
  if (slot.params) api.destroy_params.function(std::exchange(slot.params, nullptr));
  if (slot.stream) api.destroy_stream.function(std::exchange(slot.stream, nullptr));
}

/// One that the device is done with: its pinned memory is written next.
Result<std::unique_ptr<JpegDecoder::Slot>> JpegDecoder::take_slot() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const std::shared_ptr<cuda::Event> used = free_.front()->used;
      bool is_done = !used;
      if (used) {
        GALATEA_ASSIGN(is_done, used->is_done());
      }
      if (is_done) {
        // One event is behind a batch: the driver is asked once for all of its slots.
        for (auto slot = free_.begin(); slot != free_.end() && (*slot)->used == used; ++slot)
          (*slot)->used.reset();
        std::unique_ptr<Slot> out = std::move(free_.front());
        free_.pop_front();
        return out;
      }
    }
  }
  return make_slot();
}

void JpegDecoder::give_back(std::unique_ptr<Slot> slot) {
  std::lock_guard lock(mutex_);
  if (slot->used)
    free_.push_back(std::move(slot));
  else
    free_.push_front(std::move(slot));
}

// ---- decoding

Result<JpegDecoder::Outcome> JpegDecoder::decode_on_host(const EncodedImage& image, Slot& slot,
                                                         Backend backend) {
  namespace status = jpeg::status;
  using status::is_the_files;
  const jpeg::Api& api = library_->api();
  const int format = image.format == EncodedImage::Format::kRgb   ? jpeg::format::kRgb
                     : image.format == EncodedImage::Format::kBgr ? jpeg::format::kBgr
                                                                  : jpeg::format::kY;
  GALATEA_TRY(call(api.set_format, slot.params, format));
  // It keeps a copy: the sample's memory may be another's when the device's part begins.
  jpeg::Status result =
      api.parse.function(handle_, image.bytes.data(), image.bytes.size(), 0, 1, slot.stream);
  if (is_the_files(result)) return Outcome::kRefused;
  if (result != status::kSuccess) return failure(result, api.parse.name);
  int refused = 0;  // 0: it is supported
  result = api.is_supported.function(decoders_[backend], slot.stream, slot.params, &refused);
  if (is_the_files(result)) return Outcome::kRefused;
  if (result != status::kSuccess) return failure(result, api.is_supported.name);
  if (refused != 0) return Outcome::kRefused;
  GALATEA_TRY(add_state(slot, backend));
  result = api.decode_on_host.function(handle_, decoders_[backend], slot.states[backend], slot.params,
                                       slot.stream);
  if (is_the_files(result)) return Outcome::kFailed;
  if (result != status::kSuccess) return failure(result, api.decode_on_host.name);
  return Outcome::kDecoded;
}

Result<std::unique_ptr<runtime::DeviceJob>> JpegDecoder::begin(const EncodedImage& image) {
  const cuda::Context::Scope scope(*context_);
  if (engine_ && image.by_engine) {
    GALATEA_ASSIGN(auto job, begin_by_engine(image));
    if (job) return job;
  }
  Backend backend = image.entropy_on_device ? kDeviceEntropy : kHostEntropy;
  for (;;) {
    GALATEA_ASSIGN(std::unique_ptr<Slot> slot, take_slot());
    const Result<Outcome> outcome = decode_on_host(image, *slot, backend);
    if (outcome && *outcome == Outcome::kDecoded)
      return std::make_unique<Job>(shared_from_this(), std::move(slot), backend, image.row_bytes());
    if (outcome && *outcome == Outcome::kRefused)
      give_back(std::move(slot));
    else
      destroy(*slot);
    if (!outcome) return std::unexpected(outcome.error());
    if (backend == kHostEntropy) return nullptr;
    backend = kHostEntropy;
  }
}

Result<std::unique_ptr<runtime::DeviceJob>> JpegDecoder::begin_by_engine(const EncodedImage& image) {
  std::unique_ptr<JpegEngine::File> file;
  const char* entry = "";
  const jpeg::Status result = engine_->begin(image, file, entry);
  if (result != jpeg::status::kSuccess) return failure(result, entry);
  if (!file) return nullptr;
  return std::make_unique<Job>(shared_from_this(), std::move(file));
}

/// Others than the first stream begin behind what it had.
Status JpegDecoder::open_batch() {
  if (is_open_) return {};
  GALATEA_TRY(lanes_.front().event->record(*stream_));
  is_open_ = true;
  return {};
}

Result<JpegDecoder::Lane*> JpegDecoder::next_lane() {
  if (lanes_.size() < kLanes && running_.size() >= lanes_.size()) GALATEA_TRY(add_lane());
  Lane& lane = lanes_[running_.size() % lanes_.size()];
  if (lane.stream != stream_ && !lane.has_work) GALATEA_TRY(lane.stream->wait_for(*lanes_.front().event));
  return &lane;
}

Status JpegDecoder::run(std::unique_ptr<runtime::DeviceJob>& job, cuda::DevicePointer to) {
  auto& own = static_cast<Job&>(*job);
  GALATEA_TRY(open_batch());
  if (own.file) {
    engine_->add(std::move(own.file), to);
    job.reset();
    return {};
  }
  const jpeg::Api& api = library_->api();
  Slot& slot = *own.slot;
  const jpeg::State state = slot.states[own.backend];
  jpeg::Image image;
  image.channel[0] = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(to));
  image.pitch[0] = static_cast<size_t>(own.row_bytes);
  GALATEA_ASSIGN(Lane* const lane, next_lane());
  const cuda::StreamHandle stream = lane->stream->handle();
  GALATEA_TRY(call(api.attach_device, state, lane->buffer));
  // From here on the device may be at work on it, also where a call fails.
  lane->has_work = true;
  Status status = call(api.transfer, handle_, decoders_[own.backend], state, slot.stream, stream);
  if (status) status = call(api.decode_on_device, handle_, decoders_[own.backend], state, &image, stream);
  if (!status) {
    (void)lane->stream->synchronize();
    return status;
  }
  running_.push_back(std::move(own.slot));
  job.reset();
  return {};
}

Status JpegDecoder::join_lanes() {
  const cuda::Stream& first = *stream();
  const auto join = [&](Lane& lane) -> Status {
    if (!std::exchange(lane.has_work, false) || lane.stream.get() == &first) return {};
    GALATEA_TRY(lane.event->record(*lane.stream));
    return first.wait_for(*lane.event);
  };
  for (Lane& lane : lanes_) GALATEA_TRY(join(lane));
  return join(engine_lane_);
}

/// Its files of the batch, in one call.
Status JpegDecoder::run_engine() {
  if (!engine_ || !engine_->has_work()) return {};
  GALATEA_TRY(engine_lane_.stream->wait_for(*lanes_.front().event));
  engine_lane_.has_work = true;
  const char* entry = "";
  const jpeg::Status result = engine_->enqueue(engine_lane_.stream->handle(), entry);
  if (result != jpeg::status::kSuccess) return failure(result, entry);
  return {};
}

void JpegDecoder::wait_for_lanes() {
  for (Lane& lane : lanes_) {
    (void)lane.stream->synchronize();
    lane.has_work = false;
  }
  if (!engine_) return;
  (void)engine_lane_.stream->synchronize();
  engine_lane_.has_work = false;
}

Status JpegDecoder::finish() {
  if (!std::exchange(is_open_, false)) return {};
  auto made = cuda::Event::create(context_);
  Status status = run_engine();
  if (status) status = join_lanes();
  if (status) status = made ? made->record(*stream()) : Status(std::unexpected(std::move(made.error())));
  std::shared_ptr<cuda::Event> used;
  if (status)
    used = std::make_shared<cuda::Event>(std::move(*made));
  else
    wait_for_lanes();
  for (auto& slot : running_) {
    slot->used = used;
    give_back(std::move(slot));
  }
  running_.clear();
  if (engine_) engine_->finish(used);
  return status;
}

}  // namespace galatea::native
