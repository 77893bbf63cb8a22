"""Fills refused.json: what PyTorch 2.15 says of wrong calls.

`calls`, by subject: programs with the class of the exception ("accepted": none) and its first words; one is added with null.
`constructors`: each parameter of each class of nn with each of WRONG, and what becomes of it: "" where the module is made and
called, else the class of the exception.
"""

import copy
import inspect
import io
import json
import pathlib
import sys
import warnings

import numpy
import torch
from torch import nn
from torch.nn.utils import prune

HERE = pathlib.Path(__file__).parent
WRONG = ["-1", "0", "'a'", "None", "2.5", "(1, 2, 3, 4)", "()"]
IMAGES = {n: f"torch.ones(2, 4, {', '.join('6' * n)})" for n in (1, 2, 3)}
PAIR, HALVES = "torch.ones(2, 4)", "torch.full((2, 4), 0.5), torch.full((2, 4), 0.5)"
# Arguments with which a class is made, and those with which the module is called.
MADE = {
    "Linear": ("4, 3", PAIR), "Bilinear": ("4, 4, 3", f"{PAIR}, {PAIR}"), "LazyLinear": ("3", PAIR),
    "FractionalMaxPool2d": ("2, 3", IMAGES[2]), "FractionalMaxPool3d": ("2, 3", IMAGES[3]),
    "Fold": ("(6, 6), 2", "torch.ones(1, 4, 25)"), "Unfold": ("2", IMAGES[2]), "Upsample": ("3", IMAGES[2]),
    "UpsamplingNearest2d": ("3", IMAGES[2]), "UpsamplingBilinear2d": ("3", IMAGES[2]), "PixelShuffle": ("2", IMAGES[2]),
    "PixelUnshuffle": ("2", IMAGES[2]), "ChannelShuffle": ("2", IMAGES[2]), "Flatten": ("", IMAGES[2]),
    "Unflatten": ("1, (2, 2)", IMAGES[2]), "GroupNorm": ("2, 4", IMAGES[2]), "LayerNorm": ("6", IMAGES[2]),
    "RMSNorm": ("6", IMAGES[2]), "LocalResponseNorm": ("2", IMAGES[2]), "Dropout": ("", IMAGES[2]),
    "AlphaDropout": ("", IMAGES[2]), "FeatureAlphaDropout": ("", IMAGES[2]), "Embedding": ("4, 3", "torch.tensor([1])"),
    "EmbeddingBag": ("4, 3", "torch.tensor([[1]])"), **{k: ("4, 3", PAIR) for k in (
        "RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")},
    "MultiheadAttention": ("4, 2", f"{PAIR}, {PAIR}, {PAIR}"), "TransformerEncoderLayer": ("4, 2, 8", PAIR),
    "TransformerDecoderLayer": ("4, 2, 8", f"{PAIR}, {PAIR}"), "Transformer": ("4, 2, 1, 1, 8", f"{PAIR}, {PAIR}"),
    "AdaptiveLogSoftmaxWithLoss": ("4, 8, [2, 4]", "torch.ones(2, 4), torch.tensor([1, 5])"),
    "PairwiseDistance": ("", f"{PAIR}, {PAIR}"), "CosineSimilarity": ("", f"{PAIR}, {PAIR}"), "Threshold": ("0.1, 20", PAIR),
    **{k: ("", HALVES) for k in (
        "L1Loss MSELoss SmoothL1Loss HuberLoss KLDivLoss BCELoss BCEWithLogitsLoss PoissonNLLLoss SoftMarginLoss "
        "HingeEmbeddingLoss MultiLabelSoftMarginLoss").split()},
    **{k: ("", PAIR) for k in (
        "ReLU RReLU Hardtanh ReLU6 ELU CELU SELU GLU GELU Hardshrink LeakyReLU Softplus Softshrink PReLU Softmin Softmax "
        "LogSoftmax").split()},
    **{k: ("", "torch.ones(2, 4), torch.tensor([0, 3])") for k in ("NLLLoss", "CrossEntropyLoss", "MultiMarginLoss")},
    **{k: ("", f"{PAIR}, {PAIR}, {PAIR}") for k in ("GaussianNLLLoss", "TripletMarginLoss")},
    "CTCLoss": ("", "torch.ones(3, 1, 2).log_softmax(2), torch.tensor([[1]]), (3,), (1,)"),
}
SHAPED = {
    "Conv": "4, 2, 3", "ConvTranspose": "4, 2, 3", "LazyConv": "2, 3", "BatchNorm": "4", "InstanceNorm": "4", "MaxPool": "2",
    "AvgPool": "2", "AdaptiveAvgPool": "2", "AdaptiveMaxPool": "2", "LPPool": "2, 2", "ReflectionPad": "1",
    "ReplicationPad": "1", "ZeroPad": "1", "CircularPad": "1", "ConstantPad": "1, 0.5", "Dropout": "",
}
MADE.update({f"{name}{n}d": (given, images) for n, images in IMAGES.items() for name, given in SHAPED.items()})


def split(text):
    """Arguments of a call, at the commas outside of parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def of_a_constructor(name, parameters=None):
    """{parameter: what becomes of each of WRONG}."""
    args, call = MADE[name]
    given = split(args)
    if parameters is None:
        found = list(inspect.signature(getattr(nn, name).__init__).parameters.values())[1:]
        parameters = [p.name for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
                      and p.name not in ("device", "dtype")]
    out = {}
    for i, parameter in enumerate(parameters):
        out[parameter] = []
        for wrong in WRONG:
            changed = [wrong if j == i else g for j, g in enumerate(given)]
            changed += [f"{parameter}={wrong}"] if i >= len(given) else []
            out[parameter].append(outcome(f"nn.{name}({', '.join(changed)})({call})")[0].replace("accepted", ""))
    return out


def make_function(forward, backward):
    return type("A", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([1, 2])


def names():
    """What the programs find, made anew for each."""
    x = torch.ones(2, requires_grad=True)
    return {"torch": torch, "nn": nn, "F": nn.functional, "D": torch.utils.data, "P": torch.distributions, "prune": prune,
            "S": torch.optim.lr_scheduler, "numpy": numpy, "io": io, "copy": copy, "x": x, "F_": make_function, "saved": saved,
            "stream": Stream, "sgd": lambda: torch.optim.SGD([x], lr=0.1)}


def outcome(program):
    torch.manual_seed(0)
    try:
        exec(program.replace("\\n", "\n"), names())  # noqa: S102
        return ["accepted", ""]
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0][:80]]
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)


def compute(calls, parameters=None):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    parameters = parameters or {}
    return {"calls": {subject: {line: outcome(line) for line in lines} for subject, lines in calls.items()},
            "constructors": {name: of_a_constructor(name, parameters.get(name)) for name in MADE}}


def text_of(group):
    return "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in group.items()) + "}"


if __name__ == "__main__":
    listed = json.loads((HERE / "refused.json").read_text())["calls"]
    made = compute(listed, json.loads(pathlib.Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else None)
    subjects = ",\n".join(f"{json.dumps(subject)}: {text_of(calls)}" for subject, calls in made["calls"].items())
    with open(sys.argv[1], "w") as file:
        file.write(f'{{"calls": {{{subjects}}},\n"constructors": {text_of(made["constructors"])}}}\n')
