#include "tensor_methods.h"

#include "arguments.h"
#include "attributes.h"
#include "data.h"
#include "generated_methods.h"
#include "indexing.h"
#include "memory_view.h"
#include "overrides.h"
#include "taeda/io/dlpack.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

template <class F>
PyObject* waiting(const Tensor& t, F&& f) {
  Tensor out;
  {
    const ReleaseGil released(t.numel() >= (int64_t{1} << 15) || !t.is_cpu());
    out = f();
  }
  return wrap(std::move(out));
}

// A callable of one signature for methods, whose first parameter is the tensor.
#define TAEDA_ONE(name, spread, body, ...)                                                     \
  PyObject* name##_body(Arguments& a)                                                          \
      body constexpr Parameter kParameters_##name[] = {{"self", Kind::Tensor}, ##__VA_ARGS__}; \
  constexpr Signature kSignature_##name[] = {                                                  \
      {kParameters_##name, static_cast<uint8_t>(std::size(kParameters_##name)),                \
       static_cast<uint8_t>(std::size(kParameters_##name)), 0, spread, name##_body}};          \
  constexpr Callable kCall_##name{#name, kSignature_##name, 1};

TAEDA_ONE(size, false,
          {
            const Tensor& t = a.tensor(0);
            const OptionalDim dim = a.maybe_integer(1);
            return dim ? PyLong_FromLongLong(t.size(*dim)) : from_sizes(t.sizes());
          },
          {"dim", Kind::MaybeInt, "None"})
TAEDA_ONE(stride, false,
          {
            const Tensor& t = a.tensor(0);
            const OptionalDim dim = a.maybe_integer(1);
            return dim ? PyLong_FromLongLong(t.stride(*dim)) : from_ints(t.strides());
          },
          {"dim", Kind::MaybeInt, "None"})
TAEDA_ONE(is_contiguous, false,
          {
            return PyBool_FromLong(a.tensor(0).is_contiguous(
                a.given(1) ? to_memory_format(a.object(1)) : MemoryFormat::Contiguous));
          },
          {"memory_format", Kind::Format, "torch.contiguous_format"})
TAEDA_ONE(contiguous, false,
          {
            const Tensor& t = a.tensor(0);
            const MemoryFormat format =
                a.given(1) ? to_memory_format(a.object(1)) : MemoryFormat::Contiguous;
            return waiting(t, [&] { return t.contiguous(format); });
          },
          {"memory_format", Kind::Format, "torch.contiguous_format"})
TAEDA_ONE(requires_grad_, false,
          {
            a.tensor(0).requires_grad_(a.boolean(1, true));
            Py_INCREF(a.object(0));
            return a.object(0);
          },
          {"requires_grad", Kind::Bool, "True"})
TAEDA_ONE(copy_, false,
          {
            const Tensor& t = a.tensor(0);
            const Tensor& source = a.tensor(1);
            const bool non_blocking = a.boolean(2);
            return waiting(t, [&] { return t.copy_(source, non_blocking); });
          },
          {"src", Kind::Tensor}, {"non_blocking", Kind::Bool, "False"})
TAEDA_ONE(cpu, false,
          {
            const Tensor& t = a.tensor(0);
            return waiting(t, [&] { return t.cpu(); });
          },
          {"memory_format", Kind::MaybeFormat, "None"})
TAEDA_ONE(cuda, false,
          {
            const Tensor& t = a.tensor(0);
            Device device(kCUDA);
            if (a.given(1) && a.object(1) != Py_None) device = to_device(a.object(1));
            TAEDA_CHECK(device.is_cuda(), "Invalid device, must be cuda device");
            const bool non_blocking = a.boolean(2);
            return waiting(t, [&] { return t.to(device, t.dtype(), non_blocking); });
          },
          {"device", Kind::MaybeDevice, "None"}, {"non_blocking", Kind::Bool, "False"},
          {"memory_format", Kind::MaybeFormat, "None"})
TAEDA_ONE(as_strided_, false,
          {
            a.tensor(0).as_strided_(a.ints(1), a.ints(2), a.maybe_integer(3));
            Py_INCREF(a.object(0));
            return a.object(0);
          },
          {"size", Kind::Sizes}, {"stride", Kind::Sizes},
          {"storage_offset", Kind::MaybeInt, "None"})
/// Resizing lays elements out row by row, which is what most calls ask for in words.
void check_rows(const std::optional<MemoryFormat>& format) {
  if (format && *format != MemoryFormat::Contiguous && *format != MemoryFormat::Preserve)
    raise(PyExc_NotImplementedError,
          "Taeda has no resize_ to other formats than contiguous_format");
}
TAEDA_ONE(resize_, true,
          {
            check_rows(a.maybe_format(2));
            a.tensor(0).resize_(a.ints(1));
            Py_INCREF(a.object(0));
            return a.object(0);
          },
          {"size", Kind::Sizes}, {"memory_format", Kind::MaybeFormat, "None"})
TAEDA_ONE(resize_as_, false,
          {
            check_rows(a.maybe_format(2));
            a.tensor(0).resize_as_(a.tensor(1));
            Py_INCREF(a.object(0));
            return a.object(0);
          },
          {"other", Kind::Tensor}, {"memory_format", Kind::MaybeFormat, "None"})
TAEDA_ONE(is_set_to, false, { return PyBool_FromLong(a.tensor(0).is_set_to(a.tensor(1))); },
          {"tensor", Kind::Tensor})
TAEDA_ONE(is_same_size, false,
          { return PyBool_FromLong(a.tensor(0).sizes() == a.tensor(1).sizes()); },
          {"other", Kind::Tensor})
void warn_of_device(const char* name, const Arguments& a) {
  if (a.present(1))
    TAEDA_WARN_AS(Deprecation, "The argument 'device' of Tensor.", name,
                  "() is deprecated. Please do not pass this argument.");
}
TAEDA_ONE(pin_memory, false,
          {
            const Tensor& t = a.tensor(0);
            warn_of_device("pin_memory", a);
            return waiting(t, [&] { return t.pin_memory(); });
          },
          {"device", Kind::MaybeDevice, "None"})
TAEDA_ONE(is_pinned, false,
          {
            warn_of_device("is_pinned", a);
            return PyBool_FromLong(a.tensor(0).is_pinned());
          },
          {"device", Kind::MaybeDevice, "None"})

// to(dtype), to(device, dtype), to(other)

PyObject* converted(const Tensor& t, Device device, ScalarType dtype, bool non_blocking, bool copy,
                    std::optional<MemoryFormat> format) {
  if (!copy && device == t.device() && dtype == t.dtype() && !format) return wrap(t);
  return waiting(t, [&] { return t.to(device, dtype, non_blocking, copy, format); });
}
PyObject* to_dtype_body(Arguments& a) {
  const Tensor& t = a.tensor(0);
  return converted(t, t.device(), a.dtype(1), a.boolean(2), a.boolean(3), a.maybe_format(4));
}
PyObject* to_device_body(Arguments& a) {
  const Tensor& t = a.tensor(0);
  const bool named = a.given(1) && a.object(1) != Py_None;
  return converted(t, named ? to_device(a.object(1)) : t.device(),
                   a.maybe_dtype(2).value_or(t.dtype()), a.boolean(3), a.boolean(4),
                   a.maybe_format(5));
}
PyObject* to_other_body(Arguments& a) {
  const Tensor& other = a.tensor(1);
  return converted(a.tensor(0), other.device(), other.dtype(), a.boolean(2), a.boolean(3),
                   a.maybe_format(4));
}
constexpr Parameter kParameters_to_device[] = {{"self", Kind::Tensor},
                                               {"device", Kind::MaybeDevice, "None"},
                                               {"dtype", Kind::MaybeDtype, "None"},
                                               {"non_blocking", Kind::Bool, "False"},
                                               {"copy", Kind::Bool, "False"},
                                               {"memory_format", Kind::MaybeFormat, "None", true}};
constexpr Parameter kParameters_to_dtype[] = {{"self", Kind::Tensor},
                                              {"dtype", Kind::Dtype},
                                              {"non_blocking", Kind::Bool, "False"},
                                              {"copy", Kind::Bool, "False"},
                                              {"memory_format", Kind::MaybeFormat, "None", true}};
constexpr Parameter kParameters_to_other[] = {{"self", Kind::Tensor},
                                              {"tensor", Kind::Tensor},
                                              {"non_blocking", Kind::Bool, "False"},
                                              {"copy", Kind::Bool, "False"},
                                              {"memory_format", Kind::MaybeFormat, "None", true}};
constexpr Signature kSignatures_to[] = {{kParameters_to_device, 6, 5, 0, false, to_device_body},
                                        {kParameters_to_dtype, 5, 4, 0, false, to_dtype_body},
                                        {kParameters_to_other, 5, 4, 0, false, to_other_body}};
constexpr Callable kCall_to{"to", kSignatures_to, 3};

// set_(), set_(source), set_(source, storage_offset, size, stride)

PyObject* set_nothing(Arguments& a) {
  a.tensor(0).set_();
  Py_INCREF(a.object(0));
  return a.object(0);
}
PyObject* set_source(Arguments& a) {
  a.tensor(0).set_(a.tensor(1));
  Py_INCREF(a.object(0));
  return a.object(0);
}
PyObject* set_region(Arguments& a) {
  a.tensor(0).set_(a.tensor(1), a.integer(2), a.ints(3), a.ints(4));
  Py_INCREF(a.object(0));
  return a.object(0);
}
constexpr Parameter kParameters_set[] = {{"self", Kind::Tensor},
                                         {"source", Kind::Tensor},
                                         {"storage_offset", Kind::Int},
                                         {"size", Kind::Sizes},
                                         {"stride", Kind::Sizes, "()"}};
constexpr Signature kSignatures_set[] = {{kParameters_set, 1, 1, 0, false, set_nothing},
                                         {kParameters_set, 2, 2, 0, false, set_source},
                                         {kParameters_set, 5, 5, 0, false, set_region}};
constexpr Callable kCall_set{"set_", kSignatures_set, 3};

// Without arguments.

/// What is answered in the place of a method without arguments, which is known by its function.
PyObject* overridden(PyCFunction function, PyObject* self);

PyCFunction with_keywords(PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

template <auto F>
PyObject* plain(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden(plain<F>, self)) return made;
    return F(tensor_of(self));
  });
}
/// Changes the tensor and gives it back.
template <auto F>
PyObject* changing(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden(changing<F>, self)) return made;
    F(tensor_of(self));
    Py_INCREF(self);
    return self;
  });
}

