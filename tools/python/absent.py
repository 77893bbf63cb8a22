#!/usr/bin/env python3
"""Writes python/taeda/absent.txt: what PyTorch and torchvision have in their public modules and Taeda has not.

    TAEDA_TORCH_PYTHON=python-with-torch PYTHONPATH=build/python python3 tools/python/absent.py [--check]

The interpreter with PyTorch (and torchvision, without which its lines stay as they are) runs this file, too, and lists names;
each is then asked for here. `--check` writes nothing and fails where the file would change.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import types
import typing
import warnings

FILE = pathlib.Path(__file__).resolve().parents[2] / "python" / "taeda" / "absent.txt"
LEFT_OUT = ("bin", "include", "lib", "share", "test", "tests", "testing", "examples", "hipify", "flight_recorder", "unification",
            "migrate_gradual_types")
# Programs that do something when they are imported.
PROGRAMS = ("torch.distributed.launch", "torch.utils.bottleneck", "torch.backends.xeon.run_cpu", "torch._C")


def modules_of(package):
    """The names of a package's public modules, by its files."""
    root = pathlib.Path(importlib.util.find_spec(package).origin).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(p.startswith("_") or p in LEFT_OUT for p in parts):
            yield ".".join((package, *parts))
    if package == "torch":
        yield "torch.testing"


def names_of(module, package):
    """Public names of a module: those of its `__all__`, what it defines, and what it shows of its package."""
    listed = getattr(module, "__all__", None)
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or len(name) == 1 or isinstance(value, typing.TypeVar):
            continue
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] != package or value is sys.modules[package]:
            continue
        if listed is None or name in listed or module.__name__ == package or home == module.__name__:
            yield name


def list_names():
    """Runs where PyTorch is: prints {module: names}, null for what cannot be imported there."""
    warnings.simplefilter("ignore")
    found = {}
    for package in ("torch", "torchvision"):
        if importlib.util.find_spec(package) is None:
            continue
        for name in modules_of(package):
            if not name.startswith(PROGRAMS):
                with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception, SystemExit):
                    found[name] = sorted(set(names_of(importlib.import_module(name), package)))
    print(json.dumps(found))


def has(module, name):
    try:
        getattr(module, name)
    except AttributeError:
        return False
    return True


def lines_of(found):
    """What is missing: a line for each module that is, if its package is not, and for each module with names that are."""
    lines, absent = [], set()
    for name in sorted(found, key=lambda n: n.split(".")):
        if any(name.startswith(a + ".") for a in absent):
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:
            absent.add(name)
            lines.append(name)
            continue
        if module.__name__ != name.replace("torchvision", "taeda.vision").replace("torch", "taeda"):
            continue  # another name of a module that has its own line
        missing = [n for n in found[name] if f"{name}.{n}" not in found and not has(module, n)]
        if missing:
            lines.append(f"{name}: {' '.join(missing)}")
    return lines


def main():
    if "--names" in sys.argv:
        return list_names()
    printed = subprocess.run([os.environ["TAEDA_TORCH_PYTHON"], __file__, "--names"], capture_output=True, text=True, check=True)
    found = json.loads(printed.stdout.splitlines()[-1])
    import taeda.compat
    taeda.compat.install()
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    lines = lines_of(found)
    if not any(name.startswith("torchvision") for name in found):
        lines += [line for line in before.splitlines() if line.startswith("torchvision")]
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv:
        return f"{FILE} is old" if text != before else 0
    FILE.write_text(text, encoding="utf-8")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    sys.exit(main())
