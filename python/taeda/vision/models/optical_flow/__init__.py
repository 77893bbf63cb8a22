"""Networks that tell where each pixel of a picture went in another one."""

from .raft import *  # noqa: F403
