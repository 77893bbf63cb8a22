"""Writes tests/nn/golden_sequences.inc: layers over sequences and vocabularies, from PyTorch 1.13.

Run: python3 -P tests/golden/nn_sequences.py > tests/nn/golden_sequences.inc
"""
import textwrap

import torch
import torch.nn as nn
from torch.nn.utils import rnn


def packed(make):
    torch.manual_seed(5)
    layer = make()
    x, h = torch.randn(5, 3, 3), torch.randn(4, 3, 4)
    sequence = rnn.pack_padded_sequence(x, torch.tensor([2, 5, 4]), enforce_sorted=False)
    hx = (h, h + 1) if isinstance(layer, nn.LSTM) else h
    output, state = layer(sequence, hx)
    padded, _ = rnn.pad_packed_sequence(output, padding_value=7)
    padded.sum().backward()
    parts = [padded, *(state if isinstance(state, tuple) else [state]), layer.weight_hh_l0_reverse.grad]
    return [v for p in parts for v in p.flatten().tolist()]


def projected(**options):
    torch.manual_seed(5)
    layer = nn.LSTM(3, 5, 2, proj_size=2, bidirectional=True, **options)
    x, h, c = torch.randn(4, 3, 3), torch.randn(4, 3, 2), torch.randn(4, 3, 5)
    output, state = layer(x, (h, c))
    sequence = rnn.pack_padded_sequence(x, torch.tensor([2, 4, 3]), enforce_sorted=False)
    packed_output, packed_state = layer(sequence, (h, c))
    padded, _ = rnn.pad_packed_sequence(packed_output)
    (output.square().sum() + padded.sum()).backward()
    parts = [output, *state, padded, *packed_state, layer.weight_hr_l0.grad, layer.weight_hh_l1_reverse.grad]
    return [v for p in parts for v in p.flatten().tolist()]


def transformer(**options):
    torch.manual_seed(3)
    model = nn.Transformer(8, 2, 2, 2, 12, dropout=0.0, **options)
    src, tgt = torch.randn(4, 2, 8), torch.randn(3, 2, 8)
    padding = torch.tensor([[False, False, False, True], [False, False, False, False]])
    ahead = nn.Transformer.generate_square_subsequent_mask(3)
    return model(src, tgt, tgt_mask=ahead, src_key_padding_mask=padding,
                 memory_key_padding_mask=padding).flatten().tolist()


def encoder():
    torch.manual_seed(4)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True), 2)
    x, mask = torch.randn(2, 3, 4), torch.tensor([[False, True, False]] * 3)
    return model(x, mask).flatten().tolist()


def attention(**options):
    torch.manual_seed(6)
    layer = nn.MultiheadAttention(4, 2, **options)
    query, key = torch.randn(3, 2, 4), torch.randn(5, 2, options.get("kdim", 4))
    value = torch.randn(5, 2, options.get("vdim", 4))
    padding = torch.tensor([[False] * 5, [True] + [False] * 4])
    output, weights = layer(query, key, value, key_padding_mask=padding)
    return torch.cat([output.flatten(), weights.flatten()]).tolist()


def adaptive():
    torch.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0, head_bias=True)
    x = torch.randn(4, 8)
    output, loss = layer(x, torch.tensor([0, 3, 9, 1]))
    return torch.cat([output, loss.view(1), layer.log_prob(x).flatten(), layer.predict(x)]).tolist()


def bag(mode, padding=None, matrix=False, weights=False, last=False, **options):
    torch.manual_seed(0)
    layer = nn.EmbeddingBag(5, 2, mode=mode, padding_idx=padding, include_last_offset=last, **options)
    words = torch.tensor([1, 4, 2, 2, 3, 4])
    offsets = None if matrix else torch.tensor([0, 2, 2, 5] + ([6] if last else []))
    factors = torch.randn(6) if weights else None
    output = layer(words.view(2, 3) if matrix else words, offsets, factors)
    output.square().sum().backward()
    return torch.cat([output.flatten(), layer.weight.grad.flatten()]).tolist()


VALUES = {
    "attention_bias_kv": lambda: attention(add_bias_kv=True, add_zero_attn=True),
    "attention_sizes": lambda: attention(kdim=3, vdim=2, bias=False),
    "adaptive": adaptive,
    "bag_sum": lambda: bag("sum", weights=True),
    "bag_mean": lambda: bag("mean", padding=4, last=True),
    "bag_max": lambda: bag("max", padding=2),
    "bag_matrix": lambda: bag("mean", matrix=True, padding=2),
    "bag_max_norm": lambda: bag("sum", max_norm=0.5, norm_type=1.0),
    "packed_rnn": lambda: packed(lambda: nn.RNN(3, 4, 2, bidirectional=True, nonlinearity="relu")),
    "projected_lstm": projected,
    "projected_lstm_without_bias": lambda: projected(bias=False),
    "packed_lstm": lambda: packed(lambda: nn.LSTM(3, 4, 2, bidirectional=True)),
    "packed_gru": lambda: packed(lambda: nn.GRU(3, 4, 2, bidirectional=True, bias=False)),
    "transformer": transformer,
    "transformer_norm_first": lambda: transformer(norm_first=True, activation="gelu"),
    "encoder": encoder,
}

print("// Written by tests/golden/nn_sequences.py from PyTorch", torch.__version__.split("a")[0] + ".")
lines = repr(nn.Transformer(4, 2, 1, 1, 6)).replace("NonDynamicallyQuantizableLinear", "Linear").split("\n")
print("inline const char* const golden_transformer_print =")
print("\n".join('"' + l + ("\\n" if i + 1 < len(lines) else "") + '"' for i, l in enumerate(lines)) + ";")
print("inline const std::map<std::string, std::vector<double>> golden_sequences = {")
for name, make in VALUES.items():
    numbers = ", ".join(f"{float(v):.7g}" for v in make())
    print(f'    {{"{name}",')
    print(textwrap.fill("{" + numbers + "}},", 98, initial_indent=" " * 5, subsequent_indent=" " * 6))
print("};")
