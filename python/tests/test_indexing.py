"""Reading and writing by index: NumPy's rules where both have one, PyTorch's where they differ."""

import random

import numpy as np
import pytest
import taeda as torch

SHAPE = (3, 4, 5)


def numbers():
    array = np.arange(60).reshape(SHAPE)
    return torch.from_numpy(array.copy()), array


N = None
E = Ellipsis
S = slice
CASES = [
    0, -1, (0,), (0, 1), (0, 1, 2), (-1, -1, -1), S(None), S(1, None), S(None, 2), S(-2, None), S(0, 3, 2), S(1, 1), S(5, 9),
    S(-99, 99), (S(None), 0), (S(None), S(1, 3)), (0, S(None), S(0, 5, 2)), E, (E, 0), (0, E), (0, E, 0), (E, S(None), 1),
    (S(None), E, 1), (0, 1, 2, E), N, (N, 0), (0, N), (E, N), (N, E, N), (S(None), N, 0), (N, N, 0, N),
    [0, 2], ([0, 2],), ([[0, 1], [2, 0]],), ([0, 1], [1, 2]), ([0, 1], S(None), [1, 2]), (S(None), [0, 1], [1, 2]),
    ([0, 1], 2), (2, [0, 1]), (0, S(None), [1, 2]), ([0, 1], S(None), 2), ([[0], [1]], [0, 1]), (S(1, 3), [0, 1], N),
    (N, [0, 1]), ([0, 1], N, [0, 1]), (E, [0, 1]), ([0], [1], [2]), ([-1, -2],), (S(0, 3, 2), S(None), [4, 0]),
    (0, [0, 1], N, [1, 2]), ([], ), (S(None), []), ([0, 0, 0],),
]


def in_steps(index):
    """An index as PyTorch takes it: numbers, slices and None first, then arrays together. NumPy counts numbers as arrays."""
    index = index if isinstance(index, tuple) else (index,)
    arrays = [np.asarray(i, dtype=int) if isinstance(i, list) else i for i in index]
    if not any(isinstance(i, np.ndarray) for i in arrays):
        return tuple(arrays), None
    basic = tuple(slice(None) if isinstance(i, np.ndarray) else i for i in arrays)
    after = tuple(i if isinstance(i, np.ndarray) else Ellipsis if i is Ellipsis else slice(None)
                  for i in arrays if not isinstance(i, int))
    return basic, after


def read(array, index):
    basic, after = in_steps(index)
    return array[basic] if after is None else array[basic][after]


def write(array, index, value):
    basic, after = in_steps(index)
    if after is None:
        array[basic] = value
    else:
        array[basic][after] = value


def text(index):
    return repr(index).replace("slice", "S").replace("None", "N").replace("Ellipsis", "...")


@pytest.mark.parametrize("index", CASES, ids=text)
def test_reading_is_numpy_s(index):
    x, array = numbers()
    expected = read(array, index)
    got = x[index]
    assert tuple(got.shape) == np.shape(expected)
    assert np.array_equal(got.numpy(), expected)


@pytest.mark.parametrize("index", CASES, ids=text)
def test_writing_is_numpy_s(index):
    x, array = numbers()
    x[index] = -7
    write(array, index, -7)
    assert np.array_equal(x.numpy(), array)
    places = read(np.arange(60).reshape(SHAPE), index)
    if np.unique(places).size == np.size(places):  # else the last one wins, or the first
        values = np.arange(np.size(places)).reshape(np.shape(places)) + 100
        x[index] = torch.from_numpy(np.ascontiguousarray(values))
        write(array, index, values)
        assert np.array_equal(x.numpy(), array)


def test_basic_indices_are_views_and_others_are_copies():
    x = torch.zeros(3, 4)
    for index in (0, S(1, 3), (S(None), 2), E, N, (0, S(None)), (E, N)):
        x.zero_()
        x[index].fill_(1)
        assert x.sum() > 0, index
    for index in ([0, 1], torch.tensor([0, 1]), x == 0, (S(None), [1])):
        x.zero_()
        x[index].fill_(1)
        assert x.sum() == 0, index


