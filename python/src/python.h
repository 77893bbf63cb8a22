// Python's C interface as the rest of the extension uses it: owned references, errors, the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace taeda::python {

/// An owned reference, or none.
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference that the caller owns.
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  /// A new reference to what is borrowed.
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Thrown where Python's error indicator is set, so that C++ code in between unwinds. It carries no
/// error: who catches it on the same thread returns to Python.
struct ErrorIsSet {};

/// Throws ErrorIsSet unless there is an object.
inline PyObject* checked(PyObject* object) {
  if (!object) throw ErrorIsSet();
  return object;
}
inline void checked(int status) {
  if (status < 0) throw ErrorIsSet();
}
/// Sets an error and throws ErrorIsSet.
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// An error of Python's as a C++ exception: it travels through the library, from thread to thread
/// if need be, and is raised again with its type, value and traceback.
class PythonError : public std::exception {
 public:
  /// Takes the error that is set. Call with the GIL held.
  PythonError();
  PythonError(const PythonError& other);
  PythonError& operator=(const PythonError&) = delete;
  ~PythonError() override;
  const char* what() const noexcept override { return message_.c_str(); }
  /// Sets the error again. Call with the GIL held.
  void restore() const;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
  std::string message_;
};

/// Sets Python's error for the exception that is being handled: errors of the library become the
/// exceptions that PyTorch raises.
void set_error() noexcept;

/// Calls `f`, which may throw, for Python: nullptr with the error set where it did.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
/// The same for slots that return a status or a length, of the type that `f` has: -1 where it
/// threw.
template <class F>
std::invoke_result_t<F> guarded_status(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return -1;
  }
}

/// Holds the GIL for a scope, on any thread.
class HoldGil {
 public:
  HoldGil() : state_(PyGILState_Ensure()) {}
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;
  HoldGil& operator=(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Lets other threads run Python for a scope, if `on`.
class ReleaseGil {
 public:
  explicit ReleaseGil(bool on = true) : state_(on ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseGil() {
    if (state_) PyEval_RestoreThread(state_);
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

/// A Python object that C++ code keeps, possibly beyond Python's end and on any thread.
class Kept {
 public:
  explicit Kept(PyObject* borrowed) : object_(borrowed) { Py_INCREF(object_); }
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

}  // namespace taeda::python
