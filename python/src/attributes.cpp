#include "attributes.h"

#include "autograd.h"
#include "kinds.h"
#include "overrides.h"
#include "taeda/autograd/node.h"
#include "taeda/taeda.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

// A getter that gives what `f` makes of the tensor. Its closure is the attribute's name.
template <auto F>
PyObject* get(PyObject* self, void* name) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_attribute(static_cast<const char*>(name), self)) return made;
    return F(tensor_of(self));
  });
}

PyObject* shape(const Tensor& t) { return from_sizes(t.sizes()); }
PyObject* dtype(const Tensor& t) { return from_dtype(t.dtype()); }
PyObject* device(const Tensor& t) { return from_device(t.device()); }
PyObject* layout(const Tensor& t) { return from_layout(TensorLayout(t.layout())); }
PyObject* ndim(const Tensor& t) { return PyLong_FromLongLong(t.dim()); }
PyObject* itemsize(const Tensor& t) { return PyLong_FromLongLong(t.element_size()); }
PyObject* nbytes(const Tensor& t) { return PyLong_FromLongLong(t.nbytes()); }
PyObject* requires_grad(const Tensor& t) { return PyBool_FromLong(t.requires_grad()); }
PyObject* is_leaf(const Tensor& t) { return PyBool_FromLong(t.is_leaf()); }
PyObject* retains_grad(const Tensor& t) { return PyBool_FromLong(t.retains_grad()); }
PyObject* output_nr(const Tensor& t) { return PyLong_FromLongLong(t.output_nr()); }
PyObject* version(const Tensor& t) { return PyLong_FromLongLong(t._version()); }
PyObject* is_cpu(const Tensor& t) { return PyBool_FromLong(t.is_cpu()); }
PyObject* is_cuda(const Tensor& t) {
  return PyBool_FromLong(std::string_view(to_string(t.device().type())) == "cuda");
}
PyObject* is_meta(const Tensor& t) { return PyBool_FromLong(t.is_meta()); }
PyObject* is_sparse(const Tensor& t) { return PyBool_FromLong(t.is_sparse()); }
PyObject* is_sparse_csr(const Tensor& t) { return PyBool_FromLong(t.is_sparse_csr()); }
PyObject* address(const Tensor& t) { return PyLong_FromVoidPtr(t.unsafeGetTensorImpl()); }
PyObject* no(const Tensor&) { Py_RETURN_FALSE; }
PyObject* none(const Tensor&) { Py_RETURN_NONE; }
PyObject* data(const Tensor& t) { return wrap(t.variable_data()); }
PyObject* grad(const Tensor& t) { return wrap(t.grad()); }
PyObject* grad_fn(const Tensor& t) { return from_node(t.grad_fn()); }
PyObject* base(const Tensor& t) {
  if (!t.is_view()) Py_RETURN_NONE;
  return wrap(t._base());
}
PyObject* real(const Tensor& t) { return wrap(taeda::real(t)); }
PyObject* imag(const Tensor& t) { return wrap(taeda::imag(t)); }
PyObject* transposed(const Tensor& t) { return wrap(t.numpy_T()); }
PyObject* matrix_transposed(const Tensor& t) { return wrap(t.mT()); }
PyObject* hermitian(const Tensor& t) { return wrap(t.matrix_H()); }
PyObject* matrix_hermitian(const Tensor& t) { return wrap(t.mH()); }

// A setter; deleting is for those that say so.
template <auto F>
int set(PyObject* self, PyObject* value, void* name) {
  return guarded_status([&] {
    if (value && !(is_plain_or_parameter(self) && is_inert(value))) [[unlikely]]
      if (const Ref made(overridden_attribute(static_cast<const char*>(name), self, value)); made)
        return 0;
    F(tensor_of(self), value);
    return 0;
  });
}

