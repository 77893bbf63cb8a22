"""torch.func over nested containers, einsum with lists of subscripts, what autograd.functional gives back."""

import pytest

import taeda as torch
from taeda import nn


@pytest.fixture
def x():
    return torch.arange(12.0).reshape(3, 4) / 5 - 1


def test_jacobians_and_hessian_of_a_power(x):
    v = torch.tensor([1.0, 2.0])
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        assert torch.allclose(jacobian(lambda a: a ** 2)(v), torch.diag(2 * v))
    assert torch.allclose(torch.func.hessian(lambda a: (a ** 3).sum())(v), torch.diag(6 * v))
    out, derived = torch.func.jvp(lambda a: a ** 2, (v,), (torch.ones(2),))
    assert torch.equal(out, v ** 2) and torch.equal(derived, 2 * v) and not out.requires_grad


def test_gradients_nest():
    t = torch.tensor(1.0)
    assert torch.allclose(torch.func.grad(torch.func.grad(torch.sin))(t), -torch.sin(t))
    assert torch.allclose(torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(3)), torch.cos(torch.ones(3)))


def test_the_gradient_of_each_sample(x):
    model = nn.Linear(4, 2)
    given = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, sample, target):
        return ((torch.func.functional_call(model, parameters, (sample,)) - target) ** 2).sum()
    found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(given, x, torch.ones(3, 2))
    for i in range(3):
        model.zero_grad()
        ((model(x[i]) - 1) ** 2).sum().backward()
        assert torch.allclose(found["weight"][i], model.weight.grad) and torch.allclose(found["bias"][i], model.bias.grad)


def test_models_as_one(x):
    models = [nn.Linear(4, 2) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 2, 4) and parameters["weight"].is_leaf and buffers == {}
    out = torch.func.vmap(lambda p, b, a: torch.func.functional_call(models[0], (p, b), (a,)), in_dims=(0, 0, None))(
        parameters, buffers, x)
    assert torch.allclose(out, torch.stack([m(x) for m in models]))
    with pytest.raises(RuntimeError, match="at least one model"):
        torch.func.stack_module_state([])


def test_pulling_back_through_two_results():
    out, pull = torch.func.vjp(lambda a: (a.sin(), a.cos()), torch.zeros(2))
    assert torch.equal(out[1], torch.ones(2)) and torch.equal(pull((torch.ones(2), torch.ones(2)))[0], torch.ones(2))


def test_vmap_over_dicts_and_other_dimensions(x):
    assert torch.equal(torch.func.vmap(lambda d: d["a"] * 2)({"a": x}), x * 2)
    total, product = torch.func.vmap(lambda a, b: (a + b, a * b), in_dims=(0, None), out_dims=(0, 1))(x, x[0])
    assert torch.equal(total, x + x[0]) and torch.equal(product, (x * x[0]).t())
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        torch.func.vmap(torch.add)(x, x.t())


def test_einsum_with_lists_of_subscripts(x):
    assert torch.equal(torch.einsum(x, [0, 1], x, [2, 1]), torch.einsum("ab,cb->ac", x, x))
    assert torch.equal(torch.einsum(x, [..., 1], x, [..., 1], [...]), torch.einsum("...b,...b->...", x, x))
    with pytest.raises(ValueError, match="within the valid range"):
        torch.einsum(x, [0, 52])


def test_outputs_of_products_with_jacobians_have_no_graph():
    v = torch.ones(2)
    for product in (torch.autograd.functional.vjp, torch.autograd.functional.jvp):
        assert not product(lambda a: a ** 2, v, v)[0].requires_grad
        assert product(lambda a: a ** 2, v.requires_grad_(), v, create_graph=True)[0].requires_grad
