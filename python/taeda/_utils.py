"""How tensors are taken apart for pickles and put together again, by the names that PyTorch's files have."""

import collections
import sys
import types
import copyreg

from . import _C
from ._missing import speak_of_missing
from .storage import TypedStorage, is_untyped


def reduce_tensor(tensor, in_file=False):
    """What Tensor.__reduce_ex__ gives: the storage, where in it the elements are, and what the program set on the tensor."""
    from ._tensor import Tensor, _rebuild_from_type_v2
    state = _state_of(tensor)
    function, arguments = _reduce_plain(tensor)
    if type(tensor) is Tensor and not state:
        return function, arguments
    if type(tensor) is Tensor and not in_file:  # whose name leads to nothing where no module is called torch
        return _rebuild_with_state, (function, arguments, state)
    return _rebuild_from_type_v2, (function, type(tensor), arguments, state)


def _rebuild_with_state(function, arguments, state):
    made = function(*arguments)
    made.__dict__.update(state)
    return made


def reduce_parameter(parameter):
    """What Parameter.__reduce_ex__ gives."""
    state = _state_of(parameter)
    arguments = parameter.data, parameter.requires_grad, collections.OrderedDict()
    return (_rebuild_parameter_with_state, (*arguments, state)) if state else (_rebuild_parameter, arguments)


def _state_of(tensor):
    """What the program set on a tensor; hooks are no part of it."""
    return {name: value for name, value in tensor.__dict__.items() if name != "_post_accumulate_grad_hooks"}


def _reduce_plain(tensor):
    if tensor.is_sparse:
        return _rebuild_sparse_tensor, (tensor.layout, (tensor._indices(), tensor._values(), tensor.size(),
                                                        tensor.is_coalesced()))
    if tensor.is_sparse_csr:
        return _rebuild_sparse_tensor, (tensor.layout, (tensor.crow_indices(), tensor.col_indices(), tensor.detach().values(),
                                                        tensor.size()))
    if tensor.is_meta:
        return _rebuild_meta_tensor_no_storage, (tensor.dtype, tensor.size(), tensor.stride(), tensor.requires_grad)
    if not tensor.is_leaf:
        tensor = tensor.detach().requires_grad_(tensor.requires_grad)
    parts = (TypedStorage._of(tensor), tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad,
             collections.OrderedDict())
    if is_untyped(tensor.dtype):
        return _rebuild_tensor_v3, (*parts, tensor.dtype)
    return _rebuild_tensor_v2, parts


def _rebuild_tensor(storage, storage_offset, size, stride):
    return storage._flat().as_strided(tuple(size), tuple(stride), storage_offset)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    tensor = storage._flat().view(dtype).as_strided(tuple(size), tuple(stride), storage_offset)
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """A tensor without data, of which nothing is allocated."""
    return _C.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    made = _rebuild_parameter(data, requires_grad, backward_hooks)
    for name, value in (state if isinstance(state, dict) else state[0] or {}).items():
        setattr(made, name, value)
    return made


def _rebuild_sparse_tensor(layout, data):
    if layout is _C.sparse_csr:
        return _C.sparse_csr_tensor(*data)
    indices, values, size, *coalesced = data
    return _C.sparse_coo_tensor(indices, values, size, is_coalesced=bool(coalesced and coalesced[0]))


def _named(name):
    return getattr(_C, name)


def _device(text):
    return _C.device(text)


def _size(sizes):
    return _C.Size(sizes)


def _generator(device, state):
    made = _C.Generator(device)
    made.set_state(state)
    return made


# They say that they are torch's, which a process need not know by that name.
for _kind in (_C.dtype, _C.layout, _C.memory_format):
    copyreg.pickle(_kind, lambda value: (_named, (value.__reduce__(),)))
copyreg.pickle(_C.Size, lambda value: (_size, (tuple(value),)))
copyreg.pickle(_C.Generator, lambda value: (_generator, (value.device, value.get_state())))
copyreg.pickle(_C.device, lambda value: (_device, (str(value),)))


def _flatten_dense_tensors(tensors):
    """The numbers of several tensors in one, one tensor after the other."""
    return _C.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of what _flatten_dense_tensors made, with the sizes of some tensors."""
    return tuple(part.view(like.shape) for part, like in zip(flat.split([t.numel() for t in tensors]), tensors))


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type each, of at most `size_limit` bytes unless one is larger."""
    waiting = {}
    for tensor in tensors:
        held = waiting.setdefault(tensor.type(), [])
        if held and sum(t.numel() * t.element_size() for t in held) + tensor.numel() * tensor.element_size() > size_limit:
            yield held
            held = waiting[tensor.type()] = []
        held.append(tensor)
    yield from (held for held in waiting.values() if held)


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


def _get_available_device_type():
    """The type of the accelerator, None where there is none."""
    from .accelerator import current_accelerator
    found = current_accelerator()
    return found and found.type


def _get_device_module(device_type):
    """torch.cuda for "cuda", and so on."""
    from .settings import get_device_module
    return get_device_module(device_type)


def _element_size(dtype):
    return dtype.itemsize


class ExceptionWrapper:
    """An exception of a worker, with the worker's traceback in its text, to be raised elsewhere."""

    def __init__(self, exc_info=None, where="in background"):
        import sys
        import traceback
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = _Multiline(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        try:
            raise error
        finally:
            del error  # this frame, which the traceback holds, would hold the error, and whatever the frames before it have


class _Multiline(str):
    """KeyError shows its argument's repr."""

    def __repr__(self):
        return self


def modules_of_classes(package, names):
    """Gives classes of a package the modules that PyTorch has them in, for programs that import torch.optim.adam.Adam."""
    for file, classes in names.items():
        made = types.ModuleType(f"{package.__name__}.{file}", f"What torch.{package.__name__[6:]}.{file} gives.")
        vars(made).update({name: getattr(package, name) for name in classes.split()})
        speak_of_missing(made)
        sys.modules[made.__name__] = made
        setattr(package, file, made)
