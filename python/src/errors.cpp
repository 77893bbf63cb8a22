#include "errors.h"

#include <new>
#include <string_view>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/nn/checkpoint.h"
#include "taeda/ops/linalg/linalg.h"

namespace taeda::python {

namespace {

PyObject* out_of_memory = nullptr;
PyObject* dist_error = nullptr;
PyObject* lin_alg_error = nullptr;
PyObject* checkpoint_error = nullptr;

/// Where PyTorch raises another class in Python than the library throws, by words of the message.
PyObject* class_of(const Error& e, PyObject* usual) {
  const struct {
    std::string_view words;
    PyObject* type;
  } others[] = {
      {"mean(): could not infer output dtype", PyExc_NotImplementedError},
      {"std and var only support", PyExc_NotImplementedError},
      {": Expected a floating point or complex tensor as input", PyExc_NotImplementedError},
      {"norm(): input dtype should be either floating", PyExc_NotImplementedError},
      {"operator, on a bool tensor is not supported", PyExc_NotImplementedError},
      {"operator, with two bool tensors is not", PyExc_NotImplementedError},
      {"Expected both inputs to be Half, Float", PyExc_NotImplementedError},
      {"torch.cat(): expected a non-empty list", PyExc_ValueError},
      {"view_as_real is only supported for", PyExc_TypeError}};
  for (const auto& other : others)
    if (e.message().find(other.words) != std::string::npos) return other.type;
  return usual;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// A message as Python writes it: "retain_graph=True", "torch.autograd.grad".
std::string in_python(std::string text) {
  const std::pair<std::string_view, std::string_view> words[] = {
      {"=true", "=True"},
      {"=false", "=False"},
      {"(true)", "(True)"},
      {"(false)", "(False)"},
      {"[taeda.", "[torch."},
      {"c10::complex<float>", "ComplexFloat"},
      {"c10::complex<double>", "ComplexDouble"},
      {"c10::", ""}};
  for (const auto& [from, to] : words) replace_all(text, from, to);
  for (const std::string_view space : {"taeda::", "autograd::", "utils::", "nn::", "linalg::"}) {
    const std::string python = std::string(space.substr(0, space.size() - 2)) + ".";
    replace_all(text, space, space == "taeda::" ? "torch." : python);
  }
  return text;
}

std::string text_of(PyObject* value) {
  Ref text(value ? PyObject_Str(value) : nullptr);
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "an exception of Python";
}

bool python_runs() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

}  // namespace

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw ErrorIsSet();
}

PythonError::PythonError() {
  PyErr_Fetch(&type_, &value_, &traceback_);
  PyErr_NormalizeException(&type_, &value_, &traceback_);
  message_ = text_of(value_);
}

PythonError::PythonError(const PythonError& other) : message_(other.message_) {
  HoldGil gil;
  type_ = other.type_, value_ = other.value_, traceback_ = other.traceback_;
  Py_XINCREF(type_);
  Py_XINCREF(value_);
  Py_XINCREF(traceback_);
}

PythonError::~PythonError() {
  if (!type_ || !python_runs()) return;
  HoldGil gil;
  Py_XDECREF(type_);
  Py_XDECREF(value_);
  Py_XDECREF(traceback_);
}

void PythonError::restore() const {
  Py_XINCREF(type_);
  Py_XINCREF(value_);
  Py_XINCREF(traceback_);
  PyErr_Restore(type_, value_, traceback_);
}

Kept::~Kept() {
  if (!python_runs()) return;
  HoldGil gil;
  Py_DECREF(object_);
}

void set_error() noexcept {
  const auto set = [](PyObject* type, const Error& e) {
    PyErr_SetString(type, in_python(e.message()).c_str());
  };
  try {
    throw;
  } catch (const ErrorIsSet&) {
  } catch (const PythonError& e) {
    e.restore();
  } catch (const IndexError& e) {
    set(PyExc_IndexError, e);
  } catch (const ValueError& e) {
    set(PyExc_ValueError, e);
  } catch (const TypeError& e) {
    set(PyExc_TypeError, e);
  } catch (const NotImplementedError& e) {
    set(PyExc_NotImplementedError, e);
  } catch (const OutOfMemoryError& e) {
    set(out_of_memory, e);
  } catch (const DistributedError& e) {
    set(dist_error, e);
  } catch (const LinAlgError& e) {
    set(lin_alg_error, e);
  } catch (const utils::checkpoint::CheckpointError& e) {
    set(checkpoint_error, e);
  } catch (const Error& e) {
    set(class_of(e, PyExc_RuntimeError), e);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an exception of an unknown kind");
  }
}

void add_errors(PyObject* module) {
  out_of_memory = checked(PyErr_NewExceptionWithDoc(
      "torch.OutOfMemoryError", "The memory of a device, or of the host, is exhausted.",
      PyExc_RuntimeError, nullptr));
  dist_error = checked(PyErr_NewExceptionWithDoc("torch.distributed.DistError",
                                                 "Communication between processes failed.",
                                                 PyExc_RuntimeError, nullptr));
  lin_alg_error = checked(PyErr_NewExceptionWithDoc(
      "torch._C._LinAlgError", "A matrix lacks a property that an operation needs.",
      PyExc_RuntimeError, nullptr));
  checkpoint_error = checked(PyErr_NewExceptionWithDoc(
      "torch.utils.checkpoint.CheckpointError",
      "What was computed again is not what was computed first.", PyExc_RuntimeError, nullptr));
  checked(PyModule_AddObjectRef(module, "_CheckpointError", checkpoint_error));
  checked(PyModule_AddObjectRef(module, "_LinAlgError", lin_alg_error));
  checked(PyModule_AddObjectRef(module, "OutOfMemoryError", out_of_memory));
  checked(PyModule_AddObjectRef(module, "DistError", dist_error));
}

}  // namespace taeda::python
