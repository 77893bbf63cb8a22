"""torch.utils.data._utils.worker."""

from ..worker import get_worker_info

__all__ = ["get_worker_info"]
