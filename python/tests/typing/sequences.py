"""Sequences, an own collation, packed sequences."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, random_split


class Words(Dataset[tuple[Tensor, int]]):
    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        n = self.lengths[index]
        return torch.randint(0, 20, (n,)), n % 2


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Iterator[Tensor]:
        for i in range(3):
            yield torch.full((2,), float(i))


class Backwards(Sampler[int]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n - 1, -1, -1))

    def __len__(self) -> int:
        return self.n


def collate(examples: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor, Tensor]:
    sequences = [x for x, _ in examples]
    lengths = torch.tensor([len(x) for x in sequences])
    return pad_sequence(sequences, batch_first=True), lengths, torch.tensor([y for _, y in examples])


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 16, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 2))
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(2))
        self.offset: Tensor
        self.register_buffer("offset", torch.zeros(2))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.lstm(packed)
        padded, _ = pad_packed_sequence(out, batch_first=True)
        y: Tensor = self.head(padded.mean(1)) * self.scale + self.offset
        for layer in self.layers:
            y = layer(y)
        return y


hook: Callable[..., Any] = lambda module, inputs, output: None
model = Tagger()
handle = model.lstm.register_forward_hook(hook)
handle.remove()
train, test = random_split(Words(range(3, 13)), [8, 2], generator=torch.Generator().manual_seed(0))
loader = DataLoader(train, batch_size=4, collate_fn=collate, sampler=Backwards(len(train)), num_workers=0)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for x, lengths, y in loader:
    loss: Tensor = criterion(model(x, lengths), y)
    loss.backward()
for batch in DataLoader(Stream(), batch_size=None):
    print(batch)
print(len(test), model.lstm.hidden_size + 1, model.head[0], [n for n, _ in model.named_modules()])
