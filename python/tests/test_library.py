"""torch.library: operations of programs' own."""

import pytest

import taeda as torch


@pytest.fixture(autouse=True)
def _own_names():
    yield
    torch.library._operations.clear()


def made():
    @torch.library.custom_op("mylib::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
        """x times k."""
        return x.detach() * k
    return scaled


def test_a_function_as_operation():
    scaled, x = made(), torch.ones(3)
    assert scaled(x).equal(2 * x) and scaled(k=3.0, x=x).equal(3 * x) and scaled.__doc__ == "x times k."
    assert torch.ops.mylib.scaled(x, 4.0).equal(4 * x) and torch.ops.mylib.scaled.default(x).equal(2 * x)
    assert repr(scaled) == "<CustomOpDef(mylib::scaled)>" and dir(torch.ops.mylib) == ["scaled"]


def test_derivatives():
    scaled, x = made(), torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Trying to backward through mylib::scaled but no autograd formula was registered"):
        scaled(x).sum().backward()

    def setup_context(ctx, inputs, output):
        assert output.shape == inputs[0].shape
        ctx.k = inputs[1]

    def backward(ctx, grad):
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.k, None
    scaled.register_autograd(backward, setup_context=setup_context)
    (scaled(x, 5.0) * torch.arange(3)).sum().backward()
    assert x.grad.tolist() == [0, 5, 10]
    with torch.no_grad():
        assert not scaled(x).requires_grad


def test_what_changes_its_arguments():
    @torch.library.custom_op("mylib::add_one_", mutates_args={"x"})
    def add_one_(x: torch.Tensor, *, times: int = 1) -> None:
        x.add_(times)
    x = torch.zeros(2)
    assert add_one_(x) is None and add_one_(x, times=3) is None and x.tolist() == [4, 4]


def test_kernels_of_devices():
    scaled = made()
    scaled.register_fake(lambda x, k=2.0: torch.empty_like(x))
    assert scaled(torch.ones(3, device="meta")).shape == (3,)

    @torch.library.register_kernel("mylib::scaled", "sim")
    def on_devices(x, k=2.0):
        return x * k + 100
    torch.sim.configure(1)
    assert scaled(torch.ones(1, device="sim")).cpu().item() == 102 and scaled(torch.ones(1)).item() == 2


def test_operations_by_schemas():
    library = torch.library.Library("other", "DEF")
    assert library.define("twice(Tensor x, float k=2) -> Tensor") == "twice"
    with pytest.raises(NotImplementedError, match="no kernel was registered for device type cpu"):
        torch.ops.other.twice(torch.ones(1))
    library.impl("twice", lambda x, k=2: x * k, "CPU")
    assert torch.ops.other.twice(torch.ones(1), k=5).item() == 5
    torch.library.define("other::same", "(Tensor x) -> Tensor")
    torch.library.impl("other::same", "default", lambda x: x.clone())
    assert torch.ops.other.same(torch.ones(2)).shape == (2,)


def test_wrong_calls():
    with pytest.raises(ValueError, match="namespace::name"):
        torch.library.custom_op("name", mutates_args=())
    with pytest.raises(RuntimeError, match="there is no operation a::b"):
        torch.library.register_fake("a::b", len)
    with pytest.raises(AttributeError, match="'_OpNamespace' 'docs' object has no attribute 'nothing'"):
        torch.ops.docs.nothing
    with pytest.raises(TypeError):
        made()(torch.ones(1), wrong=1)
    with pytest.raises(RuntimeError, match="a schema is"):
        torch.library.define("a::b", "Tensor x")
