"""Optimizers written over tensors, in PyTorch's order of operations."""

import math

from .. import _C
from ..autograd.modes import no_grad
from .fused import zeros_like
from .optimizer import Elementwise, Optimizer, check, check_betas, check_decay, check_rate, evaluated


def _decay(param, grad, group):
    """Weight decay: of the parameter where it is decoupled, else as part of the gradient, which is returned."""
    decay = group["weight_decay"]
    if decay == 0:
        return grad
    if group.get("decoupled_weight_decay"):
        param.mul_(1 - float(group["lr"]) * decay)
        return grad
    return grad.add(param, alpha=decay)


def _moments(state, grad, beta1, beta2):
    state["exp_avg"].lerp_(grad, 1 - beta1)
    state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)


def _check_adam(lr, betas, eps, weight_decay):
    check_rate(lr)
    check(0.0 <= eps, "Invalid epsilon value: {}", eps)
    check_betas(betas)
    check_decay(weight_decay)


class NAdam(Elementwise):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        _check_adam(lr, betas, eps, weight_decay)
        check(0.0 <= momentum_decay, "Invalid momentum_decay value: {}", momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})

    def _init_state(self, param, group):
        return {"mu_product": _C.ones((), dtype=_C.float32), "exp_avg": zeros_like(param), "exp_avg_sq": zeros_like(param)}

    def _update(self, param, grad, state, group):
        (beta1, beta2), lr, count = group["betas"], float(group["lr"]), state["step"].item()
        grad = _decay(param, grad, group)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * group["momentum_decay"]))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        _moments(state, grad, beta1, beta2)
        root = state["exp_avg_sq"].div(1 - beta2 ** count).sqrt_().add_(group["eps"])
        param.addcdiv_(grad, root, value=-lr * (1.0 - mu) / (1.0 - product))
        param.addcdiv_(state["exp_avg"], root, value=-lr * mu_next / (1.0 - product * mu_next))


class RAdam(Elementwise):
    """Adam with its early variance rectified (Liu et al. 2020, arXiv:1908.03265)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        _check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def _init_state(self, param, group):
        return {"exp_avg": zeros_like(param), "exp_avg_sq": zeros_like(param)}

    def _update(self, param, grad, state, group):
        (beta1, beta2), count = group["betas"], state["step"].item()
        grad = _decay(param, grad, group)
        _moments(state, grad, beta1, beta2)
        correction2 = 1 - beta2 ** count
        step = state["exp_avg"] / (1 - beta1 ** count) * float(group["lr"])
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * count * beta2 ** count / correction2
        if length > 5.0:
            rectified = math.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
            step = step * (math.sqrt(correction2) / state["exp_avg_sq"].sqrt().add_(group["eps"])) * rectified
        param.sub_(step)


class Adamax(Elementwise):
    """Adam with the largest of the decayed gradients (Kingma and Ba 2015, section 7.1)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        _check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def _init_state(self, param, group):
        return {"exp_avg": zeros_like(param), "exp_inf": zeros_like(param)}

    def _update(self, param, grad, state, group):
        (beta1, beta2), largest = group["betas"], state["exp_inf"]
        grad = _decay(param, grad, group)
        state["exp_avg"].lerp_(grad, 1 - beta1)
        largest.copy_(_C.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"])))
        param.addcdiv_(state["exp_avg"], largest, value=-float(group["lr"]) / (1 - beta1 ** state["step"].item()))


class Adadelta(Elementwise):
    """Steps in the parameters' units (Zeiler 2012, arXiv:1212.5701)."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        check_rate(lr)
        check(0.0 <= rho <= 1.0, "Invalid rho value: {}", rho)
        check(0.0 <= eps, "Invalid epsilon value: {}", eps)
        check_decay(weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable})

    def _init_state(self, param, group):
        return {"square_avg": zeros_like(param), "acc_delta": zeros_like(param)}

    def _update(self, param, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        grad = _decay(param, grad, group)
        state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = state["acc_delta"].add(eps).sqrt_().div_(state["square_avg"].add(eps).sqrt_()).mul_(grad)
        state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-float(group["lr"]))


class Rprop(Elementwise):
    """Steps by the signs of gradients, growing while they stay (Riedmiller and Braun 1993)."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check_rate(lr)
        check(0.0 < etas[0] < 1.0 < etas[1], "Invalid eta values: {}, {}", *etas)
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def _init_state(self, param, group):
        lr = float(group["lr"])
        return {"prev": zeros_like(param),
                "step_size": _C.full_like(param, complex(lr, lr) if param.is_complex() else lr)}

    def _update(self, param, grad, state, group):
        down, up = group["etas"]
        turned = grad.mul(state["prev"]).sign()
        factor = _C.where(turned > 0, _C.full_like(turned, up), _C.where(turned < 0, _C.full_like(turned, down),
                                                                         _C.ones_like(turned)))
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned < 0, 0)
        param.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)


