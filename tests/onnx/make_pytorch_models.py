#!/usr/bin/env python3
"""Makes tests/onnx/data: small models as PyTorch exports them, with an input and what PyTorch computes for it.

make_pytorch_models.py FOLDER, with PyTorch 2.15, onnx, onnxscript and numpy. NAME.onnx lies beside NAME.in.npy and NAME.out.npy; the
batch of the latter is not that of the export.
"""

import pathlib
import sys

import numpy
import onnx
import torch
from torch import nn


class Convolutions(nn.Module):
    """What vision models are made of."""

    def __init__(self):
        super().__init__()
        # A batch norm behind a convolution becomes a part of it when it is exported.
        self.features = nn.Sequential(nn.BatchNorm2d(1), nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4),
                                      nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, groups=2), nn.SiLU())
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (p.reshape(n, t, 2, c // 2).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(n, t, c))


class Recurrent(nn.Module):
    """An embedding, an LSTM of two directions, and a layer."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.rnn = nn.LSTM(4, 3, bidirectional=True, batch_first=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.rnn(self.table(x))[0]).log_softmax(-1)


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.5), nn.Linear(8, 2), nn.Softmax(1))


def without_traces(model):
    """The model without the stack traces and paths that PyTorch notes beside each operator."""
    graph = model.graph
    for part in [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        if hasattr(part, "metadata_props"):
            part.ClearField("metadata_props")
    graph.ClearField("value_info")
    return model


def save(folder, name, model, example, other, **options):
    model.eval()
    path = folder / f"{name}.onnx"
    with torch.no_grad():
        torch.onnx.export(model, (example,), str(path), dynamo=True, external_data=False, verbose=False,
                          dynamic_shapes=({0: torch.export.Dim("batch")},))
        onnx.save_model(without_traces(onnx.load(path)), path, **options)
        numpy.save(folder / f"{name}.in.npy", other.numpy())
        numpy.save(folder / f"{name}.out.npy", model(other).numpy())


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    models = {
        "convolutions": (Convolutions(), torch.randn(2, 1, 8, 8), torch.randn(3, 1, 8, 8)),
        "perceptron": (perceptron(), torch.randn(2, 2, 3), torch.randn(4, 2, 3)),
        "attention": (Attention(), torch.randn(2, 5, 8), torch.randn(3, 5, 8)),
        "recurrent": (Recurrent(), torch.randint(7, (2, 5)), torch.randint(7, (3, 5))),
    }
    with torch.no_grad():  # statistics that do something
        for _ in range(3):
            models["convolutions"][0](torch.randn(8, 1, 8, 8) * 2 + 1)
    for name, (model, example, other) in models.items():
        save(folder, name, model, example, other)
    # The weights in a file beside the model's.
    model, example, other = models["perceptron"]
    save(folder, "beside", model, example, other, save_as_external_data=True, location="beside.data", size_threshold=0)


if __name__ == "__main__":
    main()
