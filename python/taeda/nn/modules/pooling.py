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
    """Largest elements of windows of [N, C, L] or [C, L]."""

    def forward(self, input):
        if F.max_pool1d is not _max_pool1d:
            return self._by(F.max_pool1d, input)
        return (_C.max_pool1d_with_indices if self.return_indices else _C.max_pool1d)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool2d(_MaxPoolNd):
    """Largest elements of windows of [N, C, H, W] or [C, H, W]."""

    def forward(self, input):
        if F.max_pool2d is not _max_pool2d:
            return self._by(F.max_pool2d, input)
        return (_C.max_pool2d_with_indices if self.return_indices else _C.max_pool2d)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool3d(_MaxPoolNd):
    """Largest elements of windows of [N, C, D, H, W] or [C, D, H, W]."""

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
    """The largest elements back at their places, zeros elsewhere."""

    _expand, _operation = staticmethod(_single), "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """The largest elements back at their places, zeros elsewhere."""

    _expand, _operation = staticmethod(_pair), "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """The largest elements back at their places, zeros elsewhere."""

    _expand, _operation = staticmethod(_triple), "max_unpool3d"


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Means of windows of [N, C, L] or [C, L]."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """Means of windows of [N, C, H, W] or [C, H, W]."""

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
    """Means of windows of [N, C, D, H, W] or [C, D, H, W]."""

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
    """Largest elements of windows that begin at random places (Graham 2014, arXiv:1412.6071)."""

    _dims, _expand, _operation = 2, staticmethod(_pair), "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Largest elements of windows that begin at random places (Graham 2014, arXiv:1412.6071)."""

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
    """Norms of windows: (sum x^p)^(1/p)."""

    _operation = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """Norms of windows: (sum x^p)^(1/p)."""

    _operation = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """Norms of windows: (sum x^p)^(1/p)."""

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
    """Means of as many windows as the result shall have elements."""

    _operation = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of as many windows as the result shall have elements; None keeps the input's size."""

    _operation = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of as many windows as the result shall have elements; None keeps the input's size."""

    _operation = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(_AdaptiveAvgPoolNd):
    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return getattr(F, self._operation)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Largest elements of as many windows as the result shall have elements."""

    _operation = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Largest elements of as many windows as the result shall have elements; None keeps the input's size."""

    _operation = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Largest elements of as many windows as the result shall have elements; None keeps the input's size."""

    _operation = "adaptive_max_pool3d"
