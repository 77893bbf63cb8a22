"""Writes what PyTorch gives for the programs in ../cases, a JSON file for each: run it with a Python that has PyTorch 2.15."""

import json
import os
import sys
import warnings

import torch

import papers

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
torch.optim.Lion, torch.optim.AdEMAMix = papers.Lion, papers.AdEMAMix


def _text(results):
    """JSON with a line for each case."""
    parts = []
    for part, cases in results.items():
        rows = ([f"{json.dumps(k)}: {json.dumps(v)}" for k, v in cases.items()] if isinstance(cases, dict) else None)
        parts.append(f"{json.dumps(part)}: " + ("{\n" + ",\n".join(rows) + "}" if rows is not None else json.dumps(cases)))
    return "{" + ",\n".join(parts) + "}"


def main(names):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name in names:
        module = __import__("cases." + name, fromlist=["all_results"])
        with open(os.path.join(HERE, name + ".json"), "w") as file:
            file.write(_text(module.all_results(torch)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or ["nn", "optim"])
