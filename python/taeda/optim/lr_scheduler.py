"""Learning rates over time."""

import bisect
import collections
import math
import types

from .._core.warnings import warn
from .lr_cycles import CyclicLR, OneCycleLR  # noqa: F401
from .optimizer import Optimizer
from .schedule import EPOCH_DEPRECATION_WARNING, LRScheduler, _number, rules, set_option

_LRScheduler = LRScheduler


class _Lambdas(LRScheduler):
    """A function of the epoch for each group; functions are not saved, objects that are called are, by their attributes."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(optimizer.param_groups)
        if len(self.lr_lambdas) != len(optimizer.param_groups):
            raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        made = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        made["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return made

    def load_state_dict(self, state_dict):
        state_dict = dict(state_dict)
        lambdas = state_dict.pop("lr_lambdas")
        self.__dict__.update(state_dict)
        for f, saved in zip(self.lr_lambdas, lambdas):
            if saved is not None:
                f.__dict__.update(saved)


class LambdaLR(_Lambdas):
    """The initial rate times lr_lambda(epoch).

    optimizer: whose groups' rates are set
    lr_lambda: a function of the number of epochs, or one for each group, else ValueError
    last_epoch: the epoch to go on from; -1 (unless given) begins

    Arguments are scalars and functions.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self):
        self._check_called_within_step()
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_Lambdas):
    """The rate times lr_lambda(epoch), epoch after epoch.

    optimizer, last_epoch: as LambdaLR's
    lr_lambda: a function of the number of epochs, or one for each group, else ValueError

    Arguments are scalars and functions.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self):
        self._check_called_within_step()
        if self._is_initial:
            return self._rates()
        return [rate * f(self.last_epoch) for rate, f in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """The rate times gamma every step_size epochs.

    optimizer, last_epoch: as LambdaLR's
    gamma: 0.1 unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        if self.last_epoch == 0:  # a size of 0 or of another type is met by the first step
            return self._rates()
        return self._rates_times(rules.stepped_change(self.last_epoch, self.step_size, self.gamma))

    def _get_closed_form_lr(self):
        return self._bases_times(rules.stepped(self.last_epoch, self.step_size, self.gamma))


class MultiStepLR(LRScheduler):
    """The rate times gamma at each of the milestones.

    optimizer, last_epoch: as LambdaLR's
    milestones: numbers of epochs
    gamma: 0.1 unless given

    Arguments are scalars and a list of them.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = collections.Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        return self._rates_times(rules.stepped(self.milestones[self.last_epoch], 1, self.gamma))

    def _get_closed_form_lr(self):
        passed = bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return self._bases_times(rules.stepped(passed, 1, self.gamma))


class ConstantLR(LRScheduler):
    """The rate times a factor for the first epochs.

    optimizer, last_epoch: as LambdaLR's
    factor: in [0, 1], else ValueError; 1/3 unless given
    total_iters: how many epochs; 5 unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        return self._rates_times(rules.constant_change(self.last_epoch, self.factor, self.total_iters))

    def _get_closed_form_lr(self):
        return self._bases_times(rules.constant(self.last_epoch, self.factor, self.total_iters))


class LinearLR(LRScheduler):
    """The rate times a factor that goes from start_factor to end_factor in equal steps.

    optimizer, last_epoch: as LambdaLR's
    start_factor: in (0, 1], else ValueError; 1/3 unless given
    end_factor: in [0, 1], else ValueError; 1 unless given
    total_iters: within how many epochs; 5 unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        if self._is_initial and self.last_epoch != 0:
            return self._rates()
        return self._rates_times(rules.linear_change(self.last_epoch, self.start_factor, self.end_factor, self.total_iters))

    def _get_closed_form_lr(self):
        return self._bases_times(rules.linear(self.last_epoch, self.start_factor, self.end_factor, self.total_iters))


class ExponentialLR(LRScheduler):
    """The rate times gamma every epoch.

    optimizer, last_epoch: as LambdaLR's

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        return self._rates() if self._is_initial else [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return self._bases_times(rules.stepped(self.last_epoch, 1, self.gamma))


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - epoch / total_iters)^power, then 0.

    optimizer, last_epoch: as LambdaLR's
    total_iters, power: 5 and 1 unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        if self._is_initial:
            return self._rates()
        return self._rates_times(rules.polynomial_change(self.last_epoch, self.total_iters, self.power))

    def _get_closed_form_lr(self):
        return self._bases_times(rules.polynomial(self.last_epoch, self.total_iters, self.power))


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to eta_min in T_max epochs, and back: eta_min + (initial - eta_min) (1 + cos(pi epoch
    / T_max)) / 2 (Loshchilov and Hutter 2016, arXiv:1608.03983, without restarts).

    optimizer, last_epoch: as LambdaLR's
    eta_min: 0 unless given

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 6)
    0.5
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        return [rules.cosine_next(rate, base, self.eta_min, self.last_epoch, self.T_max)
                for base, rate in zip(self.base_lrs, self._rates())]

    def _get_closed_form_lr(self):
        return [rules.cosine_rate(base, self.eta_min, self.last_epoch, self.T_max) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines from the initial rate to eta_min, in T_0, T_0 T_mult, T_0 T_mult^2, ... epochs (Loshchilov and Hutter 2016,
    arXiv:1608.03983).

    optimizer, last_epoch: as LambdaLR's
    T_0: a positive int, else ValueError
    T_mult: a positive int, else ValueError; 1 unless given
    eta_min: 0 unless given

    Arguments are scalars; step takes an epoch that may be a fraction.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> scheduler.step(1.5)
    >>> round(scheduler.get_last_lr()[0], 4)
    0.1464
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        self._go_to(last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        return [rules.cosine_rate(base, self.eta_min, self.T_cur, self.T_i) for base in self.base_lrs]

    def _go_to(self, epoch):
        """Finds the cycle that holds `epoch`, its length and where in it that is."""
        self.T_cur, self.T_i = rules.restarted(epoch, self.T_0, self.T_mult)

    def step(self, epoch=None):
        """Goes on by an epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self._update_lr(math.floor(epoch))


class SequentialLR(LRScheduler):
    """Schedulers one after another, the next one from each milestone on.

    optimizer, last_epoch: as LambdaLR's
    schedulers: of that optimizer, else ValueError; none may be a ReduceLROnPlateau
    milestones: numbers of epochs, one fewer than schedulers, else ValueError

    Arguments are lists.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> warm = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=9)
    >>> then = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, then], milestones=[1])
    >>> scheduler.get_last_lr()
    [0.1]
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        _check_schedulers(self, schedulers, optimizer, "SequentialLR expects at least one scheduler, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                             f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones "
                             f"to be equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        for scheduler in schedulers:
            _undo(scheduler)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        """Goes on by an epoch."""
        self.last_epoch += 1
        at = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            if type(scheduler).step is LRScheduler.step:
                scheduler._update_lr(0)
            else:
                scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    state_dict, load_state_dict = (lambda self: _nested_state(self)), (lambda self, state: _load_nested(self, state))


def _undo(scheduler):
    """Takes back the step that making a scheduler has done."""
    for inner in getattr(scheduler, "_schedulers", ()):
        _undo(inner)
    scheduler.last_epoch -= 1


def _check_schedulers(self, schedulers, optimizer, empty):
    name = type(self).__name__
    if len(schedulers) < 1:
        raise ValueError(empty)
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau) and isinstance(self, SequentialLR):
            raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                             f"specified when calling `step`, but got one at index {i} in the given schedulers sequence.")
        if optimizer != scheduler.optimizer:
            raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                             f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                             f"{type(optimizer).__name__}.")


