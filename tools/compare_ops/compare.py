#!/usr/bin/env python3
"""Random programs of operations, run by Taeda and by an installed PyTorch: compare.py --build build --programs 10000.

A program is a few calls, each on fresh tensors or on what earlier ones returned. A difference is a value beyond tolerance,
another dtype or shape, or an error on one side alone; the report counts them by operation and shows the first of each.
`--gradients` compares those of each call as well: of a weighed sum of its results, by all of its tensors. `--messages` lists
the errors that both raise in other words, `--only NAME` runs one operation's calls. Needs PyTorch in the Python that runs it,
and a C++ compiler for the driver.
"""

import argparse
import collections
import math
import pathlib
import random
import subprocess
import sys
import warnings

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import calls  # noqa: E402
import gradients  # noqa: E402
import inputs  # noqa: E402
import known  # noqa: E402
import suited  # noqa: E402

KINDS = {"tensor": ("Tensor", "Optional[Tensor]"), "tensors": ("List[Tensor]",), "scalar": ("number", "Optional[number]"),
         "real": ("float", "Optional[float]", "number", "Optional[number]"), "integer": ("int", "Optional[int]"),
         "flag": ("bool", "Optional[bool]"), "list": ("List[int]", "Optional[List[int]]"), "word": ("str", "Optional[str]"),
         "dtype": ("Optional[int]", "int")}
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.float64: 1e-9, torch.complex32: 4e-3,
             torch.complex64: 5e-5, torch.complex128: 1e-9}


def needed(pairs):
    """Names of arguments that have a default here and none in PyTorch, but those that take None."""
    return {a.name for a, t in pairs if a.default is not None and not t.has_default_value() and "Optional" not in str(t.type)}


def schema_of(call):
    """(overload of torch.ops.aten, its arguments' names, those that it needs), or None if PyTorch has no such form."""
    name = call.name.replace(".", "_") + ("_" if call.form == "_" else "")
    packet = getattr(torch.ops.aten, name, None)
    best = None
    own = call.arguments[1:] if call.form == "out" else call.arguments
    for overload in packet.overloads() if packet else ():
        f = getattr(packet, overload)
        outs = [a for a in f._schema.arguments if a.is_out]
        theirs = [a for a in f._schema.arguments if not a.is_out]
        if bool(outs) != (call.form == "out") or len(outs) > 1 or len(theirs) < len(own) or "Dimname" in str(f._schema):
            continue
        pairs = list(zip(own, theirs))
        if not all(str(t.type) in KINDS[a.kind] for a, t in pairs):
            continue
        if any(not t.has_default_value() for t in theirs[len(own):]):
            continue
        score = sum(a.name == t.name for a, t in pairs)
        if best is None or score > best[0]:
            best = score, f, [t.name for t in theirs[:len(own)]], needed(pairs)
    return best and best[1:]


class Driver:
    """The process that runs calls by Taeda."""

    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def send(self, line):
        self.process.stdin.write(line + "\n")

    def answer(self):
        """("ok", [tensors]) or ("error", text); ("died", "") if the process is gone."""
        try:
            self.process.stdin.flush()
            head = self.process.stdout.readline()
            if head.startswith("ok "):
                return "ok", [self.tensor() for _ in range(int(head.split()[1]))]
        except BrokenPipeError:
            head = ""
        if not head:
            self.process.wait()
            self.start()
            return "died", ""
        return "error", head[6:].rstrip("\n")

    def tensor(self):
        words = self.process.stdout.readline().split()
        if words[0] == "none":
            return None
        dtype = getattr(torch, words[0])
        sizes = [int(n) for n in words[1][1:].split(",") if n]
        data = bytearray.fromhex(words[2][1:])
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        return flat.reshape(sizes)


def returned(made):
    """The results of a call as a list of dense tensors."""
    if not isinstance(made, (tuple, list)):
        made = [torch.tensor(made) if isinstance(made, bool) else made]
    return [t.to_dense() if isinstance(t, torch.Tensor) and t.layout != torch.strided else t for t in made]


