// Batches and their tensors: by the buffer protocol, by DLPack, by address. Nothing is copied.
#include "binding/batch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <optional>

namespace galatea_python {
namespace {

constexpr const char* kCapsule = "dltensor";
constexpr const char* kVersionedCapsule = "dltensor_versioned";

/// A tensor for Python's buffer protocol. It owns a DLPack tensor, which keeps the batch's memory.
class Tensor {
 public:
  /// `num_in_a_row`: that many such tensors, one behind the other, as one with an axis more; 0: the tensor.
  explicit Tensor(galatea_dl_managed_tensor* managed, int32_t num_in_a_row = 0)
      : managed_(managed), generation_(fork_generation()) {
    const galatea_dl_tensor& tensor = managed_->dl_tensor;
    const auto item = static_cast<Py_ssize_t>(tensor.dtype.bits / 8);
    const int32_t more = num_in_a_row > 0 ? 1 : 0;
    ndim_ = tensor.ndim + more;
    size_ = item;
    Py_ssize_t stride = item;
    for (int32_t axis = tensor.ndim - 1; axis >= 0; --axis) {
      const auto at = static_cast<size_t>(axis + more);
      extents_.at(at) = static_cast<Py_ssize_t>(tensor.shape[axis]);
      strides_.at(at) = tensor.strides ? static_cast<Py_ssize_t>(tensor.strides[axis]) * item : stride;
      stride *= extents_.at(at);
      size_ *= extents_.at(at);
    }
    if (more == 0) return;
    extents_.front() = num_in_a_row;
    strides_.front() = size_;
    size_ *= num_in_a_row;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    if (generation_ == fork_generation()) managed_->deleter(managed_);
  }

  int fill(Py_buffer* view, int flags) {
    const galatea_dl_tensor& tensor = managed_->dl_tensor;
    static char nothing = 0;  // a tensor without elements may have no memory
    view->buf = size_ == 0 ? &nothing : static_cast<char*>(tensor.data) + tensor.byte_offset;
    view->len = size_;
    view->readonly = 0;
    view->itemsize = tensor.dtype.bits / 8;
    view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(format()) : nullptr;
    view->ndim = ndim_;
    view->shape = extents_.data();
    view->strides = strides_.data();
    view->suboffsets = nullptr;
    view->internal = nullptr;
    return 0;
  }

 private:
  const char* format() const {
    const galatea_dl_dtype dtype = managed_->dl_tensor.dtype;
    const int log = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 3;
    static constexpr std::array<const char*, 4> kSigned = {"b", "h", "i", "q"};
    static constexpr std::array<const char*, 4> kUnsigned = {"B", "H", "I", "Q"};
    static constexpr std::array<const char*, 4> kFloat = {"", "e", "f", "d"};
    if (dtype.code == 6) return "?";
    return (dtype.code == 0 ? kSigned : dtype.code == 1 ? kUnsigned : kFloat).at(static_cast<size_t>(log));
  }

  galatea_dl_managed_tensor* managed_;
  unsigned generation_;
  int32_t ndim_ = 0;
  Py_ssize_t size_ = 0;
  std::array<Py_ssize_t, GALATEA_MAX_RANK + 1> extents_{}, strides_{};
};

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = Py_NewRef(self);
  return nb::inst_ptr<Tensor>(self)->fill(view, flags);
}

template <typename T>
void delete_unused(PyObject* capsule, const char* name) {
  // A consumer renames the capsule, and calls the deleter itself.
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* const tensor = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  tensor->deleter(tensor);
}

nb::object capsule_of(void* tensor, bool versioned) {
  PyObject* const capsule = PyCapsule_New(
      tensor, versioned ? kVersionedCapsule : kCapsule,
      versioned
          ? +[](PyObject*
                    self) { delete_unused<galatea_dl_managed_tensor_versioned>(self, kVersionedCapsule); }
          : +[](PyObject* self) { delete_unused<galatea_dl_managed_tensor>(self, kCapsule); });
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

nb::object dlpack(const Batch& self, int32_t output, int32_t sample, std::optional<intptr_t> stream,
                  bool versioned, bool read_only) {
  const auto batch = self.get();
  galatea_dl_managed_tensor* old = nullptr;
  galatea_dl_managed_tensor_versioned* tensor = nullptr;
  galatea_error* error = nullptr;
  {
    const Released released;  // it may wait for a GPU
    if (versioned)
      error = galatea_batch_dlpack_versioned_take(batch.get(), output, sample, stream.value_or(0),
                                                  read_only ? GALATEA_DL_READ_ONLY : 0, &tensor);
    else if (stream)
      error = galatea_batch_dlpack_take_for_stream(batch.get(), output, sample, *stream, &old);
    else
      error = galatea_batch_dlpack_take(batch.get(), output, sample, &old);
  }
  check(error);
  return versioned ? capsule_of(tensor, true) : capsule_of(old, false);
}

nb::object buffer(const Batch& self, int32_t output, int32_t sample) {
  const auto batch = self.get();
  if (galatea_batch_output_device(batch.get(), output) >= 0)
    throw nb::buffer_error("the output lies on a GPU; take it by DLPack, or copy it to the host");
  galatea_dl_managed_tensor* managed = nullptr;
  check(galatea_batch_dlpack_take(batch.get(), output, sample, &managed));
  return nb::cast(new Tensor(managed), nb::rv_policy::take_ownership);
}

/// All samples as one array, where they have equal extents and lie one behind the other on the host; else None.
nb::object buffer_of_row(const Batch& self, int32_t output) {
  const auto batch = self.get();
  const int32_t count = galatea_batch_num_samples(batch.get());
  galatea_tensor first;
  check(galatea_batch_tensor_borrow(batch.get(), output, 0, &first));
  if (galatea_batch_output_device(batch.get(), output) >= 0) return nb::none();
  int64_t bytes = galatea_dtype_size(first.dtype);
  for (int32_t axis = first.ndim - 1; axis >= 0; --axis) {
    if (first.extents[axis] != 1 && first.strides[axis] * galatea_dtype_size(first.dtype) != bytes)
      return nb::none();
    bytes *= first.extents[axis];
  }
  for (int32_t sample = 1; sample < count; ++sample) {
    galatea_tensor tensor;
    check(galatea_batch_tensor_borrow(batch.get(), output, sample, &tensor));
    if (tensor.data != static_cast<char*>(first.data) + sample * bytes ||
        !std::equal(first.extents, first.extents + first.ndim, tensor.extents) ||
        !std::equal(first.strides, first.strides + first.ndim, tensor.strides))
      return nb::none();
  }
  galatea_dl_managed_tensor* managed = nullptr;
  check(galatea_batch_dlpack_take(batch.get(), output, 0, &managed));
  return nb::cast(new Tensor(managed, count), nb::rv_policy::take_ownership);
}

/// (element type, extents, layout, device type, device, address) of a sample, or of a whole dense output.
nb::tuple describe(const Batch& self, int32_t output, int32_t sample) {
  const auto batch = self.get();
  galatea_tensor tensor;
  check(sample < 0 ? galatea_batch_dense_borrow(batch.get(), output, &tensor)
                   : galatea_batch_tensor_borrow(batch.get(), output, sample, &tensor));
  nb::list extents;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis) extents.append(tensor.extents[axis]);
  return nb::make_tuple(static_cast<int>(tensor.dtype), nb::tuple(extents), tensor.layout, tensor.device_type,
                        tensor.device, reinterpret_cast<uintptr_t>(tensor.data));
}

}  // namespace

