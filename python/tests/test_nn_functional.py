"""nn.functional where it is more than what modules call."""

import pytest

import taeda as torch
from taeda.nn import functional as F


def test_inplace_activations_return_their_input():
    for name in ("relu", "relu6", "hardtanh", "elu", "selu", "celu", "leaky_relu", "rrelu", "hardsigmoid", "silu", "mish",
                 "hardswish"):
        function = getattr(F, name)
        x = torch.linspace(-4, 4, 9)
        expected = function(x)
        assert function(x, inplace=True) is x and torch.equal(x, expected), name
    x = torch.linspace(-1, 1, 5)
    assert F.threshold(x, 0.0, 9.0, inplace=True).tolist() == [9, 9, 9, 0.5, 1]


def test_arguments_by_name():
    x = torch.randn(2, 3, 8, 8)
    assert F.conv2d(input=x, weight=torch.randn(4, 3, 3, 3), stride=2, padding="valid").shape == (2, 4, 3, 3)
    assert F.max_pool2d(x, kernel_size=2, stride=None, return_indices=True)[1].dtype == torch.int64
    assert F.batch_norm(x, None, None, training=True).mean().item() == pytest.approx(0, abs=1e-6)
    assert F.layer_norm(x, (8, 8), eps=1e-3).shape == x.shape and F.group_norm(x, num_groups=3).shape == x.shape
    assert F.embedding(torch.tensor([1]), weight=torch.ones(3, 2), padding_idx=-1).tolist() == [[1, 1]]
    assert F.interpolate(x, size=4, mode="area").shape == (2, 3, 4, 4)
    assert F.cross_entropy(input=torch.randn(2, 3), target=torch.tensor([0, 1]), reduction="sum").dim() == 0
    assert F.normalize(torch.tensor([[3.0, 4.0]]), dim=1).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    assert torch.allclose(F.normalize(x, p=2.0, dim=(2, 3)).pow(2).sum((2, 3)), torch.ones(2, 3), atol=1e-5)
    assert F.adaptive_avg_pool2d(x, (None, 2)).shape == (2, 3, 8, 2) and F.adaptive_max_pool1d(x[0], 2).shape == (3, 8, 2)
    assert F.affine_grid(torch.eye(2, 3).unsqueeze(0), [1, 1, 2, 2], align_corners=False).shape == (1, 2, 2, 2)
    assert F.one_hot(torch.tensor([2]), num_classes=4).tolist() == [[0, 0, 1, 0]]


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_sampling_at_its_own_places(mode, padding_mode):
    torch.manual_seed(0)
    x = torch.randn(1, 2, 4, 5)
    grid = F.affine_grid(torch.eye(2, 3).unsqueeze(0), x.shape, align_corners=True)
    assert torch.allclose(F.grid_sample(x, grid, mode, padding_mode, align_corners=True), x, atol=1e-5)


def test_warnings_of_pytorch():
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[2, 1\]\)\) that is different to the input size"):
        F.mse_loss(torch.ones(2), torch.ones(2, 1))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        F.softmax(torch.ones(2, 2))
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        F.l1_loss(torch.ones(2), torch.ones(2), size_average=False)
    with pytest.warns(UserWarning, match="reduction: 'mean' divides the total loss by both the batch size"):
        F.kl_div(torch.zeros(2, 2), torch.ones(2, 2))


def test_weighted_losses():
    x, y, w = torch.tensor([1.0, 3.0]), torch.zeros(2), torch.tensor([1.0, 3.0])
    assert F.mse_loss(x, y, weight=w).item() == pytest.approx(28 / 4)
    assert F.l1_loss(x, y, weight=w, reduction="sum").item() == 10


def test_gumbel_softmax():
    torch.manual_seed(0)
    logits = torch.randn(6, 4, requires_grad=True)
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    assert torch.equal(hard.detach().sum(1), torch.ones(6)) and set(hard.detach().flatten().tolist()) <= {0.0, 1.0}
    hard[:, 0].sum().backward()
    assert logits.grad.abs().sum() > 0


