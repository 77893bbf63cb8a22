"""Data sets, samplers, collation: values and words of PyTorch."""

import collections
import json
import pathlib
import sys
import warnings

import numpy as np
import pytest

import taeda as torch
from taeda.utils.data import (BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, DistributedSampler,
                              IterableDataset, RandomSampler, StackDataset, Subset, TensorDataset, WeightedRandomSampler,
                              default_collate, default_convert, random_split)

GOLDEN = pathlib.Path(__file__).parent / "golden"


class Numbers(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return i


class Stream(IterableDataset):
    def __init__(self, size=None):
        self.size = size

    def __iter__(self):
        return iter(range(7))

    def __len__(self):
        if self.size is None:
            raise TypeError("object of type 'Stream' has no len()")
        return self.size


def _close(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_close, a, b))
    return a == b or abs(a - b) < 1e-6


def test_orders_and_numbers_are_pytorchs(tmp_path, run_python):
    """Samplers, splits, and loaders with 0 to 3 workers, by the same script that PyTorch 2.15 ran."""
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "data_order.py"), str(out))
    expected, got = json.loads((GOLDEN / "data_order.json").read_text()), json.loads(out.read_text())
    assert [name for name in expected if not _close(expected[name], got[name])] == []


def test_data_sets():
    data = Numbers()
    both = data + data
    assert isinstance(both, ConcatDataset) and len(both) == 20 and both[13] == 3 and both[-1] == 9
    assert list(ChainDataset([Stream(), Stream()])) == 2 * list(range(7))
    assert isinstance(Stream() + Stream(), ChainDataset)
    assert StackDataset(data, data)[3] == (3, 3) and StackDataset(a=data).__getitems__([1, 2]) == [{"a": 1}, {"a": 2}]
    assert Subset(data, [4, 5])[1] == 5 and Subset(data, [4, 5]).__getitems__([0, 1]) == [4, 5]
    x = torch.arange(8).view(4, 2)
    a, b = TensorDataset(x, torch.arange(4))[2]
    assert a.tolist() == [4, 5] and b.item() == 2


def test_fractions_are_rounded_down_and_the_rest_handed_round():
    generator = torch.Generator().manual_seed(1)
    assert [s.indices for s in random_split(Numbers(), [0.3, 0.3, 0.4], generator)] == [[5, 6, 1], [2, 0, 8], [9, 3, 7, 4]]
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0. This might result in an empty dataset."):
        assert [len(s) for s in random_split(Numbers(), [0.99, 0.01])] == [10, 0]


