"""Optimizers and schedulers against PyTorch's values, kept in golden/optim.json."""

import ast
import copy
import inspect
import io
import json
import math
import pathlib
import pickle
import re

import pytest

import taeda as torch
from cases import optim as cases

GOLDEN = json.loads((pathlib.Path(__file__).parent / "golden" / "optim.json").read_text())


def _pairs(table):
    return [(name, options) for name, all_options in table.items() for options in all_options]


@pytest.mark.parametrize("name,options", _pairs({**cases.CURVES, **cases.PAPERS}))
def test_losses_are_pytorchs(name, options):
    assert cases.curve(torch, name, options) == pytest.approx(GOLDEN["curves"][f"{name}({options})"], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", cases.CURVES)
def test_state_dict_is_pytorchs(name):
    assert cases.state_dict(torch, name) == GOLDEN["state_dicts"][name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name,options", _pairs(cases.SCHEDULERS))
def test_rates_are_pytorchs(name, options):
    assert cases.rates(torch, name, options) == GOLDEN["rates"][f"{name}({options})"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", cases.COMPOSED)
def test_composed_rates_are_pytorchs(name):
    assert cases.composed_rates(torch, name) == GOLDEN["composed_rates"][name]


@pytest.mark.parametrize("name", cases.AVERAGES)
def test_averages_are_pytorchs(name):
    assert cases.averages(torch, name) == pytest.approx(GOLDEN["averages"][name], rel=1e-12)


def test_state_dicts_of_schedulers_are_pytorchs():
    assert cases.scheduler_states(torch) == GOLDEN["scheduler_states"]


def test_errors_are_pytorchs():
    # Python 3.13 adds a guess.
    said = {call: text.partition(". Did you mean")[0] for call, text in cases.errors(torch).items()}
    assert said == GOLDEN["errors"]


def _trained(optimizer_class, steps=3, dtype=torch.float32, **options):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3).to(dtype)
    optimizer = optimizer_class(model.parameters(), **options)
    x = torch.randn(8, 4).to(dtype)
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return model, optimizer, x


@pytest.mark.parametrize("name", [n for n in cases.CURVES if n not in ("LBFGS", "Muon")])
def test_training_goes_on_from_a_state_dict(name):
    cls = getattr(torch.optim, name)
    model, optimizer, x = _trained(cls, lr=0.1)
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    saved_model, saved = torch.load(file)
    other = torch.nn.Linear(4, 3)
    other.load_state_dict(saved_model)
    second = cls(other.parameters(), lr=0.5)
    second.load_state_dict(saved)
    for m, o in ((model, optimizer), (other, second)):
        o.zero_grad()
        m(x).square().mean().backward()
        o.step()
    assert torch.equal(model.weight, other.weight) and torch.equal(model.bias, other.bias)
    assert second.param_groups[0]["lr"] == 0.1


RULES = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax", "Adadelta", "Rprop", "ASGD", "Lion",
         "AdEMAMix", "Adafactor", "Muon"]


def _content(optimizer):
    return ([p.tolist() for group in optimizer.param_groups for p in group["params"]],
            [[name, value.tolist()] for s in optimizer.state.values() for name, value in s.items()])


@pytest.mark.parametrize("after", (0, 2))
@pytest.mark.parametrize("what", ("shape", "device", "dtype of the state", "sparse"))
@pytest.mark.parametrize("name", RULES)
def test_a_step_that_fails_changes_nothing(name, what, after):
    """The last parameter of the last group does not fit its gradient or its state."""
    params = [torch.nn.Parameter(torch.linspace(-1, 1, 6).reshape(2, 3).clone()) for _ in range(3)]
    optimizer = getattr(torch.optim, name)([{"params": params[:2]}, {"params": params[2:], "lr": 0.5}], lr=0.1, **(
        {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}))
    for p in params:
        p.grad = torch.full((2, 3), 0.5)
    for _ in range(after):
        optimizer.step()
    last = params[2]
    if what == "shape":
        last.data = torch.ones(4, 3)
    elif what == "device":
        last.data = torch.ones(2, 3, device="sim")
    elif what == "dtype of the state":
        if not optimizer.state:
            pytest.skip("there is no state yet")
        last.data = last.data.double()
    elif name in ("SGD", "Adagrad"):
        pytest.skip("takes sparse gradients")
    else:
        last.grad = torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(1, 3), (2, 3))
    before = _content(optimizer)
    with pytest.raises(RuntimeError):
        optimizer.step()
    assert _content(optimizer) == before
    last.grad = None
    optimizer.step()
    assert _content(optimizer) != before


