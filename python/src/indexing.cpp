#include "indexing.h"

#include "data.h"
#include "overrides.h"
#include "taeda/taeda.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

using Indices = SmallVector<TensorIndex, 4>;

OptionalDim bound(PyObject* object) {
  if (object == Py_None) return {};
  if (is_tensor(object)) return to_scalar(object).toLong();
  if (!PyLong_CheckExact(object)) throw_if_overridden(object);
  // As Python's own sequences do: beyond the ends is the end.
  const Py_ssize_t value = PyNumber_AsSsize_t(checked(object), nullptr);
  if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
  return value;
}

Slice to_slice(PyObject* object) {
  const auto* s = reinterpret_cast<PySliceObject*>(object);
  return Slice(bound(s->start), bound(s->stop), bound(s->step));
}

TensorIndex to_index(PyObject* object, const Tensor& self) {
  if (PyLong_CheckExact(object)) return TensorIndex(to_int(object));
  if (PySlice_Check(object)) return TensorIndex(to_slice(object));
  if (object == Py_None) return TensorIndex(None);
  if (object == Py_Ellipsis) return TensorIndex(Ellipsis);
  if (PyBool_Check(object)) return TensorIndex(object == Py_True);
  if (is_plain(object)) return TensorIndex(tensor_of(object));
  throw_if_overridden(object);
  if (is_tensor(object)) return TensorIndex(tensor_of(object));
  if (is_integer(object)) return TensorIndex(to_int(object));
  if (is_sequence(object) || is_array_like(object) ||
      (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object))) {
    const Tensor t = tensor_from(object, {}, {});
    // An empty list selects nothing.
    return TensorIndex(
        (t.numel() == 0 && t.is_floating_point() ? t.to(kLong) : t).to(self.device()));
  }
  if (PyUnicode_Check(object)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
  raise(PyExc_IndexError,
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        "indices (got " +
            std::string(Py_TYPE(object)->tp_name) + ")");
}

/// A list is one index, made a tensor, unless it holds sequences, slices and the like as tuples do.
bool is_like_a_tuple(PyObject* object) {
  if (PyTuple_Check(object)) return true;
  if (!PyList_Check(object) || PyList_GET_SIZE(object) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) {
    PyObject* item = PyList_GET_ITEM(object, i);
    if (!PySlice_Check(item) && item != Py_None && item != Py_Ellipsis && !is_tensor(item) &&
        !(PySequence_Check(item) && !PyUnicode_Check(item)))
      continue;
    TAEDA_WARN(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed "
        "in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result");
    return true;
  }
  return false;
}

Indices to_indices(PyObject* object, const Tensor& self) {
  Indices out;
  if (!is_like_a_tuple(object)) {
    out.push_back(to_index(object, self));
    return out;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
    out.push_back(to_index(PySequence_Fast_GET_ITEM(object, i), self));
  return out;
}

bool selects_by_tensor(const Indices& indices) {
  for (const TensorIndex& i : indices)
    if (i.kind() == TensorIndex::Kind::Tensor) return true;
  return false;
}

PyObject* item_of(PyObject* self, PyObject* index) {
  const Tensor& x = tensor_of(self);
  if (PyLong_CheckExact(index)) {
    if (x.dim() == 0)
      raise(PyExc_IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number");
    const int64_t i = to_int(index);
    if (i >= x.size(0) || i < -x.size(0))
      raise(PyExc_IndexError, "index " + std::to_string(i) +
                                  " is out of bounds for dimension 0 with size " +
                                  std::to_string(x.size(0)));
    return wrap(x.select(0, i));
  }
  const Indices indices = to_indices(index, x);
  const ArrayRef<TensorIndex> all(indices.data(), indices.size());
  if (!selects_by_tensor(indices)) return wrap(x.index(all));
  Tensor out;
  {
    const ReleaseGil released;
    out = x.index(all);
  }
  return wrap(std::move(out));
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_method("__getitem__", {self, index})) return made;
    try {
      return item_of(self, index);
    } catch (const Overridden&) {
      PyErr_Clear();
      return answered(overridden_method("__getitem__", {self, index}));
    }
  });
}

