"""The Python of docs/python.md and README.md runs, block after block."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page, least", [("docs/python.md", 7), ("README.md", 1)])
def test_every_block_runs(tmp_path, page, least):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, "-B", str(program)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_commands_of_the_page():
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", "-c", "import torch; print(torch.ones(2))"],
                          capture_output=True, text=True, timeout=100)
    assert done.stdout == "tensor([1., 1.])\n", done.stderr
