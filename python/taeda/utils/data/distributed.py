"""The share of a data set that one of several processes visits."""

import math
import typing

from ... import _C
from .sampler import Sampler

_T = typing.TypeVar("_T", covariant=True)


class DistributedSampler(Sampler[_T]):
    """Every `num_replicas`-th number of an order that all processes agree on, beginning with `rank`; scalars.

    dataset: of which the length is taken
    num_replicas, rank: how many processes there are and which this is; those of the default process group unless given
    shuffle: whether the order is random, another one for each `set_epoch`; True unless given
    seed: of the order; 0 unless given
    drop_last: whether numbers are left out so that all have as many, and not given twice; False unless given

    A rank outside of [0, num_replicas) is a ValueError.

    >>> list(torch.utils.data.distributed.DistributedSampler(range(5), num_replicas=2, rank=0, shuffle=False))
    [0, 2, 4]
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            from ... import distributed
            if not distributed.is_available():
                raise RuntimeError("Requires distributed package to be available")
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        size = len(dataset)
        if drop_last and size % num_replicas:
            self.num_samples = math.ceil((size - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        size = len(self.dataset)
        if self.shuffle:
            order = _C.randperm(size, generator=_C.Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            order = list(range(size))
        if self.drop_last:
            order = order[:self.total_size]
        elif size < self.total_size:
            order = (order * math.ceil(self.total_size / size))[:self.total_size]
        if len(order) != self.total_size:
            raise AssertionError(f"Number of indices ({len(order)}) does not match total_size ({self.total_size})")
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Has the next epoch in another order, the same for all processes that set the same number."""
        self.epoch = epoch
