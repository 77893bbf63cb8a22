"""The stubs: valid Python, no operation forgotten, and programs that people type are clean under mypy --strict."""

import ast
import os
import pathlib
import subprocess
import sys

import pytest
import taeda as torch

STUBS = pathlib.Path(os.environ["TAEDA_BUILD_DIR"]) / "python_stubs"
PROGRAMS = pathlib.Path(__file__).parent / "typing"


def names_of(path):
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_every_module_has_a_stub():
    package = pathlib.Path(torch.__file__).parent
    missing = [str(p.relative_to(package)) for p in package.rglob("*.py")
               if "compat" not in p.parts and not (STUBS / "taeda" / p.relative_to(package)).with_suffix(".pyi").exists()]
    assert not missing, missing
    for stub in STUBS.rglob("*.pyi"):
        compile(stub.read_text(encoding="utf-8"), str(stub), "exec", ast.PyCF_ONLY_AST)
    assert (STUBS / "taeda" / "py.typed").exists()


def test_no_operation_is_forgotten():
    known = names_of(STUBS / "taeda" / "_C.pyi")
    names = {name for _, name, *_ in torch._C._signatures() if not name.startswith("_")} - {"mH", "mT"}  # attributes
    missing = names - known
    assert not missing, sorted(missing)


def has_fine_codes(mypy):
    """Whether the stubs can name what they overload on purpose: since mypy 1.14; before, it is `misc` with much else."""
    printed = subprocess.run([*mypy, "--version"], capture_output=True, text=True).stdout
    return tuple(int(part) for part in printed.split()[1].split(".")[:2]) >= (1, 14)


def test_mypy_strict(tmp_path):
    mypy = os.environ.get("TAEDA_MYPY", "").split() or [sys.executable, "-m", "mypy"]
    if subprocess.run([*mypy, "--version"], capture_output=True).returncode:
        pytest.skip("no mypy (Debian package mypy, or TAEDA_MYPY)")
    strict = ["--strict"] if has_fine_codes(mypy) else ["--strict", "--disable-error-code=misc",
                                                        "--disable-error-code=override"]
    done = subprocess.run([*mypy, *strict, "--cache-dir", str(tmp_path), *map(str, sorted(PROGRAMS.glob("*.py")))],
                          capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(STUBS)})
    assert done.returncode == 0, done.stdout + done.stderr