def _nested_state(self):
    made = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
    made["_schedulers"] = [s.state_dict() for s in self._schedulers]
    return made


def _load_nested(self, state_dict):
    state_dict = dict(state_dict)
    states = state_dict.pop("_schedulers")
    self.__dict__.update(state_dict)
    for scheduler, state in zip(self._schedulers, states):
        scheduler.load_state_dict(state)


class ChainedScheduler(LRScheduler):
    """Several schedulers at once, each with the rates that the one before has set.

    schedulers: of one optimizer, else ValueError
    optimizer: that one; the first scheduler's unless given

    Arguments are lists.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> a = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5)
    >>> b = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> torch.optim.lr_scheduler.ChainedScheduler([a, b]).get_last_lr()
    [0.5]
    """

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        _check_schedulers(self, schedulers, optimizer, "")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = [_number(g["lr"]) for g in optimizer.param_groups]

    def step(self):
        """Goes on by an epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [_number(g["lr"]) for g in self.optimizer.param_groups]

    state_dict, load_state_dict = (lambda self: _nested_state(self)), (lambda self, state: _load_nested(self, state))


class ReduceLROnPlateau(LRScheduler):
    """The rate times a factor when a metric has not become better for `patience` epochs.

    optimizer: whose groups' rates are set
    mode: "min" (unless given), whether small metrics are good, or "max"; others are a ValueError
    factor: below 1, else ValueError; 0.1 unless given
    patience: epochs that are waited; 10 unless given
    threshold, threshold_mode: by how much a metric must be better, "rel" (unless given) to the best or "abs"; 1e-4 unless
        given
    cooldown: epochs after a change that do not count; 0 unless given
    min_lr: the least rate, or one for each group; 0 unless given
    eps: changes that are smaller are left out; 1e-8 unless given

    Arguments are scalars; step takes the metric, a number or a tensor of one element.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    >>> scheduler.step(1.0)
    >>> scheduler.step(2.0)
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0,
                 min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != len(optimizer.param_groups):
                raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * len(optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = [_number(g["lr"]) for g in optimizer.param_groups]
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def _reset(self):
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether a is better than the best by more than the threshold."""
        return rules.is_better(a, best, self.threshold, self.mode == "max", self.threshold_mode == "rel")

    def step(self, metrics, epoch=None):
        """Takes an epoch's metric."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self.last_epoch = epoch
        better = self.is_better(current, self.best)
        if better:
            self.best = current
        falls, self.num_bad_epochs, self.cooldown_counter = rules.plateau_ends(
            better, self.patience, self.cooldown, self.num_bad_epochs, self.cooldown_counter)
        if falls:
            self._reduce_lr(epoch)
        self._last_lr = [_number(g["lr"]) for g in self.optimizer.param_groups]

    def _reduce_lr(self, epoch):
        count = len(self.optimizer.param_groups)
        if len(self.min_lrs) != count:
            if self.default_min_lr is None:
                raise RuntimeError(f"The number of param groups in the `optimizer` ({count}) differs from when "
                                   f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                                   "group being added to the optimizer. Please modify the `min_lrs` field to match the length "
                                   "of the `optimizer` param groups.")
            self.min_lrs = [self.default_min_lr] * count
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            rate = rules.fallen(group["lr"], self.factor, least, self.eps)
            if rate != group["lr"]:
                set_option(group, "lr", rate)

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
