"""Learning rates and momenta in cycles; part of lr_scheduler."""

import math
import types

from .optimizer import Optimizer
from .schedule import LRScheduler, listed, rules, set_option


_PEAKS = "triangular", "triangular2", "exp_range"
# What the corners of one cycle are called in a group: where it begins, stands highest and ends.
_RATES, _MOMENTA = ("initial_lr", "max_lr", "min_lr"), ("max_momentum", "base_momentum", "max_momentum")


class CyclicLR(LRScheduler):
    """Up and down between two rates (Smith 2017, arXiv:1506.01186).

    optimizer, last_epoch: as LambdaLR's
    base_lr, max_lr: the bounds, or one for each group
    step_size_up, step_size_down: epochs of either half; 2000 and step_size_up unless given
    mode: "triangular" (unless given), "triangular2" (each cycle half as high) or "exp_range" (times gamma^epoch), else
        ValueError
    scale_fn, scale_mode: a function for the height, of the number of the "cycle" (unless given) or of "iterations"
    cycle_momentum, base_momentum, max_momentum: whether momentum, or beta1, goes the other way, and its bounds; True, 0.8 and
        0.9 unless given; a ValueError for an optimizer that has neither

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.5, max_lr=1.5, step_size_up=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        base_lrs = listed("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                set_option(group, "lr", rate)
        self.max_lrs = listed("max_lr", max_lr, optimizer)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in _PEAKS and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = listed("base_momentum", base_momentum, optimizer)
            self.max_momentums = listed("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                for high, low, group in zip(self.max_momentums, self.base_momentums, optimizer.param_groups):
                    _set_momentum(group, high, self.use_beta1)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """The height of a cycle."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return rules.peak(_PEAKS.index(self.mode), x, self.gamma)

    def get_lr(self):
        self._check_called_within_step()
        up = self.total_size * self.step_ratio
        cycle, height = rules.cycle(self.last_epoch, up, self.total_size - up)
        peak = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                _set_momentum(group, rules.cycled(high, low, height, peak), self.use_beta1)
        return [rules.cycled(base, top, height, peak) for base, top in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        made = super().state_dict()
        custom = made.pop("_scale_fn_custom")
        made["_scale_fn_custom"] = None if custom is None or isinstance(custom, types.FunctionType) else custom.__dict__.copy()
        return made

    def load_state_dict(self, state_dict):
        state_dict = dict(state_dict)
        custom = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if custom is not None:
            self._scale_fn_custom.__dict__.update(custom)


def _set_momentum(group, value, use_beta1):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class OneCycleLR(LRScheduler):
    """One cycle over all steps: up from max_lr / div_factor to max_lr, and down to that over final_div_factor, while the
    momentum goes the other way (Smith and Topin 2018, arXiv:1708.07120).

    optimizer, last_epoch: as LambdaLR's
    max_lr: the greatest rate, or one for each group
    total_steps: how many steps there are, or epochs and steps_per_epoch; neither is a ValueError, and so is one step more
    pct_start: which part of them goes up, a float in [0, 1], else ValueError; 0.3 unless given
    anneal_strategy: "cos" (unless given) or "linear", else ValueError
    cycle_momentum, base_momentum, max_momentum: as CyclicLR's; True, 0.85 and 0.95 unless given
    div_factor, final_div_factor: 25 and 1e4 unless given
    three_phase: whether it goes down to the first rate in as many steps as it went up, and from there to the last; False
        unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> scheduler.get_last_lr()
    [0.040000000000000036]
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = [
            {"end_step": end, "start_lr": _RATES[start], "end_lr": _RATES[stop], "start_momentum": _MOMENTA[start],
             "end_momentum": _MOMENTA[stop]}
            for end, start, stop in rules.one_cycle(self.total_steps, pct_start, bool(three_phase))]
        self._schedule_phases[-1]["end_step"] = self.total_steps - 1  # a whole number, as PyTorch's files have it
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        rates = listed("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                for high, low, group in zip(listed("max_momentum", max_momentum, optimizer),
                                            listed("base_momentum", base_momentum, optimizer), optimizer.param_groups):
                    _set_momentum(group, high, self.use_beta1)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        step, rates = self.last_epoch, []
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        cosine = self._anneal_func_type == "cos"
        number, share = rules.phase_of(step, [phase["end_step"] for phase in self._schedule_phases])
        phase = self._schedule_phases[number]
        for group in self.optimizer.param_groups:
            rates.append(rules.annealed(group[phase["start_lr"]], group[phase["end_lr"]], share, cosine))
            if self.cycle_momentum:
                momentum = rules.annealed(group[phase["start_momentum"]], group[phase["end_momentum"]], share, cosine)
                _set_momentum(group, momentum, self.use_beta1)
        return rates


def _total(total_steps, epochs, steps_per_epoch):
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = [("total_steps", total_steps)] if total_steps is not None else [("epochs", epochs),
                                                                           ("steps_per_epoch", steps_per_epoch)]
    for name, value in given:
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(value for _, value in given)
