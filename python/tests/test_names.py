"""Names that 155 public programs use (golden/names.tsv: name, number of programs): each is there or known to be missing."""

import importlib
import pathlib

import taeda

ROWS = [line.split("\t") for line in (pathlib.Path(__file__).parent / "golden" / "names.tsv").read_text().splitlines()]
# What Taeda does not have. "(gone)": PyTorch has it no more, either. Tensor.index is a list's method in those programs, and
# IMAGENET1K_V1 a member of torchvision's classes of weights.
ABSENT = ("torch.onnx", "torch.nested", "torch.jagged", "torch.ops", "torch.jit.save", "Tensor.index",
          "torchvision.datasets.LSUN", "torchvision.models.IMAGENET1K_V1", "(gone)")


def resolve(name):
    """Whether a name leads to something, by attributes and submodules."""
    first, *rest = name.split(".")
    if first in ("Module", "Optimizer"):
        first, rest = "torch", (["nn", "Module"] if first == "Module" else ["optim", "Optimizer"]) + rest
    if first == "Tensor":
        first, rest = "torch", ["Tensor"] + rest
    if first == "torchvision":
        at, path = importlib.import_module("taeda.vision"), "taeda.vision"
    else:
        at, path = taeda, "taeda"
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(at, part):
            try:
                at = importlib.import_module(path)
                continue
            except ImportError:
                return False
        at = getattr(at, part)
    return True


def missing():
    found = set()
    for name, _ in ROWS:
        try:
            if not resolve(name):
                found.add(name)
        except ImportError:
            found.add(name)
    return found


def test_names():
    assert {name for name in missing() if not any(part in name for part in ABSENT)} == set()


if __name__ == "__main__":
    lacking = missing()
    print(f"{len(ROWS) - len(lacking)} of {len(ROWS)} names resolve")
    for name, programs in ROWS:
        if name in lacking:
            print(f"{name}\t{programs}")
