#!/usr/bin/env python3
"""Compares what libtorch's headers declare with what compiles against Taeda's.

  coverage.py update     reads an installed libtorch (Debian: libtorch-dev, python3-clang, clang), asks the compiler,
                         writes tests/frontend/libtorch.tsv and the lists of docs/libtorch.md
  coverage.py check      asks the compiler again for everything that is present there; needs no libtorch
  coverage.py missing    prints what is missing, the areas with most of it first
"""

import argparse
import collections
import sys
from pathlib import Path

import probe
import rules
import snapshot

ROOT = Path(__file__).resolve().parents[2]


def flags_of(build):
    return [f"-I{path}" for path in (ROOT / "include/compat", build / "compat/include", ROOT,
                                     build / "generated")]


def statuses(entries, compiler, flags):
    """For each entry `present`, `by name`, `purpose: rule` or `missing`."""
    bad, _ = probe.failing([probe.line(e, i) for i, e in enumerate(entries)], compiler, flags)
    unnamed, _ = probe.failing([probe.by_name(e, i) for i, e in enumerate(entries)], compiler, flags)
    out = []
    for i, entry in enumerate(entries):
        rule = rules.purpose(snapshot.text_of(entry)) if i in bad else None
        out.append("present" if i not in bad else f"purpose: {rule}" if rule
                   else "missing" if i in unnamed else "by name")
    return out


def update(arguments):
    import headers  # needs libclang, which `check` does without
    entries = headers.read(arguments.libtorch)
    found = statuses(entries, arguments.compiler, flags_of(arguments.build))
    rows = list(zip(entries, found))
    snapshot.write(ROOT, rows)
    snapshot.write_page(ROOT, rows)
    print(snapshot.table(rows))


def check(arguments):
    entries = [e for e, status in snapshot.read(ROOT) if status == "present"]
    # The last line must fail: else nothing was asked.
    lines = [probe.line(e, i) for i, e in enumerate(entries)] + ["using never = torch::NoSuchName;"]
    bad, strays = probe.failing(lines, arguments.compiler, flags_of(arguments.build))
    lost = [snapshot.text_of(entries[i]) for i in sorted(bad - {len(entries)})]
    if lost or strays or len(entries) not in bad or len(entries) < 1000:
        print(f"{len(lost)} of {len(entries)} that were present do not compile:", file=sys.stderr)
        print("\n".join(lost[:40] + strays[:10]), file=sys.stderr)
        return 1
    print(f"{len(entries)} names and signatures of libtorch compile")
    return 0


def missing(_):
    by_area = collections.defaultdict(list)
    for entry, status in snapshot.read(ROOT):
        if status in ("missing", "by name"):
            by_area[entry.space].append(f"  {status:8} {snapshot.text_of(entry)}")
    for space, lines in sorted(by_area.items(), key=lambda item: -len(item[1])):
        print(space, len(lines))
        print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=("update", "check", "missing"))
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="a configured build folder")
    parser.add_argument("--compiler", default="clang++")
    parser.add_argument("--libtorch", default="/usr/include", help="where its headers are installed")
    arguments = parser.parse_args()
    return {"update": update, "check": check, "missing": missing}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
