"""torch.compiler: what programs say to a compiler. Taeda has none: functions stay as they are, and nothing is ever compiled."""

import contextlib

from ._dynamo import (  # noqa: F401
    allow_in_graph, assume_constant_result, compile, disable, is_compiling, is_dynamo_compiling, is_exporting, list_backends,
    nested_compile_region, nonstrict_trace, reset, substitute_in_graph, wrap_numpy)

__all__ = ["compile", "reset", "allow_in_graph", "assume_constant_result", "nonstrict_trace", "nested_compile_region",
           "disable", "set_stance", "substitute_in_graph", "wrap_numpy", "list_backends", "is_compiling", "is_dynamo_compiling",
           "is_exporting", "cudagraph_mark_step_begin"]


class set_stance(contextlib.ContextDecorator):
    """A block, or a function, for which nothing changes."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile",
                          "aot_eager_then_compile"):
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def cudagraph_mark_step_begin():
    """Nothing to mark."""
