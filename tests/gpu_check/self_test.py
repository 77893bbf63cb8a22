#!/usr/bin/env python3
"""Tests tools/gpu_check and benchmarks/device_race.py with made-up programs: what they say of crashes, hangs,
errors that a checker finds, results that differ. (That they work on real ones, gpu_check.tests and
gpu_check.race show.)"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "benchmarks")]


def load(name, path):
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


gpu_check = load("gpu_check", ROOT / "tools" / "gpu_check")
device_race = load("device_race", ROOT / "benchmarks" / "device_race.py")
tables = device_race.tables

# Looks like a program of GoogleTest. A test's name says how it ends.
GTEST = """#!%s
import os, sys, time
listed = %r
if "--gtest_list_tests" in sys.argv:
    print("Suite.")
    print("\\n".join("  " + n.split(".")[1] + "  # a comment" for n in listed))
    sys.exit(0)
names = [a.split("=")[1] for a in sys.argv if a.startswith("--gtest_filter=")][0].split(":")
status = 0
with open(os.path.join(os.path.dirname(sys.argv[0]), "pid"), "w") as pid:
    pid.write(str(os.getpid()))
for name in names:
    print("[ RUN      ] " + name, flush=True)
    with open(os.path.join(os.path.dirname(sys.argv[0]), "runs"), "a") as runs:
        runs.write(name + "\\n")
    if "Crash" in name:
        os.abort()
    if "Hang" in name:
        time.sleep(600)
    if "Skip" in name:
        print("file.cpp:1: Skipped\\nneeds 2 devices, found 1")
    if "Bad" in name:
        print("file.cpp:2: Failure")
        status = 1
    word = "  SKIPPED " if "Skip" in name else "  FAILED  " if "Bad" in name else "       OK "
    print("[" + word + "] " + name + " (0 ms)", flush=True)
sys.exit(status)
"""

# Looks like compute-sanitizer, and complains of tests named Wrong.
SANITIZER = """#!%s
import subprocess, sys
program = [i for i, a in enumerate(sys.argv) if a.startswith("/") and i > sys.argv.index("--log-file") + 1][0]
status = subprocess.run(sys.argv[program:]).returncode
if "Wrong" in " ".join(sys.argv):
    open(sys.argv[sys.argv.index("--log-file") + 1], "w").write("Invalid __global__ read of size 4 bytes")
    status = int(sys.argv[sys.argv.index("--error-exitcode") + 1])
