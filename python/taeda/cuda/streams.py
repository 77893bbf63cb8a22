"""torch.cuda.streams: queues of work."""

from . import Stream, Event, ExternalStream  # noqa: F401
