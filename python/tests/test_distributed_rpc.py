"""Calls of Python functions at other processes, references, and gradients through them."""

import os
import pickle
import threading
import time

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist
from taeda import nn
from taeda.futures import Future, wait_all
from test_distributed_groups import raises

rpc = pytest.importorskip("taeda.distributed.rpc", reason="built without RPC")
from taeda.distributed import autograd as dist_autograd  # noqa: E402
from taeda.distributed.optim import DistributedOptimizer  # noqa: E402

pytestmark = pytest.mark.skipif(not rpc.is_available(), reason="the engine rpc is not built")


def worker(rank, size, path, **options):
    chosen = rpc.TensorPipeRpcBackendOptions(init_method="file://" + path, rpc_timeout=30, **options)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=size, rpc_backend_options=chosen)


def add(a, b=1, *, scale=1):
    return (a + b) * scale


def nested(values):
    return {"sum": sum(values["list"]), "same": values["a"] is values["b"], "text": values["text"] + "!"}


def same(value):
    return value


def fails(text):
    raise KeyError(text)


def who():
    return rpc.get_worker_info().name


def calls_back(count):
    """Workers that call each other back, deeper than a pool is wide."""
    if count == 0:
        return [who()]
    other = "worker0" if who() == "worker1" else "worker1"
    return [who()] + rpc.rpc_sync(other, calls_back, (count - 1,))


class Counter:
    def __init__(self, start):
        self.value, self.lock = start, threading.Lock()

    def add(self, amount):
        with self.lock:
            self.value += amount
            return self.value

    def tensor(self):
        return torch.full((2,), float(self.value))


def read(reference):
    return reference.to_here()


def calls(rank, size, path):
    raises(RuntimeError, lambda: rpc.rpc_sync("worker1", add, (1,)), "RPC has not been initialized")
    worker(rank, size, path, num_worker_threads=4)
    assert rpc.get_worker_info().id == rank and rpc.get_worker_info("worker1").id == 1
    if rank == 0:
        assert rpc.rpc_sync("worker1", add, (1, 2), {"scale": 3}) == 9
        assert rpc.rpc_sync(1, add, args=(torch.ones(2),), kwargs={"b": 2.0}).tolist() == [3, 3]
        assert rpc.rpc_sync("worker1", same, (rpc.get_worker_info(),)) == rpc.get_worker_info()
        assert rpc.rpc_sync(rpc.get_worker_info("worker1"), who) == "worker1" and rpc.rpc_sync("worker0", who) == "worker0"
        assert rpc.rpc_sync("worker1", torch.add, (torch.ones(2), torch.ones(2))).tolist() == [2, 2]
        one = torch.ones(1)
        got = rpc.rpc_sync("worker1", nested, ({"list": [1, 2], "a": one, "b": one, "text": "x"},))
        assert got == {"sum": 3, "same": True, "text": "x!"}
        futures = [rpc.rpc_async("worker1", add, (i,)) for i in range(50)]
        assert wait_all(futures) == list(range(1, 51))
        assert futures[0].then(lambda f: f.value() * 10).wait() == 10
        assert rpc.rpc_sync("worker1", calls_back, (12,)) == ["worker1", "worker0"] * 6 + ["worker1"]
        big = torch.randn(1000, 1000)
        assert torch.equal(rpc.rpc_sync("worker1", add, (big,), {"b": 0}), big)
        raises(KeyError, lambda: rpc.rpc_sync("worker1", fails, ("no such key",)), "WorkerInfo(id=1, name=worker1)",
               "no such key", "in fails")
        raises(ValueError, lambda: rpc.rpc_sync("worker7", who), "worker7")
        raises(TypeError, lambda: rpc.rpc_sync("worker1", 3), "callable")
        try:
            rpc.rpc_sync("worker1", lambda: 3)
        except (pickle.PicklingError, AttributeError) as error:
            assert "lambda" in str(error)
        raises(dist.DistError, lambda: rpc.rpc_sync("worker1", time.sleep, (3,), timeout=0.2), "worker1")
    rpc.shutdown()
    raises(RuntimeError, rpc.get_worker_info, "RPC has not been initialized")


def test_calls():
    ranks.run(calls)


def references(rank, size, path):
    worker(rank, size, path)
    if rank == 0:
        counter = rpc.remote("worker1", Counter, args=(5,))
        assert not counter.is_owner() and counter.owner_name() == "worker1" and "UserRRef" in repr(counter)
        assert counter.rpc_sync().add(2) == 7 and counter.rpc_async().add(3).wait() == 10
        assert counter.remote().tensor().to_here().tolist() == [10, 10]
        raises(RuntimeError, counter.local_value, "Call it on owner")
        raises(RuntimeError, lambda: pickle.dumps(counter), "Can not pickle rref")
        mine = rpc.RRef({"key": torch.ones(2)})
        assert mine.is_owner() and mine.local_value()["key"].tolist() == [1, 1] and mine.to_here() is mine.local_value()
        assert rpc.rpc_sync("worker1", read, (mine,))["key"].tolist() == [1, 1]
        failed = rpc.remote("worker1", fails, ("in remote",))
        raises(KeyError, failed.to_here, "in remote")
        net = rpc.remote("worker1", nn.Linear, (3, 2)).to_here()
        assert isinstance(net.weight, nn.Parameter) and len(list(net.parameters())) == 2
        for _ in range(30):
            rpc.remote("worker1", Counter, (0,)).rpc_sync().add(1)
        del counter, failed, mine
    rpc.shutdown()


