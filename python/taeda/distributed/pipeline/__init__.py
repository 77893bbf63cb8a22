"""torch.distributed.pipeline: a model's parts on several devices."""

from . import sync  # noqa: F401
