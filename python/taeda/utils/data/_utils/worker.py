"""torch.utils.data._utils.worker."""

from ..worker import WorkerInfo, _generate_state, get_worker_info  # noqa: F401

__all__ = ["WorkerInfo", "get_worker_info"]
