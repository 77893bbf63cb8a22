"""Python's objects between processes, as pickles.

Unpickling runs what the pickle says: a group is made of processes that have proved to be of the same job (docs/distributed.md),
and of no others.
"""

import pickle

from .. import _C
from .._operations.create import tensor
from .._operations.memory import frombuffer
from .collectives import _left_out, _root, recv as _recv, send as _send
from .groups import get_rank, get_world_size

_dist = _C._distributed


def all_gather_object(object_list, obj, group=None):
    """`object_list[r]` becomes the object of rank r, which is pickled: take part with processes alone that are trusted. There
    are no shapes.

    >>> objects = [None]
    >>> torch.distributed.all_gather_object(objects, {"a": 1})
    >>> objects
    [{'a': 1}]
    """
    if _left_out(group, "all_gather_object"):
        return
    pickled = pickle.dumps(obj)
    for i, text in enumerate(_dist.all_gather_bytes(pickled, group)):
        object_list[i] = pickle.loads(text)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """On rank `dst` (0 unless given) `object_gather_list[r]` becomes the object of rank r, which is pickled. There are no
    shapes.

    >>> objects = [None]
    >>> torch.distributed.gather_object("a", objects)
    >>> objects
    ['a']
    """
    if _left_out(group, "gather_object"):
        return
    root = _root(dst, group_dst, group, "dst", 0)
    if get_rank() == root and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if get_rank() != root and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    for i, text in enumerate(_dist.gather_bytes(pickle.dumps(obj), root, group)):
        object_gather_list[i] = pickle.loads(text)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """`object_list`, of one length everywhere, becomes that of rank `src`, whose objects are pickled. There are no shapes.

    >>> objects = ["a", 1]
    >>> torch.distributed.broadcast_object_list(objects, src=0)
    >>> objects
    ['a', 1]
    """
    if _left_out(group, "broadcast_object_list"):
        return
    root = _root(src, group_src, group, "src", 0)
    mine = get_rank() == root
    texts = [pickle.dumps(o) if mine else b"" for o in object_list]
    received = _dist.broadcast_bytes(texts, root, group)
    if not mine:
        object_list[:] = [pickle.loads(text) for text in received]


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    """The first of the output list becomes what rank `src`, 0 by default, has for this rank in its input list. The arguments
    are lists of objects that can be pickled.

    >>> mine = [None]
    >>> torch.distributed.scatter_object_list(mine, [{"lr": 0.1}])
    >>> mine
    [{'lr': 0.1}]
    """
    if _left_out(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = _root(src, group_src, group, "src", 0)
    mine = get_rank() == root
    if mine and len(scatter_object_input_list or []) != get_world_size(group):
        raise ValueError(f"scatter_object_list: expected an object for each of {get_world_size(group)} ranks, got "
                         f"{len(scatter_object_input_list or [])}")
    texts = [pickle.dumps(o) for o in scatter_object_input_list] if mine else []
    scatter_object_output_list[0] = pickle.loads(_dist.scatter_bytes(texts, root, group))


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None):
    """Sends objects to a rank, which calls recv_object_list with a list as long. The argument is a list of objects that can be
    pickled.
    """
    texts = [pickle.dumps(o) for o in object_list]
    _send(tensor([len(t) for t in texts], dtype=_C.int64), dst, group, group_dst=group_dst)
    joined = bytearray(b"".join(texts))
    _send(frombuffer(joined, dtype=_C.uint8), dst, group, group_dst=group_dst)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Receives objects in place of those in the list; returns the rank that sent them. The argument is a list as long as the
    sender's.
    """
    sizes = _C.zeros(len(object_list), dtype=_C.int64)
    rank = _recv(sizes, src, group, group_src=group_src)
    body = _C.empty(int(sizes.sum()), dtype=_C.uint8)
    _recv(body, rank, group)
    text, start = bytes(body.numpy()), 0
    for i, size in enumerate(sizes.tolist()):
        object_list[i] = pickle.loads(text[start:start + size])
        start += size
    return rank