@pytest.mark.parametrize("dtype", (torch.float64, torch.bfloat16))
@pytest.mark.parametrize("name", ("Adafactor", "NAdam", "ASGD"))
def test_steps_on_a_device_are_those_of_the_host(name, dtype):
    made = []
    for device in ("cpu", "sim"):
        params = [torch.nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4).to(device, dtype)),
                  torch.nn.Parameter(torch.linspace(-1, 1, 5).to(device, dtype))]
        optimizer = getattr(torch.optim, name)(params, lr=0.1, weight_decay=0.1)
        for _ in range(4):
            for p in params:
                p.grad = (p.detach() * 3).cos()
            optimizer.step()
        made.append([p.detach().cpu().double() for p in params])
    assert all(torch.allclose(a, b, rtol=1e-2 if dtype == torch.bfloat16 else 1e-12) for a, b in zip(*made))


def _lion(p, g, s, t):
    p -= 0.1 * ((0.9 * s["exp_avg"] + (1 - 0.9) * g).sign() + 0.2 * p)
    s["exp_avg"] = 0.99 * s["exp_avg"] + (1 - 0.99) * g


def _ademamix(p, g, s, t):
    beta1, beta2, beta3 = math.log(0.8), 0.9, math.log(0.95)
    share = t / 4
    slow = math.exp(beta1 * beta3 / ((1 - share) * beta3 + share * beta1)) if share < 1 else 0.95
    for name, beta, value in (("exp_avg_fast", 0.8, g), ("exp_avg_slow", slow, g), ("exp_avg_sq", beta2, g * g)):
        s[name] = beta * s[name] + (1 - beta) * value
    fast = s["exp_avg_fast"] / (1 - 0.8 ** t)
    root = (s["exp_avg_sq"] / (1 - beta2 ** t)).sqrt() + 1e-8
    p -= 0.1 * ((fast + 2 * min(1, t / 5) * s["exp_avg_slow"]) / root + 0.2 * p)


@pytest.mark.parametrize("name,options,formula", (
    ("Lion", {}, _lion),
    ("AdEMAMix", {"betas": (0.8, 0.9, 0.95), "alpha": 2.0, "beta3_warmup": 4, "alpha_warmup": 5}, _ademamix)))
def test_optimizers_that_pytorch_lacks_follow_their_papers(name, options, formula):
    start = torch.linspace(-1, 1, 6, dtype=torch.float64)
    param, expected = torch.nn.Parameter(start.clone()), start.clone()
    optimizer, state = getattr(torch.optim, name)([param], lr=0.1, weight_decay=0.2, **options), {}
    for t in range(1, 9):
        grad = torch.cos(start * t)
        param.grad = grad
        optimizer.step()
        if not state:
            state = {key: torch.zeros(6, dtype=torch.float64) for key in optimizer.state[param] if key != "step"}
        formula(expected, grad, state, t)
        assert torch.allclose(param, expected, rtol=1e-12, atol=0)
    saved = optimizer.state_dict()
    assert list(saved["state"][0]) == ["step", *state] and saved["state"][0]["step"].item() == 8
    with pytest.raises(ValueError, match="Invalid beta parameter at index 1: 1.5"):
        getattr(torch.optim, name)([param], betas=(0.5, 1.5, 0.5))


