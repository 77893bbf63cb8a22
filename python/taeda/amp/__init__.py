"""torch.amp: automatic mixed precision."""

import functools

from .. import _C
from .._core.warnings import warn
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def _why_not(device_type, dtype):
    """Why autocast of a device type stays off; None where nothing speaks against it."""
    if device_type == "cuda" and not _C._device.is_available("cuda"):
        return "CUDA is not available or torch_xla is imported. Disabling autocast."
    if device_type == "cpu" and dtype not in (None, _C.bfloat16, _C.float16):
        return ("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtype "
                "of torch.bfloat16, torch.float16 currently.")
    return None


class autocast:
    """Operations of the block run in the precision that suits each; a decorator, too.

    device_type: "cuda", "cpu" or another type of devices; an unknown one is a RuntimeError
    dtype: of products and convolutions; float16 on CUDA, bfloat16 on the CPU unless given
    enabled: whether anything is cast; True unless given
    cache_enabled: whether casts of parameters are kept within the block; True unless given

    Shapes: any.

    >>> with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    ...     y = torch.ones(2, 2) @ torch.ones(2, 2)
    >>> y.dtype
    torch.bfloat16
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        _check_type(device_type)
        if enabled and (why := _why_not(device_type, dtype)):
            warn(why)
            enabled, dtype = False, None
        self.arguments = _C.device(device_type), dtype, bool(enabled), cache_enabled
        self.guards = []

    def __enter__(self):
        self.guards.append(_C._amp.enter(*self.arguments))
        return self

    def __exit__(self, *error):
        self.guards.pop()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapped


def _say_former(name, kind):
    warn(f"`torch.{kind}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('{kind}', args...)` instead.",
         FutureWarning)


class AutocastOfType(autocast):
    """autocast of the type of devices that a class names in `device_type`, as programs wrote it before types were arguments."""

    device_type = "cpu"

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _say_former("autocast", self.device_type)
        super().__init__(self.device_type, dtype, enabled, cache_enabled)


class GradScalerOfType(GradScaler):
    """GradScaler of the type of devices that a class names in `device_type`."""

    device_type = "cpu"

    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _say_former("GradScaler", self.device_type)
        super().__init__(self.device_type, init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def is_autocast_available(device_type):
    """Whether operations on devices of the type, a text, can be autocast. RuntimeError for a type that is not known.

    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    return _C.device(device_type).type != "meta"


def _check_type(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For `forward` of an autograd.Function: it runs with autocast as its caller has it, or, with `cast_inputs`, without and
    with floating tensors in that dtype.

    fwd: the function; without it a decorator
    device_type: of which autocast is meant, a text

    Shapes: `forward`'s.

    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> Double.apply(torch.ones(1))
    tensor([2.])
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def wrapped(*args, **kwargs):
        args[0]._autocast = _C._amp.is_enabled(_C.device(device_type)), device_type
        if cast_inputs is None or not args[0]._autocast[0]:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*(_cast(a, cast_inputs, device_type) for a in args), **kwargs)
    return wrapped


def custom_bwd(bwd=None, *, device_type):
    """For `backward` of an autograd.Function: it runs under the autocast of its forward, which custom_fwd has noted.

    bwd: the function; without it a decorator
    device_type: of which autocast is meant, a text

    Shapes: `backward`'s.

    >>> callable(torch.amp.custom_bwd(device_type="cpu"))
    True
    """
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def wrapped(*args, **kwargs):
        with autocast(device_type, enabled=args[0]._autocast[0]):
            return bwd(*args, **kwargs)
    return wrapped


def _cast(value, dtype, device_type):
    if isinstance(value, _C.TensorBase) and value.is_floating_point() and value.device.type == device_type:
        return value.to(dtype)
    return value
