"""torch.func over nested containers, einsum with lists of subscripts, what autograd.functional gives back."""

import json
import math
import pathlib
import warnings

import pytest

import taeda as torch
import taeda.autograd.forward_ad as fw
from cases.func import PROGRAMS
from taeda import nn
from taeda.nn import functional as F

EXPECTED = json.loads((pathlib.Path(__file__).parent / "golden" / "func.json").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_training_programs_end_where_pytorchs_do(name):
    assert sorted(PROGRAMS) == sorted(EXPECTED)
    assert PROGRAMS[name](torch) == pytest.approx(EXPECTED[name], rel=1e-9, abs=1e-12)


@pytest.fixture
def w():
    return torch.tensor(3.0, requires_grad=True)


def test_what_a_function_closes_over_keeps_its_gradient(w):
    one = torch.tensor(1.0)
    (w + torch.func.grad(lambda x: x ** 2 * w)(one)).backward()
    assert w.grad.item() == 3
    slope = torch.func.grad(lambda x: torch.func.linearize(lambda y: y ** 2 * x * w, x)[1](x * 2))(torch.tensor(2.0))
    assert slope.item() == 144 and torch.autograd.grad(slope, w)[0].item() == 48
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(one, one) * w).tangent
    assert torch.autograd.grad(tangent, w)[0].item() == 1


def test_results_require_gradients_where_somebody_outside_wants_them(w):
    one = torch.tensor(1.0)
    grad = torch.func.grad
    assert not grad(lambda x: x ** 2)(one).requires_grad and not grad(lambda x: w * 1)(one).requires_grad
    assert not grad(lambda x: one * 1)(one).requires_grad and grad(lambda x: x * w)(one).requires_grad
    with torch.no_grad():
        assert not grad(lambda x: x ** 2 * w)(one).requires_grad
        gradient, value = torch.func.grad_and_value(lambda x: w)(one)
        assert gradient.item() == 0 and value.requires_grad
    _, (value, aux) = torch.func.grad_and_value(lambda x: (x * 1, (x * w, x, w)), has_aux=True)(one)
    assert [t.requires_grad for t in (value, *aux)] == [False, True, False, True]
    out, pull = torch.func.vjp(lambda x: x * 2, one)
    assert not out.requires_grad and not pull(one)[0].requires_grad and pull(w)[0].requires_grad
    out, pull = torch.func.vjp(lambda x: x * w, one)
    assert out.requires_grad and pull(one)[0].requires_grad
    with torch.no_grad():
        assert not pull(one)[0].requires_grad
    assert torch.equal(torch.func.hessian(lambda x: x.sum())(torch.ones(2)), torch.zeros(2, 2))


def ends_of(node, found):
    for following, _ in node.next_functions:
        if following is not None:
            found += [following] if following.name() == "AccumulateGrad" else []
            ends_of(following, found)
    return found


def test_a_transform_that_is_over_costs_its_results_nothing(w):
    result = torch.func.grad(lambda x: (x * w).sin())(torch.tensor(1.0))
    assert result.requires_grad and {end.variable for end in ends_of(result.grad_fn, [])} == {w}


def test_a_function_is_called_once_for_all_directions():
    calls = []

    def square(x):
        calls.append(x)
        return x ** 2
    torch.func.jacfwd(square)(torch.ones(4))
    _, derivative = torch.func.linearize(square, torch.ones(4))
    assert torch.equal(derivative(torch.ones(4)), derivative(torch.ones(4))) and len(calls) == 2


def test_wrong_arguments_of_transforms():
    one = torch.tensor(1.0)
    for numbers, words in ((1, "Got argnum=1, but only 1"), ((), "must be non-empty"), ((0, 0), "must be unique"),
                           ("x", "should be int or tuple")):
        with pytest.raises(RuntimeError, match=words):
            torch.func.grad(lambda x: x * 1, argnums=numbers)(one)
    assert torch.func.grad(lambda x, y: x * y, argnums=-1)(one, one * 2).item() == 1
    with pytest.raises(ValueError, match="must be Tensor, got <class 'float'>"):
        torch.func.grad(lambda x: x * 1)(1.0)
    with pytest.raises(RuntimeError, match="should be a tuple"):
        torch.func.grad(lambda x: x * 1, has_aux=True)(one)


