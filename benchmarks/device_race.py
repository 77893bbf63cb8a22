#!/usr/bin/env python3
"""Races Taeda against PyTorch on a device, case by case, and prints a table of medians and ratios.

    benchmarks/device_race.py --program build/benchmarks/device_race --device cuda --out results

Each group of cases runs in a process of its own, Taeda's and PyTorch's in turn, when Python has PyTorch.
Both draw the same inputs; a case whose results differ gets no ratio, and the exit status is 1. What was
measured is kept in <out>/race.json, so that a race that ran out of --seconds (exit status 3) goes on
when it is run again. The table is <out>/race.txt. Also measured: the CNN's steps on the CPU.
"""
import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CPU_CASES = ("train/cnn_b64", "train/cnn_b1000", "train/cnn_b10000")


def tolerance(name):
    if any(kind in name for kind in ("half", "bfloat16", "tf32", "amp")):
        return 4e-2
    return 1e-2 if name.startswith(("train/", "graph/")) else 2e-3


def agree(name, ours, theirs):
    """Whether two digests are those of one result, up to rounding."""
    if not ours or not theirs:
        return True  # random numbers, or nothing to compare
    for a, b in zip(ours, theirs):
        scale = max(abs(a[0]), abs(b[0]))
        if len(a) != len(b) or any(abs(x - y) > tolerance(name) * max(scale, abs(x)) for x, y in zip(a, b)):
            return False
    return True


