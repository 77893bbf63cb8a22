"""Asks a compiler which entries compile: one line for each, and the lines with an error are those that do not."""

import re
import subprocess
import tempfile
from pathlib import Path

PREFACE = "#include <torch/torch.h>\n"


def declval(type_):
    return f"std::declval<{type_}>()"


def expression(entry):
    """The call or the name that must compile, for use in `decltype`; None where a using-declaration asks."""
    arguments = ", ".join(map(declval, entry.arguments))
    if entry.kind == "function" and not entry.template:
        if entry.name.startswith("operator"):
            return f"{entry.name}({arguments})"
        return f"{opened(entry)}::{entry.name}({arguments})"
    if entry.kind == "method" and not entry.template:
        owner = f"std::declval<{'const ' if entry.const else ''}{entry.space}&>()"
        return f"{owner}.{entry.name}({arguments})"
    if entry.kind == "constructor" and not entry.template:
        return f"{entry.space}({arguments})"
    return None


def opened(entry):
    """The namespace of a name; at's functions are asked for as torch's, as programs do."""
    parts = entry.space.split("::")
    while entry.kind != "function" and parts[-1][:1].isupper():
        parts.pop()
    space = "::".join(parts)
    return "torch" if space == "at" else space


def within(entry, body):
    """The outermost namespace reopened, as programs do. Inner ones are Taeda's and stay closed."""
    return f"namespace {opened(entry).split('::')[0]} {{ {body} }}"


def line(entry, number):
    """One entry as one line of C++."""
    text = expression(entry)
    if text is None:
        return by_name(entry, number)
    return within(entry, f"using probe_{number} = decltype({text});")


def by_name(entry, number):
    """One line that compiles if there is such a name at all, whatever its arguments."""
    if entry.kind == "method":
        return within(entry, f"struct probe_{number} : {entry.space} {{ using {entry.space}::{entry.name}; }};")
    if entry.kind == "constructor":
        return within(entry, f"using probe_{number} = {entry.space};")
    space = opened(entry)
    if entry.space.split("::")[-1][:1].isupper():
        space = entry.space
    return within(entry, f"namespace probe_{number} {{ using {space}::{entry.name}; }}")


def failing(lines, compiler, flags):
    """Numbers of the lines that do not compile, and errors that none of them caused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe.cpp"
        path.write_text(PREFACE + "\n".join(lines) + "\n")
        limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", limit, *flags, str(path)],
                              text=True, capture_output=True, check=False)
        return sort_errors(done.stderr, str(path))


def sort_errors(output, path):
    """Numbers of the probes' lines with errors, and the errors of headers that no line asked for."""
    mark = re.compile(re.escape(path) + r":(\d+):")
    skipped, bad, strays = PREFACE.count("\n"), set(), []
    pending = None  # an error inside of a header, whose notes may lead to a line
    for text in output.splitlines():
        place = mark.match(text)
        if re.search(r": (fatal )?error: ", text):
            strays += [pending] if pending else []
            pending = None if place else text
            if place:
                bad.add(int(place.group(1)) - skipped - 1)
        elif pending and place and re.search(r"in instantiation of|required (from|by)", text):
            bad.add(int(place.group(1)) - skipped - 1)
            pending = None
    return bad, strays + ([pending] if pending else [])
