"""Files both ways: what PyTorch 2.15 wrote is read here, what is written here PyTorch reads."""

import collections
import copy
import io
import os
import pathlib
import pickle
import subprocess
import zipfile

import pytest
import taeda as torch

GOLDEN = pathlib.Path(__file__).parent / "golden"


def test_what_pytorch_wrote():
    made = torch.load(GOLDEN / "torch_2_15.pt")
    for name, tensor in made["tensors"].items():
        assert tensor.dtype == getattr(torch, name)
        assert torch.equal(tensor, torch.tensor([1, 0, 1]).to(tensor.dtype))
    assert made["base"].tolist() == torch.arange(12.0).view(3, 4).tolist()
    assert made["view"].stride() == (1, 4) and made["view"].untyped_storage() == made["base"].untyped_storage()
    made["base"][0, 1] = 99
    assert made["view"][0, 0] == 99
    assert made["empty"].shape == (0, 3) and made["number"].item() == 2.5
    assert made["leaf"].requires_grad and made["leaf"].is_leaf
    assert type(made["parameter"]).__name__ == "Parameter" and made["parameter"].requires_grad
    assert made["list"] == [1, 2.5, None, True, "text", (3, 4j), b"bytes"]
    assert made["ordered"] == collections.OrderedDict(a=1) and made["size"] == torch.Size([2, 3])
    assert made["dtype"] is torch.float16 and made["device"] == torch.device("cpu")
    assert made["sparse"].to_dense().tolist() == [[0, 0, 3], [4, 0, 0]]


def test_files_before_1_6():
    assert torch.equal(torch.load(GOLDEN / "torch_legacy.pt"), torch.arange(12.0).view(3, 4))


def test_a_state_dict_of_pytorch():
    state = torch.load(GOLDEN / "torch_state.pt")
    assert list(state) == ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                           "1.num_batches_tracked"]
    assert state["0.weight"].shape == (3, 2) and state["1.num_batches_tracked"].dtype == torch.int64


def objects():
    base = torch.arange(6.0)
    return {"a": base, "b": base[2:4], "n": [torch.tensor(1), torch.ones(2, dtype=torch.bfloat16)], "k": {"x": (1, "s")},
            "z": torch.tensor([1 + 2j]), "g": torch.ones(1, requires_grad=True), "e": torch.empty(0)}


@pytest.mark.parametrize("to_path", [True, False])
def test_round_trip(tmp_path, to_path):
    f = tmp_path / "file.pt" if to_path else io.BytesIO()
    torch.save(objects(), f)
    if not to_path:
        f.seek(0)
    made = torch.load(f)
    for key, value in objects().items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(made[key], value) and made[key].requires_grad == value.requires_grad
    assert made["b"].data_ptr() == made["a"].data_ptr() + 8
    assert made["k"] == {"x": (1, "s")} and made["n"][1].dtype == torch.bfloat16


def test_a_file_of_whole_objects(tmp_path):
    torch.save(Holder(torch.ones(2)), tmp_path / "o.pt")
    with pytest.raises(pickle.UnpicklingError) as refused:
        torch.load(tmp_path / "o.pt")
    lines = str(refused.value).splitlines()
    assert lines[0].strip() == ("Weights only load failed. This file can still be loaded, to do so you have two options, do "
                                "those steps only if you trust the source of the checkpoint.")
    assert f"Unsupported global: GLOBAL {__name__}.Holder was not an allowed global by default." in lines[-1]
    assert torch.load(tmp_path / "o.pt", weights_only=False).tensor.tolist() == [1, 1]
    with torch.serialization.safe_globals([Holder]):
        assert torch.load(tmp_path / "o.pt").tensor.tolist() == [1, 1]


class Holder:
    def __init__(self, tensor):
        self.tensor = tensor


class Evil:
    def __reduce__(self):
        return os.system, ("echo run",)