PyObject* dim(const Tensor& t) { return PyLong_FromLongLong(t.dim()); }
PyObject* numel(const Tensor& t) { return PyLong_FromLongLong(t.numel()); }
PyObject* element_size(const Tensor& t) { return PyLong_FromLongLong(t.element_size()); }
PyObject* storage_offset(const Tensor& t) { return PyLong_FromLongLong(t.storage_offset()); }
PyObject* get_device(const Tensor& t) { return PyLong_FromLongLong(t.get_device()); }
PyObject* data_ptr(const Tensor& t) { return PyLong_FromVoidPtr(t.data_ptr()); }
PyObject* storage_address(const Tensor& t) { return PyLong_FromVoidPtr(t.storage()->data()); }
PyObject* storage_cdata(const Tensor& t) { return PyLong_FromVoidPtr(t.storage().get()); }
PyObject* storage_nbytes(const Tensor& t) { return PyLong_FromLongLong(t.storage()->nbytes()); }
PyObject* storage_resizable(const Tensor& t) { return PyBool_FromLong(t.storage().resizable()); }
PyObject* storage_resize(PyObject* self, PyObject* nbytes) {
  return guarded([&] {
    const long long n = PyLong_AsLongLong(nbytes);
    if (n == -1 && PyErr_Occurred()) throw ErrorIsSet();
    TAEDA_CHECK(n >= 0, "resize_: a storage cannot have ", n, " bytes");
    tensor_of(self).storage().resize(static_cast<size_t>(n));
    Py_RETURN_NONE;
  });
}
PyObject* is_floating_point(const Tensor& t) { return PyBool_FromLong(t.is_floating_point()); }
PyObject* is_complex(const Tensor& t) { return PyBool_FromLong(t.is_complex()); }
PyObject* is_signed(const Tensor& t) { return PyBool_FromLong(t.is_signed()); }
PyObject* is_inference(const Tensor& t) { return PyBool_FromLong(t.is_inference()); }
PyObject* is_conj(const Tensor&) { Py_RETURN_FALSE; }
PyObject* is_view(const Tensor& t) { return PyBool_FromLong(t.is_view()); }
PyObject* detach(const Tensor& t) { return wrap(t.detach()); }
void detach_(const Tensor& t) { t.detach_(); }
PyObject* retain_grad(const Tensor& t) {
  t.retain_grad();
  Py_RETURN_NONE;
}
PyObject* type(const Tensor& t) { return from_text(t.type().toString()); }
PyObject* tolist(const Tensor& t) { return to_lists(t); }
PyObject* item(const Tensor& t) {
  return from_scalar([&] {
    const ReleaseGil released(!t.is_cpu());
    return t.item();
  }());
}
template <ScalarType T>
PyObject* as_dtype(const Tensor& t) {
  if (t.dtype() == T) return wrap(t);
  return waiting(t, [&] { return t.to(T); });
}

