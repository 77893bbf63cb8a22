#include "optim_step.h"

#include <algorithm>
#include <cmath>

#include "bindings.h"
#include "taeda/kernels/optim.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

constexpr size_t kMostStates = 3;
using StateNames = ArrayRef<const char*>;

/// A parameter with a gradient, and what its optimizer keeps for it.
struct Taken {
  Tensor param, grad, states[kMostStates];
  Tensor step;         ///< the count, of optimizers that count
  double steps = 0;    ///< with this one; a captured step counts when it is replayed
  bool fresh = false;  ///< the states were made for this step
};

/// A gradient in its parameter's memory order.
Tensor like(const Tensor& grad, const Tensor& param) {
  if (grad.strides() == param.strides()) return grad;
  return empty_like(param).copy_(grad);
}

/// Counts a step in a 0-d tensor, as a rule a float of the host; gives the count.
double count_step(const Tensor& step) {
  if (step.device().is_cpu() && step.dtype() == kFloat32) return ++*step.data_ptr<float>();
  const double count = step.item<double>() + 1;
  step.fill_(count);
  return count;
}

/// Reads the states of a group's parameters from Python's dicts, which the optimizer fills where
/// they lack something.
class Reader {
 public:
  /// `fill(param)` makes the state of a parameter; `names` are nullptr for tensors that are not
  /// used; `counted`: states have a `step`.
  Reader(const py::dict& states, const py::object& fill, StateNames names, bool counted)
      : states_(states), fill_(fill), counted_(counted) {
    for (const char* name : names)
      names_.push_back(name ? PyUnicode_InternFromString(name) : nullptr);
    step_ = PyUnicode_InternFromString("step");
  }
  ~Reader() {
    for (PyObject* name : names_) Py_XDECREF(name);
    Py_DECREF(step_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The parameters that have gradients; those with sparse ones go to `sparse`.
  std::vector<Taken> take(const py::list& params, py::list& sparse) {
    const NoGradGuard guard;
    std::vector<Taken> all;
    all.reserve(params.size());
    for (const py::handle object : params) {
      if (!is_tensor(object.ptr())) raise(PyExc_TypeError, "optimizer can only optimize Tensors");
      const Tensor& param = tensor_of(object.ptr());
      if (!param.grad().defined()) continue;
      if (param.grad().is_sparse())
        sparse.append(object);
      else
        all.push_back(take_one(object, param));
    }
    return all;
  }

 private:
  Taken take_one(py::handle object, const Tensor& param) {
    Taken taken{param, like(param.grad(), param), {}};
    const bool captured = is_current_stream_capturing(param.device());
    if (counted_ || std::any_of(names_.begin(), names_.end(), [](PyObject* n) { return n; })) {
      if (!read(object, taken)) {
        TAEDA_CHECK(!captured,
                    "an optimizer's first step cannot be captured, because it makes the state "
                    "that later steps need: run some steps before the capture");
        fill_(object);
        taken.fresh = true;
        if (!read(object, taken))
          raise(PyExc_RuntimeError, "the state of an optimizer lacks a tensor");
      }
    }
    if (param.is_complex()) {
      taken.param = view_as_real(param);
      taken.grad = view_as_real(taken.grad);
      for (Tensor& state : taken.states)
        if (state.defined() && state.is_complex()) state = view_as_real(state);
    }
    if (taken.step.defined() && !captured) taken.steps = count_step(taken.step);
    return taken;
  }

  bool read(py::handle object, Taken& taken) {
    PyObject* state = PyDict_GetItemWithError(states_.ptr(), object.ptr());
    if (!state || !PyDict_Check(state)) return false;
    PyObject* step = counted_ ? PyDict_GetItemWithError(state, step_) : nullptr;
    if (counted_ && (!step || !is_tensor(step))) return false;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!names_[i]) continue;
      PyObject* tensor = PyDict_GetItemWithError(state, names_[i]);
      if (!tensor || !is_tensor(tensor)) return false;
      taken.states[i] = tensor_of(tensor);
    }
    if (counted_) taken.step = tensor_of(step);
    return true;
  }

