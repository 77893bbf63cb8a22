#!/usr/bin/env python3
"""Races Taeda against PyTorch on a device, case by case, and prints a table of medians and ratios.

    benchmarks/device_race.py --program build/benchmarks/device_race --device cuda --out results
    benchmarks/device_race.py --program build/benchmarks/device_race --device cpu --threads 1

Two programs draw the same inputs: Taeda's, and PyTorch's (device_race_torch.py) when Python has it. Of each
case both first show what they computed; only if that agrees are they timed, in turn. A case that differs
gets no ratio, and the exit status is 1. What was measured is kept in <out>/race.json, so that a race that ran
out of --seconds (exit status 3) goes on when it is run again. The table is <out>/race.txt, and race.md for
documents; both end with the cases that miss the goals. On an accelerator the tutorials' comparison with the CPU follows:
products and the CNN's steps.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the sources may be read-only
import device_race_table as tables  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


class OutOfTime(Exception):
    pass


def output_of(command):
    """What a command prints, or an empty string if it cannot be run."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=120).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def tolerance(name):
    if any(kind in name for kind in ("half", "bfloat16", "tf32", "amp")):
        return 4e-2
    return 1e-2 if name.startswith(("train/", "graph/", "conv/")) else 2e-3  # cuDNN rounds to TF32


def agree(name, ours, theirs):
    """Whether two digests are those of one result, up to rounding."""
    if not ours or not theirs:
        return True  # random numbers, or nothing to compare
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs):
        scale = max(abs(a[0]), abs(b[0]))
        # "not <=" so that a NaN differs
        if len(a) != len(b) or any(not abs(x - y) <= tolerance(name) * max(scale, abs(x)) for x, y in zip(a, b)):
            return False
    return True


