"""Convolutions."""

import math

from ... import _C
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import ntuple, reversed_repeated

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What convolutions of any number of dimensions share: `_dims` and `_transposed` say which one it is."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
                     "kernel_size"]
    _dims, _transposed = 1, False

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups,
                 bias, padding_mode, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        _check(in_channels, out_channels, groups, padding, stride, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding, self.groups, self.padding_mode = transposed, output_padding, groups, padding_mode
        self._reversed_padding_repeated_twice = _around(padding, kernel_size, dilation)
        shape = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(_C.empty((*shape, *kernel_size), **options))
        self.register_parameter("bias", Parameter(_C.empty(out_channels, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias uniformly from +-1 / sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        """Arguments that are not as they usually are."""
        dims = len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        zeros, ones = (0,) * dims, (1,) * dims
        for name, usual in (("padding", zeros), ("dilation", ones), ("output_padding", zeros), ("groups", 1)):
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check(in_channels, out_channels, groups, padding, stride, padding_mode):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _MODES:
        raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")


def _around(padding, kernel_size, dilation):
    """The padding as F.pad takes it."""
    if not isinstance(padding, str):
        return reversed_repeated(padding)
    if padding == "valid":
        return [0] * 2 * len(kernel_size)
    out = []
    for d, k in zip(reversed(dilation), reversed(kernel_size)):
        total = d * (k - 1)
        out += [total // 2, total - total // 2]
    return out


class _Conv(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        expand = ntuple(self._dims)
        super().__init__(in_channels, out_channels, expand(kernel_size), expand(stride),
                         padding if isinstance(padding, str) else expand(padding), expand(dilation), False, expand(0), groups,
                         bias, padding_mode, device, dtype)

    def _padded(self, input):
        return F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)


class Conv1d(_Conv):
    """Convolution of sequences: for each output channel the sum over input channels of their cross-correlation with a kernel,
    plus the bias. Arguments as Conv2d's, numbers in place of pairs.

    Shapes: input [N, C_in, L] or [C_in, L], result [N, C_out, L'] or [C_out, L'] with L' = floor((L + 2 padding - dilation
    (kernel_size - 1) - 1) / stride + 1); `weight` [C_out, C_in / groups, kernel_size].

    >>> nn.Conv1d(3, 8, kernel_size=3, padding=1)(torch.ones(2, 3, 10)).shape
    torch.Size([2, 8, 10])
    """

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv1d(self._padded(input), weight, bias, self.stride, 0, self.dilation, self.groups)
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_Conv):
    """Convolution of images: for each output channel the sum over input channels of their cross-correlation with a kernel, plus
    the bias.

    in_channels, out_channels: C_in and C_out; groups divides both, else ValueError
    kernel_size: an int or (height, width)
    stride: how far windows are apart; 1 unless given
    padding: how many rows and columns are put around the image, or "valid" (none) or "same" (as many as keep its size, for a
        stride of 1 alone); 0 unless given
    dilation: how far the elements of a window are apart; 1 unless given
    groups: into how many groups channels are divided, each of which sees its own part of the input; 1 unless given
    bias: whether there is one; True unless given
    padding_mode: "zeros" (unless given), "reflect", "replicate" or "circular"; others are a ValueError
    device, dtype: of the parameters

    Shapes: input [N, C_in, H, W] or [C_in, H, W], result [N, C_out, H', W'] or [C_out, H', W'] with H' = floor((H + 2 padding
    - dilation (kernel_size - 1) - 1) / stride + 1); `weight` [C_out, C_in / groups, height, width] and `bias` [C_out] begin
    uniform between -1 / sqrt(k) and 1 / sqrt(k), k = C_in / groups * height * width.

    >>> layer = nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)
    >>> layer(torch.ones(2, 3, 10, 10)).shape
    torch.Size([2, 8, 5, 5])
    >>> layer.weight.shape
    torch.Size([8, 3, 3, 3])
    """

    _dims = 2

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv2d(self._padded(input), weight, bias, self.stride, 0, self.dilation, self.groups)
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d(_Conv):
    """Convolution of volumes: for each output channel the sum over input channels of their cross-correlation with a kernel,
    plus the bias. Arguments as Conv2d's, three numbers in place of two.

    Shapes: input [N, C_in, D, H, W] or [C_in, D, H, W], result with sizes as Conv2d's; `weight` [C_out, C_in / groups,
    depth, height, width].

    >>> nn.Conv3d(3, 8, kernel_size=3)(torch.ones(2, 3, 5, 6, 7)).shape
    torch.Size([2, 8, 3, 4, 5])
    """

    _dims = 3

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv3d(self._padded(input), weight, bias, self.stride, 0, self.dilation, self.groups)
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    _transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        expand = ntuple(self._dims)
        super().__init__(in_channels, out_channels, expand(kernel_size), expand(stride), expand(padding), expand(dilation),
                         True, expand(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        """`output_size` chooses among the sizes that a strided convolution would map to the input's."""
        output_padding = self._output_padding(input, output_size) if output_size is not None else self.output_padding
        operation = getattr(F, self._operation)
        return operation(input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation)

    def _output_padding(self, input, output_size, *args, **kwargs):
        dims = self._dims
        has_batch = input.dim() == dims + 2
        output_size = list(output_size)
        if len(output_size) == dims + (2 if has_batch else 1):
            output_size = output_size[-dims:]
        if len(output_size) != dims:
            raise ValueError(f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or "
                             f"{dims + (2 if has_batch else 1)} elements (got {len(output_size)})")
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(
            input.shape[-dims:], self.stride, self.padding, self.dilation, self.kernel_size)]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if any(not low <= n <= high for low, n, high in zip(least, output_size, most)):
            raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                             f"input of {input.size()[-dims:]})")
        return [n - low for n, low in zip(output_size, least)]


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of a Conv1d with respect to its input, as a module. Arguments as ConvTranspose2d's, numbers in place of
    pairs.

    Shapes: input [N, C_in, L] or [C_in, L], result [N, C_out, L'] or [C_out, L'] with L' = (L - 1) stride - 2 padding +
    dilation (kernel_size - 1) + output_padding + 1.

    >>> nn.ConvTranspose1d(4, 2, kernel_size=2, stride=2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 2, 10])
    """

    _operation = "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of a Conv2d with respect to its input, as a module; also named deconvolution.

    in_channels, out_channels: C_in and C_out; groups divides both, else ValueError
    kernel_size: an int or (height, width)
    stride, dilation, groups, bias: of the convolution; 1, 1, 1 and True unless given
    padding: dilation (kernel_size - 1) - padding zeros are put around the input; 0 unless given
    output_padding: rows and columns that are added at one side of the result; 0 unless given
    padding_mode: "zeros"; others are a ValueError

    Shapes: input [N, C_in, H, W] or [C_in, H, W], result [N, C_out, H', W'] or [C_out, H', W'] with H' = (H - 1) stride - 2
    padding + dilation (kernel_size - 1) + output_padding + 1; `weight` [C_in, C_out / groups, height, width], `bias` [C_out].
    The call takes an `output_size`, which chooses among the sizes that the convolution would map to the input's; a ValueError
    names them.

    >>> layer = nn.ConvTranspose2d(4, 2, kernel_size=3, stride=2, padding=1)
    >>> layer(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 2, 9, 9])
    >>> layer(torch.ones(1, 4, 5, 5), output_size=(10, 10)).shape
    torch.Size([1, 2, 10, 10])
    """

    _dims, _operation = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of a Conv3d with respect to its input, as a module. Arguments as ConvTranspose2d's, three numbers in
    place of two.

    Shapes: input [N, C_in, D, H, W] or [C_in, D, H, W], result with sizes as ConvTranspose2d's.

    >>> nn.ConvTranspose3d(4, 2, kernel_size=2, stride=2)(torch.ones(1, 4, 2, 3, 4)).shape
    torch.Size([1, 2, 4, 6, 8])
    """

    _dims, _operation = 3, "conv_transpose3d"


class _LazyConv(LazyModuleMixin):
    """A convolution that takes in_channels from its first input."""

    def __init__(self, out_channels, kernel_size, stride=1, padding=0, *args, device=None, dtype=None, **kwargs):
        names = (("output_padding", "groups", "bias", "dilation", "padding_mode") if self._transposed else
                 ("dilation", "groups", "bias", "padding_mode"))
        for name, value in zip(names, args):
            kwargs[name] = value
        bias = kwargs.pop("bias", True)
        super().__init__(0, 0, kernel_size, stride, padding, bias=False, **kwargs)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise RuntimeError(f"Expected {self._dims + 1}D (unbatched) or {self._dims + 2}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {input.shape}")
        self.in_channels = input.shape[-self._dims - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        first, second = ((self.in_channels, self.out_channels) if self._transposed else (self.out_channels, self.in_channels))
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes in_channels from its first input; from then on it is a Conv1d, whose other arguments it has.

    Shapes: as Conv1d's.

    >>> nn.LazyConv1d(8, 3)(torch.ones(2, 3, 10)).shape
    torch.Size([2, 8, 8])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes in_channels from its first input; from then on it is a Conv2d, whose other arguments it has.

    Shapes: as Conv2d's.

    >>> nn.LazyConv2d(8, 3)(torch.ones(2, 3, 10, 10)).shape
    torch.Size([2, 8, 8, 8])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes in_channels from its first input; from then on it is a Conv3d, whose other arguments it has.

    Shapes: as Conv3d's.

    >>> nn.LazyConv3d(8, 3)(torch.ones(2, 3, 5, 5, 5)).shape
    torch.Size([2, 8, 3, 3, 3])
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """A ConvTranspose1d that takes in_channels from its first input; from then on it is one, whose other arguments it has.

    Shapes: as ConvTranspose1d's.

    >>> nn.LazyConvTranspose1d(2, 2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 2, 6])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """A ConvTranspose2d that takes in_channels from its first input; from then on it is one, whose other arguments it has.

    Shapes: as ConvTranspose2d's.

    >>> nn.LazyConvTranspose2d(2, 2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 2, 6, 6])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """A ConvTranspose3d that takes in_channels from its first input; from then on it is one, whose other arguments it has.

    Shapes: as ConvTranspose3d's.

    >>> nn.LazyConvTranspose3d(2, 2)(torch.ones(1, 4, 2, 2, 2)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    cls_to_become = ConvTranspose3d
