"""torch.distributed.optim."""

from .distributed import DistributedOptimizer  # noqa: F401
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer  # noqa: F401
