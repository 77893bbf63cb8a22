"""The same names where some programs look for them."""

from . import *  # noqa: F403
from . import ReduceOp, Work  # noqa: F401
from .constants import default_pg_timeout  # noqa: F401
from .groups import _Group  # noqa: F401


def _get_default_group():
    from .. import _C
    return _C._distributed.default_group()
