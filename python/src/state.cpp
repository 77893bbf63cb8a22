#include "state.h"

#include "bindings.h"
#include "signature_error.h"
#include "taeda/ops/create/determinism.h"
#include "taeda/ops/write_out.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

void set_default(ScalarType dtype) {
  if (!is_floating_point(dtype))
    raise(PyExc_TypeError, "only floating-point types are supported as the default type");
  set_default_dtype(dtype);
}

void print_options(std::optional<int> precision, std::optional<int64_t> threshold,
                   std::optional<int64_t> edgeitems, std::optional<int64_t> linewidth,
                   std::optional<bool> sci_mode) {
  PrintOptions options = taeda::print_options();
  options.precision = precision.value_or(options.precision);
  options.threshold = threshold.value_or(options.threshold);
  options.edgeitems = edgeitems.value_or(options.edgeitems);
  options.linewidth = linewidth.value_or(options.linewidth);
  options.sci_mode = sci_mode;
  taeda::set_printoptions(options);
}

}  // namespace

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr e) {
    try {
      if (e) std::rethrow_exception(e);
    } catch (const ErrorIsSet&) {
    } catch (const Error&) {
      set_error();
    } catch (const PythonError&) {
      set_error();
    }
  });
}

void add_state(PyObject* module) {
  translate_errors();
  py::module_ m = as_module(module);
  m.def("get_default_dtype", &get_default_dtype,
        "The dtype of floating-point numbers for which none is given.");
  m.def("set_default_dtype", &set_default, py::arg("d"), "Sets it.");
  m.def("get_num_threads", &get_num_threads, "How many threads an operation on the CPU uses.");
  m.def("set_num_threads", &set_num_threads, "Sets it.");
  m.def("_set_more_signatures", [](const py::dict& d) { set_more_signatures(d.ptr()); });
  m.def(
      "_manual_seed", [](uint64_t seed) { manual_seed(seed); }, "Restarts all default generators.");
  m.def("promote_types", &promote_types, py::arg("type1"), py::arg("type2"),
        "The smallest dtype that both can be promoted to.");
  m.def("can_cast", &can_cast, py::arg("from_"), py::arg("to"),
        "Whether a result may be written into such an output.");
  m.def("_result_type", [](py::object a, py::object b) {
    const bool first = is_tensor(a.ptr()), second = is_tensor(b.ptr());
    if (first && second) return result_type(tensor_of(a.ptr()), tensor_of(b.ptr()));
    if (first) return result_type(tensor_of(a.ptr()), to_scalar(b.ptr()));
    if (second) return result_type(to_scalar(a.ptr()), tensor_of(b.ptr()));
    return result_type(to_scalar(a.ptr()), to_scalar(b.ptr()));
  });
  m.def(
      "_write_out",
      [](Tensor out, const Tensor& made, const std::string& sequence, bool silently) {
        detail::OutRule rule("out");
        rule.silent = silently;
        const bool keeps = !sequence.empty();
        detail::write_out(rule, out,
                          keeps ? detail::in_shape_of(sequence.c_str(), out, made) : made);
      },
      py::arg("out"), py::arg("made"), py::arg("sequence") = "", py::arg("silently") = false,
      "Gives `out` the values of `made` and its sizes; it keeps its own if `made` is as many "
      "numbers of a sequence, of which the function is named. What was made of sizes takes any "
      "`out` silently.");
  m.def("_set_float32_matmul_precision", &set_float32_matmul_precision);
  m.def("_get_float32_matmul_precision", &get_float32_matmul_precision);
  m.def("_use_deterministic_algorithms", &use_deterministic_algorithms);
  m.def("are_deterministic_algorithms_enabled", &are_deterministic_algorithms_enabled);
  m.def("is_deterministic_algorithms_warn_only_enabled",
        &is_deterministic_algorithms_warn_only_enabled);
  m.def("_set_fill_uninitialized_memory", &set_fill_uninitialized_memory);
  m.def("_fills_uninitialized_memory", &fills_uninitialized_memory);
  m.def("_set_printoptions", &print_options);
  m.def("_format_tensor", [](const Tensor& t, const std::vector<std::string>& suffixes) {
    return format_tensor(t, suffixes);
  });
}

}  // namespace taeda::python