class Race:
    def __init__(self, args):
        self.args = args
        self.out = pathlib.Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.file = self.out / "race.json"
        self.rows = {}
        if self.file.exists() and not args.fresh:
            self.rows = json.loads(self.file.read_text())["rows"]
        self.deadline = time.monotonic() + args.seconds
        self.torch = self.torch_version()

    def torch_version(self):
        code = "import torch; print(torch.__version__, torch.cuda.is_available())"
        try:
            found = subprocess.run([self.args.python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True, timeout=120).stdout.split()
        except (OSError, subprocess.TimeoutExpired):
            return None
        if len(found) != 2 or (self.args.device == "cuda" and found[1] != "True"):
            return None
        return found[0]

    def lines(self, command):
        """The JSON lines that a command prints until the time is over."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate(timeout=max(self.deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        found = [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
        if process.returncode not in (0, -9):
            found.append({"name": "", "error": f"exit status {process.returncode}: {errors.strip()[-500:]}"})
        return found

    def options(self, device):
        return ["--device", device, "--seconds", str(self.args.case_seconds)] + (["--tiny"] if self.args.tiny else [])

    def side(self, side, command, names):
        """Runs one side for the cases that it has not done; False if time ran out first."""
        missing = [n for n in names if side not in self.rows.get(n, {})]
        while missing:
            if time.monotonic() > self.deadline:
                return False
            filters = [word for n in missing for word in ("--filter", "=" + n)]
            found = self.lines(command + filters)
            for row in found:
                name = row.pop("name") or missing[len(found) - 1]
                self.rows.setdefault(name, {})[side] = row
            if time.monotonic() > self.deadline:
                return False
            left = [n for n in missing if side not in self.rows.get(n, {})]
            if len(left) == len(missing):  # this side has no such case
                for n in left:
                    self.rows.setdefault(n, {})[side] = {}
                return True
            missing = left
        return True

    def run(self):
        """True if everything was measured in time."""
        program = [self.args.program]
        listing = self.lines(program + ["--list"] + self.options(self.args.device))
        names = [row["name"] for row in listing]
        if self.args.filter:
            names = [n for n in names if any(f in n for f in self.args.filter)]
        peer = [self.args.python, str(HERE / "device_race_torch.py")]
        peer += self.options("cuda" if self.args.device == "cuda" else "cpu")
        groups = list(dict.fromkeys(n.split("/")[0] for n in names))
        for group in groups:
            members = [n for n in names if n.split("/")[0] == group]
            sides = [("taeda", program + self.options(self.args.device))]
            if self.torch:
                sides.append(("torch", peer))
            for side, command in sides:
                in_time = self.side(side, command, members)
                self.save()
                if not in_time:
                    return False
        in_time = self.side("cpu", program + self.options("cpu"), [n for n in names if n in CPU_CASES])
        self.save()
        return in_time

    def about(self):
        gpu = ""
        if self.args.device == "cuda":
            gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                 stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        return {"date": datetime.datetime.now().isoformat(timespec="seconds"), "device": self.args.device, "gpu": gpu,
                "torch": self.torch or "none", "machine": platform.platform(), "tiny": self.args.tiny}

    def save(self):
        self.file.write_text(json.dumps({"about": self.about(), "rows": self.rows}, indent=1) + "\n")

    def differing(self):
        return [n for n, r in self.rows.items()
                if not agree(n, r.get("taeda", {}).get("digest"), r.get("torch", {}).get("digest"))]

    def failed(self):
        return [n for n, r in self.rows.items() if "error" in r.get("taeda", {})]

    def table(self):
        """Lines for people; ratio: PyTorch's median over Taeda's, above 1 where Taeda is faster."""
        copy = self.rows.get("elementwise/copy", {}).get("taeda", {})
        bandwidth = copy["bytes"] / copy["median_us"] / 1e3 if copy.get("median_us") else 0
        lines = [f"{k}: {v}" for k, v in self.about().items()]
        lines += ["", f"{'case':46} {'Taeda us':>12} {'PyTorch us':>12} {'ratio':>6} {'GB/s':>8} {'of copy':>7} "
                      f"{'TFLOP/s':>8} {'MB':>8} {'MB PyT.':>8} {'CPU us':>12}"]
        differing = set(self.differing())
        for name, row in self.rows.items():
            ours, theirs, cpu = (row.get(side, {}) for side in ("taeda", "torch", "cpu"))
            if "median_us" not in ours:
                lines.append(f"{name:46} {ours.get('error', 'not measured')}")
                continue
            us = ours["median_us"]
            cells = [f"{us:12.2f}", f"{theirs['median_us']:12.2f}" if "median_us" in theirs else " " * 12]
            ratio = ""
            if "median_us" in theirs:
                ratio = "differs" if name in differing else f"{theirs['median_us'] / us:.2f}"
            gb, tf = ours.get("bytes", 0) / us / 1e3, ours.get("flops", 0) / us / 1e6
            cells.append(f"{ratio:>6}")
            cells.append(f"{gb:8.1f}" if gb else " " * 8)
            cells.append(f"{100 * gb / bandwidth:6.0f}%" if gb and bandwidth else " " * 7)
            cells.append(f"{tf:8.3f}" if tf else " " * 8)
            cells.append(f"{ours['peak_mb']:8.1f}")
            cells.append(f"{theirs['peak_mb']:8.1f}" if theirs.get("peak_mb") else " " * 8)
            cells.append(f"{cpu['median_us']:12.1f}" if "median_us" in cpu else "")
            lines.append(f"{name:46} " + " ".join(cells).rstrip())
        return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the built device_race")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", default="race", help="folder for race.json and race.txt")
    parser.add_argument("--python", default=sys.executable, help="the Python that may have PyTorch")
    parser.add_argument("--seconds", type=float, default=580, help="for the whole race; it goes on when run again")
    parser.add_argument("--case-seconds", type=float, default=0.3, help="of measurement per case and side")
    parser.add_argument("--filter", action="append", help="only cases whose name contains this")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--tiny", action="store_true", help="small sizes and short times, to test the race itself")
    args = parser.parse_args()
    if args.tiny:
        args.case_seconds = 0
    race = Race(args)
    in_time = race.run()
    text = "\n".join(race.table()) + "\n"
    (race.out / "race.txt").write_text(text)
    print(text)
    if race.differing() or race.failed():
        print("DIFFERENT OR FAILED: " + ", ".join(race.differing() + race.failed()))
        return 1
    return 0 if in_time else 3


if __name__ == "__main__":
    sys.exit(main())