/// The same with what `to` takes beside a dtype, by keywords: `memory_format`.
PyObject* convert_as_asked(PyObject* self, ScalarType type, PyObject* const* args, Py_ssize_t count,
                           PyObject* names) {
  if (count)
    raise(PyExc_TypeError, "takes 0 positional arguments but " + std::to_string(count) +
                               (count > 1 ? " were given" : " was given"));
  const Ref to(checked(PyObject_GetAttrString(self, "to"))), dtype(checked(from_dtype(type)));
  std::vector<PyObject*> all = {dtype.get()};
  all.insert(all.end(), args, args + PyTuple_GET_SIZE(names));
  return checked(PyObject_Vectorcall(to.get(), all.data(), 1, names));
}

template <ScalarType T>
PyObject* converting(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (count || names) [[unlikely]]
      return convert_as_asked(self, T, args, count, names);
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden(with_keywords(converting<T>), self)) return made;
    return as_dtype<T>(tensor_of(self));
  });
}
PyObject* as_array(const Tensor& t) { return array_over(t); }
PyObject* as_view(const Tensor& t) { return memory_view(t); }

// The capsule that DLPack's consumers take: versioned where they ask for it.
PyObject* to_capsule(PyObject* self, PyObject* versioned) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (versioned == Py_True)
      return PyCapsule_New(to_dlpack_versioned(t), "dltensor_versioned", [](PyObject* capsule) {
        if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
        auto* lent = static_cast<DLManagedTensorVersioned*>(
            PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (lent->deleter) lent->deleter(lent);
      });
    return PyCapsule_New(to_dlpack(t), "dltensor", [](PyObject* capsule) {
      if (!PyCapsule_IsValid(capsule, "dltensor")) return;
      auto* lent = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
      if (lent->deleter) lent->deleter(lent);
    });
  });
}
PyObject* from_capsule(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    Tensor out;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
      out = from_dlpack(static_cast<DLManagedTensorVersioned*>(
          PyCapsule_GetPointer(capsule, "dltensor_versioned")));
      PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
      out = from_dlpack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
      PyCapsule_SetName(capsule, "used_dltensor");
    } else {
      raise(PyExc_RuntimeError,
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
            "only "
            "once, so you might have already constructed a tensor from it once.");
    }
    return wrap(std::move(out));
  });
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const DLDevice device = to_dlpack_device(tensor_of(self).device());
    return Py_BuildValue("(ii)", static_cast<int>(device.device_type),
                         static_cast<int>(device.device_id));
  });
}

