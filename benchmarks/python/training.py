#!/usr/bin/env python3
"""Training and inference of whole networks, here and by PyTorch in every mode it has on a CPU, measured in turn.

    PYTHONPATH=build/python benchmarks/python/training.py --torch PYTHON [--threads N] [--rounds N] [--filter TEXT]

The same program runs under both packages. PyTorch's modes: eager with fused optimizers, the same in channels_last,
torch.compile, bfloat16 autocast (channels_last) eager and compiled; Taeda's: float32 and bfloat16 autocast. All begin with
the same parameters and data; losses of two steps are compared before anything is timed, and a mode whose losses differ is left
out and said so. Then all modes of a case are timed in turn, round by round; figures are the fastest steps, which the least else
was running beside. The last two columns are PyTorch's best mode over Taeda's: in float32 alone, and with bfloat16 allowed.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

CASES = {"train/mlp_b64": ("Mlp", (64, 100), 10), "train/cnn_b64": ("LeNet", (64, 1, 28, 28), 10),
         "train/cnn_b1000": ("LeNet", (1000, 1, 28, 28), 10), "train/resnet18_32px_b32": ("ResNet18", (32, 3, 32, 32), 1000),
         "train/resnet18_224px_b4": ("ResNet18", (4, 3, 224, 224), 1000), "train/gpt_4x256_b8_t128": ("Gpt", (8, 128), 512),
         "train/lstm_2x256_t64_b32": ("Lstm", (64, 32, 256), 256)}
CASES.update({"infer" + name[5:]: case for name, case in list(CASES.items())})
MODES = {"taeda": ("float32", "bfloat16"),
         "torch": ("eager", "channels_last", "compiled", "bfloat16", "bfloat16_compiled")}


def networks(torch):
    """The networks of benchmarks/models.h, by their names."""
    return {c.__name__: c for c in (*networks_of_pictures(torch), *networks_of_sequences(torch))}


def networks_of_pictures(torch):
    nn, F = torch.nn, torch.nn.functional

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(100, 50), nn.Linear(50, 10)

        def forward(self, x):
            return self.fc2(F.relu(self.fc1(x)))

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 12, 5)
            self.fc1, self.fc2, self.out = nn.Linear(192, 120), nn.Linear(120, 60), nn.Linear(60, 10)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.conv1(x)), 2)
            x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
            return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))

    class Block(nn.Module):
        def __init__(self, width_in, width, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(width_in, width, 3, stride, 1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.down = None
            if stride != 1 or width_in != width:
                self.down = nn.Sequential(nn.Conv2d(width_in, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + (x if self.down is None else self.down(x)))

    class ResNet18(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            widths = [64, 64, 128, 128, 256, 256, 512, 512]
            self.blocks = nn.Sequential(*(Block(a, b, 1 if a == b else 2) for a, b in zip([64] + widths, widths)))
            self.fc = nn.Linear(512, 1000)

        def forward(self, x):
            x = self.blocks(F.max_pool2d(F.relu(self.bn(self.conv(x))), 3, 2, 1))
            return self.fc(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))

    return Mlp, LeNet, ResNet18


def networks_of_sequences(torch):
    nn, F = torch.nn, torch.nn.functional

    class GptLayer(nn.Module):
        def __init__(self, d, heads):
            super().__init__()
            self.heads = heads
            self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x):
            b, t, d = x.shape
            q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
            return x + self.down(F.gelu(self.up(self.ln2(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(512, 256), nn.Embedding(128, 256)
            self.layers = nn.Sequential(*(GptLayer(256, 4) for _ in range(4)))
            self.ln, self.head = nn.LayerNorm(256), nn.Linear(256, 512)

        def forward(self, ids):
            x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
            return self.head(self.ln(self.layers(x))).flatten(0, 1)

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(256, 256, num_layers=2)

        def forward(self, x):
            return self.lstm(x)[0]

    return Gpt, Lstm


def make_step(torch, package, name, mode):
    """A function that does one step and returns its loss (for inference the mean of the results' absolute values)."""
    F = torch.nn.functional
    kind, sizes, classes = CASES[name]
    torch.manual_seed(0)
    model = networks(torch)[kind]()
    torch.manual_seed(1)
    x = torch.randint(0, classes, sizes) if kind == "Gpt" else torch.randn(*sizes)
    y = torch.randn(*sizes) if kind == "Lstm" else torch.randint(0, classes, (math.prod(sizes) if kind == "Gpt" else sizes[0],))
    if package == "torch" and mode != "eager" and len(sizes) == 4:
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    call = torch.compile(model) if "compiled" in mode else model

    def forward():
        if not mode.startswith("bfloat16"):
            return call(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return call(x)

    if name.startswith("infer/"):
        model.eval()

        def infer():
            with torch.no_grad():
                return forward()
        return infer, lambda result: result.float().abs().mean().item()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **({"fused": True} if package == "torch" else {}))

    def train():
        optimizer.zero_grad()
        result = forward().float()
        loss = F.mse_loss(result, y) if kind == "Lstm" else F.cross_entropy(result, y)
        loss.backward()
        optimizer.step()
        return loss
    return train, lambda loss: loss.item()


def serve(package, name, mode, threads):
    """One side of one case: tells two losses, then times itself for as many seconds as each line asks."""
    torch = __import__(package)
    torch.set_num_threads(threads)
    step, number = make_step(torch, package, name, mode)
    print(json.dumps({"losses": [number(step()) for _ in range(2)]}), flush=True)
    for _ in range(3):
        step()
    for line in sys.stdin:
        samples, end = [], time.perf_counter() + float(line)
        while len(samples) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            step()
            samples.append((time.perf_counter() - start) * 1e3)
        peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(json.dumps({"ms": samples, "peak_mb": int(peak) / 1024}), flush=True)


class Side:
    def __init__(self, python, package, name, mode, threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        environment.pop("OPENBLAS_CORETYPE", None)
        if package == "torch":
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, "-W", "ignore", __file__, "--serve", package, name, mode, str(threads)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.mode, self.ms, self.peak_mb = f"{package} {mode}", [], 0
        self.losses = self.hear().get("losses")

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            print(f"  {self.mode}: {self.process.stderr.read().strip()[-300:]}", file=sys.stderr)
        return json.loads(line) if line else {}

    def time(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        heard = self.hear()
        self.ms += heard.get("ms", [])
        self.peak_mb = heard.get("peak_mb", 0)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def agrees(side, first):
    tolerance = 5e-2 if "bfloat16" in side.mode else 2e-3
    return side.losses and all(abs(a - b) <= tolerance * abs(b) for a, b in zip(side.losses, first.losses))


def race(name, arguments):
    sides = [Side(sys.executable if package == "taeda" else arguments.torch, package, name, mode, arguments.threads)
             for package in MODES if package == "taeda" or arguments.torch for mode in MODES[package]
             if not arguments.modes or mode in arguments.modes.split(",")]
    if not sides[0].losses:
        sys.exit(f"{sides[0].mode} does not run")
    for side in sides:
        if not agrees(side, sides[0]):
            print(f"  {side.mode} computes {side.losses}, {sides[0].mode} {sides[0].losses}: left out", flush=True)
    racing = [side for side in sides if agrees(side, sides[0])]
    for _ in range(arguments.rounds):
        for side in racing:
            side.time(arguments.seconds)
    for side in sides:
        side.stop()
    best = {side.mode: min(side.ms) for side in racing if side.ms}

    def least(package, exact):
        found = [ms for mode, ms in best.items() if mode.startswith(package) and not (exact and "bfloat16" in mode)]
        return min(found) if found else math.nan
    row = {"case": name, "threads": arguments.threads, "ms": best, "peak_mb": {s.mode: round(s.peak_mb) for s in racing},
           "float32": least("torch", True) / least("taeda", True), "any": least("torch", False) / least("taeda", False)}
    print(f"{name:28}" + "".join(f"  {mode} {ms:.3f}" for mode, ms in best.items()) +
          f"  | best/best: float32 {row['float32']:.2f}, any {row['any']:.2f}", flush=True)
    return row


def main():
    if sys.argv[1:2] == ["--serve"]:
        package, name, mode, threads = sys.argv[2:]
        return serve(package, name, mode, int(threads))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with PyTorch; without, Taeda's figures stand alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="for a mode in a round; three steps at least")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--modes", help="only these, comma-separated")
    parser.add_argument("--json", help="file for the rows")
    arguments = parser.parse_args()
    rows = [race(name, arguments) for name in CASES if arguments.filter in name]
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