# vmap


def test_keyword_arguments_are_every_sample_s(x):
    assert torch.equal(torch.func.vmap(lambda a, s=None: a * s.sum())(x, s=torch.arange(5.0)), x * 10)
    assert torch.func.vmap(lambda a, s=None: s)(x, s=torch.ones(2)).shape == (3, 2)


DRAWS = {"randn": lambda a: torch.randn(2) + a[:2], "like": torch.randn_like, "dropout": lambda a: nn.functional.dropout(a),
         "in place": lambda a: a.clone().normal_(), "bernoulli": lambda a: torch.bernoulli(a * 0 + 0.5),
         "permutation": lambda a: torch.randperm(4) + a, "multinomial": lambda a: torch.multinomial(a.abs() + 1, 2) + a[:2],
         "own generator": lambda a: torch.randn(4, generator=torch.Generator().manual_seed(1)) + a}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_are_refused_unless_they_are_asked_for(x, name):
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        torch.func.vmap(DRAWS[name])(x)
    assert torch.equal(torch.get_rng_state(), before)
    torch.randn(2)  # outside nothing is refused, and within nothing that draws nothing
    assert torch.func.vmap(lambda a: nn.functional.dropout(a, training=False))(x).equal(x)
    same = torch.func.vmap(lambda a: DRAWS[name](a * 0), randomness="same")(x)
    assert torch.equal(same[0], same[1]) and torch.equal(same[0], same[2])


def test_random_numbers_of_samples(x):
    torch.manual_seed(0)
    expected = torch.randn(3, 2)
    for kind, numbers in (("different", expected), ("same", expected[:1].expand(3, 2))):
        torch.manual_seed(0)
        assert torch.equal(torch.func.vmap(lambda a: torch.randn(2), randomness=kind)(x), numbers)
        assert not torch.equal(*torch.func.vmap(lambda a: (torch.rand(1), torch.rand(1)), randomness=kind)(x))
    with pytest.raises(RuntimeError, match="Only allowed values for randomness"):
        torch.func.vmap(torch.sin, randomness="some")(x)


def test_tensors_that_are_not_mapped_may_not_change(x):
    shared, total = torch.zeros(4), torch.zeros(4)
    with pytest.raises(RuntimeError, match=r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible"):
        torch.func.vmap(lambda a, b: b.add_(a), in_dims=(0, None))(x, shared)
    with pytest.raises(RuntimeError, match=r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible"):
        torch.func.vmap(lambda a: total.copy_(a))(x)
    assert torch.equal(torch.func.vmap(lambda a: a.clone().add_(1))(x), x + 1)
    y = x.clone()
    torch.func.vmap(lambda a: a.add_(1))(y)
    assert torch.equal(y, x + 1)


def test_dimensions_that_fit_nothing(x):
    vmap = torch.func.vmap
    for words, wrong in (("expected `in_dims` to be int", lambda: vmap(torch.sin, in_dims=[0])(x)),
                         ("got no inputs", lambda: vmap(torch.sin)()),
                         ("not compatible with the structure of `inputs`", lambda: vmap(torch.sin, in_dims=(0, 0))(x)),
                         ("We cannot vmap over non-Tensor arguments", lambda: vmap(torch.mul)(x, 2)),
                         ("chunk_size should be None or greater", lambda: vmap(torch.sin, chunk_size=0)(x)),
                         ("must only return Tensors, got type <class 'int'>", lambda: vmap(lambda a: 3)(x)),
                         ("not compatible with the structure of `outputs`", lambda: vmap(torch.sin, out_dims=(0, 0))(x)),
                         ("can not return a BatchedTensor when out_dim is None", lambda: vmap(torch.sin, out_dims=None)(x))):
        with pytest.raises(ValueError, match=words):
            wrong()
    assert vmap(lambda a: x, out_dims=None)(x) is x and vmap(lambda a: a * 2)(torch.zeros(0, 2)).shape == (0, 2)


def test_what_depends_on_a_sample_is_refused(x):
    for words, wrong in (("calling .item\\(\\) on a Tensor", lambda a: a * a.sum().item()),
                         ("data-dependent control flow", lambda a: a if a.sum() > 0 else -a),
                         ("Attempted to vmap over aten::nonzero", torch.nonzero), ("a boolean mask", lambda a: a[a > 0]),
                         ("over `mask` in torch.masked_select", lambda a: torch.masked_select(a, a > 0)),
                         ("vmap: fill_\\(self", lambda a: torch.zeros(4).fill_(a[0]))):
        with pytest.raises(RuntimeError, match=words):
            torch.func.vmap(wrong)(x)
    seen = []
    torch.func.vmap(lambda a: (seen.append(repr(a)), a)[1])(torch.ones(2, 1))
    assert seen == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1.],\n            [1.]])\n)"]


