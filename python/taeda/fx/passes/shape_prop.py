"""Shapes and dtypes of all values of a graph."""

import typing

from ... import _C
from ..._tensor import Tensor
from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["TensorMetadata", "ShapeProp"]


class TensorMetadata(typing.NamedTuple):
    """What is known of a tensor without its elements."""

    shape: typing.Any
    dtype: typing.Any
    requires_grad: bool
    stride: tuple
    memory_format: typing.Any
    is_quantized: bool = False
    qparams: typing.Any = {}


def _metadata(tensor):
    memory_format = None
    for known, dims in ((_C.contiguous_format, None), (_C.channels_last, 4), (_C.channels_last_3d, 5)):
        if dims in (None, tensor.dim()) and tensor.is_contiguous(memory_format=known):
            memory_format = known
            break
    return TensorMetadata(tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), memory_format)


class ShapeProp(Interpreter):
    """Runs a graph with example inputs, and notes in `meta` of each node "tensor_meta" of its tensors and "type"."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)

    def run_node(self, n):
        made = super().run_node(n)
        found = []

        def note(value):
            if not isinstance(value, Tensor):
                return value
            found.append(value)
            return _metadata(value)
        noted = map_aggregate(made, note)
        if found:
            n.meta["tensor_meta"] = noted
        n.meta["type"] = type(made)
        return made

    def propagate(self, *args):
        """Runs the graph; what it gives."""
        return super().run(*args)
