"""L-BFGS: a quasi-Newton method that keeps the last steps (Nocedal and Wright 2006, chapters 3 and 7)."""

from .. import _C
from .optimizer import Optimizer, check_rate, evaluated
from .rules import usual


class LBFGS(Optimizer):
    """Steps along the inverse Hessian that the last steps suggest (Nocedal and Wright 2006, chapters 3 and 7).

    lr: of each step; 1 unless given
    max_iter: iterations of a step; 20 unless given
    max_eval: how often a step evaluates the closure; 1.25 max_iter unless given
    tolerance_grad, tolerance_change: where a step ends; 1e-7 and 1e-9 unless given
    history_size: how many steps are kept; 100 unless given
    line_search_fn: "strong_wolfe" or None (unless given), which takes steps as they are
    params, maximize: as Adam's, in one group, else ValueError

    Shapes: parameters of any; the closure gives a scalar, and step takes it and evaluates it several times.

    >>> w = torch.tensor([5.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 2) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)
    >>> w.detach()
    tensor([2.])
    """

    _usual = usual("LBFGS")

    def __init__(self, params, lr=_usual.lr, max_iter=_usual.max_iter, max_eval=_usual.max_eval,
                 tolerance_grad=_usual.tolerance_grad, tolerance_change=_usual.tolerance_change,
                 history_size=_usual.history_size, line_search_fn=_usual.line_search_fn, *, maximize=_usual.maximize):
        check_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn, "maximize": maximize})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure):
        """Up to max_iter iterations; returns the closure's first value. What the closure raises half-way undoes them."""
        first = evaluated(closure)
        group = self.param_groups[0]
        _C._optim.lbfgs_step(group, self.state[group["params"][0]], first, closure)
        return first
