"""torch._utils: what PyTorch's files and programs reach by this path, though it lives in other rooms."""

from . import _C
from ._core.failures import ExceptionWrapper  # noqa: F401
from ._operations.lists import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors  # noqa: F401
from ._tensors.parameter import _rebuild_parameter, _rebuild_parameter_with_state  # noqa: F401
from ._tensors.pickles import (  # noqa: F401
    _device, _generator, _named, _rebuild_meta_tensor_no_storage, _rebuild_sparse_tensor, _rebuild_tensor, _rebuild_tensor_v2,
    _rebuild_tensor_v3, _rebuild_with_state, _size)


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a device given as a torch.device, a text or a number; -1 for the CPU."""
    if device is None:
        return 0 if optional else -1
    if isinstance(device, int):
        return device
    device = _C.device(device)
    if device.type == "cpu":
        if allow_cpu:
            return -1
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    return device.index if device.index is not None else 0


def _element_size(dtype):
    return dtype.itemsize
