#!/usr/bin/env python3
"""Calls that libtorch's overload sets take and Taeda's do not: small programs, compiled with both.

  overloads.py --libtorch FOLDER [--only WORDS]   FOLDER holds libtorch's headers (torch/, ATen/, c10/)

Every function, method and constructor of tests/frontend/libtorch.tsv is called with what programs write in the place of
each argument: braces of none, one and two elements, numbers of several types, null, absent values. What libtorch's
headers compile and Taeda's refuse is printed with the error, but for what KEPT has a reason for.
"""

import argparse
import collections
import itertools
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import probe
import snapshot

ROOT = Path(__file__).resolve().parents[2]
MOST = 12  # of which calls are all mixtures, rather than one argument at a time

# What the calls are made with.
PREFACE = """#include <torch/torch.h>
namespace given {
extern torch::Tensor t; extern int64_t n; extern int i; extern double d; extern float f; extern bool b; extern size_t z;
extern std::vector<int64_t> vi; extern std::vector<double> vd; extern std::vector<torch::Tensor> vt;
extern std::string s; extern void* p; extern at::Generator g; extern std::ostream& o;
template <class T> T make();
"""
LISTS = ["{3}", "{3, 4}", "{}", "3", "0", "{0}", "{n}", "{i}", "vi", "t.sizes()"]
INTEGERS = ["1", "0", "n", "i", "z", "{}"]
REALS = ["0.5", "1", "0", "f", "n", "{}"]
LITERALS = [
    (r"(at::)?Tensor(Base)?", ["t", "{}"]),
    (r"c10::ArrayRef<int64_t>|std::vector<int64_t>|std::initializer_list<int64_t>", LISTS),
    (r"c10::OptionalArrayRef<int64_t>|std::optional<c10::ArrayRef<int64_t>>|std::optional<std::vector<int64_t>>",
     ["c10::nullopt"] + LISTS),
    (r"c10::ArrayRef<at::Tensor>|at::TensorList|std::vector<at::Tensor>|std::initializer_list<at::Tensor>",
     ["{t}", "{t, t}", "vt", "{}", "t"]),
    (r"c10::ArrayRef<double>|std::vector<double>", ["{0.5}", "{0.5, 2.0}", "vd", "{}"]),
    (r"std::optional<c10::ArrayRef<double>>|std::optional<std::vector<double>>",
     ["c10::nullopt", "vd", "std::vector<double>{0.5}", "{}"]),
    (r"int64_t|int|size_t|unsigned int|short", INTEGERS),
    (r"double|float", REALS),
    (r"bool", ["true", "false", "b", "1", "0", "{}"]),
    (r"c10::Scalar", ["0.5", "1", "0", "true", "f", "n", "i"]),
    (r"std::optional<c10::Scalar>", ["c10::nullopt", "0.5", "1", "0", "{}"]),
    (r"std::optional<(int64_t|size_t)>", ["1", "0", "i", "n", "c10::nullopt", "{}"]),
    (r"std::optional<double>", ["0.5", "1", "0", "f", "c10::nullopt", "{}"]),
    (r"std::optional<bool>", ["c10::nullopt", "true", "{}"]),
    (r"std::optional<at::Tensor>", ["t", "c10::nullopt", "{}"]),
    (r"std::optional<at::Generator>", ["c10::nullopt", "g", "{}"]),
    (r"std::optional<c10::ScalarType>", ["torch::kFloat", "c10::nullopt", "{}"]),
    (r"std::optional<c10::MemoryFormat>", ["c10::nullopt", "torch::MemoryFormat::Contiguous", "{}"]),
    (r"std::optional<c10::Device>", ["c10::nullopt", "torch::kCPU", "{}"]),
    (r"c10::Device", ["torch::kCPU", 'torch::Device("cpu")', '"cpu"', "{torch::kCPU}"]),
    (r"c10::ScalarType", ["torch::kFloat"]),
    (r"c10::TensorOptions", ["torch::kFloat", "{}", "torch::kCPU", "torch::dtype(torch::kFloat)", "torch::TensorOptions()",
                             "torch::Device(torch::kCPU)"]),
    (r"(std::optional<)?(std::string_view|std::basic_string<char>|c10::string_view)>?|char \*", ['"x"', "s"]),
    (r"std::basic_ostream<char>", ["o"]),
    (r"void \*", ["p", "nullptr", "vd.data()", "vi.data()"]),
    (r"std::function<void \(void \*\)>", ["[](void*) {}", "free", "{}"]),
    (r"std::function<at::Tensor \(\)>", ["[] { return t; }"]),
]

# What stays refused, and why: the beginning of a call, what must stand in it, the reason.
KEPT = [
    (r"torch::special_\w+|torch::(stride|size|\w+_)(?=\()|torch::(where|div|divide)_outf", r"\{\}",
     "an undefined tensor, which the call would refuse when it runs"),
    (r"torch::upsample_\w+", r"\{\}", "an undefined tensor, or braces that may be sizes or factors"),
    (r"torch::\w+_loss\w*", r"\{\}", "`{}` for a reduction is no number: it stands for options in nn::functional"),
    (r"torch::nn::utils::clip_grad_\w+", r"\(\{\}", "no parameters at all"),
    (r"torch::argsort_out", r"\{\}", "`{}` for a flag, beside a set that takes a dimension there"),
    (r"torch::linalg_(pinv|matrix_rank)\w*", r"\{\}", "an undefined matrix, or a tolerance that may be a tensor or a number"),
]


def kept(call):
    """Why the call stays refused, or None."""
    return next((why for name, given, why in KEPT if re.match(name, call) and re.search(given, call)), None)


