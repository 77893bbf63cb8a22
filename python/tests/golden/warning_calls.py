"""Fills warning_calls.json: which warnings PyTorch 2.15 gives for which calls, by their categories and first words.

    python warning_calls.py warning_calls.json [OUT [PLACES]]

The table's keys are the calls, lines of code that run in a namespace of their own under the filter "always"; a call is added as
a key with the value null. OUT gets the filled table, by default the table itself, and PLACES the warnings that do not name the
line that called: [call, text, file].
"""

import json
import re
import sys
import warnings

import torch

START = """
import math, numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from torch import optim
from torch.optim import lr_scheduler as lrs
from torch.utils import checkpoint, data
from torch.nn.utils import parametrize, prune, rnn
x = torch.arange(6.0).reshape(2, 3) / 7
y = torch.ones(2, 3)
square = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
ints = torch.arange(6).reshape(2, 3)
mask8 = torch.tensor([[1, 0, 1], [0, 1, 0]], dtype=torch.uint8)
row8 = torch.tensor([1, 0], dtype=torch.uint8)
leaf = torch.ones(3, requires_grad=True)
images = torch.ones(1, 2, 4, 4)
model = nn.Linear(3, 2)
sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
def stepped(of=model, by=sgd):
    of(x).sum().backward(); by.step()
    return by
"""

WORDS = 9
VARYING = r" at 0x[0-9a-f]+| \(Triggered internally.*"


def said(line, places):
    """The categories and first words of a line's warnings, each once, and the class of its error."""
    space = {}
    exec(compile(START, "the start", "exec"), space)
    error = None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(compile(line, "a call", "exec"), space)
        except Exception as e:
            error = type(e).__name__
    out = []
    for w in seen:
        words = re.sub(VARYING, "", str(w.message)).split()
        if (entry := [w.category.__name__, " ".join(words[:WORDS])]) not in out:
            out.append(entry)
    places.extend([line, str(w.message)[:80], w.filename] for w in seen if w.filename != "a call")
    return {"warnings": out, **({"error": error} if error else {})}


def write(path, table):
    def listed(calls):
        return ",\n".join(f"{json.dumps(call)}: {json.dumps(said)}" for call, said in calls.items())
    groups = (f"{json.dumps(group)}: {{\n{listed(calls)}}}" for group, calls in table.items())
    with open(path, "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join(groups) + "}\n")


def main(table, out=None, places=None):
    with open(table, encoding="utf-8") as f:
        groups = json.load(f)
    torch.set_warn_always(True)
    elsewhere = []
    write(out or table, {group: {line: said(line, elsewhere) for line in lines} for group, lines in groups.items()})
    if places:
        with open(places, "w", encoding="utf-8") as f:
            json.dump(elsewhere, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
