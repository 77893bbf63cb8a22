"""Process groups, collectives and messages, in processes of their own on loopback."""

import os
import pickle
import time
import warnings
from datetime import timedelta

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")


def join(rank, size, path, **options):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=size, **options)


def raises(kind, call, *words):
    """Calls and expects an error of exactly this class with these words."""
    try:
        call()
    except Exception as error:
        assert type(error) is kind, repr(error)
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")


def about_a_group(rank, size, path):
    assert not dist.is_initialized() and dist.is_available()
    raises(ValueError, dist.get_rank, "Default process group has not been initialized")
    join(rank, size, path)
    assert dist.is_initialized() and (dist.get_rank(), dist.get_world_size()) == (rank, size)
    assert dist.get_backend() == "gloo" == dist.Backend.GLOO and dist.Backend("GLOO") == "gloo"
    world = dist.group.WORLD
    assert (world.rank(), world.size(), world.name()) == (rank, size, "gloo") and world is dist.GroupMember.WORLD
    assert dist.get_process_group_ranks(world) == list(range(size))
    raises(RuntimeError, lambda: join(rank, size, path), "trying to initialize the default process group twice!")
    dist.barrier()
    dist.destroy_process_group()
    assert not dist.is_initialized()
    raises(AssertionError, dist.destroy_process_group, "has not been initialized")


def test_about_a_group():
    ranks.run(about_a_group)


def test_reductions():
    assert repr(dist.ReduceOp.SUM) == "<RedOpType.SUM: 0>" and dist.ReduceOp.SUM != dist.ReduceOp.MAX
    assert pickle.loads(pickle.dumps(dist.ReduceOp.MAX)) == dist.ReduceOp.MAX
    assert len({dist.ReduceOp.SUM, dist.ReduceOp.SUM}) == 1


def test_arguments_of_init():
    with pytest.raises(AssertionError, match="Cannot specify both init_method and store"):
        dist.init_process_group("gloo", init_method="env://", store=dist.HashStore(), rank=0, world_size=1)
    with pytest.raises(AssertionError, match="world_size must be positive"):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0)
    with pytest.raises(TypeError, match="datetime.timedelta, got 3"):
        dist.init_process_group("gloo", timeout=3)
    with pytest.raises(ValueError, match="string-ish"):
        dist.init_process_group(3)
    with pytest.raises(ValueError, match="RANK"):
        dist.init_process_group("gloo")
    with pytest.raises(ValueError, match="pigeons"):
        dist.init_process_group("pigeons", store=dist.HashStore(), rank=0, world_size=1)


def collectives(rank, size, path):
    join(rank, size, path)
    mine = torch.arange(4.0) + rank
    everyone = [torch.arange(4.0) + r for r in range(size)]

    op_is = dist.ReduceOp
    for op, expected in ((op_is.SUM, sum(everyone)), (op_is.MAX, everyone[-1]), (op_is.MIN, everyone[0]),
                         (op_is.AVG, sum(everyone) / size), (op_is.PRODUCT, everyone[0] * everyone[1])):
        t = mine.clone()
        assert dist.all_reduce(t, op=op) is None
        assert torch.equal(t, expected), (op, t)
    t = mine.clone()
    dist.reduce(t, dst=1)
    assert rank != 1 or torch.equal(t, sum(everyone))
    t = mine.clone()
    dist.broadcast(t, src=1)
    assert torch.equal(t, everyone[1])
    lists = [torch.zeros(4) for _ in range(size)]
    dist.all_gather(lists, mine)
    assert all(torch.equal(a, b) for a, b in zip(lists, everyone))
    flat, stacked = torch.zeros(4 * size), torch.zeros(size, 4)
    dist.all_gather_into_tensor(flat, mine)
    dist.all_gather_into_tensor(stacked, mine)
    assert torch.equal(flat, torch.cat(everyone)) and torch.equal(stacked, torch.stack(everyone))
    gathered = [torch.zeros(4) for _ in range(size)] if rank == 0 else None
    dist.gather(mine, gathered, dst=0)
    assert rank or all(torch.equal(a, b) for a, b in zip(gathered, everyone))
    out = torch.zeros(4)
    dist.scatter(out, [e * 10 for e in everyone] if rank == 0 else None, src=0)
    assert torch.equal(out, mine * 10)
    dist.reduce_scatter(out, [torch.full((4,), float(r + rank)) for r in range(size)])
    assert torch.equal(out, torch.full((4,), float(sum(rank + r for r in range(size)))))
    part = torch.zeros(2)
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * size))
    assert torch.equal(part, size * torch.arange(2.0 * size)[2 * rank:2 * rank + 2])
    received = [torch.zeros(1) for _ in range(size)]
    dist.all_to_all(received, [torch.tensor([10.0 * rank + r]) for r in range(size)])
    assert [r.item() for r in received] == [10.0 * r + rank for r in range(size)]
    rows = torch.zeros(size)
    dist.all_to_all_single(rows, torch.arange(float(size)) + 10 * rank)
    assert rows.tolist() == [rank + 10.0 * r for r in range(size)]
    several = [torch.ones(2), torch.ones(3, dtype=torch.int64)]
    dist.all_reduce_coalesced(several)
    assert several[0].tolist() == [size] * 2 and several[1].tolist() == [size] * 3
    dist.destroy_process_group()


