"""What all schedules of learning rates are made of."""

from .. import _C
from .._core.warnings import warn
from .._tensor import Tensor
from .optimizer import Optimizer

rules = _C._optim.rates  # the library's, of numbers alone

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available.")


def set_option(group, name, value):
    """Changes an option of a group, in place where it is a tensor. The arguments are a dict, a text and a number.

    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
    >>> torch.optim.lr_scheduler.set_option(optimizer.param_groups[0], "lr", 0.5)
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def listed(name, value, optimizer):
    """One value for each group."""
    if not isinstance(value, (list, tuple)):
        return [value] * len(optimizer.param_groups)
    if len(value) != len(optimizer.param_groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                         f"param_groups has {len(optimizer.param_groups)}.")
    return list(value)


class LRScheduler:
    """Sets the groups' learning rates to get_lr() at every step(). A class of your own defines get_lr, from `last_epoch` and
    `base_lrs` on.

    optimizer: whose groups' rates are set; another class is a TypeError
    last_epoch: the epoch to go on from; -1 (unless given) begins

    Arguments are scalars; get_lr gives a list of a number for each group.

    >>> class Halved(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5 ** self.last_epoch for base in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = Halved(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    __module__ = "taeda.optim.lr_scheduler"
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if not hasattr(optimizer, "_step_when_scheduled"):  # what it did before it had a schedule does not count
            optimizer._opt_called = False
            optimizer._step_when_scheduled = optimizer.__dict__.get("step")
        if last_epoch == -1:
            for group in optimizer.param_groups:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= "
                        "0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but haven't "
                        "properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not "
                        "recommended)")
        self.base_lrs = [_number(g["initial_lr"]) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def state_dict(self):
        """Everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The learning rates that the last step set."""
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def _bases_times(self, factor):
        return [base * factor for base in self.base_lrs]

    def _rates_times(self, factor):
        return self._rates() if factor == 1 else [rate * factor for rate in self._rates()]

    def _check_called_within_step(self):
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning)

    def _rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        """Goes on by an epoch, or to `epoch`."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        before = self.last_epoch
        try:
            self._update_lr(epoch)
        except BaseException:  # all of a step, or nothing
            self.last_epoch, self._step_count = before, self._step_count - 1
            raise

    def _check_order(self):
        optimizer = self.optimizer
        if optimizer.__dict__.get("step") is not getattr(optimizer, "_step_when_scheduled", None):
            warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make "
                 "sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
                 "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", UserWarning)
        elif not getattr(optimizer, "_opt_called", False):
            warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                 "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure "
                 "to do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
                 "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", UserWarning)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        groups = self.optimizer.param_groups
        if len(rates) != len(groups):
            raise ValueError(f"{type(self).__name__} gives {len(rates)} learning rates, but the optimizer has {len(groups)} "
                             "param groups: make the scheduler when all groups are there")
        for group, rate in zip(groups, rates):
            set_option(group, "lr", rate)
        self._last_lr = [_number(rate) for rate in self._rates()]


def _number(rate):
    return rate.clone() if isinstance(rate, Tensor) else rate
