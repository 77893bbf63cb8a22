#!/usr/bin/env python3
"""Writes the checkpoints of tests/io/data with PyTorch: pt_files.py FOLDER.

Made with PyTorch 1.13.1 (Debian 12, python3-torch). The values are small integers, so that the test can
say what they are.
"""

import collections
import pathlib
import sys

import torch


class Stranger:
    pass


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)

    model = torch.nn.Sequential(collections.OrderedDict(
        conv=torch.nn.Conv2d(1, 2, 2), bn=torch.nn.BatchNorm2d(2), fc=torch.nn.Linear(3, 2)))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) + 10 * i)
    torch.save(model.state_dict(), out / "state_dict.pt")

    dtypes = {str(d).split(".")[1]: torch.tensor([0, 1, 3]).to(d) for d in (
        torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
        torch.uint8, torch.bool, torch.complex64)}
    base = torch.arange(12.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    model(torch.ones(1, 1, 2, 4)).sum().backward()
    optimizer.step()
    torch.save({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "dtypes": dtypes,
        "views": [base.view(3, 4).t(), base[2:5], base[::3], torch.tensor(7.0), torch.zeros(0, 3)],
        "parameter": torch.nn.Parameter(torch.tensor([5.0])),
        "epoch": 3, "loss": 0.25, "name": "Ä", "done": True, "nothing": None, "large": 2**40,
        "shape": torch.Size([2, 3]), 7: -1,
    }, out / "checkpoint.pt")
    torch.save(torch.tensor([1.0, 2.0]), out / "tensor.pt")
    torch.save({"x": torch.ones(1), "stranger": Stranger()}, out / "stranger.pt")
    torch.save(torch.ones(1), out / "old_format.pt", _use_new_zipfile_serialization=False)
    other_files(out)


def other_files(out):
    """What was written before 1.6, and whole modules, which are refused."""
    weight = torch.arange(6.0).reshape(2, 3)
    torch.save({"weight": weight, "row": weight[1], "half": torch.ones(2, dtype=torch.float16), "epoch": 3},
               out / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(1, 1), out / "whole_module.pt")
    torch.save(torch.nn.Linear(1, 1), out / "whole_module_legacy.pt", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
