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
LEFT_OUT = ("bin", "include", "lib", "share", "test", "tests", "testing", "examples", "hipify", "flight_recorder",
            "unification", "migrate_gradual_types")
# Programs that do something when they are imported.
PROGRAMS = ("torch.distributed.launch", "torch.utils.bottleneck", "torch.backends.xeon.run_cpu", "torch._C")
# Packages of PyTorch's compiler: whatever is asked for below what Taeda has of them is missing.
INTERNAL = ("torch._dynamo", "torch._inductor")
# Modules that are made in C++, so that there is no file of them.
WITHOUT_FILES = ("torch._C._distributed_c10d", "torch._C._distributed_rpc", "torch._C._functorch")


def modules_of(package):
    """The names of a package's modules, by its files."""
    root = pathlib.Path(importlib.util.find_spec(package).origin).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        name = ".".join((package, *parts))
        internal = name.startswith(tuple(within + "." for within in INTERNAL))
        if not internal and not any(p in LEFT_OUT or p.startswith("__") for p in parts):
            yield name
    if package == "torch":
        yield from ("torch.testing", *WITHOUT_FILES)


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
    """Runs where PyTorch is: prints {module: names}, none for what cannot be imported there."""
    warnings.simplefilter("ignore")
    found = {}
    for package in ("torch", "torchvision"):
        if importlib.util.find_spec(package) is None:
            continue
        for name in modules_of(package):
            found[name] = []
            if not is_private(name) and name not in PROGRAMS:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception, SystemExit):
                    found[name] = sorted(set(names_of(importlib.import_module(name), package)))
    found["torch.ops.aten"] = sorted({s.name.partition("::")[2] for s in sys.modules["torch"]._C._jit_get_all_schemas()
                                      if s.name.startswith("aten::") and s.name[6:8] != "__" and "Tensor" in str(s)})
    print(json.dumps(found))


def is_private(name):
    """Whether a module is none of PyTorch's public ones: it is listed where it is missing, its names are not."""
    return any(part.startswith("_") for part in name.split(".")[1:])


def has(module, name):
    try:
        getattr(module, name)
    except AttributeError:
        return False
    return True


def lines_of(found, taeda):
    """What is missing: a line for each module that is, if its package is not, and for each module with names that are."""
    lines, absent = [f"{name}.*" for name in INTERNAL], set()
    for name in sorted(found, key=lambda n: n.split(".")):
        if any(name.startswith(a + ".") for a in absent):
            continue
        try:
            module = taeda.ops.aten if name == "torch.ops.aten" else importlib.import_module(name)
        except ImportError:
            absent.add(name)
            lines.append(name)
            continue
        if is_private(name):
            continue
        if taeda._core.second_names.torch_name(getattr(module, "__name__", name)) != name:
            continue  # another name of a module that has its own line
        missing = [n for n in found[name] if f"{name}.{n}" not in found and not has(module, n)]
        if missing:
            lines.append(f"{name}: {' '.join(missing)}")
    return lines


def main():
    if "--names" in sys.argv:
        return list_names()
    asked = os.environ["TAEDA_TORCH_PYTHON"], __file__, "--names"
    printed = subprocess.run(asked, capture_output=True, text=True, check=True)
    found = json.loads(printed.stdout.splitlines()[-1])
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    import taeda.compat
    taeda._missing._table = lambda: ({}, set())  # so that nothing stands in for what is missing
    taeda.compat.install()
    lines = lines_of(found, taeda)
    if not any(name.startswith("torchvision") for name in found):
        lines += [line for line in before.splitlines() if line.startswith("torchvision")]
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv:
        return f"{FILE} is old" if text != before else 0
    FILE.write_text(text, encoding="utf-8")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    sys.exit(main())
