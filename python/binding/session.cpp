// Sessions: waiting for batches so that Ctrl-C gets through, feeding by copy or loan, and Python callables that
// are pulled.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "binding/batch.h"
#include "binding/program.h"

namespace galatea_python {
namespace {

using Clock = std::chrono::steady_clock;
using Array = nb::ndarray<nb::ro, nb::device::cpu>;

/// How long a wait goes on before it looks for signals, and lets other threads at the session.
constexpr int64_t kSliceMs = 20;

// ------------------------------------------------------------------------------------------------ arrays

galatea_dtype dtype_of(nb::dlpack::dtype type) {
  const int log = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : type.bits == 64 ? 3 : -1;
  if (type.lanes == 1 && log >= 0) switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
      case nb::dlpack::dtype_code::UInt:
        return static_cast<galatea_dtype>(GALATEA_UINT8 + log);
      case nb::dlpack::dtype_code::Int:
        return static_cast<galatea_dtype>(GALATEA_INT8 + log);
      case nb::dlpack::dtype_code::Float:
        if (log > 0) return static_cast<galatea_dtype>(GALATEA_FLOAT16 + log - 1);
        break;
      case nb::dlpack::dtype_code::Bool:
        if (log == 0) return GALATEA_BOOL;
        break;
      default:
        break;
    }
  return GALATEA_NO_DTYPE;
}

/// Tensors over the arrays of Python, which live as long.
struct Arrays {
  std::vector<Array> arrays;
  std::vector<galatea_tensor> tensors;
};

std::string type_text(nb::handle object) { return nb::cast<std::string>(nb::type_name(object.type())); }

galatea_tensor tensor_of(const Array& array, nb::handle object, size_t first_axis) {
  galatea_tensor tensor{};
  tensor.dtype = dtype_of(array.dtype());
  if (tensor.dtype == GALATEA_NO_DTYPE)
    throw nb::type_error(("the elements of a " + type_text(object) +
                          " are of a type that galatea does not have; convert it to one of bool, (u)int8 to "
                          "64, float16 to 64")
                             .c_str());
  const size_t rank = array.ndim() - first_axis;
  if (rank > GALATEA_MAX_RANK)
    throw nb::value_error(("an array has " + std::to_string(rank) + " dimensions; at most " +
                           std::to_string(GALATEA_MAX_RANK) + " can be given")
                              .c_str());
  tensor.ndim = static_cast<int32_t>(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    tensor.extents[axis] = static_cast<int64_t>(array.shape(axis + first_axis));
    tensor.strides[axis] = array.stride(axis + first_axis);
  }
  tensor.data = const_cast<void*>(array.data());
  return tensor;
}

Array array_of(nb::handle object) {
  Array array;
  if (nb::try_cast<Array>(object, array)) return array;
  PyErr_Clear();
  throw nb::type_error(("a " + type_text(object) +
                        " is no array of the host's memory; give something with __dlpack__ or the buffer "
                        "protocol, such as a numpy array")
                           .c_str());
}

/// A list of arrays is a sample each; one array has the samples along its first axis.
Arrays arrays_of(nb::handle object, const std::optional<std::string>& layout) {
  Arrays out;
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    for (nb::handle item : object) {
      out.arrays.push_back(array_of(item));
      out.tensors.push_back(tensor_of(out.arrays.back(), item, 0));
    }
  } else {
    out.arrays.push_back(array_of(object));
    const Array& array = out.arrays.front();
    if (array.ndim() == 0)
      throw nb::value_error(
          "a batch is a list of arrays, or one array with the samples along its first axis");
    galatea_tensor tensor = tensor_of(array, object, 1);
    const int64_t step = array.stride(0) * static_cast<int64_t>(array.itemsize());
    for (size_t sample = 0; sample < array.shape(0); ++sample) {
      out.tensors.push_back(tensor);
      tensor.data = static_cast<char*>(tensor.data) + step;
    }
  }
  if (layout)
    for (galatea_tensor& tensor : out.tensors) tensor.layout = layout->c_str();
  return out;
}

// ------------------------------------------------------------------------------------------------ lending

/// Arrays that the library reads where they lie. It gives them back on any thread, with locks of its own held
/// that a thread with the GIL may wait for: they are put down here, and let go of at the session's next call.
class Loans {
 public:
  /// What one feed lent: the context of its release.
  struct Loan {
    std::shared_ptr<Loans> loans;
    Arrays arrays;
  };
  static void give_back(void* context) {
    auto* const loan = static_cast<Loan*>(context);
    const std::shared_ptr<Loans> loans = loan->loans;
    const std::lock_guard lock(loans->mutex_);
    if (!loans->is_closed_)
      loans->returned_.emplace_back(loan);
    else  // by a batch that outlived its session; where too many calls wait already, the arrays stay
      Py_AddPendingCall(
          [](void* late) {
            delete static_cast<Loan*>(late);
            return 0;
          },
          loan);
  }
  /// Needs the GIL.
  void let_go() {
    std::vector<std::unique_ptr<Loan>> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(returned_);
  }
  /// The session has ended. Needs the GIL.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    let_go();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Loan>> returned_;
  bool is_closed_ = false;
};

