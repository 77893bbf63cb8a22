"""Calls that PyTorch's signatures allow and that the library's declarations alone do not."""

import subprocess
import sys
import warnings

import pytest

import taeda as torch


@pytest.fixture
def x():
    return torch.arange(6.0).reshape(2, 3)


def test_second_names_of_parameters(x):
    assert torch.full_like(x, fill_value=3).sum() == 18 and torch.full_like(input=x, fill_value=1).sum() == 6
    assert x.tile(dims=(2, 1)).shape == (4, 3) and torch.tile(x, dims=(2,)).shape == (2, 6)
    assert x.swapaxes(axis0=0, axis1=1).shape == (3, 2)
    square = torch.eye(2) * 2
    assert torch.equal(torch.linalg.inv(input=square), torch.linalg.inv(A=square)) and torch.linalg.det(input=square) == 4
    assert torch.linalg.norm(input=x) == x.norm() and torch.polygamma(n=1, input=torch.ones(1)) > 0
    assert torch.dot(input=x[0], tensor=x[1]) == 14 and torch.nn.functional.one_hot(tensor=torch.tensor([1])).shape == (1, 2)
    assert torch.zeros(2, 3).copy_(other=x).equal(x) and torch.zeros(2, 2).fill_diagonal_(fill_value=1).sum() == 2
    assert torch.dropout(x, p=0.5, train=False).equal(x)


def test_stable_sorting(x):
    given = torch.tensor([2, 1, 2, 1])
    for found in (torch.sort(given, stable=True), given.sort(stable=True, dim=0), torch.sort(given, dim=0, stable=True)):
        assert found.indices.tolist() == [1, 3, 0, 2]
    assert given.argsort(stable=True, descending=True).tolist() == [0, 2, 1, 3]
    assert torch.argsort(given, stable=True).tolist() == [1, 3, 0, 2]


def test_any_and_all_over_several_dimensions():
    t = torch.zeros(2, 3, 4)
    t[0, 1, 2] = 1
    assert t.any([1, 2]).tolist() == [True, False] and t.any(dim=(0, 2)).tolist() == [False, True, False]
    assert t.any(()).equal(t != 0) and t.any(None) and t.any(axis=0, keepdims=True).shape == (1, 3, 4)
    assert t.any(keepdim=True).shape == (1, 1, 1) and torch.all(t + 1, (0, -1), keepdim=True).shape == (1, 3, 1)
    out = torch.empty(0, dtype=torch.bool)
    assert torch.any(t, dim=[1, 2], out=out) is out and out.tolist() == [True, False]
    with pytest.raises(RuntimeError, match="multiple times"):
        t.all([0, 0])
    with pytest.raises(IndexError, match="Dimension out of range"):
        t.any([3, 0])


def test_squeezing_several_dimensions():
    t = torch.zeros(1, 2, 1, 3, 1)
    assert t.squeeze([0, 1, -1]).shape == (2, 1, 3) and torch.squeeze(t, dim=(2, 4)).shape == (1, 2, 3)
    assert t.squeeze(()).shape == t.shape and t.squeeze_((0, 2)).shape == (2, 3, 1) and t.shape == (2, 3, 1)


def test_moments_by_correction(x):
    assert x.std(correction=0) == x.std(unbiased=False) and x.var(False) == x.var(unbiased=False)
    assert torch.allclose(x.var(dim=1, correction=1), x.var(1)) and x.std(0, correction=0, keepdim=True).shape == (1, 3)
    out = torch.empty(0)
    assert torch.var(x, 1, out=out) is out and out.shape == (2,)


def test_tensors_made_into_out():
    out = torch.empty(0)
    assert torch.zeros(2, 3, out=out) is out and out.shape == (2, 3)
    assert torch.arange(4, out=out).tolist() == [0, 1, 2, 3] and out.dtype == torch.float32
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1] and torch.eye(2, out=out).shape == (2, 2)
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    assert torch.rand(5, out=out).equal(expected) and torch.normal(0.0, torch.ones(3), out=out).shape == (3,)
    assert torch.randperm(4, out=torch.empty(0, dtype=torch.long)).sort().values.tolist() == [0, 1, 2, 3]


