"""What autograd promises programs: how saved tensors come back, which graphs run twice, what hooks, modes and strict find."""

import collections
import warnings

import pytest

import taeda as torch
import taeda.nn.functional as F
from taeda import nn
from taeda.autograd import Function
from taeda.autograd import functional as A
from taeda.nn.modules import module as all_modules
from taeda.utils.checkpoint import checkpoint, checkpoint_sequential

TWICE = "Trying to backward through the graph a second time"


class Kept(Function):
    """x * y, which looks at what it saved."""

    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.save_for_backward(x, y, out, x.detach())
        Kept.ctx = ctx
        return out

    @staticmethod
    def backward(ctx, grad):
        x, y, out, detached = ctx.saved_tensors
        Kept.seen = [(t.requires_grad, t.is_leaf) for t in (x, y, out, detached)]
        with torch.enable_grad():
            Kept.inner = torch.autograd.grad((x.clone() * 2).sum() + (x * y).sum(), [x, y], allow_unused=True)
        return grad * y, grad * x


def test_saved_tensors_are_what_they_were():
    p, q = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    out = Kept.apply(p * 1, q)
    assert [t.requires_grad for t in Kept.ctx.saved_tensors] == [True, True, True, False]  # outside of backward, too
    out.sum().backward()
    assert Kept.seen == [(True, False), (True, True), (True, False), (False, True)]
    assert Kept.inner[0].equal(2 + q.detach()) and Kept.inner[1].equal(p.detach())
    assert p.grad.equal(q.detach()) and q.grad.equal(p.detach())
    product = (p * 1) * q
    with torch.no_grad():
        assert product.grad_fn._saved_self.requires_grad and product.grad_fn._saved_other is q


class Operator(Function):
    """A triangular matrix times a vector, whose backward goes through a representation of the matrix, as operators' do."""

    @staticmethod
    def forward(ctx, matrix, vector):
        ctx.save_for_backward(matrix, vector)
        return matrix.tril() @ vector

    @staticmethod
    def backward(ctx, grad):
        matrix, vector = ctx.saved_tensors
        with torch.enable_grad():
            value = (matrix.clone().tril() @ vector * grad).sum()
            return torch.autograd.grad(value, [matrix, vector], allow_unused=True)


def test_a_backward_may_differentiate_by_what_it_saved():
    p = torch.arange(4.0).reshape(2, 2).requires_grad_()
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    Operator.apply(p * 1, v * 1).sum().backward()
    assert p.grad.equal(torch.tensor([[1.0, 0.0], [1.0, 2.0]])) and v.grad.equal(torch.tensor([2.0, 3.0]))


class Doubled(Function):
    @staticmethod
    def forward(ctx, x, changed=True):
        if changed:
            x.mul_(2)
        ctx.mark_dirty(x)
        return x if changed is not None else x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


def test_marking_a_tensor_counts_as_a_change():
    p = torch.ones(2, requires_grad=True)
    for x in (p * 1, torch.ones(2)):
        assert Doubled.apply(x, False) is x and x._version == 1
        assert Doubled.apply(x) is x and x._version == 3
    x = p * 1
    y = x * p
    Doubled.apply(x, False)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="marked as dirty during the forward method were not returned"):
        Doubled.apply(p * 1, None)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Doubled.apply(p.clone().detach().requires_grad_(), False)
