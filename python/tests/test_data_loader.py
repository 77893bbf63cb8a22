"""Worker processes of DataLoader: what they send, how they fail, that nothing stays."""

import contextlib
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import taeda as torch
from taeda.utils.data import DataLoader, Dataset, TensorDataset, get_worker_info

METHODS = ["fork", "spawn", "forkserver"]


@pytest.fixture(autouse=True)
def _few_cores():
    warnings.filterwarnings("ignore", "This DataLoader will create")


class Pictures(Dataset):
    """Large and small tensors, arrays, texts."""

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {"large": torch.full((3, 64, 64), float(i)), "small": torch.tensor([i], dtype=torch.bfloat16),
                "array": np.full(5000, i), "name": f"p{i}"}


@pytest.mark.parametrize("method", METHODS)
def test_batches_arrive_whole(method):
    batches = list(DataLoader(Pictures(), 4, num_workers=2, multiprocessing_context=method))
    assert len(batches) == 3
    for k, batch in enumerate(batches):
        wanted = [4 * k + j for j in range(4)]
        assert batch["large"].shape == (4, 3, 64, 64) and batch["large"][:, 1, 2, 3].tolist() == wanted
        assert batch["small"].flatten().float().tolist() == wanted and batch["small"].dtype == torch.bfloat16
        assert batch["array"][:, 77].tolist() == wanted and batch["name"] == [f"p{i}" for i in wanted]
        assert batch["large"].is_shared()
        batch["large"] += 1  # the batch is the program's own


def kept_together(batch):
    return torch.stack(batch).to(memory_format=torch.channels_last), {"empty": torch.zeros(0, 3), "number": torch.tensor(2.0)}


