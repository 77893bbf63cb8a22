"""torch._dynamo, as programs set it up that call torch.compile: there is no compiler, so every function stays as it is."""

import types

from ..compiler import allow_in_graph, disable, is_compiling, reset  # noqa: F401
from ..settings import compile
from . import config  # noqa: F401


class OptimizedModule:
    """The class of compiled modules; nothing is one."""


eval_frame = types.SimpleNamespace(OptimizedModule=OptimizedModule)


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


mark_static = maybe_mark_dynamic = mark_dynamic
