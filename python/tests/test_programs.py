"""Programs as other people write them, unchanged under `python -m taeda.compat`: they print what PyTorch prints."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from ranks import own_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "python" / "programs"
EXPECTED = json.loads((pathlib.Path(__file__).parent / "golden" / "programs.json").read_text(encoding="utf-8"))
NUMBER = re.compile(r"-?\d+\.\d+")
# Rounding differs from library to library, and training amplifies it.
RELATIVE, ABSOLUTE = 2e-3, 2e-4


def test_every_program_is_tested():
    assert sorted(EXPECTED) == sorted(p.stem for p in PROGRAMS.glob("*.py"))


@pytest.mark.parametrize("name", EXPECTED)
def test_prints_what_pytorch_prints(name):
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(own_port()), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", str(PROGRAMS / f"{name}.py")], capture_output=True,
                          text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.strip().split("\n")
    assert len(lines) == len(EXPECTED[name]), done.stdout
    for line, expected in zip(lines, EXPECTED[name]):
        assert NUMBER.sub("#", line) == NUMBER.sub("#", expected)
        for a, b in zip(map(float, NUMBER.findall(line)), map(float, NUMBER.findall(expected))):
            assert abs(a - b) <= ABSOLUTE + RELATIVE * abs(b), f"{line}\nexpected\n{expected}"
