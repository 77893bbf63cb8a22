// Nodes of the graph as Python's objects.
#include <any>
#include <memory>
#include <unordered_map>

#include "autograd.h"
#include "autograd_function.h"
#include "hooks.h"
#include "taeda/autograd/graph.h"
#include "taeda/autograd/meta.h"
#include "taeda/nn/forward_state.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

struct NodeObject {
  PyObject_HEAD autograd::NodePtr node;
};
PyTypeObject* node_type;

autograd::Node& node_of(PyObject* self) { return *reinterpret_cast<NodeObject*>(self)->node; }

/// The objects that there are, each of which keeps its node: a node is one object for as long as
/// anybody holds it. Guarded by the GIL.
std::unordered_map<const autograd::Node*, PyObject*>& objects() {
  static auto& all = *new std::unordered_map<const autograd::Node*, PyObject*>;
  return all;
}

void deallocate_node(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto* object = reinterpret_cast<NodeObject*>(self);
  objects().erase(object->node.get());
  object->node.~IntrusivePtr<autograd::Node>();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* repr_node(PyObject* self) {
  return PyUnicode_FromFormat("<%s object at %p>", node_of(self).name(), &node_of(self));
}

PyObject* name_of_node(PyObject* self, PyObject*) {
  return PyUnicode_FromString(node_of(self).name());
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const auto& edges = node_of(self).next_functions();
    Ref out(checked(PyTuple_New(static_cast<Py_ssize_t>(edges.size()))));
    for (size_t i = 0; i < edges.size(); ++i) {
      Ref next(checked(from_node(edges[i].node)));
      PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i),
                       checked(Py_BuildValue("(OI)", next.get(), edges[i].input_nr)));
    }
    return out.release();
  });
}

/// The lines of a traceback, one text for each call.
PyObject* lines_of(const std::string& traceback) {
  Ref lines(checked(PyList_New(0)));
  for (size_t at = 0; at < traceback.size();) {
    const size_t next = traceback.find("\n  File ", at);
    const size_t end = next == std::string::npos ? traceback.size() : next + 1;
    Ref line(checked(from_text(traceback.substr(at, end - at))));
    checked(PyList_Append(lines.get(), line.get()));
    at = end;
  }
  return lines.release();
}

/// What anomaly mode notes of a node: where it was recorded, and by the backward of which other.
void add_origin(autograd::Node& node, PyObject* notes) {
  const autograd::NodeHooks* const hooks = node.hooks();
  if (!hooks || hooks->origin.empty() || PyDict_GetItemString(notes, "traceback_")) return;
  Ref lines(checked(lines_of(hooks->origin)));
  checked(PyDict_SetItemString(notes, "traceback_", lines.get()));
  const auto& all = autograd::graph::metadata(node);
  const auto parent = all.find("parent_");
  if (parent == all.end()) return;
  Ref object(checked(from_node(std::any_cast<const autograd::NodePtr&>(parent->second))));
  checked(PyDict_SetItemString(notes, "parent_", object.get()));
}

PyObject* metadata_of_node(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    std::any& kept = autograd::graph::metadata(node_of(self))["python"];
    if (!kept.has_value()) {
      Ref notes(checked(PyDict_New()));
      kept = std::make_shared<Kept>(notes.get());
    }
    PyObject* notes = std::any_cast<const std::shared_ptr<Kept>&>(kept)->get();
    add_origin(node_of(self), notes);
    Py_INCREF(notes);
    return notes;
  });
}

/// The leaf of an accumulating node.
PyObject* variable_of_node(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    if (const auto* const sink = dynamic_cast<const autograd::AccumulateGrad*>(&node_of(self)))
      return wrap(sink->leaf());
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'",
                 node_of(self).name());
    throw ErrorIsSet();
  });
}

/// What the gradients that come in look like.
PyObject* input_metadata(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Ref types(checked(PyImport_ImportModule("types")));
    Ref kind(checked(PyObject_GetAttrString(types.get(), "SimpleNamespace")));
    Ref out(checked(PyList_New(0))), none(checked(PyTuple_New(0)));
    for (const autograd::InputMeta& meta : node_of(self).inputs) {
      Ref shape(checked(from_sizes(meta.sizes))), dtype(checked(from_dtype(meta.dtype))),
          device(checked(from_device(meta.device)));
      Ref named(checked(Py_BuildValue("{sOsOsOsOsO}", "shape", shape.get(), "dtype", dtype.get(),
                                      "device", device.get(), "is_tensor_subclass", Py_False,
                                      "is_nested_tensor", Py_False)));
      Ref each(checked(PyObject_Call(kind.get(), none.get(), named.get())));
      checked(PyList_Append(out.get(), each.get()));
    }
    return out.release();
  });
}

PyObject* requires_grad(PyObject*, void*) { Py_RETURN_TRUE; }

constexpr std::string_view kSaved = "_saved_";

/// What may have to be computed again first, by functions that need the GIL.
std::vector<autograd::SavedTensor> saved_tensors_of(const autograd::Node& node) {
  const ReleaseGil released(utils::checkpoint::in_use());
  return node.saved_tensors();
}

/// `_saved_self` and the like; of a function written in Python, whatever its ctx has.
PyObject* attribute_of_node(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const std::string_view text = to_text(name);
    if (text.starts_with(kSaved))
      for (const autograd::SavedTensor& saved : saved_tensors_of(node_of(self)))
        if (saved.name == text.substr(kSaved.size())) return wrap(saved.value);
    PyObject* const ctx = context_of_node(node_of(self));
    if (PyObject* found = PyObject_GenericGetAttr(self, name)) return found;
    if (!ctx || !PyErr_ExceptionMatches(PyExc_AttributeError)) throw ErrorIsSet();
    PyErr_Clear();
    return checked(PyObject_GetAttr(ctx, name));
  });
}