def test_references():
    outputs = ranks.run(references)
    assert "is still referred to" not in "".join(outputs)


class Batcher:
    """Adds what all callers give, and answers when the last has come."""

    def __init__(self, callers):
        self.callers, self.count, self.sum = callers, 0, 0
        self.lock, self.future = threading.Lock(), Future()

    @staticmethod
    @rpc.functions.async_execution
    def give(reference, value):
        self = reference.local_value()
        with self.lock:
            self.sum, self.count = self.sum + value, self.count + 1
            future = self.future
            if self.count == self.callers:
                future.set_result(self.sum)
        return future


def asynchronous(rank, size, path):
    worker(rank, size, path, num_worker_threads=1)
    if rank == 0:
        batcher = rpc.remote("worker1", Batcher, (20,))
        futures = [rpc.rpc_async("worker1", Batcher.give, (batcher, i)) for i in range(20)]
        assert wait_all(futures) == [sum(range(20))] * 20
        del batcher
    rpc.shutdown()


def test_functions_that_give_futures():
    ranks.run(asynchronous)


class Stage(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x):
        return torch.tanh(self.fc(x))

    def parameter_rrefs(self):
        return [rpc.RRef(p) for p in self.parameters()]

    def weight(self):
        return self.fc.weight.detach()


def gradients(rank, size, path):
    from taeda import optim
    worker(rank, size, path)
    if rank == 0:
        torch.manual_seed(4)
        x, w = torch.randn(3, 4), torch.randn(4, 4, requires_grad=True)
        with dist_autograd.context() as context_id:
            loss = rpc.rpc_sync("worker1", torch.matmul, (x, w)).pow(2).sum()
            dist_autograd.backward(context_id, [loss])
            got = dist_autograd.get_gradients(context_id)[w]
        assert w.grad is None
        (x @ w).pow(2).sum().backward()
        assert torch.allclose(got, w.grad, atol=1e-4)

        stages = [rpc.remote(f"worker{i}", Stage, (4,)) for i in (1, 2)]
        parameters = [p for s in stages for p in s.rpc_sync().parameter_rrefs()]
        optimizer = DistributedOptimizer(optim.SGD, parameters, lr=0.1)
        before = [s.rpc_sync().weight() for s in stages]
        losses = []
        for _ in range(5):
            with dist_autograd.context() as context_id:
                out = stages[1].rpc_sync().forward(stages[0].rpc_sync().forward(x))
                loss = (out - 1).pow(2).mean()
                dist_autograd.backward(context_id, [loss])
                optimizer.step(context_id)
            losses.append(loss.item())
        assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]
        assert not any(torch.equal(b, s.rpc_sync().weight()) for b, s in zip(before, stages))
        raises(ValueError, lambda: dist_autograd.get_gradients(12345))
        del stages, parameters, optimizer
    rpc.shutdown()


def test_gradients_through_calls():
    ranks.run(gradients, 3)


def on_devices(rank, size, path):
    worker(rank, size, path, device_maps={f"worker{1 - rank}": {"cuda:0": "cuda:1"} if rank == 0 else {"cuda:1": "cuda:0"}})
    if rank == 0:
        out = rpc.rpc_sync("worker1", where, (torch.ones(2, device="cuda:0"),))
        assert out[0] == "cuda:1" and out[1].device == torch.device("cuda:0") and out[1].tolist() == [2, 2]
    rpc.shutdown()


def where(x):
    return str(x.device), x + 1


def test_tensors_of_accelerators():
    ranks.run(on_devices, TAEDA_SIM_AS_CUDA="2")


def interrupted(rank, size, path):
    worker(rank, size, path)
    if rank == 1:
        time.sleep(ranks.SECONDS)
    try:
        print("waiting", flush=True)
        rpc.rpc_sync("worker1", time.sleep, (20,))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(0)


def test_ctrl_c_ends_a_call(tmp_path):
    waiting, other = (ranks.start(interrupted, r, 2, str(tmp_path / "store")) for r in range(2))
    assert waiting.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    ranks.interrupt(waiting)
    [(status, text)] = ranks.finish([waiting])
    other.kill()
    other.communicate()
    assert (status, text) == (0, "interrupted\n")


def ends_without_shutdown(rank, size, path):
    worker(rank, size, path)
    assert rpc.rpc_sync(f"worker{rank}", who) == f"worker{rank}"


def test_a_program_that_forgets_to_shut_down_ends():
    ranks.run(ends_without_shutdown)


def test_arguments():
    with pytest.raises(TypeError, match="must be a member of BackendType"):
        rpc.init_rpc("a", backend="gloo")
    with pytest.raises(TypeError, match="RpcBackendOptions"):
        rpc.init_rpc("a", rpc_backend_options=3)
    with pytest.raises(ValueError, match="1-to-1"):
        rpc.TensorPipeRpcBackendOptions(device_maps={"a": {"sim:0": "sim:1"}}).set_device_map("a", {"sim:0": "sim:0"})
