"""The memory behind tensors, as PyTorch 2.15 shows it."""

import copy
import gc
import pickle

import pytest

import taeda as torch


def test_tensors_over_a_storage():
    x = torch.arange(6.0)
    s = x.untyped_storage()
    for source in (s, x.storage()):
        y = torch.empty(0).set_(source)
        assert y.tolist() == x.tolist() and y.data_ptr() == x.data_ptr()
    assert torch.empty(0).set_(s, 2, (2, 2), (2, 1)).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert torch.empty(0).set_(source=s, storage_offset=1, size=(2,), stride=(1,)).tolist() == [1.0, 2.0]
    assert torch.empty(0, dtype=torch.int16).set_(s).shape == (12,)
    with pytest.raises(RuntimeError, match="Expected a Storage of type int32 or an UntypedStorage"):
        torch.empty(0, dtype=torch.int32).set_(x.storage())
    with pytest.raises(RuntimeError, match="out of bounds for one of 24"):
        torch.empty(0).set_(s, 0, (7,))
    for made in (torch.FloatTensor(x.storage()), torch.FloatTensor(s), x.new(s), x.new(x.storage())):
        assert made.data_ptr() == x.data_ptr() and made.shape == (6,)


def test_elements_and_slices():
    x = torch.arange(4.0)
    s, t = x.untyped_storage(), x.storage()
    assert s[4:8].tolist() == [0, 0, 128, 63] and len(s[1:3]) == 2 and s[-1] == 64 and t[-1] == 3.0
    s[7] = 64
    assert x.tolist() == [0.0, 4.0, 2.0, 3.0]
    s[4:8].fill_(0)  # the same memory, which lives as long as the slice
    assert x[1] == 0
    t[0], t[2:4] = 5, 7
    assert x.tolist() == [5.0, 0.0, 7.0, 7.0]
    part = torch.arange(3.0).untyped_storage()[8:12]
    gc.collect()
    assert part.tolist() == [0, 0, 0, 64]
    for wrong in (99, -99):
        with pytest.raises(IndexError, match=f"index {wrong} out of range for storage of size 16"):
            s[wrong]
    with pytest.raises(RuntimeError, match="with a step of 2"):
        s[0:8:2]


def test_storages_that_are_made():
    assert len(torch.UntypedStorage()) == 0 and len(torch.UntypedStorage(5)) == 5
    assert torch.UntypedStorage([1, 2, 255]).tolist() == [1, 2, 255] and list(torch.UntypedStorage([1, 2])) == [1, 2]
    assert torch.UntypedStorage(2 ** 40, device="meta").nbytes() == len(torch.UntypedStorage(2 ** 40, device="meta")) == 2 ** 40
    assert torch.TypedStorage(3, dtype=torch.float64, device="meta").device.type == "meta"
    assert torch.TypedStorage([1, 2], dtype=torch.int32).tolist() == torch.IntStorage([1, 2]).tolist() == [1, 2]
    x = torch.arange(3.0)
    for over in (torch.TypedStorage(wrap_storage=x.untyped_storage(), dtype=torch.float32),
                 torch.FloatStorage(wrap_storage=x.untyped_storage())):
        assert over.tolist() == [0.0, 1.0, 2.0] and over.data_ptr() == x.data_ptr()
    assert torch.is_storage(x.storage()) and torch.is_storage(x.untyped_storage()) and not torch.is_storage(x)


def test_bytes_of_others():
    assert torch.FloatStorage.from_buffer(bytearray(8), "native").tolist() == [0.0, 0.0]
    assert torch.ShortStorage.from_buffer(b"\x00\x01\x00\x02", byte_order="big").tolist() == [1, 2]
    assert torch.ShortStorage.from_buffer(b"\x00\x01\x00\x02", "little", 1, 2).tolist() == [512]
    assert torch.ByteStorage.from_buffer(b"abc").tolist() == torch.UntypedStorage.from_buffer(b"abc").tolist() == [97, 98, 99]
    with pytest.raises(RuntimeError, match="byte_order"):
        torch.FloatStorage.from_buffer(bytearray(8))
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.FloatStorage.from_buffer(bytearray(7), "native")


