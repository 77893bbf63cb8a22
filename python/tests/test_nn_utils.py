"""nn.utils and nn.attention."""

import math

import pytest

import taeda as torch
from taeda import nn

rnn = nn.utils.rnn


def _with_gradients(*sizes):
    params = [nn.Parameter(torch.zeros(n)) for n in sizes]
    for i, p in enumerate(params):
        p.grad = torch.arange(1.0, p.numel() + 1) * (i + 1)
    return params


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, math.inf])
def test_clip_grad_norm(norm_type):
    params = _with_gradients(3, 2) + [nn.Parameter(torch.zeros(2))]
    flat = torch.cat([p.grad for p in params[:2]])
    expected = flat.norm(norm_type).item()
    before = nn.utils.get_total_norm([p.grad for p in params[:2]], norm_type)
    total = nn.utils.clip_grad_norm_(params, 0.5, norm_type)
    assert isinstance(total, torch.Tensor) and total.dim() == 0
    assert total.item() == pytest.approx(expected, rel=1e-6) and before.item() == pytest.approx(expected, rel=1e-6)
    clipped = torch.cat([p.grad for p in params[:2]])
    assert clipped.norm(norm_type).item() == pytest.approx(0.5, rel=1e-5)
    assert nn.utils.clip_grad_norm_(params, 10.0, norm_type).item() == pytest.approx(0.5, rel=1e-5)
    assert torch.equal(torch.cat([p.grad for p in params[:2]]), clipped)


def test_clipping_of_other_kinds():
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
    single = nn.Parameter(torch.ones(4, dtype=torch.float64))
    single.grad = torch.full((4,), 2.0, dtype=torch.float64)
    assert nn.utils.clip_grad_norm_(single, 1.0).item() == 4
    assert single.grad.norm().item() == pytest.approx(1, rel=1e-5)
    params = _with_gradients(3)
    nn.utils.clip_grad_value_(params, 1.5)
    assert params[0].grad.tolist() == [1, 1.5, 1.5]
    params[0].grad[0] = math.nan
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients from `parameters` is non-finite"):
        nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def test_norms_of_other_orders_and_kinds():
    grads = [torch.tensor([3.0, -4.0]), torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64)]
    norm = nn.utils.get_total_norm
    assert norm(grads, -math.inf).item() == 1 and norm(grads, 0).item() == 2
    assert norm(grads).item() == pytest.approx(math.sqrt(34)) and norm(grads).dtype == torch.float64
    assert norm(grads[:1]).dtype == torch.float32 and norm([]).dtype == torch.float32
    assert norm([torch.tensor([3 + 4j, 0])], 1).item() == 5
    large = torch.full((4,), 6e4, dtype=torch.float16)
    p = nn.Parameter(torch.zeros(4, dtype=torch.float16))
    p.grad = large.clone()
    nn.utils.clip_grad_norm_(p, 1.0)  # its norm is no number of float16
    assert p.grad.tolist() == pytest.approx([0.5] * 4)
    with pytest.raises(RuntimeError, match="order inf for gradients"):
        norm([torch.tensor([math.nan])], math.inf, error_if_nonfinite=True)


@pytest.mark.skipif(not torch.sim.is_available(), reason="no simulated device")
def test_clipping_on_a_device():
    params = [nn.Parameter(torch.zeros(2, device="sim")), nn.Parameter(torch.zeros(1, dtype=torch.float64, device="sim"))]
    for p in params:
        p.grad = torch.full_like(p, 4.0)
    total = nn.utils.clip_grad_norm_(params, 1.0)
    assert total.device.type == "sim" and total.item() == pytest.approx(math.sqrt(48))
    assert params[0].grad.tolist() == pytest.approx([4 / math.sqrt(48)] * 2)
    nn.utils.clip_grads_with_norm_(params, 0.5, torch.tensor(1.0, device="sim"))
    assert params[1].grad.tolist() == pytest.approx([2 / math.sqrt(48)], rel=1e-5)
    nn.utils.clip_grad_value_(params, 0.1)
    assert params[0].grad.tolist() == pytest.approx([0.1] * 2)


def test_parameters_as_a_vector():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == (13,)
    nn.utils.vector_to_parameters(torch.arange(13.0), net.parameters())
    assert net[0].weight.tolist() == [[0, 1], [2, 3], [4, 5]] and net[1].bias.tolist() == [12]
    assert isinstance(net[0].weight, nn.Parameter)


def test_packing_goes_there_and_back():
    torch.manual_seed(0)
    rows = [torch.randn(n, 2) for n in (2, 4, 3)]
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1] and packed.sorted_indices.tolist() == [1, 2, 0]
    assert all(torch.equal(a, b) for a, b in zip(rnn.unpack_sequence(packed), rows))
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
    assert padded.shape == (3, 5, 2) and lengths.tolist() == [2, 4, 3] and bool((padded[0, 2:] == -1).all())
    again = rnn.pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    assert torch.equal(again.data, packed.data)
    left = rnn.pad_sequence(rows, padding_side="left")
    assert left.shape == (4, 3, 2) and torch.equal(left[-1, 0], rows[0][-1]) and bool((left[0, 0] == 0).all())
    assert packed.double().data.dtype == torch.float64 and packed.to("cpu") is packed and not packed.is_cuda
    data, sizes, *_ = packed
    assert data is packed.data and sizes is packed.batch_sizes


