"""Writes expressions.json: what PyTorch 2.15 says of each expression. Run it with a Python that has PyTorch and NumPy 1."""

import json
import pathlib
import warnings

import torch

import expressions

warnings.simplefilter("ignore")
made = {group: {e: expressions.outcome(torch, e) for e in expressions.expressions(group)} for group in expressions.GROUPS}
path = pathlib.Path(__file__).with_suffix("").parent / "expressions.json"
path.write_text(json.dumps(made, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
