"""How tensors are taken apart for pickles and put together again, by the names that PyTorch's files have."""

import collections
import copyreg

from .. import _C, storage
from ..storage import TypedStorage, is_untyped


def reduce_tensor(tensor, in_file=False):
    """What Tensor.__reduce_ex__ gives: the storage, where in it the elements are, and what the program set on the tensor."""
    state = state_of(tensor)
    function, arguments = _reduce_plain(tensor)
    if type(tensor) is storage.Tensor and not state:
        return function, arguments
    if type(tensor) is storage.Tensor and not in_file:  # whose name leads to nothing where no module is called torch
        return _rebuild_with_state, (function, arguments, state)
    return _rebuild_from_type_v2, (function, type(tensor), arguments, state)


def _rebuild_with_state(function, arguments, state):
    made = function(*arguments)
    made.__dict__.update(state)
    return made


def _rebuild_from_type_v2(function, kind, arguments, state):
    """A tensor of a class of the program's own, or one on which it set attributes, out of a file."""
    made = function(*arguments)
    if not issubclass(kind, _C.TensorBase):
        raise TypeError(f"a tensor cannot become a {kind}")
    if type(made) is not kind:
        made = _C._make_subclass(kind, made.detach(), made.requires_grad)
    made.__dict__.update(state if isinstance(state, dict) else state[0] or {})
    return made


def state_of(tensor):
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

for _function in (_rebuild_with_state, _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_meta_tensor_no_storage,
                  _rebuild_sparse_tensor, _named, _device, _size, _generator):
    _function.__module__ = "taeda._utils"
_rebuild_from_type_v2.__module__ = "taeda._tensor"
