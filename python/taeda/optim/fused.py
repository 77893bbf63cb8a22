"""Optimizers whose step is one call of the library for all parameters of a group."""

from .. import _C
from ..autograd.modes import no_grad
from .optimizer import Optimizer, check, check_betas, check_decay, check_rate, evaluated


def zeros_like(param):
    return _C.zeros_like(param, memory_format=_C.preserve_format)


class Fused(Optimizer):
    """`_launch(params, fill, group)` calls the library and returns parameters with sparse gradients."""

    def _check_fused(self, fused, foreach, differentiable=False):
        if fused and differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state):
        super().__setstate__(state)
        for param_state in self.state.values():
            count = param_state.get("step")
            if count is not None and not isinstance(count, _C.TensorBase):  # files of PyTorch before 1.12
                param_state["step"] = _C._tensor_from(float(count), _C.float32, None)

    def _state_of(self, param, group):
        """The tensors that a parameter's state begins with."""
        raise NotImplementedError

    def _launch(self, params, fill, group):
        raise NotImplementedError

    def _sparse_step(self, param, group):
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def step(self, closure=None):
        """Changes the parameters that have gradients; `closure` computes the loss anew."""
        loss = evaluated(closure)
        for group in self.param_groups:
            def fill(param, group=group):
                state = self.state[param]
                for name, tensor in self._state_of(param, group).items():
                    if state.get(name) is None:
                        state[name] = tensor
            for param in self._launch(group["params"], fill, group):
                self._sparse_step(param, group)
        return loss


def new_count():
    return _C.zeros((), dtype=_C.float32)


class SGD(Fused):
    """Stochastic gradient descent, with momentum (Sutskever et al. 2013) and weight decay."""

    _in_graphs = True

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        check_rate(lr)
        check(momentum >= 0.0, "Invalid momentum value: {}", momentum)
        check_decay(weight_decay)
        check(not nesterov or (momentum > 0 and dampening == 0), "Nesterov momentum requires a momentum and zero dampening")
        self._check_fused(fused, foreach, differentiable)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("nesterov", False), ("maximize", False), ("foreach", None), ("differentiable", False),
                                  ("fused", None)):
                group.setdefault(name, default)

    def _state_of(self, param, group):
        return {"momentum_buffer": zeros_like(param)}

    def step(self, closure=None):
        """Changes the parameters that have gradients; `closure` computes the loss anew."""
        if not any(group.get("differentiable") for group in self.param_groups):
            return super().step(closure)
        loss = evaluated(closure)
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    self._recorded_step(param, group)
        return loss

    def _recorded_step(self, param, group):
        """The same by operations that are recorded: gradients flow through the step."""
        grad = -param.grad if group["maximize"] else param.grad
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        if group["momentum"]:
            buffer = self.state[param].get("momentum_buffer")
            buffer = grad.clone() if buffer is None else buffer * group["momentum"] + grad * (1 - group["dampening"])
            self.state[param]["momentum_buffer"] = buffer
            grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        param.add_(grad * -group["lr"])

    def _launch(self, params, fill, group):
        return _C._optim.sgd(params, self.state, fill, group, float(group["momentum"]), float(group["dampening"]),
                             float(group["weight_decay"]), group["nesterov"], group["maximize"])

    def _sparse_step(self, param, group):
        if group["momentum"] != 0 or group["weight_decay"] != 0:
            raise RuntimeError("SGD with momentum or weight decay does not support sparse gradients")
        rate = float(group["lr"])
        _add_sparse(param, param.grad, rate if group["maximize"] else -rate)


def _add_sparse(param, grad, alpha):
    """Adds alpha times a sparse gradient to the rows that it has."""
    grad = grad.detach().coalesce()
    with no_grad():
        where = tuple(grad.indices().unbind(0))
        param[where] = param[where] + grad.values() * alpha


