#!/usr/bin/env python3
"""What calls from Python cost, here and in PyTorch, measured in turn: calls.py [--torch PYTHON] [--rounds N].

Each round runs every case in a fresh interpreter of each side, one after the other; a case's figure is the best of all rounds,
which the least else was running beside. Without PYTHON the figures of Taeda stand alone. One thread each.
"""

import argparse
import json
import os
import subprocess
import sys

CASE = """
import gc, json, sys, time
import {package} as torch
torch.set_num_threads(1)
def best(f, n):
    for _ in range(n // 10 + 1): f()
    gc.disable()
    out = 1e9
    for _ in range(5):
        t = time.perf_counter()
        for _ in range(n): f()
        out = min(out, (time.perf_counter() - t) / n)
    gc.enable()
    return out * 1e9
r = {{}}
x, y, m = torch.ones(1), torch.ones(1), torch.ones(8, 8)
g = torch.ones(1, requires_grad=True)
r["add of one element"] = best(lambda: torch.add(x, y), 20000)
r["add with grad"] = best(lambda: torch.add(g, y), 10000)
r["x + 1.0"] = best(lambda: x + 1.0, 20000)
r["m[0]"] = best(lambda: m[0], 20000)
r["m[:, 1:3]"] = best(lambda: m[:, 1:3], 10000)
w, b, v = torch.ones(4, 4, requires_grad=True), torch.ones(4, requires_grad=True), torch.ones(2, 4)
r["F.linear 4x4"] = best(lambda: torch.nn.functional.linear(v, w, b), 5000)
linear = torch.nn.Linear(4, 4)
r["Linear(4, 4)(m)"] = best(lambda: linear(v), 5000)
def guard():
    with torch.no_grad(): pass
r["with no_grad()"] = best(guard, 20000)
def step():
    (g * y).backward()
    g.grad = None
r["forward and backward of one mul"] = best(step, 3000)
ps = [torch.ones(8, requires_grad=True) for _ in range(100)]
for p in ps: p.grad = torch.ones(8)
adam = torch.optim.Adam(ps, **{adam})
r["Adam of 100 tensors"] = best(adam.step, 60)
import numpy
a = numpy.ones(4, dtype=numpy.float32)
r["from_numpy"] = best(lambda: torch.from_numpy(a), 10000)
mlp = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
opt = torch.optim.SGD(mlp.parameters(), lr=0.01)
xs, ys = torch.randn(64, 64), torch.randint(0, 10, (64,))
def train():
    opt.zero_grad()
    torch.nn.functional.cross_entropy(mlp(xs), ys).backward()
    opt.step()
r["MLP step, batch 64"] = best(train, 100)
print(json.dumps(r))
"""
IMPORT = ("import time, resource; t = time.perf_counter(); import {package}; "
          "print((time.perf_counter() - t) * 1e9, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)")
GOALS = {"add of one element": 200, "add with grad": 300, "x + 1.0": 200, "m[0]": 200, "m[:, 1:3]": 350, "F.linear 4x4": 700,
         "Linear(4, 4)(m)": 1000, "with no_grad()": 150, "forward and backward of one mul": 3000, "Adam of 100 tensors": 40000,
         "from_numpy": 250, "import": 60e6, "memory after import": 40 << 20}


def run(python, package, text):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if package == "torch":
        environment.pop("PYTHONPATH", None)
    adam = "{'fused': True}" if package == "torch" else "{}"
    text = text.replace("{package}", package).replace("**{adam}", f"**{adam}").replace("{{", "{").replace("}}", "}")
    done = subprocess.run([python, "-W", "ignore", "-c", text], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{package}: {done.stderr}")
    return done.stdout


def figures(python, package):
    out = json.loads(run(python, package, CASE))
    out["import"], out["memory after import"] = map(float, run(python, package, IMPORT).split())
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    sides = {"taeda": sys.executable, **({"torch": arguments.torch} if arguments.torch else {})}
    best = {side: {} for side in sides}
    for _ in range(arguments.rounds):
        for side, python in sides.items():
            for name, value in figures(python, side).items():
                best[side][name] = min(value, best[side].get(name, value))
    print(f"{'':34}{'taeda':>12}{'goal':>12}" + (f"{'PyTorch':>12}{'ratio':>8}" if arguments.torch else ""))
    for name, value in best["taeda"].items():
        unit = (1e6, "ms") if value > 1e7 else (1e3, "us") if value > 1e4 else (1, "ns")
        unit = (1 << 20, "MB") if name.startswith("memory") else unit
        text = f"{name:34}{value / unit[0]:>9.1f} {unit[1]}"
        text += f"{GOALS[name] / unit[0]:>9.1f} {unit[1]}" if name in GOALS else " " * 12
        if arguments.torch:
            other = best["torch"][name]
            text += f"{other / unit[0]:>9.1f} {unit[1]}{other / value:>8.1f}"
        print(text)


if __name__ == "__main__":
    main()