def test_collectives():
    ranks.run(collectives)


def works(rank, size, path):
    join(rank, size, path)
    t = torch.ones(3)
    work = dist.all_reduce(t, async_op=True)
    assert isinstance(work, dist.Work) and work.wait() is True
    assert work.is_completed() and work.is_success() and work.exception() is None
    assert work.result()[0] is t and t.tolist() == [size] * 3
    doubled = dist.all_reduce(torch.ones(2), async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    assert doubled.wait().tolist() == [2 * size] * 2
    failed = dist.all_reduce(torch.ones(1), async_op=True).get_future().then(lambda f: 1 / 0)
    raises(ZeroDivisionError, failed.wait)
    pending = [dist.all_reduce(torch.full((1,), float(i)), async_op=True) for i in range(20)]
    assert [w.get_future().wait()[0].item() for w in pending] == [size * i for i in range(20)]
    assert dist.barrier(async_op=True).wait()
    dist.destroy_process_group()


def test_works():
    ranks.run(works)


def messages(rank, size, path):
    join(rank, size, path)
    if rank == 0:
        dist.send(torch.tensor([1.0, 2.0]), dst=1)
        dist.isend(torch.tensor([3]), 1, tag=7).wait()
    else:
        t, n = torch.zeros(2), torch.zeros(1, dtype=torch.int64)
        assert dist.recv(t) == 0 and t.tolist() == [1, 2]
        work = dist.irecv(n, src=0, tag=7)
        work.wait()
        assert n.item() == 3 and work.source_rank() == 0
    mine, theirs = torch.full((2,), float(rank)), torch.zeros(2)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, theirs, 1 - rank)]):
        work.wait()
    assert theirs.tolist() == [1.0 - rank] * 2
    raises(ValueError, lambda: dist.isend(mine, rank), "should not be the same as the rank of the current process")
    raises(ValueError, lambda: dist.P2POp(print, mine, 0), "isend")
    if rank == 0:
        dist.send_object_list(["a", {"b": torch.ones(2)}], 1)
    else:
        objects = [None, None]
        assert dist.recv_object_list(objects, 0) == 0
        assert objects[0] == "a" and objects[1]["b"].tolist() == [1, 1]
    dist.destroy_process_group()


def test_messages():
    ranks.run(messages)


class Point:
    def __init__(self, x):
        self.x = x


def objects(rank, size, path):
    join(rank, size, path)
    everyone = [None] * size
    dist.all_gather_object(everyone, {"rank": rank, "tensor": torch.ones(rank)})
    assert [o["rank"] for o in everyone] == list(range(size)) and [len(o["tensor"]) for o in everyone] == [0, 1]
    some = [Point(3), "text"] if rank == 0 else [None, None]
    dist.broadcast_object_list(some, src=0)
    assert some[0].x == 3 and some[1] == "text"
    gathered = [None] * size if rank == 1 else None
    dist.gather_object(rank * 2, gathered, dst=1)
    assert rank == 0 or gathered == [0, 2]
    out = [None]
    dist.scatter_object_list(out, [10, 11] if rank == 0 else None, src=0)
    assert out == [10 + rank]
    dist.destroy_process_group()


