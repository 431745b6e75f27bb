// A device in use: its context, streams, events, and modules of code.
//
// Comes in: a device's number. Goes out: objects that own what the driver made and give it back with their
// last reference, on any thread. The context is the device's primary one, which a host's own CUDA code (a
// training framework) shares; it is current only inside of a call, or of a scope of many, so that the host's
// choice stands. So long the thread's calls are let through while the host captures a graph on another one.
//
// Invariant: nothing here waits for the device but functions named synchronize(), in which the thread sleeps
// unless the setting GALATEA_CUDA_SPIN is on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/cuda/driver.h"
#include "runtime/device_session.h"

namespace galatea::runtime::cuda {

class Context {
 public:
  static Result<std::shared_ptr<const Context>> open(std::shared_ptr<const Driver> driver, int device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return *driver_; }
  const DriverApi& api() const { return driver_->api(); }
  const Device& device() const { return device_; }
  ContextHandle handle() const { return handle_; }
  /// Whether threads that wait for the device ask it again and again, instead of sleeping.
  bool spins() const { return spins_; }

  /// Many calls in a row: the context stays current on this thread until the scope ends.
  class Scope {
   public:
    explicit Scope(const Context& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Context& context_;
    const Context* before_;
    bool is_pushed_ = false;
    int capture_mode_ = capture_mode::kRelaxed;
  };

  /// Calls the driver with this context current.
  template <typename... Parameters>
  Code call_raw(const Entry<Code(Parameters...)>& entry,
                std::type_identity_t<Parameters>... arguments) const {
    if (is_current()) return entry.function(arguments...);
    int mode = capture_mode::kRelaxed;
    if (const Code result = push(mode); result != code::kSuccess) return result;
    const Code result = entry.function(arguments...);
    pop(mode);
    return result;
  }
  template <typename... Parameters>
  Status call(const Entry<Code(Parameters...)>& entry, std::type_identity_t<Parameters>... arguments) const {
    const Code result = call_raw(entry, arguments...);
    if (result != code::kSuccess) return failure(result, entry.name);
    return {};
  }
  /// Gives something back: as far as it goes, also on a device that is lost.
  template <typename... Parameters>
  void release(const Entry<Code(Parameters...)>& entry, std::type_identity_t<Parameters>... arguments) const {
    int mode = capture_mode::kRelaxed;
    const bool is_pushed = !is_current() && push(mode) == code::kSuccess;
    entry.function(arguments...);
    if (is_pushed) pop(mode);
  }
  std::unexpected<Error> failure(Code result, const char* entry) const {
    return driver_->failure(result, entry, device_.describe());
  }

 private:
  bool is_current() const;
  /// Makes the context current and exchanges the thread's capture mode for `mode`; pop() takes both back.
  Code push(int& mode) const;
  void pop(int& mode) const;
  Context(std::shared_ptr<const Driver> driver, Device device)
      : driver_(std::move(driver)), device_(std::move(device)) {}

  std::shared_ptr<const Driver> driver_;
  Device device_;
  ContextHandle handle_ = nullptr;
  bool spins_ = false;
};

using Priority = DevicePriority;

class Event;

/// Work in order, independent of other streams and of the host's default stream. What stands behind a
/// stream's destruction still runs.
class Stream {
 public:
  static Result<std::shared_ptr<Stream>> create(std::shared_ptr<const Context> context,
                                                Priority priority = Priority::kDefault);
  /// A stream of the host's own, which it destroys itself, later than this; or one that each process has.
  static std::shared_ptr<const Stream> borrow(std::shared_ptr<const Context> context, StreamHandle handle);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::shared_ptr<const Context>& context() const { return context_; }
  StreamHandle handle() const { return handle_; }

  /// What is enqueued from now on runs after what `event` was last recorded behind.
  Status wait_for(const Event& event) const;
  Status upload(DevicePointer to, const void* from, int64_t bytes) const;
  Status download(void* to, DevicePointer from, int64_t bytes) const;
  Status copy(DevicePointer to, DevicePointer from, int64_t bytes) const;
  /// `arguments`: the addresses of the kernel's, which are read at once.
  Status launch(FunctionHandle function, uint32_t num_blocks, uint32_t num_threads,
                std::span<void*> arguments) const;
  /// Whether the host captures a graph there, so that nothing can be recorded or waited for but by the graph.
  bool is_capturing() const;
  Status synchronize() const;

 private:
  explicit Stream(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  std::shared_ptr<const Context> context_;
  StreamHandle handle_ = nullptr;
  bool is_borrowed_ = false;
};

/// A point in a stream.
class Event {
 public:
  enum class Kind : uint8_t { kOrder, kTime };
  static Result<Event> create(std::shared_ptr<const Context> context, Kind kind = Kind::kOrder);
  Event(Event&& other) noexcept : context_(std::move(other.context_)), handle_(other.handle_) {
    other.handle_ = nullptr;
  }
  Event& operator=(Event&& other) noexcept;
  ~Event();

  EventHandle handle() const { return handle_; }
  Status record(const Stream& stream);
  /// Whether everything in front of it is done (true if it was never recorded).
  Result<bool> is_done() const;
  Status synchronize() const;
  /// From `begin` to this, both of Kind::kTime and done.
  Result<double> seconds_since(const Event& begin) const;

 private:
  explicit Event(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  std::shared_ptr<const Context> context_;
  EventHandle handle_ = nullptr;
};

/// Code on the device.
class Module {
 public:
  /// `cubin` is for the device's architecture.
  static Result<std::shared_ptr<const Module>> load(std::shared_ptr<const Context> context,
                                                    const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Valid as long as the module.
  Result<FunctionHandle> function(const std::string& name) const;
  const std::shared_ptr<const Context>& context() const { return context_; }

 private:
  explicit Module(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  std::shared_ptr<const Context> context_;
  ModuleHandle handle_ = nullptr;
};

}  // namespace galatea::runtime::cuda
