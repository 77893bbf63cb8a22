// Python's C interface as the rest of the extension uses it: owned references, errors, the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/base/warning.h"

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

/// How many warnings wait for the ends of calls (warnings.h).
extern std::atomic<int> waiting_warnings;
/// Gives Python those of this thread. False with an error set: the one that was, or one that a
/// filter has made. Call with the GIL held.
bool give_warnings() noexcept;

/// Calls `f`, which may throw, for Python: nullptr with the error set where it did.
template <class F>
PyObject* guarded(F&& f) noexcept {
  PyObject* result = nullptr;
  try {
    result = f();
  } catch (...) {
    set_error();
  }
  if (waiting_warnings.load(std::memory_order_relaxed) != 0 && !give_warnings()) [[unlikely]] {
    Py_XDECREF(result);
    return nullptr;
  }
  return result;
}
/// The same for slots that return a status or a length, of the type that `f` has: -1 where it
/// threw.
template <class F>
std::invoke_result_t<F> guarded_status(F&& f) noexcept {
  std::invoke_result_t<F> result = -1;
  try {
    result = f();
  } catch (...) {
    set_error();
  }
  if (waiting_warnings.load(std::memory_order_relaxed) != 0 && !give_warnings()) [[unlikely]]
    return -1;
  return result;
}

/// Collects what several threads warn of for a call.
class CollectedWarnings : public WarningHandler {
 public:
  ~CollectedWarnings() override;
  void process(const Warning& warning) override;
  /// They are given when the call ends that this thread is in.
  void give_to_thread();

 private:
  std::mutex mutex_;
  std::vector<Warning> warnings_;
};

/// Holds the GIL for a scope, on any thread.
class HoldGil {
 public:
  HoldGil();
  ~HoldGil();
  HoldGil(const HoldGil&) = delete;
  HoldGil& operator=(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
  WarningHandler* before_;
};

/// Lets other threads run Python for a scope, if `on`, and collects the warnings.
class ReleaseGil {
 public:
  explicit ReleaseGil(bool on = true) {
    if (on) release();
  }
  ~ReleaseGil() {
    if (state_) take_again();
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  void release();
  void take_again();

  PyThreadState* state_ = nullptr;
  WarningHandler* before_ = nullptr;
  std::optional<CollectedWarnings> warnings_;
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
