"""DistributedDataParallel: a process for each part of a batch; gradients are averaged while backward computes them."""

import contextlib

from ... import _C, distributed as dist
from ..._core.pytree import leaves_of, mapped
from ...autograd.modes import no_grad
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ..modules.module import Module
from .comm import device_of

_dist = _C._distributed


def _moved(arguments, device):
    """Nested arguments with their tensors on a device."""
    return mapped(lambda leaf: leaf.to(device) if isinstance(leaf, _C.TensorBase) else leaf, arguments)


class DistributedDataParallel(Module, Joinable):
    """Averages the gradients of a module's parameters over the processes of a group, in buckets, while backward goes on.

    Every process makes it of the same module, which gets rank 0's values, and calls it with batches of its own. Parameters
    must not change their number, sizes or device afterwards. Raises RuntimeError where ranks have different modules.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, delay_all_reduce_named_params=None,
                 param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None, skip_all_reduce_unused_params=False):
        super().__init__()
        Joinable.__init__(self)
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if mixed_precision is not None or delay_all_reduce_named_params is not None:
            raise NotImplementedError("DistributedDataParallel: mixed_precision and delay_all_reduce_named_params are not "
                                      "there; use torch.autocast")
        if bucket_cap_mb is not None and bucket_cap_mb <= 0:
            raise ValueError(f"DistributedDataParallel: expected a positive bucket_cap_mb, got {bucket_cap_mb}")
        self.module = module
        group = device_mesh.get_group() if device_mesh is not None else process_group
        self.__dict__["process_group"] = _dist.default_group() if group is None else group
        self.dim, self.broadcast_buffers, self.bucket_cap_mb = dim, broadcast_buffers, bucket_cap_mb
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._set_devices(device_ids, output_device)
        if init_sync:
            self._check_same_module()
            _dist.broadcast_values(list(self._values()), 0, self.process_group)
        self._make_reducer()

    def _set_devices(self, device_ids, output_device):
        params = list(self._parameters_of_module())
        places = {p.device for _, p in params}
        kinds = {p.type for p in places}
        if len(kinds) != 1:
            raise ValueError("DistributedDataParallel's input module must be on the same type of devices, but input module "
                             f"parameters locate in {kinds}.")
        self.device_type = kinds.pop()
        self.device = next(iter(places))
        self.is_multi_device_module = len(places) > 1
        self.device_ids = self.output_device = None
        if not device_ids:
            return
        if len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        ids = [device_of(d, self.device_type) if self.device_type != "cpu" else d for d in device_ids]
        if self.device_type == "cpu" or self.is_multi_device_module or ids[0] != self.device:
            raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with "
                             f"single-device/multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, "
                             f"output_device {output_device}, and module parameters {places}.")
        self.device_ids = [ids[0].index]
        self.output_device = ids[0].index if output_device is None else device_of(output_device, self.device_type).index

    # What is exchanged

    def _ignored(self):
        return set(getattr(self.module, "_ddp_params_and_buffers_to_ignore", ()))

    def _parameters_of_module(self):
        """Those that want gradients, by name."""
        ignored = self._ignored()
        out = [(n, p) for n, p in self.module.named_parameters() if p.requires_grad and n not in ignored]
        if not out:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
                               "gradient.")
        return out

    def _buffers_of_module(self):
        ignored = self._ignored()
        return [b for n, b in self.module.named_buffers() if n not in ignored]

    def _values(self):
        ignored = self._ignored()
        yield from (p.detach() for n, p in self.module.named_parameters() if n not in ignored)
        yield from self._buffers_of_module()

    def _check_same_module(self):
        """All ranks raise unless they have the same parameters and buffers."""
        mine = [f"parameter '{n}' {p.dtype} {list(p.shape)}{'' if p.requires_grad else ' without gradient'}"
                for n, p in self.module.named_parameters()]
        mine += [f"buffer '{n}' {b.dtype} {list(b.shape)}" for n, b in self.module.named_buffers()]
        everyone = [None] * self.process_group.size()
        dist.all_gather_object(everyone, mine, self.process_group)
        for rank, theirs in enumerate(everyone):
            for i in range(max(len(theirs), len(everyone[0]))):
                a, b = ([*lines, *["none more"] * (i + 1)][i] for lines in (everyone[0], theirs))
                if a != b:
                    raise RuntimeError("DistributedDataParallel expects the same model on all processes, but rank 0 has "
                                       f"{a}, rank {rank} has {b}")

    def _make_reducer(self):
        named = [(n, p) for n, p in self._parameters_of_module()]
        self.__dict__["reducer"] = _dist.Reducer(named, self.process_group, self.bucket_cap_mb, self.find_unused_parameters,
                                                 self.static_graph, self.gradient_as_bucket_view)
        self.__dict__["_has_comm_hook"] = False

    def _set_static_graph(self):
        """As the argument static_graph; before the first pass."""
        if not self.static_graph:
            self.static_graph = True
            self._make_reducer()

    # Calls

    def forward(self, *inputs, **kwargs):
        with contextlib.ExitStack() as stack:
            self._before_forward()
            if self.device_ids:
                inputs, kwargs = _moved(inputs, self.device), _moved(kwargs, self.device)
                stack.enter_context(_Current(self.device))
            output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = self._synchronizes()
        if _C.is_grad_enabled():
            found = []
            if self.find_unused_parameters or self.static_graph:
                found = [leaf for leaf in leaves_of(output) if isinstance(leaf, _C.TensorBase)]
            self.reducer.after_forward(found, self.require_backward_grad_sync)
        return output

    def _synchronizes(self):
        return _C.is_grad_enabled() and self.require_backward_grad_sync

    def _sends_buffers(self):
        """The last pass that was exchanged may have changed them."""
        return (self.broadcast_buffers and self.require_forward_param_sync and self.process_group.size() > 1
                and bool(self._buffers_of_module()))

    def _before_forward(self):
        sends, synchronizes = self._sends_buffers(), self._synchronizes()
        root = 0
        if self._join_config.enable and (sends or synchronizes):
            Join.notify_join_context(self)
            root = self._take_turn(sends, synchronizes)[0]
        if sends:
            with no_grad():
                _dist.broadcast_values(self._buffers_of_module(), root, self.process_group)

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of passes whose forward is in the block are accumulated, and travel with those of the next pass."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state, hook):
        """Has buckets exchanged by `hook(state, bucket)`, which gives a torch.futures.Future of one tensor."""
        from ...distributed.algorithms.ddp_comm_hooks import powerSGD_hook
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._has_comm_hook:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.__dict__["_has_comm_hook"] = True
        if hook is powerSGD_hook.powerSGD_hook:
            self.reducer.set_power_sgd(state._state)
        else:
            self.reducer.set_comm_hook(lambda bucket: hook(state, bucket))

    # Batches of different number

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """A block in which ranks may have different numbers of batches."""
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, divide_by_initial_world_size=True, **kwargs):
        return _DDPJoinHook(self, divide_by_initial_world_size)

    @property
    def join_device(self):
        return self.device if self.process_group.name() == "nccl" else _C.device("cpu")

    @property
    def join_process_group(self):
        return self.process_group

    def _take_turn(self, sends, synchronizes, active=True):
        """(the last rank that has a batch, whether buffers are sent, whether gradients are) of this turn."""
        mine = _C.full((1,), 1 + 2 * sends + 4 * synchronizes if active else 0, dtype=_C.int64, device=self.join_device)
        words = _C.empty(self.process_group.size(), dtype=_C.int64, device=self.join_device)
        dist.all_gather_into_tensor(words, mine, self.process_group)
        said = words.tolist()
        ranks = [r for r, word in enumerate(said) if word]
        if not self._join_config.divide_by_initial_world_size:
            self.reducer.set_divisor(max(len(ranks), 1))
        word = said[ranks[-1]] if ranks else 0
        return (ranks[-1] if ranks else -1), bool(word & 2), bool(word & 4)

    # Copies and pickles: of what it was made of

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("process_group", "reducer", "device")}

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__["process_group"] = _dist.default_group()
        self.device = self._parameters_of_module()[0][1].device
        self._make_reducer()


class _Current:
    """Makes a device current for a block."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.before = _C._device.current_device(self.device.type)
        _C._device.set_device(self.device)

    def __exit__(self, *error):
        _C._device.set_device(_C.device(self.device.type, self.before))


class _DDPJoinHook(JoinHook):
    """What a rank without batches does for the others' passes: its gradients count as zero."""

    def __init__(self, ddp, divide_by_initial_world_size):
        self.ddp = ddp
        ddp._join_config.divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self):
        ddp = self.ddp
        root, sends, synchronizes = ddp._take_turn(False, False, active=False)
        if sends:
            _dist.broadcast_values(ddp._buffers_of_module(), root, ddp.process_group)
        ddp.require_forward_param_sync = synchronizes
        if synchronizes:
            ddp.reducer.take_part_without_gradients()

    def post_hook(self, is_last_joiner):
        """All ranks get the values of one that was among the last."""
        ddp = self.ddp
        root = _C.full((1,), dist.get_rank(ddp.process_group) if is_last_joiner else -1, dtype=_C.int64,
                       device=ddp.join_device)
        dist.all_reduce(root, dist.ReduceOp.MAX, ddp.process_group)
        _dist.broadcast_values(list(ddp._values()), int(root), ddp.process_group)
        ddp.reducer.set_divisor(ddp.process_group.size())
        ddp._join_config.divide_by_initial_world_size = True