// ------------------------------------------------------------------------------------------------ pulling

/// A Python callable that makes the samples of an input. The library owns it, and ends it with the session.
struct Pulled {
  nb::object callable;
  bool per_batch = false;
  std::optional<std::string> layout;
  nb::object failure;  ///< what it raised last
};

/// What a callable raised, as the text of the samples that could not be made.
void fail(Pulled& self, galatea_pull* pull, int32_t num_samples, nb::handle exception) {
  std::string text = "a Python callable failed";
  try {
    self.failure = nb::borrow(exception);
    text = nb::cast<std::string>(
        nb::module_::import_("galatea.errors").attr("failure_text")(self.callable, exception));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable(self.callable);
  }
  for (int32_t sample = 0; sample < num_samples; ++sample) galatea_pull_fail(pull, text.c_str());
}

void pull_samples(Pulled& self, galatea_pull* pull) {
  const int32_t wanted = galatea_pull_num_samples(pull);
  try {
    const nb::object result =
        self.callable(galatea_pull_epoch(pull), galatea_pull_batch(pull), galatea_pull_sample(pull), wanted);
    const Arrays given = arrays_of(result, self.layout);
    if (static_cast<int64_t>(given.tensors.size()) > wanted || given.tensors.empty())
      throw nb::value_error((std::to_string(given.tensors.size()) + " samples were given, and " +
                             std::to_string(wanted) +
                             " are wanted; fewer may be given, but at least one (raise StopIteration at the "
                             "end of an epoch)")
                                .c_str());
    galatea_error* error = nullptr;
    {
      const Released released;
      for (const galatea_tensor& tensor : given.tensors)
        if (!error) error = galatea_pull_give(pull, &tensor, nullptr);
    }
    check(error);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_StopIteration)) return galatea_pull_end(pull);
    fail(self, pull, wanted, error.value());
  } catch (const std::exception& error) {
    const bool is_type =
        dynamic_cast<const nb::builtin_exception*>(&error) != nullptr &&
        static_cast<const nb::builtin_exception&>(error).type() == nb::exception_type::type_error;
    const nb::object type = nb::borrow(is_type ? PyExc_TypeError : PyExc_ValueError);
    fail(self, pull, wanted, type(error.what()));
  }
}

// ------------------------------------------------------------------------------------------------ sessions

class Session;

/// Sessions that are open, for galatea.engine to end before the interpreter does. Guarded by the GIL.
std::set<Session*>& open_sessions() {
  static auto* const sessions = new std::set<Session*>();
  return *sessions;
}