def test_objects():
    ranks.run(objects)


def smaller_groups(rank, size, path):
    join(rank, size, path)
    first = dist.new_group([0, 2])
    assert dist.get_rank(first) == {0: 0, 1: -1, 2: 1}[rank]
    t = torch.full((1,), float(rank))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dist.all_reduce(t, group=first)
    if rank == 1:
        assert first == dist.GroupMember.NON_GROUP_MEMBER and t.item() == 1 and dist.get_world_size(first) == -1
        assert "global rank 1 which does not belong to the given group" in str(said[0].message)
    else:
        assert t.item() == 2 and not said
        assert dist.get_process_group_ranks(first) == [0, 2] and dist.get_group_rank(first, 2) == 1
        assert dist.get_global_rank(first, 1) == 2
        raises(ValueError, lambda: dist.get_group_rank(first, 1), "not part of group")
        last = torch.full((1,), float(rank))
        dist.broadcast(last, group=first, group_src=1)
        assert last.item() == 2
    mine, groups = dist.new_subgroups(group_size=1)
    assert len(groups) == 3 and dist.get_world_size(mine) == 1
    dist.destroy_process_group()


def test_smaller_groups():
    ranks.run(smaller_groups, 3)


def simulated_devices(rank, size, path):
    join(rank, size, path)
    device = torch.device("cuda", rank)
    t = torch.arange(1000.0, device=device)
    work = dist.all_reduce(t, async_op=True)
    work.wait()
    assert torch.equal((t + 1).cpu(), 2 * torch.arange(1000.0) + 1) and t.device == device
    future = dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()[0] / 4)
    assert torch.equal(future.wait().cpu(), torch.arange(1000.0))
    dist.destroy_process_group()


def test_simulated_devices():
    ranks.run(simulated_devices, TAEDA_SIM_AS_CUDA="2")


def different_calls(rank, size, path):
    join(rank, size, path)
    t = torch.ones(3)
    call = (lambda: dist.broadcast(t, 0)) if rank else (lambda: dist.all_reduce(t))
    raises(dist.DistError, call, "the ranks called different things", "rank 0 called all_reduce", "rank 1 called broadcast")
    raises(dist.DistError, lambda: dist.all_reduce(t), "can no longer be used")


def test_ranks_that_call_different_things():
    ranks.run(different_calls)


def wrong_arguments(rank, size, path):
    join(rank, size, path)
    raises(TypeError, lambda: dist.all_reduce([torch.ones(1)]), "Expected parameter `tensor` of type torch.Tensor")
    raises(TypeError, lambda: dist.all_gather(torch.ones(1), torch.ones(1)), "`tensor_list` of type List[torch.Tensor]")
    raises(ValueError, lambda: dist.gather(torch.ones(1)), "must be specified on destination rank")
    raises(ValueError, lambda: dist.scatter(torch.ones(1)), "must be specified on source rank")
    raises(ValueError, lambda: dist.broadcast(torch.ones(1)), "Must specify src or group_src")
    raises(ValueError, lambda: dist.broadcast(torch.ones(1), 5), "5")
    raises(TypeError, lambda: dist.new_group(timeout=3), "timedelta")
    raises(TypeError, lambda: dist.set_timeout(3), "timedelta")
    raises(TypeError, lambda: dist.set_timeout(None), "timedelta")
    raises(ValueError, lambda: dist.set_timeout(timedelta(0)), "must be at least a millisecond, got 0 ms")
    raises(ValueError, lambda: dist.set_timeout(timedelta(1), dist.GroupMember.NON_GROUP_MEMBER), "not in the group")
    raises(ValueError, lambda: dist.all_reduce(torch.ones(1), op=dist.ReduceOp.BAND), "BAND")
    dist.destroy_process_group()


def test_wrong_arguments():
    ranks.run(wrong_arguments, 1)


