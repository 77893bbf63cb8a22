"""Tensors of Python's data, and their sizes, as PyTorch 2.15 takes them."""

import collections

import numpy
import pytest

import taeda as torch


def within(*parts):
    """A list of the parts and itself."""
    made = list(parts)
    made.append(made)
    return made


def loop():
    """A list of a list of the first."""
    outer, inner = [0], []
    inner.append(outer)
    outer.append(inner)
    return outer


def nested(depth, value=1.0, *beside):
    made = value
    for _ in range(depth):
        made = [*beside, made]
    return made


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray, lambda d: torch.tensor([torch.ones(()), d]),
                                  lambda d: torch.ones(2)[d], lambda d: torch.tensor(d, dtype=torch.float32)])
def test_data_without_an_end_are_an_error(make):
    for data in (within(0), within(), loop(), nested(100_000), nested(100_000, 1, 1)):
        with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)):
            make(data)


def test_what_is_said_of_data_without_an_end():
    with pytest.raises(TypeError, match=r"^new\(\): self-referential lists are incompatible$"):
        torch.tensor(within(0))
    with pytest.raises(ValueError, match="^too many dimensions 'list'$"):
        torch.tensor(nested(200))


def test_lists_that_a_conversion_changes():
    class Shrinks:
        def __index__(self):
            data.clear()
            return 1
    for dtype in (torch.int64, torch.float32):
        data = [Shrinks(), Shrinks(), Shrinks()]
        with pytest.raises(ValueError, match="expected sequence of length 3 at dim 0"):
            torch.tensor(data, dtype=dtype)


