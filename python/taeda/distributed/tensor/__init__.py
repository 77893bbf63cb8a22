"""torch.distributed.tensor: how a tensor would lie on several devices. There are no tensors that do (docs/python.md)."""

from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
