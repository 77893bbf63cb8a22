#include "warnings.h"

#include <pthread.h>

#include <condition_variable>
#include <string_view>
#include <thread>

#include "taeda/base/warning.h"
#include "values.h"
#include "waiting.h"

namespace taeda::python {

std::atomic<int> waiting_warnings{0};

namespace {

PyObject* category_of(const Warning& warning) {
  switch (warning.kind()) {
    case WarningKind::Deprecation: return PyExc_DeprecationWarning;
    case WarningKind::Future: return PyExc_FutureWarning;
    case WarningKind::Runtime: return PyExc_RuntimeWarning;
    case WarningKind::User: break;
  }
  return PyExc_UserWarning;
}

/// Where the package's modules lie, with a slash behind it; empty until it has been imported.
std::string folder_of_package() {
  const Ref package(PyImport_GetModule(Ref(PyUnicode_FromString("taeda")).get()));
  const Ref file(package ? PyObject_GetAttrString(package.get(), "__file__") : nullptr);
  const char* path = file ? PyUnicode_AsUTF8(file.get()) : nullptr;
  PyErr_Clear();
  const std::string_view all = path ? path : "";
  return std::string(all.substr(0, all.rfind('/') + 1));
}

/// `stacklevel` of the innermost line that is the program's own. Python does not count the frames
/// of imports.
Py_ssize_t level_of_program() {
  const std::string package = folder_of_package();
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (Py_ssize_t level = 1; frame && !package.empty();) {
    auto* const running = reinterpret_cast<PyFrameObject*>(frame.get());
    const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(running)));
    const Ref name(PyObject_GetAttrString(code.get(), "co_filename"));
    const char* const utf8 = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
    const std::string_view file = utf8 ? utf8 : "";
    const bool imports = file.find("importlib._bootstrap") != file.npos;
    if (!imports && !file.starts_with(package) && !file.ends_with("/contextlib.py")) return level;
    level += !imports;
    frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(running)));
  }
  PyErr_Clear();
  return 1;
}

/// False with the error set where a filter makes it an error.
bool show(PyObject* category, const char* text) {
  return PyErr_WarnEx(category, text, level_of_program()) == 0;
}

/// Of threads that no call waits for.
class Stray {
 public:
  static Stray& instance() {
    static auto* stray = new Stray;
    return *stray;
  }
  void add(std::vector<Warning> warnings) {
    const std::lock_guard lock(mutex_);
    for (Warning& w : warnings)
      if (closed_)
        WarningHandler().process(w);
      else
        waiting_.push_back(std::move(w));
    if (waiting_.empty() || running_) return;
    running_ = true;
    std::thread([this] { give(); }).detach();
  }
  bool closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  /// Gives what waits, and has what comes later go to standard error. Call with the GIL held.
  void close() {
    {
      const ReleaseGil released;  // its thread wants it
      std::unique_lock lock(mutex_);
      closed_ = true;
      ended_.wait(lock, [this] { return !running_; });
    }
    Warning::set_warning_handler(nullptr);
  }

 private:
  Stray() {
    // A child has no thread that gives warnings, and gets the lock as nobody's.
    ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                     [] {
                       instance().running_ = false;
                       instance().mutex_.unlock();
                     });
  }
  void give() {
    for (;;) {
      const HoldGil gil;
      std::vector<Warning> now;
      {
        const std::lock_guard lock(mutex_);
        now.swap(waiting_);
        if (now.empty()) {
          running_ = false;
          ended_.notify_all();
          return;
        }
      }
      for (const Warning& w : now)
        if (!show(category_of(w), w.msg().c_str())) PyErr_WriteUnraisable(nullptr);
    }
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Warning> waiting_;
  bool running_ = false, closed_ = false;
};