class Session {
 public:
  Session(const Program& program, const galatea_session_options& options) {
    galatea_program* const handle = program.get();
    galatea_error* error = nullptr;
    {
      const Released released;
      error = galatea_session_create(handle, &options, session_.put());
    }
    check(error);
    open_sessions().insert(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { close(); }

  void close() {
    open_sessions().erase(this);
    if (!session_.is_open()) return;
    pulled_.clear();
    if (!session_.is_ours()) return static_cast<void>(session_.release());
    galatea_session_cancel(session_.get());
    if (t_is_pulling) {
      loans_->close();
      // It would wait for this thread. Others may still be waiting in the session.
      std::thread([locks = locks_, handle = session_.release()] {
        const std::lock_guard feed_lock(locks->feed);
        const std::lock_guard lock(locks->take);
        galatea_session_destroy(handle);
      }).detach();
      return;
    }
    {
      // Another thread may be waiting in there; it leaves within a slice.
      const Released released;
      const std::lock_guard feed_lock(locks_->feed);
      const std::lock_guard lock(locks_->take);
      galatea_session_destroy(session_.release());
    }
    loans_->close();
  }

  nb::object next(int64_t timeout_ms) {
    loans_->let_go();
    return waited(
        timeout_ms,
        [&](int64_t slice) -> std::pair<galatea_error*, nb::object> {
          galatea_batch* batch = nullptr;
          galatea_error* const error = call(locks_->take, [&](galatea_session* session) {
            return galatea_session_next(session, slice, &batch);
          });
          return {error, batch ? nb::cast(new Batch(batch), nb::rv_policy::take_ownership) : nb::none()};
        },
        GALATEA_CODE_TIMEOUT);
  }

  /// `lends`: the arrays are read where they lie, and nobody changes them as long as they live.
  void feed(const std::string& input, nb::handle samples, const std::optional<std::vector<int64_t>>& ids,
            int64_t timeout_ms, const std::optional<std::string>& layout, bool lends) {
    loans_->let_go();
    auto loan = std::make_unique<Loans::Loan>(loans_, arrays_of(samples, layout));
    const std::vector<galatea_tensor>& tensors = loan->arrays.tensors;
    if (ids && ids->size() != tensors.size())
      throw nb::value_error((std::to_string(tensors.size()) + " samples have " + std::to_string(ids->size()) +
                             " ids; give one for each")
                                .c_str());
    const auto count = static_cast<int32_t>(tensors.size());
    const int64_t* const numbers = ids ? ids->data() : nullptr;
    void (*const release)(void*) = lends ? &Loans::give_back : nullptr;
    const auto give = [&](galatea_session* session, std::optional<int64_t> patience_ms) {
      galatea_error* error = nullptr;
      if (patience_ms)
        error = galatea_session_feed_within(session, *patience_ms, input.c_str(), tensors.data(), count,
                                            numbers, release, loan.get());
      else if (lends)
        error = galatea_session_feed_borrowed(session, input.c_str(), tensors.data(), count, numbers, release,
                                              loan.get());
      else
        error = galatea_session_feed(session, input.c_str(), tensors.data(), count, numbers);
      // From here on it is let go of by its release, which may have been called already.
      if (lends && !error) static_cast<void>(loan.release());
      return error;
    };
    if (timeout_ms == 0)
      return check(call(locks_->feed, [&](galatea_session* session) { return give(session, std::nullopt); }));
    waited(
        timeout_ms,
        [&](int64_t slice) -> std::pair<galatea_error*, nb::object> {
          return {call(locks_->feed, [&](galatea_session* session) { return give(session, slice); }),
                  nb::none()};
        },
        GALATEA_CODE_QUEUE_FULL);
  }

  void end_of_feed() { check(call(locks_->feed, galatea_session_end_of_feed)); }

  void pull_input(const std::string& name, nb::object callable, bool per_batch,
                  const std::optional<std::string>& layout) {
    auto context = std::make_unique<Pulled>(Pulled{std::move(callable), per_batch, layout, nb::none()});
    galatea_pulled_input input;
    galatea_pulled_input_init(&input);
    input.per_batch = per_batch ? 1 : 0;
    input.context = context.get();
    input.pull = [](void* pulled, galatea_pull* pull) {
      const nb::gil_scoped_acquire acquired;
      t_is_pulling = true;
      pull_samples(*static_cast<Pulled*>(pulled), pull);
      t_is_pulling = false;
    };
    input.destroy = [](void* pulled) {
      const nb::gil_scoped_acquire acquired;
      delete static_cast<Pulled*>(pulled);
    };
    check(call(locks_->take, [&](galatea_session* session) {
      return galatea_session_pull_input(session, name.c_str(), &input);
    }));
    pulled_.push_back(context.release());
  }

  nb::str state() {
    char* text = nullptr;
    check(call(locks_->take,
               [&](galatea_session* session) { return galatea_session_state_take(session, &text); }));
    return take_string(text);
  }
  nb::str ports_json() {
    char* text = nullptr;
    check(call(locks_->take,
               [&](galatea_session* session) { return galatea_session_ports_json_take(session, &text); }));
    return take_string(text);
  }
  nb::str statistics() {
    char* text = nullptr;
    check(call(locks_->take, [&](galatea_session* session) {
      return galatea_session_statistics_json_take(session, &text);
    }));
    return take_string(text);
  }
  int64_t epoch_size() {
    int64_t size = 0;
    call(locks_->take, [&](galatea_session* session) {
      size = galatea_session_epoch_size(session);
      return static_cast<galatea_error*>(nullptr);
    });
    return size;
  }
  void cancel() { galatea_session_cancel(session_.get()); }
  bool is_closed() const { return !session_.is_open(); }

  /// What a callable raised last, and forgets it.
  nb::object take_failure() {
    for (Pulled* pulled : pulled_)
      if (!pulled->failure.is_none()) return std::exchange(pulled->failure, nb::none());
    return nb::none();
  }

  int traverse(visitproc visit, void* arg) {
    for (Pulled* pulled : pulled_) {
      Py_VISIT(pulled->callable.ptr());
      Py_VISIT(pulled->failure.ptr());
    }
    return 0;
  }

 private:
  /// Calls the library without the GIL, one thread at a time.
  template <typename Function>
  galatea_error* call(std::mutex& mutex, Function function) {
    stay_if_others_exit();
    session_.get();
    galatea_error* error = nullptr;
    bool was_open = false;
    {
      const Released released;
      const std::lock_guard lock(mutex);
      // Another thread may have closed it meanwhile.
      galatea_session* const handle = session_.peek();
      was_open = handle != nullptr;
      if (was_open) error = function(handle);
    }
    if (!was_open) raise_closed("session");
    return error;
  }

  /// Calls in slices until something else than `code` comes out, the time is over, or a signal came.
  template <typename Function>
  nb::object waited(int64_t timeout_ms, Function function, const char* code) {
    const auto end = Clock::now() + std::chrono::milliseconds(std::max<int64_t>(timeout_ms, 0));
    for (;;) {
      int64_t slice = kSliceMs;
      if (timeout_ms >= 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        slice = std::clamp<int64_t>(left, 0, kSliceMs);
      }
      auto [error, result] = function(slice);
      if (!error) return result;
      const bool is_early =
          std::strcmp(galatea_error_code_borrow(error), code) == 0 && (timeout_ms < 0 || Clock::now() < end);
      if (!is_early) raise(error);
      galatea_error_destroy(error);
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  Owner<galatea_session, galatea_session_destroy> session_{"session"};
  /// In the library one thread takes, and one feeds.
  struct Locks {
    std::mutex take, feed;
  };
  const std::shared_ptr<Locks> locks_ = std::make_shared<Locks>();
  const std::shared_ptr<Loans> loans_ = std::make_shared<Loans>();
  std::vector<Pulled*> pulled_;  ///< the library's, while the session is open
};

int session_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  return nb::inst_ready(self) ? nb::inst_ptr<Session>(self)->traverse(visit, arg) : 0;
}

int session_clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Session>(self)->close();
  return 0;
}

void make_session(Session* self, const Program& program, int32_t num_threads, int32_t max_held_batches,
                  bool synchronous, int32_t device, int32_t device_priority, int64_t device_memory_limit,
                  bool device_graphs, const std::optional<std::string>& state, bool wait_for_feed,
                  int32_t num_shards, int32_t shard_id) {
  galatea_session_options options;
  galatea_session_options_init(&options);
  options.num_threads = num_threads;
  options.max_held_batches = max_held_batches;
  options.synchronous = synchronous ? 1 : 0;
  options.device = device;
  options.device_priority = device_priority;
  options.device_memory_limit = device_memory_limit;
  options.device_graphs = device_graphs ? 1 : 0;
  options.state = state ? state->c_str() : nullptr;
  options.wait_for_feed = wait_for_feed ? 1 : 0;
  options.num_shards = num_shards;
  options.shard_id = shard_id;
  new (self) Session(program, options);
}

}  // namespace

void bind_session(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&session_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&session_clear)},
                                {0, nullptr}};
  nb::class_<Session>(module, "Session", nb::is_weak_referenceable(), nb::type_slots(slots),
                      "A running program.")
      .def("__init__", &make_session, nb::arg("program"), nb::kw_only(), nb::arg("num_threads") = 0,
           nb::arg("max_held_batches") = 8, nb::arg("synchronous") = false, nb::arg("device") = -1,
           nb::arg("device_priority") = 0, nb::arg("device_memory_limit") = 0,
           nb::arg("device_graphs") = true, nb::arg("state") = nb::none(), nb::arg("wait_for_feed") = false,
           nb::arg("num_shards") = 1, nb::arg("shard_id") = 0)
      .def("next", &Session::next, nb::arg("timeout_ms") = -1)
      .def("feed", &Session::feed, nb::arg("input"), nb::arg("arrays"), nb::arg("ids") = nb::none(),
           nb::arg("timeout_ms") = 0, nb::arg("layout") = nb::none(), nb::arg("lends") = false)
      .def("end_of_feed", &Session::end_of_feed)
      .def("pull_input", &Session::pull_input, nb::arg("name"), nb::arg("callable"),
           nb::arg("per_batch") = true, nb::arg("layout") = nb::none())
      .def("state", &Session::state)
      .def("ports_json", &Session::ports_json)
      .def("statistics", &Session::statistics)
      .def("cancel", &Session::cancel)
      .def_prop_ro("epoch_size", &Session::epoch_size)
      .def("take_failure", &Session::take_failure)
      .def("close", &Session::close)
      .def_prop_ro("is_closed", &Session::is_closed);
  module.def("close_all_sessions", [] {
    begin_exit();
    while (!open_sessions().empty()) (*open_sessions().begin())->close();
  });
}

}  // namespace galatea_python