void set_requires_grad(const Tensor& t, PyObject* value) {
  if (!value || !PyBool_Check(value)) raise(PyExc_RuntimeError, "requires_grad must be a bool");
  t.requires_grad_(value == Py_True);
}
void set_data(const Tensor& t, PyObject* value) {
  if (!value || !is_tensor(value))
    raise(PyExc_TypeError, std::string("Variable data has to be a tensor, but got ") +
                               (value ? Py_TYPE(value)->tp_name : "nothing"));
  t.set_data(tensor_of(value));
}
void set_grad(const Tensor& t, PyObject* value) {
  if (!value || value == Py_None) {
    t.mutable_grad().reset();
    return;
  }
  if (!is_tensor(value))
    raise(PyExc_TypeError,
          std::string("assigned grad expected to be a Tensor or None but got grad of type ") +
              Py_TYPE(value)->tp_name);
  const Tensor& g = tensor_of(value);
  if (g.is_same(t)) raise(PyExc_RuntimeError, "can't assign Variable as its own grad");
  if (g.is_strided() && g.sizes() != t.sizes())
    raise(PyExc_RuntimeError,
          taeda::detail::concat(
              "attempting to assign a gradient of size '", g.sizes(), "' to a tensor of size '",
              t.sizes(), "'. Please ensure that the gradient and the tensor are the same size"));
  if (g.dtype() != t.dtype())
    raise(PyExc_RuntimeError, "assigned grad has data of a different type");
  if (g.device() != t.device())
    raise(PyExc_RuntimeError, "assigned grad has data located on a different device");
  t.mutable_grad() = g;
}
void fill_part(const Tensor& part, PyObject* value) {
  if (!value) raise(PyExc_TypeError, "the parts of a tensor cannot be deleted");
  if (is_tensor(value))
    part.copy_(to_tensor(value));
  else
    part.fill_(to_scalar(value));
}
void set_real(const Tensor& t, PyObject* value) { fill_part(taeda::real(t), value); }
void set_imag(const Tensor& t, PyObject* value) { fill_part(taeda::imag(t), value); }

void set_grad_fn(const Tensor& t, PyObject* value) {
  if (value != Py_None) raise(PyExc_RuntimeError, "_grad_fn can be only set to None");
  t.detach_();
}
void set_grad_dtype(const Tensor& t, PyObject* value) {
  if (value == Py_None) return;  // any dtype may be assigned, as far as set_grad takes it
  if (!value || !is_dtype(value))
    raise(PyExc_RuntimeError, std::string("grad_dtype must be a torch.dtype or None, but got ") +
                                  (value ? Py_TYPE(value)->tp_name : "nothing"));
  if (to_dtype(value) != t.dtype())
    raise(PyExc_NotImplementedError,
          std::string("grad_dtype: a gradient of a tensor of ") + dtype_name(t.dtype()) +
              " is one of the same dtype, not of " + dtype_name(to_dtype(value)));
}

PyObject* name(PyObject*, void*) { Py_RETURN_NONE; }

PyObject* hooks(PyObject* self, void*) {
  PyObject* all = reinterpret_cast<TensorObject*>(self)->hooks;
  if (!all) Py_RETURN_NONE;
  Py_INCREF(all);
  return all;
}

PyObject* attributes_dict(PyObject* self, void*) { return PyObject_GenericGetDict(self, nullptr); }
int set_attributes_dict(PyObject* self, PyObject* value, void*) {
  return PyObject_GenericSetDict(self, value, nullptr);
}

}  // namespace