class Side:
    """One of the two programs. It prepares a case, tells its result, and times it as often as it is asked to."""

    def __init__(self, command, env, deadline, limit):
        self.command, self.env, self.deadline, self.limit = command, env, deadline, limit
        self.process = self.waiting = None
        self.ended = False

    def start(self, names):
        filters = [word for n in names for word in ("--filter", "=" + n)]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command + ["--interactive"] + filters, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **self.env})
        self.lines, self.waiting = queue.Queue(), None
        threading.Thread(target=self.listen, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def listen(stream, lines):
        for line in stream:
            if line.startswith("{"):
                try:
                    lines.put(json.loads(line))
                except ValueError:
                    lines.put({"error": "not understood: " + line.strip()})
        lines.put(None)

    def read(self):
        """The next row; {} after the last; a row with "error" if the program crashed or hangs."""
        seconds = self.deadline - time.monotonic()
        try:
            row = self.lines.get(timeout=max(0.1, min(seconds, self.limit)))
        except queue.Empty:
            self.stop()
            if seconds < self.limit:
                raise OutOfTime from None
            return {"error": f"nothing was heard for {self.limit} s"}
        if row is None:
            status = self.process.wait()
            self.errors.seek(0)
            text = self.errors.read().strip()[-500:]
            self.stop()
            self.ended = status == 0
            return {"error": f"exit status {status}: {text}"} if status else {}
        return row

    def prepare(self, name, following):
        """The result of a case; {} if this side has no such case. `following`: the cases after it."""
        if self.ended:
            return {}
        if not self.process:
            self.start([name] + following)
        row = self.waiting or self.read()
        if not row or row.get("name", name) == name:
            self.waiting = None
            return row
        self.waiting = row
        return {}

    def say(self, word):
        if self.process:
            try:
                self.process.stdin.write(word + "\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                pass  # `read` tells why

    def time(self):
        self.say("time")
        return self.read()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
        self.process = None


class Race:
    def __init__(self, args):
        self.args = args
        self.out = pathlib.Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.file = self.out / "race.json"
        self.deadline = time.monotonic() + args.seconds
        self.env = {"OMP_NUM_THREADS": str(args.threads)} if args.threads else {}
        self.facts = self.find_facts()
        self.limits = self.find_limits()
        self.rows = {}
        if self.file.exists() and not args.fresh:
            before = json.loads(self.file.read_text())
            if all(before["about"].get(k) == v for k, v in self.facts.items() if k != "date"):
                self.rows = before["rows"]

    def find_facts(self):
        """What the figures depend on; rows of a race with other facts are not gone on with."""
        torch = self.torch_facts()
        cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
        root = (HERE.parent / "CMakeLists.txt").read_text()
        facts = {"date": datetime.date.today().isoformat(), "device": self.args.device, "sizes": self.args.sizes}
        if self.args.device == "cuda":
            facts["gpu"] = output_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        if self.args.device == "sim":
            facts["note"] = "simulated devices: Taeda's times are the host's, PyTorch's those of the CPU"
        facts.update({"cpu": f"{cpu.group(1) if cpu else platform.processor()}, {os.cpu_count()} processors",
                      "threads": self.args.threads or "default",
                      "taeda": re.search(r"project\(Taeda VERSION ([\d.]+)", root).group(1),
                      "built": time.strftime("%F %T", time.localtime(os.path.getmtime(self.args.program))),
                      "torch": torch})
        return facts

    def find_limits(self):
        """What the machine allows a second, by name; {} if nobody asked for it. benchmarks/limits.cpp says what they are."""
        if not self.args.limits:
            return {}
        lines = output_of([self.args.limits, "--threads", str(self.args.threads or os.cpu_count())]).splitlines()
        return {row["limit"]: row["per_second"] for row in map(json.loads, lines)}

    def torch_facts(self):
        """PyTorch's version and those of what it uses, or "none" if it cannot race."""
        code = ("import torch; print(torch.cuda.is_available()); print(torch.__version__, 'CUDA', torch.version.cuda,"
                "'cuDNN', torch.backends.cudnn.version())")
        found = output_of([self.args.python, "-c", code]).splitlines()
        if len(found) != 2 or (self.args.device == "cuda" and found[0] != "True"):
            return "none"
        return found[1].replace(" CUDA None cuDNN None", "")

    def side(self, command, device):
        options = ["--device", device, "--sizes", self.args.sizes, "--seconds", str(self.args.case_seconds)]
        return Side(command + options, self.env, self.deadline, self.args.case_limit)

    def names(self):
        found = subprocess.run([self.args.program, "--list", "--device", self.args.device, "--sizes", self.args.sizes],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.env})
        if found.returncode:
            sys.exit(found.stderr.strip())
        names = [json.loads(line)["name"] for line in found.stdout.splitlines()]
        return [n for n in names if not self.args.filter or any(f in n for f in self.args.filter)]

    def run(self):
        """True if everything was measured in time."""
        sides = {"taeda": self.side([self.args.program], self.args.device)}
        if self.facts["torch"] != "none":
            peer = [self.args.python, str(HERE / "device_race_torch.py")]
            sides["torch"] = self.side(peer, "cpu" if self.args.device == "sim" else self.args.device)
        names = self.names()
        cpu = {"cpu": self.side([self.args.program], "cpu")}
        on_cpu = [n for n in names if n.startswith(tables.ON_CPU)] if self.args.device != "cpu" else []
        try:
            self.race(names, sides, self.args.rounds)
            self.race(on_cpu, cpu, 1)
        except OutOfTime:
            return False
        finally:
            for side in [*sides.values(), *cpu.values()]:
                side.stop()
        return True

    def race(self, names, sides, rounds):
        def is_open(sides_before):
            return any(s not in sides_before or "error" in sides_before[s] for s in sides)

        open_names = [n for n in names if is_open(self.rows.get(n, {}))]
        for i, name in enumerate(open_names):
            if time.monotonic() > self.deadline:
                raise OutOfTime
            rows = {which: side.prepare(name, open_names[i + 1:]) for which, side in sides.items()}
            digests = [r.get("digest") for r in [*rows.values(), *self.rows.get(name, {}).values()]]
            racing = [w for w in sides if "digest" in rows[w]]
            if all(agree(name, digests[0], d) for d in digests[1:]):
                self.time(rows, {w: sides[w] for w in racing}, rounds)
            for which in racing:
                sides[which].say("next")
            self.rows.setdefault(name, {}).update(rows)
            self.save()

    def time(self, rows, sides, rounds):
        """Adds what was measured to the rows: the sides in turn, so that they see the same drift."""
        found = {which: [] for which in sides}
        for _ in range(rounds):
            for which, side in sides.items():
                if "error" not in rows[which]:
                    measured = side.time()
                    if "median_us" in measured:
                        found[which].append(measured)
                    else:
                        rows[which]["error"] = measured.get("error", "the program ended")
        for which, measured in found.items():
            if measured:
                rows[which].update({
                    "median_us": statistics.median(m["median_us"] for m in measured),
                    "min_us": min(m["min_us"] for m in measured),
                    "samples": sum(m["samples"] for m in measured),
                    "peak_mb": max(m["peak_mb"] for m in measured)})

    def save(self):
        self.file.write_text(json.dumps({"about": self.facts, "limits": self.limits, "rows": self.rows}, indent=1) + "\n")

    def differing(self):
        def differs(name, sides):
            digests = [r.get("digest") for r in sides.values()]
            return any(not agree(name, digests[0], d) for d in digests[1:])
        return [n for n, sides in self.rows.items() if differs(n, sides)]

    def failed(self):
        return [n for n, r in self.rows.items() if "error" in r.get("taeda", {})]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the built device_race")
    parser.add_argument("--device", choices=("cuda", "cpu", "sim"), default="cuda")
    parser.add_argument("--sizes", choices=("full", "cpu", "tiny"),
                        help="of the cases: for a GPU, for a CPU, to test the race itself (default: by device)")
    parser.add_argument("--out", default="race", help="folder for race.json, race.txt and race.md")
    parser.add_argument("--python", default=sys.executable, help="the Python that may have PyTorch")
    parser.add_argument("--limits", help="the built benchmarks/limits: each row then says its share of what the CPU allows")
    parser.add_argument("--threads", type=int, help="of the CPU, for both sides")
    parser.add_argument("--seconds", type=float, default=580, help="for the whole race; it goes on when run again")
    parser.add_argument("--case-seconds", type=float, help="of measurement per case, side and round (default 0.2; "
                                                           "tiny 0)")
    parser.add_argument("--case-limit", type=float, default=240, help="seconds after which a silent case is given up")
    parser.add_argument("--rounds", type=int, help="how often the sides are timed in turn (default 3; tiny 1)")
    parser.add_argument("--filter", action="append", help="only cases whose name contains this; may be repeated")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    args = parser.parse_args()
    args.sizes = args.sizes or {"cuda": "full", "cpu": "cpu", "sim": "tiny"}[args.device]
    if args.case_seconds is None:
        args.case_seconds = 0 if args.sizes == "tiny" else 0.2
    args.rounds = args.rounds or (1 if args.sizes == "tiny" else 3)
    return args


def main():
    race = Race(parse_arguments())
    in_time = race.run()
    differing, failed = race.differing(), race.failed()
    text = tables.for_people(race.facts, race.rows, differing, race.limits)
    (race.out / "race.txt").write_text(text)
    (race.out / "race.md").write_text(tables.markdown(race.facts, race.rows, differing, race.limits))
    print(text)
    for kind, which in (("DIFFERENT", differing), ("FAILED", failed)):
        if which:
            print(f"{kind}: {', '.join(which)}")
    if differing or failed:
        return 1
    if not in_time:
        print("NOT FINISHED: run it again")
    return 0 if in_time else 3


if __name__ == "__main__":
    sys.exit(main())
