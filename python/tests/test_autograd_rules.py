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


# By PyTorch: what keeps nothing for its gradient runs again, what keeps a number, a mask or sizes does not.
AGAIN = {"sum": lambda p: p.sum(), "mean": lambda p: p.mean(0), "number added": lambda p: p + 1,
         "alpha": lambda p: p.add(p, alpha=2), "rsub": lambda p: 1 - p, "view": lambda p: p.view(4), "slice": lambda p: p[1:],
         "expand": lambda p: p.expand(3, 2, 2), "cat": lambda p: torch.cat([p, p]), "cast": lambda p: p.double(),
         "lerp": lambda p: p.lerp(p, 0.5), "flip": lambda p: p.flip(0), "neg": lambda p: -p,
         "dropped in evaluation": lambda p: F.dropout(p, 0.5, False), "pad": lambda p: F.pad(p, (1, 1))}
ONCE = {"times a number": lambda p: 2 * p, "by a number": lambda p: p / 2, "rdiv": lambda p: 2 / p, "square": lambda p: p ** 2,
        "times a number in place": lambda p: p.clone().mul_(2), "by a number in place": lambda p: p.clone().div_(2),
        "exp": lambda p: p.exp(), "product": lambda p: p @ p, "dropout": lambda p: F.dropout(p, 0.5),
        "average": lambda p: F.avg_pool1d(p, 2), "complex": lambda p: torch.complex(p, p).real,
        "where": lambda p: torch.where(p > 0, p, p),
        "a view in place": lambda p: p.clone()[:1].add_(1).sum() + 0 * p.sum(), "index": lambda p: p[torch.tensor([0])]}


@pytest.mark.parametrize("name", [*AGAIN, *ONCE])
def test_which_graphs_run_a_second_time(name):
    p = torch.ones(2, 2, requires_grad=True)
    out = {**AGAIN, **ONCE}[name](p)
    out.backward(torch.ones_like(out), retain_graph=True)
    out.backward(torch.ones_like(out))
    if name in AGAIN:
        out.backward(torch.ones_like(out))
    else:
        with pytest.raises(RuntimeError, match=TWICE):
            out.backward(torch.ones_like(out))


def test_a_sum_that_grows_from_step_to_step_is_found():
    b, s = torch.ones(2, requires_grad=True), torch.zeros(2)
    s = s + 2 * b
    s.sum().backward()
    s = s + 2 * b
    with pytest.raises(RuntimeError, match=TWICE):
        s.sum().backward()


LAYERS = [nn.Linear(4, 2), nn.Conv1d(4, 2, 1), nn.ConvTranspose1d(4, 2, 1), nn.LayerNorm(4), nn.GroupNorm(1, 4), nn.RMSNorm(4),
          nn.InstanceNorm1d(4), nn.BatchNorm1d(4), nn.RNN(4, 2), nn.LSTM(4, 2), nn.GRU(4, 2), nn.Softmax(-1), nn.LogSoftmax(-1),
          nn.MultiheadAttention(4, 2), nn.TransformerEncoderLayer(4, 2, 8), nn.Dropout(0.5).eval()]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_a_gradient_has_the_dtype_of_its_output(layer):
    layer, x = layer.double(), torch.sin(torch.arange(16.0, dtype=torch.double)).reshape(1, 4, 4).requires_grad_()
    out = layer(*[x] * (3 if isinstance(layer, nn.MultiheadAttention) else 1))
    out = out[0] if isinstance(out, tuple) else out
    out.backward(torch.ones_like(out, dtype=torch.float))
    assert x.grad.dtype == torch.double and all(p.grad.dtype == torch.double for p in layer.parameters())


def test_complex_weights_of_real_outputs_are_refused():
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        torch.autograd.grad(y, y, torch.ones(2, dtype=torch.complex64))


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_computed_again_has_autocast_s_precision(reentrant):
    x, layer, seen = torch.ones(2, 3, requires_grad=True), nn.Linear(3, 3), []

    def run(a):
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return F.relu(layer(a))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = checkpoint(run, x, use_reentrant=reentrant)
        z = checkpoint_sequential(nn.Sequential(layer, nn.ReLU(), layer, nn.ReLU()), 2, x, use_reentrant=reentrant)
    (y.float().sum() + z.float().sum()).backward()
    assert seen == [(True, torch.bfloat16)] * 2 and x.grad is not None
    y = checkpoint(run, x, use_reentrant=reentrant)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y.sum().backward()
    assert [on for on, _ in seen[2:]] == [False, False]


# torch.autograd.functional


def test_derivatives_do_not_depend_on_whether_the_caller_records():
    x = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        assert A.jacobian(lambda a: a ** 2, x).equal(torch.diag(2 * x))
        assert A.hessian(lambda a: (a ** 2).sum(), x).equal(2 * torch.eye(2))
        assert A.vjp(lambda a: a ** 2, x, x)[1].equal(2 * x * x) and A.jvp(lambda a: a ** 2, x, x)[1].equal(2 * x * x)
        assert A.hvp(lambda a: (a ** 3).sum(), x, x)[1].equal(6 * x * x)


