#include "memory_view.h"

#include <memory>
#include <new>
#include <string_view>

#include "data.h"
#include "taeda/taeda.h"
#include "values.h"
#include "warnings.h"

namespace taeda::python {

namespace {

// The codes of module struct, and NumPy's for complex numbers.
const char* format_of(ScalarType t) {
  switch (t) {
    case kByte: return "B";
    case kChar: return "b";
    case kShort: return "h";
    case kInt: return "i";
    case kLong: return "l";
    case kHalf: return "e";
    case kFloat: return "f";
    case kDouble: return "d";
    case kComplexFloat: return "Zf";
    case kComplexDouble: return "Zd";
    case kBool: return "?";
    case kUInt16: return "H";
    case kUInt32: return "I";
    case kUInt64: return "L";
    default: raise(PyExc_TypeError, std::string("Got unsupported ScalarType ") + to_string(t));
  }
}

std::optional<ScalarType> dtype_of_format(std::string_view format) {
  if (format.starts_with('@') || format.starts_with('=') || format.starts_with('<'))
    format.remove_prefix(1);
  static_assert(sizeof(long) == 8);
  if (format == "q") return kLong;
  if (format == "Q") return kUInt64;
  for (const ScalarType t : {kUInt16, kUInt32, kUInt64})
    if (format == format_of(t)) return t;
  for (const ScalarType t : kAllDtypes)
    if (t != kBFloat16 && format == format_of(t)) return t;
  return {};
}

struct MemoryView {
  PyObject_HEAD Tensor tensor;
};
PyTypeObject* type;

struct Extents {
  Py_ssize_t sizes[64], strides[64];
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded_status([&] {
    const Tensor& t = reinterpret_cast<MemoryView*>(self)->tensor;
    const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    if (!strided && !t.is_contiguous()) raise(PyExc_BufferError, "the tensor is not contiguous");
    auto extents = std::make_unique<Extents>();
    for (int64_t i = 0; i < t.dim(); ++i) {
      extents->sizes[i] = t.size(i);
      extents->strides[i] = t.stride(i) * t.element_size();
    }
    view->buf = t.data_ptr();
    view->len = t.nbytes();
    view->itemsize = t.element_size();
    view->readonly = 0;
    view->ndim = static_cast<int>(t.dim());
    view->format = const_cast<char*>(format_of(t.dtype()));
    view->shape = extents->sizes;
    view->strides = extents->strides;
    view->suboffsets = nullptr;
    view->internal = extents.release();
    t.storage()->begin_loan();
    Py_INCREF(self);
    view->obj = self;
    return 0;
  });
}
void release_buffer(PyObject* self, Py_buffer* view) {
  reinterpret_cast<MemoryView*>(self)->tensor.storage()->end_loan();
  delete static_cast<Extents*>(view->internal);
}

void deallocate(PyObject* self) {
  PyTypeObject* t = Py_TYPE(self);
  reinterpret_cast<MemoryView*>(self)->tensor.~Tensor();
  t->tp_free(self);
  Py_DECREF(t);
}

/// Keeps the buffer that a tensor was made over, and ends the loan with it.
struct Loan {
  Py_buffer view;
  ~Loan() {
    if (!Py_IsInitialized()) return;
    HoldGil gil;
    PyBuffer_Release(&view);
  }
};

std::string dtype_name_of(PyObject* array) {
  Ref dtype(PyObject_GetAttrString(array, "dtype"));
  if (!dtype) {
    PyErr_Clear();
    return Py_TYPE(array)->tp_name;
  }
  Ref text(checked(PyObject_Str(dtype.get())));
  return "numpy." + std::string(to_text(text.get()));
}

}  // namespace

void add_memory_view_type(PyObject*) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                         {0, nullptr}};
  PyType_Spec spec = {"torch._C._MemoryView", sizeof(MemoryView), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

PyObject* memory_view(const Tensor& t) {
  format_of(t.dtype());
  t.data_ptr();  // what has none is an error here: NumPy would make an array of one object of it
  auto* self = reinterpret_cast<MemoryView*>(checked(type->tp_alloc(type, 0)));
  new (&self->tensor) Tensor(t);
  return reinterpret_cast<PyObject*>(self);
}

PyObject* array_over(const Tensor& t) {
  Ref numpy(checked(PyImport_ImportModule("numpy")));
  Ref view(memory_view(t));
  return PyObject_CallMethod(numpy.get(), "asarray", "O", view.get());
}

Tensor tensor_over(PyObject* array, bool to_write) {
  const std::string_view name = Py_TYPE(array)->tp_name;
  if (!PyObject_CheckBuffer(array))
    raise(PyExc_TypeError, "expected np.ndarray (got " + std::string(name) + ")");
  auto loan = std::make_shared<Loan>();
  if (PyObject_GetBuffer(array, &loan->view, PyBUF_RECORDS_RO) < 0) {
    loan->view.obj = nullptr;
    throw ErrorIsSet();
  }
  const Py_buffer& view = loan->view;
  if (view.readonly && to_write) {
    const std::string what =
        PyObject_HasAttrString(array, "__array_interface__") ? "NumPy array" : "buffer";
    warn_python(PyExc_UserWarning,
                ("The given " + what +
                 " is not writable, and PyTorch does not support non-writable "
                 "tensors. This means writing to this tensor changes the " +
                 what +
                 ", which may lie in memory that cannot be written. Copy it first, or make it "
                 "writable.")
                    .c_str());
  }
  const std::optional<ScalarType> dtype = dtype_of_format(view.format ? view.format : "B");
  if (!dtype)
    raise(PyExc_TypeError, "can't convert np.ndarray of type " + dtype_name_of(array) +
                               ". The only supported types are: float64, float32, float16, "
                               "complex64, complex128, int64, int32, int16, int8, "
                               "uint64, uint32, uint16, uint8, and bool.");
  DimVector sizes, strides;
  for (int i = 0; i < view.ndim; ++i) {
    sizes.push_back(view.shape[i]);
    if (view.strides[i] < 0)
      raise(PyExc_ValueError,
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not "
            "currently supported. (You can probably work around this by making a copy of your "
            "array  with array.copy().)");
    if (view.strides[i] % view.itemsize)
      raise(
          PyExc_ValueError,
          "given numpy array strides not a multiple of the element byte size. Copy the numpy array "
          "to reallocate the memory.");
    strides.push_back(view.strides[i] / view.itemsize);
  }
  const int64_t alignment = element_size(*dtype) / (is_complex(*dtype) ? 2 : 1);
  if (!to_write && reinterpret_cast<uintptr_t>(view.buf) % static_cast<uintptr_t>(alignment)) {
    const Tensor copy = empty(sizes, *dtype);
    if (PyBuffer_ToContiguous(copy.data_ptr(), &view, view.len, 'C') < 0) throw ErrorIsSet();
    return copy;
  }
  return from_blob(
      view.buf, sizes, strides, [loan](void*) {}, TensorOptions(*dtype));
}

}  // namespace taeda::python
