// The calls behind context.h.
#include "runtime/cuda/context.h"

#include <utility>

#include "base/settings.h"

namespace galatea::runtime::cuda {

Result<std::shared_ptr<const Context>> Context::open(std::shared_ptr<const Driver> driver, int device) {
  GALATEA_ASSIGN(Device found, driver->device(device));
  std::shared_ptr<Context> out(new Context(std::move(driver), std::move(found)));
  out->spins_ = setting_bool("GALATEA_CUDA_SPIN");
  const auto& entry = out->api().retain_context;
  if (const Code result = entry.function(&out->handle_, out->device_.number); result != code::kSuccess) {
    out->handle_ = nullptr;
    return out->failure(result, entry.name);
  }
  return out;
}

Context::~Context() {
  if (handle_) api().release_context.function(device_.number);
}

namespace {
/// Of the innermost scope on this thread.
thread_local const Context* current = nullptr;
}  // namespace

bool Context::is_current() const { return current == this; }

Code Context::push(int& mode) const {
  const Code result = api().push_context.function(handle_);
  if (result == code::kSuccess) api().exchange_capture_mode.function(&mode);
  return result;
}

void Context::pop(int& mode) const {
  api().exchange_capture_mode.function(&mode);
  ContextHandle popped = nullptr;
  api().pop_context.function(&popped);
}

Context::Scope::Scope(const Context& context) : context_(context), before_(current) {
  if (context.is_current()) return;
  // Where that fails, each call inside fails for itself, and says so.
  is_pushed_ = context.push(capture_mode_) == code::kSuccess;
  if (is_pushed_) current = &context;
}

Context::Scope::~Scope() {
  if (!is_pushed_) return;
  current = before_;
  context_.pop(capture_mode_);
}

Result<std::shared_ptr<Stream>> Stream::create(std::shared_ptr<const Context> context, Priority priority) {
  int least = 0, greatest = 0;
  GALATEA_TRY(context->call(context->api().priority_range, &least, &greatest));
  const int number = priority == Priority::kLow ? least : priority == Priority::kHigh ? greatest : 0;
  std::shared_ptr<Stream> out(new Stream(std::move(context)));
  GALATEA_TRY(
      out->context_->call(out->context_->api().create_stream, &out->handle_, kStreamNonBlocking, number));
  return out;
}

std::shared_ptr<const Stream> Stream::borrow(std::shared_ptr<const Context> context, StreamHandle handle) {
  std::shared_ptr<Stream> out(new Stream(std::move(context)));
  out->handle_ = handle;
  out->is_borrowed_ = true;
  return out;
}

Stream::~Stream() {
  if (handle_ && !is_borrowed_) context_->release(context_->api().destroy_stream, handle_);
}

Status Stream::wait_for(const Event& event) const {
  return context_->call(context_->api().wait_event, handle_, event.handle(), 0);
}

Status Stream::upload(DevicePointer to, const void* from, int64_t bytes) const {
  if (bytes == 0) return {};
  return context_->call(context_->api().upload, to, from, static_cast<size_t>(bytes), handle_);
}

Status Stream::download(void* to, DevicePointer from, int64_t bytes) const {
  if (bytes == 0) return {};
  return context_->call(context_->api().download, to, from, static_cast<size_t>(bytes), handle_);
}

Status Stream::copy(DevicePointer to, DevicePointer from, int64_t bytes) const {
  if (bytes == 0) return {};
  return context_->call(context_->api().copy, to, from, static_cast<size_t>(bytes), handle_);
}

Status Stream::launch(FunctionHandle function, uint32_t num_blocks, uint32_t num_threads,
                      std::span<void*> arguments) const {
  return context_->call(context_->api().launch, function, num_blocks, 1, 1, num_threads, 1, 1, 0, handle_,
                        arguments.data(), nullptr);
}

bool Stream::is_capturing() const {
  // Nobody else has a stream of galatea's own.
  if (!is_borrowed_) return false;
  int capture = kNoCapture;
  const Code result = context_->call_raw(context_->api().is_capturing, handle_, &capture);
  // Of the legacy stream: another that waits for it, and for which it waits, is being captured.
  return result == code::kCaptureImplicit || (result == code::kSuccess && capture != kNoCapture);
}

Status Stream::synchronize() const {
  // How a thread waits for a stream is the context's, which is the host's; how for an event, the event's.
  if (!context_->spins()) {
    if (auto event = Event::create(context_)) {
      GALATEA_TRY(event->record(*this));
      return event->synchronize();
    }
  }
  return context_->call(context_->api().synchronize_stream, handle_);
}

Result<Event> Event::create(std::shared_ptr<const Context> context, Kind kind) {
  Event out(std::move(context));
  const unsigned flags =
      (kind == Kind::kOrder ? kEventDisableTiming : 0) | (out.context_->spins() ? 0 : kEventBlockingSync);
  GALATEA_TRY(out.context_->call(out.context_->api().create_event, &out.handle_, flags));
  return out;
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_) context_->release(context_->api().destroy_event, handle_);
}

Status Event::record(const Stream& stream) {
  return context_->call(context_->api().record_event, handle_, stream.handle());
}

Result<bool> Event::is_done() const {
  const auto& entry = context_->api().query_event;
  const Code result = context_->call_raw(entry, handle_);
  if (result == code::kNotReady) return false;
  if (result != code::kSuccess) return context_->failure(result, entry.name);
  return true;
}

Status Event::synchronize() const { return context_->call(context_->api().synchronize_event, handle_); }

Result<double> Event::seconds_since(const Event& begin) const {
  float milliseconds = 0;
  GALATEA_TRY(context_->call(context_->api().event_time, &milliseconds, begin.handle_, handle_));
  return static_cast<double>(milliseconds) / 1e3;
}

Result<std::shared_ptr<const Module>> Module::load(std::shared_ptr<const Context> context,
                                                   const std::string& cubin) {
  std::shared_ptr<Module> out(new Module(std::move(context)));
  GALATEA_TRY(out->context_->call(out->context_->api().load_module, &out->handle_, cubin.data()));
  return out;
}

Module::~Module() {
  if (handle_) context_->release(context_->api().unload_module, handle_);
}

Result<FunctionHandle> Module::function(const std::string& name) const {
  FunctionHandle out = nullptr;
  GALATEA_TRY(context_->call(context_->api().find_function, &out, handle_, name.c_str()));
  return out;
}

}  // namespace galatea::runtime::cuda