def test_samples_are_computed_at_once(x):
    calls = []

    def f(a):
        calls.append(a.shape)
        return torch.func.vmap(lambda b: (b * a).sum())(x)
    assert torch.allclose(torch.func.vmap(f)(x), x @ x.t()) and calls == [(4,)]
    assert torch.equal(torch.func.vmap(torch.sin, chunk_size=2)(x), x.sin())
    assert torch.func.vmap(lambda a: a[0], out_dims=-1)(x[..., None]).shape == (1, 3)


@pytest.fixture
def no_loops():
    """What goes sample by sample is an error."""
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="There is a performance drop|vmap: the formula of")
        yield
    torch.set_warn_always(False)


def numbers(*shape):
    count = math.prod(shape)
    return (torch.arange(count, dtype=torch.double) * 1.37 + 0.3).sin().reshape(shape)


ROWS, PLACES = numbers(3, 2, 3, 4), (numbers(3, 2, 3) * 10).long().abs() % 5


@pytest.mark.parametrize("name, f, samples", [
    *[(f"pad {mode}", lambda a, mode=mode: F.pad(a, (1, 2), mode=mode), ROWS)
      for mode in ("constant", "reflect", "replicate", "circular")],
    *[(f"pad plane {mode}", lambda a, mode=mode: F.pad(a, (1, 2, 0, 1), mode=mode), numbers(3, 2, 2, 3, 4))
      for mode in ("constant", "reflect", "replicate", "circular")],
    ("pad vector", lambda a: F.pad(a, (1, -1), value=2.0), ROWS[:, 0, 0]),
    ("nearest", lambda a: F.interpolate(a, size=6), ROWS),
    ("linear", lambda a: F.interpolate(a, scale_factor=1.5, mode="linear"), ROWS),
    ("area", lambda a: F.interpolate(a, size=2, mode="area"), ROWS),
    ("bicubic", lambda a: F.interpolate(a, size=(5, 3), mode="bicubic"), numbers(3, 1, 2, 3, 4)),
    ("grid", lambda a: F.grid_sample(a, numbers(1, 2, 2, 2), align_corners=False), numbers(3, 1, 2, 3, 4)),
    ("grid of each", lambda a: F.grid_sample(numbers(1, 2, 3, 4), a, align_corners=False), numbers(3, 1, 2, 2, 2)),
    ("roll", lambda a: a.roll(3), ROWS), ("roll number", lambda a: a.sum().roll(1), ROWS),
    ("histc", lambda a: torch.histc(a, 4), ROWS), ("histc range", lambda a: torch.histc(a, 3, -0.5, 1), ROWS),
    ("bucketize", lambda a: torch.bucketize(a, torch.tensor([-0.5, 0.2])), ROWS),
    ("bucketize of each", lambda a: torch.bucketize(ROWS[0], a.sort()[0]), ROWS[:, 0, 0]),
    ("bucketize number", lambda a: torch.bucketize(0.25, a.sort()[0]), ROWS[:, 0, 0]),
    ("searchsorted", lambda a: torch.searchsorted(a.sort()[0], ROWS[0]), ROWS[:, 0, 0]),
    ("searchsorted rows", lambda a: torch.searchsorted(a.sort()[0], a.flip(0), side="right"), ROWS),
    ("searchsorted number", lambda a: torch.searchsorted(a.sort()[0], 0.25), ROWS[:, 0, 0]),
    ("searchsorted sorter", lambda a: torch.searchsorted(a, 0.25, sorter=a.argsort()), ROWS[:, 0, 0]),
    ("isin", lambda a: torch.isin(a, torch.tensor([1, 3])), PLACES),
    ("isin of each", lambda a: torch.isin(torch.arange(6), a, invert=True), PLACES),
    ("masked_scatter", lambda a: a.masked_scatter(a > 0, a.flip(0).contiguous()), ROWS),
    ("lstsq", lambda a: torch.linalg.lstsq(a.mT, numbers(2, 4, 2)).solution, ROWS),
    ("lu_solve", lambda a: torch.linalg.lu_solve(*torch.linalg.lu_factor(a @ a.mT + torch.eye(3)), a), ROWS),
    ("stft", lambda a: torch.view_as_real(torch.stft(a, 4, window=torch.ones(4).double(), return_complex=True)), ROWS[:, 0]),
    ("istft", lambda a: torch.istft(torch.stft(a, 4, window=torch.ones(4).double(), return_complex=True), 4,
                                    window=torch.ones(4).double()), numbers(3, 12)),
    *[(f"bag {mode}", lambda a, mode=mode: F.embedding_bag(PLACES[0], a, mode=mode), numbers(3, 5, 2))
      for mode in ("sum", "mean", "max")],
    ("bag of each", lambda a: F.embedding_bag(a, numbers(5, 2), mode="sum"), PLACES),
    ("bag shares", lambda a: F.embedding_bag(PLACES[0], numbers(5, 2), per_sample_weights=a, mode="sum"), numbers(3, 2, 3)),
    ("bag offsets", lambda a: F.embedding_bag(PLACES[0, 0], a, torch.tensor([0, 2])), numbers(3, 5, 2)),
    *[(f"bag offsets of each, {mode}", lambda a, mode=mode: F.embedding_bag(PLACES[0, 0], numbers(5, 2), a, mode=mode),
       torch.tensor([[0, 1], [0, 2], [0, 3]])) for mode in ("sum", "mean", "max")],
    ("bag last offsets of each", lambda a: F.embedding_bag(PLACES[0, 0], numbers(5, 2), a, include_last_offset=True),
     torch.tensor([[0, 1, 3], [0, 2, 2], [0, 0, 3]])),
    ("embedding", lambda a: F.embedding(PLACES[0], a, padding_idx=1, scale_grad_by_freq=True), numbers(3, 5, 2)),
])
def test_samples_are_not_taken_one_by_one(name, f, samples, no_loops):
    leaf = samples.clone()
    if leaf.is_floating_point():
        leaf.requires_grad_()
    found, expected = torch.vmap(f)(leaf), torch.stack([f(a) for a in leaf])
    assert found.dtype == expected.dtype and torch.allclose(found, expected, rtol=1e-9, atol=1e-12)
    if expected.requires_grad:
        weights = numbers(*expected.shape)
        by_map, = torch.autograd.grad(found, leaf, weights)
        assert torch.allclose(by_map, torch.autograd.grad(expected, leaf, weights)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_recurrent_networks_of_samples_and_of_each_sample(kind, batch_first, no_loops):
    nets = [getattr(nn, kind)(4, 2, num_layers=2, bidirectional=True, batch_first=batch_first).double() for _ in range(3)]
    for out in (torch.vmap(lambda a: nets[0](a)[0])(ROWS), ):
        assert torch.allclose(out, torch.stack([nets[0](a)[0] for a in ROWS]))
    parameters, buffers = torch.func.stack_module_state(nets)
    out = torch.vmap(lambda p, b: torch.func.functional_call(nets[0], (p, b), (ROWS[0],))[0])(parameters, buffers)
    assert torch.allclose(out, torch.stack([net(ROWS[0])[0] for net in nets]))
    slope, = torch.autograd.grad(out.sin().sum(), parameters["weight_hh_l1"])
    nets[1](ROWS[0])[0].sin().sum().backward()
    assert torch.allclose(slope[1], nets[1].weight_hh_l1.grad)


def test_what_has_no_rule_goes_sample_by_sample_and_says_so():
    scores, lengths = torch.log_softmax(numbers(3, 6, 2, 4), -1), torch.tensor([[2, 1], [1, 2], [0, 3]])
    torch.set_warn_always(True)

    def f(s, n):
        return F.ctc_loss(s, torch.tensor([1, 2, 3]), torch.tensor([6, 5]), n)
    with pytest.warns(UserWarning, match="performance drop .* aten::ctc_loss"):
        found = torch.vmap(f)(scores, lengths)
    assert torch.allclose(found, torch.stack([f(s, n) for s, n in zip(scores, lengths)]))
    torch.set_warn_always(False)


def test_jacfwd_takes_all_directions_at_once(monkeypatch):
    calls, by = [], torch.func._by
    monkeypatch.setattr(torch.func, "_by", lambda *args, **kwargs: (calls.append(1), by(*args, **kwargs))[1])
    x, y = numbers(2, 3), numbers(3)

    def f(a, b):
        return {"sum": (a @ b).sin(), "other": b.sum()}
    found = torch.func.jacfwd(f, argnums=(0, 1))(x, y)
    assert len(calls) == 2
    expected = torch.func.jacrev(f, argnums=(0, 1))(x, y)
    for name in found:
        for a, b in zip(found[name], expected[name]):
            assert a.shape == b.shape and torch.allclose(a, b)
    assert torch.func.jacfwd(lambda a: a * 2)(torch.zeros(0)).shape == (0, 0)


def test_a_mapped_tensor_has_no_memory_and_a_gradient_of_its_own(x):
    for wrong in (lambda a: a.numpy(), lambda a: a.data_ptr(), lambda a: a.tolist(), lambda a: a.__array__()):
        with pytest.raises(RuntimeError, match="^Cannot access data pointer of Tensor that doesn't have storage$"):
            torch.vmap(lambda a, wrong=wrong: (wrong(a), a)[1])(x)
    for wrong in (float, int, lambda a: a.item(), lambda a: [1, 2][a.long()]):
        with pytest.raises(RuntimeError, match="calling .item\\(\\) on a Tensor"):
            torch.vmap(lambda a, wrong=wrong: (wrong(a.sum()), a)[1])(x)
    with pytest.raises(RuntimeError, match="^backward\\(\\) called inside a functorch transform"):
        torch.vmap(lambda a: (a.sum().backward(), a)[1])(x.clone().requires_grad_())

    def doubled(a):
        assert a.grad is None
        a.grad = a * 2
        return a.grad
    y = x.clone().requires_grad_()
    y.grad = x.clone()
    assert torch.equal(torch.vmap(doubled)(y), x * 2) and torch.equal(y.grad, x)


def test_derivatives_in_maps(x):
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    x = x.double()
    for transform in (torch.func.jacrev, torch.func.jacfwd, lambda f: torch.func.hessian(lambda a: f(a).prod()),
                      lambda f: lambda a: torch.func.jvp(f, (a,), (a,))[1],
                      lambda f: lambda a: torch.func.vjp(f, a)[1](f(a))[0]):
        one = transform(net)
        assert torch.allclose(torch.func.vmap(one)(x), torch.stack([one(a) for a in x]))
    y = net(x[0].requires_grad_())
    rows = torch.autograd.grad(y, net[0].weight, torch.eye(2).double(), is_grads_batched=True, retain_graph=True)[0]
    assert torch.allclose(rows[1], torch.autograd.grad(y[1], net[0].weight)[0])


@pytest.mark.parametrize("f", [
    lambda x: x[0] * x[1] + x[2] ** 2, lambda x: (x[1:] - x[:-1] ** 2).pow(2).sum(), lambda x: (x.roll(1) * x).sum(),
    lambda x: torch.where(x > 0, x ** 2, x ** 3).sum(), lambda x: torch.stack([x[0] * x[1], x[2].exp()]).prod(),
    lambda x: (x.sort()[0] * torch.arange(3.0)).pow(2).sum(), lambda x: x.std(), lambda x: x.cumprod(0).sum(),
    lambda x: torch.outer(x, x).add(torch.eye(3)).det(), lambda x: x.as_strided((2, 2), (1, 1)).prod(),
    lambda x: torch.zeros(3).index_put((torch.tensor([0, 2]),), x[:2] * x[1:]).exp().sum(),
    lambda x: F.pad(x[None, None], (1, 1), mode="reflect").pow(3).sum()])
@pytest.mark.filterwarnings("ignore:There is a performance drop", "ignore:vmap. the formula of")
def test_hessians_of_one_and_of_many_are_those_of_a_row_at_a_time(f):
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    rows = [torch.autograd.functional.hessian(f, row) for row in x]
    assert torch.allclose(torch.func.hessian(f)(x[0]), rows[0], atol=1e-4)
    assert torch.allclose(torch.vmap(torch.func.hessian(f))(x), torch.stack(rows), atol=1e-4)


@pytest.mark.parametrize("made,shape,batch_first", [
    (lambda: nn.Sequential(nn.Conv2d(2, 3, 2), nn.GroupNorm(1, 3), nn.Flatten(), nn.Linear(12, 2)),
     (4, 2, 3, 3), True),
    (lambda: torch.nn.Linear(2, 3), (5, 4, 2), False)], ids=["image", "sequence"])
def test_gradients_of_each_sample(made, shape, batch_first):
    from taeda.nn.utils._per_sample_grad import call_for_per_sample_grads
    torch.manual_seed(0)
    module, x, dim = made(), torch.randn(shape), 0 if batch_first else 1
    frozen = next(module.parameters()).requires_grad_(False)
    out = call_for_per_sample_grads(module, loss_reduction="mean", batch_first=batch_first)(x)
    torch.testing.assert_close(out, module(x))
    (out.square().sum() / 4).backward()
    assert not hasattr(frozen, "grad_sample")
    for parameter in list(module.parameters())[1:]:
        expected = [torch.autograd.grad(module(x.narrow(dim, i, 1)).square().sum(), parameter)[0] for i in range(4)]
        torch.testing.assert_close(parameter.grad_sample, torch.stack(expected))
        assert parameter.grad is None
    with pytest.raises(RuntimeError, match="Please clear out the grad_sample"):
        call_for_per_sample_grads(module)
    with pytest.raises(RuntimeError, match="to be sum or mean, got none"):
        call_for_per_sample_grads(module, loss_reduction="none")
    two = call_for_per_sample_grads(torch.nn.Bilinear(1, 1, 1))
    with pytest.raises(RuntimeError, match="one input with batch size 2 and one with batch size 3"):
        two(torch.ones(2, 1), torch.ones(3, 1))
    with pytest.raises(RuntimeError, match="Unable to find a tensor"):
        two()
