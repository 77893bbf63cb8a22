"""Pipe over simulated devices."""

import copy

import pytest

import taeda as torch
from taeda import nn
from taeda.distributed.pipeline.sync import NoChunk, Pipe, WithDevice


def stages(*devices, width=6):
    torch.manual_seed(2)
    return nn.Sequential(*(nn.Sequential(nn.Linear(width, width), nn.Tanh()).to(d) for d in devices))


@pytest.mark.parametrize("checkpoint", ["always", "except_last", "never"])
@pytest.mark.parametrize("chunks,batch", [(1, 8), (2, 8), (4, 7), (8, 3)])
def test_it_computes_what_the_modules_compute(checkpoint, chunks, batch):
    model = stages("sim:0", "sim:1")
    alone = copy.deepcopy(model).to("cpu")
    pipe = Pipe(model, chunks, checkpoint)
    assert pipe.devices == [torch.device("sim:0"), torch.device("sim:1")] and len(pipe) == 2
    x = torch.randn(batch, 6)
    for _ in range(2):
        given = x.to("sim").requires_grad_()
        out = pipe(given)
        assert out.device == torch.device("sim:1") and out.local_value() is out and out.to_here() is out
        out.pow(2).sum().backward()
        expected = x.clone().requires_grad_()
        alone(expected).pow(2).sum().backward()
        assert torch.allclose(out.cpu(), alone(x), atol=1e-6)
        assert torch.allclose(given.grad.cpu(), expected.grad, atol=1e-5)
    for p, q in zip(pipe.parameters(), alone.parameters()):
        assert torch.allclose(p.grad.cpu(), q.grad, atol=1e-4)
    pipe.eval()
    with torch.no_grad():
        assert torch.allclose(pipe(x.to("sim")).cpu(), alone(x), atol=1e-6)


def test_random_numbers_are_the_same_when_computed_again():
    model = nn.Sequential(nn.Linear(4, 4).to("sim:0"), nn.Dropout(0.5), nn.Linear(4, 4).to("sim:1"))
    pipe = Pipe(model, chunks=2, checkpoint="always")
    assert pipe.balance == [2, 1]
    x = torch.ones(4, 4, device="sim", requires_grad=True)
    gradients = []
    for mode in ("always", "never"):
        pipe.checkpoint = mode
        torch.manual_seed(9)
        x.grad = None
        pipe(x).sum().backward()
        gradients.append(x.grad.clone())
    assert torch.allclose(*gradients)


def test_several_values_and_devices_that_are_named():
    class Two(nn.Module):
        def forward(self, a, b):
            return a + b, b

    class One(nn.Module):
        def forward(self, a, b):
            return a * b
    model = nn.Sequential(nn.Linear(2, 2).to("sim:0"), WithDevice(nn.ReLU(), "sim:1"))
    assert Pipe(model).devices == [torch.device("sim:0"), torch.device("sim:1")]
    pipe = Pipe(nn.Sequential(WithDevice(Two(), "sim:0"), WithDevice(One(), "sim:1")), chunks=2)
    a, b = torch.arange(4.0, device="sim"), torch.full((4,), 2.0, device="sim")
    assert pipe(a, b).tolist() == [4, 6, 8, 10]
    scalar = torch.tensor(3.0, device="sim")
    assert pipe(a, NoChunk(scalar)).tolist() == [9, 12, 15, 18]


def test_on_the_cpu():
    pipe = Pipe(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)), chunks=2)
    out = pipe(torch.ones(4, 2))
    out.sum().backward()
    assert out.shape == (4, 1) and pipe[0].weight.grad is not None
    assert list(pipe.state_dict()) == ["partitions.0.0.weight", "partitions.0.0.bias", "partitions.0.1.weight",
                                       "partitions.0.1.bias"]


def test_errors():
    for arguments, kind, text in (((nn.Linear(2, 2),), TypeError, "module must be nn.Sequential to be partitioned"),
                                  ((stages("cpu"), "2"), TypeError, "chunks must be int"),
                                  ((stages("cpu"), 0), ValueError, "number of chunks must be positive integer"),
                                  ((stages("cpu"), 1, "sometimes"), ValueError, "checkpoint is not one of 'always'")):
        with pytest.raises(kind, match=text):
            Pipe(*arguments)
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="module with duplicate children is not supported"):
        Pipe(nn.Sequential(layer, layer))
    both = nn.Sequential(nn.Linear(2, 2).to("sim:0"), nn.Linear(2, 2).to("sim:1"))
    with pytest.raises(ValueError, match="should have all parameters on a single device"):
        Pipe(nn.Sequential(both))
    pipe = Pipe(both, chunks=2)
    with pytest.raises(TypeError, match="denied to move parameters and buffers"):
        pipe.to("cpu")
    with pytest.raises(TypeError, match="denied to move"):
        pipe.cuda()
    with pytest.raises(ValueError, match="All inputs should be on the same device as the first partition"):
        pipe(torch.ones(4, 2))

    class Fails(nn.Module):
        def forward(self, x):
            raise LookupError("in a stage")
    broken = Pipe(nn.Sequential(nn.Linear(2, 2).to("sim:0"), WithDevice(Fails(), "sim:1")), chunks=2)
    with pytest.raises(LookupError, match="in a stage"):
        broken(torch.ones(4, 2, device="sim"))
    assert torch.sim.current_device() == 0