def tolerances(call, values):
    """What may differ, relative to the largest number: a result is as exact as the coarsest operand."""
    table = known.LESS_EXACT_TOLERANCE if call.name in known.LESS_EXACT else TOLERANCE
    dtypes = [t.dtype for t in known.tensors_in(values)]
    coarsest = max((table.get(t, table[torch.float32] if call.form == "out" else 0) for t in dtypes), default=0)
    return {dtype: max(tolerance, coarsest) for dtype, tolerance in table.items()}


def difference(ours, theirs, tolerance_of):
    """What differs between two tensors, or None."""
    if ours is None or theirs is None:
        return None if ours is theirs or (theirs is not None and theirs.numel() == 0) else "one is undefined"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, PyTorch {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, PyTorch {list(theirs.shape)}"
    a, b = ours.detach(), theirs.detach().resolve_conj().resolve_neg()
    if not (a.is_floating_point() or a.is_complex()):
        wrong = a != b
    else:
        tolerance = tolerance_of[a.dtype]
        wide = torch.complex128 if a.is_complex() else torch.float64
        x, y = a.to(wide), b.to(wide)
        parts = (torch.view_as_real(x), torch.view_as_real(y)) if a.is_complex() else (x, y)
        finite = parts[1][parts[1].isfinite()]
        scale = min(float(finite.abs().max()), 1e4) if finite.numel() else 1.0
        wrong = ~torch.isclose(*parts, rtol=tolerance, atol=tolerance * max(scale, 1), equal_nan=True)
        wrong = wrong.any(-1) if a.is_complex() else wrong
    if not bool(wrong.any()):
        return None
    return f"values {a[wrong][:6].tolist()}, PyTorch {b[wrong][:6].tolist()} at {wrong.nonzero()[0].tolist()}"


class Program:
    """Makes one program and runs it on both sides until they differ."""

    def __init__(self, seed, table, driver, with_gradients=False):
        self.random = random.Random(seed)
        self.table, self.driver, self.with_gradients = table, driver, with_gradients
        self.tensors = inputs.Tensors(self.random, finite=with_gradients)
        self.slots, self.text, self.last = [], [], []
        self.own = set()  # slots with memory that both sides have laid out alike
        self.inexact = False  # whether the two sides go on with numbers that are close, but not the same

    def fresh(self, call, argument, place, suit, i=None):
        dtype, sizes, strides, offset, flat = self.tensors.make(call.name, argument, place, suit, i)
        join = ",".join
        self.driver.send(f"t {dtype} s{join(map(str, sizes))} s{join(map(str, strides))} {offset} {flat.numel()} x{inputs.bytes_of(flat)}")
        self.slots.append(flat.as_strided(sizes, strides, offset))
        self.own.add(len(self.slots) - 1)
        self.text.append(f"t{len(self.slots) - 1} = {dtype}{sizes} strides {strides}: {flat[:8].tolist()}")
        return len(self.slots) - 1

    def beside(self, call, argument, place, suit, changed):
        """A tensor in the memory of the one that the call changes: the same elements, some of them, or some and others. None if
        there is no room."""
        whole = self.slots[changed]
        sizes = suit.sizes.get(argument) or self.tensors.shape_for(call.name, place)
        if changed not in self.own:
            return None
        elements = whole.untyped_storage().nbytes() // whole.element_size()
        strides = list(whole.stride()) if sizes == list(whole.shape) else list(torch.empty(sizes, device="meta").stride())
        room = elements - sum((n - 1) * s for n, s in zip(sizes, strides))
        if 0 in sizes or room < 1:
            return None
        offset = self.random.choice([whole.storage_offset(), 0, self.random.randrange(room)])
        if offset >= room:
            return None
        self.driver.send(f"v {changed} s{','.join(map(str, sizes))} s{','.join(map(str, strides))} {offset}")
        self.slots.append(whole.as_strided(sizes, strides, offset))
        self.text.append(f"t{len(self.slots) - 1} = t{changed}.as_strided({sizes}, {strides}, {offset})")
        return len(self.slots) - 1

    def values(self, call, wanted):
        """(words for the driver, values for PyTorch) of a call's arguments."""
        words, values, place = [], [], 0
        suit = suited.of(self.random, call)
        for a in call.arguments:
            given = suit.values.get(a.name)
            if a.default is not None and a.name not in wanted and (a.name in suit.values and given is None or self.random.random() < 0.4):
                words.append("-")
                values.append(None)
                continue
            if a.kind == "tensor":
                reuse = [i for i, t in enumerate(self.slots) if t is not None and not (call.form == "out" and words and words[0] == f"t{i}")]
                if reuse and a.name != "out" and a.name not in suit.sizes and self.random.random() < 0.25:
                    slot = self.random.choice(reuse)
                else:
                    near = call.form and words and words[0][0] == "t" and self.random.random() < 0.1
                    slot = self.beside(call, a.name, place, suit, int(words[0][1:])) if near else None
                    slot = self.fresh(call, a.name, place, suit) if slot is None else slot
                place += a.name != "out"
                words.append(f"t{slot}")
                values.append(self.slots[slot])
            elif a.kind == "tensors":
                count = len(suit.sizes[a.name]) if a.name in suit.sizes else self.random.randint(1, 3)
                chosen = [self.fresh(call, a.name, 0, suit, i) for i in range(count)]
                words.append("L" + ",".join(map(str, chosen)))
                values.append([self.slots[i] for i in chosen])
            else:
                value = inputs.argument(self.random, self.tensors, call, a) if given is None else given
                if a.kind == "real" and value is not None:
                    value = float(value)
                if value is None and (a.default is None or a.name in wanted):
                    return None, None
                words.append(inputs.written(value))
                values.append(value)
        return words, values

    def keywords(self, call, schema, values):
        """What PyTorch's overload is called with."""
        f, names, _ = schema
        open_names = {a.name for a in f._schema.arguments if not a.has_default_value() and "Optional" in str(a.type)}
        skip = call.form == "out"
        kwargs = {n: v for n, v, a in zip(names, values[skip:], call.arguments[skip:])
                  if v is not None or a.default is None or n in open_names}
        if skip:
            kwargs[next(a.name for a in f._schema.arguments if a.is_out)] = values[0]
        return kwargs

    def step(self):
        """None, or (call, what differs, the two messages if both sides fail)."""
        call, schema = self.random.choice(self.table)
        words, values = self.values(call, schema[2])
        if words is None or inputs.fatal(call, values):
            return None
        self.text.append(f"{call.key}({', '.join(words)})")
        self.inexact = call.name in known.LESS_EXACT
        kwargs = self.keywords(call, schema, values)
        if self.with_gradients and call.form != "out":
            found = self.compare(call, "g", words, lambda: gradients.of(schema[0], kwargs, call.form), gradients.difference)
            if found:
                self.last = values
                return call, found[0] and "gradient: " + found[0], found[1]
        theirs, exact = [], tolerances(call, values)
        size = values[0].shape if call.form == "out" else None
        before = values + [v.clone() for v in values if isinstance(v, torch.Tensor) and call.form]
        found = self.compare(call, "c", words, lambda: returned(schema[0](**kwargs)), lambda a, b: difference(a, b, exact), theirs)
        self.last = before
        if size is not None and size != values[0].shape:  # what it shared memory with may have stayed behind
            self.forget(values[0])
        self.slots += [t if isinstance(t, torch.Tensor) else None for t in theirs]
        if found and found[1] and call.form:  # a call that fails may have begun to write
            self.forget(values[0])
        return found and (call, *found)

    def forget(self, written):
        """Leaves alone what shares memory with a tensor of which the two sides may hold other numbers from here on."""
        data = written.untyped_storage().data_ptr()
        self.slots = [None if t is not None and (t is written or t.untyped_storage().data_ptr() == data) else t for t in self.slots]

    def compare(self, call, command, words, run, differ, theirs=None):
        """None, or (what differs, the two messages if both sides fail) between the driver's answer and run()'s."""
        theirs, error = [] if theirs is None else theirs, None
        try:
            theirs += run()
        except Exception as e:  # whatever PyTorch raises is what it does
            error = str(e).split("\n")[0]
        self.driver.send(f"{command} {call.key} " + " ".join(words))
        kind, ours = self.driver.answer()
        if kind == "died":
            return f"the process died; PyTorch: {error or 'ok'}", None
        if kind == "error":
            return (None, (ours, error)) if error is not None else (f"throws '{ours}'", None)
        if error is not None:
            return f"returns; PyTorch throws '{error}'", None
        if len(ours) != len(theirs):
            return f"{len(ours)} results, PyTorch {len(theirs)}", None
        found = next(((what, None) for what in map(differ, ours, theirs) if what), None)
        theirs[:] = [t if o is not None else None for o, t in zip(ours, theirs)]  # what one side lacks is not gone on with
        return found

    def run(self, length):
        try:
            last = None
            for _ in range(length):
                found = self.step()
                if (found and found[1]) or self.inexact:
                    return found
                last = found or last
            return last
        finally:
            self.driver.send(".")

    def undefined(self):
        """Whether numbers were converted that no integer holds, which C++ leaves open."""
        numbers = [t for t in self.slots if t is not None and (t.is_floating_point() or t.is_complex())]
        integral = any(t is not None and not (t.is_floating_point() or t.is_complex()) for t in self.slots)
        return integral and any(not bool(t.detach().to(torch.complex128).abs().lt(100).all()) for t in numbers)


def build_driver(build, folder, table):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calls.inc").write_text(calls.source(table), encoding="utf-8")
    program = folder / "driver"
    subprocess.run(["c++", "-std=c++20", "-O0", f"-I{ROOT}", f"-I{build}/generated", f"-I{folder}", "-fopenmp", str(HERE / "driver.cpp"),
                    "-o", str(program), f"-L{build}/lib", "-ltaeda", f"-Wl,-rpath,{build}/lib"], check=True)
    return program


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=3, help="calls of a program")
    parser.add_argument("--only", help="a name: its calls alone")
    parser.add_argument("--messages", action="store_true", help="list errors in other words")
    parser.add_argument("--gradients", action="store_true", help="compare the gradients of each call, too")
    parser.add_argument("--all", action="store_true", help="report what known.py names, too")
    parser.add_argument("--list", action="store_true", help="list calls that have no counterpart")
    parser.add_argument("--driver", type=pathlib.Path, help="a driver that is already built")
    return parser.parse_args()