def test_random_numbers_like_others_from_a_generator(x):
    made = [torch.rand_like(x.double(), generator=torch.Generator().manual_seed(5)) for _ in range(2)]
    assert made[0].equal(made[1]) and made[0].dtype == torch.float64 and made[0].shape == x.shape
    drawn = torch.randint_like(x, 3, 9, generator=torch.Generator().manual_seed(5))
    assert drawn.min() >= 3 and drawn.max() < 9 and drawn.dtype == torch.float32
    assert torch.randn_like(x, generator=torch.Generator().manual_seed(5), dtype=torch.float64).dtype == torch.float64


def test_numbers(x):
    assert torch.add(1, 2).tolist() == 3 and torch.mul(2, 1.5).item() == 3 and torch.sub(1, 2, out=torch.empty(0)).item() == -1
    assert x.copy_(2).sum() == 12


@pytest.mark.parametrize("call", [
    lambda: torch.ones(2).sort("a"), lambda: torch.ones(2).any("a"), lambda: torch.ones(2).squeeze("a"),
    lambda: torch.ones("a"), lambda: torch.add(1, "a", 3, 4),
    lambda: torch.ones(2).std("a"), lambda: torch.ones(2).copy_("a"), lambda: torch.add("a", 1), lambda: torch.rand_like(3),
    lambda: torch.zeros(2, out=3), lambda: torch.add(1, 2, out=3), lambda: torch.any(torch.ones(1), [0], out=3),
    lambda: torch.ones(2).sort(stable=True, dim="a"), lambda: torch.full_like(torch.ones(1), wrong=3),
    lambda: torch.ones(2).all(0, 1, 2, 3),
    lambda: torch.ones(2).var(correction="a"), lambda: torch.ones(1).squeeze(["a"]), lambda: torch.any(torch.ones(1), ["a"])])
def test_wrong_calls_are_wrong_still(call):
    with pytest.raises(TypeError):
        call()


def test_numbers_first(x):
    assert torch.equal(torch.add(3, x, alpha=2), 3 + 2 * x) and torch.equal(torch.sub(3, x), 3 - x)
    assert torch.equal(torch.mul(2, x), 2 * x) and torch.equal(torch.div(6, x + 1), 6 / (x + 1))
    assert torch.div(7, x + 2, rounding_mode="floor").tolist() == [[3, 2, 1], [1, 1, 1]]
    assert torch.mul(2, torch.tensor(1, dtype=torch.int32)).dtype == torch.int32 and torch.floor_divide(7, x + 2)[0, 0] == 3
    out = torch.empty(0)
    assert torch.add(1.5, x, out=out) is out and out[0, 0] == 1.5
    with pytest.raises(TypeError):
        torch.add(1, "a")


def test_names_of_numpy(x):
    assert torch.equal(torch.std(x, axis=0, keepdims=True), x.std(0, keepdim=True))
    assert torch.var(x, keepdims=True).shape == (1, 1)
    assert torch.equal(torch.var_mean(x, axis=1)[1], x.mean(1)) and torch.std_mean(x, dim=0, keepdims=True)[0].shape == (1, 3)


