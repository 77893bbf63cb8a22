// The extension taeda._C.
#include <map>

#include "autograd.h"
#include "data.h"
#include "devices.h"
#include "distributed.h"
#include "distributions.h"
#include "errors.h"
#include "files.h"
#include "functional.h"
#include "generated_methods.h"
#include "indexing.h"
#include "kinds.h"
#include "logs.h"
#include "maps.h"
#include "module_base.h"
#include "optim_step.h"
#include "overrides.h"
#include "parallel.h"
#include "recurrent.h"
#include "shared_memory.h"
#include "signature_error.h"
#include "state.h"
#include "taeda/taeda.h"
#include "tensor_methods.h"
#include "tensor_type.h"
#include "training.h"
#include "values.h"
#include "vision.h"
#include "warnings.h"

namespace taeda::python {

namespace {

/// The tables live as long as the process: Python's functions refer to them.
PyMethodDef* lasting(std::vector<PyMethodDef> table) {
  auto* kept = new std::vector<PyMethodDef>(std::move(table));
  kept->push_back({nullptr, nullptr, 0, nullptr});
  return kept->data();
}

void add_operations(PyObject* module) {
  std::map<std::string, std::vector<PyMethodDef>> tables;
  std::vector<Method> all = functional_methods();
  for (const Method& method : generated_methods()) all.push_back(method);
  for (const Method& method : all)
    if (!method.entry->method) tables[method.entry->table].push_back(method.definition());
  for (auto& [space, table] : tables) {
    PyMethodDef* functions = lasting(std::move(table));
    if (space.empty()) {
      checked(PyModule_AddFunctions(module, functions));
      continue;
    }
    Ref inner(checked(PyModule_New(("torch._C._" + space).c_str())));
    checked(PyModule_AddFunctions(inner.get(), functions));
    checked(PyModule_AddObjectRef(module, ("_" + space).c_str(), inner.get()));
  }
  // Where torch.nn.functional looks for what it is made of.
  checked(PyModule_AddObjectRef(module, "_nn", module));
}

int execute(PyObject* module) {
  return guarded_status([&] {
    add_errors(module);
    add_warnings(module);
    add_kinds(module);
    add_size_type(module);
    add_overrides(module);
    add_tensor_type(module);
    add_tensor_functions(module);
    add_index_functions(module);
    add_data(module);
    add_autograd(module);
    add_module_base(module);
    add_state(module);
    add_shared_memory(module);
    add_files(module);
    add_vision(module);
    add_summary_writer(module);
    add_profiler(module);
    add_distributions(module);
    add_devices(module);
    add_distributed(module);
    add_parallel(module);
    add_optim_steps(module);
    add_recurrent(module);
    add_training(module);
    add_maps(module);
    add_operations(module);
    add_functional(module);
    add_signatures(module);
    checked(PyModule_AddStringConstant(module, "__version__", TAEDA_VERSION));
    return 0;
  });
}

}  // namespace

}  // namespace taeda::python

PyMODINIT_FUNC PyInit__C() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "taeda._C",
                                   "Tensors, operations and autograd.",
                                   -1,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  PyObject* module = PyModule_Create(&definition);
  if (module && taeda::python::execute(module) < 0) Py_CLEAR(module);
  return module;
}
