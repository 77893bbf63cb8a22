"""torch.utils._pytree."""

from .._core.pytree import *  # noqa: F403
