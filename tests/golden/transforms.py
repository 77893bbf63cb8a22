#!/usr/bin/env python3
"""Prints what tests/vision/transforms_test.cpp expects of random transforms: torchvision 0.15's."""

import torch
import torchvision.transforms as T

x = torch.arange(16.0).view(1, 4, 4)
torch.manual_seed(5)
print("RandomCrop(2)", [T.RandomCrop(2)(x)[0, 0, 0].item() for _ in range(8)])
torch.manual_seed(6)
print("RandomHorizontalFlip", [int(T.RandomHorizontalFlip()(x)[0, 0, 0].item() == 3) for _ in range(12)])
torch.manual_seed(7)
pixel = torch.tensor([0.2, 0.5, 0.7]).view(3, 1, 1)
for _ in range(2):
    print("ColorJitter", [round(v, 5) for v in T.ColorJitter(0.4, 0.4, 0.4, 0.1)(pixel).flatten().tolist()])
