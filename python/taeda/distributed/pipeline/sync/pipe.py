"""Pipe: a Sequential spread over devices that work on parts of a batch at the same time."""

from .... import _C
from ...._tensor import Tensor
from ....nn.modules.container import Sequential
from ....nn.modules.module import Module
from ....utils.checkpoint import checkpoint

_parallel = _C._parallel


class NoChunk:
    """A tensor that every part of a batch gets whole."""

    def __init__(self, inp):
        if not isinstance(inp, _C.TensorBase):
            raise TypeError(f"NoChunk only supported for tensors, found: {inp}")
        self._tensor = inp

    @property
    def tensor(self):
        return self._tensor


class WithDevice(Module):
    """Names the device of a module in a Pipe, which moves it there."""

    def __init__(self, module, device):
        super().__init__()
        self._module, self._device = module, _C.device(device)

    def forward(self, *args, **kwargs):
        return self._module(*args, **kwargs)

    @property
    def module(self):
        return self._module

    @property
    def device(self):
        return self._device


class PipeSequential(Sequential):
    """A Sequential whose modules pass several values on."""

    def forward(self, *inputs):
        for module in self:
            inputs = module(*inputs) if isinstance(inputs, tuple) else module(inputs)
        return inputs


class PipeOutput(Tensor):
    """What a Pipe returns: the tensor and, as in PyTorch, a reference to it at once."""

    def local_value(self):
        return self

    def to_here(self, timeout=-1.0):
        return self


def _device_of_module(module):
    """The one device of a module's tensors; None for a module without."""
    if isinstance(module, WithDevice):
        return module.device
    device = None
    for t in list(module.parameters()) + list(module.buffers()):
        if device is not None and t.device != device:
            raise ValueError(f"nn.Module: {module}, should have all parameters on a single device, please use .to() to place "
                             "the module on a single device")
        device = t.device
    return device


def _stages(module):
    """[(device, [modules])]: neighbours on one device are a stage; what has no tensors belongs to what is before it."""
    stages = []
    for child in module:
        device = _device_of_module(child)
        if isinstance(child, WithDevice):
            child.to(device)
        if stages and (device is None or device == stages[-1][0]):
            stages[-1][1].append(child)
        else:
            stages.append((_C.device("cpu") if device is None else device, [child]))
    return stages


def _check_children(module):
    children = list(module)
    if len(set(map(id, children))) != len(children):
        raise ValueError("module with duplicate children is not supported")


def _check_parameters(stages):
    places = {}
    for device, modules in stages:
        for module in modules:
            for p in module.parameters():
                if places.setdefault(id(p), device) != device:
                    raise ValueError("module with duplicate parameters on distinct devices is not supported")


