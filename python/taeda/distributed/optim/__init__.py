"""torch.distributed.optim."""

from .distributed import DistributedOptimizer  # noqa: F401