sys.exit(status)
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name, "build")
        (self.build / "tests").mkdir(parents=True)

    def program(self, path, text, *values):
        path.write_text(text % (sys.executable, *values))
        path.chmod(0o755)

    def check(self, *names, device="sim", options=()):
        self.program(self.build / "tests" / "test_ops", GTEST, ["Suite." + n for n in names])
        args = gpu_check.parse_arguments(["--device", device, "--build-dir", str(self.build), "--processes", "1",
                                          "--test-timeout", "5", *options])
        gpu_check.say = lambda *words: None
        return gpu_check.Check(args)

    def run_step(self, check, env=None, checker=None, devices=1):
        gpu_check.STEPS["test-ops"] = gpu_check.Tests("", [("test_ops", "*")], env, checker, devices=devices)
        return check.run("test-ops")

    def runs(self):
        return (self.build / "tests" / "runs").read_text().split()

    def test_a_crash_and_a_hang_cost_one_test_each(self):
        result = self.run_step(self.check("Good", "Crash", "Fine", "Hang", "Bad", "Skip", "Last"))
        self.assertEqual(result["status"], "failed")
        self.assertIn("3 passed, 3 failed, 1 skipped of 7", result["text"])
        self.assertIn("1 skipped: needs 2 devices, found 1", result["text"])
        texts = {f["name"]: f["text"] for f in result["failures"]}
        self.assertIn("the process ended with status -6", texts["test_ops Suite.Crash"])
        self.assertIn("nothing was heard of it for 5 s", texts["test_ops Suite.Hang"])
        self.assertIn("file.cpp:2: Failure", texts["test_ops Suite.Bad"])

    def test_what_passed_is_not_run_again(self):
        self.run_step(self.check("Good", "Bad"))
        self.run_step(self.check("Good", "Bad", options=["--fresh"]))
        self.assertEqual(self.runs(), ["Suite.Good", "Suite.Bad"] * 2)
        check = self.check("Good", "Bad")
        check.state["built"] = max(p.stat().st_mtime for p in (self.build / "tests").iterdir() if os.access(p, os.X_OK))
        self.run_step(check)
        self.assertEqual(self.runs()[4:], ["Suite.Bad"])

    def test_a_step_that_is_cut_short_says_so(self):
        result = self.run_step(self.check("Good", "Hang", options=["--timeout", "5", "--test-timeout", "60"]))
        self.assertEqual((result["status"], result["finished"]), ("unfinished", False))
        self.assertIn("1 passed of 2; not finished: run the step again", result["text"])

    def test_a_checker_names_the_test(self):
        tools = pathlib.Path(self.folder.name, "cuda", "bin")
        tools.mkdir(parents=True)
        self.program(tools / "compute-sanitizer", SANITIZER)
        before, os.environ["PATH"] = os.environ["PATH"], str(tools) + os.pathsep + os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        check = self.check("One", "Two", "Wrong", "Four", "Five", device="cuda")
        result = self.run_step(check, checker="memcheck")
        self.assertEqual([f["name"] for f in result["failures"]], ["test_ops Suite.Wrong"])
        self.assertIn("memcheck:\nInvalid __global__ read", result["failures"][0]["text"])
        self.assertIn("4 passed, 1 failed of 5", result["text"])

    def test_that_all_is_skipped_is_an_error_where_one_device_is_enough(self):
        self.assertEqual(self.run_step(self.check("Skip", device="cuda"))["status"], "failed")
        self.assertEqual(self.run_step(self.check("Skip", device="cuda"), devices=2)["status"], "skipped")

    def test_nothing_goes_on_after_an_interruption(self):
        self.check("Good", "Hang")
        command = [sys.executable, str(ROOT / "tools" / "gpu_check"), "--device", "sim", "--no-build", "--build-dir",
                   str(self.build), "--step", "test-ops"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        runs = self.build / "tests" / "runs"
        while not runs.exists() or "Suite.Hang" not in self.runs():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 130)
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.build / "tests" / "pid").read_text()), 0)

    def test_the_report_lists_what_failed(self):
        check = self.check("Good", "Bad")
        self.run_step(check)
        check.report()
        report = json.loads((check.out / "report.json").read_text())
        self.assertEqual(report["verdict"], "failed")
        self.assertEqual(report["steps"]["test-ops"]["failures"][0]["name"], "test_ops Suite.Bad")
        self.assertIn("build", report["not_run"])
        lines = (check.out / "report.txt").read_text().splitlines()
        self.assertEqual(lines[0], "FAILED: test-ops")
        self.assertIn("---- test-ops: 1 failed", lines)


# Looks like device_race: a case is a name and what it computes; names say how it ends.
RACER = """#!%s
import json, os, sys, time
nan = float("nan")
for name, value in %r:
    if "--list" in sys.argv:
        print(json.dumps({"name": name}))
        continue
    if "=" + name not in sys.argv:
        continue
    if "crash" in name:
        os.abort()
    if "hang" in name:
        time.sleep(600)
    print(json.dumps({"name": name, "bytes": 8e6, "flops": 0, "digest": [[abs(value), value]]}), flush=True)
    while sys.stdin.readline().strip() == "time":
        print(json.dumps({"name": name, "median_us": 2.0, "min_us": 1.0, "samples": 1, "peak_mb": 1}), flush=True)
"""


