"""torch.jit: functions and modules as they are. Taeda has no compiler, and its eager steps need none."""

import builtins
import contextlib
import functools
import typing

from ._operations.kinds import CompiledError as Error
from .futures import Future
from .nn import Module

__all__ = ["script", "trace", "trace_module", "freeze", "optimize_for_inference", "annotate", "ignore", "unused", "export",
           "is_scripting", "is_tracing", "script_if_tracing", "interface", "fork", "wait", "Final", "Attribute", "Error",
           "Future", "ScriptFunction", "ScriptModule", "enable_onednn_fusion", "export_opnames", "isinstance",
           "onednn_fusion_enabled", "script_method", "set_fusion_strategy", "strict_fusion"]

Final = dict


def script(obj=None, *args, **kwargs):
    """The function, class or module itself."""
    return obj


def trace(func, example_inputs=None, *args, **kwargs):
    """The function or module itself, after one call with the example."""
    if example_inputs is not None:
        func(*example_inputs) if isinstance(example_inputs, (tuple, list)) else func(example_inputs)
    return func


def trace_module(mod, inputs, *args, **kwargs):
    """The module itself, after a call of each of its methods with the example that `inputs` has for it."""
    for name, example in inputs.items():
        trace(mod if name == "forward" else getattr(mod, name), example)
    return mod


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module itself, which must be in evaluation mode."""
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your "
                           "module before freezing.")
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module itself."""
    return mod


def annotate(the_type, the_value):
    """The value itself."""
    return the_value


def ignore(drop=False, **kwargs):
    return drop if callable(drop) else lambda function: function


unused = export = interface = script_if_tracing = script


def is_scripting():
    return False


def is_tracing():
    return False


def fork(func, *args, **kwargs):
    """The call's result at once, for wait."""
    return functools.partial(lambda made: made, func(*args, **kwargs))


def wait(future):
    return future()


class Attribute(typing.NamedTuple):
    """A value with a type; a ScriptModule stores the value."""

    value: typing.Any
    type: typing.Any


class ScriptModule(Module):
    """A Module. Programs that derive from it run as they are, and none of Taeda's own is one. Takes no arguments.

    >>> isinstance(nn.Linear(2, 3), torch.jit.ScriptModule)
    False
    """

    def __setattr__(self, name, value):
        super().__setattr__(name, value.value if builtins.isinstance(value, Attribute) else value)


class ScriptFunction:
    """What a compiled function would be: there is none. Takes no arguments.

    >>> isinstance(torch.jit.script(len), torch.jit.ScriptFunction)
    False
    """


# PyTorch's compiler takes these for one of several functions of a name; here the last definition counts, as in Python.
_overload = _overload_method = script


class TracerWarning(Warning):
    """What a tracer would warn of."""


def script_method(fn):
    """The method itself."""
    return fn


def isinstance(obj, target_type):
    """Whether an object is of a class, or of one of several; of List[int] and the like, whether it is a list."""
    targets = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    return builtins.isinstance(obj, tuple(typing.get_origin(t) or t for t in targets))


def enable_onednn_fusion(enabled):
    """Accepted: nothing is compiled, so that nothing is fused."""


def onednn_fusion_enabled():
    return False


def set_fusion_strategy(strategy):
    """Accepted: nothing is fused. No strategy was set before."""
    return []


def export_opnames(m):
    """Names of operations of a compiled module: none."""
    return []


class strict_fusion(contextlib.nullcontext):
    """A block whose operations a compiler would have to fuse."""