def test_hostile_pickles_are_refused(tmp_path):
    path = tmp_path / "evil.pt"
    torch.save({"x": torch.ones(1)}, path)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "bad.pt", "w") as new:
        for name in old.namelist():
            new.writestr(name, pickle.dumps(Evil(), 2) if name.endswith("data.pkl") else old.read(name))
    with pytest.raises(pickle.UnpicklingError, match="posix.system|nt.system"):
        torch.load(tmp_path / "bad.pt")
    for hostile in (b"cos\nsystem\n(S'true'\ntR.", b"cbuiltins\neval\n(S'1'\ntR.", b"ctorch\nload\n(S'x'\ntR.",
                    b"cbuiltins\ngetattr\n.", b"(lp0\n" * 3, b""):
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "bad.pt", "w") as new:
            for name in old.namelist():
                new.writestr(name, hostile if name.endswith("data.pkl") else old.read(name))
        with pytest.raises((pickle.UnpicklingError, EOFError)):
            torch.load(tmp_path / "bad.pt")


@pytest.mark.parametrize("data, options, kind, text", [
    (pickle.dumps([1, 2], 2), {}, RuntimeError, "Invalid magic number; corrupt file?"),
    (pickle.dumps([1, 2], 4), {"weights_only": False}, RuntimeError, "Invalid magic number; corrupt file?"),
    (pickle.dumps(print, 2), {}, pickle.UnpicklingError, r"GLOBAL print was not an allowed global by default"),
    (b"hello world", {}, pickle.UnpicklingError,
     "Weights only load failed. The file is none of torch.save: it begins with b'hello world', and neither as a zip archive"),
    (b"<!DOCTYPE html><html>", {"weights_only": False}, pickle.UnpicklingError,
     "The file is none of torch.save: it begins with b'<!DOCTYPE html><',"),
    (pickle.dumps([1, 2], 0), {}, pickle.UnpicklingError, "The file is none of torch.save: it begins with b'.lp0"),
    (b"PK\x03\x04" + bytes(100), {}, RuntimeError,
     "PytorchStreamReader failed reading zip archive: failed finding central directory"),
])
def test_files_that_are_none(data, options, kind, text):
    with pytest.raises(kind, match=text.replace("?", r"\?")):
        torch.load(io.BytesIO(data), **options)


def test_files_without_a_place():
    with pytest.raises(AttributeError, match="'int' object has no attribute '.*'. You can only torch.load from a file that is "
                                             "seekable"):
        torch.load(3)
    reader, writer = os.pipe()
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe, pytest.raises(io.UnsupportedOperation, match="from a file that is seekable"):
        torch.load(pipe)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_tensors_for_a_device_that_is_not_there(tmp_path):
    torch.save(torch.ones(2), tmp_path / "x.pt")
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available"):
        torch.load(tmp_path / "x.pt", map_location="cuda")


def test_damaged_files(tmp_path):
    path = tmp_path / "x.pt"
    torch.save({"x": torch.arange(1000.0)}, path)
    data = path.read_bytes()
    for cut in (0, 3, 100, len(data) // 2, len(data) - 10):
        (tmp_path / "cut.pt").write_bytes(data[:cut])
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            torch.load(tmp_path / "cut.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save({}, tmp_path / "no" / "x.pt")


def test_map_location(run_python, tmp_path):
    program = ("import taeda as torch\n"
               f"path = {str(tmp_path / 'd.pt')!r}\n"
               "torch.save({'x': torch.ones(3, device='cuda:1')}, path)\n"
               "print(torch.load(path)['x'].device, torch.load(path, map_location='cpu')['x'].device,\n"
               "      torch.load(path, map_location={'cuda:1': 'cuda:0'})['x'].device,\n"
               "      torch.load(path, map_location=lambda s, l: s)['x'].device,\n"
               "      torch.load(path, map_location=torch.device('cuda:0'))['x'].device)\n")
    assert run_python(program, TAEDA_SIM_AS_CUDA="2") == "cuda:1 cpu cuda:0 cpu cuda:0\n"


def test_pickle_and_copy():
    x = torch.arange(6.0).view(2, 3).t()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert torch.equal(x, y) and y.stride() == x.stride()
    assert torch.equal(copy.deepcopy(x), x) and copy.copy(x).data_ptr() == x.data_ptr()
    assert pickle.loads(pickle.dumps((torch.float32, torch.Size([1]), torch.device("cpu"), torch.strided))) == (
        torch.float32, torch.Size([1]), torch.device("cpu"), torch.strided)
    p = pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(1))))
    assert type(p).__name__ == "Parameter" and p.requires_grad
    storage = torch.arange(3.0, device="sim")._typed_storage()
    assert (again := pickle.loads(pickle.dumps(storage))).tolist() == [0, 1, 2] and again.device.type == "sim"


