"""torch.jit: functions and modules as they are. Taeda has no compiler, and its eager steps need none."""

import functools

__all__ = ["script", "trace", "ignore", "unused", "export", "is_scripting", "is_tracing", "script_if_tracing", "interface",
           "fork", "wait", "Final"]

Final = dict


def script(obj=None, *args, **kwargs):
    """The function, class or module itself."""
    return obj


def trace(func, example_inputs=None, *args, **kwargs):
    """The function or module itself, after one call with the example."""
    if example_inputs is not None:
        func(*example_inputs) if isinstance(example_inputs, (tuple, list)) else func(example_inputs)
    return func


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


def __getattr__(name):
    raise AttributeError(f"module 'torch.jit' has no attribute '{name}': Taeda has no compiler of TorchScript")
