"""Modules call what a program puts into torch.nn.functional, as PyTorch's do."""

import pytest

import taeda as torch

F, nn = torch.nn.functional, torch.nn
X1, X2, X3 = torch.rand(2, 3, 8), torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8, 8, 8)
# A module, what it is called with, and the function of nn.functional that it consists of.
CASES = [(getattr(nn, module)(*args), (X1,), function) for module, args, function in (
    ("ReLU", (), "relu"), ("SiLU", (), "silu"), ("Mish", (), "mish"), ("SELU", (), "selu"), ("Hardswish", (), "hardswish"),
    ("Hardsigmoid", (), "hardsigmoid"), ("Hardtanh", (), "hardtanh"), ("ReLU6", (), "hardtanh"), ("ELU", (), "elu"),
    ("CELU", (), "celu"), ("LeakyReLU", (), "leaky_relu"), ("RReLU", (), "rrelu"), ("Threshold", (0.5, 0.1), "threshold"),
    ("Softplus", (), "softplus"), ("Hardshrink", (), "hardshrink"), ("Softshrink", (), "softshrink"), ("GELU", (), "gelu"),
    ("LogSigmoid", (), "logsigmoid"), ("Softsign", (), "softsign"), ("Tanhshrink", (), "tanhshrink"), ("GLU", (), "glu"),
    ("Softmax", (-1,), "softmax"), ("Softmin", (-1,), "softmin"), ("LogSoftmax", (-1,), "log_softmax"),
    ("Linear", (8, 4), "linear"), ("Dropout", (), "dropout"), ("AlphaDropout", (), "alpha_dropout"),
    ("LayerNorm", (8,), "layer_norm"), ("RMSNorm", (8,), "rms_norm"), ("GroupNorm", (3, 3), "group_norm"),
    ("BatchNorm1d", (3,), "batch_norm"), ("InstanceNorm1d", (3,), "instance_norm"), ("Conv1d", (3, 4, 2), "conv1d"),
    ("ConvTranspose1d", (3, 4, 2), "conv_transpose1d"), ("MaxPool1d", (2,), "max_pool1d"), ("AvgPool1d", (2,), "avg_pool1d"),
    ("LPPool1d", (2, 2), "lp_pool1d"), ("AdaptiveAvgPool1d", (2,), "adaptive_avg_pool1d"),
    ("AdaptiveMaxPool1d", (2,), "adaptive_max_pool1d"), ("ReflectionPad1d", (1,), "pad"))]
CASES += [(nn.PReLU(), (X1,), "prelu"), (nn.Bilinear(8, 8, 2), (X1, X1), "bilinear"),
          (nn.Embedding(4, 3), (torch.tensor([1, 2]),), "embedding"), (nn.CosineSimilarity(), (X1, X1), "cosine_similarity"),
          (nn.MSELoss(), (X1, X1), "mse_loss"), (nn.CrossEntropyLoss(), (X1[:, :, 0], torch.tensor([0, 1])), "cross_entropy"),
          (nn.NLLLoss(), (X1[:, :, 0], torch.tensor([0, 1])), "nll_loss"), (nn.HuberLoss(), (X1, X1), "huber_loss"),
          (nn.CTCLoss(), (torch.rand(5, 2, 3), torch.ones(2, 1, dtype=torch.int64), (5, 5), (1, 1)), "ctc_loss")]
for _dims, _x in ((2, X2), (3, X3)):
    CASES += [(getattr(nn, f"{module}{_dims}d")(*args), (_x,), f"{function}{_dims}d") for module, args, function in (
        ("Conv", (3, 4, 2), "conv"), ("ConvTranspose", (3, 4, 2), "conv_transpose"), ("MaxPool", (2,), "max_pool"),
        ("AvgPool", (2,), "avg_pool"), ("LPPool", (2, 2), "lp_pool"), ("AdaptiveAvgPool", (2,), "adaptive_avg_pool"),
        ("AdaptiveMaxPool", (2,), "adaptive_max_pool"), ("FractionalMaxPool", (2, 3), "fractional_max_pool"))]


def replace(monkeypatch, name, calls):
    """Puts a function into nn.functional that notes its calls and does what the one before did."""
    before = getattr(F, name)

    def counted(*args, **kwargs):
        calls.append(name)
        return before(*args, **kwargs)
    monkeypatch.setattr(F, name, counted)


@pytest.mark.parametrize("module, args, name", CASES, ids=[f"{type(m).__name__}" for m, _, _ in CASES])
def test_a_module_calls_it(monkeypatch, module, args, name):
    def called():
        torch.manual_seed(1)
        return module(*args)
    expected, calls = called(), []
    replace(monkeypatch, name, calls)
    made = called()
    assert calls == [name] and torch.equal(made, expected)
    monkeypatch.setattr(F, name, lambda *args, **kwargs: "replaced")
    assert called() == "replaced"


def test_in_place_and_with_indices(monkeypatch):
    monkeypatch.setattr(F, "relu", lambda input, inplace=False: ("relu", inplace))
    assert nn.ReLU(inplace=True)(X1) == ("relu", True)
    monkeypatch.setattr(F, "max_pool2d", lambda input, *args, ceil_mode, return_indices: return_indices)
    assert nn.MaxPool2d(2, return_indices=True)(X2) is True
    monkeypatch.setattr(F, "dropout", lambda input, p, training, inplace: (p, training, inplace))
    assert nn.Dropout(0.25, inplace=True).eval()(X1) == (0.25, False, True)


@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 3, "vdim": 5},
                                     {"bias": False}, {"batch_first": True}])
@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_is_made_of_them(monkeypatch, options, need_weights):
    """All that it takes, with the same results as the operation's."""
    attention = nn.MultiheadAttention(6, 2, dropout=0.5, **options).eval()
    query = torch.rand(4, 3, 6)
    key, value = torch.rand(4, 3, options.get("kdim", 6)), torch.rand(4, 3, options.get("vdim", 6))
    (length, batch) = (3, 4) if options.get("batch_first") else (4, 3)
    padding = torch.arange(length).eq(length - 1).expand(batch, length)
    masks = [{}, {"attn_mask": torch.rand(length, length)}, {"key_padding_mask": padding},
             {"attn_mask": torch.ones(length, length, dtype=torch.bool).triu(1), "key_padding_mask": padding},
             {"attn_mask": torch.rand(batch * 2, length, length)}]
    expected = [attention(query, key, value, need_weights=need_weights, **each) for each in masks]
    calls = []
    for name in ("linear", "scaled_dot_product_attention", "softmax"):
        replace(monkeypatch, name, calls)
    for each, (output, weights) in zip(masks, expected):
        calls.clear()
        made, shown = attention(query, key, value, need_weights=need_weights, **each)
        assert torch.allclose(made, output, atol=1e-6) and (shown is None) == (weights is None)
        assert weights is None or torch.allclose(shown, weights, atol=1e-6)
        assert calls == ["linear"] * 3 + ["softmax" if need_weights else "scaled_dot_product_attention", "linear"]


def test_a_layer_of_a_transformer_calls_them(monkeypatch):
    layer, x, calls = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True).eval(), torch.rand(2, 3, 6), []
    expected = layer(x)
    for name in ("linear", "layer_norm"):
        replace(monkeypatch, name, calls)
    assert torch.allclose(layer(x), expected, atol=1e-6) and calls.count("linear") == 6 and calls.count("layer_norm") == 2
