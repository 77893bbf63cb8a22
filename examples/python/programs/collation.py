"""Data of all kinds: workers, samplers with weights, an iterable data set cut by worker, batches of dicts and named tuples."""

import random
from collections import namedtuple

import numpy as np
import torch
from torch.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, SequentialSampler, Subset,
                              WeightedRandomSampler, default_collate, get_worker_info)

Sample = namedtuple("Sample", ["image", "mask"])


class Records(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i < 0 or i >= self.n:
            raise IndexError("no such record")
        rng = np.random.default_rng(i)
        return {"id": i, "name": f"record-{i}", "value": rng.random(3, dtype=np.float32), "weight": 0.5 * i,
                "sample": Sample(torch.full((2, 2), float(i)), np.eye(2, dtype=bool)), "tags": ["a", "b"], "pair": (i, -i)}


class Stream(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        info = get_worker_info()
        step, first = (1, self.start) if info is None else (info.num_workers, self.start + info.id)
        return iter(range(first, self.end, step))


def ragged(batch):
    lengths = torch.tensor([len(b) for b in batch])
    padded = torch.zeros(len(batch), int(lengths.max()), dtype=torch.int64)
    for row, b in zip(padded, batch):
        row[:len(b)] = torch.as_tensor(b)
    return padded, lengths


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


if __name__ == "__main__":
    torch.manual_seed(0)
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Records(7), batch_size=3, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=g,
                        persistent_workers=True, prefetch_factor=2)
    for epoch in range(2):
        for batch in loader:
            print(batch["id"].tolist(), batch["name"], batch["value"].shape, batch["weight"].dtype,
                  type(batch["sample"]).__name__, batch["sample"].mask.dtype, batch["tags"],
                  [p.tolist() for p in batch["pair"]])
    stream = DataLoader(Stream(3, 12), batch_size=None, num_workers=3)
    print(sorted(int(v) for v in stream))
    print([b.tolist() for b in DataLoader(Stream(0, 10), batch_size=4, drop_last=True)])
    weights = torch.tensor([0.1, 0.1, 0.8, 2.0])
    sampler = WeightedRandomSampler(weights, num_samples=12, replacement=True, generator=torch.Generator().manual_seed(1))
    print([int(i) for i in sampler])
    lists = [[1, 2, 3], [4], [5, 6]]
    for padded, lengths in DataLoader(lists, batch_sampler=BatchSampler(SequentialSampler(lists), 2, False), collate_fn=ragged):
        print(padded.tolist(), lengths.tolist())
    both = ConcatDataset([Subset(Records(7), [5, 1]), Records(2)])
    print(len(both), [both[i]["id"] for i in range(len(both))], both[-1]["name"], both.cumulative_sizes)
    try:
        for _ in DataLoader([1, "a"], batch_size=2):
            pass
    except TypeError as error:
        print(type(error).__name__)
    try:
        list(DataLoader(Subset(Records(2), [0, 9]), num_workers=1))
    except IndexError as error:
        print("IndexError" in str(error), "no such record" in str(error))
    print(default_collate([np.float64(1.5), np.float64(2)]).dtype, default_collate([True, False]).dtype,
          default_collate([{"a": 1}, {"a": 2}]))
