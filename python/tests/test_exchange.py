"""Memory shared with NumPy and others, without copies and with the right owners."""

import array
import gc

import numpy as np
import pytest
import taeda as torch

DTYPES = ["float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "complex128"]


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_shares_memory(name):
    a = np.zeros((2, 3), dtype=name)
    t = torch.from_numpy(a)
    assert t.dtype == getattr(torch, name) and t.shape == (2, 3)
    t[0, 1] = 1
    assert a[0, 1] == 1
    b = t.numpy()
    assert b.dtype == a.dtype and np.shares_memory(a, b)
    assert np.shares_memory(np.asarray(t), a)


def test_strides_survive():
    a = np.arange(24.0).reshape(2, 3, 4)
    for view in (a[:, ::2], a.transpose(2, 0, 1), a[1], a[:, :, 1:3], a[0, 0, 0:0]):
        t = torch.from_numpy(view)
        assert t.tolist() == view.tolist()
        assert t.stride() == tuple(s // 8 for s in view.strides) or view.size == 0
    t = torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1)[::2]
    assert np.shares_memory(t.numpy(), t.permute(0, 1, 2).numpy()) and t.numpy().tolist() == t.tolist()


def test_what_numpy_cannot_give():
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="expected np.ndarray"):
        torch.from_numpy([1, 2])
    with pytest.raises(TypeError, match="can't convert np.ndarray of type"):
        torch.from_numpy(np.array(["a"]))
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        torch.ones(1, requires_grad=True).numpy()


def test_owners():
    a = np.ones(1000)
    t = torch.from_numpy(a)
    del a
    gc.collect()
    assert t.sum() == 1000
    b = t.numpy()
    del t
    gc.collect()
    assert b.sum() == 1000
    c = torch.ones(1000).numpy()[10:20]
    gc.collect()
    assert c.sum() == 10


def test_read_only_arrays():
    a = np.arange(3)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        t = torch.from_numpy(a)
    assert t.tolist() == [0, 1, 2]


def test_functions_of_numpy_take_tensors():
    t = torch.arange(4.0)
    assert np.sum(t.numpy()) == 6 and np.array(t).tolist() == [0, 1, 2, 3]
    assert np.asarray(t, dtype=np.int64).dtype == np.int64
    assert np.stack([t, t]).shape == (2, 4)
    assert (torch.ones(2) * np.array(3.0)).tolist() == [3, 3]
    assert torch.tensor(np.float64(1.5)).dtype == torch.float64
    assert torch.zeros(np.int64(2), np.int32(3)).shape == (2, 3)
    assert t[np.int64(1)] == 1 and t.sum(np.int64(0)) == 6 and t.view(np.int64(2), 2).shape == (2, 2)


def test_equality_with_arrays_is_of_elements():
    x, a = torch.arange(3.0), np.array([0.0, 5, 2])
    for found in (x == a, a == x):
        assert isinstance(found, torch.Tensor) and found.tolist() == [True, False, True]
    assert (x == np.float64(2)).tolist() == [False, False, True]
    assert (x == "x") is False and (x == b"abc") is False and (x == [0.0, 1, 2]) is False
    with pytest.raises(RuntimeError, match="must match the size"):
        x == np.ones(2)


def test_dlpack():
    t = torch.arange(6.0).view(2, 3)
    a = np.from_dlpack(t)
    a_writable = t.numpy()
    a_writable[0, 0] = 9
    assert a[0, 0] == 9
    back = torch.from_dlpack(a_writable)
    back[1, 1] = 7
    assert t[1, 1] == 7
    again = torch.from_dlpack(t.t())
    assert again.shape == (3, 2) and again.data_ptr() == t.data_ptr()
    capsule = torch.utils.dlpack.to_dlpack(t) if hasattr(torch, "utils") and hasattr(torch.utils, "dlpack") else t.__dlpack__()
    first = torch.from_dlpack(capsule)
    assert first.data_ptr() == t.data_ptr()
    with pytest.raises(RuntimeError, match="capsule"):
        torch.from_dlpack(capsule)
    assert t.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(1, requires_grad=True).__dlpack__()
    unused = t.__dlpack__()
    del unused, first
    gc.collect()
    assert t[1, 1] == 7