@pytest.mark.parametrize("name", RULES[:-2])
def test_parameters_of_any_memory_order_take_the_same_step(name):
    values = torch.linspace(-1, 1, 12).reshape(3, 4)
    params = [torch.nn.Parameter(values.clone()), torch.nn.Parameter(values.t().contiguous().t()),
              torch.nn.Parameter(torch.zeros(3, 9)[:, ::2][:, :4])]
    with torch.no_grad():
        params[2].copy_(values)
    optimizer = getattr(torch.optim, name)(params, lr=0.1)
    for scale in (1.0, -0.5, 0.25):
        for p in params:
            p.grad = values * scale + 0.1
        optimizer.step()
    assert all(torch.equal(p, params[0]) for p in params) and not torch.equal(params[0], values)


@pytest.mark.parametrize("name", RULES[:-2])
def test_complex_parameters_are_pairs_of_reals(name):
    values = torch.tensor([1.0 + 2.0j, -0.5j, 3.0])
    whole = torch.nn.Parameter(values.clone())
    parts = torch.nn.Parameter(torch.view_as_real(values).clone())
    options = {"lr": 0.1, **({"momentum": 0.9} if name in ("SGD", "RMSprop") else {})}
    first, second = (getattr(torch.optim, name)([p], **options) for p in (whole, parts))
    for _ in range(3):
        for param, optimizer in ((whole, first), (parts, second)):
            optimizer.zero_grad()
            (torch.view_as_real(param) if param.is_complex() else param).pow(2).sum().backward()
            optimizer.step()
    assert torch.allclose(torch.view_as_real(whole), parts)


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "SparseAdam"])
def test_sparse_gradients_change_their_rows_alone(name):
    torch.manual_seed(0)
    tables = []
    for sparse in (True, False):
        table = torch.nn.Embedding(6, 2, sparse=sparse, _weight=torch.arange(12.0).reshape(6, 2).clone())
        cls = getattr(torch.optim, "Adam" if name == "SparseAdam" and not sparse else name)
        optimizer = cls(table.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            table(torch.tensor([1, 4, 4])).square().sum().backward()
            assert table.weight.grad.is_sparse == sparse
            optimizer.step()
        tables.append(table.weight.detach())
    assert torch.allclose(tables[0], tables[1], atol=1e-5)
    assert torch.equal(tables[0][0], torch.tensor([0.0, 1.0])) and not torch.equal(tables[0][4], torch.tensor([8.0, 9.0]))


def test_adam_names_the_optimizer_for_sparse_gradients():
    table = torch.nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="Adam does not support sparse gradients, please consider SparseAdam instead"):
        torch.optim.Adam(table.parameters()).step()


