"""Tensors that processes share."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import taeda as torch
import taeda.multiprocessing as mp
from taeda.nn.parameter import Parameter

METHODS = ["fork", "spawn", "forkserver"]


def test_sharing_keeps_the_tensor_and_its_values():
    x = torch.arange(12.0).view(3, 4)[:, 1:]
    assert not x.is_shared()
    assert x.share_memory_() is x and x.is_shared()
    assert x.tolist() == [[1, 2, 3], [5, 6, 7], [9, 10, 11]] and x.stride() == (4, 1) and x.storage_offset() == 1
    address = x.data_ptr()
    x.share_memory_()
    assert x.data_ptr() == address
    w = Parameter(torch.ones(3))
    w.share_memory_()
    assert w.is_leaf and w.requires_grad and w[1:].is_shared()
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
    assert torch.zeros(0).share_memory_().is_shared()


def add_one(queue, answers):
    x = queue.get()
    x += 1
    answers.put((x.sum().item(), type(x).__name__, x.requires_grad))
    queue.get()


@pytest.mark.parametrize("method", METHODS)
def test_what_one_process_writes_the_other_sees(method):
    context = mp.get_context(method)
    queue, answers = context.Queue(), context.Queue()
    process = context.Process(target=add_one, args=(queue, answers))
    process.start()
    x = torch.zeros(1000)
    queue.put(x)
    assert answers.get(timeout=60) == (1000, "Tensor", False)
    assert x.sum().item() == 1000 and x.is_shared()
    queue.put(None)
    process.join(60)
    assert process.exitcode == 0


def send_views(end):
    base = torch.arange(10).share_memory_()
    end.send({"all": base, "part": base[2:5], "leaf": torch.ones(2, requires_grad=True),
              "bf": torch.ones(3, dtype=torch.bfloat16)})
    end.recv()


def test_pipes_and_views():
    ours, theirs = mp.Pipe()
    process = mp.Process(target=send_views, args=(theirs,))
    process.start()
    got = ours.recv()
    got["all"][3] = 77
    assert got["part"].tolist() == [2, 77, 4] and got["leaf"].requires_grad and got["bf"].dtype == torch.bfloat16
    ours.send(got["part"])
    process.join(60)
    assert process.exitcode == 0


def test_a_history_is_not_sent():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        mp.reductions.reduce_tensor(torch.ones(2, requires_grad=True) * 2)


def hogwild(rank, weights, rounds, barrier):
    barrier.wait()
    for _ in range(rounds):
        weights[rank] += 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_train_one_model(method):
    context = mp.get_context(method)
    weights = Parameter(torch.zeros(2)).detach().share_memory_()
    barrier = context.Barrier(2)
    processes = [context.Process(target=hogwild, args=(rank, weights, 50, barrier)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert weights.tolist() == [50, 50]


def forked_product(x, out):
    torch.set_num_threads(4)
    out.copy_((x @ x).exp() * 0 + 1)


def test_a_child_of_a_process_with_threads_can_compute():
    x = torch.ones(512, 512)
    (x @ x).exp()
    out = torch.zeros(512, 512).share_memory_()
    process = mp.get_context("fork").Process(target=forked_product, args=(torch.zeros(512, 512), out))
    process.start()
    process.join(60)
    assert process.exitcode == 0 and out.sum().item() == 512 * 512


def good(i, results):
    results[i] = i + 1


def bad(i):
    if i == 1:
        raise ValueError("this one fails")
    time.sleep(60)


def leave(i):
    sys.exit(2)


def die(i):
    os.kill(os.getpid(), signal.SIGKILL)


def test_spawn():
    results = torch.zeros(2)
    assert mp.spawn(good, (results,), nprocs=2) is None
    assert results.tolist() == [1, 2]
    with pytest.raises(mp.ProcessRaisedException) as error:
        mp.spawn(bad, nprocs=2)
    assert str(error.value).startswith("\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call")
    assert str(error.value).endswith("ValueError: this one fails\n") and error.value.error_index == 1
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 2") as error:
        mp.start_processes(leave, start_method="fork")
    assert error.value.exit_code == 2
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL"):
        mp.start_processes(die, start_method="fork")
    context = mp.start_processes(good, (results,), 2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join():
        pass


def look_at_errors(i, seen):
    (folder,) = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("taeda-errors-")]
    seen[0] = os.stat(os.path.join(tempfile.gettempdir(), folder)).st_mode & 0o777


def plant(i):
    """Leaves a pickle that would run code, as somebody who could write there would."""
    (folder,) = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("taeda-errors-")]
    with open(os.path.join(tempfile.gettempdir(), folder, "0.txt"), "wb") as file:
        file.write(b"cos\nabort\n(tR.")
    sys.exit(3)


def test_how_a_process_failed_is_read_as_text_from_a_folder_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = torch.zeros(1, dtype=torch.int64).share_memory_()
    mp.start_processes(look_at_errors, (seen,), start_method="fork")
    assert seen.item() == 0o700 and os.listdir(tmp_path) == []
    with pytest.raises(mp.ProcessRaisedException, match="cos\nabort"):
        mp.start_processes(plant, start_method="fork")
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_after_a_kill():
    before = set(os.listdir("/dev/shm"))
    program = subprocess.Popen([sys.executable, "-c", """
import os, time, taeda as torch, taeda.multiprocessing as mp
x = torch.zeros(1 << 20).share_memory_()
queue = mp.get_context("fork").SimpleQueue()
queue.put(x)
print("ready", flush=True)
time.sleep(60)
"""], stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    program.kill()
    program.wait()
    program.stdout.close()
    assert set(os.listdir("/dev/shm")) - before == set()


def test_everything_of_multiprocessing_is_there():
    for name in ("Process", "Queue", "Pipe", "Pool", "Manager", "Lock", "Event", "cpu_count", "set_start_method",
                 "get_context", "Value", "Array"):
        assert hasattr(mp, name)
    assert mp.get_sharing_strategy() == "file_descriptor"
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("smoke signals")


def put_and_end(queue, simple, end):
    queue.put(torch.arange(1000))
    queue.put({"a": torch.ones(3)})
    simple.put(torch.zeros(2))
    end.send(torch.full((4,), 7.0))


READ_LATER = """
import ctypes, os, time
import taeda.multiprocessing as mp
from test_multiprocessing import put_and_end

def main(method):
    context = mp.get_context(method)
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # what children leave behind becomes this process's own
    queue, simple, ends = context.Queue(), context.SimpleQueue(), context.Pipe()
    process = context.Process(target=put_and_end, args=(queue, simple, ends[1]))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    if method != "forkserver":  # whose children are not this process's
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)  # one is there that keeps what was sent
    assert queue.get(timeout=60).sum() == 499500 and queue.get(timeout=60)["a"].tolist() == [1, 1, 1]
    assert simple.get().tolist() == [0, 0] and ends[0].recv().tolist() == [7, 7, 7, 7]
    if method == "fork":
        _, status = os.waitpid(-1, 0)
        assert status == 0

if __name__ == "__main__":
    import sys
    main(sys.argv[1])
"""


@pytest.mark.parametrize("method", METHODS)
def test_what_was_sent_is_read_after_its_sender_has_ended(method, tmp_path):
    program = tmp_path / "read_later.py"
    program.write_text(READ_LATER)
    done = subprocess.run([sys.executable, str(program), method], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__),
                                                                            os.environ.get("PYTHONPATH", "")])})
    assert done.returncode == 0, done.stdout + done.stderr
