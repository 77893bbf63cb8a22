"""Files that nobody wrote in good faith: an error, quickly and in little memory, and nothing that a file changes or calls."""

import collections
import io
import os
import pickle
import random
import struct
import time
import tracemalloc
import zipfile

import pytest

import taeda as torch

ERRORS = (pickle.UnpicklingError, RuntimeError, EOFError)
STORAGE = b"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"


def archive_of(text, storages=(("0", b"\0" * 8),), compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", text, compression)
        for key, data in storages:
            archive.writestr(f"a/data/{key}", data)
    return file.getvalue()


def doubled(times):
    """A tuple of two of a tuple of two ...: short to write, and endless to hash."""
    return b")q\x00" + b"h\x00h\x00\x86q\x00" * times


def load(data):
    return torch.load(io.BytesIO(data))


HOSTILE = {
    "a key that takes for ever to hash": b"\x80\x02}" + doubled(60) + b"Ns.",
    "keys, likewise": b"\x80\x02}(" + doubled(60) + b"Nu.",
    "a set, likewise": b"\x80\x04\x8f(" + doubled(60) + b"\x90.",
    "a frozen set, likewise": b"\x80\x04(" + doubled(60) + b"\x91.",
    "a set by its name": b"\x80\x02cbuiltins\nset\n]" + doubled(60) + b"a\x85R.",
    "an ordered dict": b"\x80\x02ccollections\nOrderedDict\n]]" + doubled(60) + b"aNaa\x85R.",
    "a storage's name": (b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\n" + doubled(60) +
                         b"X\x03\x00\x00\x00cpuK\x02tQ."),
    "no storage at all": b"\x80\x02" + doubled(60) + b"Q.",
    "bytes of a number": b"\x80\x02cbuiltins\nbytearray\n\x8a\x06\x00\x00\x00\x00\x00\x01\x85R.",
    "a storage of its own": b"\x80\x02ctorch\nFloatStorage\n\x8a\x05\x00\x00\x00\x00\x10\x85R.",
    "a tensor of its own": b"\x80\x02ctorch\nTensor\n\x8a\x05\x00\x00\x00\x00\x10\x85R.",
    "a class for what is no tensor": (b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(cbuiltins\nbytearray\nctorch\nTensor\n"
                                      b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85NtR."),
    "a text longer than the file": b"\x80\x04\x8d\xff\xff\xff\xff\xff\x00\x00\x00abc.",
    "bytes longer than the file": b"\x80\x05\x96\xff\xff\xff\xff\xff\x00\x00\x00abc.",
    "a frame longer than the file": b"\x80\x04\x95\xff\xff\xff\xff\xff\x00\x00\x00N.",
    "an attribute of a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x0c\x00\x00\x00__defaults__)s\x86b.",
    "an attribute of a class": b"\x80\x02ctorch\nFloatStorage\nN}X\x05\x00\x00\x00dtypeNs\x86b.",
    "an attribute of a parameter's class": b"\x80\x02ctorch.nn.parameter\nParameter\nN}X\x04\x00\x00\x00dataNs\x86b.",
    "a function by a layout's name": b"\x80\x02ctorch.serialization\n_get_layout\nX\x0f\x00\x00\x00torch.from_file\x85R.",
    "a call of what was not named": b"\x80\x02K\x01)R.",
    "an element of a tensor": b"\x80\x02" + STORAGE + b"K\x00K\x07s.",
    "an old way to make objects": b"(icollections\nOrderedDict\n.",
    "an extension": b"\x80\x02\x82\x01.",
    "a key of many digits": b"\x80\x02}\x8a\x0a" + b"\xff" * 9 + b"\x01Ns.",
    "an unending list": b"\x80\x02](h\x00e.",
    "nothing": b"\x80\x02.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles(name):
    text = HOSTILE[name]
    before = torch._utils._rebuild_tensor_v2.__defaults__, torch.FloatStorage.dtype, torch.nn.Parameter.data
    tracemalloc.start()
    begin = time.monotonic()
    with pytest.raises(ERRORS):
        load(archive_of(text))
    assert time.monotonic() - begin < 10
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    assert (torch._utils._rebuild_tensor_v2.__defaults__, torch.FloatStorage.dtype, torch.nn.Parameter.data) == before


def test_archives_that_claim_more_than_they_have():
    bomb = archive_of(b"\x80\x02" + b"N0" * (40 << 20) + b"N.", compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    with pytest.raises(RuntimeError, match="would take 83886084 bytes"):
        load(bomb)
    # A hundred names for the same megabyte.
    whole = io.BytesIO()
    torch.save([torch.zeros(1 << 18) for _ in range(100)], whole)
    small = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole.getvalue())) as old, zipfile.ZipFile(small, "w") as new:
        new.writestr("a/data.pkl", old.read("archive/data.pkl"))
        new.writestr("a/data/0", bytes(1 << 20))
        for key in range(1, 100):
            info = zipfile.ZipInfo(f"a/data/{key}")
            first = new.getinfo("a/data/0")
            info.header_offset, info.file_size, info.compress_size, info.CRC = (
                first.header_offset, first.file_size, first.compress_size, first.CRC)
            new.filelist.append(info)
            new.NameToInfo[info.filename] = info
    with pytest.raises(RuntimeError, match="shares its bytes|damaged|smaller than"):
        load(small.getvalue())


def test_bools_are_0_or_1():
    whole, damaged = io.BytesIO(), io.BytesIO()
    torch.save(torch.zeros(64, dtype=torch.bool), whole)
    with zipfile.ZipFile(io.BytesIO(whole.getvalue())) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"\xbe" * 64 if name.endswith("/data/0") else old.read(name))
    mask = load(damaged.getvalue())
    assert mask.nonzero().shape == (64, 1) and mask.view(torch.uint8).max() == 1


def legacy(count, keys, rest=b""):
    text = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2)
    named = (b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu\x8a\x08" +
             struct.pack("<q", count) + b"NtQ")
    return text + b"\x80\x02" + named + b"." + keys + rest


def test_files_before_archives():
    assert load(legacy(2, pickle.dumps(["0"], 2), struct.pack("<qff", 2, 1.5, 2))).tolist() == [1.5, 2]
    for data in (legacy(1 << 40, pickle.dumps(["0"], 2)), legacy(-1, pickle.dumps(["0"], 2)),
                 legacy(2, b"\x80\x02]" + doubled(60) + b"a."), legacy(2, pickle.dumps(7, 2)),
                 legacy(2, pickle.dumps(["1"], 2)),
                 legacy(2, pickle.dumps(["0"], 2), b"abc"), legacy(2, pickle.dumps(["0"], 2), struct.pack("<q", 1 << 60))):
        with pytest.raises(ERRORS):
            load(data)


def test_damage_anywhere_is_read_or_refused():
    good = io.BytesIO()
    torch.save(collections.OrderedDict(w=torch.ones(2, 2), n=[1, "x", (2.5, None)], s=torch.Size([1, 2])), good)
    good, dice = good.getvalue(), random.Random(16)
    for _ in range(1500):
        bad = bytearray(good)
        for _ in range(dice.choice((1, 2, 8))):
            bad[dice.randrange(len(bad))] = dice.randrange(256)
        try:
            load(bytes(bad[:dice.choice((len(bad), dice.randrange(len(bad))))]))
        except ERRORS:
            pass


def test_saving_replaces_a_file_or_leaves_it(tmp_path):
    target, link = tmp_path / "there" / "x.pt", tmp_path / "link.pt"
    target.parent.mkdir()
    (target.parent / f".x.pt.{'0' * 16}.taeda~").write_bytes(b"of a killed process")
    torch.save(torch.ones(1), target)
    os.chmod(target, 0o2640)
    link.symlink_to(target)
    torch.save(torch.zeros(1), link)
    assert link.is_symlink() and torch.load(target).item() == 0 and target.stat().st_mode & 0o7777 == 0o2640
    assert sorted(p.name for p in target.parent.iterdir()) == ["x.pt"]
    with pytest.raises(Exception, match="cannot be saved"):
        torch.save(Refuses(), link)
    assert torch.load(link).item() == 0 and sorted(p.name for p in target.parent.iterdir()) == ["x.pt"]


class Refuses:
    def __reduce__(self):
        raise ValueError("it cannot be saved")
