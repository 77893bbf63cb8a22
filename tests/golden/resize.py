#!/usr/bin/env python3
"""Prints what tests/vision/transforms_test.cpp expects of Resize: PyTorch's interpolate."""

import torch
import torch.nn.functional as F


def show(name, t):
    print(name, [round(v, 5) for v in t.flatten().tolist()])


x = (torch.arange(24.).view(1, 1, 4, 6) ** 2 / 10)
show("down 3x2 antialias", F.interpolate(x, (3, 2), mode="bilinear", antialias=True))
show("down 3x2 plain", F.interpolate(x, (3, 2), mode="bilinear"))
show("up 3x5 antialias", F.interpolate(x[..., :2, :3], (3, 5), mode="bilinear", antialias=True))
show("nearest 3x4", F.interpolate(x, (3, 4), mode="nearest"))
