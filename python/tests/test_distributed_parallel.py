"""DistributedDataParallel, its hooks and joins, in processes of their own on loopback."""

import copy
import os
import pickle
import threading
import time

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.algorithms import Join, Joinable, JoinHook
from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from test_distributed_groups import join, raises

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.norm = nn.BatchNorm1d(width)
        self.last = nn.Linear(width, 2)
        self.unused = nn.Linear(2, 2)

    def forward(self, x, use=False):
        x = self.last(torch.relu(self.norm(self.first(x))))
        return self.unused(x) if use else x


def net_without_norm(width=8):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))


def train(model, x, steps=4, lr=0.1):
    for _ in range(steps):
        for p in model.parameters():
            p.grad = None
        model(x).pow(2).mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p -= lr * p.grad


def same_everywhere(tensors):
    """Whether all ranks have these values."""
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, [t.detach().cpu().tolist() for t in tensors])
    return all(e == everyone[0] for e in everyone)


def trains_as_one_process(rank, size, path):
    join(rank, size, path)
    torch.manual_seed(rank)
    inner = net_without_norm()
    for options in ({}, {"find_unused_parameters": True}, {"static_graph": True}, {"gradient_as_bucket_view": True},
                    {"bucket_cap_mb": 0.00001}):
        model = nn.parallel.DistributedDataParallel(copy.deepcopy(inner), **options)
        assert same_everywhere(model.parameters())  # rank 0's
        alone = copy.deepcopy(model.module)
        x = torch.arange(8.0 * size).reshape(2 * size, 4) / 10
        train(model, x[2 * rank:2 * rank + 2])
        train(alone, x)
        assert all(torch.allclose(p, q, atol=1e-5) for p, q in zip(model.parameters(), alone.parameters())), options
        assert same_everywhere(model.parameters())
        assert list(model.state_dict()) == ["module.0.weight", "module.0.bias", "module.2.weight", "module.2.bias"]
        if "bucket_cap_mb" in options:
            assert model.reducer.num_buckets() == 4
    dist.destroy_process_group()


def test_it_trains_as_one_process_with_all_batches():
    ranks.run(trains_as_one_process)


def unused_parameters_and_no_sync(rank, size, path):
    join(rank, size, path)
    model = nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)
    x = torch.randn(4, 4) + rank
    model(x).sum().backward()
    assert model.module.unused.weight.grad is None and same_everywhere([model.module.first.weight.grad])
    model.zero_grad()
    model(x, use=rank == 0).sum().backward()  # only rank 0 uses it
    assert model.module.unused.weight.grad is not None and same_everywhere([model.module.unused.weight.grad])

    model.zero_grad()
    with model.no_sync():
        model(x).sum().backward()
        assert not model.require_backward_grad_sync
    own = model.module.last.bias.grad.clone()
    assert not same_everywhere([model.module.first.weight.grad])
    model(x).sum().backward()
    assert same_everywhere([model.module.first.weight.grad]) and torch.allclose(model.module.last.bias.grad, own * 2)

    model.module.norm.running_mean.fill_(float(rank))
    model(x)
    assert same_everywhere([model.module.norm.running_mean]) is False  # sent before forward, which changes them again
    with torch.no_grad():
        model.module.norm.running_mean.fill_(float(rank + 5))
    model.eval()
    model(x)
    assert model.module.norm.running_mean[0].item() == 5.0  # rank 0's
    dist.destroy_process_group()


def test_unused_parameters_no_sync_and_buffers():
    ranks.run(unused_parameters_and_no_sync)


def different_models(rank, size, path):
    join(rank, size, path)
    raises(RuntimeError, lambda: nn.parallel.DistributedDataParallel(net_without_norm(8 + rank)),
           "DistributedDataParallel expects the same model on all processes, but rank 0 has parameter '0.weight'",
           "rank 1 has parameter '0.weight' torch.float32 [9, 4]")
    frozen = net_without_norm().requires_grad_(False)
    raises(RuntimeError, lambda: nn.parallel.DistributedDataParallel(frozen), "any parameters that require a gradient")
    raises(ValueError, lambda: nn.parallel.DistributedDataParallel(net_without_norm(), device_ids=[0, 1]), "single element")
    raises(ValueError, lambda: nn.parallel.DistributedDataParallel(net_without_norm(), device_ids=[0]), "device_ids [0]")
    model = nn.parallel.DistributedDataParallelCPU(net_without_norm())
    again = pickle.loads(pickle.dumps(model))
    again(torch.ones(1, 4) * rank).sum().backward()
    assert same_everywhere(p.grad for p in again.parameters())
    dist.destroy_process_group()


def test_models_that_differ_and_wrong_arguments():
    ranks.run(different_models)