// as_subclass(cls): an object of another class over the tensor's memory, with its history.
PyObject* as_subclass(PyObject* self, PyObject* type) {
  return guarded([&]() -> PyObject* {
    if (!PyType_Check(type) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_base_type))
      raise(PyExc_TypeError, "as_subclass(): argument 'cls' must be a subclass of torch.Tensor");
    const Tensor& t = tensor_of(self);
    return wrap_as(reinterpret_cast<PyTypeObject*>(type),
                   t.is_strided() ? t.view_as(t) : make_alias(t));
  });
}

template <const Callable& C>
PyMethodDef method(const char* doc) {
  return {C.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_method<C>)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

template <ScalarType S>
PyMethodDef conversion(const char* name, const std::string& dtype) {
  static const std::string doc = "As " + dtype +
                                 ", in its shape; itself if it is.\n\n>>> torch.ones(1)." + name +
                                 "().dtype\ntorch." + dtype;
  return {name, with_keywords(converting<S>), METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
}

const PyMethodDef own_methods[] = {
    method<kCall_size>("size(dim=None): the shape, or the size of dimension `dim`; IndexError "
                       "where there is none.\n\n>>> torch.ones(2, 3).size()\ntorch.Size([2, 3])"),
    method<kCall_stride>(
        "stride(dim=None): for each dimension, or one of them, how many elements of memory its "
        "neighbours are apart; any shape.\n\n>>> torch.ones(2, 3).stride()\n(3, 1)"),
    method<kCall_is_contiguous>("is_contiguous(memory_format=torch.contiguous_format): whether "
                                "elements lie in memory in the order of their indices; any "
                                "shape.\n\n>>> torch.ones(2, 3).t().is_contiguous()\nFalse"),
    method<kCall_contiguous>(
        "contiguous(memory_format=torch.contiguous_format): itself where it lies so in memory, "
        "else a copy of the same shape.\n\n>>> torch.ones(2, 3).t().contiguous().stride()\n(2, 1)"),
    method<kCall_requires_grad_>(
        "requires_grad_(requires_grad=True): whether operations are recorded; itself, of any "
        "shape. RuntimeError for integers.\n\n>>> torch.ones(2).requires_grad_()\ntensor([1., 1.], "
        "requires_grad=True)"),
    method<kCall_copy_>("copy_(src, non_blocking=False): takes over values; itself. src's shape "
                        "broadcasts to its own, else RuntimeError.\n\n>>> "
                        "torch.zeros(2).copy_(torch.tensor([1, 2]))\ntensor([1., 2.])"),
    method<kCall_cpu>(
        "cpu(memory_format=torch.preserve_format): in the host's memory, in the same shape; itself "
        "if it is.\n\n>>> torch.ones(2).cpu().device\ndevice(type='cpu')"),
    method<kCall_cuda>(
        "cuda(device=None, non_blocking=False): on a device of type cuda, in the same shape; "
        "RuntimeError where there is none.\n\n>>> callable(torch.ones(2).cuda)\nTrue"),
    method<kCall_as_strided_>(
        "as_strided_(size, stride, storage_offset=None): takes on that shape, these strides and a "
        "first element in its storage; RuntimeError for what lies outside.\n\n>>> "
        "torch.arange(6).as_strided_((2, 2), (3, 1))\ntensor([[0, 1],\n        [3, 4]])"),
    method<kCall_resize_>(
        "resize_(*size): takes on another shape over the same memory, or more of it, whose values "
        "are undefined; itself.\n\n>>> torch.arange(4).resize_(2)\ntensor([0, 1])"),
    method<kCall_resize_as_>(
        "resize_as_(other): takes on the shape of another tensor, as by resize_; itself.\n\n>>> "
        "torch.arange(4).resize_as_(torch.ones(2))\ntensor([0, 1])"),
    method<kCall_is_set_to>(
        "is_set_to(tensor): whether both are the same elements of the same memory, in one "
        "shape.\n\n>>> x = torch.ones(2)\n>>> x.is_set_to(x.view(2))\nTrue"),
    method<kCall_is_same_size>("is_same_size(other): whether both have one shape.\n\n>>> "
                               "torch.ones(2).is_same_size(torch.zeros(2))\nTrue"),
    method<kCall_pin_memory>(
        "pin_memory(): a copy of the same shape in memory of the host that devices read fast, if "
        "there are any.\n\n>>> callable(torch.ones(2).pin_memory)\nTrue"),
    method<kCall_is_pinned>("is_pinned(): whether it lies in memory of the host that devices read "
                            "fast; any shape.\n\n>>> torch.ones(2).is_pinned()\nFalse"),
    method<kCall_to>(
        "to(dtype), to(device, dtype), to(other), with non_blocking=False, copy=False, "
        "memory_format=None: with another dtype or device and the same shape; itself where nothing "
        "changes and copy is False.\n\n>>> torch.ones(2).to(torch.int64)\ntensor([1, 1])"),
    method<kCall_set>("set_(), set_(source), set_(source, storage_offset, size, stride): takes on "
                      "memory, shape and strides of a tensor or storage; itself.\n\n>>> "
                      "torch.zeros(2).set_(torch.ones(3))\ntensor([1., 1., 1.])"),
    {"dim", plain<dim>, METH_NOARGS,
     "The number of dimensions: the shape's length.\n\n>>> torch.ones(2, 3).dim()\n2"},
    {"ndimension", plain<dim>, METH_NOARGS,
     "The number of dimensions: the shape's length.\n\n>>> torch.ones(2, 3).ndimension()\n2"},
    {"numel", plain<numel>, METH_NOARGS,
     "The number of elements: the product of the shape.\n\n>>> torch.ones(2, 3).numel()\n6"},
    {"nelement", plain<numel>, METH_NOARGS,
     "The number of elements: the product of the shape.\n\n>>> torch.ones(2, 3).nelement()\n6"},
    {"element_size", plain<element_size>, METH_NOARGS,
     "Bytes of an element, whatever the shape.\n\n>>> torch.ones(2).element_size()\n4"},
    {"storage_offset", plain<storage_offset>, METH_NOARGS,
     "The first element's place in its memory, counted in elements; any shape.\n\n>>> "
     "torch.arange(4)[2:].storage_offset()\n2"},
    {"get_device", plain<get_device>, METH_NOARGS,
     "The device's number; -1 on the CPU. Any shape.\n\n>>> torch.ones(2).get_device()\n-1"},
    {"data_ptr", plain<data_ptr>, METH_NOARGS,
     "The address of the first element; any shape.\n\n>>> isinstance(torch.ones(2).data_ptr(), "
     "int)\nTrue"},
    {"_storage_address", plain<storage_address>, METH_NOARGS, "The address of the memory."},
    {"_storage_cdata", plain<storage_cdata>, METH_NOARGS,
     "A number that tells its memory from others."},
    {"_storage_nbytes", plain<storage_nbytes>, METH_NOARGS, "Bytes of the memory."},
    {"_storage_resizable", plain<storage_resizable>, METH_NOARGS,
     "Whether the memory may become another."},
    {"_storage_resize", storage_resize, METH_O, "Gives it memory of so many bytes in place."},
    {"is_floating_point", plain<is_floating_point>, METH_NOARGS,
     "Whether it holds real floating-point numbers; any shape.\n\n>>> "
     "torch.ones(2).is_floating_point()\nTrue"},
    {"is_complex", plain<is_complex>, METH_NOARGS,
     "Whether it holds complex numbers; any shape.\n\n>>> torch.ones(2).is_complex()\nFalse"},
    {"is_signed", plain<is_signed>, METH_NOARGS,
     "Whether its dtype has negative numbers; any shape.\n\n>>> torch.ones(2, "
     "dtype=torch.uint8).is_signed()\nFalse"},
    {"is_inference", plain<is_inference>, METH_NOARGS,
     "Whether inference mode made it; any shape.\n\n>>> torch.ones(2).is_inference()\nFalse"},
    {"is_conj", plain<is_conj>, METH_NOARGS,
     "False: conjugates are computed at once. Any shape.\n\n>>> "
     "torch.tensor([1j]).conj().is_conj()\nFalse"},
    {"is_neg", plain<is_conj>, METH_NOARGS,
     "False: negatives are computed at once. Any shape.\n\n>>> torch.ones(2).is_neg()\nFalse"},
    {"_is_view", plain<is_view>, METH_NOARGS, "Whether it is a view."},
    {"detach", plain<detach>, METH_NOARGS,
     "The same memory and shape without a history.\n\n>>> torch.ones(2, "
     "requires_grad=True).detach()\ntensor([1., 1.])"},
    {"detach_", changing<detach_>, METH_NOARGS,
     "Forgets its history; itself, of any shape. RuntimeError for a view.\n\n>>> (torch.ones(2, "
     "requires_grad=True) * 2).detach_()\ntensor([2., 2.])"},
    {"retain_grad", plain<retain_grad>, METH_NOARGS,
     "Has `grad` kept although it is no leaf.\n\n>>> y = torch.ones(2, requires_grad=True) * "
     "2\n>>> y.retain_grad()\n>>> y.retains_grad\nTrue"},
    {"_type", plain<type>, METH_NOARGS, "\"CPUFloatType\" and the like."},
    {"tolist", plain<tolist>, METH_NOARGS,
     "Nested lists of numbers, as the shape is; of a scalar, a number.\n\n>>> torch.tensor([[1, "
     "2], [3, 4]]).tolist()\n[[1, 2], [3, 4]]"},
    {"item", plain<item>, METH_NOARGS,
     "The one element as a number of Python's; RuntimeError for a shape of more or fewer.\n\n>>> "
     "torch.tensor([0.5]).item()\n0.5"},
    {"_array", plain<as_array>, METH_NOARGS, "An array of NumPy over its memory."},
    {"_memory", plain<as_view>, METH_NOARGS,
     "An object that lends its memory by the buffer protocol."},
    {"as_subclass", as_subclass, METH_O,
     "as_subclass(cls): itself, in its shape, as an object of a subclass of Tensor, else "
     "TypeError.\n\n>>> type(torch.ones(2).as_subclass(nn.Parameter)).__name__\n'Parameter'"},
    {"_capsule", to_capsule, METH_O, "DLPack's capsule; True: versioned."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "Kind and number of the device, as DLPack counts."},
    conversion<kFloat>("float", "float32"),
    conversion<kDouble>("double", "float64"),
    conversion<kHalf>("half", "float16"),
    conversion<kBFloat16>("bfloat16", "bfloat16"),
    conversion<kByte>("byte", "uint8"),
    conversion<kChar>("char", "int8"),
    conversion<kShort>("short", "int16"),
    conversion<kInt>("int", "int32"),
    conversion<kLong>("long", "int64"),
    conversion<kBool>("bool", "bool"),
    conversion<kComplexHalf>("chalf", "complex32"),
    conversion<kComplexFloat>("cfloat", "complex64"),
    conversion<kComplexDouble>("cdouble", "complex128"),
};

PyObject* overridden(PyCFunction function, PyObject* self) {
  for (const PyMethodDef& m : own_methods)
    if (m.ml_meth == function) return overridden_method(m.ml_name, {self});
  return nullptr;
}

// _make_subclass(cls, tensor, requires_grad): an object of another class over the tensor's memory.
PyObject* make_subclass(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 3 || !PyType_Check(args[0]) || !is_tensor(args[1]))
      raise(PyExc_TypeError, "_make_subclass takes a class, a Tensor and requires_grad");
    Tensor alias = make_alias(tensor_of(args[1]));
    alias.requires_grad_(to_bool(args[2]));
    return wrap_as(reinterpret_cast<PyTypeObject*>(args[0]), std::move(alias));
  });
}