def test_masks():
    x, array = numbers()
    mask = array % 7 == 0
    assert np.array_equal(x[torch.from_numpy(mask)].numpy(), array[mask])
    assert np.array_equal(x[mask].numpy(), array[mask])
    rows = np.array([True, False, True])
    assert np.array_equal(x[torch.from_numpy(rows)].numpy(), array[rows])
    assert np.array_equal(x[[True, False, True]].numpy(), array[rows])
    assert np.array_equal(x[torch.from_numpy(rows), 1].numpy(), array[rows, 1])
    x[x > 30] = 0
    array[array > 30] = 0
    assert np.array_equal(x.numpy(), array)
    x[torch.zeros(SHAPE, dtype=torch.bool)] = 5
    assert np.array_equal(x.numpy(), array)
    assert x[True].shape == (1, *SHAPE) and x[False].shape == (0, *SHAPE)
    bytes_ = torch.tensor([1, 0, 1], dtype=torch.uint8)
    assert torch.equal(x[bytes_.bool()], x[[0, 2]])


def test_masks_of_another_shape():
    x = torch.zeros(3, 4)
    with pytest.raises(IndexError, match="The shape of the mask \\[4\\] at index 0 does not match the shape of the indexed "
                                         "tensor \\[3, 4\\] at index 0"):
        x[torch.ones(4, dtype=torch.bool)]


def test_tensors_as_indices():
    x, array = numbers()
    one = torch.tensor(1)
    assert np.array_equal(x[one].numpy(), array[1])
    assert np.array_equal(x[one, torch.tensor([0, 2])].numpy(), array[1, [0, 2]])
    assert np.array_equal(x[torch.tensor([[0, 1], [2, 0]])].numpy(), array[[[0, 1], [2, 0]]])
    assert np.array_equal(x[np.array([0, 2])].numpy(), array[[0, 2]])
    assert np.array_equal(x[np.int64(2)].numpy(), array[2])
    assert np.array_equal(x[torch.tensor(0):torch.tensor(2)].numpy(), array[0:2])
    assert np.array_equal(x[torch.tensor([0, 1], dtype=torch.int32)].numpy(), array[:2])
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool"):
        x[torch.tensor([0.0, 1.0])]


def test_values_that_are_written():
    x = torch.zeros(2, 3)
    x[0] = torch.tensor([1, 2, 3])
    x[1, 1:] = 4.5
    assert x.tolist() == [[1, 2, 3], [0, 4.5, 4.5]]
    x[:, 0] = torch.tensor(9.0)
    x[..., 2] = torch.tensor([7.0, 8.0])
    assert x.tolist() == [[9, 2, 7], [9, 4.5, 8]]
    x[0, 0] = np.float32(3)
    assert x[0, 0] == 3
    for wrong in ([1.0, 2.0, 3.0], (1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0], dtype=np.float32), None, "1"):
        for place in (0, ..., torch.tensor([0])):
            with pytest.raises(TypeError, match=f"can't assign a .*{type(wrong).__name__} to a torch.FloatTensor"):
                x[place] = wrong
    x[1] = True
    assert x[1].tolist() == [1, 1, 1]
    x[[0, 1], [0, 1]] = torch.tensor([5.0, 6.0])
    assert x[0, 0] == 5 and x[1, 1] == 6
    x[:] = torch.arange(6.0).view(1, 2, 3)  # ones in front
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    y = torch.zeros(3, dtype=torch.long)
    y[1] = 2.9
    assert y.tolist() == [0, 2, 0]
    x += 1
    x[0] += 1
    x[[0, 0], [0, 0]] += 1
    assert x.tolist() == [[3, 3, 4], [4, 5, 6]]