PyGetSetDef tensor_attributes[] = {
    {"shape", get<shape>, nullptr, "The sizes, a torch.Size.", nullptr},
    {"dtype", get<dtype>, nullptr, "The type of the elements.", nullptr},
    {"device", get<device>, nullptr, "Where the elements are.", nullptr},
    {"layout", get<layout>, nullptr, "torch.strided, torch.sparse_coo or torch.sparse_csr.",
     nullptr},
    {"ndim", get<ndim>, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", get<itemsize>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get<nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"requires_grad", get<requires_grad>, set<set_requires_grad>,
     "Whether operations on it are recorded.", nullptr},
    {"is_leaf", get<is_leaf>, nullptr, "Whether no operation that was recorded made it.", nullptr},
    {"retains_grad", get<retains_grad>, nullptr,
     "Whether it keeps its gradient although it is no leaf.", nullptr},
    {"output_nr", get<output_nr>, nullptr, "Which result of its grad_fn it is.", nullptr},
    {"_version", get<version>, nullptr, "Counts changes in place.", nullptr},
    {"_base", get<base>, nullptr, "The tensor that this is a view of, or None.", nullptr},
    {"is_cpu", get<is_cpu>, nullptr, "Whether it is in the host's memory.", nullptr},
    {"is_cuda", get<is_cuda>, nullptr, "Whether it is on a device of type cuda.", nullptr},
    {"is_meta", get<is_meta>, nullptr, "Whether it has no data.", nullptr},
    {"is_sparse", get<is_sparse>, nullptr, "Whether it has indices and values instead of memory.",
     nullptr},
    {"is_sparse_csr", get<is_sparse_csr>, nullptr,
     "Whether it has columns, begins of rows and values instead of memory.", nullptr},
    {"is_quantized", get<no>, nullptr, "False: there are no quantized tensors.", nullptr},
    {"is_nested", get<no>, nullptr, "False: there are no nested tensors.", nullptr},
    {"is_mps", get<no>, nullptr, "False.", nullptr},
    {"is_xpu", get<no>, nullptr, "False.", nullptr},
    {"is_ipu", get<no>, nullptr, "False.", nullptr},
    {"is_maia", get<no>, nullptr, "False.", nullptr},
    {"is_mtia", get<no>, nullptr, "False.", nullptr},
    {"is_vulkan", get<no>, nullptr, "False.", nullptr},
    {"is_xla", get<no>, nullptr, "False.", nullptr},
    {"is_mkldnn", get<no>, nullptr, "False.", nullptr},
    {"data", get<data>, set<set_data>,
     "The same memory without a history; assigning replaces memory.", nullptr},
    {"grad", get<grad>, set<set_grad>, "The gradient that backward summed here, or None.", nullptr},
    {"grad_fn", get<grad_fn>, nullptr, "What made it, as a node of the graph, or None.", nullptr},
    {"grad_dtype", get<dtype>, set<set_grad_dtype>,
     "The dtype of the gradient, which is the tensor's own.", nullptr},
    {"_grad", get<grad>, set<set_grad>, "The same as grad.", nullptr},
    {"_grad_fn", get<grad_fn>, set<set_grad_fn>, "The same as grad_fn; None detaches the tensor.",
     nullptr},
    {"_cdata", get<address>, nullptr, "Where the tensor lies, a number that tells it from others.",
     nullptr},
    {"_has_symbolic_sizes_strides", get<no>, nullptr, "False: sizes are numbers.", nullptr},
    {"_python_dispatch", get<no>, nullptr, "False.", nullptr},
    {"real", get<real>, set<set_real>, "The real parts, a view.", nullptr},
    {"imag", get<imag>, set<set_imag>, "The imaginary parts, a view.", nullptr},
    {"T", get<transposed>, nullptr, "With its dimensions in reverse order.", nullptr},
    {"mT", get<matrix_transposed>, nullptr, "With the last two dimensions swapped.", nullptr},
    {"H", get<hermitian>, nullptr, "The conjugate transpose of a matrix.", nullptr},
    {"mH", get<matrix_hermitian>, nullptr, "Conjugate, with the last two dimensions swapped.",
     nullptr},
    {"name", name, nullptr, "None.", nullptr},
    {"_backward_hooks", hooks, nullptr, "Hooks by number, or None.", nullptr},
    {"__dict__", attributes_dict, set_attributes_dict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace taeda::python
