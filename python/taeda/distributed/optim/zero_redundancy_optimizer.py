"""Optimizers whose state is divided among the ranks (Rajbhandari, Rasley, Ruwase, He, arXiv:1910.02054, stage 1)."""

import copy

from ..._C import _distributed as _dist
from ..._core.pytree import mapped
from ..._tensor import Tensor
from ...optim.optimizer import Optimizer
from .. import collectives, objects
from ..algorithms.join import Join, Joinable, JoinHook
from ..groups import get_rank, get_world_size

__all__ = ["ZeroRedundancyOptimizer"]


class _JoinHook(JoinHook):
    """A rank without batches still steps its part of the parameters."""

    def __init__(self, optimizer):
        self._optimizer = optimizer

    def main_hook(self):
        self._optimizer.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An `optimizer_class(params, **defaults)` of which each rank keeps the state of its part of the parameters: it steps
    these, then all ranks send theirs to the others. Gradients must be the same everywhere, as DistributedDataParallel leaves
    them.

    The largest parameters are given out first, each to the rank that has least. `state_dict()` needs a
    `consolidate_state_dict(to)` before, which all ranks call; `load_state_dict` takes the whole on each of them.
    """

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False,
                 **defaults):
        if overlap_with_ddp:
            raise NotImplementedError("overlap_with_ddp: Taeda steps after the gradients of all buckets are there")
        self._groups_are_complete = False
        self.process_group = group = _dist.default_group() if process_group is None else process_group
        self.world_size, self.rank = get_world_size(group), get_rank(group)
        self._optim_constructor, self._optim_defaults = optimizer_class, defaults
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._all_state_dicts = []
        Joinable.__init__(self)
        params = self._checked(params)
        Optimizer.__init__(self, params, defaults)
        self._groups_are_complete = True
        self._divide()

    @staticmethod
    def _checked(params):
        """Tensors of one dtype, or dicts of groups. TypeError, ValueError for anything else."""
        if isinstance(params, Tensor):
            raise TypeError(f"`params` argument should be an iterable of Tensors, but got {params.type()}")
        params = list(params)
        if not params:
            raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
        groups = all(isinstance(p, dict) for p in params)
        if not groups and not all(isinstance(p, Tensor) for p in params):
            raise TypeError("`params` argument should be an iterable of Tensors or dicts")
        tensors = [t for group in params for t in list(group["params"])] if groups else params
        for tensor in tensors:
            if tensor.is_sparse:
                raise ValueError("ZeroRedundancyOptimizer only supports dense tensors")
        return params

    def _divide(self):
        """Gives parameters to ranks, and makes the optimizer of this one's."""
        elements, parts = [0] * self.world_size, [[] for _ in range(self.world_size)]
        for group in self.param_groups:
            owners, elements = _dist.give_out([p.numel() for p in group["params"]], elements)
            for rank, part in enumerate(parts):
                part.append({**group, "params": [p for p, owner in zip(group["params"], owners) if owner == rank]})
        self._parts = parts
        self.optim = self._optim_constructor([dict(group) for group in parts[self.rank]], **self._optim_defaults)
        for mine, group in zip(self.optim.param_groups, self.param_groups):  # defaults of the class
            group.update({key: value for key, value in mine.items() if key != "params" and key not in group})

    def add_param_group(self, param_group):
        """Adds a group; what state there is stays."""
        Optimizer.add_param_group(self, param_group)
        if self._groups_are_complete:
            before = self.optim.state
            self._divide()
            for group in self.optim.param_groups:
                for param in group["params"]:
                    if param in before:
                        self.optim.state[param] = before[param]

    @staticmethod
    def _copy_options(source, target):
        for one, other in zip(source, target):
            other.update({key: value for key, value in one.items() if key != "params"})

    @property
    def state(self):
        """The state of this rank's parameters."""
        return self.optim.state if self._groups_are_complete else self.__dict__.setdefault("_no_state", {})

    @state.setter
    def state(self, value):
        self.__dict__["_no_state"] = value

    def step(self, closure=None, **kwargs):
        """Steps this rank's parameters, and sends all to all. Gives what the closure gave."""
        Join.notify_join_context(self)
        self._copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        self._copy_options(self.optim.param_groups, self.param_groups)
        works = [collectives.broadcast(param.data, group=self.process_group, async_op=True, group_src=rank)
                 for rank, part in enumerate(self._parts) for group in part for param in group["params"]]
        for work in works:
            work.wait()
        return loss

    def _index_of(self):
        """The number of each parameter in a state dict."""
        params = [param for group in self.param_groups for param in group["params"]]
        return {id(param): i for i, param in enumerate(params)}

    def consolidate_state_dict(self, to=0):
        """Collects the state of all ranks on rank `to`, where state_dict() may be called then. All ranks call it."""
        everyone = [None] * self.world_size if self.rank == to else None
        objects.gather_object(_on_cpu(self.optim.state_dict()), everyone, group=self.process_group, group_dst=to)
        self._all_state_dicts = everyone or []

    def state_dict(self):
        """The state of all ranks, as the optimizer alone would have it."""
        if not self._all_state_dicts:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the "
                               "global state.")
        numbers, state, groups, first = self._index_of(), {}, [], 0
        for part, local in zip(self._parts, self._all_state_dicts):
            params = [param for group in part for param in group["params"]]
            state.update({numbers[id(params[i])]: value for i, value in local["state"].items()})
        for group in self.param_groups:
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": list(range(first, first + len(group["params"])))})
            first += len(group["params"])
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes this rank's part of the whole."""
        numbers = self._index_of()
        params = [param for group in self._parts[self.rank] for param in group["params"]]
        local = self.optim.state_dict()
        self._copy_options(state_dict["param_groups"], local["param_groups"])
        local["state"] = {i: copy.copy(state_dict["state"][numbers[id(param)]]) for i, param in enumerate(params)
                          if numbers[id(param)] in state_dict["state"]}
        self.optim.load_state_dict(local)
        self._copy_options(state_dict["param_groups"], self.param_groups)

    def join_hook(self, **kwargs):
        return _JoinHook(self)

    @property
    def join_device(self):
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self):
        return self.process_group


def _on_cpu(state):
    return mapped(lambda leaf: leaf.detach().cpu() if isinstance(leaf, Tensor) else leaf, state)
