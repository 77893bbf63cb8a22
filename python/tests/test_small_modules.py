"""Modules of a page: dlpack, attention, signal, compiler, torch_version, return_types, second names, and lobpcg."""

import pytest

import taeda as torch

from taeda.nn.attention import SDPBackend, sdpa_kernel
from taeda.utils import dlpack


def test_capsules():
    x = torch.ones(2)
    assert dlpack.from_dlpack(dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()


def test_a_choice_of_kernels_changes_nothing():
    q = torch.randn(1, 2, 4, 8)
    with sdpa_kernel(SDPBackend.MATH):
        a = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert torch.equal(a, torch.nn.functional.scaled_dot_product_attention(q, q, q))


@pytest.mark.parametrize("call, expected", [
    ("windows.bartlett(5)", [0.0, 0.5, 1.0, 0.5, 0.0]),
    ("windows.blackman(5,sym=False)", [-0.0, 0.20077, 0.84923, 0.84923, 0.20077]),
    ("windows.cosine(4)", [0.38268, 0.92388, 0.92388, 0.38268]),
    ("windows.cosine(4,sym=False)", [0.30902, 0.80902, 1.0, 0.80902]),
    ("windows.exponential(5,tau=2.)", [0.36788, 0.60653, 1.0, 0.60653, 0.36788]),
    ("windows.exponential(4,sym=False)", [0.13534, 0.36788, 1.0, 0.36788]),
    ("windows.exponential(4,center=1.,tau=3.,sym=False)", [0.71653, 1.0, 0.71653, 0.51342]),
    ("windows.gaussian(5,std=.9)", [0.08466, 0.53941, 1.0, 0.53941, 0.08466]),
    ("windows.gaussian(4,sym=False)", [0.13534, 0.60653, 1.0, 0.60653]),
    ("windows.general_cosine(5,a=[.4,.3,.3])", [0.4, 0.1, 1.0, 0.1, 0.4]),
    ("windows.general_hamming(5,alpha=.7)", [0.4, 0.7, 1.0, 0.7, 0.4]), ("windows.hamming(4)", [0.08, 0.77, 0.77, 0.08]),
    ("windows.hann(6,sym=False)", [0.0, 0.25, 0.75, 1.0, 0.75, 0.25]),
    ("windows.kaiser(5,beta=3.)", [0.20488, 0.72693, 1.0, 0.72693, 0.20488]),
    ("windows.kaiser(4,sym=False)", [5e-05, 0.21567, 1.0, 0.21567]),
    ("windows.nuttall(5)", [0.00036, 0.22698, 1.0, 0.22698, 0.00036]), ("windows.hann(1)", [1.0]), ("windows.hann(0)", []),
    ("windows.bartlett(1,sym=False)", [1.0]), ("windows.bartlett(2)", [0.0, 0.0])])
def test_windows(call, expected):
    found = eval(call, {"windows": torch.signal.windows})  # noqa: S307
    assert found.tolist() == pytest.approx(expected, abs=1e-5) and found.dtype == torch.float32


def test_wrong_windows():
    for call, error in ((lambda: torch.signal.windows.hann(-1), "non-negative window length, got M=-1"),
                        (lambda: torch.signal.windows.hann(3, dtype=torch.int64), "expects float32 or float64 dtypes"),
                        (lambda: torch.signal.windows.exponential(3, center=1.0), "Center must be None"),
                        (lambda: torch.signal.windows.gaussian(3, std=0), "must be positive, got: 0")):
        with pytest.raises(ValueError, match=error):
            call()


def test_versions_are_compared_by_numbers():
    version = torch.torch_version.TorchVersion("2.15.0+here")
    assert version >= (2, 1) and version > "2.9" and version < "2.15.1" and version == (2, 15) and version >= "2.15.0"
    assert torch.torch_version.TorchVersion("2.1.0a0") < (2, 1) and version != "2.15.0" and version != "no version"
    assert torch.__version__ >= (2, 0) and torch.__version__.split("+")[0] == "2.15.0" and {version: 1}["2.15.0+here"] == 1


def test_what_is_said_to_a_compiler():
    import taeda.compiler as compiler

    @compiler.disable
    def f(x):
        return x + 1

    @compiler.disable(recursive=False)
    @compiler.allow_in_graph
    @compiler.set_stance("force_eager")
    def g(x):
        return f(x)
    assert g(1) == 2 and not compiler.is_compiling() and compiler.list_backends() == []
    with pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        compiler.set_stance("none")
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(3)


def test_devices_that_are_not_there():
    assert not torch.xpu.is_available() and torch.mps.device_count() == 0 and not torch.mtia.is_available()
    assert torch.cpu.is_available() and torch.cpu.device_count() == 1
    with torch.cpu.stream(torch.cpu.current_stream()):
        torch.cpu.synchronize()
    with pytest.raises(NotImplementedError, match="PyTorch has torch.xpu.synchronize, Taeda does not"):
        torch.xpu.synchronize()


def test_classes_of_results_with_names():
    assert isinstance(torch.max(torch.ones(2), 0), torch.return_types.max)
    assert isinstance(torch.linalg.svd(torch.ones(2, 2)), torch.return_types.linalg_svd)
    for name in dir(torch.return_types):
        assert repr(getattr(torch.return_types, name)) == f"<class 'torch.return_types.{name}'>"


def test_prefixes_of_state_dicts():
    from taeda.nn.modules.utils import consume_prefix_in_state_dict_if_present as consume
    state = torch.nn.Sequential(torch.nn.ModuleDict({"module": torch.nn.Linear(2, 2)})[("module")]).state_dict()
    state = type(state)((f"module.{name}", value) for name, value in state.items())
    state["other"] = torch.ones(1)
    consume(state, "module.")
    assert sorted(state) == ["0.bias", "0.weight", "other"]


def test_second_names_of_modules():
    from taeda.autograd.grad_mode import no_grad
    from taeda.cuda.amp.grad_scaler import GradScaler
    from taeda.nn.common_types import _size_2_t
    from taeda.utils.hooks import RemovableHandle
    from taeda.vision import ops
    from taeda.vision.ops.focal_loss import sigmoid_focal_loss
    assert no_grad is torch.no_grad and issubclass(GradScaler, torch.amp.GradScaler) and _size_2_t is not None
    assert torch.autograd.grad_mode.no_grad is no_grad and sigmoid_focal_loss is ops.sigmoid_focal_loss
    assert isinstance(torch.nn.Linear(1, 1).register_forward_hook(print), RemovableHandle)


def test_random_tensors_for_tests():
    made = torch.testing.make_tensor(3, 4, dtype=torch.float64, low=2, high=3, noncontiguous=True, requires_grad=True)
    assert made.shape == (3, 4) and 2 <= made.min() and made.max() < 3 and not made.is_contiguous() and made.requires_grad
    assert torch.testing.make_tensor((50,), dtype=torch.uint8, exclude_zero=True).min() >= 1
    assert torch.testing.make_tensor(2, dtype=torch.complex64).dtype == torch.complex64
    assert torch.testing.make_tensor((), dtype=torch.bool).shape == ()
    with pytest.raises(ValueError, match="`low` must be less than `high`"):
        torch.testing.make_tensor(2, dtype=torch.float32, low=3, high=3)


@pytest.mark.parametrize("largest", [True, False])
def test_a_few_eigenvalues(largest):
    matrix = torch.randn(40, 40, dtype=torch.float64)
    matrix = matrix @ matrix.T + torch.diag(torch.arange(40.0, dtype=torch.float64))
    scale = torch.diag(torch.rand(40, dtype=torch.float64) + 0.5)
    expected = torch.linalg.eigvalsh(matrix)
    expected = expected.flip(0)[:3] if largest else expected[:3]
    for given in (matrix, matrix.to_sparse()):
        values, vectors = torch.lobpcg(given, 3, largest=largest)
        assert torch.allclose(values, expected, rtol=1e-6) and torch.allclose(matrix @ vectors, vectors * values, atol=1e-3)
    values, vectors = torch.lobpcg(torch.stack([matrix, matrix * 2]), k=3, largest=largest)
    assert torch.allclose(values[1], 2 * expected, rtol=1e-6) and vectors.shape == (2, 40, 3)
    values, vectors = torch.lobpcg(matrix, 2, scale, largest=largest)
    assert torch.allclose(matrix @ vectors, scale @ vectors * values, atol=1e-3)
    assert torch.allclose(vectors.T @ scale @ vectors, torch.eye(2, dtype=torch.float64), atol=1e-6)


def test_too_many_eigenvalues():
    with pytest.raises(ValueError, match=r"number of A rows \(=8\) is smaller than 3 x the number of requested"):
        torch.lobpcg(torch.eye(8), 3)
    with pytest.raises(NotImplementedError, match="Taeda has no derivative of it"):
        torch.lobpcg(torch.eye(8).requires_grad_(), 1)


def test_what_is_known_of_the_environment(run_python):
    from taeda.utils import collect_env
    known = collect_env.get_env_info()
    assert known.torch_version == torch.__version__ and known.is_cuda_available == str(torch.cuda.is_available())
    assert f"Version: {torch.__version__}\n" in collect_env.get_pretty_env_info()
    done = run_python("import runpy; runpy.run_module('taeda.utils.collect_env', run_name='__main__')")
    assert "CPU: " in done and "logical cores" in done


def test_copies_of_views():
    x = torch.arange(6.0).view(2, 3)
    for made, view in ((torch.t_copy(x), x.t()), (torch.select_copy(x, 1, 2), x[:, 2]),
                       (torch.view_copy(x, (3, 2)), x.view(3, 2)),
                       (torch.unbind_copy(x)[1], x[1]), (torch.split_copy(x, 2, dim=1)[1], x[:, 2:]), (torch.alias_copy(x), x)):
        assert torch.equal(made, view) and made.data_ptr() != view.data_ptr()
    assert torch.fill(x, 2).sum() == 12 and x.sum() == 15


def test_functions_without_a_kernel_of_their_own():
    found = torch.nonzero_static(torch.tensor([0, 3, 0, 4]), size=3, fill_value=-7)
    assert found.tolist() == [[1], [3], [-7]]
    assert torch.nonzero_static(torch.ones(3), size=2).tolist() == [[0], [1]]
    assert torch.empty_permuted((2, 3, 4), (0, 2, 1)).stride() == (12, 1, 3)
    assert torch.sym_max(2, 3.0) == 3.0 and torch.sym_not(0) is True and torch.sym_ite(True, 1, 2) == 1


def test_calls_with_other_parameters():
    layer = torch.nn.Linear(2, 2)
    tied = torch.nn.Sequential(layer, layer)
    x, weight = torch.ones(1, 2), torch.eye(2)
    assert torch.func.functional_call(tied, {"0.weight": weight, "0.bias": torch.zeros(2)}, x).tolist() == [[1, 1]]
    with pytest.raises(ValueError, match=r"\['weight'\] appeared in multiple dictionaries"):
        torch.func.functional_call(layer, [{"weight": weight}, {"weight": weight}], x)
    with pytest.raises(RuntimeError, match="Error\\(s\\) in reparametrizing for Linear:\n\tMissing key\\(s\\): 'bias'."):
        torch.func.functional_call(layer, {"weight": weight}, x, strict=True)
    with pytest.raises(TypeError, match="3 is not an instance of torch.Tensor"):
        torch.func.functional_call(layer, {"weight": 3}, x)