namespace {

void set_item_of(PyObject* self, PyObject* index, PyObject* value) {
  const Tensor& x = tensor_of(self);
  const Indices indices = to_indices(index, x);
  const ArrayRef<TensorIndex> all(indices.data(), indices.size());
  if (!is_tensor(value) && is_number(value)) {
    const Scalar number = to_scalar(value);
    const ReleaseGil released(selects_by_tensor(indices));
    x.index_put_(all, number);
    return;
  }
  if (!is_tensor(value)) {
    const std::string kind = "torch." +
                             std::string(x.is_cpu() ? "" : to_string(x.device().type())) +
                             (x.is_cpu() ? "" : ".") + to_string(x.dtype()) + "Tensor";
    raise(PyExc_TypeError,
          std::string("can't assign a ") + Py_TYPE(value)->tp_name + " to a " + kind);
  }
  const Tensor source = tensor_of(value);
  const ReleaseGil released(selects_by_tensor(indices));
  x.index_put_(all, source);
}

}  // namespace

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  return guarded_status([&] {
    if (!value) raise(PyExc_TypeError, "Tensor does not support deleting items");
    if (!is_plain_or_parameter(self) || !is_inert(value)) [[unlikely]]
      if (const Ref made(overridden_method("__setitem__", {self, index, value})); made) return 0;
    try {
      set_item_of(self, index, value);
    } catch (const Overridden&) {
      PyErr_Clear();
      Ref(answered(overridden_method("__setitem__", {self, index, value})));
    }
    return 0;
  });
}

namespace {

/// A tensor, a tuple of tensors and None for whole dimensions, values, whether to add them.
template <bool in_place>
PyObject* put_at_indices(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 4 || !is_tensor(args[0]) || !PyTuple_Check(args[1]) || !is_tensor(args[2]))
      raise(PyExc_TypeError, "_index_put takes a Tensor, a tuple, a Tensor and a bool");
    const Tensor& x = tensor_of(args[0]);
    Indices indices;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i) {
      PyObject* item = PyTuple_GET_ITEM(args[1], i);
      indices.push_back(item == Py_None ? TensorIndex(Slice()) : to_index(item, x));
    }
    const Tensor& values = tensor_of(args[2]);
    const bool accumulate = to_bool(args[3]);
    const ArrayRef<TensorIndex> all(indices.data(), indices.size());
    Tensor out;
    {
      const ReleaseGil released;
      if (in_place)
        x.index_put_(all, values, accumulate);
      else
        out = index_put(x, all, values, accumulate);
    }
    if (!in_place) return wrap(out);
    Py_INCREF(args[0]);
    return args[0];
  });
}

PyMethodDef index_functions[] = {
    {"_index_put", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(put_at_indices<false>)),
     METH_FASTCALL, "tensor, indices, values, accumulate"},
    {"_index_put_", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(put_at_indices<true>)),
     METH_FASTCALL, "tensor, indices, values, accumulate"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_index_functions(PyObject* module) {
  checked(PyModule_AddFunctions(module, index_functions));
}

Py_ssize_t tensor_length(PyObject* self) {
  return guarded_status([&]() -> Py_ssize_t {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (const Ref made(overridden_method("__len__", {self})); made) return to_int(made.get());
    const Tensor& t = tensor_of(self);
    if (t.dim() == 0) raise(PyExc_TypeError, "len() of a 0-d tensor");
    return t.size(0);
  });
}

int tensor_contains(PyObject* self, PyObject* value) {
  return guarded_status([&] {
    if (!is_plain_or_parameter(self) || !is_inert(value)) [[unlikely]]
      if (const Ref made(overridden_method("__contains__", {self, value})); made)
        return to_bool(made.get()) ? 1 : 0;
    const Tensor& t = tensor_of(self);
    if (is_tensor(value)) return taeda::eq(t, tensor_of(value)).any().item().toBool() ? 1 : 0;
    if (is_number(value)) return taeda::eq(t, to_scalar(value)).any().item().toBool() ? 1 : 0;
    const Ref kind(checked(PyObject_Repr(reinterpret_cast<PyObject*>(Py_TYPE(value)))));
    raise(PyExc_RuntimeError,
          "Tensor.__contains__ only supports Tensor or scalar, but you passed in a " +
              std::string(to_text(kind.get())) + ".");
  });
}

}  // namespace taeda::python
