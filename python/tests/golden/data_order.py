"""Makes data_order.json: what PyTorch's samplers and loaders give for fixed seeds. Run by a Python with PyTorch 2.15."""
import json
import random
import sys

import numpy as np
import torch
from torch.utils.data import (BatchSampler, DataLoader, Dataset, DistributedSampler, IterableDataset, RandomSampler,
                              SubsetRandomSampler, WeightedRandomSampler, get_worker_info, random_split)


class Numbers(Dataset):
    def __init__(self, size=10):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return i


class Draws(Numbers):
    """Random numbers as an example draws them in a worker."""

    def __getitem__(self, i):
        return i, torch.rand(()).item(), random.random(), float(np.random.rand()), get_worker_info().seed % 1000003


class Parts(IterableDataset):
    """Worker w gives w + 1 times as many."""

    def __iter__(self):
        info = get_worker_info()
        worker, count = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(100 * worker, 100 * worker + 3 * (worker + 1)))


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def epochs(sampler, n=2):
    return [list(sampler) for _ in range(n)]


def batches(loader, n=1):
    out = []
    for _ in range(n):
        out.append([[p.tolist() for p in b] if isinstance(b, list) else b.tolist() for b in loader])
    return out


def compute():
    out = {}
    data = Numbers()
    for name, make in {
        "random": lambda g: RandomSampler(data, generator=g),
        "random_more": lambda g: RandomSampler(data, num_samples=25, generator=g),
        "random_fewer": lambda g: RandomSampler(data, num_samples=4, generator=g),
        "random_replacement": lambda g: RandomSampler(data, True, 70, g),
        "subset": lambda g: SubsetRandomSampler([5, 3, 8, 1], g),
        "weighted": lambda g: WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 12, True, g),
        "weighted_once": lambda g: WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 3, False, g),
        "batches": lambda g: BatchSampler(RandomSampler(data, generator=g), 4, False),
    }.items():
        out[name] = epochs(make(seeded(3)))
        torch.manual_seed(5)
        out[name + "_default"] = epochs(make(None))
    for drop_last in (False, True):
        for shuffle in (False, True):
            for rank in range(3):
                sampler = DistributedSampler(data, 3, rank, shuffle, 7, drop_last)
                first = list(sampler)
                sampler.set_epoch(2)
                out[f"distributed_{drop_last}_{shuffle}_{rank}"] = [first, list(sampler)]
    out["split"] = [s.indices for s in random_split(data, [0.33, 0.33, 0.34], seeded(1))]
    torch.manual_seed(9)
    out["split_default"] = [s.indices for s in random_split(data, [7, 3])]
    for workers in (0, 1, 2, 3):
        torch.manual_seed(11)
        out[f"loader_{workers}"] = batches(DataLoader(data, 3, shuffle=True, num_workers=workers), 2)
        out[f"loader_{workers}_after"] = torch.rand(3).tolist()
        out[f"loader_{workers}_generator"] = batches(
            DataLoader(data, 3, shuffle=True, num_workers=workers, generator=seeded(4)), 2)
        out[f"iterable_{workers}"] = batches(DataLoader(Parts(), 2, num_workers=workers))
        out[f"iterable_{workers}_drop"] = batches(DataLoader(Parts(), 2, num_workers=workers, drop_last=True))
        out[f"iterable_{workers}_single"] = [list(DataLoader(Parts(), None, num_workers=workers))]
        if workers:
            out[f"draws_{workers}"] = batches(DataLoader(Draws(8), 2, num_workers=workers, generator=seeded(6)))
            out[f"draws_{workers}_kept"] = batches(
                DataLoader(Draws(8), 2, True, num_workers=workers, generator=seeded(6), persistent_workers=True), 3)
            out[f"iterable_{workers}_kept"] = batches(DataLoader(Parts(), 2, num_workers=workers, persistent_workers=True), 2)
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(compute(), file)
