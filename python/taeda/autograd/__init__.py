"""Automatic differentiation: passes over what operations recorded."""

from .. import _C
from .._core.arguments import expect
from . import graph
from .function import Function, FunctionCtx, NestedIOFunction, once_differentiable
from .gradcheck import gradcheck, gradgradcheck
from .passes import backward, grad
from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._core.warnings import warn

TYPE_CHECKING = False
if TYPE_CHECKING:  # imported when they are asked for: _core/missing.py
    from . import functional, profiler
    from ..profiler.profiler import DeviceType

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck", "gradgradcheck",
           "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled"]


class set_detect_anomaly:
    """Names the operation behind a backward that fails or gives NaN; switches at once, back at the end of a `with`.

    mode: a bool
    check_nan: whether NaN is looked for; True unless given

    Arguments are scalars. A NaN is a RuntimeError.

    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.ones(1, requires_grad=True).sqrt().sum().backward()
    """

    def __init__(self, mode, check_nan=True):
        self.previous = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        expect("set_anomaly_enabled", "enabled", 1, mode, bool)
        expect("set_anomaly_enabled", "check_nan", 2, check_nan, bool)
        _C._set_detect_anomaly(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        _C._set_detect_anomaly(*self.previous)


class detect_anomaly:
    """set_detect_anomaly(True) for a block.

    check_nan: whether NaN is looked for, a scalar; True unless given. It is a RuntimeError.

    >>> with torch.autograd.detect_anomaly():
    ...     torch.ones(1, requires_grad=True).sqrt().sum().backward()
    """

    def __init__(self, check_nan=True):
        warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
             "debugging.")
        self.check_nan = check_nan

    def __enter__(self):
        self.previous = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        _C._set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *error):
        _C._set_detect_anomaly(*self.previous)


class set_multithreading_enabled:
    """Is taken: backward passes have a thread for each accelerator, and none more.

    mode: a scalar, True or False

    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.ones(1, requires_grad=True).sum().backward()
    """

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


class _Engine:
    """What runs backward passes, by the name that programs know."""

    queue_callback = staticmethod(graph.queue_callback)


class _VariableType(type):
    _execution_engine = _Engine()

    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.TensorBase)


class Variable(metaclass=_VariableType):
    """A tensor: the two have been one for long. Variable(x) is x.

    >>> isinstance(torch.ones(2), torch.autograd.Variable)
    True
    """

    def __new__(cls, data, requires_grad=False, volatile=None):
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        out = data.detach() if data.requires_grad and not requires_grad else data.view_as(data).detach()
        return out.requires_grad_(requires_grad)
