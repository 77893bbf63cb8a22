"""Data sets: examples by number, or one after another."""

import abc
import bisect
import itertools
import typing

from ... import _C
from ..._core.warnings import warn
from ..._tensor import Tensor

_T = typing.TypeVar("_T", covariant=True)


class Dataset(typing.Generic[_T]):
    """Examples by number or key: a class of your own defines `__getitem__` and, for most samplers, `__len__`. It may define
    `__getitems__(indices)`, which loaders call for a whole batch.

    Shapes: examples of any; `a + b` is a ConcatDataset.

    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> [Squares()[i] for i in range(4)]
    [0, 1, 4, 9]
    """

    def __getitem__(self, index) -> _T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset[_T]") -> "ConcatDataset[_T]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T], metaclass=abc.ABCMeta):
    """Examples one after another: a class of your own defines `__iter__`. In a worker of a loader, get_worker_info says which
    part of them is this worker's.

    Shapes: examples of any; `a + b` is a ChainDataset.

    >>> class Count(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(Count())
    [0, 1, 2]
    """

    @abc.abstractmethod
    def __iter__(self) -> typing.Iterator[_T]:
        ...

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset[typing.Tuple[Tensor, ...]]):
    """Example i is the i-th slice along dimension 0 of each tensor, in a tuple.

    Shapes: tensors [n, *] of one n, else AssertionError; examples [*].

    >>> torch.utils.data.TensorDataset(torch.tensor([[1, 2], [3, 4]]), torch.tensor([5, 6]))[1]
    (tensor([3, 4]), tensor(6))
    """

    def __init__(self, *tensors: Tensor) -> None:
        assert all(tensors[0].size(0) == t.size(0) for t in tensors), "Size mismatch between tensors"
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)

    def _row_reader(self):
        """How a loader reads a batch at once; None where examples have to be read one by one."""
        plain = all(type(t).__name__ == "Tensor" and not t.is_sparse and not t.requires_grad for t in self.tensors)
        if type(self) is not TensorDataset or not plain:
            return None
        return lambda rows: [_C.index_select(t, 0, rows.to(t.device)) for t in self.tensors]


class StackDataset(Dataset):
    """Example i has the i-th example of each data set, in a tuple or, for data sets by name, in a dict.

    Shapes: data sets of one length, else ValueError; examples of any.

    >>> torch.utils.data.StackDataset(a=[1, 2], b=[3, 4])[0]
    {'a': 1, 'b': 3}
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                             "but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        parts = list(args or kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices):
        def fetch(part):
            if not callable(getattr(part, "__getitems__", None)):
                return [part[i] for i in indices]
            items = part.__getitems__(indices)
            if len(items) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
            return items
        if isinstance(self.datasets, dict):
            columns = [fetch(part) for part in self.datasets.values()]
            return [dict(zip(self.datasets, row)) for row in zip(*columns)]
        return list(zip(*(fetch(part) for part in self.datasets)))

    def __len__(self):
        return self._length


class ConcatDataset(Dataset[_T]):
    """The examples of several data sets, one set behind the other.

    datasets: at least one, with numbered examples, else AssertionError

    Shapes: examples of any; its length is the sum of theirs.

    >>> torch.utils.data.ConcatDataset([[1, 2], [3]])[2]
    3
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        assert self.datasets, "datasets should not be an empty iterable"
        assert not any(isinstance(d, IterableDataset) for d in self.datasets), \
            "ConcatDataset does not support IterableDataset"
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    @property
    def cummulative_sizes(self):
        warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning)
        return self.cumulative_sizes

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[part][index - (self.cumulative_sizes[part - 1] if part else 0)]


class ChainDataset(IterableDataset):
    """The examples of several iterable data sets, one set behind the other.

    Shapes: examples of any.

    >>> class Count(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(torch.utils.data.ChainDataset([Count(), Count()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for dataset in self.datasets:
            assert isinstance(dataset, IterableDataset), "ChainDataset only supports IterableDataset"
            yield from dataset

    def __len__(self):
        assert all(isinstance(d, IterableDataset) for d in self.datasets), "ChainDataset only supports IterableDataset"
        return sum(len(d) for d in self.datasets)


class Subset(Dataset[_T]):
    """Some examples of a data set, by their numbers there.

    Shapes: examples of any; its length is that of `indices`.

    >>> torch.utils.data.Subset(["a", "b", "c"], [2, 0])[0]
    'c'
    """

    def __init__(self, dataset: Dataset[_T], indices: typing.Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices):
        wanted = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(wanted)
        return [self.dataset[i] for i in wanted]

    def __len__(self):
        return len(self.indices)


def random_split(dataset: Dataset[_T], lengths: typing.Sequence[typing.Union[int, float]],
                 generator: typing.Optional[_C.Generator] = None) -> typing.List[Subset[_T]]:
    """Disjoint subsets of random examples.

    lengths: how many examples each has, whose sum is the data set's length, else ValueError; or fractions that sum to 1
    generator: draws them; the default one unless given

    Shapes: examples of any.

    >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.7, 0.3])]
    [7, 3]
    """
    return [Subset(dataset, part) for part in _C._random_split(len(dataset), lengths, generator)]