def test_a_tensor_in_a_list_is_a_number():
    for one in (torch.tensor(1.0), torch.tensor([1.0]), torch.tensor([[1.0]])):
        assert torch.tensor([one, one + 1]).tolist() == [1.0, 2.0]
    assert torch.tensor([[1.0], torch.tensor([2.0])]).tolist() == [[1.0], [2.0]]
    assert torch.tensor([[1, 2], torch.tensor([[3], [4]])]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor([numpy.array([1.0]), numpy.array([2.0])]).shape == (2, 1)
    for data in ([torch.ones(2), torch.ones(2)], [torch.tensor([])]):
        with pytest.raises(ValueError, match="^only one element tensors can be converted to Python scalars$"):
            torch.tensor(data)
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.tensor([[1, 2], torch.tensor([3])])


def test_sequences_of_other_kinds():
    assert torch.tensor([range(2), range(2)]).tolist() == [[0, 1], [0, 1]]
    x = torch.zeros(3, 3)
    x[range(3), torch.tensor([0, 1, 2])] = torch.arange(1.0, 4.0)
    assert x.diagonal().tolist() == [1.0, 2.0, 3.0] and x.sum() == 6
    assert x[range(0, 3, 2)].shape == (2, 3) and x[collections.deque([1])].shape == (1, 3)


def test_beyond_a_dtypes_range():
    infinite = float("inf")
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert torch.tensor([-1e300, 1e300], dtype=dtype).tolist() == [-infinite, infinite]
    assert torch.tensor(-1e9, dtype=torch.half) == -infinite and torch.tensor(70000, dtype=torch.half) == infinite
    assert torch.tensor(2 ** 70, dtype=torch.float32) == 2.0 ** 70
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor(2 ** 40, dtype=torch.int32)
    with pytest.raises(TypeError, match="^must be real number, not complex$"):
        torch.tensor(1j, dtype=torch.float32)


def test_lengths_of_64_bits():
    for n in (2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 40):
        x = torch.empty(1).expand(n)
        assert len(x) == n == x.numel() == x.shape[0] and len(torch.empty(n, 1, device="meta")) == n
        assert x[n - 5:].shape == (5,) and torch.empty(n, device="meta").narrow(0, n - 5, 5).storage_offset() == n - 5
    with pytest.raises(RuntimeError, match="Device index must be below 128, got 4294967296"):
        torch.device("cuda", 2 ** 32)


def test_sizes_are_sequences():
    x = torch.zeros(2, 3)
    for call in (lambda n: torch.randint(1, n), lambda n: torch.randint(0, 5, n), lambda n: torch.randint(5, size=n),
                 lambda n: torch.full(n, 1.0), lambda n: torch.zeros(size=n), lambda n: torch.ones(size=n),
                 lambda n: torch.empty(size=n), lambda n: torch.rand(size=n), lambda n: torch.randn(size=n),
                 lambda n: torch.empty_strided(n, (1,)), lambda n: torch.normal(0.0, 1.0, n),
                 lambda n: torch.normal(mean=0.0, std=1.0, size=n), lambda n: x.new_full(n, 1.0), lambda n: x.new_zeros(size=n),
                 lambda n: torch.reshape(x, n), lambda n: torch.tile(x, n), lambda n: torch.flip(x, n),
                 lambda n: torch.as_strided(x, n, (1,)), lambda n: torch.unflatten(x, 0, n),
                 lambda n: torch.full(n, 1.0, out=torch.empty(0))):
        for size in (5, -1, torch.tensor(5), numpy.int64(5)):
            with pytest.raises(TypeError):
                call(size)
    with pytest.raises(TypeError, match=r"full\(\): argument 'size' \(position 1\) must be tuple of ints, not int"):
        torch.full(3, 1.0)
    for size in ((5,), [5], torch.Size([5])):
        assert torch.randint(1, size).shape == torch.full(size, 1.0).shape == torch.normal(0.0, 1.0, size).shape == (5,)
    assert torch.zeros(5).shape == torch.zeros(torch.tensor(5)).shape == torch.zeros(numpy.int64(5)).shape == (5,)
    assert x.view(6).shape == x.reshape(-1).shape == (6,) == torch.ones(3).repeat(2).shape and x.flip(0).shape == (2, 3)
    assert torch.movedim(x, 0, 1).shape == (3, 2) and x.sum(0).shape == (3,) and torch.roll(x, 1).shape == (2, 3)


def test_second_names_of_a_gradient():
    """Programs that share a model write p._grad: it is the gradient."""
    p, given = torch.ones(2, requires_grad=True), torch.tensor([3.0, 4.0])
    p._grad = given
    assert p.grad is given and p._grad is given
    torch.optim.SGD([p], lr=1.0).step()
    assert p.tolist() == [-2.0, -3.0]
    p._grad = None
    assert p.grad is None and not p.__dict__
    for wrong in (torch.ones(3), 1.0):
        with pytest.raises((RuntimeError, TypeError)):
            p._grad = wrong
    y = p * 2
    assert y._grad_fn == y.grad_fn and y._grad_fn is not None
    y._grad_fn = None
    assert y.grad_fn is None and y.is_leaf
    assert p.grad_dtype == torch.float32 and p._cdata != y._cdata
    with pytest.raises(NotImplementedError, match="float64"):
        p.grad_dtype = torch.float64
    for name in ("is_xla", "is_maia", "is_mtia", "is_vulkan", "is_ipu", "_cdata", "_has_symbolic_sizes_strides"):
        with pytest.raises(AttributeError, match="not writable"):
            setattr(p, name, True)


def test_hooks_and_flags_of_old_names():
    p, seen = torch.ones(2, requires_grad=True), []
    assert p._post_accumulate_grad_hooks is None
    p._post_accumulate_grad_hooks = {0: seen.append}
    p.sum().backward()
    assert seen == [p] and len(p._post_accumulate_grad_hooks) == 1
    with pytest.warns(UserWarning, match="volatile was removed"):
        p.volatile = True
    assert "volatile" not in p.__dict__


def test_parts_take_numbers():
    x = torch.zeros(2, dtype=torch.complex64)
    x.real, x.imag = 1, torch.tensor([2.0, 3.0])
    assert x.tolist() == [1 + 2j, 1 + 3j]
    y = torch.zeros(2)
    y.real = 3
    assert y.tolist() == [3.0, 3.0]


def test_types_by_class_and_name():
    x = torch.ones(2)
    assert x.type(torch.DoubleTensor).dtype == torch.float64 and x.type(torch.Tensor) is x
    for kind in (torch.cuda.FloatTensor, "torch.cuda.FloatTensor"):
        if torch.cuda.is_available():
            assert x.type(kind).is_cuda
        else:
            with pytest.raises(RuntimeError):
                x.type(kind)
    for kind in (int, "float", dict):
        with pytest.raises(ValueError, match="invalid type"):
            x.type(kind)


def test_limits_are_of_dtypes():
    for function in (torch.finfo, torch.iinfo):
        for wrong in (torch.ones(1), 3, "float32", None):
            with pytest.raises(TypeError, match=r"argument 'type' \(position 1\) must be torch.dtype, not"):
                function(wrong)
    assert torch.finfo().bits == 32 and torch.finfo(torch.complex128).bits == 64