  const py::dict& states_;
  const py::object& fill_;
  std::vector<PyObject*> names_;
  PyObject* step_;
  bool counted_;
};

/// The learning rate of an optimizer's group.
double rate_of(PyObject* group) {
  PyObject* lr = PyDict_GetItemString(group, "lr");
  if (!lr) raise(PyExc_KeyError, "'lr'");
  const Ref number(PyNumber_Float(lr));
  if (!number) throw py::error_already_set();
  return PyFloat_AS_DOUBLE(number.get());
}

/// The parameters of one device and dtype, which a kernel takes together.
struct Part {
  ParamList list;
  std::vector<const Taken*> members;
};

/// During a capture: has a part's kernel read its numbers from memory that each replay fills, with
/// the count and the group's learning rate of that time.
template <class Numbers>
void make_live(Part& part, const std::shared_ptr<Kept>& group, const Numbers& numbers) {
  const Device device = part.list.device();
  if (!is_current_stream_capturing(device)) return;
  std::vector<Taken> members;  // of each, what counts
  for (const Taken* t : part.members) members.push_back({{}, {}, {}, t->step, 0, t->fresh});
  const size_t count = 4 * members.size();
  auto fill = [members = std::move(members), group, numbers](double* out) mutable {
    const NoGradGuard guard;
    const double lr = [&] {
      const HoldGil gil;
      return rate_of(group->get());
    }();
    for (Taken& t : members) {
      if (t.step.defined()) t.steps = count_step(t.step);
      const StepNumbers n = numbers(t, lr);
      for (const double number : {n.a, n.b, lr, t.steps}) *out++ = number;
    }
  };
  part.list.set_live(graph_numbers(device, count, std::move(fill)), 4);
}

/// Hands the parameters to a kernel, those of one device and dtype together. `numbers(taken, lr)`:
/// what the kernel takes for one parameter.
template <class Numbers, class Launch>
void launch_all(const char* op, StateNames names, const std::vector<Taken>& all,
                const py::dict& options, const Numbers& numbers, Launch&& launch) {
  const double lr = rate_of(options.ptr());
  const auto group = captures_under_way() > 0 ? std::make_shared<Kept>(options.ptr()) : nullptr;
  const ReleaseGil released;
  const NoGradGuard guard;
  std::vector<Part> parts;
  for (size_t i = 0; i < all.size(); ++i) {
    const Taken& t = all[i];
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& known) {
      return known.list.device() == t.param.device() && known.list.dtype() == t.param.dtype();
    });
    if (part == parts.end())
      part = parts.insert(parts.end(), {ParamList(t.param.device(), t.param.dtype()), {}});
    const Tensor* states[kMostStates];
    for (size_t k = 0; k < names.size(); ++k)
      states[k] = t.states[k].defined() ? &t.states[k] : nullptr;
    part->list.add({.op = op,
                    .group = 0,
                    .index = i,
                    .param = t.param,
                    .grad = t.grad,
                    .states = ArrayRef<const Tensor*>(states, names.size()),
                    .state_names = names},
                   numbers(t, lr));
    if (group) part->members.push_back(&t);
  }
  for (Part& part : parts) {
    if (group) make_live(part, group, numbers);
    launch(part.list, lr);
  }
  for (const Taken& t : all) t.param.unsafe_impl()->bump_version();
}

void negate(std::vector<Taken>& all) {
  for (Taken& t : all) t.grad = -t.grad;
}