def test_pickles_of_earlier_versions():
    file = io.BytesIO()
    torch.save(torch.arange(3.0), file)
    assert torch.storage._from_bytes(file.getvalue()).tolist() == [0, 1, 2]


def test_layouts_are_called_for():
    """PyTorch's safe loading takes no other form."""
    file = io.BytesIO()
    torch.save([torch.eye(2).to_sparse(), torch.strided], file)
    with zipfile.ZipFile(file) as archive:
        text = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
    assert b"ctorch.serialization\n_get_layout" in text and b"ctorch\nsparse_coo" not in text
    file.seek(0)
    sparse, layout = torch.load(file)
    assert sparse.to_dense().tolist() == [[1, 0], [0, 1]] and layout is torch.strided


class Marked(torch.Tensor):
    """A class of a program's own."""


def test_attributes_and_classes_survive():
    noted, marked = torch.arange(3.0), torch.ones(2).as_subclass(Marked)
    noted.note, marked.mark = "kept", 7
    for made in (copy.deepcopy((noted, marked)), pickle.loads(pickle.dumps((noted, marked)))):
        assert made[0].note == "kept" and type(made[1]) is Marked and made[1].mark == 7
    file = io.BytesIO()
    torch.save((noted, marked), file)
    with pytest.raises(pickle.UnpicklingError, match="Marked"):
        torch.load(io.BytesIO(file.getvalue()))
    with torch.serialization.safe_globals([Marked]):
        first, second = torch.load(io.BytesIO(file.getvalue()))
    assert type(first) is torch.Tensor and first.note == "kept" and first.tolist() == [0, 1, 2]
    assert type(second) is Marked and second.mark == 7 and second.tolist() == [1, 1]