def test_hooks_run_around_steps_and_state_dicts():
    model, optimizer, _ = _trained(torch.optim.SGD, lr=0.1)
    seen = []
    handles = [optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before")),
               optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after")),
               torch.optim.optimizer.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("all"))]
    optimizer.step()
    assert seen == ["all", "before", "after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 3
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    assert optimizer.state_dict()["more"] == 1


def test_closures_run_with_gradients():
    model, optimizer, x = _trained(torch.optim.Adam, lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss
    with torch.no_grad():
        first = optimizer.step(closure)
    assert optimizer.step(closure) < first


def test_parameters_without_gradients_stay():
    params = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
    optimizer = torch.optim.Adam(params, lr=0.1)
    params[0].sum().backward()
    optimizer.step()
    assert torch.equal(params[1], torch.ones(2)) and params[1] not in optimizer.state
    assert params[0].grad is not None
    optimizer.zero_grad(set_to_none=False)
    assert torch.equal(params[0].grad, torch.zeros(2))
    optimizer.zero_grad()
    assert params[0].grad is None


def test_gradients_in_another_memory_order():
    param = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    optimizer = torch.optim.SGD([param], lr=1.0)
    param.grad = torch.arange(6.0).reshape(3, 2).t()
    expected = param.detach() - param.grad
    optimizer.step()
    assert torch.equal(param, expected)


def test_steps_count_as_changes_in_place():
    param = torch.nn.Parameter(torch.ones(3))
    loss = (param * param).sum()
    param.grad = torch.ones(3)
    torch.optim.SGD([param], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_named_parameters_keep_their_names():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.named_parameters(), lr=0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer, whose groups are with names"):
        optimizer.add_param_group({"params": []})


def test_a_group_without_parameters_is_one_without_names():
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD([{"params": layer.parameters(), "lr": 0.1 * (n + 1)} for n, layer in enumerate(layers)])
    assert [len(group["params"]) for group in optimizer.param_groups] == [2, 0, 2]
    assert not any("param_names" in group for group in optimizer.param_groups)


def test_optimizers_of_programs():
    class Plain(torch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])
    model, optimizer, _ = _trained(Plain, lr=0.1)
    expected, _, _ = _trained(torch.optim.SGD, lr=0.1)
    assert torch.allclose(model.weight, expected.weight)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.01)


def test_copies_and_pickles():
    _, optimizer, _ = _trained(torch.optim.Adam, lr=0.1)
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert repr(other) == repr(optimizer)
        first, second = ([s["exp_avg"] for s in o.state.values()] for o in (optimizer, other))
        assert all(torch.equal(a, b) for a, b in zip(first, second))
        other.step()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", RULES[:-1])
def test_dtypes(name, dtype):
    model, _, _ = _trained(getattr(torch.optim, name), lr=0.01, dtype=dtype)
    start, _, _ = _trained(getattr(torch.optim, name), lr=0.01, steps=0, dtype=dtype)
    assert model.weight.dtype == dtype and not torch.equal(model.weight, start.weight)
    assert bool(torch.isfinite(model.weight.float()).all())


def test_averaged_models():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    average = torch.optim.swa_utils.AveragedModel(model)
    smooth = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.5))
    weights = []
    for i in range(3):
        with torch.no_grad():
            model[0].weight.fill_(float(i + 1))
        weights.append(float(i + 1))
        average.update_parameters(model)
        smooth.update_parameters(model)
    assert average.n_averaged == 3
    assert torch.allclose(average.module[0].weight, torch.full((2, 2), 2.0))
    assert torch.allclose(smooth.module[0].weight, torch.full((2, 2), 2.25))
    batches = [torch.randn(4, 2) for _ in range(3)]
    torch.optim.swa_utils.update_bn(batches, average)
    outputs = torch.cat([average.module[0](b) for b in batches])
    assert torch.allclose(average.module[1].running_mean, outputs.mean(0), atol=1e-5)
    assert average.module[1].momentum == 0.1 and list(average.state_dict())[0] == "n_averaged"


def test_averages_of_buffers_and_of_programs_own():
    model = torch.nn.BatchNorm1d(2)
    utils = torch.optim.swa_utils
    kinds = {"swa": {}, "swa_one": {"avg_fn": utils.get_swa_avg_fn()}, "ema_one": {"avg_fn": utils.get_ema_avg_fn(0.75)},
             "ema": {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.75)}, "own": {"avg_fn": lambda a, p, n: a + p + n}}
    made = {name: utils.AveragedModel(model, use_buffers=True, **how) for name, how in kinds.items()}
    for i in range(2):
        with torch.no_grad():
            model.weight.fill_(float(i + 1))
            model.running_mean.fill_(4.0 * i)
            model.num_batches_tracked.fill_(10 * i)
        for average in made.values():
            average.update_parameters(model)
    for name, weight, mean, count in (("swa", 1.5, 2.0, 5), ("swa_one", 1.5, 2.0, 5), ("ema", 1.25, 1.0, 2),
                                      ("ema_one", 1.25, 1.0, 2), ("own", 4.0, 5.0, 11)):
        module = made[name].module
        assert module.weight.tolist() == [weight] * 2 and module.running_mean.tolist() == [mean] * 2, name
        assert module.num_batches_tracked.item() == count, name


