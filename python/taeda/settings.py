"""What the process is set to: printing, determinism, the default device, precision."""

import functools
import warnings

from . import _C, creation

__all__ = ["set_printoptions", "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
           "is_deterministic_algorithms_warn_only_enabled", "set_default_tensor_type", "set_default_device",
           "get_default_device", "get_num_interop_threads", "set_num_interop_threads", "set_float32_matmul_precision",
           "get_float32_matmul_precision", "set_flush_denormal", "compile", "typename", "set_warn_always",
           "is_warn_always_enabled"]

_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, 2 ** 62, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed; `profile` "default", "short" or "full"."""
    if profile is not None:
        defaults = _PROFILES[profile]
        precision, threshold, edgeitems, linewidth = (
            given if given is not None else standard
            for given, standard in zip((precision, threshold, edgeitems, linewidth), defaults))
    if threshold is not None and threshold == float("inf"):
        threshold = 2 ** 62
    _C._set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode)


_deterministic = [False, False]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted: results are the same bits from run to run whatever this says."""
    _deterministic[:] = [bool(mode), bool(warn_only)]


def are_deterministic_algorithms_enabled():
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled():
    return _deterministic[1]


def set_default_tensor_type(t):
    """The dtype of a class like torch.DoubleTensor as the default."""
    from ._tensor import named_type
    _C.set_default_dtype(named_type(t)[0])


def set_default_device(device):
    """Where tensors are made that name no device, parameters of modules among them."""
    creation._default_device = None if device is None else _C.device(device)
    _fill_in_device()


# Functions that make tensors of nothing: those that take another tensor's place stay with its device.
_MAKERS = ("arange empty empty_strided eye full linspace logspace ones rand randint randn randperm zeros tril_indices "
           "triu_indices hann_window hamming_window blackman_window bartlett_window").split()
_made_by = {}
_entered = []


def _with_default(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs.get("device") is None:
            kwargs["device"] = creation.default_device()
        return function(*args, **kwargs)
    return call


def _fill_in_device():
    """Wraps the makers while there is a default device, so that nobody else pays for it."""
    import taeda
    if not _made_by:
        _made_by.update({(at, name): vars(at)[name] for at in (_C, taeda) for name in _MAKERS if name in vars(at)})
    for (at, name), function in _made_by.items():
        setattr(at, name, function if creation._default_device is None else _with_default(function))


def _enter_device(device):
    """`with device:` has tensors that name no device made there."""
    _entered.append(creation._default_device)
    set_default_device(device)
    return device


def _exit_device(device):
    set_default_device(_entered.pop())


def get_default_device():
    return creation._default_device or _C.device("cpu")


def get_num_interop_threads():
    return 1


def set_num_interop_threads(n):
    if n < 1:
        raise RuntimeError("Expected positive number of threads")


def set_float32_matmul_precision(precision):
    """ "highest", "high" or "medium": how products of floats on an accelerator round."""
    _C._set_float32_matmul_precision(precision)


def get_float32_matmul_precision():
    return _C._get_float32_matmul_precision()


def set_flush_denormal(mode):
    """False: denormal numbers are kept."""
    return False


_warn_always = [False]


def set_warn_always(b):
    _warn_always[0] = bool(b)


def is_warn_always_enabled():
    return _warn_always[0]


_compile_said = []


def compile(model=None, **options):
    """Returns the function or module as it is: Taeda runs operations one by one. Said once."""
    if model is None:
        return lambda function: compile(function, **options)
    if not _compile_said:
        _compile_said.append(True)
        warnings.warn("torch.compile returns its argument unchanged: Taeda has no compiler, and its eager steps need none",
                      stacklevel=2)
    return model


def typename(obj):
    """ "torch.FloatTensor" for a tensor, else module and class."""
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