def test_files(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    assert torch.UntypedStorage.from_file(str(path), False, 16).tolist() == list(range(16))
    assert len(torch.FloatStorage.from_file(str(path), size=4)) == 4
    shared = torch.UntypedStorage.from_file(str(path), True, 16)
    shared[0] = 77
    del shared
    gc.collect()
    assert path.read_bytes()[:2] == b"M\x01"


def test_which_memory_it_is():
    x = torch.arange(4.0)
    assert x.untyped_storage()._cdata == x[2:].untyped_storage()._cdata == x.storage()._cdata != x.clone().storage()._cdata
    assert x.untyped_storage() == x[1:].untyped_storage() and len({x.untyped_storage(): 1, x[1:].untyped_storage(): 2}) == 1
    assert x.storage_type() is torch.FloatStorage and x._typed_storage().dtype == torch.float32


def test_copies():
    x = torch.arange(4.0)
    s, t = x.untyped_storage(), x.storage()
    for made in (s.clone(), copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), torch.UntypedStorage(16).copy_(s)):
        assert made.tolist() == s.tolist() and made.data_ptr() != s.data_ptr()
    assert t.double().tolist() == t.clone().tolist() == pickle.loads(pickle.dumps(t)).tolist() == x.tolist()
    assert t.int().dtype == torch.int32 and t.type() == "torch.FloatStorage" and s.type() == "torch.storage.UntypedStorage"
    grown = torch.UntypedStorage([1, 2]).resize_(10)
    assert len(grown) == 10 and grown.tolist()[:2] == [1, 2]


def test_memory_becomes_another_in_place():
    x = torch.arange(6.0)
    s, y = x.untyped_storage(), x[2:]
    assert s.resizable() and s.resize_(1000).nbytes() == 1000 and y.tolist() == [2.0, 3.0, 4.0, 5.0]
    x[5] = 7  # both see the new memory
    assert y[3] == 7 and y.untyped_storage() == s and x.storage().size() == 250
    assert s.resize_(8).nbytes() == 8 and x[:2].clone().tolist() == [0.0, 1.0]
    assert s.resize_(0).nbytes() == 0 and s.tolist() == []
    with pytest.raises(RuntimeError, match="reaches beyond its storage of 0 bytes"):
        x + 1
    s.resize_(24)
    x.zero_()
    assert x.tolist() == [0.0] * 6 and y.tolist() == [0.0] * 4
    a = torch.ones(3)
    v = a.view(3)
    a.resize_(200)
    v[0] = 7
    assert a[0] == 7 and a.data_ptr() == v.data_ptr()
    for wrong in (-1, 2.5, "a"):
        with pytest.raises(RuntimeError):
            s.resize_(wrong)


def test_memory_that_others_see_stays_where_it_is():
    x = torch.ones(3)
    array = x.numpy()
    for change in (lambda: x.resize_(100), lambda: x.untyped_storage().resize_(0)):
        with pytest.raises(RuntimeError, match="not resizable"):
            change()
    assert not x.untyped_storage().resizable() and array.tolist() == [1, 1, 1]
    del array
    pickle.dumps(x.untyped_storage())
    assert x.resize_(100).shape == (100,)


def test_copies_share_what_was_shared():
    x = torch.arange(100.0)
    first, second, memory = copy.deepcopy((x, x[5:7], x.untyped_storage()))
    first[5] = -1
    assert second.tolist() == [-1.0, 6.0] and second.storage_offset() == 5 and memory.data_ptr() == first.data_ptr()
    assert x[5] == 5 and copy.deepcopy(x[5:7]).untyped_storage().nbytes() == 400
    for view in (torch.arange(8.0).view(2, 4).t(), torch.zeros(1).expand(3), torch.tensor(2.0), torch.zeros(0, 3),
                 torch.arange(6.0).as_strided((2, 2), (3, 1), 1), torch.arange(10, dtype=torch.uint8)[4:8].view(torch.int32)):
        made = copy.deepcopy(view)
        assert made._base is None and torch.equal(made, view) and made.stride() == view.stride()
