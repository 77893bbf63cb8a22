"""Optimizers whose step is a rule of the library (taeda/optim/rule.h): one call for all groups, all of it or nothing."""

import types

from .. import _C
from .._tensor import Tensor
from .optimizer import Optimizer, evaluated


def usual(rule):
    """What a rule's options are where a program says nothing."""
    return types.SimpleNamespace(**_C._optim.defaults(rule))


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
        """Changes the parameters that have gradients; `closure` computes the loss anew, with gradients, and step gives it back.

        Nothing has changed if it raises an error.
        """
        loss = evaluated(closure)
        _C._optim.step(self._rule, self.param_groups, self.state)
        return loss


class SGD(RuleOptimizer):
    """Stochastic gradient descent: p -= lr g, or with momentum b = momentum b + (1 - dampening) g and p -= lr b (Sutskever et
    al. 2013).

    params: tensors, pairs of name and tensor, or dicts of a group's params and of options that are other than these
    lr: the learning rate, a number or a tensor of one element; 1e-3 unless given
    momentum: 0 unless given
    dampening: 0 unless given
    weight_decay: is multiplied by the parameter and added to the gradient; 0 unless given
    nesterov: whether the step is taken along g + momentum b; needs momentum and no dampening, else ValueError; False unless
        given
    maximize: whether it goes uphill; False unless given
    differentiable: whether the step is recorded, so that gradients flow through it; False unless given
    foreach, fused: are taken; there is one step, fused for all parameters of a group

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.7000])
    """

    _rule = "SGD"
    _usual = usual(_rule)
    _added = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": None}

    def __init__(self, params, lr=_usual.lr, momentum=_usual.momentum, dampening=_usual.dampening,
                 weight_decay=_usual.weight_decay, nesterov=_usual.nesterov, *, maximize=_usual.maximize, foreach=None,
                 differentiable=False, fused=None):
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})


class Adam(RuleOptimizer):
    """Steps along the mean of gradients divided by the root of their mean square, both decaying and corrected for their start
    (Kingma and Ba 2015, arXiv:1412.6980):

        m = b1 m + (1 - b1) g,    v = b2 v + (1 - b2) g^2
        p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)

    params: tensors, pairs of name and tensor, or dicts of a group's params and of options that are other than these
    lr: the learning rate, a number or a tensor of one element; 1e-3 unless given
    betas: (b1, b2) in [0, 1), else ValueError; (0.9, 0.999) unless given
    eps: 1e-8 unless given
    weight_decay: is multiplied by the parameter and added to the gradient; 0 unless given
    amsgrad: whether the largest v so far takes the place of v (Reddi et al. 2018); False unless given
    decoupled_weight_decay: whether the decay is AdamW's; False unless given
    maximize: whether it goes uphill; False unless given
    capturable: whether steps can be part of a graph of a device; False unless given
    foreach, fused: are taken; there is one step, fused for all parameters of a group
    differentiable: True is a NotImplementedError

    Shapes: parameters of any; state `exp_avg` and `exp_avg_sq` have theirs, `step` is a scalar.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "Adam"
    _usual = usual(_rule)
    _added = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
              "decoupled_weight_decay": False, "fused": None}

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 amsgrad=_usual.amsgrad, *, foreach=None, maximize=_usual.maximize, capturable=False, differentiable=False,
                 fused=None, decoupled_weight_decay=_usual.decoupled_weight_decay):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if len({isinstance(beta, Tensor) for beta in betas}) > 1:
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})


class AdamW(Adam):
    """Adam whose weight decay does not pass through the means: p -= lr weight_decay p before the step (Loshchilov and Hutter
    2019, arXiv:1711.05101).

    weight_decay: 1e-2 unless given
    params, lr, betas, eps, amsgrad, maximize, capturable, foreach, fused, differentiable: as Adam's

    Shapes: parameters of any, as Adam's.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.0)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _usual = usual("AdamW")

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 amsgrad=_usual.amsgrad, *, maximize=_usual.maximize, foreach=None, capturable=False, differentiable=False,
                 fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class RMSprop(RuleOptimizer):
    """Gradients divided by the root of their decaying mean square: v = alpha v + (1 - alpha) g^2, p -= lr g / (sqrt(v) + eps)
    (Hinton 2012, lecture 6e).

    lr, alpha, eps, weight_decay: 1e-2, 0.99, 1e-8 and 0 unless given
    momentum: of the steps; 0 unless given
    centered: whether the square of the mean gradient is taken off v; False unless given
    params, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.RMSprop([w])
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "RMSprop"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, alpha=_usual.alpha, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 momentum=_usual.momentum, centered=_usual.centered, capturable=False, foreach=None, maximize=_usual.maximize,
                 differentiable=False):
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})


class Adagrad(RuleOptimizer):
    """Gradients divided by the root of the sum of their squares: s += g^2, p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)
    (Duchi et al. 2011).

    lr, lr_decay, weight_decay, initial_accumulator_value, eps: 1e-2, 0, 0, 0 and 1e-10 unless given
    params, maximize, foreach, fused, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "Adagrad"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, lr_decay=_usual.lr_decay, weight_decay=_usual.weight_decay,
                 initial_accumulator_value=_usual.initial_accumulator_value, eps=_usual.eps, foreach=None, *,
                 maximize=_usual.maximize, differentiable=False, fused=None):
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
    """Adam with Nesterov's momentum (Dozat 2016).

    lr, betas, eps, weight_decay: 2e-3, (0.9, 0.999), 1e-8 and 0 unless given
    momentum_decay: how fast the momentum grows to b1; 4e-3 unless given
    params, decoupled_weight_decay, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.ones(3, requires_grad=True)
    >>> optimizer = torch.optim.NAdam([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> bool((w < 1).all())
    True
    """

    _rule = "NAdam"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 momentum_decay=_usual.momentum_decay, decoupled_weight_decay=_usual.decoupled_weight_decay, *, foreach=None,
                 maximize=_usual.maximize, capturable=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})


