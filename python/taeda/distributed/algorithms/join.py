"""Loops over batches of which ranks have different numbers: a rank whose loop is over does what the others' steps need."""


from ... import _C
from .. import collectives
from ..groups import get_rank, get_world_size
from ..._core.warnings import warn


class JoinHook:
    """What a rank does for a Joinable when its own batches are over."""

    def main_hook(self):
        """Called for each step of the others: takes part in the collectives of that step."""

    def post_hook(self, is_last_joiner):
        """Called when all are over; `is_last_joiner` on those that were among the last."""


class _Config:
    def __init__(self):
        self.enable = self.throw_on_early_termination = self.is_first_joinable = False
        self.divide_by_initial_world_size = True


class Joinable:
    """What can take part: it calls Join.notify_join_context(self) before the collectives of a step."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._join_config = _Config()

    def join_hook(self, **kwargs):
        raise NotImplementedError

    @property
    def join_device(self):
        raise NotImplementedError

    @property
    def join_process_group(self):
        raise NotImplementedError


class Join:
    """`with Join([model, optimizer]):` around a loop; the same objects in the same order on all ranks."""

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._group, self._device = joinables[0].join_process_group, joinables[0].join_device
        if any(j.join_process_group is not self._group for j in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        if any(j.join_device != self._device for j in joinables):
            raise ValueError("Using join context manager with multiple devices")
        self._enable = enable and get_world_size(self._group) > 1
        self._throws = throw_on_early_termination
        self._hooks = [j.join_hook(**kwargs) for j in joinables]

    def __enter__(self):
        for i, joinable in enumerate(self._joinables):
            config = joinable._join_config
            config.enable, config.throw_on_early_termination = self._enable, self._throws
            config.is_first_joinable = i == 0

    def __exit__(self, kind, value, traceback):
        try:
            if self._enable and kind is None:
                self._stand_in()
        finally:
            for joinable in self._joinables:
                joinable._join_config.enable = joinable._join_config.is_first_joinable = False

    def _stand_in(self):
        steps, was_last = 0, True
        while (left := self._count()) > 0:
            was_last = False
            if self._throws:
                _tell(1, self._device, self._group)
                raise RuntimeError(f"Rank {get_rank(self._group)} exhausted all inputs.")
            for hook in self._hooks:
                hook.main_hook()
            steps += 1
            if steps == 1000:
                warn(f"Detected uneven input skew of greater than 1000. This means that rank "
                     f"{get_rank(self._group)} has at least 1000 fewer inputs than {left} other currently-active "
                     "ranks. This level of skew could lead to performance degradation during training.")
        for hook in self._hooks:
            hook.post_hook(was_last)

    def _count(self):
        """How many ranks are in a step."""
        return _tell(0, self._device, self._group)

    @staticmethod
    def notify_join_context(joinable):
        """Tells ranks whose loops are over that a step begins; does nothing outside of a join."""
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        active = _tell(1, device, group)
        if config.throw_on_early_termination and active < get_world_size(group):
            _tell(0, device, group)
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return None


def _tell(value, device, group):
    """The sum of all ranks' values."""
    total = _C.full((1,), float(value), device=device)
    collectives.all_reduce(total, group=group)
    return int(total)
