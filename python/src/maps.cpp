#include "maps.h"

#include "bindings.h"
#include "taeda/func/vmap.h"
#include "taeda/tensor/mapped.h"

namespace taeda::python {

namespace {

Randomness to_randomness(const std::string& kind) {
  if (kind == "error") return Randomness::Error;
  if (kind == "same") return Randomness::Same;
  if (kind == "different") return Randomness::Different;
  raise(PyExc_RuntimeError,
        "Only allowed values for randomness are 'error', 'different', or 'same'. Got " + kind);
}

}  // namespace

void add_maps(PyObject* module) {
  py::module_ m = as_module(module);
  m.def(
      "_map_samples",
      [](const py::function& f, const std::vector<Tensor>& inputs,
         const std::vector<OptionalDim>& in_dims, const std::string& randomness,
         OptionalDim chunk_size, const std::string& name) {
        const auto call = [&](const std::vector<Tensor>& samples) {
          const py::tuple made = f(samples);
          return func::MapResults{made[0].cast<std::vector<Tensor>>(),
                                  made[1].cast<std::vector<OptionalDim>>()};
        };
        return func::map_samples(call, inputs, in_dims, to_randomness(randomness), chunk_size,
                                 name);
      },
      "f of samples to (results, out_dims), inputs, in_dims, randomness, chunk_size, the name of "
      "f");
  m.def("_map_everywhere", &map_everywhere,
        "A tensor that all samples of the maps around see, with a value for each.");
}

}  // namespace taeda::python
