"""Optimizers whose step is a rule of the library (taeda/optim/rule.h): one call for all groups, all of it or nothing."""

from .. import _C
from .._tensor import Tensor
from .optimizer import Optimizer, evaluated


class RuleOptimizer(Optimizer):
    """`_rule` is the rule's name; options and state are its fields and tensors, by PyTorch's names.

    With `differentiable` autograd records a step, so that gradients flow through it: to the parameter and the state before,
    which the parameter must not be a leaf for, to the gradient, and to a learning rate that is a tensor.
    """

    _rule = None
    _added = {}  # options that older files lack

    def __init__(self, params, defaults):
        lr = defaults["lr"]
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        refused = _C._optim.refused(self._rule, defaults)
        if refused is not None:
            raise ValueError(refused[0] + str(refused[1]))
        if defaults.get("fused") and defaults["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults["foreach"]:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self._added.items():
                group.setdefault(name, default)
        for of_param in self.state.values():
            count = of_param.get("step") if self._rule != "SparseAdam" else None
            if count is not None and not isinstance(count, _C.TensorBase):  # files of PyTorch before 1.12
                of_param["step"] = _C._tensor_from(float(count), _C.float32, None)

    def step(self, closure=None):
        """Changes the parameters that have gradients; `closure` computes the loss anew."""
        loss = evaluated(closure)
        _C._optim.step(self._rule, self.param_groups, self.state)
        return loss


class SGD(RuleOptimizer):
    """Stochastic gradient descent, with momentum (Sutskever et al. 2013) and weight decay."""

    _rule = "SGD"
    _added = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": None}

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})


class Adam(RuleOptimizer):
    """Means and mean squares of gradients, corrected for their start (Kingma and Ba 2015, arXiv:1412.6980)."""

    _rule = "Adam"
    _added = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
              "decoupled_weight_decay": False, "fused": None}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if len({isinstance(beta, Tensor) for beta in betas}) > 1:
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})


class AdamW(Adam):
    """Adam whose weight decay does not pass through the means (Loshchilov and Hutter 2019, arXiv:1711.05101)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
                 foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class RMSprop(RuleOptimizer):
    """Gradients divided by the root of their mean square (Hinton 2012, lecture 6e)."""

    _rule = "RMSprop"

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})


class Adagrad(RuleOptimizer):
    """Gradients divided by the root of the sum of their squares (Duchi et al. 2011)."""

    _rule = "Adagrad"

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:  # PyTorch's have their state from the start
            for param in group["params"]:
                self.state[param].update(_C._optim.first_state(self._rule, group, param))

    def share_memory(self):
        """Moves the sums to memory that other processes can open."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()


class NAdam(RuleOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    _rule = "NAdam"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})


class RAdam(RuleOptimizer):
    """Adam with its early variance rectified (Liu et al. 2020, arXiv:1908.03265)."""

    _rule = "RAdam"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})


class Adamax(RuleOptimizer):
    """Adam with the largest of the decayed gradients (Kingma and Ba 2015, section 7.1)."""

    _rule = "Adamax"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})


class Adadelta(RuleOptimizer):
    """Steps in the parameters' units (Zeiler 2012, arXiv:1212.5701)."""

    _rule = "Adadelta"

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable})


class Rprop(RuleOptimizer):
    """Steps by the signs of gradients, growing while they stay (Riedmiller and Braun 1993)."""

    _rule = "Rprop"

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})


class ASGD(RuleOptimizer):
    """Stochastic gradient descent with an average of the parameters in `ax` (Polyak and Juditsky 1992)."""

    _rule = "ASGD"

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})


class Lion(RuleOptimizer):
    """Steps of one size: the sign of the gradient mixed with its momentum (Chen et al. 2023, arXiv:2302.06675)."""

    _rule = "Lion"

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0, *, maximize=False):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})


class AdEMAMix(RuleOptimizer):
    """AdamW with a second mean of gradients that forgets slowly (Pagliardini et al. 2024, arXiv:2409.03137)."""

    _rule = "AdEMAMix"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999, 0.9999), alpha=5.0, beta3_warmup=0, alpha_warmup=0, eps=1e-8,
                 weight_decay=0, *, maximize=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "alpha": alpha, "beta3_warmup": beta3_warmup, "alpha_warmup": alpha_warmup, "eps": eps,
            "weight_decay": weight_decay, "maximize": maximize})


class Adafactor(RuleOptimizer):
    """Mean squares of matrices as products of rows and columns (Shazeer and Stern 2018, arXiv:1804.04235)."""

    _rule = "Adafactor"

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        if eps[0] is not None and not eps[0] >= 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize})


class SparseAdam(RuleOptimizer):
    """Adam for sparse gradients: moments of the rows that a gradient has."""

    _rule = "SparseAdam"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[i, [k for k, p in enumerate(g["params"]) if p.is_sparse]] for i, g in enumerate(self.param_groups)]
        sparse = [pair for pair in sparse if pair[1]]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")


class Muon(RuleOptimizer):
    """Momentum whose matrices are made nearly orthogonal (Jordan 2024), by five steps of Newton and Schulz in bfloat16."""

    _rule = "Muon"

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775,
                 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{param.size()}")
