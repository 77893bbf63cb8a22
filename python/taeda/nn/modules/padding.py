"""Padding."""

from .. import functional as F
from .module import Module
from .utils import ntuple


class _Pad(Module):
    """Adds entries around the last `_dims` dimensions in the way `_mode` says."""

    __constants__ = ["padding"]
    _dims, _mode = 1, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = ntuple(2 * self._dims)(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """The input with `value` around its last dimensions.

    padding: how much is added, an int for all sides or (left, right, top, bottom, front, back) as far as there are
        dimensions; negative numbers cut
    value: a number

    Shapes: [*, S] to [*, S + before + after] in each of the last 1, 2 or 3 dimensions.

    >>> nn.ConstantPad1d(1, 9.0)(torch.ones(1, 2))
    tensor([[9., 1., 1., 9.]])
    """

    __constants__ = ["padding", "value"]

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """The input with zeros around its last dimensions.

    padding: how much is added, an int for all sides or (left, right, top, bottom, front, back) as far as there are
        dimensions; negative numbers cut

    Shapes: [*, S] to [*, S + before + after] in each of the last 1, 2 or 3 dimensions.

    >>> nn.ZeroPad1d((1, 2))(torch.ones(1, 2))
    tensor([[0., 1., 1., 0., 0.]])
    """

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _CircularPad(_Pad):
    """The input with what stands at its other end around its last dimensions.

    padding: how much is added, an int for all sides or (left, right, top, bottom, front, back) as far as there are
        dimensions; at most the input's size, else RuntimeError of the call

    Shapes: input [N, C, *] or [C, *] with 1, 2 or 3 dimensions behind the channels, else ValueError; their sizes grow by the
    padding.

    >>> nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1.]])
    """

    _mode = "circular"

    def forward(self, input):
        allowed = self._dims + 1, self._dims + 2
        if input.dim() not in allowed:
            raise ValueError(f"expected {allowed[0]}D or {allowed[1]}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, "circular")


class _ReflectionPad(_Pad):
    """The input mirrored at its borders, which are not repeated, around its last dimensions.

    padding: how much is added, an int for all sides or (left, right, top, bottom, front, back) as far as there are
        dimensions; less than the input's size, else RuntimeError of the call

    Shapes: input [N, C, *] or [C, *] with 1, 2 or 3 dimensions behind the channels; their sizes grow by the padding.

    >>> nn.ReflectionPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2.]])
    """

    _mode = "reflect"


class _ReplicationPad(_Pad):
    """The input with its outermost values repeated around its last dimensions.

    padding: how much is added, an int for all sides or (left, right, top, bottom, front, back) as far as there are dimensions

    Shapes: input [N, C, *] or [C, *] with 1, 2 or 3 dimensions behind the channels; their sizes grow by the padding.

    >>> nn.ReplicationPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 2., 3., 3.]])
    """

    _mode = "replicate"


def _family(base, name):
    """The classes of one, two and three dimensions."""
    return [type(f"{name}{n}d", (base,), {"_dims": n, "__module__": __name__, "__doc__": base.__doc__}) for n in (1, 2, 3)]


ConstantPad1d, ConstantPad2d, ConstantPad3d = _family(_ConstantPad, "ConstantPad")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _family(_ZeroPad, "ZeroPad")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _family(_ReflectionPad, "ReflectionPad")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _family(_ReplicationPad, "ReplicationPad")
CircularPad1d, CircularPad2d, CircularPad3d = _family(_CircularPad, "CircularPad")
