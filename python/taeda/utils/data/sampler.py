"""The order in which a loader visits a data set. Random ones draw PyTorch's numbers."""

import itertools
import typing

from ... import _C

_T = typing.TypeVar("_T", covariant=True)


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _check_count(value):
    if not _is_count(value):
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={value}")


def _seeded_generator(generator):
    """The generator, or one that the default generator seeds."""
    if generator is not None:
        return generator
    return _C.Generator().manual_seed(int(_C.empty((), dtype=_C.int64).random_().item()))


class Sampler(typing.Generic[_T]):
    """Yields the numbers of examples, or lists of them: a class of your own defines `__iter__` and, mostly, `__len__`.

    Numbers are scalars.

    >>> class Backwards(torch.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> list(torch.utils.data.DataLoader([10, 11, 12], sampler=Backwards(), batch_size=None))
    [12, 11, 10]
    """

    def __iter__(self) -> typing.Iterator[_T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ... up to the length of a data set, scalars.

    >>> list(torch.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The numbers of a data set's examples in random order, scalars; each epoch in another one.

    data_source: the data set
    replacement: whether numbers are drawn independently; False unless given
    num_samples: how many; the data set's length unless given; not positive is a ValueError
    generator: draws; one that the default generator seeds unless given

    >>> sorted(torch.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count(self.num_samples)

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        size = len(self.data_source)
        generator = _seeded_generator(self.generator)
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from _C.randint(0, size, (32,), dtype=_C.int64, generator=generator).tolist()
            yield from _C.randint(0, size, (self.num_samples % 32,), dtype=_C.int64, generator=generator).tolist()
        else:
            for _ in range(self.num_samples // size):
                yield from _C.randperm(size, generator=generator).tolist()
            # Drawn even if nothing of it is left to give: the next epoch of a given generator depends on it.
            yield from _C.randperm(size, generator=generator).tolist()[:self.num_samples % size]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given numbers in random order, scalars; each epoch in another one.

    >>> sorted(torch.utils.data.SubsetRandomSampler([4, 2, 7]))
    [2, 4, 7]
    """

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _C.randperm(len(self.indices), generator=self.generator or _C.default_generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Numbers drawn with probabilities proportional to `weights` [n], which need not sum to one, scalars in [0, n).

    num_samples: how many; positive, else ValueError
    replacement: whether a number may come again; True unless given

    >>> list(torch.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        if isinstance(weights, _C.TensorBase):
            self.weights = weights.to(_C.float64)
        else:
            self.weights = _C._tensor_from(weights if isinstance(weights, (list, tuple)) else list(weights), _C.float64, None)
        if self.weights.dim() != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = _C.multinomial(self.weights, self.num_samples, self.replacement,
                               generator=self.generator or _C.default_generator)
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[typing.List[int]]):
    """Lists of `batch_size` of a sampler's numbers, scalars.

    batch_size: positive, else ValueError
    drop_last: whether a shorter last one is left out

    >>> list(torch.utils.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        if not _is_count(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size
