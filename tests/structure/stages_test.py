#!/usr/bin/env python3
"""Every campaign of tools/stages gets its turn, has tests, and stands in the documentation: stages_test.py ROOT"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
loader = importlib.machinery.SourceFileLoader("stages", str(root / "tools" / "stages"))
stages = importlib.util.module_from_spec(importlib.util.spec_from_loader("stages", loader))
loader.exec_module(stages)
names = list(stages.STAGES)
stages.missing = lambda stage: None  # whatever is installed here


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {got}, expected {wanted}")


noted = {name: (1.0, 1000) for name in names}
expect("turns of successive commits", [stages.turn(1000 + i, noted) for i in range(len(names))],
       [names[(1000 + i) % len(names)] for i in range(len(names))])
late = {**noted, names[3]: (1.0, 1000 - stages.OVERDUE - 1)}
expect("a campaign that nobody has noted for long", {stages.turn(1000 + i, late) for i in range(20)}, {names[3]})
few = {n: noted[n] for n in names if n not in names[2:4]}
expect("campaigns that were never noted take turns", {stages.turn(1000 + i, few) for i in range(20)}, set(names[2:4]))
expect("a campaign that was never noted", stages.turn(1000, {n: noted[n] for n in names if n != names[2]}), names[2])

sources = [p for folder in ("tests", "python/tests", "examples") for p in (root / folder).rglob("CMakeLists.txt")]
labels = {label for p in sources for label in re.findall(r"\bstage\.(\w+)", p.read_text())} - {"NAME"}
expect("labels of tests", sorted(labels), sorted(names))
guide = (root / "docs" / "contributing.md").read_text()
expect("docs/contributing.md", [n for n in names if f"| `{n}` |" not in guide], [])
table = stages.shares("Building", 10.0, {"library": 30.0, "tests": 10.0})
expect("a table", table, [f"{'Building':<40}    10.0 min", f"  {'library':<38}     7.5", f"  {'tests':<38}     2.5"])
