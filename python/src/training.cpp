#include "training.h"

#include <cmath>
#include <map>

#include "bindings.h"
#include "taeda/amp/autocast.h"
#include "taeda/autograd/history.h"
#include "taeda/kernels/optim.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

using Tensors = std::vector<Tensor>;

/// Lists of tensors for a kernel, one for each device and dtype, in the order of the parameters.
class Lists {
 public:
  Lists(const char* op, ArrayRef<const char*> state_names) : op_(op), state_names_(state_names) {}

  void add(size_t index, const Tensor& param, const Tensor& grad, ArrayRef<const Tensor*> states,
           StepNumbers numbers) {
    const auto key =
        std::pair(param.device().type(), std::pair(param.device().index(), param.dtype()));
    auto found = lists_.find(key);
    if (found == lists_.end())
      found = lists_.emplace(key, ParamList(param.device(), param.dtype())).first;
    found->second.add({.op = op_,
                       .group = 0,
                       .index = index,
                       .param = param,
                       .grad = grad,
                       .states = states,
                       .state_names = state_names_},
                      numbers);
    changed_.push_back(param);
  }

  /// Calls launch(list) for each, and counts the change of every parameter.
  template <class F>
  void run(F&& launch) {
    for (auto& [key, list] : lists_) launch(list);
    for (const Tensor& p : changed_) p.unsafe_impl()->bump_version();
  }

 private:
  const char* op_;
  ArrayRef<const char*> state_names_;
  std::map<std::pair<DeviceType, std::pair<int, ScalarType>>, ParamList> lists_;
  Tensors changed_;
};

/// Counts a step in a 0-d float tensor of the host; gives the count.
double next_step(const Tensor& step) {
  const double count = step.item<double>() + 1;
  step.fill_(count);
  return count;
}

/// A gradient in its parameter's memory order.
Tensor like(const Tensor& grad, const Tensor& param) {
  if (grad.strides() == param.strides()) return grad;
  return empty_like(param).copy_(grad);
}

void check_lengths(const char* op, size_t expected, std::initializer_list<size_t> lengths) {
  for (const size_t n : lengths)
    if (n != expected)
      raise(PyExc_RuntimeError, std::string(op) + ": got lists of " + std::to_string(expected) +
                                    " and " + std::to_string(n) + " tensors");
}

void adam_step(const Tensors& params, const Tensors& grads, const Tensors& first,
               const Tensors& second, const Tensors& largest, const Tensors& steps, double lr,
               double beta1, double beta2, double eps, double weight_decay, bool decoupled,
               bool amsgrad, bool maximize) {
  check_lengths("adam_step", params.size(),
                {grads.size(), first.size(), second.size(), steps.size()});
  const ReleaseGil released;
  const NoGradGuard guard;
  static constexpr const char* names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  Lists lists("Adam.step()", names);
  for (size_t i = 0; i < params.size(); ++i) {
    const double t = next_step(steps[i]);
    const Tensor* states[] = {&first[i], &second[i], amsgrad ? &largest.at(i) : nullptr};
    lists.add(i, params[i], like(grads[i], params[i]), states,
              {lr / (1 - std::pow(beta1, t)), std::sqrt(1 - std::pow(beta2, t))});
  }
  lists.run([&](ParamList& list) {
    adam_slot(list.device().type(), list,
              {lr, beta1, beta2, eps, weight_decay, decoupled, amsgrad, maximize});
  });
}

/// `fresh`: the buffers take the gradients as they are.
void sgd_step(const Tensors& params, const Tensors& grads, const Tensors& buffers,
              const std::vector<bool>& fresh, double lr, double momentum, double dampening,
              double weight_decay, bool nesterov, bool maximize) {
  check_lengths("sgd_step", params.size(), {grads.size()});
  if (momentum != 0) check_lengths("sgd_step", params.size(), {buffers.size(), fresh.size()});
  const ReleaseGil released;
  const NoGradGuard guard;
  static constexpr const char* names[] = {"momentum_buffer"};
  Lists lists("SGD.step()", names);
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor* states[] = {momentum != 0 ? &buffers[i] : nullptr};
    lists.add(i, params[i], like(grads[i], params[i]), states,
              {momentum != 0 && fresh[i] ? 1.0 : 0.0, 0});
  }
  lists.run([&](ParamList& list) {
    sgd_slot(list.device().type(), list,
             {lr, momentum, dampening, weight_decay, nesterov, maximize});
  });
}

void rmsprop_step(const Tensors& params, const Tensors& grads, const Tensors& squares,
                  const Tensors& means, const Tensors& buffers, const Tensors& steps, double lr,
                  double alpha, double eps, double weight_decay, double momentum, bool centered) {
  check_lengths("rmsprop_step", params.size(), {grads.size(), squares.size(), steps.size()});
  const ReleaseGil released;
  const NoGradGuard guard;
  static constexpr const char* names[] = {"square_avg", "grad_avg", "momentum_buffer"};
  Lists lists("RMSprop.step()", names);
  for (size_t i = 0; i < params.size(); ++i) {
    next_step(steps[i]);
    const Tensor* states[] = {&squares[i], centered ? &means.at(i) : nullptr,
                              momentum != 0 ? &buffers.at(i) : nullptr};
    lists.add(i, params[i], like(grads[i], params[i]), states, {});
  }
  lists.run([&](ParamList& list) {
    rmsprop_slot(list.device().type(), list, {lr, alpha, eps, weight_decay, momentum, centered});
  });
}

void adagrad_step(const Tensors& params, const Tensors& grads, const Tensors& sums,
                  const Tensors& steps, double lr, double lr_decay, double weight_decay,
                  double eps) {
  check_lengths("adagrad_step", params.size(), {grads.size(), sums.size(), steps.size()});
  const ReleaseGil released;
  const NoGradGuard guard;
  static constexpr const char* names[] = {"sum"};
  Lists lists("Adagrad.step()", names);
  for (size_t i = 0; i < params.size(); ++i) {
    const double t = next_step(steps[i]);
    const Tensor* states[] = {&sums[i]};
    lists.add(i, params[i], like(grads[i], params[i]), states, {lr / (1 + (t - 1) * lr_decay), 0});
  }
  lists.run([&](ParamList& list) {
    adagrad_slot(list.device().type(), list, {eps, weight_decay, lr_decay});
  });
}

void add_steps(py::module_& m) {
  py::module_ optim =
      m.def_submodule("_optim", "Steps of optimizers, one call for all parameters.");
  optim.def("adam_step", &adam_step);
  optim.def("sgd_step", &sgd_step);
  optim.def("rmsprop_step", &rmsprop_step);
  optim.def("adagrad_step", &adagrad_step);
  optim.def("clip_grad_norm_",
            [](const Tensors& params, double max_norm, double norm_type, bool error_if_nonfinite) {
              const ReleaseGil released;
              return nn::utils::clip_grad_norm_(params, max_norm, norm_type, error_if_nonfinite);
            });
}

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
  add_steps(m);
  add_autocast(m);
}

}  // namespace taeda::python
