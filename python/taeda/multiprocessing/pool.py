"""Pools of processes."""

import multiprocessing.pool

__all__ = ["Pool"]


class Pool(multiprocessing.pool.Pool):
    """Python's, whose tensors go through shared memory as those of every queue do."""
