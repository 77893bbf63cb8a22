"""Derivatives in one direction: torch.autograd.forward_ad, torch.func.jvp, jacfwd and linearize."""

import pytest

import taeda as torch
import taeda.autograd.forward_ad as fw
from taeda import nn


def test_a_tangent_goes_along():
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        assert fw.unpack_dual(dual).tangent.equal(t) and fw.unpack_dual(x).tangent is None
        primal, tangent = fw.unpack_dual(dual.sin() * 3)
        assert torch.allclose(primal, 3 * x.sin()) and torch.allclose(tangent, 3 * x.cos() * t)
        assert not primal.requires_grad and not tangent.requires_grad
        dual.mul_(2)
        assert fw.unpack_dual(dual).tangent.equal(2 * t)
    assert fw.unpack_dual(dual).tangent is None


def test_several_tangents_and_a_module():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    tangents = {name: torch.randn_like(p) for name, p in parameters.items()}
    x = torch.randn(5, 3)
    with fw.dual_level():
        duals = {name: fw.make_dual(p, tangents[name]) for name, p in parameters.items()}
        found = fw.unpack_dual(torch.func.functional_call(model, duals, x)).tangent
    _, expected = torch.func.jvp(lambda p: torch.func.functional_call(model, p, (x,)), (parameters,), (tangents,))
    assert torch.allclose(found, expected, atol=1e-6)


def test_a_gradient_of_a_tangent():
    x = torch.tensor([0.5], dtype=torch.double, requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(x, torch.ones_like(x)) ** 3).tangent
        tangent.sum().backward()
    assert x.grad.item() == pytest.approx(6 * 0.5)


def test_wrong_duals():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="forward gradient of size"):
            fw.make_dual(x, torch.ones(3))
        with pytest.raises(RuntimeError, match="forward gradient of dtype"):
            fw.make_dual(x, x.double())
        with pytest.raises(ValueError, match="Expected primal to be floating point"):
            fw.make_dual(x.long(), x)
    with pytest.raises(RuntimeError, match="not entered"):
        fw.exit_dual_level()


def nested(a, b):
    return {"s": a.sin() @ b["w"], "p": (a.prod(), b["w"].exp())}


def test_jacobians_column_by_column_are_those_row_by_row():
    a, b = torch.tensor([0.3, -0.2, 0.9], dtype=torch.double), {"w": torch.randn(3, 2, dtype=torch.double)}
    for argnums in (0, 1, (0, 1)):
        leaves = [torch.utils._pytree.tree_leaves(jacobian(nested, argnums)(a, b))
                  for jacobian in (torch.func.jacrev, torch.func.jacfwd)]
        assert len(leaves[0]) == len(leaves[1]) > 0
        assert all(torch.allclose(r, f) and r.shape == f.shape for r, f in zip(*leaves))
    found, aux = torch.func.jacfwd(lambda x: (x ** 2, x), has_aux=True)(a)
    assert torch.allclose(found, torch.diag(2 * a)) and aux.equal(a)
    assert torch.allclose(torch.func.jacfwd(torch.func.jacrev(lambda x: (x ** 3).sum()))(a), torch.diag(6 * a))
    assert torch.func.jacfwd(lambda x: x)(torch.ones(0)).shape == (0, 0)


def test_a_function_that_is_made_linear():
    out, derivative = torch.func.linearize(torch.sin, torch.tensor([0.0, 1.0]))
    assert torch.allclose(derivative(torch.ones(2)), torch.cos(torch.tensor([0.0, 1.0]))) and out[0] == 0


def test_batch_normalization_without_statistics():
    model = torch.func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2), nn.ReLU()))
    assert model[0].running_mean is None and not model[0].track_running_stats and model(torch.randn(4, 2)).shape == (4, 2)


def test_functions_of_other_results_are_refused():
    with pytest.raises(RuntimeError, match="Expected f.* to return a scalar Tensor, got tensor with 1 dims"):
        torch.func.grad(lambda x: x)(torch.ones(2))
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        torch.autograd.functional.jacobian(lambda x: 3, torch.ones(2))
    with pytest.raises(ValueError, match=r"Got in_dim=3 for some input, but that input is a Tensor of dimensionality 1"):
        torch.func.vmap(torch.sin, in_dims=3)(torch.ones(2))