def test_attention_with_masks():
    torch.manual_seed(0)
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(2, 4, 8)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(4)
    out, weights = attention(x, x, x, attn_mask=causal, average_attn_weights=False)
    assert weights.shape == (2, 2, 4, 4) and bool((weights.triu(1) == 0).all())
    with torch.no_grad():
        short = attention(x[:, :2], x[:, :2], x[:, :2], attn_mask=causal[:2, :2], need_weights=False)
    assert short[1] is None and torch.allclose(short[0], out[:, :2], atol=1e-5)
    padded = torch.tensor([[False, False, True, True]] * 2)
    hidden, weights = attention(x, x, x, key_padding_mask=padded)
    assert bool((weights[:, :, 2:] == 0).all())
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        attention(x, x, x, is_causal=True)


def test_everything_of_pytorchs_functional_is_there():
    names = """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
        adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices affine_grid
        alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits
        celu celu_ channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
        cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu elu_ embedding
        embedding_bag feature_alpha_dropout fold fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
        fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax hardshrink
        hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss
        layer_norm leaky_relu leaky_relu_ linear local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d
        margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
        max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish mse_loss multi_head_attention_forward
        multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss native_channel_shuffle nll_loss normalize one_hot
        pad pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_
        scaled_dot_product_attention selu selu_ sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink
        softsign tanh tanhshrink threshold threshold_ triplet_margin_loss triplet_margin_with_distance_loss unfold upsample
        upsample_bilinear upsample_nearest""".split()
    assert [name for name in names if not callable(getattr(F, name, None))] == []


def test_bounds_and_memory_formats_by_name():
    x = torch.tensor([-1.0, 0.5, 2.0])
    assert x.clamp(max=1).tolist() == [-1, 0.5, 1] and torch.clamp(x, min=0).tolist() == [0, 0.5, 2]
    assert x.clamp(max=torch.zeros(3)).tolist() == [-1, 0, 0] and x.clone().clamp_(max=0).tolist() == [-1, 0, 0]
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        x.clamp()
    image = torch.ones(1, 2, 3, 3).clone(memory_format=torch.channels_last)
    assert image.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dims", (1, 2, 3))
@pytest.mark.parametrize("transposed", (False, True))
def test_convolutions_of_complex_numbers(dims, transposed):
    """By their definition: linear in the parts of both, so that (a + bi)(c + di) = (ac - bd) + (ad + bc)i."""
    convolve = getattr(F, f"conv{'_transpose' if transposed else ''}{dims}d")
    x, w, b = (torch.randn(*sizes, dtype=torch.complex128) for sizes in (
        (2, 4, *[4] * dims), (4, 2, *[2] * dims), (4,)))
    options = {"stride": 2, "padding": 1, "groups": 2}
    real = convolve(x.real, w.real, **options) - convolve(x.imag, w.imag, **options)
    imag = convolve(x.real, w.imag, **options) + convolve(x.imag, w.real, **options)
    bias = b.reshape(-1, *[1] * dims)
    assert torch.allclose(convolve(x, w, b, **options), torch.complex(real, imag) + bias)
    assert torch.allclose(convolve(x[0], w, **options), torch.complex(real, imag)[0])
    with pytest.raises(RuntimeError, match="should be the same"):
        convolve(x, w.real)


def test_derivatives_of_complex_convolutions():
    x, w = (torch.randn(*sizes, dtype=torch.complex128, requires_grad=True) for sizes in ((1, 2, 4), (2, 2, 2)))
    b = torch.randn(2, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(F.conv1d, (x, w, b)) and torch.autograd.gradgradcheck(F.conv1d, (x, w, b))
    layer = torch.nn.Conv2d(2, 3, 3, dtype=torch.complex64)
    assert layer(torch.ones(1, 2, 5, 5, dtype=torch.complex64)).dtype == torch.complex64


def test_padding_that_cuts():
    x = torch.arange(1.0, 5).reshape(1, 4)
    assert F.pad(x, (-1, 2), mode="reflect").tolist() == [[2, 3, 4, 3, 2]]
    assert F.pad(x, (2, -1), mode="replicate").tolist() == [[1, 1, 1, 2, 3]]
    assert F.pad(x, (1, -1), mode="circular").tolist() == [[3, 1, 2, 3]]
    with pytest.raises(NotImplementedError, match="Padding size 2 is not supported for 1D input tensor"):
        F.pad(x[0], (1, 1), mode="reflect")