ERRORS = [
    (lambda d: ConcatDataset([]), AssertionError, "datasets should not be an empty iterable"),
    (lambda d: (d + d)[-21], ValueError, "absolute value of index should not exceed dataset length"),
    (lambda d: Dataset()[0], NotImplementedError, "Subclasses of Dataset should implement __getitem__."),
    (lambda d: TensorDataset(torch.zeros(2), torch.zeros(3)), AssertionError, "Size mismatch between tensors"),
    (lambda d: StackDataset(d, TensorDataset(torch.zeros(3))), ValueError, "Size mismatch between datasets"),
    (lambda d: random_split(d, [3, 3]), ValueError,
     "Sum of input lengths does not equal the length of the input dataset!"),
    (lambda d: random_split(d, [.5, -.5, 1]), ValueError, "Fraction at index 1 is not between 0 and 1"),
    (lambda d: RandomSampler(d, num_samples=0), ValueError,
     "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda d: RandomSampler(d, replacement=1), TypeError,
     "replacement should be a boolean value, but got replacement=1"),
    (lambda d: WeightedRandomSampler([[1, 2]], 2), ValueError,
     "weights should be a 1d sequence but given weights have shape (1, 2)"),
    (lambda d: BatchSampler([1], True, False), ValueError,
     "batch_size should be a positive integer value, but got batch_size=True"),
    (lambda d: DistributedSampler(d, 2, 2), ValueError, "Invalid rank 2, rank should be in the interval [0, 1]"),
    (lambda d: DataLoader(d, num_workers=-1), ValueError,
     "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."),
    (lambda d: DataLoader(d, prefetch_factor=2), ValueError,
     "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, "
     "otherwise set prefetch_factor to None."),
    (lambda d: DataLoader(d, persistent_workers=True), ValueError, "persistent_workers option needs num_workers > 0"),
    (lambda d: DataLoader(d, sampler=[1], shuffle=True), ValueError,
     "sampler option is mutually exclusive with shuffle"),
    (lambda d: DataLoader(d, batch_sampler=[[1]], batch_size=2), ValueError,
     "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"),
    (lambda d: DataLoader(d, None, drop_last=True), ValueError,
     "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"),
    (lambda d: DataLoader(Stream(), shuffle=True), ValueError,
     "DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True"),
    (lambda d: DataLoader(d, multiprocessing_context="fork"), ValueError,
     "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0"),
    (lambda d: setattr(DataLoader(d), "batch_size", 3), ValueError,
     "batch_size attribute should not be set after DataLoader is initialized"),
    (lambda d: next(iter(DataLoader(d, timeout=3))), AssertionError, "_SingleProcessDataLoaderIter requires timeout == 0"),
    (lambda d: default_collate([None]), TypeError,
     "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>"),
    (lambda d: default_collate([np.array("a")]), TypeError,
     "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <U1"),
    (lambda d: default_collate([[1, 2], [3]]), RuntimeError, "each element in list of batch should be of equal size"),
    (lambda d: default_collate([torch.zeros(2), torch.zeros(3)]), RuntimeError,
     "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
]


@pytest.mark.parametrize("call, kind, text", ERRORS, ids=[text[:40] for _, _, text in ERRORS])
def test_words(call, kind, text):
    with pytest.raises(kind) as error:
        call(Numbers())
    assert str(error.value) == text


def test_collate():
    pair = collections.namedtuple("pair", "a b")
    made = default_collate([{"x": pair(1, 2.5), "y": ("u", [True])}, {"x": pair(3, 4.5), "y": ("v", [False])}])
    assert made["x"].a.tolist() == [1, 3] and made["x"].b.dtype == torch.float64 and type(made["x"]) is pair
    assert made["y"][0] == ("u", "v") and made["y"][1][0].dtype == torch.bool
    arrays = default_collate([np.zeros(2, "float32"), np.ones(2, "float32")])
    assert arrays.shape == (2, 2) and arrays.dtype == torch.float32
    assert default_collate([np.float32(1), np.float32(2)]).dtype == torch.float32
    assert default_collate([b"a", b"b"]) == [b"a", b"b"]
    kept = default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert type(kept) is collections.OrderedDict
    converted = default_convert([np.zeros(1), (np.ones(1), "b")])
    assert converted[0].dtype == torch.float64 and converted[1][1] == "b"


def test_rows_of_tensors_are_gathered_as_examples_would_be():
    x, y = torch.randn(20, 3), torch.arange(20)
    plain = DataLoader(TensorDataset(x, y), 6, shuffle=True, generator=torch.Generator().manual_seed(2))
    one_by_one = DataLoader(TensorDataset(x, y), 6, shuffle=True, generator=torch.Generator().manual_seed(2),
                            collate_fn=lambda batch: default_collate(batch))
    for (a, b), (c, d) in zip(plain, one_by_one):
        assert torch.equal(a, c) and torch.equal(b, d)
    subset = DataLoader(Subset(Subset(TensorDataset(x, y), [3, 5, 7, 9]), [2, -1]), 2)
    assert next(iter(subset))[1].tolist() == [7, 9]
    weights = torch.randn(4, 2, requires_grad=True)
    next(iter(DataLoader(TensorDataset(weights), 2)))[0].sum().backward()
    assert weights.grad.tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
    with pytest.raises(IndexError):
        list(DataLoader(TensorDataset(x), batch_sampler=[[25]]))


def test_lengths():
    assert len(DataLoader(Numbers(), 3)) == 4 and len(DataLoader(Numbers(), 3, drop_last=True)) == 3
    with pytest.raises(TypeError, match=r"object of type 'Stream' has no len\(\)"):
        len(DataLoader(Stream()))
    loader = DataLoader(Stream(5), 2)
    assert len(loader) == 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(loader)
    assert "was reported to be 5" in str(caught[0].message)
    assert sys.getrefcount(loader) < 10
