"""What a worker process of a loader does, and how examples are fetched there and here."""

import os
import random
import socket
import sys

from ... import _C
from ..._core.failures import ExceptionWrapper
from . import channel
from .collate import default_collate
from .dataset import Subset

_POLL_SECONDS = 5.0  # how often a waiting worker looks whether its loader still lives
_info = None


class WorkerInfo:
    """What a data set's copy knows of the worker it is in: `id`, `num_workers`, `seed`, `dataset`."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


def get_worker_info():
    """What a data set's copy knows of the worker of a loader it is in: `id`, `num_workers`, `seed` (scalars) and `dataset`;
    None elsewhere.

    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return _info


class EndOfIteration:
    """Sent in the place of a batch: the worker's iterable data set has no more."""


class Resume:
    """Sent to a worker that persists: an epoch begins. The worker sends it back."""


class IndexedFetcher:
    """Batches of a data set with numbered examples."""

    def __init__(self, dataset, batches, collate, drop_last):
        self.dataset, self.batches, self.collate = dataset, batches, collate
        self.rows = row_reader(dataset, collate) if batches else None

    def fetch(self, indices):
        if not self.batches:
            return self.collate(self.dataset[indices])
        if self.rows is not None and indices and all(type(i) is int for i in indices):
            found = self._places(indices)
            if found is not None:
                return self.rows(_C._tensor_from(found, _C.int64, None))
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.collate(self.dataset.__getitems__(indices))
        return self.collate([self.dataset[i] for i in indices])

    def _places(self, indices):
        """Rows of the innermost data set, or None for numbers that it has not: reading them one by one says so."""
        dataset = self.dataset
        while type(dataset) is Subset:
            indices = [dataset.indices[i] for i in indices]
            dataset = dataset.dataset
        size = len(dataset)
        if not all(type(i) is int and -size <= i < size for i in indices):
            return None
        return [i if i >= 0 else i + size for i in indices]


def row_reader(dataset, collate):
    """A function of row numbers that gives a batch as one operation for each of its tensors, where the data set has one."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    find = getattr(dataset, "_row_reader", None)
    return find() if find is not None and collate is default_collate else None


class IterableFetcher:
    """Batches of a data set that gives one example after another."""

    def __init__(self, dataset, batches, collate, drop_last):
        self.iterator = iter(dataset)
        self.batches, self.collate, self.drop_last = batches, collate, drop_last
        self.ended = False

    def fetch(self, indices):
        if self.ended:
            raise StopIteration
        if not self.batches:
            return self.collate(next(self.iterator))
        examples = []
        for _ in indices:
            try:
                examples.append(next(self.iterator))
            except StopIteration:
                self.ended = True
                break
        if not examples or (self.drop_last and len(examples) < len(indices)):
            raise StopIteration
        return self.collate(examples)


def _generate_state(base_seed, worker_id):
    """What NumPy's generator of a worker is seeded with: four numbers of 32 bits."""
    import numpy
    return numpy.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4)


def _seed_numpy(worker_id, base_seed):
    """Seeds NumPy's random numbers, if the program has them, from the loader's seed and the worker's number."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_generate_state(base_seed, worker_id))


def _receive(end, parent):
    """The next message; None when the loader is gone."""
    while True:
        try:
            return channel.receive(end)
        except socket.timeout:
            if os.getppid() != parent:
                return None
        except (EOFError, OSError):
            return None


def _send(end, number, value, worker_id, parent):
    try:
        message = channel.Message((number, value))
    except Exception:
        message = channel.Message((number, ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")))
    try:
        while True:
            try:
                return message.send(end)
            except socket.timeout:
                if os.getppid() != parent:
                    raise BrokenPipeError from None
    finally:
        message.close()


def _portable(error):
    """The wrapper, as a RuntimeError if its exception's class cannot be found from another process."""
    try:
        channel.Message(error)
    except Exception:
        error.exc_type = RuntimeError
    return error


def run(end, parent, fetcher_class, dataset, batches, collate, drop_last, base_seed, init, worker_id, num_workers):
    """Runs in the process: answers each (number, indices) by (number, batch), until the loader closes the channel."""
    global _info
    from ...random import manual_seed
    if parent is None:
        parent = os.getppid()
    try:
        _C.set_num_threads(1)
        seed = base_seed + worker_id
        random.seed(seed)
        manual_seed(seed)
        _seed_numpy(worker_id, base_seed)
        end.settimeout(_POLL_SECONDS)
        _info = WorkerInfo(id=worker_id, num_workers=num_workers, seed=seed, dataset=dataset)
        failure = fetcher = None
        try:
            if init is not None:
                init(worker_id)
            fetcher = fetcher_class(dataset, batches, collate, drop_last)
        except Exception:
            failure = _portable(ExceptionWrapper(where=f"in DataLoader worker process {worker_id}"))
        while (request := _receive(end, parent)) is not None:
            number, indices = request
            if isinstance(indices, Resume):
                fetcher = None
                try:
                    fetcher = fetcher_class(dataset, batches, collate, drop_last)
                except Exception:
                    failure = _portable(ExceptionWrapper(where=f"in DataLoader worker process {worker_id}"))
                _send(end, number, indices, worker_id, parent)
                continue
            if failure is not None:
                answer, failure = failure, None
            elif fetcher is None:
                answer = EndOfIteration()
            else:
                try:
                    answer = fetcher.fetch(indices)
                except StopIteration:
                    if fetcher_class is IterableFetcher:
                        answer, fetcher = EndOfIteration(), None
                    else:
                        answer = _portable(ExceptionWrapper(where=f"in DataLoader worker process {worker_id}"))
                except Exception:
                    answer = _portable(ExceptionWrapper(where=f"in DataLoader worker process {worker_id}"))
            _send(end, number, answer, worker_id, parent)
            del answer, request, indices
    except (KeyboardInterrupt, BrokenPipeError, ConnectionError):
        pass  # the main process has been interrupted, too, or is gone
    finally:
        end.close()
