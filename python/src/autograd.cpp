#include "autograd.h"

#include "arguments.h"
#include "autograd_function.h"
#include "grad_blocks.h"
#include "hooks.h"
#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/graph.h"
#include "taeda/autograd/level.h"
#include "taeda/autograd/meta.h"
#include "taeda/device/draws.h"
#include "taeda/taeda.h"
#include "values.h"

namespace taeda::python {

namespace {

struct NodeObject {
  PyObject_HEAD autograd::NodePtr node;
  PyObject* metadata;
};
PyTypeObject* node_type;

autograd::Node& node_of(PyObject* self) { return *reinterpret_cast<NodeObject*>(self)->node; }

void deallocate_node(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto* object = reinterpret_cast<NodeObject*>(self);
  Py_CLEAR(object->metadata);
  object->node.~IntrusivePtr<autograd::Node>();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* repr_node(PyObject* self) {
  return PyUnicode_FromFormat("<%s object at %p>", node_of(self).name(), &node_of(self));
}
Py_hash_t hash_node(PyObject* self) { return _Py_HashPointer(&node_of(self)); }
PyObject* compare_nodes(PyObject* a, PyObject* b, int operation) {
  if (!PyObject_TypeCheck(b, node_type) || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((&node_of(a) == &node_of(b)) == (operation == Py_EQ));
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

PyObject* metadata_of_node(PyObject* self, void*) {
  auto* object = reinterpret_cast<NodeObject*>(self);
  if (!object->metadata) object->metadata = PyDict_New();
  Py_XINCREF(object->metadata);
  return object->metadata;
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

/// `_saved_self` and the like.
PyObject* attribute_of_node(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const std::string_view text = to_text(name);
    if (text.starts_with("_saved_"))
      for (const autograd::SavedTensor& saved : node_of(self).saved_tensors())
        if (saved.name == text.substr(7)) return wrap(saved.value);
    return checked(PyObject_GenericGetAttr(self, name));
  });
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(node_of(self).sequence_nr());
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

PyMethodDef node_methods[] = {
    {"name", name_of_node, METH_NOARGS, "\"MulBackward0\" and the like."},
    {"_sequence_nr", sequence_nr, METH_NOARGS, "Grows with every operation of the thread."},
    {"_add_post_hook", add_node_post_hook, METH_O,
     "hook(grad_inputs, grad_outputs); returns a number."},
    {"_add_pre_hook", add_node_pre_hook, METH_O, "hook(grad_outputs); returns a number."},
    {"_remove_hook", remove_node_hook, METH_O, "Takes what the others return."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef node_attributes[] = {
    {"next_functions", next_functions, nullptr,
     "Where gradients go: pairs of a node and its input's number.", nullptr},
    {"metadata", metadata_of_node, nullptr, "A dictionary for notes.", nullptr},
    {"variable", variable_of_node, nullptr, "The leaf of an AccumulateGrad.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// The functions of the extension.

std::vector<Tensor> tensors_or_none(PyObject* object) {
  std::vector<Tensor> out;
  if (object == Py_None) return out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
    out.push_back(to_tensor(PySequence_Fast_GET_ITEM(object, i)));
  return out;
}
std::optional<bool> maybe_bool(PyObject* object) {
  return object == Py_None ? std::nullopt : std::optional(to_bool(object));
}

PyObject* backward(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 5) raise(PyExc_TypeError, "_backward takes 5 arguments");
    const std::vector<Tensor> roots = tensors_or_none(args[0]), weights = tensors_or_none(args[1]),
                              inputs = tensors_or_none(args[4]);
    const std::optional<bool> retain = maybe_bool(args[2]);
    const bool create = to_bool(args[3]);
    {
      const ReleaseGil released;
      autograd::backward(roots, weights, retain, create, inputs);
    }
    Py_RETURN_NONE;
  });
}

PyObject* grad(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 6) raise(PyExc_TypeError, "_grad takes 6 arguments");
    const std::vector<Tensor> outputs = tensors_or_none(args[0]), inputs = tensors_or_none(args[1]),
                              weights = tensors_or_none(args[2]);
    const std::optional<bool> retain = maybe_bool(args[3]);
    const bool create = to_bool(args[4]), unused = to_bool(args[5]);
    std::vector<Tensor> out;
    {
      const ReleaseGil released;
      out = autograd::grad(outputs, inputs, weights, retain, create, unused);
    }
    return from_tensors(std::move(out));
  });
}

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(GradMode::is_enabled()); }
PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    const bool before = GradMode::is_enabled();
    GradMode::set_enabled(to_bool(on));
    return PyBool_FromLong(before);
  });
}
PyObject* is_inference_mode_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(InferenceMode::is_enabled());
}

