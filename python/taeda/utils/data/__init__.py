"""Data sets, the orders in which they are visited, and loaders that make batches of them."""

from . import dataset, distributed, sampler
from .collate import default_collate, default_convert
from .dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset,
                      random_split)
from .distributed import DistributedSampler
from .sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                      WeightedRandomSampler)
from . import dataloader
from .dataloader import DataLoader
from .worker import get_worker_info
from . import collate as _collate, worker as _worker


class _utils:
    """What programs reach for below torch.utils.data._utils."""

    collate, worker = _collate, _worker


__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
           "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
           "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert",
           "get_worker_info", "random_split"]
