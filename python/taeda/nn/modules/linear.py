"""Modules that multiply by matrices."""

import math

from ... import _C
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module


class Identity(Module):
    """Gives back what it is given; takes any arguments to be made, so that it can stand in the place of another module.

    Shapes: any, which the result has.

    >>> nn.Identity(54, unused=True)(torch.tensor([1, 2]))
    tensor([1, 2])
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    """x W' + b over the last dimension.

    in_features, out_features: sizes of the last dimension of input and result
    bias: whether b is there; True unless given
    device, dtype: of the parameters

    Shapes: input [*, in_features], result [*, out_features]; `weight` [out_features, in_features], `bias` [out_features].
    Both begin uniform between -1 / sqrt(in_features) and 1 / sqrt(in_features). Another last dimension is a RuntimeError.

    >>> nn.Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    __constants__ = ["in_features", "out_features"]

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_C.empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(_C.empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias uniformly from +-1 / sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The class of MultiheadAttention's out_proj: a Linear, [*, in_features] to [*, out_features].

    >>> nn.NonDynamicallyQuantizableLinear(2, 3)(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """


class Bilinear(Module):
    """x1' A x2 + b, with a matrix A for each output feature.

    in1_features, in2_features, out_features: sizes of the last dimensions of both inputs and of the result
    bias: whether b is there; True unless given

    Shapes: inputs [*, in1_features] and [*, in2_features], result [*, out_features]; `weight` [out_features, in1_features,
    in2_features], `bias` [out_features]. in1_features below 1 is a ValueError.

    >>> nn.Bilinear(3, 4, 2)(torch.ones(5, 3), torch.ones(5, 4)).shape
    torch.Size([5, 2])
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(_C.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(_C.empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes in_features from its first input; from then on it is a Linear.

    out_features, bias, device, dtype: as Linear's

    Shapes: input [*, in_features], result [*, out_features].

    >>> layer = nn.LazyLinear(2)
    >>> layer(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    >>> layer.in_features
    3
    """

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
