#!/usr/bin/env python3
"""Looks for operations that are slower than PyTorch's: sweep.py --torch PYTHON [--only TEXT] [--samples N] [--below RATIO].

Both sides run the cases of sweep_cases.txt, each in one process and one thread. A case's results are compared first; then it is
timed in turn, processor time, so that a busy machine costs precision and not truth. A case's figure is its fastest sample.
Printed are PyTorch's time over Taeda's, and both in microseconds, the worst first.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WORKER = """
import ctypes, gc, json, os, pickle, sys, time, warnings
warnings.simplefilter("ignore")
import {package} as torch
F = torch.nn.functional
torch.set_num_threads(1)
f32, f64, bf16, f16, i64, i32, i16, u8, c64 = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64,
                                               torch.int32, torch.int16, torch.uint8, torch.complex64)
def f(*s, t=f32): return torch.randn(*s, dtype=f64 if t == f64 else c64 if t == c64 else f32).to(t)
def u(*s, t=f32, low=0.0, high=1.0): return (torch.rand(*s, dtype=f64 if t == f64 else f32) * (high - low) + low).to(t)
def n(high, *s, t=i64, low=0): return torch.randint(low, high, s).to(t)
def mask(*s): return torch.rand(*s) > 0.5
def last(x): return x.contiguous(memory_format=torch.channels_last)
def grad(compute, *inputs):
    xs = [x.requires_grad_() for x in inputs]
    y = compute()
    g = torch.ones_like(y)
    return lambda: torch.autograd.grad(y, xs, g, retain_graph=True)
def both(compute, *inputs):
    xs = [x.requires_grad_() for x in inputs]
    def run():
        y = compute()
        return torch.autograd.grad(y if y.dim() == 0 else y.sum(), xs)
    return run
KINDS = {{str(t).split(".")[1]: t for t in (f32, f64, bf16, f16, i64, i32, i16, u8, c64, torch.int8, torch.bool,
                                          torch.complex128)}}
def flat(x):
    if isinstance(x, torch.Tensor): return [x.detach()]
    if isinstance(x, (tuple, list)): return [t for y in x for t in flat(y)]
    return [torch.tensor(float(x))]
def raw(t):
    t = t.resolve_conj().contiguous() if t.is_complex() else t.contiguous()
    return str(t.dtype).split(".")[1], tuple(t.shape), ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())
def same(mine, kind, shape, data):
    if str(mine.dtype).split(".")[1] != kind or tuple(mine.shape) != shape:
        return f"{{mine.dtype}}{{tuple(mine.shape)}} is {{kind}}{{shape}}"
    if not data: return ""
    theirs = torch.frombuffer(bytearray(data), dtype=KINDS[kind]).view(shape)
    if torch.equal(mine, theirs): return ""
    if not (mine.is_floating_point() or mine.is_complex()): return f"{{int((mine != theirs).sum())}} differ"
    tolerance = {{"float64": 1e-7, "complex128": 1e-7, "bfloat16": 2e-2, "float16": 4e-3}}.get(kind, 2e-4)
    wide = torch.complex128 if mine.is_complex() else f64
    a, b = mine.to(wide), theirs.to(wide)
    size = max(1.0, float(a.abs().nan_to_num(0, 0, 0).mean()))
    if torch.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True): return ""
    return f"differs by {{float((a - b).abs().nan_to_num(0).max()):.3g}} of {{float(a.abs().nan_to_num(0).max()):.3g}}"
def sample(run, count):
    t = time.process_time()
    for _ in range(count): run()
    return (time.process_time() - t) / count
run, count = None, 1
for line in sys.stdin:
    order = json.loads(line)
    try:
        if "setup" in order:
            torch.manual_seed(3)
            names = dict(globals())
            exec(order["setup"].strip(), names)
            made = eval(order["text"].strip(), names)
            run = made if callable(made) else eval("lambda: " + order["text"].strip(), names)
            out = flat(run())
            if order["file"] and "{package}" != "torch":
                pickle.dump([raw(t) for t in out], open(order["file"], "wb"))
                reply = ""
            else:
                theirs = pickle.load(open(order["file"], "rb"))
                reply = "; ".join(filter(None, (same(a, *b) for a, b in zip(out, theirs)))) if order["compare"] else ""
            out = made = None
            gc.collect(); gc.disable()
            once = min(sample(run, 1) for _ in range(3))
            count = max(1, min(1000, int(0.004 / max(once, 1e-7))))
        else:
            reply = sample(run, count)
    except Exception as e:
        reply = "error: " + type(e).__name__ + ": " + str(e).split("\\n")[0]
    print(json.dumps(reply), flush=True)
"""


class Side:
    def __init__(self, python, package):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        if package == "torch":
            environment.pop("PYTHONPATH", None)
        text = WORKER.replace("{package}", package).replace("{{", "{").replace("}}", "}")
        self.process = subprocess.Popen([python, "-W", "ignore", "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def ask(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else "error: the process ended"


def cases(path, only):
    """Lines `name | statements | expression`; `!` before a name: its values are not compared."""
    group = ""
    for line in path.read_text().splitlines():
        if line.startswith("##"):
            group = line.strip("# ")
        elif line.strip() and not line.startswith("#"):
            name, setup, text = (part.strip() for part in line.split(" | ", 2))
            compare = not name.startswith("!")
            name = f"{group}: {name.lstrip('!')}"
            if not only or any(word in name for word in only):
                yield name, setup, text, compare


def race(sides, name, setup, text, compare, file, samples):
    answers = [side.ask(setup=setup, text=text, file=file, compare=compare) for side in sides]
    if any(answers):
        print(f"{name}: {[a for a in answers if a]}", file=sys.stderr, flush=True)
    if any(a.startswith("error") for a in answers):
        return None
    best = [float("inf")] * 2
    for _ in range(samples):
        for i, side in enumerate(sides):
            best[i] = min(best[i], side.ask())
    return best[1] / best[0], name, best[0] * 1e6, best[1] * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torch", metavar="PYTHON", required=True, help="an interpreter with PyTorch")
    parser.add_argument("--only", action="append", help="cases whose names have this text")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--below", type=float, default=1.0, help="print cases with a lower ratio")
    arguments = parser.parse_args()
    sides = [Side(sys.executable, "taeda"), Side(arguments.torch, "torch")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(pathlib.Path(__file__).with_name("sweep_cases.txt"), arguments.only):
            row = race(sides, *case, os.path.join(folder, "values"), arguments.samples)
            rows += [row] if row else []
    for ratio, name, ours, theirs in sorted(rows):
        if ratio < arguments.below:
            print(f"{ratio:6.2f}  {name:60} PyTorch {theirs:10.2f}  Taeda {ours:10.2f}")
    print(f"{sum(r[0] < 1 for r in rows)} of {len(rows)} below 1")


if __name__ == "__main__":
    main()
