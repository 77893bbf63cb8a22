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
#include "taeda/taeda.h"
#include "values.h"

namespace taeda::python {

namespace {

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
  const std::string found =
      lines.empty() ? "No forward pass information available. Enable detect anomaly during forward "
                      "pass for more information."
                    : "Traceback of forward call that caused the error:\n" + lines;
  taeda::detail::warn_aside(WarningKind::User,
                            std::string("Error detected in ") + node + ". " + found);
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
    {"_first_of_level", first_of_level, METH_NOARGS, "The number of the next node."},
    {"_reaches_outside", fast(reaches_outside), METH_FASTCALL, "first, outputs, watched"},
    {"_close_level", fast(close_level), METH_FASTCALL, "first, results, watched, recorded, cut"},
    {"_queue_callback", queue_callback, METH_O, "Calls at the end of the pass that runs."},
    {"_current_graph_task_id", current_pass, METH_NOARGS,
     "Which pass runs on this thread, -1 for none."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_autograd(PyObject* module) {
  add_nodes(module);
  checked(PyModule_AddFunctions(module, functions));
  add_hooks(module);
  add_grad_blocks(module);
  add_autograd_function(module);
}

}  // namespace taeda::python