class RAdam(RuleOptimizer):
    """Adam whose early steps, when mean squares are of few gradients, are rectified (Liu et al. 2020, arXiv:1908.03265).

    lr, betas, eps, weight_decay: 1e-3, (0.9, 0.999), 1e-8 and 0 unless given
    params, decoupled_weight_decay, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.ones(3, requires_grad=True)
    >>> optimizer = torch.optim.RAdam([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> bool((w < 1).all())
    True
    """

    _rule = "RAdam"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 decoupled_weight_decay=_usual.decoupled_weight_decay, *, foreach=None, maximize=_usual.maximize,
                 capturable=False, differentiable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})


class Adamax(RuleOptimizer):
    """Adam with the largest of the decayed gradients in the place of the root: u = max(b2 u, |g| + eps) (Kingma and Ba 2015,
    section 7.1).

    lr, betas, eps, weight_decay: 2e-3, (0.9, 0.999), 1e-8 and 0 unless given
    params, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adamax([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "Adamax"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, weight_decay=_usual.weight_decay, foreach=None,
                 *, maximize=_usual.maximize, differentiable=False, capturable=False):
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})


class Adadelta(RuleOptimizer):
    """Gradients times the root of the mean square of steps over that of gradients, so that steps have the parameters' units
    (Zeiler 2012, arXiv:1212.5701).

    lr, rho, eps, weight_decay: 1, 0.9, 1e-6 and 0 unless given; rho in [0, 1]
    params, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.ones(3, requires_grad=True)
    >>> optimizer = torch.optim.Adadelta([w])
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> bool((w < 1).all())
    True
    """

    _rule = "Adadelta"
    _usual = usual(_rule)

    def __init__(self, params, lr=float(_usual.lr), rho=_usual.rho, eps=_usual.eps, weight_decay=_usual.weight_decay,
                 foreach=None, *, capturable=False, maximize=_usual.maximize, differentiable=False):
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable})


class Rprop(RuleOptimizer):
    """Steps by the signs of gradients, of a size for each element that grows while the sign stays and shrinks when it changes
    (Riedmiller and Braun 1993); for whole batches.

    lr: the first size; 1e-2 unless given
    etas: factors by which sizes shrink and grow; (0.5, 1.2) unless given
    step_sizes: the least and the greatest; (1e-6, 50) unless given
    params, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; etas that are not 0 < eta_1 < 1 < eta_2 are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Rprop([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "Rprop"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, etas=_usual.etas, step_sizes=_usual.step_sizes, *, capturable=False, foreach=None,
                 maximize=_usual.maximize, differentiable=False):
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})


class ASGD(RuleOptimizer):
    """Stochastic gradient descent that keeps an average of the parameters in its state `ax` (Polyak and Juditsky 1992).

    lr, lambd, alpha, t0, weight_decay: 1e-2, 1e-4, 0.75, 1e6 and 0 unless given: the rate falls as 1 / (1 + lambd lr
        t)^alpha, and averaging begins at step t0
    params, maximize, capturable, foreach, differentiable: as Adam's

    Shapes: parameters of any; `ax` has theirs.

    >>> w = torch.ones(3, requires_grad=True)
    >>> optimizer = torch.optim.ASGD([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> optimizer.state[w]["ax"].shape
    torch.Size([3])
    """

    _rule = "ASGD"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, lambd=_usual.lambd, alpha=_usual.alpha, t0=float(_usual.t0),
                 weight_decay=_usual.weight_decay, foreach=None, maximize=_usual.maximize, differentiable=False,
                 capturable=False):
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})


