"""Writes programs.json: what the programs of examples/python/programs print under PyTorch 2.15. Run it with such a Python,
with NumPy, Pillow and tensorboard."""

import json
import pathlib
import subprocess
import sys

programs = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "programs"
made = {}
for path in sorted(programs.glob("*.py")):
    done = subprocess.run([sys.executable, "-W", "ignore", str(path)], capture_output=True, text=True, check=True)
    made[path.stem] = done.stdout.strip().split("\n")
pathlib.Path(__file__).with_name("programs.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
