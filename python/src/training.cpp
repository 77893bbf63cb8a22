#include "training.h"

#include <algorithm>

#include "bindings.h"
#include "taeda/amp/autocast.h"
#include "taeda/amp/scaling.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/autograd/record.h"
#include "taeda/data/split.h"
#include "taeda/nn/checkpoint.h"
#include "taeda/nn/forward_state.h"
#include "taeda/nn/init_rules.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

std::optional<Generator> generator_or_none(const py::object& generator) {
  if (generator.is_none()) return std::nullopt;
  return to_generator(generator.ptr());
}

/// A rule of first values as a function of Python: from a generator, or with none.
template <class... Args, class Draw>
auto drawing(Draw draw) {
  return [draw](Tensor tensor, Args... args, const py::object& generator) {
    const std::optional<Generator> from = generator_or_none(generator);
    const ReleaseGil released;
    draw(tensor, args..., from);
    return tensor;
  };
}

void add_initialisers(py::module_& m) {
  py::module_ init = m.def_submodule("_init", "First values of parameters.");
  init.def("trunc_normal", drawing<double, double, double, double>(&nn::init::draw_trunc_normal));
  init.def("orthogonal", drawing<double>(&nn::init::draw_orthogonal));
  init.def("sparse", drawing<double, double>(&nn::init::draw_sparse));
  init.def("eye", [](Tensor t) { return nn::init::fill_eye(t), t; });
  init.def("dirac", [](Tensor t, int64_t groups) { return nn::init::fill_dirac(t, groups), t; });
}

void add_autocast(py::module_& m) {
  py::module_ amp = m.def_submodule("_amp", "Automatic mixed precision.");
  amp.def("enter", [](Device device, OptionalDtype dtype, bool enabled, std::optional<bool> cache) {
    auto* guard = new amp::autocast(device, dtype, enabled, cache);
    return py::capsule(guard, [](void* p) { delete static_cast<amp::autocast*>(p); });
  });
  amp.def("is_enabled", [](Device device) { return amp::is_autocast_enabled(device); });
  amp.def("dtype", [](Device device) { return amp::get_autocast_dtype(device); });
  amp.def("is_cache_enabled", &amp::is_autocast_cache_enabled);
  amp.def("clear_cache", &amp::clear_autocast_cache);
  // Of this thread until they are set again, as guards that others write want it.
  amp.def("set_enabled", [](Device device, bool enabled) {
    AutocastMode::State state = AutocastMode::state();
    const uint8_t bit = AutocastMode::bit(device.type());
    state.devices = static_cast<uint8_t>(enabled ? state.devices | bit : state.devices & ~bit);
    AutocastMode::set_state(state);
  });
  amp.def("set_dtype", [](Device device, ScalarType dtype) {
    TAEDA_CHECK_VALUE(is_reduced_floating(dtype),
                      "set_autocast_dtype expected Half or BFloat16, but got ", to_string(dtype));
    AutocastMode::State state = AutocastMode::state();
    state.dtypes[static_cast<int>(device.type())] = dtype;
    AutocastMode::set_state(state);
  });
  // The rule of gradient scaling.
  amp.def("unscale", [](const std::vector<Tensor>& parameters, const Tensor& factor,
                        const Tensor& found_inf, bool allow_half) {
    const ReleaseGil released;
    const NoGradGuard no_grad;
    std::vector<ParamList> lists = amp::scaled_gradients(parameters, allow_half);
    std::vector<Tensor> found = {found_inf};
    amp::multiply_gradients(lists, 1, factor, found);
    for (const Tensor& p : parameters) bump_version(p.grad());
    if (std::none_of(lists.begin(), lists.end(),
                     [&](const ParamList& l) { return l.device() == found_inf.device(); }))
      found.erase(found.begin());
    return found;
  });
  amp.def("move_scale", &amp::move_scale);
  // What a call looks at beside its arguments, and who runs it again puts back for a scope.
  using utils::checkpoint::ForwardState;
  py::class_<ForwardState>(m, "_ForwardState")
      .def(py::init<const std::vector<Tensor>&, bool>())
      .def("again", [](const ForwardState& state) {
        ForwardState::Scope* scope = nullptr;
        {
          const ReleaseGil released;  // who holds the generators may wait for Python
          scope = new ForwardState::Scope(state);
        }
        return py::capsule(scope, [](void* p) { delete static_cast<ForwardState::Scope*>(p); });
      });
  amp.def("set_cache_enabled", [](bool enabled) {
    AutocastMode::State state = AutocastMode::state();
    state.cache = enabled;
    AutocastMode::set_state(state);
  });
}

/// The first run of a function that backward calls again with the tensors of its arguments.
py::capsule begin_checkpoint(const py::object& again, const std::vector<Tensor>& inputs,
                             bool preserve_rng_state, bool early_stop, bool determinism_check) {
  using utils::checkpoint::detail::FirstRun;
  auto* first = new FirstRun(
      [again = std::make_shared<Kept>(again.ptr())](const std::vector<Tensor>& tensors) {
        const HoldGil gil;
        Ref given(from_tensors(tensors));
        Ref out(PyObject_CallOneArg(again->get(), given.get()));
        if (!out) throw PythonError();
      },
      inputs, {preserve_rng_state, early_stop, determinism_check});
  return py::capsule(first, [](void* p) { delete static_cast<FirstRun*>(p); });
}

/// A function of Python as one over lists of tensors, to call without the GIL.
autograd::GradcheckFn over_tensors(const py::object& function) {
  return [kept = std::make_shared<Kept>(function.ptr())](const std::vector<Tensor>& given) {
    const HoldGil gil;
    Ref list(from_tensors(given));
    Ref out(PyObject_CallOneArg(kept->get(), list.get()));
    if (!out) throw PythonError();
    return py::reinterpret_borrow<py::object>(out.get()).cast<std::vector<Tensor>>();
  };
}

}  // namespace

void add_training(PyObject* module) {
  py::module_ m = as_module(module);
  add_autocast(m);
  add_initialisers(m);
  m.def("_begin_checkpoint", &begin_checkpoint);
  m.def("_gradient_mismatch", [](const py::object& function, const std::vector<Tensor>& inputs,
                                 double eps, double atol, double rtol) {
    const autograd::GradcheckFn fn = over_tensors(function);
    const ReleaseGil released;
    return autograd::detail::gradient_mismatch(fn, inputs, {eps, atol, rtol});
  });
  m.def("_second_gradient_mismatch",
        [](const py::object& function, const std::vector<Tensor>& inputs,
           const std::vector<Tensor>& grad_outputs, double eps, double atol, double rtol) {
          const autograd::GradcheckFn fn = over_tensors(function);
          const ReleaseGil released;
          return autograd::detail::second_gradient_mismatch(fn, inputs, grad_outputs,
                                                            {eps, atol, rtol});
        });
  m.def("_random_split", [](size_t size, const std::vector<double>& lengths, const py::object& g) {
    const std::vector<data::Part> parts(lengths.begin(), lengths.end());
    return data::random_split(size, parts, generator_or_none(g));
  });
}

}  // namespace taeda::python