class Lion(RuleOptimizer):
    """Steps of one size, by the sign of the gradient mixed with its momentum: p -= lr sign(b1 m + (1 - b1) g), then m = b2 m +
    (1 - b2) g (Chen et al. 2023, arXiv:2302.06675).

    lr, betas, weight_decay: 1e-4, (0.9, 0.99) and 0 unless given; the decay is decoupled
    params, maximize: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Lion([w], lr=0.1)
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    _rule = "Lion"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, weight_decay=_usual.weight_decay, *, maximize=_usual.maximize):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})


class AdEMAMix(RuleOptimizer):
    """AdamW with a second mean of gradients that forgets slowly: the step is along m1 + alpha m2 (Pagliardini et al. 2024,
    arXiv:2409.03137).

    lr, betas, alpha, eps, weight_decay: 1e-3, (0.9, 0.999, 0.9999), 5, 1e-8 and 0 unless given
    beta3_warmup, alpha_warmup: within how many steps both grow to their values; 0 (unless given) for at once
    params, maximize: as Adam's

    Shapes: parameters of any; negative options are a ValueError.

    >>> w = torch.ones(3, requires_grad=True)
    >>> optimizer = torch.optim.AdEMAMix([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> bool((w < 1).all())
    True
    """

    _rule = "AdEMAMix"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, alpha=float(_usual.alpha), beta3_warmup=_usual.beta3_warmup,
                 alpha_warmup=_usual.alpha_warmup, eps=_usual.eps, weight_decay=_usual.weight_decay, *,
                 maximize=_usual.maximize):
        super().__init__(params, {
            "lr": lr, "betas": betas, "alpha": alpha, "beta3_warmup": beta3_warmup, "alpha_warmup": alpha_warmup, "eps": eps,
            "weight_decay": weight_decay, "maximize": maximize})


class Adafactor(RuleOptimizer):
    """Mean squares of matrices as products of those of rows and columns, so that the state of a matrix is two vectors (Shazeer
    and Stern 2018, arXiv:1804.04235).

    lr: at most; steps are relative to the parameters' size; 1e-2 unless given
    beta2_decay: by which power of the step means forget less; -0.8 unless given
    eps: (in the place of small squares, the least size of a parameter); (None, 1e-3) unless given, None for the dtype's
        epsilon
    d: the greatest root mean square of a step; 1 unless given
    weight_decay: decoupled; 0 unless given
    params, maximize, foreach: as Adam's

    Shapes: parameters of any; state [*, n, 1] and [*, 1, m] of matrices [*, n, m], of others theirs.

    >>> w = torch.ones(3, 4, requires_grad=True)
    >>> optimizer = torch.optim.Adafactor([w])
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> optimizer.state[w]["row_var"].shape
    torch.Size([3, 1])
    """

    _rule = "Adafactor"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, beta2_decay=_usual.beta2_decay, eps=_usual.eps, d=float(_usual.d),
                 weight_decay=float(_usual.weight_decay), *, foreach=None, maximize=_usual.maximize):
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize})


class SparseAdam(RuleOptimizer):
    """Adam for sparse gradients: moments and parameters change in the rows that a gradient has.

    lr, betas, eps: 1e-3, (0.9, 0.999) and 1e-8 unless given
    params, maximize: as Adam's

    Shapes: dense parameters of any, else ValueError; gradients that are not sparse are a RuntimeError of step.

    >>> table = nn.Embedding(10, 3, sparse=True)
    >>> optimizer = torch.optim.SparseAdam(table.parameters())
    >>> table(torch.tensor([1, 4])).sum().backward()
    >>> optimizer.step()
    """

    _rule = "SparseAdam"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, betas=_usual.betas, eps=_usual.eps, maximize=_usual.maximize):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[i, [k for k, p in enumerate(g["params"]) if p.is_sparse]] for i, g in enumerate(self.param_groups)]
        sparse = [pair for pair in sparse if pair[1]]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")


class Muon(RuleOptimizer):
    """Momentum whose matrices are made nearly orthogonal before the step (Jordan 2024), by steps of Newton and Schulz in
    bfloat16.

    lr, weight_decay, momentum, nesterov, eps: 1e-3, 0.1, 0.95, True and 1e-7 unless given; the decay is decoupled
    ns_coefficients, ns_steps: of these steps; (3.4445, -4.775, 2.0315) and 5 unless given
    adjust_lr_fn: how the rate follows the matrix's size: None or "original", "match_rms_adamw" or "spectral_unclamped", else
        ValueError
    params: as Adam's

    Shapes: parameters [n, m]; others are a ValueError.

    >>> w = torch.ones(3, 4, requires_grad=True)
    >>> optimizer = torch.optim.Muon([w])
    >>> w.sum().backward()
    >>> optimizer.step()
    """

    _rule = "Muon"
    _usual = usual(_rule)

    def __init__(self, params, lr=_usual.lr, weight_decay=_usual.weight_decay, momentum=_usual.momentum,
                 nesterov=_usual.nesterov, ns_coefficients=_usual.ns_coefficients, eps=_usual.eps, ns_steps=_usual.ns_steps,
                 adjust_lr_fn=_usual.adjust_lr_fn):
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{param.size()}")
