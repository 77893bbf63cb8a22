"""The same names where some programs look for them."""

from . import *  # noqa: F403
from . import ReduceOp, Work  # noqa: F401
from .constants import default_pg_timeout  # noqa: F401
from .groups import _Group  # noqa: F401


def _get_default_group():
    from .. import _C
    return _C._distributed.default_group()


def _set_pg_timeout(timeout, group=None):
    import warnings

    from .groups import set_timeout
    warnings.warn("`torch.distributed.distributed_c10d._set_pg_timeout` is deprecated, please use "
                  "`torch.distributed.set_timeout` instead", FutureWarning, stacklevel=2)
    set_timeout(timeout, group)