class Adam(Fused):
    """Means and mean squares of gradients, corrected for their start (Kingma and Ba 2015, arXiv:1412.6980)."""

    _decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        check_rate(lr)
        if isinstance(lr, _C.TensorBase) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check(0.0 <= eps, "Invalid epsilon value: {}", eps)
        check_betas(betas)
        if len({isinstance(beta, _C.TensorBase) for beta in betas}) > 1:
            raise ValueError("betas must be either both floats or both Tensors")
        check_decay(weight_decay)
        self._check_fused(fused, foreach, differentiable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("amsgrad", False), ("maximize", False), ("foreach", None), ("capturable", False),
                                  ("differentiable", False), ("decoupled_weight_decay", self._decoupled), ("fused", None)):
                group.setdefault(name, default)

    def _state_of(self, param, group):
        made = {"step": new_count(), "exp_avg": zeros_like(param), "exp_avg_sq": zeros_like(param)}
        if group["amsgrad"]:
            made["max_exp_avg_sq"] = zeros_like(param)
        return made

    def _launch(self, params, fill, group):
        beta1, beta2 = group["betas"]
        return _C._optim.adam(params, self.state, fill, group, float(beta1), float(beta2), float(group["eps"]),
                              float(group["weight_decay"]), group["decoupled_weight_decay"], group["amsgrad"],
                              group["maximize"])

    def _sparse_step(self, param, group):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")


class AdamW(Adam):
    """Adam whose weight decay does not pass through the means (Loshchilov and Hutter 2019, arXiv:1711.05101)."""

    _decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
                 foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class RMSprop(Fused):
    """Gradients divided by the root of their mean square (Hinton 2012, lecture 6e)."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        check_rate(lr)
        check(0.0 <= eps, "Invalid epsilon value: {}", eps)
        check(0.0 <= momentum, "Invalid momentum value: {}", momentum)
        check_decay(weight_decay)
        check(0.0 <= alpha, "Invalid alpha value: {}", alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})

    def _state_of(self, param, group):
        made = {"step": new_count(), "square_avg": zeros_like(param)}
        if group["momentum"] > 0:
            made["momentum_buffer"] = zeros_like(param)
        if group["centered"]:
            made["grad_avg"] = zeros_like(param)
        return made

    def _launch(self, params, fill, group):
        return _C._optim.rmsprop(params, self.state, fill, group, float(group["alpha"]), float(group["eps"]),
                                 float(group["weight_decay"]), float(group["momentum"]), group["centered"], group["maximize"])


class Adagrad(Fused):
    """Gradients divided by the root of the sum of their squares (Duchi et al. 2011)."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        check_rate(lr)
        check(0.0 <= lr_decay, "Invalid lr_decay value: {}", lr_decay)
        check_decay(weight_decay)
        check(0.0 <= initial_accumulator_value, "Invalid initial_accumulator_value value: {}", initial_accumulator_value)
        check(0.0 <= eps, "Invalid epsilon value: {}", eps)
        self._check_fused(fused, foreach, differentiable)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:  # PyTorch's have their state from the start
            for param in group["params"]:
                self.state[param].update(self._state_of(param, group))

    def _state_of(self, param, group):
        start = group["initial_accumulator_value"]
        return {"step": new_count(), "sum": _C.full_like(param, complex(start, start) if param.is_complex() else start,
                                                         memory_format=_C.preserve_format)}

    def share_memory(self):
        """Moves the sums to memory that other processes can open."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _launch(self, params, fill, group):
        return _C._optim.adagrad(params, self.state, fill, group, float(group["lr_decay"]),
                                 float(group["weight_decay"]), float(group["eps"]), group["maximize"])

    def _sparse_step(self, param, group):
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self.state[param]
        state["step"] += 1
        rate = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        with no_grad():
            grad = param.grad.detach().coalesce()
            where, values = tuple(grad.indices().unbind(0)), grad.values()
            values = -values if group["maximize"] else values
            total = state["sum"][where] + values * values
            state["sum"][where] = total
            param[where] = param[where] - values / total.sqrt_().add_(group["eps"]) * rate
