"""Gradients of convolutions by themselves are those of backward."""

import pytest

import taeda as torch
from taeda.nn import functional as F, grad


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("stride, padding, dilation, groups", [(1, 0, 1, 1), (3, 1, 1, 2), (2, 2, 2, 1)])
def test_gradients(dims, stride, padding, dilation, groups):
    x = torch.randn(2, 4, *range(9, 9 + dims), dtype=torch.double, requires_grad=True)
    weight = torch.randn(6, 4 // groups, *[3] * dims, dtype=torch.double, requires_grad=True)
    out = getattr(F, f"conv{dims}d")(x, weight, None, stride, padding, dilation, groups)
    given = torch.randn_like(out)
    of_x, of_weight = torch.autograd.grad(out, (x, weight), given)
    how = given, stride, padding, dilation, groups
    assert torch.allclose(getattr(grad, f"conv{dims}d_input")(x.shape, weight, *how), of_x)
    alone = getattr(grad, f"conv{dims}d_weight")(x, weight.shape, *how)
    assert torch.allclose(alone, of_weight)
    assert torch.autograd.grad(alone.square().sum(), x)[0].abs().sum() > 0
    with torch.no_grad():
        assert not getattr(grad, f"conv{dims}d_weight")(x, weight.shape, *how).requires_grad