/// What a thread of Python has to give when its call ends.
class Waiting {
 public:
  ~Waiting() {
    if (!warnings_.empty()) Stray::instance().add(take());
  }
  bool empty() const { return warnings_.empty(); }
  void add(Warning warning) {
    // Calls that pybind11 makes do not look for warnings when they end: Python then does, as soon
    // as it goes on.
    if (warnings_.empty() && on_main_thread())
      Py_AddPendingCall([](void*) { return give_warnings() ? 0 : -1; }, nullptr);
    warnings_.push_back(std::move(warning));
    ++waiting_warnings;
  }
  std::vector<Warning> take() {
    waiting_warnings -= static_cast<int>(warnings_.size());
    return std::exchange(warnings_, {});
  }

 private:
  std::vector<Warning> warnings_;
};
thread_local Waiting waiting;

/// Gets the warnings of all threads that ReleaseGil does not collect those of.
class ToPython : public WarningHandler {
 public:
  void process(const Warning& warning) override {
    if (Stray::instance().closed()) return WarningHandler::process(warning);
    if (!PyGILState_Check()) return Stray::instance().add({warning});
    waiting.add(warning);
  }
};

PyObject* warn_from_python(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) raise(PyExc_TypeError, "_warn takes a text and a category");
    warn_python(args[1], std::string(to_text(args[0])).c_str());
    Py_RETURN_NONE;
  });
}
PyObject* set_warn_always(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    Warning::set_warnAlways(to_bool(on));
    Py_RETURN_NONE;
  });
}
PyObject* is_warn_always(PyObject*, PyObject*) {
  return PyBool_FromLong(Warning::get_warnAlways());
}
PyObject* close_warnings(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    Stray::instance().close();
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"_warn", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(warn_from_python)),
     METH_FASTCALL, "text, category: warns of the innermost line that is not the package's own."},
    {"_set_warn_always", set_warn_always, METH_O,
     "Whether what is said once in a process is said each time."},
    {"_is_warn_always", is_warn_always, METH_NOARGS, "Whether it is."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef close_function = {"_close_warnings", close_warnings, METH_NOARGS, nullptr};

}  // namespace

bool give_warnings() noexcept {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  for (const Warning& w : waiting.take()) {
    if (show(category_of(w), w.msg().c_str())) continue;
    if (!type) return false;
    PyErr_Clear();  // it would hide the error that the call ends with
  }
  PyErr_Restore(type, value, traceback);
  return !type;
}

void warn_python(PyObject* category, const char* text) {
  if (!show(category, text)) throw ErrorIsSet();
}

CollectedWarnings::~CollectedWarnings() {
  if (!warnings_.empty()) Stray::instance().add(std::move(warnings_));
}

void CollectedWarnings::process(const Warning& warning) {
  const std::lock_guard lock(mutex_);
  warnings_.push_back(warning);
}

void CollectedWarnings::give_to_thread() {
  const std::lock_guard lock(mutex_);
  for (Warning& w : std::exchange(warnings_, {})) waiting.add(std::move(w));
}

void ReleaseGil::release() {
  before_ = detail::exchange_warning_handler_of_thread(&warnings_.emplace());
  state_ = PyEval_SaveThread();
}

void ReleaseGil::take_again() {
  PyEval_RestoreThread(state_);
  detail::exchange_warning_handler_of_thread(before_);
  warnings_->give_to_thread();
}

HoldGil::HoldGil()
    : state_(PyGILState_Ensure()), before_(detail::exchange_warning_handler_of_thread(nullptr)) {}

HoldGil::~HoldGil() {
  detail::exchange_warning_handler_of_thread(before_);
  // What called this thread's code of Python has no end at which it would look.
  if (waiting_warnings != 0 && (before_ || state_ == PyGILState_UNLOCKED)) {
    std::vector<Warning> rest = waiting.take();
    if (!before_)
      Stray::instance().add(std::move(rest));
    else
      for (const Warning& w : rest) before_->process(w);
  }
  PyGILState_Release(state_);
}

void add_warnings(PyObject* module) {
  checked(PyModule_AddFunctions(module, functions));
  const Ref exits(checked(PyImport_ImportModule("atexit")));
  const Ref close(checked(PyCFunction_New(&close_function, nullptr)));
  const Ref done(checked(PyObject_CallMethod(exits.get(), "register", "O", close.get())));
  Warning::set_warning_handler(new ToPython);  // threads may warn until the process ends
}

}  // namespace taeda::python
