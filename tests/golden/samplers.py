#!/usr/bin/python3
"""Prints tests/data/sampler_golden.h: what PyTorch's samplers and DataLoader yield from a seed."""
import torch
from torch.utils.data import (DataLoader, DistributedSampler, RandomSampler, SubsetRandomSampler,
                              TensorDataset, WeightedRandomSampler)


def emit(name, rows):
    print(f"inline const std::vector<std::vector<size_t>> {name} = {{")
    for row in rows:
        print("    {" + ", ".join(str(int(i)) for i in row) + "},")
    print("};")


def generator(seed):
    return torch.Generator().manual_seed(seed)


def epochs(sampler, n=2):
    return [list(sampler) for _ in range(n)]


print("// Written by tests/golden/samplers.py with PyTorch", torch.__version__.split("a")[0] + ".")
print("#pragma once\n\n#include <cstddef>\n#include <vector>\n\nnamespace taeda::golden {\n")
emit("kRandom", epochs(RandomSampler(range(10), generator=generator(3))))
torch.manual_seed(5)
emit("kRandomDefault", epochs(RandomSampler(range(10))))
emit("kReplacement", epochs(RandomSampler(range(10), True, 12, generator=generator(3))))
emit("kMoreThanOnce", epochs(RandomSampler(range(4), False, 10, generator=generator(3))))
emit("kSubset", epochs(SubsetRandomSampler([3, 5, 8, 13, 21], generator=generator(1))))
weights = [0.5, 2.0, 0.0, 1.0, 4.0, 0.25]
emit("kWeighted", epochs(WeightedRandomSampler(weights, 12, True, generator=generator(7))))
emit("kWeightedOnce", epochs(WeightedRandomSampler(weights, 4, False, generator=generator(7))))
rows = []
for shuffle in (False, True):
    for drop_last in (False, True):
        for rank in range(3):
            s = DistributedSampler(range(10), 3, rank, shuffle, 4, drop_last)
            s.set_epoch(2)
            rows.append(list(s))
emit("kDistributed", rows)
emit("kDistributedFew", [list(DistributedSampler(range(2), 5, r, False)) for r in range(5)])
data = TensorDataset(torch.arange(10))
loader = DataLoader(data, batch_size=4, shuffle=True, generator=generator(11))
emit("kLoader", [torch.cat([b[0] for b in loader]) for _ in range(2)])
torch.manual_seed(12)
loader = DataLoader(data, batch_size=4, shuffle=True)
emit("kLoaderDefault", [torch.cat([b[0] for b in loader]) for _ in range(2)])
print("\n}  // namespace taeda::golden")
