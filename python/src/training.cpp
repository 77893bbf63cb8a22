#include "training.h"

#include "bindings.h"
#include "taeda/amp/autocast.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

void add_autocast(py::module_& m) {
  py::module_ amp = m.def_submodule("_amp", "Automatic mixed precision.");
  amp.def("enter", [](Device device, OptionalDtype dtype, bool enabled, std::optional<bool> cache) {
    auto* guard = new amp::autocast(device, dtype, enabled, cache);
    return py::capsule(guard, [](void* p) { delete static_cast<amp::autocast*>(p); });
  });
  amp.def("is_enabled", [](Device device) { return amp::is_autocast_enabled(device); });
  amp.def("dtype", [](Device device) { return amp::get_autocast_dtype(device); });
}

}  // namespace

void add_training(PyObject* module) {
  py::module_ m = as_module(module);
  add_autocast(m);
}

}  // namespace taeda::python
