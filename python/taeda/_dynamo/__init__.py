"""torch._dynamo, as programs set it up that call torch.compile: there is no compiler, so every function stays as it is."""

import types

from ..nn.modules.module import Module
from ..compiler import (  # noqa: F401
    allow_in_graph, assume_constant_result, disable, is_compiling, nonstrict_trace, reset, substitute_in_graph)
from ..settings import compile
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
        if name in self.__dict__ or "_orig_mod" not in self.__dict__.get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})


eval_frame = types.SimpleNamespace(OptimizedModule=OptimizedModule)


forbid_in_graph = allow_in_graph


def graph_break(msg=""):
    """Nothing to break."""


def optimize(*args, **kwargs):
    """A decorator that gives the function itself."""
    return compile


def is_dynamo_supported():
    return False


def list_backends(exclude_tags=()):
    """None."""
    return []


def mark_dynamic(tensor, index, **limits):
    """Accepted: sizes may always change."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_dynamic
