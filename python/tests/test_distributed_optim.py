"""Optimizers of several processes, in processes of their own on loopback."""

import copy

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.algorithms import Join
from test_distributed_groups import join, raises
from test_distributed_parallel import net_without_norm, same_everywhere

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")


def divides_state_among_ranks(rank, size, path):
    join(rank, size, path)
    torch.manual_seed(0)
    whole, divided = net_without_norm(), net_without_norm()
    divided.load_state_dict(whole.state_dict())
    alone = torch.optim.AdamW(whole.parameters(), lr=0.1)
    optimizer = dist.optim.ZeroRedundancyOptimizer(divided.parameters(), torch.optim.AdamW, lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    held = [p for group in optimizer.optim.param_groups for p in group["params"]]
    assert 0 < len(held) < 4 and optimizer.param_groups[0]["weight_decay"] == 0.01
    x = torch.rand(6, 4)
    for i in range(3):
        for model, stepped in ((whole, alone), (divided, optimizer)):
            stepped.zero_grad()
            model(x).pow(2).sum().backward()
            assert float(stepped.step(lambda: torch.tensor(float(i)))) == i
        schedule.step()
        alone.param_groups[0]["lr"] = schedule.get_last_lr()[0]
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), divided.parameters()))
    assert len(optimizer.state) == len(held)
    raises(RuntimeError, optimizer.state_dict, "Optimizer state has not been consolidated on this rank")
    optimizer.consolidate_state_dict(to=1)
    wanted = copy.deepcopy(alone.state_dict())
    if rank == 1:
        saved = optimizer.state_dict()
        assert sorted(saved["state"]) == [0, 1, 2, 3] and saved["param_groups"][0]["params"] == [0, 1, 2, 3]
        assert all(torch.equal(saved["state"][i][k], wanted["state"][i][k]) for i in range(4) for k in wanted["state"][i])
    again = dist.optim.ZeroRedundancyOptimizer(divided.parameters(), torch.optim.AdamW, lr=0.7)
    again.load_state_dict(wanted)
    assert again.param_groups[0]["lr"] == wanted["param_groups"][0]["lr"]
    for stepped in (alone, again):
        stepped.step()
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), divided.parameters()))
    more = nn.Linear(3, 3)
    again.add_param_group({"params": list(more.parameters()), "lr": 0.0})
    assert len(again.param_groups) == 2 and len(again.optim.param_groups) == 2


def joins_with_its_optimizer(rank, size, path):
    join(rank, size, path)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(net_without_norm())
    optimizer = dist.optim.ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    with Join([model, optimizer]):
        for _ in range(2 + rank):
            optimizer.zero_grad()
            model(torch.ones(3, 4)).sum().backward()
            optimizer.step()
    assert same_everywhere(list(model.parameters()))


@pytest.mark.parametrize("function", [divides_state_among_ranks, joins_with_its_optimizer])
def test_zero_redundancy(function):
    ranks.run(function)


def refuses_what_it_cannot_divide(rank, size, path):
    join(rank, size, path)
    make = dist.optim.ZeroRedundancyOptimizer
    raises(TypeError, lambda: make(torch.ones(2), torch.optim.SGD), "should be an iterable of Tensors, but got")
    raises(ValueError, lambda: make([], torch.optim.SGD), "got an empty parameter list")
    raises(TypeError, lambda: make([3], torch.optim.SGD), "should be an iterable of Tensors or dicts")
    raises(NotImplementedError, lambda: make([nn.Parameter(torch.ones(1))], torch.optim.SGD, overlap_with_ddp=True),
           "overlap_with_ddp")


def test_zero_redundancy_refuses():
    ranks.run(refuses_what_it_cannot_divide, 1)