def plain(type_):
    return re.sub(r"^const |( const)? ?(&&?)$", "", type_).strip()


def literals(type_):
    """What a program writes for an argument of the type, the commonest first."""
    text = plain(type_)
    for pattern, values in LITERALS:
        if re.fullmatch(pattern, text):
            if "&" in type_ and not type_.startswith("const") and not type_.endswith("&&"):
                return values[:1] if text == "at::Tensor" else [f"make<{text}&>()"]
            return values
    array = re.fullmatch(r"torch::ExpandingArray\w*<([\d *]+)(, double)?>", text)
    if array:
        many = "{" + ", ".join("2" for _ in range(eval(array.group(1)))) + "}"
        return ["2", many, "{2}", "0", "{0}", "n", "vd" if array.group(2) else "vi", "{}"]
    if re.fullmatch(r"torch::enumtype::k\w+", text):
        return [f"torch::{text.split('::')[-1]}"]
    if re.search(r"Options(<.*>)?$", text):
        return [f"{text}()", "{}", f"make<const {text}&>()"]
    return [f"make<{type_ if type_.endswith('&') else text}>()"]


def calls(entry):
    """The arguments of calls: all mixtures where they are few, else one argument at a time."""
    choices = [literals(a) for a in entry.arguments]
    for length in range(len(choices) + 1):
        part = choices[:length]
        total = 1
        for values in part:
            total *= len(values)
        if total <= MOST:
            yield from itertools.product(*part)
            continue
        bases = [tuple(v[0] for v in part), tuple(v[min(1, len(v) - 1)] for v in part)]
        yield from bases
        for base in bases:
            for at, values in enumerate(part):
                yield from (base[:at] + (v,) + base[at + 1:] for v in values)


def expression(entry, arguments):
    inner = ", ".join(arguments)
    if entry.kind == "function":
        return f"{probe.opened(entry)}::{entry.name}({inner})"
    if entry.kind == "method":
        const = "const " if entry.const else ""
        owner = "t" if entry.space == "at::Tensor" else f"make<{const}{entry.space}&>()"
        return f"{owner}.{entry.name}({inner})"
    return f"{entry.space}({inner})"


def expressions(entries):
    seen = {}
    for entry in entries:
        if entry.kind in ("function", "method", "constructor") and not entry.template \
                and not entry.name.startswith("operator"):
            for arguments in calls(entry):
                seen[expression(entry, arguments)] = True
    return list(seen)


def precompiled(compiler, flags, folder):
    """Flags with which the main header is read once, from a file in `folder`, rather than in each part."""
    source, made = Path(folder) / "main.h", Path(folder) / "main.pch"
    source.write_text(probe.PREFACE)
    subprocess.run([compiler, "-x", "c++-header", "-w", *flags, str(source), "-o", str(made)], check=True)
    return [*flags, "-include-pch", str(made)]


def refused(lines, compiler, flags):
    """{number of a line: error} for those that do not compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.cpp"
        path.write_text(PREFACE + "\n".join(f"void call_{i}() {{ (void)({text}); }}" for i, text in enumerate(lines)) + "\n}\n")
        done = subprocess.run([compiler, "-fsyntax-only", "-w", "-ferror-limit=0",
                               "-fshow-overloads=best", *flags, str(path)],
                              text=True, capture_output=True, check=False)
    first = PREFACE.count("\n") + 1
    mark = re.compile(re.escape(str(path)) + r":(\d+):")
    bad, pending = {}, None
    for text in done.stderr.splitlines():
        place = mark.match(text)
        if ": fatal error: " in text:
            sys.exit(text)
        if ": error: " in text:
            pending = None if place else text
            if place:
                bad.setdefault(int(place.group(1)) - first, text.split("error: ", 1)[1])
        elif pending and place and re.search(r"in instantiation of|required (from|by)", text):
            bad.setdefault(int(place.group(1)) - first, pending.split("error: ", 1)[1])
            pending = None
    return bad


def split(lines, compiler, flags, jobs, size=6000):
    """refused() of parts, several at once."""
    parts = [lines[i:i + size] for i in range(0, len(lines), size)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        flags = precompiled(compiler, flags, folder)
        found = pool.map(lambda part: refused(part, compiler, flags), parts)
        return {i * size + k: v for i, bad in enumerate(found) for k, v in bad.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--libtorch", required=True, type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--compiler", default="clang++")
    parser.add_argument("--only", default="", help="a pattern that the names must match")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    entries = [e for e, _ in snapshot.read(ROOT) if re.search(arguments.only, snapshot.text_of(e))]
    lines = expressions(entries)
    theirs = [f"-I{arguments.libtorch}", f"-I{arguments.libtorch}/torch/csrc/api/include", "-std=c++20"]
    bad = split(lines, arguments.compiler, theirs, arguments.jobs)
    good = [line for i, line in enumerate(lines) if i not in bad]
    print(f"libtorch compiles {len(good)} of {len(lines)} calls", file=sys.stderr)
    ours = [f"-I{path}" for path in (ROOT / "include/compat", arguments.build / "compat/include", ROOT,
                                     arguments.build / "generated")] + ["-std=c++20"]
    bad = split(good, arguments.compiler, ours, arguments.jobs)
    reasons = collections.Counter(kept(good[i]) for i in bad)
    for why, count in reasons.items():
        if why:
            print(f"{count} calls: {why}", file=sys.stderr)
    for i in sorted(bad):
        if not kept(good[i]):
            print(f"{good[i]}\t{bad[i]}")
    return 1 if reasons[None] else 0


if __name__ == "__main__":
    sys.exit(main())
