"""Stores of torch.distributed, in one process and in several."""

import os
import threading
from datetime import timedelta

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist


needs_grpc = pytest.mark.skipif(not torch._C._distributed.has_engine("grpc"), reason="the engine grpc is not built")


@pytest.fixture(params=["hash", "file", pytest.param("tcp", marks=needs_grpc), "prefix"])
def store(request, tmp_path):
    if request.param == "hash":
        return dist.HashStore()
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"), 1)
    if request.param == "tcp":
        return dist.TCPStore("localhost", 0, 1, True)
    return dist.PrefixStore("mine", dist.HashStore())


def test_keys_and_values(store):
    store.set("text", "value")
    assert store.get("text") == b"value"
    store.set("bytes", b"\x00\xff")
    assert store.get("bytes") == b"\x00\xff"
    assert store.add("number", 3) == 3 and store.add("number", -1) == 2 and store.get("number") == b"2"
    assert store.compare_set("text", "value", "other") == b"other"
    assert store.compare_set("text", "wrong", "third") == b"other"
    assert store.check(["text", "bytes"]) and not store.check(["text", "none"])
    assert store.delete_key("bytes") and not store.delete_key("bytes")
    assert store.num_keys() == 2
    with pytest.raises(TypeError, match="str or bytes, not int"):
        store.set("text", 3)


def test_several_keys(store):
    store.multi_set(["a", "b", "c"], ["1", b"\xff", ""])
    assert store.multi_get(["b", "a", "c"]) == [b"\xff", b"1", b""] and store.multi_get([]) == []
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        store.multi_set(["a", "b"], ["1"])
    store.set_timeout(timedelta(milliseconds=20))
    with pytest.raises(dist.DistError, match="none"):
        store.multi_get(["a", "none"])


def test_a_key_that_does_not_come(store):
    with pytest.raises(dist.DistError, match="none"):
        store.wait(["none"], timedelta(milliseconds=20))
    store.set_timeout(timedelta(milliseconds=20))
    assert store.timeout == timedelta(milliseconds=20)
    with pytest.raises(dist.DistError, match="none"):
        store.get("none")


def test_a_key_that_comes_from_another_thread(store):
    timer = threading.Timer(0.1, lambda: store.set("late", "here"))
    timer.start()
    assert store.get("late") == b"here"  # the GIL is not held meanwhile, or the timer could not run
    timer.join()


@needs_grpc
def test_classes_and_attributes():
    inner = dist.HashStore()
    store = dist.PrefixStore("a", inner)
    store.set("key", "value")
    assert inner.get("a/key") == b"value" and store.underlying_store is inner and store.prefix == "a"
    assert isinstance(store, dist.Store) and repr(type(store)) == "<class 'torch.distributed.PrefixStore'>"
    server = dist.TCPStore("localhost", 0, world_size=1, is_master=True, timeout=timedelta(seconds=10))
    assert server.host == "localhost" and server.port > 0
    other = dist.TCPStore("localhost", server.port, 1, False)
    other.set("key", "value")
    assert server.get("key") == b"value"


@needs_grpc
def test_errors_of_servers():
    with pytest.raises(dist.DistError, match="localhost"):
        dist.TCPStore("localhost", 9, 2, False, timedelta(milliseconds=200))
    assert issubclass(dist.DistError, RuntimeError) and dist.DistError.__module__ == "torch.distributed"


def waits_for_ever(rank, size, path):
    store = dist.HashStore()
    try:
        print("waiting", flush=True)
        store.get("never")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(0)


def test_ctrl_c_ends_a_wait():
    process = ranks.start(waits_for_ever, 0, 1, "")
    assert process.stdout.readline() == "waiting\n"
    ranks.interrupt(process)
    [(status, text)] = ranks.finish([process])
    assert (status, text) == (0, "interrupted\n")


def test_rendezvous(tmp_path):
    [(store, rank, size)] = dist.rendezvous(f"file://{tmp_path}/meet?rank=0&world_size=1")
    assert (rank, size) == (0, 1)
    store.set("a", "b")
    with pytest.raises(ValueError, match="carrier-pigeon"):
        next(dist.rendezvous("carrier-pigeon://x", 0, 1))
    with pytest.raises(RuntimeError, match="must be a string"):
        next(dist.rendezvous(3))
    assert torch.distributed is dist


def test_values_that_grow(store):
    store.append("text", "a")
    store.append("text", b"\xff")
    assert store.get("text") == b"a\xff" and store.has_extended_api() and store.clone().get("text") == b"a\xff"


def test_queues(store):
    assert store.queue_len("q") == 0
    with pytest.raises(dist.QueueEmptyError, match="queue q is empty"):
        store.queue_pop("q", block=False)
    store.queue_push("q", "1")
    store.queue_push("q", b"\x00")
    store.queue_push("other", "3")
    assert store.queue_len("q") == 2 and store.queue_pop("q") == b"1" and store.queue_pop("q", False) == b"\x00"
    assert store.queue_len("q") == 0 and store.queue_pop("other") == b"3"
    store.set_timeout(timedelta(milliseconds=50))
    with pytest.raises(dist.DistError, match="wait timeout"):
        store.queue_pop("q")
    timer = threading.Timer(0.1, lambda: store.queue_push("q", "late"))
    store.set_timeout(timedelta(seconds=20))
    timer.start()
    assert store.queue_pop("q") == b"late"
    timer.join()
    assert issubclass(dist.QueueEmptyError, dist.DistStoreError)


def test_many_at_one_queue(store):
    """Each value is popped once, in whatever order threads come; and each append is there."""
    popped, errors = [], []

    def work(k):
        try:
            for i in range(5):
                store.queue_push("q", f"{k}.{i}")
                store.append("log", f"<{k}.{i}>")
            for _ in range(5):
                popped.append(store.queue_pop("q").decode())
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    wanted = sorted(f"{k}.{i}" for k in range(4) for i in range(5))
    assert not errors and sorted(popped) == wanted and store.queue_len("q") == 0
    assert sorted(store.get("log").decode()[1:-1].split("><")) == wanted


def test_a_barrier_of_a_store(store):
    passed = []

    def come(k):
        for turn in range(3):
            store.barrier("here", 3)
            passed.append(turn)
    threads = [threading.Thread(target=come, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert passed == sorted(passed) and len(passed) == 9
    with pytest.raises(dist.DistError):
        store.barrier("alone", 2, timedelta(milliseconds=20))
