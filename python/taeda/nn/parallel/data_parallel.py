"""DataParallel: one process, a replica of the module on each device, and a part of the batch for each."""


from ... import _C
from ..modules.module import Module
from .comm import accelerator, device_of
from .parallel_apply import parallel_apply
from .replicate import Replicator
from .scatter_gather import gather, scatter_kwargs
from ..._core.warnings import warn


def _all_devices(module):
    """The devices of the module's kind; of the accelerator for one on the CPU."""
    kinds = {t.device.type for t in module.parameters()} - {"cpu"}
    kind = kinds.pop() if kinds else accelerator()
    return [_C.device(kind, i) for i in range(_C._device.device_count(kind))]


def _warn_of_imbalance(devices):
    properties = [_C._device.get_device_properties(d.type, d.index) for d in devices]
    for key in ("total_memory", "multi_processor_count"):
        values = [p[key] for p in properties]
        if min(values) < 0.75 * max(values):
            least, most = devices[values.index(min(values))], devices[values.index(max(values))]
            warn(f"There is an imbalance between your GPUs. You may want to exclude GPU {least.index} which has less "
                 f"than 75% of the memory or cores of GPU {most.index}. You can do so by setting the device_ids "
                 "argument to DataParallel, or by setting the CUDA_VISIBLE_DEVICES environment variable.")
            return


class DataParallel(Module):
    """Splits a batch along `dim` over `device_ids` (by default all), runs replicas of `module` side by side, and puts the
    results together on `output_device`, by default the first device, where the module must be.

    What replicas change of themselves is lost, but for what they change in place of the first device's buffers.

    Shapes: those of the module, with the batch at `dim`. Without devices the module runs as it is.

    >>> nn.DataParallel(nn.Linear(2, 3))(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        devices = _all_devices(module) if device_ids is None else [device_of(d) for d in device_ids]
        self.dim = dim
        self.module = module
        # Without devices of that kind the module runs as it is, whatever numbers were given.
        if not devices or devices[0].type == "cpu" or not _C._device.is_available(devices[0].type):
            self.device_ids = []
            return
        output = devices[0] if output_device is None else device_of(output_device, devices[0].type)
        self.device_ids = [d.index for d in devices]
        self.output_device = output.index if output.type != "cpu" else -1
        self.src_device_obj = devices[0]
        self.__dict__["_devices"], self.__dict__["_replicator"] = devices, None
        _warn_of_imbalance(devices)
        if len(devices) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        self._check_places()
        inputs, kwargs = self.scatter(inputs, kwargs, self.device_ids)
        if not inputs and not kwargs:
            inputs, kwargs = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **kwargs[0])
        replicas = self.replicate(self.module, self.device_ids[:len(inputs)])
        outputs = self.parallel_apply(replicas, inputs, kwargs)
        return self.gather(outputs, self.output_device)

    def _check_places(self):
        for values in (self.module.parameters(), self.module.buffers()):
            for t in values:
                if t.device != self.src_device_obj:
                    raise RuntimeError(f"module must have its parameters and buffers on device {self.src_device_obj} "
                                       f"(device_ids[0]) but found one of them on device: {t.device}")

    def replicate(self, module, device_ids):
        if self.__dict__.get("_replicator") is None:
            self.__dict__["_replicator"] = Replicator(self._devices)
        return self._replicator(module, len(device_ids), not _C.is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        return scatter_kwargs(inputs, kwargs, [_C.device(self.src_device_obj.type, i) for i in device_ids], dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        return parallel_apply(replicas, inputs, kwargs, self._devices[:len(replicas)])

    def gather(self, outputs, output_device):
        place = _C.device("cpu") if output_device == -1 else _C.device(self.src_device_obj.type, output_device)
        return gather(outputs, place, dim=self.dim)

    def __getstate__(self):
        state = {**self.__dict__, "_replicator": None}
        if self.device_ids:
            state.update(_devices=[str(d) for d in self._devices], src_device_obj=str(self.src_device_obj))
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if self.device_ids:
            self.__dict__["_devices"] = [_C.device(d) for d in state["_devices"]]
            self.src_device_obj = self._devices[0]


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Runs a module on several devices once."""
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return DataParallel(module, device_ids, output_device, dim).train(module.training)(*inputs, **(module_kwargs or {}))
