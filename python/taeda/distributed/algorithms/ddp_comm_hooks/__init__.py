"""Communication hooks of DistributedDataParallel."""

from . import default_hooks, powerSGD_hook  # noqa: F401