def test_conversions_with_a_format():
    pictures = torch.rand(2, 3, 4, 5)
    assert pictures.double(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
    assert pictures.half(memory_format=torch.preserve_format).dtype == torch.float16 and pictures.float() is pictures
    with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
        pictures.float(1)


def test_none_where_it_says_nothing(x):
    assert torch.any(x, dim=None) and not x.all(dim=None) and x.sum(dim=None, keepdim=True).shape == (1, 1)
    assert torch.rand_like(x, generator=None).shape == torch.randn_like(x, generator=None).shape == (2, 3)
    assert torch.zeros(2, requires_grad=None).requires_grad is False
    for call in (lambda: torch.as_strided(x, (2,), None), lambda: torch.conv1d(x, None),
                 lambda: torch.nn.functional.linear(x, None), lambda: torch.nn.functional.avg_pool2d(x, None)):
        with pytest.raises(TypeError, match="not NoneType"):
            call()


def test_places_of_values(x):
    mask, values = torch.tensor([True, False]), torch.arange(3.0)
    assert torch.index_put(x, (mask,), values, accumulate=True).tolist() == [[0, 2, 4], [3, 4, 5]]
    assert x.index_put((None, torch.tensor([2, 2])), torch.ones(2, 2), accumulate=True).tolist() == [[0, 1, 4], [3, 4, 7]]
    assert x.t().contiguous().t().index_put_((torch.tensor([1]), torch.tensor([-1])), torch.tensor([9.0]))[1, 2] == 9
    with pytest.raises(TypeError, match="argument 'values' .* must be Tensor, not int"):
        x.index_put((mask,), 3)
    assert torch.take_along_dim(x, torch.tensor([[-1], [0]]), 1).tolist() == [[2], [3]]
    assert x.where(x > 2, -1).tolist() == [[-1, -1, -1], [3, 4, 5]]


def test_more_second_names(x):
    square = torch.diag(torch.tensor([1.0, 0.1]))
    assert torch.equal(torch.linalg.pinv(square, 0.5), torch.linalg.pinv(square, rtol=0.5))
    assert torch.allclose(torch.linalg.pinv(input=square, atol=torch.tensor(0.01)), square.inverse())
    assert torch.linalg.matrix_rank(square, rtol=torch.tensor(0.5)) == 1
    assert torch.equal(torch.linalg.cross(input=x, other=x + 1), torch.linalg.cross(x, x + 1))
    assert torch.hsplit(x, sections=3)[1].shape == (2, 1) and torch.hsplit(x, indices=[1])[1].shape == (2, 2)
    assert torch.searchsorted(sorted_sequence=x[0], input=x[1]).tolist() == [3, 3, 3]
    assert torch.normal(0.0, 1.0, (2, 2), layout=torch.strided, dtype=torch.float64).dtype == torch.float64
    assert torch.ones(1, 2, 1).squeeze(0, 2).shape == (2,) and torch.bernoulli(torch.ones(3), out=torch.empty(0)).sum() == 3
    assert torch.zeros(2).resize_(3, memory_format=torch.contiguous_format).shape == (3,)
    loss = torch.nn.functional.gaussian_nll_loss(torch.ones(4, 3), torch.zeros(4, 3), torch.ones(1, 3))
    assert loss.item() == 0.5
    with pytest.raises(TypeError, match="hsplit"):
        torch.hsplit(x, 3, sections=3)


def test_numbers_before_the_tensors_they_scale():
    """What PyTorch 2.15 still takes of old programs: `add_(1 - beta, grad)` and products with beta and alpha in front."""
    v, a, b = torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)
    m, x, batch = torch.ones(2, 2), torch.eye(2), torch.ones(1, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert v.clone().add_(0.5, a).tolist() == torch.add(v, 0.5, a).tolist() == v.add(0.5, a).tolist() == [0.5, 0.5]
        assert torch.sub(v, 2, a).tolist() == v.clone().sub_(2, a).tolist() == [-2.0, -2.0]
        assert torch.addcmul(v, 0.5, a, b).tolist() == v.clone().addcmul_(0.5, a, b).tolist() == [1.0, 1.0]
        assert torch.addcdiv(v, 0.5, a, b).tolist() == v.clone().addcdiv_(0.5, a, b).tolist() == [0.25, 0.25]
        expected = (0.5 * m + 2 * x).tolist()
        assert torch.addmm(0.5, m, 2, x, x).tolist() == m.addmm(0.5, 2, x, x).tolist() == expected
        assert m.clone().addmm_(0.5, 2, x, x).tolist() == expected
        assert torch.addmm(0.5, m, x, x).tolist() == m.addmm(0.5, x, x).tolist() == (0.5 * m + x).tolist()
        assert torch.addmv(0.5, a, 2, x, b).tolist() == a.clone().addmv_(0.5, 2, x, b).tolist() == [4.5, 4.5]
        assert torch.addr(0.5, m, 2, a, b).tolist() == m.clone().addr_(0.5, 2, a, b).tolist() == [[4.5, 4.5], [4.5, 4.5]]
        expected = [[4.5, 4.5], [4.5, 4.5]]
        assert torch.baddbmm(0.5, batch, 2, batch, batch).tolist() == batch.clone().baddbmm_(0.5, 2, batch, batch).tolist()
        assert torch.addbmm(0.5, m, 2, batch, batch).tolist() == m.clone().addbmm_(0.5, 2, batch, batch).tolist() == expected
    for wrong in (lambda: v.add(a, 2), lambda: torch.add(v, a, 2), lambda: torch.addcmul(v, a, b, 2), lambda: v.add(1, 2, a),
                  lambda: torch.addmm(m, x, x, 2), lambda: torch.addmm(1, 2, m, x)):
        with pytest.raises(TypeError):
            wrong()
    text = "import taeda as torch\ntorch.zeros(1).add_(2, torch.ones(1))\ntorch.zeros(1).add_(2, torch.ones(1))"
    done = subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr.count("This overload of add_ is deprecated") == 1
