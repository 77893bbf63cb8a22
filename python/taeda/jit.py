"""TorchScript's names: Taeda runs functions and modules as they are, and has no scripts to save or load."""

import functools

from .nn import Module as ScriptModule  # noqa: F401


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, class or module as it is."""
    return obj if obj is not None else functools.partial(script)


def trace(func=None, example_inputs=None, *args, **kwargs):
    """The function or module as it is."""
    return func


def ignore(drop=False, **kwargs):
    return drop if callable(drop) else lambda function: function


def export(fn):
    return fn


unused = script_method = interface = export


def is_scripting():
    return False


def is_tracing():
    return False


def annotate(the_type, the_value):
    return the_value


def save(m, f, _extra_files=None):
    raise NotImplementedError("torch.jit.save: Taeda has no TorchScript; torch.save(module.state_dict(), f) saves weights")


def load(f, map_location=None, _extra_files=None):
    raise NotImplementedError("torch.jit.load: Taeda has no TorchScript; torch.load reads weights")