def absent_rank(rank, size, path):
    join(rank, size, path)
    said = dist.FileStore(path + ".said", size)
    if rank == 0:
        dist.set_timeout(timedelta(milliseconds=300))
        assert dist.new_group(timeout=timedelta(hours=1)).timeout == timedelta(hours=1)
        assert dist.group.WORLD.timeout == timedelta(milliseconds=300)
        raises(dist.DistError, lambda: dist.all_reduce(torch.ones(2)), "did not end within the timeout of 300 ms")
        said.set("it", "1")
    else:
        dist.new_group(timeout=timedelta(hours=1))
        said.wait(["it"])
    os._exit(0)


def test_a_timeout_holds_for_later_operations():
    ranks.run(absent_rank, 2)


def late_rank(rank, size, path):
    join(rank, size, path)
    said = dist.FileStore(path + ".said", size)
    if rank == 1:
        said.wait(["it"])
        os._exit(0)
    raises(dist.DistError, lambda: dist.monitored_barrier(timeout=timedelta(milliseconds=300)),
           "rank 1 failed to pass monitoredBarrier in 300 ms")
    said.set("it", "1")
    os._exit(0)


def test_a_monitored_barrier_names_who_is_late():
    ranks.run(late_rank)


def interrupted(rank, size, path):
    join(rank, size, path)
    try:
        print("waiting", flush=True)
        dist.all_reduce(torch.ones(1))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(0)


def test_ctrl_c_ends_a_collective(tmp_path):
    waiting = ranks.start(interrupted, 0, 2, str(tmp_path / "store"))
    sleeping = ranks.start(sleeps, 1, 2, str(tmp_path / "store"))
    assert waiting.stdout.readline() == "waiting\n"
    ranks.interrupt(waiting)
    [(status, text)] = ranks.finish([waiting])
    sleeping.kill()
    sleeping.communicate()
    assert (status, text) == (0, "interrupted\n")


def sleeps(rank, size, path):
    join(rank, size, path)
    time.sleep(ranks.SECONDS)


def callbacks_that_wait(rank, size, path):
    join(rank, size, path, timeout=timedelta(seconds=30))
    mine, after = torch.ones(3) * (rank + 1), torch.zeros(2)
    sums = []

    def hook(future):
        dist.barrier()
        again = torch.ones(2)
        sums.append(dist.all_reduce(again, async_op=True).get_future().wait()[0][0].item())
        return future.value()[0]

    first = dist.all_reduce(mine, async_op=True).get_future().then(hook)
    dist.all_reduce(after)
    assert first.wait().tolist() == [size * (size + 1) / 2] * 3 and sums == [size]
    dist.destroy_process_group()


def test_callbacks_may_wait_for_collectives():
    ranks.run(callbacks_that_wait)


def callbacks_early_and_late(rank, size, path):
    join(rank, size, path, timeout=timedelta(seconds=30))
    told = dist.FileStore(path + ".told", size)
    if rank == 0:
        told.wait(["registered"])
    future, sums = dist.all_reduce(torch.ones(2), async_op=True).get_future(), []

    def hook(_):
        x = torch.ones(4)
        dist.all_reduce(x)
        sums.append(x.sum().item())
    if rank == 0:
        future.wait()
    last = future.then(lambda f: f.value()).then(hook)
    if rank:
        told.set("registered", "yes")
    dist.all_reduce(torch.ones(3))
    last.wait()
    assert sums == [4 * size]
    dist.destroy_process_group()


def test_callbacks_that_are_added_when_all_is_done():
    ranks.run(callbacks_early_and_late)


class Reducing(torch.utils.data.Dataset):
    """Calls a collective where its items are loaded."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        assert dist.get_rank() >= 0
        dist.all_reduce(torch.ones(1))
        return i


def collectives_of_copies(rank, size, path):
    join(rank, size, path)
    loader = torch.utils.data.DataLoader(Reducing(), num_workers=1, multiprocessing_context="fork")
    raises_within(lambda: list(loader), "belongs to process", "is a copy of it (fork)")
    total = torch.ones(1)
    dist.all_reduce(total)
    assert total.item() == size
    dist.destroy_process_group()


def raises_within(call, *words):
    try:
        call()
    except Exception as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError("no error")


def test_collectives_of_copies():
    ranks.run(collectives_of_copies)