class DeviceRace(unittest.TestCase):
    def race(self, ours, theirs):
        with tempfile.TemporaryDirectory() as folder:
            sides = {}
            for which, cases in (("taeda", ours), ("torch", theirs)):
                path = pathlib.Path(folder, which)
                path.write_text(RACER % (sys.executable, cases))
                path.chmod(0o755)
                sides[which] = device_race.Side([str(path)], {}, deadline=float("inf"), limit=5)
            race = device_race.Race.__new__(device_race.Race)
            race.rows, race.deadline, race.save = {}, float("inf"), lambda: None
            try:
                race.race([name for name, _ in ours], sides, 2)
            finally:
                for side in sides.values():
                    side.stop()
            return race

    def test_results_that_differ_are_not_timed(self):
        race = self.race([("a", 1.0), ("b", 1.0), ("c", float("nan")), ("d", 2.0)],
                         [("a", 1.0001), ("b", 1.1), ("c", 1.0), ("d", 2.0)])
        self.assertEqual(race.differing(), ["b", "c"])
        self.assertEqual([n for n, r in race.rows.items() if "median_us" in r["taeda"]], ["a", "d"])
        self.assertEqual(race.rows["a"]["torch"]["samples"], 2)
        self.assertEqual(race.failed(), [])

    def test_a_case_of_one_side_alone_is_timed_there(self):
        race = self.race([("a", 1.0), ("only", 1.0), ("b", 1.0)], [("a", 1.0), ("b", 1.0)])
        self.assertEqual(race.rows["only"]["torch"], {})
        self.assertIn("median_us", race.rows["only"]["taeda"])
        self.assertIn("median_us", race.rows["b"]["torch"])

    def test_a_crash_costs_one_case(self):
        race = self.race([("a", 1.0), ("crash", 1.0), ("b", 1.0)], [("a", 1.0), ("crash", 1.0), ("b", 1.0)])
        self.assertEqual(race.failed(), ["crash"])
        self.assertIn("exit status -6", race.rows["crash"]["taeda"]["error"])
        self.assertIn("median_us", race.rows["b"]["taeda"])
        self.assertIn("median_us", race.rows["b"]["torch"])

    def test_goals(self):
        def row(us, peer, mb=1, peer_mb=1):
            return {"taeda": {"median_us": us, "bytes": 8e6, "flops": 0, "peak_mb": mb, "digest": []},
                    "torch": {"median_us": peer, "peak_mb": peer_mb}}
        rows = {"elementwise/copy": row(10, 10), "elementwise/add": row(12, 12), "train/mlp_b64": row(10, 20),
                "train/gpt": row(10, 9), "conv/a": row(10, 10, 2)}
        self.assertEqual(tables.goals_missed(rows), [
            "elementwise/add: 83% of the copy's bandwidth, not 90%",
            "train/mlp_b64: 2.00 times as fast as PyTorch, not 3",
            "train/gpt: 0.90 times as fast as PyTorch, not 1",
            "conv/a: 2.0 MB at the peak, PyTorch 1.0"])
        facts = {"device": "cuda", "sizes": "full"}
        self.assertIn("Slower than PyTorch: train/gpt 0.90.", tables.for_people(facts, rows, []))
        self.assertIn("| train/gpt | 10.00 | 9.00 | differs |", tables.markdown(facts, rows, ["train/gpt"]))

    def test_share_of_the_limit(self):
        limits = {"flops_float": 2e11, "flops_bfloat16": 4e11, "copy_cache": 2e11, "copy_memory": 4e10}
        row = {"bytes": 0, "flops": 2e6}
        self.assertEqual(tables.least_us("matmul/a", row, limits), 10)
        self.assertEqual(tables.least_us("matmul/a_bfloat16", row, limits), 5)
        self.assertEqual(tables.least_us("elementwise/add", {"bytes": 4e6, "flops": 0}, limits), 100)
        self.assertEqual(tables.least_us("elementwise/add", {"bytes": 4e5, "flops": 0}, limits), 2)
        self.assertEqual(tables.least_us("matmul/a", row, {}), 0)
        rows = {"matmul/a": {"taeda": {"median_us": 40, "digest": [], **row}}}
        text = tables.for_people({"device": "cpu", "sizes": "cpu"}, rows, [], limits)
        self.assertRegex(text, r"limits: +per second, in 1e9: flops_float 200")
        self.assertRegex(text, r"matmul/a .* 25%")

if __name__ == "__main__":
    unittest.main()
