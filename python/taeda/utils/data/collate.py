"""Examples of any structure into one batch."""

import collections.abc
import copy

from ... import _C
from ..._operations.create import as_tensor

_NO_BATCH = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_numpy(value):
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def _is_numbers(array):
    return array.dtype.kind not in "SUOa"


def _same_kind(original, items):
    """A mapping or sequence like the original with other items, or a plain one where its class cannot be made so."""
    try:
        if isinstance(original, collections.abc.MutableMapping):
            made = copy.copy(original)  # keeps what a class of its own has beside items, as a default_factory
            made.update(items)
            return made
        if isinstance(original, collections.abc.MutableSequence):
            made = copy.copy(original)
            for i, item in enumerate(items):
                made[i] = item
            return made
        return type(original)(items)
    except TypeError:
        return items


def default_convert(data):
    """NumPy's arrays and numbers become tensors, whatever containers they are in; everything else stays.

    Shapes: those of the arrays; numbers are scalars.

    >>> import numpy
    >>> torch.utils.data.default_convert({"a": numpy.array([1, 2])})
    {'a': tensor([1, 2])}
    """
    if isinstance(data, _C.TensorBase):
        return data
    if _is_numpy(data):
        return as_tensor(data) if _is_numbers(data) else data
    if isinstance(data, collections.abc.Mapping):
        return _same_kind(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _same_kind(data, [default_convert(value) for value in data])
    return data


def _transposed(batch):
    """The parts of equally long sequences, each part over the whole batch."""
    size = len(batch[0])
    if any(len(example) != size for example in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    return zip(*batch)


def _collate_numpy(batch, first, table):
    if not _is_numbers(first):
        raise TypeError(_NO_BATCH.format(first.dtype))
    if getattr(first, "ndim", 0) == 0 and type(first).__name__ != "ndarray":
        return as_tensor([value.item() for value in batch], dtype=as_tensor(first).dtype)
    return collate([as_tensor(array) for array in batch], collate_fn_map=table)


# What programs register for classes of their own: {class: function(batch, *, collate_fn_map)}.
default_collate_fn_map = {}


def collate(batch, *, collate_fn_map=None):
    """default_collate with functions of one's own for classes: {class or tuple of classes: function(batch)}."""
    first = batch[0]
    kind = type(first)
    for classes, function in (collate_fn_map or {}).items():
        if kind is classes or isinstance(first, classes):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, _C.TensorBase):
        return _C.stack(list(batch), 0)
    if _is_numpy(first):
        return _collate_numpy(batch, first, collate_fn_map)
    if isinstance(first, float):
        return _C._tensor_from(list(batch), _C.float64, None)
    if isinstance(first, int):
        return _C._tensor_from(list(batch), None, None)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return _same_kind(first, {key: collate([example[key] for example in batch], collate_fn_map=collate_fn_map)
                                  for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        parts = [collate(part, collate_fn_map=collate_fn_map) for part in _transposed(batch)]
        return parts if isinstance(first, tuple) else _same_kind(first, parts)
    raise TypeError(_NO_BATCH.format(kind))


def default_collate(batch):
    """A batch of examples: tensors, arrays and numbers get a new first dimension, texts stay a list, dicts, tuples and lists
    are batched part by part.

    Shapes: n examples [*] to [n, *]; others, and other types, are an error (RuntimeError, TypeError).

    >>> torch.utils.data.default_collate([(1, torch.zeros(2)), (3, torch.ones(2))])
    [tensor([1, 3]), tensor([[0., 0.],
            [1., 1.]])]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