class Pipe(Module):
    """Cuts batches along their first dimension into `chunks` parts, which stages pass on: while the second works on the first
    part, the first works on the second. Work of stages on the CPU is not overlapped.

    `checkpoint`, "always", "except_last" or "never", says for which parts activations are computed again in backward. The
    input is on the first stage's device, the output on the last one's. Batch norm normalises each part by itself.
    """

    def __init__(self, module, chunks=1, checkpoint="except_last", deferred_batch_norm=False):
        super().__init__()
        if not isinstance(module, Sequential):
            raise TypeError("module must be nn.Sequential to be partitioned")
        if not isinstance(chunks, int) or isinstance(chunks, bool):
            raise TypeError("chunks must be int")
        if chunks <= 0:
            raise ValueError("number of chunks must be positive integer")
        if checkpoint not in ("always", "except_last", "never"):
            raise ValueError("checkpoint is not one of 'always', 'except_last', or 'never'")
        if deferred_batch_norm:
            raise NotImplementedError("Pipe: deferred_batch_norm is not there; batch norm counts every part by itself")
        _check_children(module)
        self.chunks, self.checkpoint = chunks, checkpoint
        stages = _stages(module)
        _check_parameters(stages)
        self.partitions = _modules_of(stages)
        self.devices = [device for device, _ in stages]
        self.balance = [len(modules) for _, modules in stages]
        self.__dict__["_ways"] = [_parallel.Way(a, b) for a, b in zip(self.devices, self.devices[1:])]

    def __len__(self):
        return sum(self.balance)

    def __getitem__(self, index):
        return [m for stage in self.partitions for m in stage][index]

    def __iter__(self):
        for stage in self.partitions:
            yield from stage

    def _no_moving(self, *args, **kwargs):
        raise TypeError("denied to move parameters and buffers, because Pipe should manage device placement")

    cuda = cpu = _no_moving

    def to(self, *args, **kwargs):
        if "device" in kwargs or any(isinstance(a, (str, int, _C.device, _C.TensorBase)) for a in args):
            self._no_moving()
        return super().to(*args, **kwargs)

    def forward(self, *inputs):
        if not self.partitions:
            return inputs[0] if len(inputs) == 1 else inputs
        parts = self._parts(inputs)
        recomputed = {"always": len(parts), "except_last": len(parts) - 1, "never": 0}[self.checkpoint]
        recomputed = recomputed if self.training and _C.is_grad_enabled() else 0
        # The order of queueing is the order in which devices can work, and backward its reverse.
        for stage, part in _parallel.forward_order(len(self.partitions), len(parts)):
            parts[part] = self._run(stage, parts[part], part < recomputed)
        out = _together(parts)
        if type(out) is Tensor:
            out.__class__ = PipeOutput
        return out

    def _parts(self, inputs):
        """The arguments of each part."""
        first, chunked = self.devices[0], []
        for value in inputs:
            tensor = value.tensor if isinstance(value, NoChunk) else value
            if isinstance(tensor, _C.TensorBase) and tensor.device != first:
                raise ValueError("All inputs should be on the same device as the first partition")
            if tensor is value and isinstance(value, _C.TensorBase):
                chunked.append(value.chunk(self.chunks))
        if not chunked:
            raise TypeError(f"expected Tensor or Tuple, but got {inputs}")
        count = len(chunked[0])
        if any(len(c) != count for c in chunked):
            raise RuntimeError(f"Found different number of chunks produced for inputs: {[len(c) for c in chunked]}")
        rows, chunks = [], iter(chunked)
        for value in inputs:
            if isinstance(value, NoChunk):
                rows.append([value.tensor] * count)
            else:
                rows.append(next(chunks) if isinstance(value, _C.TensorBase) else [value] * count)
        return [tuple(part) for part in zip(*rows)]

    def _run(self, stage, values, again):
        if stage > 0:
            values = self._carry(stage, values)
        modules, device = self.partitions[stage], self.devices[stage]

        def call(*given):
            for module in modules:
                given = module(*given) if isinstance(given, tuple) else module(given)
            return given
        before = None
        if device.type != "cpu":
            before = _C._device.current_device(device.type)
            _C._device.set_device(device)
        try:
            if not again:
                return call(*values)
            return checkpoint(call, *values, use_reentrant=False)
        finally:
            if before is not None:
                _C._device.set_device(_C.device(device.type, before))

    def _carry(self, stage, values):
        """To the stage's device, behind what the one before it has queued."""
        values = values if isinstance(values, tuple) else (values,)
        sent = iter(self._ways[stage - 1].carry([v for v in values if isinstance(v, _C.TensorBase)]))
        return tuple(next(sent) if isinstance(v, _C.TensorBase) else v for v in values)


def _modules_of(stages):
    from ....nn.modules.container import ModuleList
    return ModuleList(PipeSequential(*modules) for _, modules in stages)


def _together(parts):
    if isinstance(parts[0], _C.TensorBase):
        return _C.cat(list(parts))
    out = tuple(_C.cat(list(row)) if isinstance(row[0], _C.TensorBase) else row[0] for row in zip(*parts))
    return out[0] if len(out) == 1 else out
