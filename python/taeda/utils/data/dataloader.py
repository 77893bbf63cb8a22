"""DataLoader: batches of a data set, in the sampler's order, made here or by worker processes ahead of time."""

import functools
import itertools
import multiprocessing
import os
import typing

from ... import _C
from . import _iterators, collate
from .collate import default_collate, default_convert  # noqa: F401
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .worker import IndexedFetcher, IterableFetcher, WorkerInfo, get_worker_info  # noqa: F401
from ..._core.warnings import warn

# The classes of iterators, by the names that programs look for.
_BaseDataLoaderIter, _SingleProcessDataLoaderIter = _iterators.Iterator, _iterators.SingleProcess
_MultiProcessingDataLoaderIter = _iterators.Processes
_T = typing.TypeVar("_T", covariant=True)
_collate_fn_t = typing.Callable[[typing.List[_T]], typing.Any]
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _DatasetKind:
    """The kinds of data sets by numbers, as loaders keep them."""

    Map, Iterable = 0, 1


class _Endless(Sampler[typing.Any]):
    """The sampler of an iterable data set, whose examples have no numbers."""

    def __iter__(self):
        return itertools.repeat(None)


def _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                         "multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _warn_of_many(num_workers):
    """More workers than cores only get into each other's way."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if num_workers and cores and num_workers > cores:
        warn(f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of "
             f"worker in current system is {cores}, which is smaller than what this DataLoader is going to "
             "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
             "freeze, lower the worker number to avoid potential slowness/freeze if necessary.")


class DataLoader(typing.Generic[_T]):
    """Iterates over batches of a data set.

    dataset: one with numbered examples (`__getitem__`, `__len__`) or an IterableDataset
    batch_size: how many examples a batch has; 1 unless given; None for examples one by one
    shuffle: whether each epoch is in another random order; False unless given
    sampler, batch_sampler: give the numbers of examples, or lists of them, in the place of shuffle and batch_size
    num_workers: processes that read ahead; 0 (unless given) for this one
    collate_fn: makes a batch of a list of examples; default_collate unless given
    pin_memory, drop_last, timeout: whether batches are put where devices read fast, whether a last short batch is left out,
        seconds to wait for a worker (0 for ever); False, False and 0 unless given
    worker_init_fn, multiprocessing_context, generator, prefetch_factor, persistent_workers: of workers

    Shapes: examples [*] to batches [batch_size, *]. Settings that contradict each other are a ValueError.

    >>> data = torch.utils.data.TensorDataset(torch.arange(5), torch.zeros(5, 2))
    >>> for x, y in torch.utils.data.DataLoader(data, batch_size=2):
    ...     print(x, y.shape)
    tensor([0, 1]) torch.Size([2, 2])
    tensor([2, 3]) torch.Size([2, 2])
    tensor([4]) torch.Size([1, 2])
    """

    _ready = False

    def __init__(self, dataset: Dataset[_T], batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._iterable = isinstance(dataset, IterableDataset)
        sampler, batch_sampler = self._checked_order(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterable:
                sampler = _Endless()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self._kept = None
        self._counts_on = None
        self._ready = True
        _warn_of_many(num_workers)

    def _checked_order(self, shuffle, sampler, batch_sampler):
        if self._iterable:
            start = "DataLoader with IterableDataset: expected unspecified"
            if shuffle:
                raise ValueError(f"{start} shuffle option, but got shuffle={shuffle}")
            if sampler is not None:
                raise ValueError(f"{start} sampler option, but got sampler={sampler}")
            if batch_sampler is not None:
                raise ValueError(f"{start} batch_sampler option, but got batch_sampler={batch_sampler}")
        return sampler, batch_sampler

    @property
    def multiprocessing_context(self):
        """How worker processes are started; None for the program's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                                 f"got num_workers={self.num_workers}")
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError("multiprocessing_context option should specify a valid start method in "
                                     f"{methods!r}, but got multiprocessing_context={context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                                f"start method, but got multiprocessing_context={context}")
        self._context = context

    def __setattr__(self, name, value):
        if self._ready and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        if self.persistent_workers and self.num_workers > 0:
            if self._kept is None:
                self._kept = self._get_iterator()
            else:
                self._kept.reset()
            return self._kept
        return self._get_iterator()

    def _get_iterator(self):
        if self.num_workers == 0:
            return _iterators.SingleProcess(self)
        _warn_of_many(self.num_workers)
        if _iterators.needs_no_process(self):
            return _iterators.Threads(self)
        return _iterators.Processes(self)

    def __len__(self):
        """Batches of an epoch; an estimate for an iterable data set that has a length."""
        if not self._iterable:
            return len(self._index_sampler)
        size = self._counts_on = len(self.dataset)
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)

    def _warn_of_more(self, given):
        """An iterable data set gives more than its length said."""
        if self._counts_on is None or given <= len(self):
            return
        text = (f"Length of IterableDataset {self.dataset} was reported to be {self._counts_on} (when accessing "
                f"len(dataloader)), but {given} samples have been fetched. ")
        if self.num_workers > 0:
            text += ("For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset "
                     "replica at each worker. Please see "
                     "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")
        warn(text)

    def _fetcher(self):
        """Makes what fetches batches, here or in a worker."""
        kind = IterableFetcher if self._iterable else IndexedFetcher
        return functools.partial(kind, self.dataset, self._auto_collation, self.collate_fn, self.drop_last)

    def _draw_seed(self):
        return int(_C.empty((), dtype=_C.int64).random_(generator=self.generator or _C.default_generator).item())


get_collate = collate.collate
