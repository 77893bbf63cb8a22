"""Fills expressions.json: what PyTorch 2.15 gives and says of each expression after `PREPARE`, with the seed 0.

The keys are the expressions; one is added with the value null. Run it with a Python that has PyTorch and NumPy 1.
"""

import json
import pathlib
import warnings

PREPARE = """
import math, copy, pickle, io
import numpy as np
f = torch.arange(6.).view(2, 3)
i = torch.arange(6).view(2, 3)
u = torch.arange(6, dtype=torch.uint8)
b = torch.tensor([True, False])
h = torch.tensor([1.5, -2.0], dtype=torch.half)
z = torch.tensor([1+2j, -1j])
d = torch.tensor([0.1, 0.2], dtype=torch.double)
g = torch.tensor([1., 2.], requires_grad=True)
s = torch.tensor(3)
"""


def outcome(torch, expression):
    """What an expression gives, as text: its repr, or the error and what it says first."""
    torch.manual_seed(0)
    names = {"torch": torch}
    exec(PREPARE, names)
    try:
        return repr(eval(expression, names))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip()}"


if __name__ == "__main__":
    import torch as pytorch

    warnings.simplefilter("ignore")
    path = pathlib.Path(__file__).with_suffix(".json")
    table = json.loads(path.read_text(encoding="utf-8"))
    filled = {group: {e: outcome(pytorch, e) for e in expressions} for group, expressions in table.items()}
    path.write_text(json.dumps(filled, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
