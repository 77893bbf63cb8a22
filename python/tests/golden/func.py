"""Writes func.json: the numbers of the programs of cases/func.py under PyTorch 2.15. Run it with such a Python."""

import json
import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cases.func import PROGRAMS  # noqa: E402

warnings.simplefilter("ignore")
made = {name: run(torch) for name, run in PROGRAMS.items()}
text = ",\n".join(f"{json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in made.items())
pathlib.Path(__file__).with_name("func.json").write_text(f"{{{text}}}\n", encoding="utf-8")
