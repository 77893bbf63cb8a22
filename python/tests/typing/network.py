"""A network and its training as people type them: layers, functions written in Python, optimizers, data."""

from __future__ import annotations

import taeda as torch
import taeda.nn.functional as F
from taeda import Tensor, nn
from taeda.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, width, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10))
        self.norm = nn.LayerNorm(10)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(self.layers(x))
        return F.relu(out)


def train(epochs: int) -> float:
    model = Net(4)
    loader = DataLoader(TensorDataset(torch.randn(8, 1, 8, 8), torch.zeros(8, dtype=torch.long)), batch_size=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    total = 0.0
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss: Tensor = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total


rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
made: Tensor = torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2))
found: Tensor = torch.tensor([1, 2, 3])
place: Tensor = torch.where(found > 1, found, 0)