ERRORS = [
    (lambda x: x[3], IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[-4], IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[0, 4], IndexError, "index 4 is out of bounds for dimension 1 with size 4"),
    (lambda x: x[0, 0, 0, 0], IndexError, "too many indices for tensor of dimension 3"),
    (lambda x: x[[3]], IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[[0, 1], [0, 1, 2]], IndexError, "shape mismatch: indexing tensors could not be broadcast together with "
     r"shapes \[2\], \[3\]"),
    (lambda x: x["a"], (IndexError, TypeError), "."),
    (lambda x: x[1.5], IndexError, "only integers, slices"),
    (lambda x: x[::-1], ValueError, "step must be greater than zero"),
    (lambda x: x[0, 0, 0][0], IndexError, "invalid index of a 0-dim tensor. Use `tensor.item\\(\\)`"),
    (lambda x: len(x[0, 0, 0]), TypeError, "len\\(\\) of a 0-d tensor"),
    (lambda x: x.__setitem__(0, torch.zeros(2)), RuntimeError, "."),
    (lambda x: x.__delitem__(0), (TypeError, AttributeError), "."),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    call, kind, message = ERRORS[number]
    with pytest.raises(kind, match=message):
        call(numbers()[0])


def test_gradients_of_indices():
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    (x[0, 1:] * 2).sum().backward()
    assert x.grad.tolist() == [[0, 2, 2], [0, 0, 0]]
    x.grad = None
    (x[[0, 0, 1], [1, 1, 2]] * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [[0, 3, 0], [0, 0, 4]]
    x.grad = None
    x[x > 2].sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [1, 1, 1]]
    y = x * 1
    value = torch.ones(2, requires_grad=True)
    y[:, 0] = value * 3
    y.sum().backward()
    assert value.grad.tolist() == [3, 3]


def test_iteration():
    x = torch.arange(6).view(2, 3)
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    a, b = x
    assert b.tolist() == [3, 4, 5]
    assert 5 in x and 7 not in x
    assert len(x) == 2
    assert [r.tolist() for r in reversed(x)] == [[3, 4, 5], [0, 1, 2]]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.tensor(1))
    assert list(zip(torch.tensor([1, 2]), "ab"))[1][1] == "b"


def random_index(rng, shape):
    out, dims = [], list(shape)
    ellipsis = False
    joined = None
    while dims and rng.random() < 0.85:
        kind = rng.choice("islnem")
        size = dims[0]
        if kind == "n":
            out.append(None)
        elif kind == "e" and not ellipsis:
            ellipsis = True
            out.append(Ellipsis)
            del dims[:rng.randrange(len(dims) + 1)]
        elif kind == "i" and size:
            out.append(rng.randrange(-size, size))
            del dims[0]
        elif kind == "s":
            out.append(slice(rng.choice([None, rng.randrange(-size - 1, size + 2)]),
                             rng.choice([None, rng.randrange(-size - 1, size + 2)]), rng.choice([None, 1, 2, 3])))
            del dims[0]
        elif kind == "l" and size:
            joined = joined or rng.randrange(1, 4)
            out.append(np.array([rng.randrange(-size, size) for _ in range(joined)]))
            del dims[0]
        elif kind == "m":
            if joined:  # as many chosen as others choose
                continue
            mask = np.array([rng.random() < 0.5 for _ in range(size)], dtype=bool)
            joined = int(mask.sum()) or None
            if not joined:
                continue
            out.append(mask)
            del dims[0]
    return tuple(out)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed):
    """Chains of basic indexing, and reads and writes by any index, stay NumPy's through views of views."""
    rng = random.Random(seed)
    for _ in range(300):
        shape = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(1, 5)))
        array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        x = torch.from_numpy(array.copy())
        base_x, base_array = x, array
        for _ in range(rng.randrange(1, 4)):
            index = random_index(rng, array.shape)
            try:
                expected = read(array, index)
            except IndexError:
                with pytest.raises(IndexError):
                    x[tuple(torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)]
                continue
            as_tensors = tuple(torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)
            got = x[as_tensors]
            assert tuple(got.shape) == np.shape(expected), (shape, index)
            assert np.array_equal(got.numpy(), expected), (shape, index)
            value = rng.randrange(1000)
            x[as_tensors] = value
            write(array, index, value)
            assert np.array_equal(base_x.numpy(), base_array), (shape, index)
            if not any(isinstance(i, np.ndarray) for i in index) and np.ndim(expected) and np.size(expected):
                x, array = x[as_tensors], array[index]