PyMethodDef functions[] = {
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_subclass)),
     METH_FASTCALL, "class, tensor, requires_grad"},
    {"_from_capsule", from_capsule, METH_O, "A tensor over what DLPack's capsule lends."},
    {nullptr, nullptr, 0, nullptr}};

bool is_attribute(std::string_view name) {
  for (const PyGetSetDef* a = tensor_attributes; a->name; ++a)
    if (name == a->name) return true;
  return false;
}

}  // namespace

std::vector<PyMethodDef> collect_tensor_methods() {
  std::vector<PyMethodDef> all(std::begin(own_methods), std::end(own_methods));
  for (const Method& operation : generated_methods())  // but `t.mT` takes no parentheses
    if (operation.entry->method && !is_attribute(operation.entry->name))
      all.push_back(operation.definition());
  all.push_back({nullptr, nullptr, 0, nullptr});
  return all;
}

PyObject* new_tensor_object(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (kwargs && PyDict_GET_SIZE(kwargs))
      raise(PyExc_TypeError,
            std::string(type->tp_name) +
                "() takes no keyword arguments; torch.tensor(data, dtype=...) does");
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    Tensor made;
    if (n == 1 && PyFloat_Check(PyTuple_GET_ITEM(args, 0)))
      raise(PyExc_TypeError, "new(): data must be a sequence (got float)");
    if (n == 1 && is_tensor(PyTuple_GET_ITEM(args, 0))) {
      made = make_alias(tensor_of(PyTuple_GET_ITEM(args, 0)));
    } else if (n == 1 && !is_integer(PyTuple_GET_ITEM(args, 0)) &&
               Py_TYPE(PyTuple_GET_ITEM(args, 0)) != size_type) {
      made = tensor_from(PyTuple_GET_ITEM(args, 0), get_default_dtype(), {});
    } else {
      Ints sizes;
      for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* item = PyTuple_GET_ITEM(args, i);
        if (Py_TYPE(item) == size_type && n == 1) {
          sizes = to_ints(item);
          break;
        }
        sizes.push_back(to_int(item));
      }
      made = empty(n ? IntArrayRef(sizes) : IntArrayRef({0}));
    }
    return wrap_as(type, std::move(made));
  });
}

void add_tensor_functions(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace taeda::python