Batch::Batch(galatea_batch* batch)
    : batch_(batch,
             [generation = fork_generation()](galatea_batch* handle) {
               if (generation == fork_generation()) galatea_batch_destroy(handle);
             }),
      generation_(fork_generation()) {}

std::shared_ptr<galatea_batch> Batch::get() const {
  if (!batch_) raise_closed("batch");
  if (generation_ != fork_generation()) raise_forked("batch");
  return batch_;
}

void bind_batch(nb::module_& module) {
  static PyType_Slot tensor_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&tensor_getbuffer)},
                                       {0, nullptr}};
  nb::class_<Tensor>(module, "Tensor", nb::type_slots(tensor_slots),
                     "Memory of a batch, by the buffer protocol.");
  nb::class_<Batch>(module, "Batch", nb::is_weak_referenceable(), "Samples that were delivered together.")
      .def_prop_ro("num_samples",
                   [](const Batch& self) { return galatea_batch_num_samples(self.get().get()); })
      .def_prop_ro("num_outputs",
                   [](const Batch& self) { return galatea_batch_num_outputs(self.get().get()); })
      .def_prop_ro("epoch", [](const Batch& self) { return galatea_batch_epoch(self.get().get()); })
      .def_prop_ro("index", [](const Batch& self) { return galatea_batch_index(self.get().get()); })
      .def("sample_id", [](const Batch& self,
                           int32_t sample) { return galatea_batch_sample_id(self.get().get(), sample); })
      .def("sample_name",
           [](const Batch& self, int32_t sample) {
             return std::string(galatea_batch_sample_name_borrow(self.get().get(), sample));
           })
      .def_prop_ro("output_names",
                   [](const Batch& self) {
                     const auto batch = self.get();
                     nb::list names;
                     for (int32_t output = 0; output < galatea_batch_num_outputs(batch.get()); ++output)
                       names.append(galatea_batch_output_name_borrow(batch.get(), output));
                     return nb::tuple(names);
                   })
      .def("is_dense", [](const Batch& self,
                          int32_t output) { return galatea_batch_is_dense(self.get().get(), output) != 0; })
      .def("output_device",
           [](const Batch& self, int32_t output) {
             return galatea_batch_output_device(self.get().get(), output);
           })
      .def("describe", &describe, nb::arg("output"), nb::arg("sample"))
      .def("buffer", &buffer, nb::arg("output"), nb::arg("sample"))
      .def("buffer_of_row", &buffer_of_row, nb::arg("output"))
      .def("dlpack", &dlpack, nb::arg("output"), nb::arg("sample"), nb::arg("stream") = nb::none(),
           nb::arg("versioned") = false, nb::arg("read_only") = false)
      .def(
          "copy_to_host",
          [](const Batch& self, int32_t output, int32_t sample, nb::object to) {
            const auto batch = self.get();
            Py_buffer view;
            if (PyObject_GetBuffer(to.ptr(), &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0)
              throw nb::python_error();
            galatea_error* error = nullptr;
            {
              const Released released;
              error = galatea_batch_copy_to_host(batch.get(), output, sample, view.buf, view.len);
            }
            PyBuffer_Release(&view);
            check(error);
          },
          nb::arg("output"), nb::arg("sample"), nb::arg("to"))
      .def("wait",
           [](const Batch& self) {
             const auto batch = self.get();
             galatea_error* error = nullptr;
             {
               const Released released;
               error = galatea_batch_wait(batch.get());
             }
             check(error);
           })
      .def("make_stream_wait",
           [](const Batch& self, uintptr_t stream) {
             check(galatea_batch_make_stream_wait(self.get().get(), stream));
           })
      .def("release", &Batch::release)
      .def_prop_ro("is_released", &Batch::is_released);
}

}  // namespace galatea_python