class Report:
    """What differed, counted by operation, with the first example of each."""

    def __init__(self, everything=False):
        self.everything = everything
        self.found, self.examples = collections.Counter(), {}
        self.words, self.word_examples = collections.Counter(), {}

    def add(self, number, program, length):
        result = program.run(length)
        if not result:
            return
        call, what, messages = result
        name = call.key.split("/")[0]
        if messages:
            if messages[0].strip() != messages[1].strip():
                self.words[name] += 1
                self.word_examples.setdefault(name, messages)
        elif (self.everything or not known.is_known(call, what, program.last)) and not program.undefined():
            key = name, " ".join(what.split(" ")[:2 if what.startswith("gradient") else 1])
            self.found[key] += 1
            self.examples.setdefault(key, (number, what, program.text))

    def show(self, messages):
        for key, count in self.found.most_common():
            number, what, text = self.examples[key]
            print(f"{count} x {key[0]}: {what}\n    program {number}: " + "\n        ".join(text[-6:]))
        for name, count in self.words.most_common() if messages else ():
            ours, theirs = self.word_examples[name]
            print(f"{count} x {name}\n    Taeda:   {ours}\n    PyTorch: {theirs}")


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_warn_always(False)
    everything = calls.table(ROOT)
    paired = [(call, schema_of(call)) for call in everything if call.name not in known.NOT_COMPARED]
    if options.list:
        print("\n".join(call.key for call, schema in paired if not schema))
        return 0
    table = [(call, schema) for call, schema in paired if schema and options.only in (None, call.name)]
    driver = Driver(options.driver or build_driver(options.build.resolve(), options.build.resolve() / "compare_ops", everything))
    report = Report(options.all)
    done = 0
    try:
        for done in range(1, options.programs + 1):
            report.add(done, Program(options.seed * 1_000_003 + done, table, driver, options.gradients), options.length)
    except KeyboardInterrupt:
        pass  # the report is of what was run
    report.show(options.messages)
    print(f"{done} programs over {len(table)} calls: {sum(report.found.values())} differ")
    return 1 if report.found else 0


if __name__ == "__main__":
    sys.exit(main())
