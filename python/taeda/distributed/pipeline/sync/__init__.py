"""torch.distributed.pipeline.sync."""

from .pipe import NoChunk, Pipe, PipeSequential, WithDevice  # noqa: F401