py::list adam(const py::list& params, const py::dict& states, const py::object& fill,
              const py::dict& group, double beta1, double beta2, double eps, double weight_decay,
              bool decoupled, bool amsgrad, bool maximize) {
  const char* names[] = {"exp_avg", "exp_avg_sq", amsgrad ? "max_exp_avg_sq" : nullptr};
  py::list sparse;
  const auto all = Reader(states, fill, names, true).take(params, sparse);
  launch_all(
      "Adam.step()", names, all, group,
      [beta1, beta2](const Taken& t, double lr) -> StepNumbers {
        return {lr / (1 - std::pow(beta1, t.steps)), std::sqrt(1 - std::pow(beta2, t.steps))};
      },
      [&](ParamList& list, double lr) {
        adam_slot(list.device().type(), list,
                  {lr, beta1, beta2, eps, weight_decay, decoupled, amsgrad, maximize});
      });
  return sparse;
}

py::list sgd(const py::list& params, const py::dict& states, const py::object& fill,
             const py::dict& group, double momentum, double dampening, double weight_decay,
             bool nesterov, bool maximize) {
  const char* names[] = {momentum != 0 ? "momentum_buffer" : nullptr};
  py::list sparse;
  const auto all = Reader(states, fill, names, false).take(params, sparse);
  launch_all(
      "SGD.step()", names, all, group,
      [](const Taken& t, double) -> StepNumbers {
        return {t.fresh ? 1.0 : 0.0, 0};
      },
      [&](ParamList& list, double lr) {
        sgd_slot(list.device().type(), list,
                 {lr, momentum, dampening, weight_decay, nesterov, maximize});
      });
  return sparse;
}

py::list rmsprop(const py::list& params, const py::dict& states, const py::object& fill,
                 const py::dict& group, double alpha, double eps, double weight_decay,
                 double momentum, bool centered, bool maximize) {
  const char* names[] = {"square_avg", centered ? "grad_avg" : nullptr,
                         momentum != 0 ? "momentum_buffer" : nullptr};
  py::list sparse;
  auto all = Reader(states, fill, names, true).take(params, sparse);
  if (maximize) negate(all);
  launch_all(
      "RMSprop.step()", names, all, group, [](const Taken&, double) { return StepNumbers{}; },
      [&](ParamList& list, double lr) {
        rmsprop_slot(list.device().type(), list,
                     {lr, alpha, eps, weight_decay, momentum, centered});
      });
  return sparse;
}

py::list adagrad(const py::list& params, const py::dict& states, const py::object& fill,
                 const py::dict& group, double lr_decay, double weight_decay, double eps,
                 bool maximize) {
  static constexpr const char* names[] = {"sum"};
  py::list sparse;
  auto all = Reader(states, fill, names, true).take(params, sparse);
  if (maximize) negate(all);
  launch_all(
      "Adagrad.step()", names, all, group,
      [lr_decay](const Taken& t, double lr) -> StepNumbers {
        return {lr / (1 + (t.steps - 1) * lr_decay), 0};
      },
      [&](ParamList& list, double) {
        adagrad_slot(list.device().type(), list, {eps, weight_decay, lr_decay});
      });
  return sparse;
}

/// Forgets gradients, or sets them to zero.
void zero_grad(const py::list& params, bool set_to_none) {
  const NoGradGuard guard;
  for (const py::handle object : params) {
    if (!is_tensor(object.ptr())) continue;
    const Tensor& param = tensor_of(object.ptr());
    if (!param.grad().defined()) continue;
    if (set_to_none) {
      param.mutable_grad().reset();
    } else {
      if (param.grad().grad_fn()) param.mutable_grad() = param.grad().detach();
      param.mutable_grad().requires_grad_(false).zero_();
    }
  }
}

}  // namespace

void add_optim_steps(PyObject* module) {
  py::module_ m = as_module(module).def_submodule(
      "_optim", "Steps of optimizers; they return parameters with sparse gradients, untouched.");
  m.def("adam", &adam);
  m.def("sgd", &sgd);
  m.def("rmsprop", &rmsprop);
  m.def("adagrad", &adagrad);
  m.def("zero_grad", &zero_grad);
  m.def("clip_grad_norm_",
        [](const std::vector<Tensor>& params, double max_norm, double norm_type, bool check) {
          const ReleaseGil released;
          return nn::utils::clip_grad_norm_(params, max_norm, norm_type, check);
        });
}

}  // namespace taeda::python
