"""Wrong calls from Python: an exception that says what was wrong, and never the end of the interpreter."""

import importlib
import random
import re
import resource
import signal
import subprocess
import sys
import warnings

import pytest

import taeda as torch

D = torch.distributions
REFUSED = [
    (lambda: torch.FloatTensor(torch.zeros(2), 3), TypeError, "FloatTensor takes sizes"),
    (lambda: torch.FloatTensor(torch.zeros(2, dtype=torch.float64)), TypeError, "expected FloatTensor"),
    (lambda: torch.LongTensor([1], "cpu"), TypeError, "LongTensor takes sizes"),
    (lambda: torch.zeros(2).new(torch.zeros(2), 0), TypeError, "takes sizes"),
    (lambda: torch.FloatStorage(4, 5), TypeError, "takes a size or values"),
    (lambda: D.NegativeBinomial(3, torch.rand(2), torch.rand(2)), ValueError, "but not both"),
    (lambda: D.Binomial(3, torch.rand(2), torch.rand(2)), ValueError, "but not both"),
    (lambda: torch.special.multigammaln(torch.ones(2), 2**62), RuntimeError, "at most"),
    (lambda: torch.zeros(4).view(2**62 + 1, 4), RuntimeError, "invalid for input of size 4|overflow"),
    (lambda: torch.zeros(4).as_strided((2**62, 4), (4, 1)), RuntimeError, "overflow|out of bounds"),
    (lambda: torch.zeros(4).narrow(0, 1, 2**63 - 1), RuntimeError, "exceeds dimension size"),
    (lambda: torch.zeros(4).expand(-5), RuntimeError, "-5"),
    (lambda: torch.zeros(4).unfold(0, -1, 1), RuntimeError, "-1"),
    (lambda: torch.zeros(2**63), (TypeError, RuntimeError, ValueError, OverflowError), ""),
    (lambda: torch.nn.functional.pixel_shuffle(torch.rand(1, 4, 2, 2), 2**62), RuntimeError, "overflow"),
    (lambda: torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=float("nan")), ValueError, "nan"),
    (lambda: setattr(torch.ones(2, requires_grad=True), "grad", torch.ones(2, dtype=torch.float64)), RuntimeError,
     "different type"),
    (lambda: torch.ones(2, requires_grad=True).register_hook(None), TypeError, "something to call"),
    (lambda: torch.nn.Linear(2, 2).register_forward_hook(None), TypeError, "something to call, but got NoneType"),
    (lambda: torch.nn.Linear(2, 2).register_module("x", 3), TypeError, "not a Module"),
    (lambda: torch.gather(torch.ones(3), 0, torch.tensor([5])), RuntimeError, "^index 5 is out of bounds for dimension 0"),
    (lambda: torch.ones(3).scatter_(0, torch.tensor([5]), 1.0), RuntimeError, "^index 5 is out of bounds"),
    (lambda: torch.gather(torch.ones(3), 3, torch.tensor([0])), IndexError, "Dimension out of range"),
    (lambda: torch.arange(3).mean(), NotImplementedError, "could not infer output dtype"),
    (lambda: torch.arange(3).std(), NotImplementedError, "only support floating point and complex"),
    (lambda: torch.arange(3).norm(), NotImplementedError, "Expected a floating point or complex tensor"),
    (lambda: -torch.tensor([True]), NotImplementedError, "on a bool tensor is not supported"),
    (lambda: torch.cat([]), ValueError, "non-empty list of Tensors"),
    (lambda: torch.view_as_real(torch.ones(2)), TypeError, "only supported for complex"),
    (lambda: torch.linalg.inv(torch.zeros(2, 2)), torch.linalg.LinAlgError, "singular"),
    (lambda: torch.linalg.cholesky(-torch.eye(2)), torch.linalg.LinAlgError, "not positive-definite"),
    (lambda: torch.nn.BCELoss()(torch.rand(2), torch.ones(2).long()), RuntimeError, "Found dtype Long but expected Float"),
    (lambda: torch.nn.Parameter([1.0]), AttributeError, "has no attribute 'detach'"),
    (lambda: torch.normal(0.0, -1.0, (2,)), RuntimeError, "normal expects std >= 0.0, but found std -1"),
    (lambda: torch.manual_seed(2**70), ValueError, "Overflow"),
    (lambda: torch.set_num_threads(0), RuntimeError, "expects a positive integer"),
    (lambda: torch.set_num_threads("a"), RuntimeError, "expects an int, but got str"),
    (lambda: torch.set_grad_enabled("a"), TypeError, "must be bool, not str"),
    (lambda: torch.randn(2, "a"), TypeError, "^" + re.escape(
        "randn(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got str\"")),
    (lambda: torch.ones(2, 3).sum((0, None)), TypeError, r"sum\(\): argument 'dim' failed to unpack .* at pos 2 .*NoneType"),
    (lambda: torch.full([1, 2, 2.5], 1), TypeError, r"full\(\): argument 'size' failed to unpack .* at pos 3 .*got float"),
    (lambda: torch.ones(4).reshape(2, torch.ones(2)), TypeError, r"reshape\(\): argument 'shape' .* at pos 2 .*got Tensor"),
    (lambda: torch.rand(2, 3, low=1), TypeError, r"got \(int, int, low=int\), but expected"),
    (lambda: torch.randperm(300, dtype=torch.uint8), RuntimeError, ""),
    (lambda: torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2), 10**30), RuntimeError, "a process can hold"),
    (lambda: torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(4, 2), 10**12), RuntimeError, "a process can hold"),
    (lambda: torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2), "3"), TypeError, "integer"),
    (lambda: torch.nn.LSTM(2, 3, num_layers=10**30), RuntimeError, "num_layers=10+ layers of .* a process can hold"),
    (lambda: torch.nn.Sequential(torch.nn.ReLU()) * 10**30, RuntimeError, "a process can hold"),
    (lambda: torch.device("sim", 256), (RuntimeError, ValueError), "256"),
    (lambda: torch.nn.functional.ctc_loss(torch.rand(5, 1, 3), torch.rand(1, 2), (5,), (2,)),
     (TypeError, RuntimeError), "integral"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, error, words = REFUSED[number]
    with pytest.raises(error, match=words):
        call()


CALLS = 10_000
SECONDS = 20  # for one call
TENSORS = """T.zeros(4) T.ones(2,3) T.arange(4) T.zeros(0,3) T.tensor(float('nan')) T.rand(2,3,4,5) T.tensor([2**62])
T.tensor([True,False]) T.zeros(2,2,dtype=T.complex64) T.eye(3) T.zeros(4,dtype=T.uint8) T.rand(3,requires_grad=True)
T.rand(4,4)[:,::2] T.zeros(1,1,1,1,1,1,1) T.rand(5,5,dtype=T.float64) T.rand(1,3,8,8)""".split()
NUMBERS = "0 1 -1 2 3 2**62 2**63 -2**63 2**31 float('nan') float('inf') 1e300 0.5 -5 99 True 1j 10**30".split()
LISTS = """[2**62,4] [-5] [] [0,0] [1,2] (2,2) [0.5] ['a'] [None] [[1,2],[3]] [1]*30 [T.zeros(2),T.zeros(3)] [T.zeros(2),None]
(-1,-1) [-2**63]""".split()
OTHERS = """None 'x' '' '\\ud800' b'x' {} object() T.float32 T.int8 'mean' 'cpu' 'meta' (lambda*a,**k:None) T slice(None) ...
range(3) type 'a'*9999 'reflect' iter([1])""".split()
NAMES = "dim dtype out keepdim device size stride padding weight bias reduction generator mode n alpha index src other".split()
# What changes the process, starts others, waits, reads files, or has no values to look at.
LEFT_OUT = {"set_num_threads", "set_num_interop_threads", "manual_seed", "seed", "set_default_device", "set_default_dtype",
            "set_default_tensor_type", "set_printoptions", "compile", "load", "save", "hub", "set_rng_state", "from_file",
            "set_flush_denormal", "use_deterministic_algorithms", "set_deterministic_debug_mode", "set_warn_always",
            "set_grad_enabled", "set_autocast_enabled", "autocast_increment_nesting", "share_memory_", "wait", "fork", "empty",
            "empty_strided", "empty_like", "new_empty", "new_empty_strided", "resize_", "Transformer", "TransformerEncoder",
            "TransformerDecoder"}


def callables(owner, prefix):
    return [f"{prefix}.{name}" for name in sorted(dir(owner))
            if not name.startswith("_") and name not in LEFT_OUT and callable(getattr(owner, name, None))]


def argument(dice, tensor=0.35):
    chance = dice.random()
    pool = TENSORS if chance < tensor else NUMBERS if chance < 0.7 else LISTS if chance < 0.85 else OTHERS
    return dice.choice(pool)


def random_calls(count):
    dice = random.Random(16)
    functions = callables(torch, "T")
    for room in ("nn.functional", "linalg", "fft", "special", "nn", "optim", "nn.utils.rnn", "distributions"):
        functions += callables(importlib.import_module(f"taeda.{room}"), f"T.{room}")
    methods = callables(torch.Tensor, "") + [".__getitem__", ".__setitem__", ".__pow__", ".__matmul__", ".__floordiv__"]
    for _ in range(count):
        given = [argument(dice, 0.8 if k == 0 else 0.35) for k in range(dice.randrange(5))]
        given += {name: f"{name}={argument(dice)}" for name in dice.sample(NAMES, dice.choice((0, 0, 0, 1)))}.values()
        name = dice.choice(functions) if dice.random() < 0.6 else dice.choice(TENSORS) + dice.choice(methods)
        yield f"{name}({','.join(given)})"


def make_calls():
    """In a process of its own: says how many calls were refused and accepted, and which ended otherwise."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    refused = accepted = 0
    for call in random_calls(CALLS):
        print(call.encode("ascii", "backslashreplace").decode(), file=sys.stderr)
        signal.alarm(SECONDS)
        try:
            repr(eval(call, {"T": torch}))  # noqa: S307
            accepted += 1
        except (SystemError, KeyboardInterrupt, SystemExit) as error:
            print("BAD", call, repr(error))
        except Exception:
            refused += 1
    signal.alarm(0)
    print(refused, accepted)


def test_no_call_ends_the_interpreter():
    done = subprocess.run([sys.executable, "-X", "faulthandler", __file__], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended by {done.returncode} in the last of:\n{done.stderr[-3000:]}"
    assert "BAD" not in done.stdout, done.stdout
    refused, accepted = map(int, done.stdout.split())
    assert refused + accepted == CALLS and accepted > CALLS // 20 and refused > CALLS // 2


if __name__ == "__main__":
    make_calls()


def test_integers_are_no_bools():
    x = torch.ones(2, 2)
    for call, words in ((lambda: x.sum(0, keepdim=1), "'keepdim' must be bool, not int"),
                        (lambda: x.topk(1, largest=0), "largest"), (lambda: x.requires_grad_(1), "requires_grad"),
                        (lambda: torch.zeros(2, requires_grad=1), "requires_grad"), (lambda: x.max(0, 1), "keepdim"),
                        (lambda: torch.nn.MaxPool2d(2, ceil_mode=0)(torch.ones(1, 1, 4, 4)), "ceil_mode"),
                        (lambda: torch.sort(x, stable="a"), "stable")):
        with pytest.raises(TypeError, match=words):
            call()


def test_parameters_without_a_shape_are_not_computed_with():
    weight = torch.nn.LazyLinear(3).weight
    for call in (lambda: weight + 1, lambda: weight.numel(), lambda: weight.sum(), lambda: torch.zeros_like(weight),
                 lambda: torch.nn.init.zeros_(weight), lambda: torch.nn.Parameter(weight), lambda: weight.requires_grad_()):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            call()
    assert weight.device.type == "cpu" and weight.double().dtype == torch.float64 and weight.grad is None
    layer = torch.nn.LazyLinear(3).double().to("cpu")
    assert layer(torch.ones(1, 2, dtype=torch.float64)).shape == (1, 3) and layer.weight.numel() == 6
