"""How tensors travel through queues, pipes and to new processes."""

import os
from multiprocessing import context, reduction

from .. import _C
from .._tensor import Tensor
from .._tensors.parameter import Parameter
from .kept import KeptFd


def _rebuild_tensor(is_parameter, handle, place, nbytes, dtype, size, stride, offset, requires_grad, attributes):
    fd = handle.detach()
    try:
        memory = _C._share_map(fd, place + nbytes, True)
    finally:
        os.close(fd)
    tensor = memory.view(dtype).as_strided(size, stride, place // dtype.itemsize + offset).detach()
    made = Parameter(tensor, requires_grad) if is_parameter else tensor.requires_grad_(requires_grad)
    made.__dict__.update(attributes)
    return made


def reduce_tensor(tensor):
    """What a pickle between processes holds of a tensor: the descriptor of its memory, and where in it the elements are."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
                           "support crossing process boundaries.  If you just want to transfer the data, call detach() on "
                           "the tensor before serializing (e.g., putting it on the queue).")
    if tensor.layout is not _C.strided or tensor.device.type != "cpu":
        return tensor.__reduce_ex__(2)
    _C._share(tensor)
    place = _C._share_place(tensor)
    if place is None:  # memory that a loader's worker sent, which has no descriptor any more
        return reduce_tensor(tensor.detach().clone().requires_grad_(tensor.requires_grad))
    attributes = {name: value for name, value in tensor.__dict__.items() if not name.startswith("_")}
    # For a process that is being started descriptors go with it; Note [Kept descriptors] tells of others.
    handle = reduction.DupFd(place[0]) if context.get_spawning_popen() is not None else KeptFd(place[0])
    memory = (handle, place[1], tensor._storage_nbytes(), tensor.dtype)
    elements = (tuple(tensor.size()), tensor.stride(), tensor.storage_offset(), tensor.requires_grad, attributes)
    return _rebuild_tensor, (type(tensor) is Parameter, *memory, *elements)


def _named(name):
    return getattr(_C, name)


def _reduce_named(value):
    return _named, (str(value).removeprefix("torch."),)


def _device(name):
    return _C.device(name)


def _size(values):
    return _C.Size(values)


def init_reductions():
    """Tells multiprocessing's pickles about tensors, and about what else has a name in torch: it may have none here."""
    for kind in (Tensor, Parameter):
        reduction.ForkingPickler.register(kind, reduce_tensor)
    for kind in (_C.dtype, _C.layout, _C.memory_format):
        reduction.ForkingPickler.register(kind, _reduce_named)
    reduction.ForkingPickler.register(_C.device, lambda device: (_device, (str(device),)))
    reduction.ForkingPickler.register(_C.Size, lambda size: (_size, (tuple(size),)))
