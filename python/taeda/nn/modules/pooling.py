"""Pooling."""

from ... import _C
from .. import functional as F
from .module import Module
from .utils import _pair, _single, _triple

# Others, if a program puts them there, are called.
_max_pool1d, _max_pool2d, _max_pool3d = F.max_pool1d, F.max_pool2d, F.max_pool3d


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _by(self, function, input):
        """The pool by a function that a program put into nn.functional."""
        return function(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
                        return_indices=self.return_indices)

    def extra_repr(self):
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
                f"ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of sequences. Arguments as MaxPool2d's, numbers in place of pairs.

    Shapes: input [N, C, L] or [C, L]; sizes of the result as MaxPool2d's.

    >>> nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    def forward(self, input):
        if F.max_pool1d is not _max_pool1d:
            return self._by(F.max_pool1d, input)
        return (_C.max_pool1d_with_indices if self.return_indices else _C.max_pool1d)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of images; NaN is the largest of all.

    kernel_size: of a window, an int or (height, width)
    stride: how far windows are apart; kernel_size unless given
    padding: how many places around the image windows reach, which never win; at most half of kernel_size, else RuntimeError
        of the call; 0 unless given
    dilation: how far elements of a window are apart; 1 unless given
    return_indices: whether a pair of result and places (int64, in the flattened channel) is given, for MaxUnpool2d
    ceil_mode: whether a last window that starts inside may reach beyond; False unless given

    Shapes: input [N, C, H, W] or [C, H, W], result with H' = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride
    + 1), or ceil.

    >>> nn.MaxPool2d(2)(torch.randn(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    def forward(self, input):
        if F.max_pool2d is not _max_pool2d:
            return self._by(F.max_pool2d, input)
        return (_C.max_pool2d_with_indices if self.return_indices else _C.max_pool2d)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of volumes. Arguments as MaxPool2d's, three numbers in place of two.

    Shapes: input [N, C, D, H, W] or [C, D, H, W]; sizes of the result as MaxPool2d's.

    >>> nn.MaxPool3d(2)(torch.randn(1, 3, 4, 8, 8)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    def forward(self, input):
        if F.max_pool3d is not _max_pool3d:
            return self._by(F.max_pool3d, input)
        return (_C.max_pool3d_with_indices if self.return_indices else _C.max_pool3d)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class _MaxUnpoolNd(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = self._expand(kernel_size)
        self.stride = self._expand(stride if stride is not None else kernel_size)
        self.padding = self._expand(padding)

    def forward(self, input, indices, output_size=None):
        return getattr(F, self._operation)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The largest elements back at the places from which MaxPool1d took them, zeros elsewhere.

    kernel_size, stride, padding: of the pool

    Shapes: input and places [N, C, L] or [C, L], result [N, C, (L - 1) stride - 2 padding + kernel_size], or the
    `output_size` that the call takes.

    >>> values, places = nn.MaxPool1d(2, return_indices=True)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    >>> nn.MaxUnpool1d(2)(values, places)
    tensor([[0., 3., 0., 4.]])
    """

    _expand, _operation = staticmethod(_single), "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """The largest elements back at the places from which MaxPool2d took them, zeros elsewhere.

    kernel_size, stride, padding: of the pool

    Shapes: input and places [N, C, H, W] or [C, H, W], result with H' = (H - 1) stride - 2 padding + kernel_size, or the
    `output_size` that the call takes.

    >>> values, places = nn.MaxPool2d(2, return_indices=True)(torch.randn(1, 3, 8, 8))
    >>> nn.MaxUnpool2d(2)(values, places).shape
    torch.Size([1, 3, 8, 8])
    """

    _expand, _operation = staticmethod(_pair), "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """The largest elements back at the places from which MaxPool3d took them, zeros elsewhere.

    kernel_size, stride, padding: of the pool

    Shapes: input and places [N, C, D, H, W] or [C, D, H, W]; sizes of the result as MaxUnpool2d's.

    >>> values, places = nn.MaxPool3d(2, return_indices=True)(torch.randn(1, 3, 4, 4, 4))
    >>> nn.MaxUnpool3d(2)(values, places).shape
    torch.Size([1, 3, 4, 4, 4])
    """

    _expand, _operation = staticmethod(_triple), "max_unpool3d"


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of sequences. Arguments as AvgPool2d's, numbers in place of pairs.

    Shapes: input [N, C, L] or [C, L], result [N, C, L'] or [C, L'] with L' = floor((L + 2 padding - kernel_size) / stride +
    1).

    >>> nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of images.

    kernel_size: of a window, an int or (height, width)
    stride: how far windows are apart; kernel_size unless given
    padding: zeros around the image; at most half of kernel_size, else RuntimeError of the call; 0 unless given
    ceil_mode: whether a last window that starts inside may reach beyond; False unless given
    count_include_pad: whether these zeros count; True unless given
    divisor_override: what sums are divided by in place of how many elements count

    Shapes: input [N, C, H, W] or [C, H, W], result with H' = floor((H + 2 padding - kernel_size) / stride + 1), or ceil.

    >>> nn.AvgPool2d(2)(torch.ones(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]
    _operation = "avg_pool2d"

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input):
        return getattr(F, self._operation)(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                           self.count_include_pad, self.divisor_override)


class AvgPool3d(AvgPool2d):
    """The mean of each window of volumes. Arguments as AvgPool2d's, three numbers in place of two.

    Shapes: input [N, C, D, H, W] or [C, D, H, W]; sizes of the result as AvgPool2d's.

    >>> nn.AvgPool3d(2)(torch.ones(1, 3, 4, 8, 8)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    _operation = "avg_pool3d"


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        dims, expand = self._dims, self._expand
        if not all(k > 0 for k in expand(kernel_size)):
            raise ValueError(f"kernel_size must greater than zero, but got {kernel_size}")
        self.kernel_size = expand(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = expand(output_size) if output_size is not None else None
        self.output_ratio = expand(output_ratio) if output_ratio is not None else None
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not (len(self.output_ratio) == dims and all(0 < r < 1 for r in self.output_ratio)):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return getattr(F, self._operation)(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                           _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows that begin at random places (Graham 2014, arXiv:1412.6071).

    kernel_size: of a window, an int or (height, width)
    output_size: the result's (height, width), or output_ratio: the input's are multiplied by it, in (0, 1); exactly one of
        both, else ValueError
    return_indices: whether a pair of result and places (int64, in the flattened channel) is given

    Shapes: input [N, C, H, W] or [C, H, W], result [N, C, H', W'] or [C, H', W'] as told.

    >>> nn.FractionalMaxPool2d(2, output_size=4)(torch.randn(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    _dims, _expand, _operation = 2, staticmethod(_pair), "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows that begin at random places (Graham 2014, arXiv:1412.6071). Arguments as
    FractionalMaxPool2d's, three numbers in place of two.

    Shapes: input [N, C, D, H, W] or [C, D, H, W], result [N, C, D', H', W'] or [C, D', H', W'] as told.

    >>> nn.FractionalMaxPool3d(2, output_size=4)(torch.randn(1, 3, 8, 8, 8)).shape
    torch.Size([1, 3, 4, 4, 4])
    """

    _dims, _expand, _operation = 3, staticmethod(_triple), "fractional_max_pool3d"


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return getattr(F, self._operation)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPoolNd):
    """(sum x^p)^(1/p) over each window of sequences.

    norm_type: p; inf is MaxPool's
    kernel_size: of a window
    stride: how far windows are apart; kernel_size unless given
    ceil_mode: whether a last window that starts inside may reach beyond; False unless given

    Shapes: input [N, C, L] or [C, L], result with L' = floor((L - kernel_size) / stride + 1), or ceil.

    >>> nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    _operation = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """(sum x^p)^(1/p) over each window of images. Arguments as LPPool1d's, kernel_size and stride ints or pairs.

    Shapes: input [N, C, H, W] or [C, H, W]; sizes of the result as LPPool1d's.

    >>> nn.LPPool2d(2, 2)(torch.ones(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    _operation = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """(sum x^p)^(1/p) over each window of volumes. Arguments as LPPool1d's, kernel_size and stride ints or three of them.

    Shapes: input [N, C, D, H, W] or [C, D, H, W]; sizes of the result as LPPool1d's.

    >>> nn.LPPool3d(2, 2)(torch.ones(1, 3, 4, 4, 4)).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    _operation = "lp_pool3d"


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self._operation)(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of as many windows as the result shall have elements: window i is from floor(i L / L') up to ceil((i + 1) L / L').

    output_size: L'

    Shapes: input [N, C, L] or [C, L], result [N, C, L'] or [C, L'].

    >>> nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    _operation = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of as many windows as the result shall have elements, which divide each dimension as AdaptiveAvgPool1d's do.

    output_size: an int or (height, width), where None keeps the input's size

    Shapes: input [N, C, H, W] or [C, H, W], result [N, C, height, width] or [C, height, width].

    >>> nn.AdaptiveAvgPool2d((4, None))(torch.ones(1, 3, 8, 9)).shape
    torch.Size([1, 3, 4, 9])
    """

    _operation = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of as many windows as the result shall have elements, which divide each dimension as AdaptiveAvgPool1d's do.

    output_size: an int or (depth, height, width), where None keeps the input's size

    Shapes: input [N, C, D, H, W] or [C, D, H, W], result [N, C, depth, height, width], or without N.

    >>> nn.AdaptiveAvgPool3d(2)(torch.ones(1, 3, 8, 8, 8)).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    _operation = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(_AdaptiveAvgPoolNd):
    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return getattr(F, self._operation)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the result shall have elements, which are AdaptiveAvgPool1d's.

    output_size: L'
    return_indices: whether a pair of result and places (int64, in the flattened channel) is given; False unless given

    Shapes: input [N, C, L] or [C, L], result [N, C, L'] or [C, L'].

    >>> nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    _operation = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the result shall have elements, which divide each dimension as
    AdaptiveAvgPool1d's do.

    output_size: an int or (height, width), where None keeps the input's size
    return_indices: whether a pair of result and places (int64, in the flattened channel) is given; False unless given

    Shapes: input [N, C, H, W] or [C, H, W], result [N, C, height, width] or [C, height, width].

    >>> nn.AdaptiveMaxPool2d((4, None))(torch.randn(1, 3, 8, 9)).shape
    torch.Size([1, 3, 4, 9])
    """

    _operation = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the result shall have elements, which divide each dimension as
    AdaptiveAvgPool1d's do.

    output_size: an int or (depth, height, width), where None keeps the input's size
    return_indices: whether a pair of result and places (int64, in the flattened channel) is given; False unless given

    Shapes: input [N, C, D, H, W] or [C, D, H, W], result [N, C, depth, height, width], or without N.

    >>> nn.AdaptiveMaxPool3d(2)(torch.randn(1, 3, 8, 8, 8)).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    _operation = "adaptive_max_pool3d"