PyObject* enter_inference_mode(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    auto* guard = new InferenceMode(to_bool(on));
    return PyCapsule_New(guard, "inference_mode", [](PyObject* capsule) {
      delete static_cast<InferenceMode*>(PyCapsule_GetPointer(capsule, "inference_mode"));
    });
  });
}

/// The lines of the program that are running on this thread, as a traceback has them.
std::string running_lines() {
  const PyGILState_STATE gil = PyGILState_Ensure();
  std::string text;
  if (PyObject* const module = PyImport_ImportModule("traceback")) {
    PyObject* const lines = PyObject_CallMethod(module, "format_stack", nullptr);
    for (Py_ssize_t i = 0; lines && i < PyList_GET_SIZE(lines); ++i)
      if (const char* line = PyUnicode_AsUTF8(PyList_GET_ITEM(lines, i))) text += line;
    Py_XDECREF(lines);
    Py_DECREF(module);
  }
  PyErr_Clear();
  PyGILState_Release(gil);
  return text;
}

/// Warns of a node whose backward failed, as PyTorch does.
void warn_of_origin(const char* node, const std::string& lines) {
  taeda::detail::warn_aside(WarningKind::User,
                            std::string("Error detected in ") + node +
                                ". Traceback of forward call that caused the error:\n" + lines);
}

PyObject* set_detect_anomaly(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) raise(PyExc_TypeError, "_set_detect_anomaly takes on and check_nan");
    autograd::set_origin_notes({.note = running_lines, .tell = warn_of_origin});
    autograd::set_detect_anomaly(to_bool(args[0]), to_bool(args[1]));
    Py_RETURN_NONE;
  });
}
PyObject* is_anomaly_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::AnomalyMode::is_enabled());
}

PyObject* is_anomaly_check_nan_enabled(PyObject*, PyObject*) {
  // What it will do when it is on: it looks for them unless it was told otherwise.
  return PyBool_FromLong(!autograd::AnomalyMode::is_enabled() ||
                         autograd::AnomalyMode::checks_nan());
}

PyObject* increment_version(PyObject*, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(tensor)) raise(PyExc_TypeError, "_increment_version expects a Tensor");
    tensor_of(tensor).unsafe_impl()->bump_version();
    Py_RETURN_NONE;
  });
}

PyObject* enter_saved_tensors_hooks(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) raise(PyExc_TypeError, "_enter_saved_tensors_hooks takes pack and unpack");
    const auto pack = std::make_shared<Kept>(args[0]), unpack = std::make_shared<Kept>(args[1]);
    auto* guard = new autograd::graph::saved_tensors_hooks(
        [pack](const Tensor& t) -> std::any {
          HoldGil gil;
          Ref given(wrap(t));
          Ref packed(PyObject_CallOneArg(pack->get(), given.get()));
          if (!packed) throw PythonError();
          return std::make_shared<Kept>(packed.get());
        },
        [unpack](const std::any& packed) -> Tensor {
          HoldGil gil;
          Ref out(PyObject_CallOneArg(unpack->get(),
                                      std::any_cast<std::shared_ptr<Kept>>(packed)->get()));
          if (!out) throw PythonError();
          if (!is_tensor(out.get())) {
            PyErr_SetString(PyExc_TypeError,
                            "Output of saved tensor unpack_hook expected to be a Tensor");
            throw PythonError();
          }
          return tensor_of(out.get());
        });
    return PyCapsule_New(guard, "saved_tensors_hooks", [](PyObject* capsule) {
      delete static_cast<autograd::graph::saved_tensors_hooks*>(
          PyCapsule_GetPointer(capsule, "saved_tensors_hooks"));
    });
  });
}