def communication_hooks(rank, size, path):
    join(rank, size, path)
    x = torch.randn(8, 4)[4 * rank:4 * rank + 4] if rank < 2 else None
    torch.manual_seed(7)
    base = net_without_norm()
    plain = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
    plain(x).sum().backward()
    expected = [p.grad.clone() for p in plain.parameters()]
    tolerance = {default_hooks.allreduce_hook: 1e-6, default_hooks.fp16_compress_hook: 1e-2,
                 default_hooks.bf16_compress_hook: 5e-2,
                 default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook): 5e-2}
    for hook, atol in tolerance.items():
        model = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
        model.register_comm_hook(None, hook)
        model(x).sum().backward()
        assert all(torch.allclose(p.grad, e, atol=atol, rtol=atol) for p, e in zip(model.parameters(), expected)), hook
        raises(RuntimeError, lambda: model.register_comm_hook(None, hook), "can only be called once")

    seen = []

    def mine(state, bucket):
        seen.append((state, bucket.index(), bucket.is_last(), len(bucket.gradients()), len(bucket.parameters())))
        return dist.all_reduce(bucket.buffer() * 3 / size, async_op=True).get_future().then(lambda f: f.value()[0])
    model = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
    model.register_comm_hook("state", mine)
    model(x).sum().backward()
    assert seen == [("state", 0, True, 4, 4)]
    assert all(torch.allclose(p.grad, e * 3, atol=1e-5) for p, e in zip(model.parameters(), expected))

    model = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
    model.register_comm_hook(powerSGD_hook.PowerSGDState(None, 1, start_powerSGD_iter=2), powerSGD_hook.powerSGD_hook)
    for _ in range(4):
        model.zero_grad()
        model(x).sum().backward()
        assert same_everywhere(p.grad for p in model.parameters())
    raises(TypeError, lambda: plain.register_comm_hook(None, 3), "must be callable")

    def wrong(state, bucket):
        raise LookupError("in the hook")
    model = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
    model.register_comm_hook(None, wrong)
    raises(LookupError, lambda: model(x).sum().backward(), "in the hook")
    model = nn.parallel.DistributedDataParallel(copy.deepcopy(base))
    model.register_comm_hook(None, lambda state, bucket: 3)
    raises(TypeError, lambda: model(x).sum().backward(), "torch.futures.Future, got int")
    dist.destroy_process_group()


def test_communication_hooks():
    ranks.run(communication_hooks)


def on_simulated_devices(rank, size, path):
    join(rank, size, path)
    torch.cuda.set_device(rank)
    torch.manual_seed(1)
    inner = net_without_norm(64)
    alone = copy.deepcopy(inner)
    model = nn.parallel.DistributedDataParallel(inner.to(rank), device_ids=[rank])
    x = torch.randn(4 * size, 4)
    hooked, main = [], threading.get_ident()
    for p in model.parameters():  # hooks of Python run on the device's thread while this one waits in C++
        p.register_hook(lambda g: hooked.append(threading.get_ident() == main))
    train(model, x[4 * rank:4 * rank + 4])  # from the CPU: moved
    train(alone, x)
    assert all(torch.allclose(p.cpu(), q, atol=1e-5) for p, q in zip(model.parameters(), alone.parameters()))
    assert len(hooked) == 16
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    model(x.to(rank)).sum().backward()
    assert same_everywhere(p.grad for p in model.parameters()) and model.module[0].weight.grad.device.index == rank
    dist.destroy_process_group()


def test_on_simulated_devices():
    ranks.run(on_simulated_devices, TAEDA_SIM_AS_CUDA="2")


def uneven_batches(rank, size, path):
    join(rank, size, path)
    torch.manual_seed(3)
    for divide in (True, False):
        model = nn.parallel.DistributedDataParallel(Net())
        before = model.module.last.bias.detach().clone()
        count = 0
        with model.join(divide_by_initial_world_size=divide):
            for step in range(2 + 3 * rank):
                model.zero_grad()
                model(torch.full((3, 4), float(step))).sum().backward()
                count += 1
                # d/d bias of a sum over 3 rows is 3 on each active rank
                active = size if step < 2 else 1
                expected = 3.0 * active / (size if divide else active)
                assert model.module.last.bias.grad.tolist() == [expected] * 2, (step, divide)
                with torch.no_grad():
                    model.module.last.bias -= model.module.last.bias.grad
        assert count == 2 + 3 * rank and same_everywhere([model.module.last.bias, model.module.norm.running_mean])
        assert not torch.equal(before, model.module.last.bias)
    model = nn.parallel.DistributedDataParallel(net_without_norm())

    def throws():
        with model.join(throw_on_early_termination=True):
            for step in range(2 + rank):
                model(torch.ones(1, 4)).sum().backward()
    raises(RuntimeError, throws, "exhausted")
    raises(ValueError, lambda: Join([]), "at least one joinable")

    class Counter(Joinable):
        def __init__(self):
            super().__init__()
            self.count = torch.zeros(1)

        def __call__(self):
            Join.notify_join_context(self)
            t = torch.ones(1)
            dist.all_reduce(t)
            self.count += t

        def join_hook(self, **kwargs):
            counter = self

            class Hook(JoinHook):
                def main_hook(self):
                    t = torch.zeros(1)
                    dist.all_reduce(t)
                    counter.count += t
            return Hook()

        join_device = torch.device("cpu")
        join_process_group = dist.group.WORLD
    counter = Counter()
    with Join([counter]):
        for _ in range(3 + rank):
            counter()
    assert counter.count.item() == 3 + 4
    dist.destroy_process_group()


def test_ranks_with_different_numbers_of_batches():
    ranks.run(uneven_batches)


def interrupted_in_backward(rank, size, path):
    join(rank, size, path)
    model = nn.parallel.DistributedDataParallel(net_without_norm())
    try:
        loss = model(torch.ones(1, 4)).sum()
        if rank == 0:
            print("waiting", flush=True)
            loss.backward()
        else:
            time.sleep(ranks.SECONDS)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(0)


def test_ctrl_c_ends_a_backward_pass_that_waits_for_others(tmp_path):
    waiting, sleeping = (ranks.start(interrupted_in_backward, r, 2, str(tmp_path / "store")) for r in range(2))
    assert waiting.stdout.readline() == "waiting\n"
    time.sleep(0.5)
    ranks.interrupt(waiting)
    [(status, text)] = ranks.finish([waiting])
    sleeping.kill()
    sleeping.communicate()
    assert (status, text) == (0, "interrupted\n")


def test_the_module_of_nn():
    assert nn.parallel.DistributedDataParallelCPU is nn.parallel.DistributedDataParallel
    assert nn.parallel.distributed.DistributedDataParallel is nn.parallel.DistributedDataParallel
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        nn.parallel.DistributedDataParallel(net_without_norm())
