// galatea._c: include/galatea.h for Python. Handles, errors, ports, DLPack; what they are good for is said
// in the Python files beside it.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "binding/handles.h"

namespace galatea_python {

thread_local bool t_is_pulling = false;

namespace {

std::atomic<unsigned> g_generation{0};
std::atomic<std::thread::id> g_exiting{std::thread::id()};
std::atomic<int> g_acquiring{0};

bool others_exit() {
  const std::thread::id exiting = g_exiting.load();
  return !t_is_pulling && exiting != std::thread::id() && exiting != std::this_thread::get_id();
}

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

Released::~Released() {
  g_acquiring.fetch_add(1);
  if (others_exit()) {
    g_acquiring.fetch_sub(1);
    sleep_for_ever();
  }
  PyEval_RestoreThread(state_);
  g_acquiring.fetch_sub(1);
}

void stay_if_others_exit() {
  if (!others_exit()) return;
  PyEval_SaveThread();
  sleep_for_ever();
}

unsigned fork_generation() { return g_generation.load(std::memory_order_relaxed); }

void raise(galatea_error* error) {
  stay_if_others_exit();
  const std::unique_ptr<galatea_error, void (*)(galatea_error*)> owned(error, galatea_error_destroy);
  const nb::object exception =
      nb::module_::import_("galatea.errors")
          .attr("exception_of")(static_cast<int>(galatea_error_get_kind(error)),
                                galatea_error_code_borrow(error), galatea_error_message_borrow(error),
                                galatea_error_text_borrow(error), galatea_error_json_borrow(error));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void raise_closed(const char* what) {
  stay_if_others_exit();
  const nb::object type = nb::module_::import_("galatea.errors").attr("ClosedError");
  PyErr_Format(type.ptr(), "the %s was closed; make another one", what);
  throw nb::python_error();
}

void raise_forked(const char* what) {
  stay_if_others_exit();
  const nb::object type = nb::module_::import_("galatea.errors").attr("ForkError");
  PyErr_Format(
      type.ptr(),
      "the %s was made before this process was forked, and its threads stayed in the parent; make it "
      "in the child, or start the child by \"spawn\" or \"forkserver\"",
      what);
  throw nb::python_error();
}

void begin_exit() {
  g_exiting = std::this_thread::get_id();
  PyThreadState* const state = PyEval_SaveThread();
  while (g_acquiring > 0) std::this_thread::yield();
  PyEval_RestoreThread(state);
}

nb::str take_string(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owned(text, galatea_string_destroy);
  return nb::str(text);
}

}  // namespace galatea_python

NB_MODULE(_c, module) {
  using namespace galatea_python;
  // What lives at the interpreter's end is the program's business, and is ended by galatea.engine.
  nb::set_leak_warnings(false);
  ::pthread_atfork(nullptr, nullptr, [] {
    g_generation.fetch_add(1, std::memory_order_relaxed);
    g_acquiring = 0;
  });
  module.doc() = "The C API of galatea (include/galatea.h), handle by handle.";
  module.def("version", [] { return galatea_version_borrow(); });
  module.def("fork_generation", &fork_generation, "How many forks led to this process.");
  bind_engine(module);
  bind_program(module);
  bind_session(module);
  bind_batch(module);
}