class Maps(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.arange(24.0).view(2, 3, 4) + i


def test_strides_and_empty_tensors_survive():
    images, rest = next(iter(DataLoader(Maps(), 2, num_workers=1, collate_fn=kept_together)))
    assert images.is_contiguous(memory_format=torch.channels_last) and images[1, 0, 0, 1].item() == 2
    assert rest["empty"].shape == (0, 3) and rest["number"].item() == 2


class Failing(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i == 3:
            raise KeyError(f"no example {i}")
        return i


@pytest.mark.parametrize("method", METHODS)
def test_an_exception_has_the_workers_traceback(method):
    loader = iter(DataLoader(Failing(), 2, num_workers=2, multiprocessing_context=method))
    assert next(loader).tolist() == [0, 1]
    with pytest.raises(KeyError) as error:
        next(loader)
    text = str(error.value)
    assert text.startswith("Caught KeyError in DataLoader worker process 1.\nOriginal Traceback (most recent call last):\n")
    assert "in __getitem__" in text and "no example 3" in text
    assert next(loader).tolist() == [4, 5]
    with pytest.raises(StopIteration):
        next(loader)


class Local(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, i):
        class Unknown(Exception):
            pass
        raise Unknown("who knows this class")


def test_an_exception_that_cannot_be_sent_becomes_a_runtime_error():
    with pytest.raises(RuntimeError, match="who knows this class"):
        list(DataLoader(Local(), num_workers=1))


class Deadly(Failing):
    def __getitem__(self, i):
        if i == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return i


class Leaving(Failing):
    def __getitem__(self, i):
        os._exit(3)


def test_a_killed_worker_is_named():
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as error:
        list(DataLoader(Deadly(), 2, num_workers=2))
    assert "is killed by signal: Killed." in str(error.value.__cause__)
    with pytest.raises(RuntimeError, match="exited unexpectedly") as error:
        list(DataLoader(Leaving(), 2, num_workers=1))
    assert "exit code 3" in str(error.value.__cause__)


class Slow(Failing):
    def __getitem__(self, i):
        time.sleep(30)


def test_a_timeout_ends_the_wait():
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.2 seconds"):
        next(iter(DataLoader(Slow(), num_workers=1, timeout=0.2)))
    assert time.monotonic() - began < 4, "no time to end by itself"


def note_start(worker):
    get_worker_info().dataset.started = worker


class Informed(Failing):
    started = -1

    def __getitem__(self, i):
        info = get_worker_info()
        return torch.tensor([info.id, info.num_workers, self.started, torch.get_num_threads()])


def test_workers_know_themselves():
    rows = torch.cat(list(DataLoader(Informed(), 2, num_workers=3, worker_init_fn=note_start)))
    assert rows.tolist() == [[w, 3, w, 1] for w in (0, 0, 1, 1, 2, 2)]
    assert get_worker_info() is None
    with pytest.raises(ZeroDivisionError, match="in DataLoader worker process 0"):
        list(DataLoader(Informed(), num_workers=1, worker_init_fn=lambda w: 1 / w))


class Heavy(Dataset):
    """Products that would use all threads."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        x = torch.ones(256, 256)
        return (x @ x).sum() + torch.ones(1 << 18).exp().sum()


def test_fork_after_threads_were_used():
    x = torch.ones(512, 512)
    expected = ((torch.ones(256, 256) @ torch.ones(256, 256)).sum() + torch.ones(1 << 18).exp().sum()).item()
    (x @ x).exp()
    for total in DataLoader(Heavy(), 2, num_workers=2, multiprocessing_context="fork", timeout=60):
        assert total.tolist() == pytest.approx(2 * [expected])


def test_workers_stay_and_the_next_epoch_begins_in_the_middle():
    loader = DataLoader(Pictures(), 2, num_workers=2, persistent_workers=True)
    iterator = iter(loader)
    pids = [w.process.pid for w in iterator._workers]
    next(iterator)
    assert [b["name"][0] for b in loader] == ["p0", "p2", "p4", "p6", "p8", "p10"]
    assert [w.process.pid for w in loader._kept._workers] == pids


def test_the_first_batch_ready_comes_first_where_order_does_not_matter():
    others_came = multiprocessing.get_context("fork").Event()

    class Uneven(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            if i == 0:
                assert others_came.wait(60)
            return i
    found = []
    for batch in DataLoader(Uneven(), 1, num_workers=2, in_order=False, multiprocessing_context="fork"):
        found.append(batch.item())
        others_came.set()
    assert sorted(found) == [0, 1, 2, 3] and found[0] == 1


def test_rows_in_memory_need_no_process():
    loader = DataLoader(TensorDataset(torch.arange(100)), 10, num_workers=2, persistent_workers=True)
    for _ in range(2):
        assert torch.cat([b for b, in loader]).tolist() == list(range(100))
    assert type(iter(loader)).__name__ == "Threads"


def test_nothing_stays_open():
    def fds():
        return len(os.listdir("/proc/self/fd"))
    list(DataLoader(Pictures(), 2, num_workers=2))
    gc.collect()  # what earlier tests left in cycles, for instance with errors that they caught
    before, shm = fds(), os.listdir("/dev/shm")
    for _ in range(3):
        list(DataLoader(Pictures(), 2, num_workers=2))
        half = iter(DataLoader(Pictures(), 2, num_workers=2))
        next(half)
        del half
    assert fds() == before and os.listdir("/dev/shm") == shm


PROGRAM = """
import os, sys, time
import taeda as torch
from taeda.utils.data import DataLoader, Dataset
class Endless(Dataset):
    def __len__(self): return 1 << 40
    def __getitem__(self, i):
        time.sleep(0.01)
        return torch.zeros(100000)
for i, batch in enumerate(DataLoader(Endless(), num_workers=2)):
    if i == 3:
        print(" ".join(open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()), flush=True)
"""


def _gone(pids, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        alive = [p for p in pids if os.path.exists(f"/proc/{p}") and " Z " not in open(f"/proc/{p}/stat").read()]
        if not alive:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_an_interrupted_or_killed_program(number):
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        pids = [int(p) for p in program.stdout.readline().split()]
        assert len(pids) == 2
        if number == signal.SIGINT:
            os.killpg(program.pid, number)  # as a terminal does: everybody gets it
        else:
            program.send_signal(number)
        _, errors = program.communicate(timeout=30)
        assert _gone(pids)
        if number == signal.SIGINT:
            assert program.returncode == -signal.SIGINT and errors.count("KeyboardInterrupt") == 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)  # what did not end stays behind otherwise


def test_parts_of_the_loader_are_found_under_their_other_names():
    from taeda.utils.data import _utils
    from taeda.utils.data._utils.collate import default_collate
    assert default_collate([1, 2]).tolist() == [1, 2] and _utils.worker.get_worker_info() is None


class Bad(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        raise ValueError("bad example")


def test_workers_end_with_the_loop_that_an_error_ends():
    gc.collect()
    gc.disable()  # the end may not wait for the collector
    try:
        with pytest.raises(ValueError, match="bad example"):
            for _ in DataLoader(Bad(), num_workers=2):
                pass
        alive = multiprocessing.active_children()
    finally:
        gc.enable()
    assert not alive