PyObject* refuse_draws_here(PyObject*, PyObject* why) {
  return guarded([&]() -> PyObject* { return from_text(refuse_draws(std::string(to_text(why)))); });
}

PyObject* queue_callback(PyObject*, PyObject* callback) {
  return guarded([&]() -> PyObject* {
    autograd::queue_callback([kept = std::make_shared<Kept>(callback)] {
      HoldGil gil;
      Ref done(PyObject_CallNoArgs(kept->get()));
      if (!done) throw PythonError();
    });
    Py_RETURN_NONE;
  });
}

PyObject* current_pass(PyObject*, PyObject*) {
  const void* pass = autograd::current_pass_id();
  return pass ? PyLong_FromVoidPtr(const_cast<void*>(pass)) : PyLong_FromLong(-1);
}

PyObject* first_of_level(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(autograd::Level().first());
}

autograd::Level level_of(PyObject* first) {
  return autograd::Level(static_cast<uint64_t>(to_int(first)));
}

PyObject* reaches_outside(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 3) raise(PyExc_TypeError, "_reaches_outside takes first, outputs, watched");
    return PyBool_FromLong(
        level_of(args[0]).reaches_outside(tensors_or_none(args[1]), tensors_or_none(args[2])));
  });
}

PyObject* close_level(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 5)
      raise(PyExc_TypeError, "_close_level takes first, results, watched, recorded, cut");
    return from_tensors(level_of(args[0]).close(tensors_or_none(args[1]), tensors_or_none(args[2]),
                                                to_bool(args[3]), to_bool(args[4])));
  });
}

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

PyCFunction fast(PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef functions[] = {
    {"_backward", fast(backward), METH_FASTCALL,
     "tensors, gradients, retain_graph, create_graph, inputs"},
    {"_grad", fast(grad), METH_FASTCALL,
     "outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused"},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "Whether operations of this thread are recorded."},
    {"_set_grad_enabled", set_grad_enabled, METH_O,
     "Switches recording on this thread; whether it was on."},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     "Whether this thread is in inference mode."},
    {"_enter_inference_mode", enter_inference_mode, METH_O,
     "A guard that leaves the mode when it goes."},
    {"_set_detect_anomaly", fast(set_detect_anomaly), METH_FASTCALL, "on, check_nan"},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS,
     "Whether operations remember where they ran."},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan_enabled, METH_NOARGS,
     "Whether gradients that are not numbers are errors while operations remember where they ran."},
    {"_increment_version", increment_version, METH_O, "Counts a change in place of a tensor."},
    {"_enter_saved_tensors_hooks", fast(enter_saved_tensors_hooks), METH_FASTCALL,
     "A guard: pack, unpack"},
    {"_refuse_draws", refuse_draws_here, METH_O,
     "Why operations of this thread may draw no random numbers, \"\": they may; what held before."},
    {"_first_of_level", first_of_level, METH_NOARGS, "The number of the next node."},
    {"_reaches_outside", fast(reaches_outside), METH_FASTCALL, "first, outputs, watched"},
    {"_close_level", fast(close_level), METH_FASTCALL, "first, results, watched, recorded, cut"},
    {"_queue_callback", queue_callback, METH_O, "Calls at the end of the pass that runs."},
    {"_current_graph_task_id", current_pass, METH_NOARGS,
     "Which pass runs on this thread, -1 for none."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* from_node(autograd::NodePtr node) {
  if (!node) Py_RETURN_NONE;
  PyTypeObject* type = class_of_node(*node);
  auto* self = reinterpret_cast<NodeObject*>(checked(type->tp_alloc(type, 0)));
  new (&self->node) autograd::NodePtr(std::move(node));
  return reinterpret_cast<PyObject*>(self);
}

void add_autograd(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate_node)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr_node)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash_node)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare_nodes)},
                         {Py_tp_getattro, reinterpret_cast<void*>(attribute_of_node)},
                         {Py_tp_methods, node_methods},
                         {Py_tp_getset, node_attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.autograd.graph._Node", sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  node_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "_Node", reinterpret_cast<PyObject*>(node_type)));
  checked(PyModule_AddFunctions(module, functions));
  add_hooks(module);
  add_grad_blocks(module);
  add_autograd_function(module);
}

}  // namespace taeda::python
