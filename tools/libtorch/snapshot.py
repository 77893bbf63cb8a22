"""What was found, as a file of facts (tests/frontend/libtorch.tsv) and as lists of docs/libtorch.md."""

import collections
import itertools
import re

import forms
import rules
from entry import Entry

SNAPSHOT = "tests/frontend/libtorch.tsv"
PAGE = "docs/libtorch.md"
MARKS = {"present": "+", "by name": "~", "missing": "-"}
STATUS = {mark: status for status, mark in MARKS.items()}
COLUMNS = ("present", "by name", "missing", "purpose")
HEAD = """# libtorch 1.13's public names: + a call with these types compiles, ~ the name alone is there, - missing.
# Made by tools/libtorch/coverage.py. What is left out on purpose is not listed.
# mark, kind (t: template), class or namespace, names, forms (tools/libtorch/forms.py), types of each overload's arguments
"""

# How namespaces and classes are counted, the first that fits.
AREAS = [("torch::nn modules", r"torch::nn::\w+Impl$|torch::nn$"),
         ("torch::nn::functional", r"torch::nn::functional"), ("torch::nn options", r"torch::nn::\w+Options$"),
         ("torch::nn, the rest", r"torch::nn"), ("torch::optim", r"torch::optim"), ("torch::data", r"torch::data"),
         ("torch::serialize", r"torch::serialize"), ("torch::autograd", r"torch::autograd"),
         ("torch::linalg, fft, special", r"torch::(linalg|fft|special)"), ("methods of Tensor", r"at::Tensor"),
         ("functions of at and torch", r"at$|torch$"), ("torch, the rest", r"torch"), ("c10 and at, the rest", r"")]


def text_of(entry):
    """"space::name(type; type)"."""
    call = entry.kind in ("function", "method", "constructor")
    return f"{entry.space}::{entry.name}" + (f"({'; '.join(entry.arguments)})" if call else "")


def area_of(entry):
    return next(area for area, pattern in AREAS if re.match(pattern, entry.space))


def write(root, rows):
    lines = collections.defaultdict(list)  # a row of the file without its overloads: those
    for status, mark in MARKS.items():
        for entry, words in forms.folded([entry for entry, of in rows if of == status]).items():
            kind = entry.kind + (" const" if entry.const else "") + (" t" if entry.template else "")
            lines[mark, kind, entry.space, entry.name, words].append("; ".join(entry.arguments))
    alike = collections.defaultdict(list)  # names that differ in nothing else
    for (mark, kind, space, name, words), overloads in lines.items():
        alike[mark, kind, space, words, " | ".join(overloads)].append(name)
    text = "\n".join("\t".join((mark, kind, space, "; ".join(names), words, overloads)).rstrip("\t")
                     for (mark, kind, space, words, overloads), names in alike.items())
    (root / SNAPSHOT).write_text(HEAD + text + "\n")


def read(root):
    """The entries of the file with their status."""
    rows = {}
    for line in (root / SNAPSHOT).read_text().splitlines():
        if not line.startswith("#"):
            mark, kinds, space, names, words, overloads = (line.split("\t") + [""] * 2)[:6]
            kind, *more = kinds.split()
            for name, arguments in itertools.product(names.split("; "), overloads.split(" | ")):
                types = tuple(arguments.split("; ")) if arguments else ()
                entry = Entry(space, kind, name, types, "const" in more, "t" in more)
                rows.update(dict.fromkeys(forms.unfolded(entry, words), STATUS[mark]))
    return list(rows.items())


def table(rows):
    """How many of each status there are, by area."""
    counts = collections.defaultdict(collections.Counter)
    for entry, status in rows:
        for area in (area_of(entry), "all"):
            counts[area][status.split(":")[0]] += 1
    out = ["| area | present | name only | missing | on purpose |", "|---|---:|---:|---:|---:|"]
    for area in [a for a, _ in AREAS] + ["all"]:
        if area in counts:
            out.append(f"| {area} | " + " | ".join(str(counts[area][c]) for c in COLUMNS) + " |")
    return "\n".join(out)


def purposes(rows):
    """The rules with their reasons and how many entries each covers."""
    counts = collections.Counter(status.removeprefix("purpose: ") for _, status in rows)
    lines = ["| left out | entries | why |", "|---|---:|---|"]
    return "\n".join(lines + [f"| {title} | {counts[title]} | {reason} |"
                              for title, _, reason in rules.RULES if counts[title]])


def lacking(rows):
    """The missing names, each once, by namespace or class; then those that lack overloads alone."""
    names = {"missing": collections.defaultdict(set), "by name": collections.defaultdict(set)}
    for entry, status in rows:
        if status in names:
            names[status][entry.space].add(entry.name)
    out = []
    for status, title in (("missing", "### Missing names"), ("by name", "### Names that lack an overload")):
        out.append(title + "\n")
        for space, found in sorted(names[status].items()):
            if status == "by name":
                found = found - names["missing"].get(space, set())
            if found:
                out.append(f"- `{space}`: {', '.join(sorted(found))}")
        out.append("")
    return "\n".join(out).rstrip()


def write_page(root, rows):
    """Fills the places between `<!-- made: name -->` and `<!-- end -->`."""
    page = (root / PAGE).read_text()
    for name, text in (("counts", table(rows)), ("purposes", purposes(rows)), ("lacking", lacking(rows))):
        page = re.sub(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", lambda m, t=text: m[1] + t + "\n" + m[2],
                      page, flags=re.S)
    (root / PAGE).write_text(page)
