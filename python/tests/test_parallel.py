"""Several devices in one process: scatter, replicate, parallel_apply, gather, DataParallel, on simulated devices."""

import collections
import copy
import pickle
import threading

import pytest

import taeda as torch
from taeda import nn
from taeda.nn import parallel

DEVICES = [torch.device("sim", 0), torch.device("sim", 1)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.last = nn.Linear(8, 2)
        self.seen = []

    def forward(self, x, scale=1.0):
        self.seen.append((str(x.device), threading.current_thread() is threading.main_thread(), torch.is_grad_enabled()))
        return self.last(torch.relu(self.norm(self.first(x)))) * scale


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


def test_scatter_and_gather():
    x = torch.arange(10.0).reshape(5, 2)
    chunks = parallel.scatter(x, DEVICES)
    assert [c.device for c in chunks] == DEVICES and [len(c) for c in chunks] == [3, 2]
    assert torch.equal(parallel.gather(chunks, "cpu"), x)
    Pair = collections.namedtuple("Pair", "a b")
    nested = {"x": [x, 3], "p": Pair(x, "text"), "none": None}
    parts = parallel.scatter(nested, DEVICES)
    assert len(parts) == 2 and isinstance(parts[1]["p"], Pair) and parts[1]["p"].b == "text" and parts[0]["none"] is None
    assert torch.equal(parts[1]["x"][0].cpu(), x[3:])
    together = parallel.gather([{"x": p["x"][0], "y": (p["p"].a,)} for p in parts], DEVICES[1])
    assert torch.equal(together["y"][0].cpu(), x) and together["x"].device == DEVICES[1]
    args, kwargs = parallel.scatter_kwargs((x, 2), {"scale": 3.0}, DEVICES)
    assert len(args) == len(kwargs) == 2 and args[1][1] == 2 and kwargs[0] == {"scale": 3.0}
    assert len(parallel.scatter(torch.ones(1, 2), DEVICES)) == 1
    with pytest.raises(TypeError, match="got int"):
        parallel.gather([1, 2], "cpu")
    with pytest.raises(ValueError, match="All dicts must have the same number of keys"):
        parallel.gather([{"a": chunks[0]}, {}], "cpu")


def test_they_are_differentiable():
    x = torch.randn(6, 3, requires_grad=True)
    a, b = parallel.scatter(x, DEVICES)
    parallel.gather([a * 2, b * 3], "cpu").sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 3 + [[3.0] * 3] * 3
    total = parallel.comm.reduce_add([t.detach().sum(0) for t in (a, b)], DEVICES[1])
    assert total.device == DEVICES[1] and torch.allclose(total.cpu(), x.detach().sum(0))
    copies = parallel.comm.broadcast(x.detach(), DEVICES)
    assert [c.device for c in copies] == DEVICES and torch.equal(copies[1].cpu(), x.detach())
    with pytest.raises(ValueError, match="input has invalid size: got 2, but expected 3"):
        parallel.comm.reduce_add([torch.ones(3, device="sim"), torch.ones(2, device="sim:1")])


def test_replicas():
    net = Net().to("sim")
    replicas = parallel.replicate(net, DEVICES)
    for device, replica in zip(DEVICES, replicas):
        assert type(replica) is Net and replica.first is not net.first and replica.seen is net.seen
        assert replica.first.weight.device == device and not replica.first.weight.is_leaf
        assert replica.norm.running_mean.device == device and list(replica.parameters()) == []
        assert torch.equal(replica.first.weight.cpu(), net.first.weight.cpu())
    sum(r.first.weight.sum().cpu() * (i + 1) for i, r in enumerate(replicas)).backward()
    assert net.first.weight.grad.cpu().tolist() == [[3.0] * 4] * 8 and net.last.weight.grad is None
    detached = parallel.replicate(net, DEVICES, detach=True)
    assert not detached[1].first.weight.requires_grad
    with torch.no_grad():
        net.first.weight.fill_(7.0)
    assert torch.equal(parallel.replicate(net, DEVICES)[1].first.weight.cpu(), net.first.weight.detach().cpu())


def test_parallel_apply():
    nets = [nn.Linear(3, 2).to(d) for d in DEVICES]
    xs = [torch.ones(4, 3, device=d) for d in DEVICES]
    outputs = parallel.parallel_apply(nets, xs)
    assert all(torch.equal(o, net(x)) for o, net, x in zip(outputs, nets, xs))
    with torch.no_grad():
        assert not any(o.requires_grad for o in parallel.parallel_apply(nets, xs))
    barrier = threading.Barrier(2, timeout=30)  # they run side by side, or nobody passes it

    class Meets(nn.Module):
        def forward(self, x):
            barrier.wait()
            return torch.tensor(float(torch.sim.current_device()))
    assert [o.item() for o in parallel.parallel_apply([Meets(), Meets()], xs)] == [0.0, 1.0]

    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("no such thing")
    with pytest.raises(KeyError, match="Caught KeyError in replica 1 on device sim:1(.|\n)*no such thing"):
        parallel.parallel_apply([nets[0], Fails()], xs)
    with torch.autocast("sim", dtype=torch.bfloat16):
        assert [o.dtype for o in parallel.parallel_apply(nets, xs)] == [torch.bfloat16] * 2


@pytest.mark.parametrize("batch", [8, 7, 2, 1])
def test_data_parallel_has_the_gradients_of_one_device(batch):
    one = Plain().to("sim")
    several = parallel.DataParallel(copy.deepcopy(one), device_ids=DEVICES)
    x = torch.randn(batch, 4, device="sim")
    for _ in range(3):
        for net in (one, several):
            net.zero_grad()
            net(x).pow(2).sum().backward()
        assert torch.allclose(one(x), several(x), atol=1e-6)
        for p, q in zip(one.parameters(), several.parameters()):
            assert torch.allclose(p.grad.cpu(), q.grad.cpu(), atol=1e-5)
        with torch.no_grad():
            for net in (one, several):
                for p in net.parameters():
                    p -= 0.1 * p.grad
    assert several(x).device == DEVICES[0]


def test_data_parallel_as_a_module():
    net = Net().to("sim")
    several = nn.DataParallel(net, device_ids=[torch.device("sim:0"), "sim:1"])
    assert several.module is net and several.device_ids == [0, 1]
    assert list(several.state_dict())[0] == "module.first.weight"
    x = torch.randn(6, 4, device="sim")
    mean = net.norm.running_mean.clone()
    several(x, scale=2.0)
    assert sorted(d for d, _, _ in net.seen) == ["sim:0", "sim:1"]
    assert not torch.equal(net.norm.running_mean, mean)  # the first device's replica shares its buffers
    assert net.norm.num_batches_tracked.item() == 1
    several.eval()
    assert torch.allclose(several(x), net(x), atol=1e-6)
    again = pickle.loads(pickle.dumps(several))
    assert torch.allclose(again(x), net(x), atol=1e-6)
    elsewhere = nn.DataParallel(net, device_ids=DEVICES, output_device=DEVICES[1])
    assert elsewhere(x).device == DEVICES[1]
    assert "(module): Net(" in repr(several)


def test_data_parallel_without_an_accelerator_calls_the_module():
    net = Plain()
    several = nn.DataParallel(net)
    x = torch.randn(3, 4)
    assert several.device_ids == [] and torch.equal(several(x), net(x))


def test_a_module_that_is_elsewhere():
    several = nn.DataParallel(Plain().to("sim:1"), device_ids=DEVICES)
    with pytest.raises(RuntimeError, match=r"on device sim:0 \(device_ids\[0\]\) but found one of them on device: sim:1"):
        several(torch.ones(2, 4))


def test_parameters_that_are_shared_and_left_out():
    net = Plain()
    net.third = net.first
    net.register_parameter("none", None)
    several = nn.DataParallel(net.to("sim"), device_ids=DEVICES)
    replicas = several.replicate(several.module, [0, 1])
    assert replicas[1].third is replicas[1].first and replicas[1].none is None
    several(torch.ones(4, 4, device="sim")).sum().backward()
    assert net.first.weight.grad is not None


def test_data_parallel_once():
    net, x = Plain().to("sim"), torch.randn(4, 4, device="sim")
    assert torch.allclose(parallel.data_parallel(net, x, DEVICES), net(x), atol=1e-6)