int set_attribute_of_node(PyObject* self, PyObject* name, PyObject* value) {
  return guarded_status([&] {
    if (PyObject* const ctx = context_of_node(node_of(self)))
      return PyObject_SetAttr(ctx, name, value);
    return PyObject_GenericSetAttr(self, name, value);
  });
}

/// What programs that draw graphs look through for what was saved.
PyObject* attributes_of_node(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref type(checked(PyObject_Dir(reinterpret_cast<PyObject*>(Py_TYPE(self)))));
    Ref names(checked(PySet_New(type.get())));
    if (PyObject* const ctx = context_of_node(node_of(self))) {
      Ref more(checked(PyObject_Dir(ctx)));
      checked(_PySet_Update(names.get(), more.get()));
    } else {
      for (const autograd::SavedTensor& saved : saved_tensors_of(node_of(self))) {
        Ref text(checked(from_text(std::string(kSaved) + saved.name)));
        if (!saved.name.empty()) checked(PySet_Add(names.get(), text.get()));
      }
    }
    return PySequence_List(names.get());
  });
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(node_of(self).sequence_nr());
}

PyObject* set_sequence_nr(PyObject* self, PyObject* number) {
  return guarded([&]() -> PyObject* {
    node_of(self).set_sequence_nr(static_cast<uint64_t>(to_int(number)));
    Py_RETURN_NONE;
  });
}

PyObject* remove_node_hook(PyObject* self, PyObject* handle) {
  return guarded([&]() -> PyObject* {
    node_of(self).remove_hook(static_cast<HookHandle>(to_int(handle)));
    Py_RETURN_NONE;
  });
}
PyObject* add_node_post_hook(PyObject* self, PyObject* hook) {
  return guarded(
      [&] { return PyLong_FromUnsignedLong(node_of(self).add_post_hook(post_hook(hook))); });
}
PyObject* add_node_pre_hook(PyObject* self, PyObject* hook) {
  return guarded(
      [&] { return PyLong_FromUnsignedLong(node_of(self).add_pre_hook(pre_hook(hook))); });
}

PyMethodDef methods[] = {
    {"name", name_of_node, METH_NOARGS, "\"MulBackward0\" and the like."},
    {"__dir__", attributes_of_node, METH_NOARGS, "All attributes, those that were saved included."},
    {"_sequence_nr", sequence_nr, METH_NOARGS, "Grows with every operation of the thread."},
    {"_set_sequence_nr", set_sequence_nr, METH_O, "Backward takes larger numbers first."},
    {"_add_post_hook", add_node_post_hook, METH_O,
     "hook(grad_inputs, grad_outputs); returns a number."},
    {"_add_pre_hook", add_node_pre_hook, METH_O, "hook(grad_outputs); returns a number."},
    {"_remove_hook", remove_node_hook, METH_O, "Takes what the others return."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {
    {"next_functions", next_functions, nullptr,
     "Where gradients go: pairs of a node and its input's number.", nullptr},
    {"metadata", metadata_of_node, nullptr,
     "A dictionary for notes, which lives as long as the node.", nullptr},
    {"variable", variable_of_node, nullptr, "The leaf of an AccumulateGrad.", nullptr},
    {"requires_grad", requires_grad, nullptr, "True: it is a node because something does.",
     nullptr},
    {"_input_metadata", input_metadata, nullptr, "Shape, dtype and device of each gradient.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Programs that draw graphs ask for the name of a node's class: each name gets one, below _Node.
PyTypeObject* class_of_node(const autograd::Node& node) {
  static auto& classes = *new std::unordered_map<std::string, PyTypeObject*>;
  PyTypeObject*& found = classes[node.name()];
  if (!found) {
    const std::string full = "torch.autograd.graph." + std::string(node.name());
    PyType_Slot none[] = {{0, nullptr}};
    PyType_Spec spec = {full.c_str(), 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        none};
    Ref base(PyTuple_Pack(1, node_type));
    found = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, base.get())));
  }
  return found;
}

}  // namespace

PyObject* from_node(autograd::NodePtr node) {
  if (!node) Py_RETURN_NONE;
  if (const auto found = objects().find(node.get()); found != objects().end()) {
    Py_INCREF(found->second);
    return found->second;
  }
  PyTypeObject* type = class_of_node(*node);
  auto* self = reinterpret_cast<NodeObject*>(checked(type->tp_alloc(type, 0)));
  new (&self->node) autograd::NodePtr(std::move(node));
  objects()[self->node.get()] = reinterpret_cast<PyObject*>(self);
  return reinterpret_cast<PyObject*>(self);
}

void add_nodes(PyObject* module) {
  static const char about[] =
      R"(What an operation left in the graph of gradients: `grad_fn` of its result.

>>> y = torch.ones(2, requires_grad=True) * 3
>>> y.grad_fn.name()
'MulBackward0'
)";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_node)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr_node)},
                         {Py_tp_getattro, reinterpret_cast<void*>(attribute_of_node)},
                         {Py_tp_setattro, reinterpret_cast<void*>(set_attribute_of_node)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.autograd.graph._Node", sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  node_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "_Node", reinterpret_cast<PyObject*>(node_type)));
}

}  // namespace taeda::python
