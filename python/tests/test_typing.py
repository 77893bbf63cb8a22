"""The stubs: valid Python, no operation forgotten, and programs that people type are clean under mypy --strict."""

import ast
import os
import pathlib
import shutil
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
    """Whether mypy knows the codes by which the stubs name what they overload on purpose: since 1.14, Debian's does not."""
    printed = subprocess.run([*mypy, "--version"], capture_output=True, text=True).stdout
    return tuple(int(part) for part in printed.split()[1].split(".")[:2]) >= (1, 14)


def programs_alone(folder):
    """Options and stubs with which an older mypy tells nothing of the stubs, only of programs."""
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\n[mypy-taeda.*,torch.*,torchvision.*]\nignore_errors = True\n")
    copied = folder / "stubs"
    shutil.copytree(STUBS, copied)
    for stub in copied.rglob("*.pyi"):
        lines = stub.read_text(encoding="utf-8").splitlines(keepends=True)
        stub.write_text("".join(line for line in lines if not line.startswith("# mypy: disable")), encoding="utf-8")
    return ["--config-file", str(settings)], copied


def test_mypy_strict(tmp_path):
    mypy = os.environ.get("TAEDA_MYPY", "").split() or [sys.executable, "-m", "mypy"]
    if subprocess.run([*mypy, "--version"], capture_output=True).returncode:
        pytest.skip("no mypy (Debian package mypy, or TAEDA_MYPY)")
    options, stubs = [], STUBS
    if not has_fine_codes(mypy):
        options, stubs = programs_alone(tmp_path)
    path = os.pathsep.join([str(stubs), str(stubs / "taeda" / "compat" / "alias")])
    done = subprocess.run([*mypy, "--strict", *options, "--cache-dir", str(tmp_path / "cache"),
                           *map(str, sorted(PROGRAMS.glob("*.py")))],
                          capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
