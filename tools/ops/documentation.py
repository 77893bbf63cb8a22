"""What Python's reader of an operation learns: its signatures, its comment in Python's words, what its tags say, and an example."""

import pathlib
import re

from declarations import SHAPES
from emit_stubs import RESERVED, signature

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples.txt"
# What C++'s comments call otherwise.
WORDS = [(r"(?<![\w.])Error\b", "RuntimeError"), (r"\b[Aa]n RuntimeError", "a RuntimeError"), (r"\bThrows\b", "Raises"),
         (r"\b([Tt])hrow(s?)\b", r"raise\2"), (r"\b(linalg|special|fft|sparse|nn|functional)::", r"\1."), (r"`true`", "True"),
         (r"`false`", "False")]


def read_examples(text):
    """{public name: example} of a text of `[name]`s and what follows each."""
    parts = re.split(r"^\[([\w.]+)\]\n", text, flags=re.MULTILINE)
    return {name: example.strip() for name, example in zip(parts[1::2], parts[2::2])}


_examples = read_examples(EXAMPLES.read_text(encoding="utf-8"))


def in_python(text, method):
    """A comment of C++ in Python's words."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text if method else re.sub(r"(?<![\w'])self\b", "input", text)


def of_family(text):
    """What a header says of all its operations, but for what concerns C++ alone."""
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z])", text)
    return " ".join(s for s in sentences if not re.search(r"\.h\b|\.inc\b|Note \[|TensorOptions|Not part of|nn/|[{]", s))


def key(operation):
    """The name of an operation's example."""
    return ("Tensor." if operation.only_method else "") + operation.public_name


def documentation(name, overloads, method, family):
    """The docstring of a name: `overloads` are pairs of an operation and whether it takes `out`."""
    lines = [f"{name}({signature(o, method, out and not method)})".replace("(self, ", "(").replace("(self)", "()")
             for o, out in overloads]
    first = overloads[0][0]
    docs = dict.fromkeys(o.doc for o, _ in overloads)
    parts = ["\n".join(dict.fromkeys(lines)), *docs]
    parts += dict.fromkeys(SHAPES[o.tags["shape"][0]] for o, _ in overloads if "shape" in o.tags)
    if "dtypes" in first.tags:
        parts.append("Dtypes: " + ", ".join(first.tags["dtypes"]) + ".")
    parts.append(of_family(family))
    if key(first) in _examples:
        parts.append(_examples[key(first)])
    return "\n\n".join(in_python(p, method) if i and not p.startswith(">>>") else p for i, p in enumerate(parts) if p)