class ASGD(Elementwise):
    """Stochastic gradient descent with an average of the parameters in `ax` (Polyak and Juditsky 1992)."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_rate(lr)
        check_decay(weight_decay)
        check(0.0 <= alpha, "Invalid alpha value: {}", alpha)
        check(0.0 <= lambd, "Invalid lambd value: {}", lambd)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _init_state(self, param, group):
        return {"eta": _C.full((), float(group["lr"]), dtype=_C.float32), "mu": _C.ones((), dtype=_C.float32),
                "ax": zeros_like(param)}

    def _update(self, param, grad, state, group):
        lr, lambd, count, eta, mu = (float(group["lr"]), group["lambd"], state["step"].item(), state["eta"].item(),
                                     state["mu"].item())
        grad = _decay(param, grad, group)
        param.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
        if mu == 1:
            state["ax"].copy_(param)
        else:
            state["ax"].add_(param.sub(state["ax"]).mul_(mu))
        state["eta"].fill_(lr / (1 + lambd * lr * count) ** group["alpha"])
        state["mu"].fill_(1 / max(1, count - group["t0"]))


class Adafactor(Elementwise):
    """Mean squares of matrices as products of rows and columns (Shazeer and Stern 2018, arXiv:1804.04235)."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        check(beta2_decay <= 0.0, "beta2_decay should be <= 0 but is: {}", beta2_decay)
        check(eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0 but is: {}", eps[0])
        check(eps[1] >= 0.0, "epsilon2 should be >= 0 but is: {}", eps[1])
        check(d >= 1.0, "Clipping threshold d should be >= 1 but is: {}", d)
        check(weight_decay >= 0.0, "weight_decay should be >= 0 but is: {}", weight_decay)
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize})

    def _init_state(self, param, group):
        if param.dim() < 2:
            return {"variance": zeros_like(param)}
        shape = list(param.shape)
        return {"row_var": param.new_zeros([*shape[:-1], 1]), "col_var": param.new_zeros([*shape[:-2], 1, shape[-1]])}

    def _update(self, param, grad, state, group):
        count, lr, (eps1, eps2) = state["step"].item(), float(group["lr"]), group["eps"]
        if eps1 is None:
            from ..numbers import finfo
            eps1 = finfo(param.dtype).eps
        new = count ** group["beta2_decay"]
        size = math.sqrt(param.numel())
        alpha = max(eps2, param.norm(2).item() / size) * min(lr, 1 / math.sqrt(count))
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.square().mean(-1, keepdim=True), new)
            columns.lerp_(grad.square().mean(-2, keepdim=True), new)
            variance = (rows @ columns).div_(rows.mean(-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad.square(), new)
            variance = state["variance"].clone()
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        param.add_(update, alpha=-alpha / max(1.0, update.norm(2).item() / (size * group["d"])))


class SparseAdam(Optimizer):
    """Adam for sparse gradients: moments of the rows that a gradient has."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_rate(lr)
        check(0.0 < lr, "Invalid learning rate: {}", lr)
        check(0.0 < eps, "Invalid epsilon value: {}", eps)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[i, [k for k, p in enumerate(g["params"]) if p.is_sparse]] for i, g in enumerate(self.param_groups)]
        sparse = [pair for pair in sparse if pair[1]]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def step(self, closure=None):
        """Changes the rows of parameters that gradients have; `closure` computes the loss anew."""
        loss = evaluated(closure)
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if not param.grad.is_sparse:
                        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                    self._update(param, group)
        return loss

    def _update(self, param, group):
        state = self.state[param]
        if not state:
            state.update(step=0, exp_avg=zeros_like(param), exp_avg_sq=zeros_like(param))
        state["step"] += 1
        count, (beta1, beta2), lr = state["step"], group["betas"], float(group["lr"])
        grad = param.grad.coalesce()
        values = -grad.values() if group["maximize"] else grad.values()
        if values.numel() == 0:
            return
        where = tuple(grad.indices().unbind(0))
        first, second = state["exp_avg"][where], state["exp_avg_sq"][where]
        first_change = (values - first) * (1 - beta1)
        second_change = (values * values - second) * (1 - beta2)
        state["exp_avg"][where] = first + first_change
        state["exp_avg_sq"][where] = second + second_change
        rate = lr * math.sqrt(1 - beta2 ** count) / (1 - beta1 ** count)
        update = (first + first_change) / (second + second_change).sqrt_().add_(group["eps"])
        param[where] = param[where] - update * rate


class Muon(Optimizer):
    """Momentum whose matrices are made nearly orthogonal (Jordan 2024), by five steps of Newton and Schulz in bfloat16."""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775,
                 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        check(0.0 <= momentum, "momentum should be >= 0 but is: {}", momentum)
        check(0.0 <= weight_decay, "weight decay should be >= 0 but is: {}", weight_decay)
        check(adjust_lr_fn in (None, "original", "match_rms_adamw", "spectral_unclamped"),
              "Adjust learning rate function {} is not supported", adjust_lr_fn)
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                check(param.dim() == 2, "Muon only supports 2D parameters whereas we found a parameter with size: {}",
                      param.size())

    def step(self, closure=None):
        """Changes the parameters that have gradients; `closure` computes the loss anew."""
        loss = evaluated(closure)
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if param.is_complex():
                        raise RuntimeError("Muon does not support complex parameters")
                    if param.grad.is_sparse:
                        raise RuntimeError("Muon does not support sparse gradients")
                    self._update(param, group)
        return loss

    def _update(self, param, group):
        state, momentum, lr = self.state[param], group["momentum"], float(group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(param.grad)
        buffer = state["momentum_buffer"]
        buffer.lerp_(param.grad, 1 - momentum)
        update = _orthogonal(param.grad.lerp(buffer, momentum) if group["nesterov"] else buffer, group)
        rows, columns = param.shape
        how = group["adjust_lr_fn"]
        scale = 0.2 * math.sqrt(max(rows, columns)) if how == "match_rms_adamw" else math.sqrt(
            rows / columns if how == "spectral_unclamped" else max(1, rows / columns))
        param.mul_(1 - lr * group["weight_decay"])
        param.add_(update, alpha=-lr * scale)


def _orthogonal(matrix, group):
    a, b, c = group["ns_coefficients"]
    check(0 <= group["ns_steps"] < 100, "Number of steps must be less than 100 for computational efficiency")
    made = matrix.to(_C.bfloat16)
    turned = matrix.size(0) > matrix.size(1)
    if turned:
        made = made.T
    made = made / made.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = made @ made.T
        made = _C.addmm(made, _C.addmm(gram, gram, gram, beta=b, alpha=c), made, beta=a)
    return made.T if turned else made
