"""What a process is set to: dtypes, printing, devices, determinism, threads."""

import math
import warnings

import pytest
import taeda as torch


def test_default_dtype():
    torch.set_default_dtype(torch.float64)
    assert torch.tensor(1.5).dtype == torch.zeros(1).dtype == torch.rand(1).dtype == torch.float64
    assert torch.tensor([1j]).dtype == torch.complex128
    torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(torch.int32)


def test_printing():
    x = torch.tensor([1.23456789, 1000.5])
    torch.set_printoptions(precision=2)
    assert repr(x) == "tensor([   1.23, 1000.50])"
    torch.set_printoptions(sci_mode=True)
    assert repr(x) == "tensor([1.23e+00, 1.00e+03])"
    torch.set_printoptions(profile="default", sci_mode=False)
    assert repr(x) == "tensor([   1.2346, 1000.5000])"
    torch.set_printoptions(threshold=3, edgeitems=1)
    assert repr(torch.arange(6)) == "tensor([0,  ..., 5])"
    torch.set_printoptions(profile="full")
    assert "..." not in repr(torch.zeros(2000))
    torch.set_printoptions(profile="default", linewidth=20)
    assert repr(torch.arange(8)) == "tensor([0, 1, 2, 3,\n        4, 5, 6, 7])"


def test_default_device():
    torch.set_default_device("meta")
    assert torch.tensor([1.0]).device.type == "meta"
    torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


def test_determinism():
    assert not torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)


def test_deterministic_memory():
    nothing = {torch.float32: math.nan, torch.float16: math.nan, torch.uint8: 255, torch.int16: 32767, torch.int64: 2**63 - 1,
               torch.uint64: 2**64 - 1, torch.bool: True}
    torch.use_deterministic_algorithms(True)
    try:
        for dtype, value in nothing.items():
            like = torch.zeros(2, 3, dtype=dtype)
            for made in (torch.empty(2, 3, dtype=dtype), torch.empty_like(like),
                         torch.empty_strided((2, 3), (1, 2), dtype=dtype), like.new_empty(2, 3),
                         like.new_empty_strided((2, 3), (3, 1))):
                assert all(x == value or x != x and value != value for row in made.tolist() for x in row), (dtype, made)
        assert torch.tensor([1.0, 2.0]).resize_(3).isnan().tolist() == [False, False, True]
        assert torch.utils.deterministic.fill_uninitialized_memory is True
        torch.utils.deterministic.fill_uninitialized_memory = False
        assert torch.utils.deterministic.fill_uninitialized_memory is False
        with pytest.raises(RuntimeError, match="expected a bool, but got int"):
            torch.utils.deterministic.fill_uninitialized_memory = 3
        assert torch.ones(1000).resize_(4).isnan().sum() == 0
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = True
        torch.use_deterministic_algorithms(False)


def test_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    torch.set_num_threads(before)
    with pytest.raises((RuntimeError, ValueError), match="positive"):
        torch.set_num_threads(0)


def test_compile_says_once_that_it_does_nothing(run_python):
    program = ("import warnings\n"
               "with warnings.catch_warnings(record=True) as seen:\n"
               "    warnings.simplefilter('always')\n"
               "    import taeda as torch\n"
               "    f = lambda x: x\n"
               "    assert torch.compile(f) is f and torch.compile(f, mode='max-autotune') is f\n"
               "    assert torch.compile()(f) is f\n"
               "print(len(seen))\n")
    assert run_python(program) == "1\n"


def test_what_is_missing_is_named():
    with pytest.raises(NotImplementedError, match="Taeda has no quantized tensors"):
        torch.quantize_per_tensor()
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'nothing_of_the_kind'"):
        torch.nothing_of_the_kind


def test_jit_gives_back_what_it_is_given():
    def f(x):
        return x + 1

    assert torch.jit.script(f) is f
    assert torch.jit.trace(f, torch.ones(1)) is f
    module = torch.nn.Linear(1, 1)
    assert torch.jit.trace_module(module, {"forward": torch.ones(1)}) is module and torch.jit.annotate(int, 3) == 3
    seen = []
    module.register_forward_hook(lambda module, args, output: seen.append(args))
    torch.jit.trace_module(module, {"forward": [torch.ones(1)]})
    assert [type(args) for args in seen[0]] == [torch.Tensor]
    assert torch.jit.optimize_for_inference(torch.jit.freeze(module.eval())) is module
    with pytest.raises(RuntimeError, match="modules in eval mode"):
        torch.jit.freeze(module.train())


@pytest.mark.parametrize("error", [AssertionError, torch.jit.Error, RuntimeError])
def test_unmet_conditions_are_errors_of_eager_and_of_compiled_code(error):
    torch._assert(True, "not this")
    with pytest.raises(error, match="^a last dimension of 3$"):
        torch.jit.script(lambda x: torch._assert(x.shape[-1] == 3, "a last dimension of 3"))(torch.ones(2))


def test_choices_of_attention_change_nothing():
    cuda = torch.backends.cuda
    assert cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    cuda.enable_flash_sdp(False)
    assert not cuda.flash_sdp_enabled() and cuda.mem_efficient_sdp_enabled()
    cuda.enable_flash_sdp(True)


def test_func():
    assert torch.func.grad(lambda x: x ** 2)(torch.tensor(3.0)).item() == 6
    assert torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.0)).item() == 12
    assert torch.func.vmap(lambda x: x.sum())(torch.ones(3, 2)).tolist() == [2, 2, 2]


def test_testing():
    torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        torch.testing.assert_close(torch.ones(2), torch.ones(2) * 1.1)
    with pytest.raises(AssertionError, match="dtype"):
        torch.testing.assert_close(torch.ones(2), torch.ones(2).double())


def test_wrong_calls_warn_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ones(2).sum().item()


def test_default_device_holds_for_all_that_makes_tensors():
    made = [lambda: torch.ones(2), lambda: torch.zeros(2), lambda: torch.randn(2), lambda: torch.tensor([1.0]),
            lambda: torch.arange(3), lambda: torch.nn.Linear(2, 2).weight, lambda: torch.nn.BatchNorm1d(2).running_mean,
            lambda: torch.linspace(0, 1, 3), lambda: torch.full((2,), 1), lambda: torch.eye(2),
            lambda: torch.randint(0, 3, (2,)), lambda: torch.as_tensor([1])]
    with torch.device("meta"):
        assert [f().device.type for f in made] == ["meta"] * len(made)
        with torch.device("cpu"):
            assert torch.ones(2).device.type == "cpu"
        assert torch.ones(2).device.type == "meta" and torch.ones(2, device="cpu").device.type == "cpu"
    assert [f().device.type for f in made] == ["cpu"] * len(made)
    with pytest.raises(ZeroDivisionError), torch.device("meta"):
        1 / 0
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("meta")
    assert torch.randperm(3).device.type == "meta" and torch.randperm(3, device="cpu").device.type == "cpu"
    torch.set_default_device(None)
    assert torch.randperm(3).device.type == "cpu"