def test_weight_norm():
    torch.manual_seed(0)
    plain = nn.Linear(3, 4)
    x = torch.randn(2, 3)
    expected = plain(x)
    made = nn.utils.parametrizations.weight_norm(plain)
    assert list(made.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert torch.allclose(made(x), expected) and type(made).__name__ == "ParametrizedLinear"
    made.parametrizations.weight.original0.data.mul_(2)
    assert torch.allclose(made(x) - made.bias, 2 * (expected - made.bias), atol=1e-6)
    nn.utils.parametrize.remove_parametrizations(made, "weight")
    assert type(made) is nn.Linear and torch.allclose(made(x) - made.bias, 2 * (expected - made.bias), atol=1e-6)
    with pytest.warns(FutureWarning):
        hooked = nn.utils.weight_norm(nn.Linear(3, 4))
    assert list(hooked.state_dict()) == ["bias", "weight_g", "weight_v"]
    hooked(x).sum().backward()
    assert hooked.weight_g.grad is not None and hooked.weight_v.grad is not None
    assert list(nn.utils.remove_weight_norm(hooked).state_dict()) == ["bias", "weight"]
    new = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
    with pytest.warns(FutureWarning):
        old = nn.utils.weight_norm(nn.Linear(3, 4))
    new.load_state_dict(old.state_dict())
    assert torch.allclose(new(x), old(x))


def test_spectral_norm():
    torch.manual_seed(0)
    for layer in (nn.utils.parametrizations.spectral_norm(nn.Linear(5, 4), n_power_iterations=20),
                  nn.utils.spectral_norm(nn.Linear(5, 4), n_power_iterations=20)):
        layer(torch.randn(2, 5)).sum().backward()
        assert torch.linalg.svdvals(layer.weight.detach()).max().item() == pytest.approx(1, rel=1e-3)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    nn.utils.remove_spectral_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
def test_orthogonal(shape, how):
    torch.manual_seed(0)
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(shape[1], shape[0]), orthogonal_map=how)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.randn(2, shape[1])).square().sum().backward()
        optimizer.step()
    q = layer.weight if shape[0] >= shape[1] else layer.weight.T
    assert torch.allclose(q.T @ q, torch.eye(min(shape)), atol=1e-5)


def test_transposes_are_attributes():
    x = torch.ones(2, 3, 4)
    assert x.mT.shape == (2, 4, 3) and x.mH.shape == (2, 4, 3)


def test_parametrizations_of_programs():
    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

        def right_inverse(self, value):
            return value.triu()
    layer = nn.Linear(3, 3)
    original = layer.weight
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.T) and nn.utils.parametrize.is_parametrized(layer, "weight")
    assert layer.parametrizations.weight.original is original
    layer.weight = torch.ones(3, 3)
    assert torch.equal(layer.weight, torch.ones(3, 3)) and torch.equal(original, torch.ones(3, 3).triu())
    with nn.utils.parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and list(layer.state_dict()) == ["bias", "weight"]


def test_fusion():
    torch.manual_seed(0)
    for layer, norm, x in ((nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), torch.randn(2, 2, 5, 5)),
                           (nn.ConvTranspose2d(2, 3, 3), nn.BatchNorm2d(3), torch.randn(2, 2, 5, 5)),
                           (nn.Linear(4, 3, bias=False), nn.BatchNorm1d(3), torch.randn(6, 4))):
        norm(layer(x))
        layer, norm = layer.eval(), norm.eval()
        fuse = nn.utils.fuse_linear_bn_eval if isinstance(layer, nn.Linear) else nn.utils.fuse_conv_bn_eval
        fused = fuse(layer, norm, *([True] if isinstance(layer, nn.ConvTranspose2d) else []))
        assert torch.allclose(fused(x), norm(layer(x)), atol=1e-5)


def test_calls_with_other_tensors():
    layer = nn.Linear(2, 1)
    made = nn.utils.stateless.functional_call(layer, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, torch.ones(1, 2))
    assert made.item() == 2 and not torch.equal(layer.weight, torch.ones(1, 2))
    with pytest.raises(RuntimeError, match="Missing key"):
        nn.utils.stateless.functional_call(layer, {"weight": torch.ones(1, 2)}, torch.ones(1, 2), strict=True)


def test_skip_init_and_memory_formats():
    assert nn.utils.skip_init(nn.Linear, 3, 2).weight.shape == (2, 3)
    net = nn.utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.Conv2d(2, 3, 3)), torch.channels_last)
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_attention_backends():
    q = torch.randn(1, 2, 3, 4)
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        made = nn.functional.scaled_dot_product_attention(q, q, q)
    assert torch.equal(made, nn.functional.scaled_dot_product_attention(q, q, q))
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"):
        with nn.attention.sdpa_kernel(3):
            pass


def test_adaptive_softmax_takes_no_targets_and_says_what_does_not_fit():
    layer = nn.AdaptiveLogSoftmaxWithLoss(4, 6, cutoffs=[2, 4])
    x = torch.randn(3, 4, requires_grad=True)
    layer(x, torch.tensor([0, 3, 5])).loss.backward()
    assert x.grad is not None and layer.tail[1][0].weight.grad is not None
    known = layer.log_prob(x).gather(1, torch.tensor([[0], [3], [5]]))
    assert torch.allclose(layer(x, torch.tensor([0, 3, 5])).output, known[:, 0])
    assert layer(x[0], torch.tensor(3)).output.shape == ()
    assert layer(x[:0], torch.tensor([], dtype=torch.long)).output.shape == (0,)
    for target, said in ((torch.tensor([1]), "should have the same size in the batch dimension"),
                         (torch.tensor(1), "0D target tensor expects 1D input tensors"),
                         (torch.tensor([0, 1, 6]), r"Target values should be in \[0, 5\], but values in range \[0, 6\]"),
                         (torch.ones(3, 1), "0D or 1D target tensor expected")):
        with pytest.raises(RuntimeError, match=said):
            layer(x, target)
