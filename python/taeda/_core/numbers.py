"""The limits of dtypes."""

from .. import _C

# bits, eps, largest, smallest normal, decimal digits
_FLOATS = {"float32": (32, 2.0 ** -23, 3.4028234663852886e38, 1.1754943508222875e-38, 1e-06),
           "float64": (64, 2.0 ** -52, 1.7976931348623157e308, 2.2250738585072014e-308, 1e-15),
           "float16": (16, 2.0 ** -10, 65504.0, 6.103515625e-05, 0.001),
           "bfloat16": (16, 2.0 ** -7, 3.3895313892515355e38, 1.1754943508222875e-38, 0.01),
           "float8_e4m3fn": (8, 2.0 ** -3, 448.0, 2.0 ** -6, 1.0), "float8_e5m2": (8, 2.0 ** -2, 57344.0, 2.0 ** -14, 1.0),
           "float8_e4m3fnuz": (8, 2.0 ** -3, 240.0, 2.0 ** -7, 1.0),
           "float8_e5m2fnuz": (8, 2.0 ** -2, 57344.0, 2.0 ** -15, 1.0),
           "float8_e8m0fnu": (8, 1.0, 2.0 ** 127, 2.0 ** -127, 1.0)}


_DEFAULT = object()


def _dtype(function, given):
    """The argument, if it is a dtype."""
    if not isinstance(given, _C.dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {type(given).__name__}")
    return given


class finfo:
    """The limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution. The argument is a dtype.

    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    __module__ = "taeda"

    def __init__(self, type=_DEFAULT):
        dtype = _C.get_default_dtype() if type is _DEFAULT else _dtype("finfo", type)
        if dtype.is_complex:
            dtype = dtype.to_real()
        name = repr(dtype)[6:]
        if name not in _FLOATS:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        self.bits, self.eps, self.max, self.tiny, self.resolution = _FLOATS[name]
        self.min, self.smallest_normal, self.dtype = -self.max if dtype.is_signed else self.tiny, self.tiny, name

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """The limits of an integer dtype: bits, max, min. The argument is a dtype.

    >>> torch.iinfo(torch.int8).max
    127
    """

    __module__ = "taeda"

    def __init__(self, type):
        name = repr(_dtype("iinfo", type))[6:]
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        self.bits, self.dtype = type.itemsize * 8, name
        if name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        signed = type.is_signed
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -2 ** (self.bits - 1) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
