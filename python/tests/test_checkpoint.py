"""Activation checkpoints: parts of a forward that are computed again in the backward pass."""

import concurrent.futures
import contextlib

import pytest
import taeda as torch
from samples import Square
from taeda import nn
from taeda.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint(reentrant):
    calls = []
    layer, drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def part(x):
        calls.append(1)
        return drop(layer(x).relu())
    x = torch.rand(3, 4, requires_grad=True)
    torch.manual_seed(1)
    part(x).sum().backward()
    expected = x.grad.clone(), layer.weight.grad.clone(), torch.rand(2)
    x.grad = layer.weight.grad = None
    torch.manual_seed(1)
    out = checkpoint(part, x, use_reentrant=reentrant)
    out.sum().backward()
    assert torch.equal(x.grad, expected[0]) and torch.equal(layer.weight.grad, expected[1])
    assert torch.equal(torch.rand(2), expected[2]) and len(calls) == 3


@pytest.mark.parametrize("early", [True, False])
def test_checkpoints_end_early(early):
    """What comes after the last tensor that was saved is not computed again, unless the program wants it."""
    ends = []

    def part(x):
        made = x.exp()
        ends.append(made.requires_grad)
        return made
    for how in ("argument", "context"):
        ends.clear()
        x = torch.rand(3, requires_grad=True)
        with set_checkpoint_early_stop(early) if how == "context" else contextlib.nullcontext():
            out = checkpoint(part, x, use_reentrant=False, **({"early_stop": early} if how == "argument" else {}))
        out.sum().backward()
        assert torch.allclose(x.grad, x.exp()) and ends == [True] * (1 if early else 2)
        x.grad = None
    nested = checkpoint(lambda x: checkpoint(part, x.sin(), use_reentrant=False).cos(), x, use_reentrant=False)
    nested.sum().backward()
    assert torch.allclose(x.grad, -x.sin().exp().sin() * x.sin().exp() * x.cos())


def test_what_is_computed_again():
    """It is given back at the end of each pass, and must be of the sizes, dtypes and values that it was of."""
    calls = []

    def part(x, scale=1):
        calls.append(1)
        return (x * scale).exp()
    x = torch.rand(3, requires_grad=True)
    out = checkpoint(part, x, scale=2, use_reentrant=False)
    assert out.grad_fn.name() == "ExpBackward0"
    for count in (2, 3):
        out.sum().backward(retain_graph=True)
        assert len(calls) == count
    assert out.grad_fn._saved_result.allclose(out) and len(calls) == 4  # outside of a pass
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    assert torch.allclose(torch.autograd.grad(slope.sum(), x)[0], 4 * out)

    y = x * 1
    out = checkpoint(part, y, use_reentrant=False)
    with torch.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()

    def other(x):
        calls.append(1)
        return x.exp() if len(calls) == 1 else x.sum(0).exp()
    for check in ("default", "none"):
        calls.clear()
        out = checkpoint(other, torch.rand(2, 2, requires_grad=True), use_reentrant=False, determinism_check=check)
        said = "have different metadata than during the forward pass" if check == "default" else "of shape"
        with pytest.raises(RuntimeError, match=said) as error:
            out.sum().backward()
        assert isinstance(error.value, CheckpointError) == (check == "default")
    with pytest.raises(ValueError, match="determinism_check should be one of \\['default', 'none'\\], but got x"):
        checkpoint(part, x, use_reentrant=False, determinism_check="x")


def test_functions_of_python_ask_for_what_is_computed_again():
    """Two threads at once, each of which needs the interpreter."""
    x = torch.rand(3, requires_grad=True)
    shared = checkpoint(lambda x: Square.apply(Square.apply(x)), x, use_reentrant=False)

    def run():
        for _ in range(20):
            (grad,) = torch.autograd.grad(shared.sum(), x, retain_graph=True)
            assert torch.allclose(grad, 4 * x ** 3)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for each in [pool.submit(run) for _ in range(3)]:
            each.result(60)


def test_checkpoint_sequential_and_errors():
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh())
    x = torch.rand(2, 4, requires_grad=True)
    net(x).sum().backward()
    expected, x.grad = x.grad, None
    checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, expected)
    times = []

    def fickle(x):
        times.append(1)
        return x.exp() if len(times) == 1 else x
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(fickle, x, use_reentrant=False).sum().backward()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(net, x, use_reentrant=True, k=1)
