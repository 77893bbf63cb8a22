#include "files.h"

#include <cstdio>

#include "bindings.h"
#include "taeda/io/atomic_file.h"

namespace taeda::python {

namespace {

/// A `with` block that gets the descriptor of a new file; it is put in place if the block ends
/// without an error.
class Replacing {
 public:
  explicit Replacing(std::string path) : path_(std::move(path)) {}
  int enter() {
    file_.emplace(path_);
    return ::fileno(file_->stream());
  }
  void leave(const py::object& error, const py::args&) {
    const bool good = error.is_none();
    const ReleaseGil released;
    if (good) file_->commit();
    file_.reset();
  }

 private:
  std::string path_;
  std::optional<io::AtomicFile> file_;
};

}  // namespace

void add_files(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  py::class_<Replacing>(m, "_Replacing")
      .def(py::init<std::string>())
      .def("__enter__", &Replacing::enter)
      .def("__exit__", &Replacing::leave);
}

}  // namespace taeda::python