def test_pytorch_reads_it(torch_python, tmp_path):
    torch.save(objects(), tmp_path / "x.pt")
    program = ("import sys, torch\n"
               "made = torch.load(sys.argv[1])\n"
               "assert made['a'].tolist() == [0, 1, 2, 3, 4, 5] and made['b'].tolist() == [2, 3]\n"
               "assert made['b'].untyped_storage().data_ptr() == made['a'].untyped_storage().data_ptr()\n"
               "assert made['g'].requires_grad and made['n'][1].dtype == torch.bfloat16 and made['k'] == {'x': (1, 's')}\n"
               "print('read')\n")
    done = subprocess.run([torch_python, "-c", program, str(tmp_path / "x.pt")], capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
    assert done.stdout == "read\n", done.stderr


def test_saving_is_atomic(tmp_path):
    """A save that fails leaves the file that was there, and nothing beside it."""
    path = tmp_path / "x.pt"
    torch.save({"x": 1}, path)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        torch.save({"x": lambda: 0, "f": open(os.devnull)}, path)
    assert torch.load(path) == {"x": 1} and os.listdir(tmp_path) == ["x.pt"]


def several(file, count=3):
    for i in range(count):
        torch.save({"i": torch.full((3,), float(i)), "text": str(i)}, file)
    return file


def read_in_turn(file, count=3):
    for i in range(count):
        loaded = torch.load(file)
        assert loaded["text"] == str(i) and loaded["i"].tolist() == [float(i)] * 3
    with pytest.raises(EOFError):
        torch.load(file)


def test_what_was_saved_in_turn_loads_in_turn(tmp_path):
    path = tmp_path / "several.pt"
    with open(path, "wb") as file:
        several(file)
    with open(path, "rb") as file:
        read_in_turn(file)
    assert torch.load(path)["text"] == "0"
    path.unlink()
    for i in range(3):  # each time opened anew, at its end
        with open(path, "ab") as file:
            torch.save({"i": torch.full((3,), float(i)), "text": str(i)}, file)
    with open(path, "rb") as file:
        read_in_turn(file)
    memory = several(io.BytesIO())
    memory.seek(0)
    read_in_turn(memory)


def test_an_object_in_the_middle_of_a_file():
    """Behind what comes before it, before what follows, and of those the one at the file's place."""
    file = io.BytesIO(b"before")
    file.seek(6)
    places = []
    for i in range(3):
        places.append(file.tell())
        torch.save(torch.full((2,), float(i)), file)
    file.write(b"PK\x05\x06 and what follows")
    for i in (1, 2, 0):
        file.seek(places[i])
        assert torch.load(file).tolist() == [float(i)] * 2
    file.seek(places[2])
    torch.load(file)
    assert file.read() == b"PK\x05\x06 and what follows"


def test_a_damaged_object_does_not_become_the_next_one():
    file = several(io.BytesIO())
    data = bytearray(file.getvalue())
    end = data.index(b"PK\x05\x06")
    data[end:end + 4] = b"none"
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        torch.load(io.BytesIO(bytes(data)))


def test_objects_beyond_a_scan_and_within_others():
    """A tensor of bytes that is an archive itself, and more bytes than are looked through at once."""
    inner = io.BytesIO()
    torch.save(torch.ones(2), inner)
    inside = torch.frombuffer(bytearray(inner.getvalue()), dtype=torch.uint8)
    file = io.BytesIO()
    torch.save([inside, torch.zeros(700_000)], file)
    torch.save("last", file)
    file.seek(0)
    found, zeros = torch.load(file)
    assert torch.equal(found, inside) and zeros.shape == (700_000,) and torch.load(file) == "last"
    assert torch.load(io.BytesIO(bytes(found.tolist()))).tolist() == [1.0, 1.0]


def test_archives_whose_offsets_count_from_the_files_begin():
    """So Taeda wrote them before 0.3 where a file had several."""
    file = io.BytesIO(b"before")
    file.seek(6)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": 1}, 2))
    file.write(b"after")
    file.seek(6)
    assert torch.load(file) == {"a": 1}


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    import threading
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=torch.save, args=(torch.ones(2), pipe))
    writer.start()
    data = pipe.read_bytes()
    writer.join()
    assert pipe.is_fifo() and torch.load(io.BytesIO(data)).tolist() == [1.0, 1.0]
    with open(os.devnull, "wb") as file:
        torch.save(torch.ones(2), file)


def test_tensors_without_data():
    """Neither saving nor loading takes memory for them."""
    file = io.BytesIO()
    torch.save({"x": torch.empty(2 ** 40, 3, device="meta").t(), "p": torch.nn.Parameter(torch.empty(3, device="meta"))}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert len(file.getvalue()) < 5000 and loaded["x"].is_meta and loaded["x"].stride() == (1, 3)
    assert type(loaded["p"]) is torch.nn.Parameter and loaded["p"].is_meta


def test_what_goes_to_meta_is_not_read():
    file = io.BytesIO()
    torch.save({"a": torch.ones(1 << 20), "b": torch.ones(4)[1:]}, file)
    file.seek(0)
    read = []

    class Watched(io.BytesIO):
        def read(self, size=-1):
            data = super().read(size)
            read.append(len(data))
            return data

        def readinto(self, buffer):
            count = super().readinto(buffer)
            read.append(count)
            return count
    loaded = torch.load(Watched(file.getvalue()), map_location="meta")
    assert loaded["a"].is_meta and loaded["a"].shape == (1 << 20,) and loaded["b"].storage_offset() == 1
    assert sum(read) < 1 << 20