def test_buffers():
    a = array.array("f", [1, 2, 3])
    t = torch.frombuffer(a, dtype=torch.float32)
    t[0] = 5
    assert a[0] == 5
    assert torch.frombuffer(bytearray(8), dtype=torch.int32, count=1, offset=4).shape == (1,)
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(bytearray(5), dtype=torch.int16)
    with pytest.raises(ValueError, match="must be non-negative"):
        torch.frombuffer(bytearray(4), dtype=torch.int16, offset=-2)
    with pytest.raises(ValueError, match=r"count \(0\) must not be 0"):
        torch.frombuffer(bytearray(4), dtype=torch.int16, count=0)


def test_memory_where_numbers_cannot_lie():
    memory = bytearray(65)
    odd = np.frombuffer(memory, dtype=np.float64, count=8, offset=1).reshape(2, 4)
    odd[:] = np.arange(8).reshape(2, 4)
    for call in (lambda: torch.from_numpy(odd), lambda: torch.frombuffer(memory, dtype=torch.float64, count=8, offset=1)):
        with pytest.raises(ValueError, match="is not at a multiple of 8 bytes"):
            call()
    for copy in (torch.tensor(odd.T), torch.as_tensor(odd.T), torch.tensor([odd[:, 0], odd[:, 1]])):
        assert copy.data_ptr() % 8 == 0
    assert torch.tensor(odd.T).tolist() == torch.as_tensor(odd.T).tolist() == odd.T.tolist()


def test_lists_of_arrays():
    rows = [np.arange(3.0), np.arange(3, 6, dtype=np.int64)]
    made = torch.tensor(rows)
    assert made.dtype == torch.float64 and made.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert torch.tensor([rows, rows]).shape == (2, 2, 3)
    assert torch.tensor([np.float32(1), np.float32(2)]).tolist() == [1, 2]
    for unequal in ([np.zeros(3), np.zeros(1)], [[0, 0, 0], torch.zeros(1)]):
        with pytest.raises(ValueError, match=r"expected sequence of length 3 at dim 1 \(got 1\)"):
            torch.tensor(unequal)
    with pytest.raises(ValueError):
        torch.tensor([np.zeros((2, 2)), np.zeros(4)])


def test_one_copy_where_one_is_asked_for():
    a = np.ones(3, dtype=np.float32)
    assert np.shares_memory(torch.as_tensor(a).numpy(), a)
    assert not np.shares_memory(torch.tensor(a).numpy(), a)
    assert not np.shares_memory(torch.as_tensor(a, dtype=torch.double).numpy(), a)
    t = torch.ones(3)
    assert torch.as_tensor(t) is t and torch.asarray(t) is t and torch.asarray(t, copy=True) is not t


def test_numpy_is_not_needed(run_python):
    """Neither the import nor tensors' own work load NumPy."""
    program = ("import sys, taeda as torch\n"
               "torch.ones(2).add(1).tolist(); print(torch.ones(2))\n"
               "print('numpy' in sys.modules)\n")
    assert run_python(program) == "tensor([1., 1.])\nFalse\n"


def test_arrays_of_derived_classes(tmp_path):
    class Own(np.ndarray):
        pass

    def mapped(shape):
        return np.memmap(tmp_path / "numbers", dtype="float32", mode="w+", shape=shape)

    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    for given in (mapped((2, 3)), mapped((3,)), mapped(()), np.matrix([[1, 2]]), masked, np.arange(3).view(Own)):
        for made in (torch.tensor(given), torch.as_tensor(given), torch.from_numpy(given)):
            assert made.shape == given.shape and made.tolist() == np.asarray(given).tolist()
            assert made.dtype == torch.from_numpy(np.asarray(given)).dtype
