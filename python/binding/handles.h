// What every object of galatea._c stands on: errors become exceptions, and nothing of a parent process is
// touched in a forked child.
//
// Comes in: results of include/galatea.h. Goes out: Python's exceptions, handles that end what they own.
#pragma once

#include <galatea.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace galatea_python {

namespace nb = nanobind;

/// Counts forks that led to this process. The threads of an engine or a session stay in the parent, and its
/// locks may be held by them: what was made before a fork is neither used nor destroyed behind it.
unsigned fork_generation();

/// Throws the exception that galatea.errors makes of an error, which is destroyed. Needs the GIL.
[[noreturn]] void raise(galatea_error* error);
[[noreturn]] void raise_closed(const char* what);
[[noreturn]] void raise_forked(const char* what);

inline void check(galatea_error* error) {
  if (error) raise(error);
}

/// A string that a `_take` gave.
nb::str take_string(char* text);

/// A scope without the GIL. At the interpreter's end a daemon thread that wants the GIL back is ended by
/// pthread_exit(), which C++ does not survive: such a thread sleeps here until the process is gone.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released();

 private:
  PyThreadState* state_;
};
/// Whether this thread of the library is inside a callable: a session that it destroyed would wait for it, and
/// the end of the interpreter does.
extern thread_local bool t_is_pulling;
/// Sleeps until the process is gone where another thread ends the interpreter: Python code that is called
/// from C++ may give the GIL away, too.
void stay_if_others_exit();
/// From now on no other thread comes back from a Released; returns when those that were about to have done so.
void begin_exit();

/// Owns a handle of the library. Destroys it without the GIL, since that may wait for threads that need it.
template <typename T, void (*kDestroy)(T*)>
class Owner {
 public:
  explicit Owner(const char* what) : what_(what) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }

  T** put() {
    generation_ = fork_generation();
    return &handle_;
  }
  T* get() const {
    if (handle_ == nullptr) raise_closed(what_);
    if (generation_ != fork_generation()) raise_forked(what_);
    return handle_;
  }
  /// Without a check, and so without the GIL; null where it was closed.
  T* peek() const { return handle_; }
  bool is_open() const { return handle_ != nullptr; }
  bool is_ours() const { return generation_ == fork_generation(); }
  T* release() { return std::exchange(handle_, nullptr); }
  void reset() {
    T* const handle = std::exchange(handle_, nullptr);
    if (handle == nullptr || !is_ours()) return;
    const Released released;
    kDestroy(handle);
  }

 private:
  const char* what_;
  T* handle_ = nullptr;
  unsigned generation_ = 0;
};

void bind_engine(nb::module_& module);
void bind_program(nb::module_& module);
void bind_session(nb::module_& module);
void bind_batch(nb::module_& module);

}  // namespace galatea_python