def test_averages_are_left_alone_by_models_that_do_not_fit():
    model, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    for how in ({}, {"avg_fn": torch.optim.swa_utils.get_ema_avg_fn()}):
        average = torch.optim.swa_utils.AveragedModel(model, **how)
        average.update_parameters(model)
        before = average.module.weight.clone()
        other.bias = torch.nn.Parameter(torch.ones(4))
        with pytest.raises(RuntimeError, match="shape"):
            average.update_parameters(other)
        assert torch.equal(average.module.weight, before) and average.n_averaged == 1


def test_warnings_of_schedulers():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        scheduler.get_lr()


def test_gradients_flow_through_a_step():
    for options, slope in (({}, -0.2), ({"maximize": True}, 2.2), ({"momentum": 0.9}, -0.2), ({"weight_decay": 0.5}, -0.25),
                           ({"momentum": 0.5, "nesterov": True}, 1 - 1.5 * 1.2)):
        p = torch.full((2,), 2.0, requires_grad=True)
        q = p.clone()
        optimizer = torch.optim.SGD([q], lr=0.1, differentiable=True, **options)
        q.retain_grad()
        q.grad = torch.autograd.grad((p ** 3).sum(), p, create_graph=True)[0]
        optimizer.step()
        q.sum().backward()
        assert p.grad.tolist() == pytest.approx([slope] * 2)


def _stepped(name, options, p, grads, **more):
    """A parameter and its state after a step for each gradient."""
    q = p.clone()
    optimizer = getattr(torch.optim, name)([q], **{**eval(f"dict({options})"), **more})
    for grad in grads:
        q.grad = grad
        optimizer.step()
    return q, {k: v for k, v in optimizer.state[q].items() if torch.is_tensor(v) and v.dim()}


def _numbers(*starts, **options):
    return [torch.tensor([start, -1.5 * start, 0.7], dtype=torch.float64, **options) for start in starts]


@pytest.mark.parametrize("name,options", [(name, options) for name, options in _pairs(cases.CURVES)
                                          if name not in ("LBFGS", "Adafactor", "Muon")])
def test_steps_of_all_rules_are_differentiable(name, options):
    """A recorded step computes what the other one does, and its gradients are those of its results."""
    p, *grads = _numbers(1.0, 0.5, -0.2, 0.3)
    with torch.no_grad():
        plain, plain_state = _stepped(name, options, p, grads)
    for x in (p, *grads):
        x.requires_grad_()
    recorded, state = _stepped(name, options, p, grads, differentiable=True)
    assert recorded.requires_grad and torch.allclose(recorded, plain, rtol=1e-14, atol=1e-14)
    assert state.keys() == plain_state.keys()
    assert all(torch.allclose(state[k], plain_state[k], rtol=1e-14) for k in state)

    def results(p, *grads):
        q, state = _stepped(name, options, p, grads, differentiable=True)
        return (q, *(v for v in state.values() if v.requires_grad))
    assert torch.autograd.gradcheck(results, (p, *grads))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax", "Adadelta"])
def test_gradients_flow_to_a_learning_rate(name):
    p, *grads = _numbers(1.0, 0.5, -0.2)
    rate = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    for options in ("", "weight_decay=0.1"):
        assert torch.autograd.gradcheck(
            lambda lr: _stepped(name, options, p, grads, lr=lr, differentiable=True)[0], (rate,))


def test_a_recorded_step_that_fails_changes_nothing():
    p, q = _numbers(1.0, 2.0, requires_grad=True)
    first = p.clone()
    optimizer = torch.optim.Adam([first, q], differentiable=True)
    first.grad, q.grad = _numbers(0.5, 0.5)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        optimizer.step()
    assert torch.equal(first, p) and not optimizer.state