FUNCTIONS = {"constant": lambda c, q: lambda x: c.sum(), "linear": lambda c, q: lambda x: x.sum(),
             "detached": lambda c, q: lambda x: (x.detach() ** 2).sum(), "another's": lambda c, q: lambda x: (c * q).sum()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_constant_has_zeros_or_is_refused(name):
    function, x, one = FUNCTIONS[name](torch.ones(2), torch.ones(2, requires_grad=True)), torch.ones(2), torch.tensor(1.0)
    first = torch.ones(2) if name == "linear" else torch.zeros(2)
    assert A.jacobian(function, x).equal(first) and A.vjp(function, x, one)[1].equal(first)
    assert A.jvp(function, x, x)[1].item() == first.sum().item()
    assert A.hessian(function, x).equal(torch.zeros(2, 2)) and A.hvp(function, x, x)[1].equal(torch.zeros(2))
    for product in (lambda **how: A.hessian(function, x, **how), lambda **how: A.hvp(function, x, x, **how)):
        with pytest.raises(RuntimeError, match="independent of (the )?input|does not require gradients"):
            product(strict=True)
    for product in (lambda **how: A.jacobian(function, x, **how), lambda **how: A.vjp(function, x, one, **how),
                    lambda **how: A.jvp(function, x, x, **how)):
        if name == "linear":
            product(strict=True)
        with pytest.raises(RuntimeError, match="independent of input 0|does not require gradients"):
            product(strict=True, create_graph=name == "linear")


def test_wrong_arguments_of_derivatives():
    x = torch.ones(2)
    with pytest.raises(TypeError, match="inputs given to jacobian must be either a Tensor or a tuple"):
        A.jacobian(torch.exp, [x])
    with pytest.raises(TypeError, match="outputs of the user-provided function given to jacobian must be"):
        A.jacobian(lambda a: [a], x)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        A.vjp(torch.exp, x, torch.ones(3))
    with pytest.raises(RuntimeError, match="v can only be None if the user-provided function returns"):
        A.vjp(torch.exp, x)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        A.hessian(torch.exp, x)
    with pytest.raises(RuntimeError, match="not supported together"):
        A.jacobian(torch.exp, x, strict=True, vectorize=True)


# Hooks, modes


def test_full_backward_hooks_see_an_entry_for_each_argument():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.p = nn.Parameter(torch.ones(2))

        def forward(self, *args, b=None):
            return self.p * 2
    seen, module = [], Scaled()
    module.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append(grad_input))
    for args in ((), (torch.ones(2),), (torch.ones(2), 3, None)):
        module(*args, b=torch.ones(2)).sum().backward()
    assert seen == [(), (None,), (None, None, None)]


def test_a_gradient_of_a_gradient_through_a_loss_with_a_hook():
    loss, layer, seen = nn.MSELoss(), nn.Linear(2, 1), []
    loss.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append(len(grad_input)))
    value = loss(layer(torch.ones(3, 2)), torch.zeros(3, 1))
    first, = torch.autograd.grad(value, layer.weight, create_graph=True)
    second, = torch.autograd.grad(first.sum(), layer.weight, create_graph=True)
    assert seen == [2] and second.shape == layer.weight.shape


def test_hooks_of_all_modules_are_what_programs_set():
    seen, x = [], torch.ones(1, requires_grad=True)
    names = {"_global_forward_hooks": "forward_hook", "_global_forward_pre_hooks": "forward_pre_hook",
             "_global_backward_hooks": "full_backward_hook", "_global_backward_pre_hooks": "full_backward_pre_hook"}
    for name, kind in names.items():
        getattr(all_modules, f"register_module_{kind}")(lambda *args, name=name: seen.append(name))
        nn.ReLU()(x).sum().backward()
        assert seen.pop() == name and not seen
        setattr(all_modules, name, collections.OrderedDict())
        nn.ReLU()(x).sum().backward()
        assert not seen
        with getattr(all_modules, f"register_module_{kind}")(lambda *args: seen.append(kind)):
            assert len(getattr(all_modules, name)) == 1
            nn.ReLU()(x).sum().backward()
        nn.ReLU()(x).sum().backward()
        assert seen.pop() == kind and not seen
    all_modules._global_is_full_backward_hook = None
    with pytest.raises(TypeError, match="must be a dict of hooks"):
        all_modules._global_forward_hooks = None


def test_callbacks_of_a_pass_by_the_engine_s_name():
    said, x = [], torch.ones(1, requires_grad=True)
    engine = torch.autograd.Variable._execution_engine
    assert torch.autograd.variable.Variable._execution_engine is engine
    y = x * 2
    y.register_hook(lambda g: (engine.queue_callback(lambda: said.append("end")), said.append("hook"))[0])
    y.sum().backward()
    assert said == ["hook", "end"]
    with pytest.raises(RuntimeError, match="only be installed during backward pass"):
        engine.queue_callback(lambda: None)


def test_errors_reach_generators_under_a_mode():
    said = []

    @torch.no_grad()
    def numbers():
        try:
            said.append((yield torch.is_grad_enabled()))
        except ValueError as error:
            said.append(str(error))
            yield torch.is_grad_enabled()
        finally:
            said.append(torch.is_grad_enabled())
        return 5
    running = numbers()
    assert next(running) is False and running.throw(ValueError("thrown")) is False and torch.is_grad_enabled()
    running.close()
    assert said == ["thrown", False]
    running = numbers()
    next(running)
    with pytest.raises(StopIteration) as stop:
        running.send("sent")
    assert stop.value.value == 5 and said[2:] == ["sent", False]
    running = numbers()
    next(running)
    with pytest.raises(KeyError):
        running.throw(KeyError())
    running = numbers()
    next(running)
    running.close()
    assert said[4:] == [False, False] and torch.is_grad_enabled()


def test_parameters_without_recording():
    p = nn.Parameter(torch.arange(3.0))
    (p * 2).sum().backward()
    with torch.no_grad():
        p.set_(p[1:])
        assert p.numpy().tolist() == [1.0, 2.0]
    p.grad = None
    (p * 2).sum().backward()
    assert p.grad.equal(torch.full((2,), 2.0))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        p.set_(torch.ones(2))
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        p.numpy()


def test_anomaly_mode_keeps_what_it_was_told():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            with torch.autograd.detect_anomaly():
                assert torch.is_anomaly_check_nan_enabled()
            assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled()
