#!/usr/bin/env python3
"""Counts what the Python package's docstrings say.

    PYTHONPATH=build/python python3 tools/docs/docstrings.py [--missing]

For each module that programs import names from, and for class Tensor: how many public functions and classes it has, how many of
them have a docstring, one that names shapes (or says that arguments are scalars, functions or the like) and one with an example;
then the sums. --missing lists the names that lack one of the three. python/tests/test_docstrings.py runs the examples.
"""
import argparse
import importlib
import re
import types

MODULES = ["taeda", "taeda.nn", "taeda.nn.functional", "taeda.nn.init", "taeda.nn.utils", "taeda.nn.utils.rnn",
           "taeda.nn.utils.parametrize", "taeda.nn.utils.parametrizations", "taeda.nn.utils.prune", "taeda.optim",
           "taeda.optim.lr_scheduler", "taeda.optim.swa_utils", "taeda.linalg", "taeda.fft", "taeda.special", "taeda.sparse",
           "taeda.autograd", "taeda.autograd.functional", "taeda.func", "taeda.utils.data", "taeda.distributions", "taeda.amp",
           "taeda.distributed"]
SHAPES = re.compile(r"\b[Ss]hapes?\b|\[(\w|\*)[^\]]*\]|\b0-dim\b|\bscalars?\b|\bvectors?\b|\bmatri(x|ces)\b|\b[Tt]akes no arguments\b|"
                    r"\barguments? (is|are)\b|\bpairs?\b|\ba text\b", re.IGNORECASE)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)


def is_ours(space_name, value):
    """Whether a function or class is a module's, or of what lies beside it, and none that the module merely imports."""
    module = (getattr(value, "__module__", None) or space_name).replace("torch", "taeda", 1)
    if module == "taeda" or module.startswith("taeda._C"):
        return True
    home = space_name if space_name.count(".") < 2 else space_name.rpartition(".")[0]
    return (module + ".").startswith(home + ".") and (not module.startswith("taeda._core.") or module.endswith(".settings"))


def public(space_name, space):
    """[(name, function or class)] of a module or class: those in its `__all__`, if it has one."""
    names = getattr(space, "__all__", None) or [name for name in dir(space) if not name.startswith("_")]
    found = ((name, getattr(space, name, None)) for name in names)
    return [(name, value) for name, value in found if isinstance(value, (type, *FUNCTIONS))
            and (isinstance(space, type) or is_ours(space_name, value))]


def spaces():
    """[(name, module or class)] of all that is counted."""
    found = [(name, importlib.import_module(name)) for name in MODULES]
    return found + [("taeda.Tensor", importlib.import_module("taeda").Tensor)]


def documented():
    """{docstring: full name} of what has one."""
    texts = {}
    for space_name, space in spaces():
        for name, value in public(space_name, space):
            texts.setdefault(getattr(value, "__doc__", None), f"{space_name}.{name}")
    return {text: name for text, name in texts.items() if text}


def counts():
    """[(space, names, names without a docstring, without shapes, without an example)]."""
    rows = []
    for space_name, space in spaces():
        names = public(space_name, space)
        texts = {name: getattr(value, "__doc__", None) or "" for name, value in names}
        rows.append((space_name, names, [n for n, t in texts.items() if not t], [n for n, t in texts.items() if not SHAPES.search(t)],
                     [n for n, t in texts.items() if ">>>" not in t]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="list the names that lack something")
    chosen = parser.parse_args()
    rows = counts()
    print(f"{'':36}  names   text shapes example")
    for space, names, text, shapes, example in rows + [("all", *(sum((row[i] for row in rows), []) for i in range(1, 5)))]:
        total = len(names)
        shares = [100 * (total - len(without)) / max(total, 1) for without in (text, shapes, example)]
        print(f"{space:36} {total:6} " + " ".join(f"{share:5.1f}%" for share in shares))
        if chosen.missing and space != "all":
            for what, without in (("text", text), ("shapes", shapes), ("example", example)):
                if without:
                    print(f"    without {what}: {' '.join(without)}")


if __name__ == "__main__":
    main()