def test_recorded_steps_of_other_kinds():
    """Complex parameters, 16-bit ones, and states that are changed in place; functions of lists."""
    from taeda.optim.adam import adam
    p = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    for name in ("SGD", "Adam"):
        plain, _ = _stepped(name, "lr=0.1", p.detach(), [torch.tensor([1j, 2.0])] * 2)
        q, _ = _stepped(name, "lr=0.1", p, [torch.tensor([1j, 2.0])] * 2, differentiable=True)
        assert torch.allclose(q, plain)
        grad, = torch.autograd.grad(q.real.sum(), p)
        assert torch.allclose(grad, torch.ones(2, dtype=grad.dtype))
    half = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    q, state = _stepped("Adam", "lr=0.1", half, [half.detach()], differentiable=True)
    assert q.dtype == torch.bfloat16 == state["exp_avg"].dtype and q.requires_grad
    p, g = _numbers(1.0, 0.5, requires_grad=True)
    q, means, squares, steps = p.clone(), *(torch.zeros(3, dtype=torch.float64) for _ in range(2)), torch.tensor(0.0)
    mean = means
    adam([q], [g], [means], [squares], [], [steps], differentiable=True, amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1,
         weight_decay=0.0, eps=1e-8, maximize=False)
    assert steps.item() == 1 and mean is means and torch.allclose(means, 0.1 * g)
    assert torch.autograd.grad(means.sum(), g)[0].tolist() == pytest.approx([0.1] * 3)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        adam([p], [g], [torch.zeros_like(p)], [torch.zeros_like(p)], [], [torch.tensor(0.0)], differentiable=True,
             amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.0, eps=1e-8, maximize=False)


def stated_defaults(docstring):
    """{option: default} of the lines "lr, eps: 1e-3 and 1e-8 unless given"."""
    found = {}
    for entry in re.split(r"\n(?=\S)", inspect.cleandoc(docstring)):
        match = re.match(r"([\w, ]+): (.*)", " ".join(entry.split()))
        value = r"(?:\([^()]*\)|-?[\d.][\d.e-]*|True|False|None)"
        said = match and re.search(rf"({value}(?:(?:, | and ){value})*) unless given", match[2])
        if said:
            names, values = match[1].split(", "), re.findall(value, said[1])
            found.update(zip(names, map(ast.literal_eval, values[-len(names):])))
    return found


@pytest.mark.parametrize("name", [name for name in torch.optim.__all__ if name[0].isupper() and name != "Optimizer"])
def test_defaults_are_those_of_the_rule_and_of_the_docstring(name):
    cls = getattr(torch.optim, name)
    taken = {n: p.default for n, p in inspect.signature(cls).parameters.items()}
    usual = torch._C._optim.defaults(name)
    assert {n: d for n, d in usual.items() if taken.get(n, d) != d} == {}
    stated = stated_defaults(cls.__doc__)
    assert stated and {n: d for n, d in stated.items() if taken[n] != d} == {}


def test_none_and_texts_are_told_from_numbers():
    w = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(ValueError, match="epsilon1 should be >= 0 but is: -1.0"):
        torch.optim.Adafactor([w], eps=(-1.0, 1e-3))
    for wrong in ("guess", 5, ""):
        with pytest.raises(ValueError, match=f"Adjust learning rate function {wrong} is not supported"):
            torch.optim.Muon([w], adjust_lr_fn=wrong)
    with pytest.raises(ValueError, match="Invalid learning rate: 0"):
        torch.optim.SparseAdam([w], lr=0)
    group = torch.optim.LBFGS([w]).param_groups[0]
    assert (group["lr"], group["max_eval"], group["line_search_fn"]) == (1, 25, None)
    assert repr(torch.optim.Adadelta([w]).defaults["lr"]) == "1.0" and repr(torch.optim.SGD([w]).defaults["momentum"]) == "0"
