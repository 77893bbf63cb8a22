"""torch._dynamo, as programs set it up that call torch.compile: there is no compiler, so every function stays as it is."""

import types

from ..nn.modules.module import Module
from .._core.warnings import warn_once
from . import config  # noqa: F401


class OptimizedModule(Module):
    """A module that torch.compile has taken: `_orig_mod` is what it was given, which does all the work and names all state."""

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        Module.__setattr__(self, "_orig_mod", mod)
        self.__dict__["training"] = mod.training

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name):
        own = self.__dict__.get("_modules", {})
        if name in own or "_orig_mod" not in own:
            return super().__getattr__(name)
        return getattr(own["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name == "_orig_mod" or name in self.__dict__ or "_orig_mod" not in self.__dict__.get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})


eval_frame = types.SimpleNamespace(OptimizedModule=OptimizedModule)


def compile(model=None, **options):
    """Returns the function as it is, and a module within one that has PyTorch's name for it: Taeda runs operations one by one.

    Said once. The argument is a function or a module.

    >>> torch.compile(nn.Linear(2, 3))(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """
    if model is None:
        return lambda function: compile(function, **options)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    warn_once("torch.compile compiles nothing: Taeda has no compiler, and its eager steps need none")
    if isinstance(model, Module):
        return OptimizedModule(model)
    return model


def graph_break(msg=""):
    """Nothing to break."""


def optimize(*args, **kwargs):
    """A decorator that gives the function itself."""
    return compile


def is_dynamo_supported():
    return False


def reset():
    """Nothing to forget."""


def allow_in_graph(fn):
    """The function itself."""
    return fn


assume_constant_result = nonstrict_trace = nested_compile_region = wrap_numpy = forbid_in_graph = allow_in_graph


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """A decorator that gives back the function."""
    return lambda function: function


def disable(fn=None, recursive=True, *, reason=None):
    """The function itself; without one, a decorator."""
    return (lambda function: function) if fn is None else fn


def list_backends(exclude_tags=("debug", "experimental")):
    """None."""
    return []


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def mark_dynamic(tensor, index, **limits):
    """Accepted: sizes may always change."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_dynamic
