"""A program as people type theirs; mypy --strict and pyright find nothing in it."""

from __future__ import annotations

from typing import Iterator

import taeda as torch
from taeda import Tensor


def standardize(x: Tensor, eps: float = 1e-5) -> Tensor:
    mean = x.mean(dim=0, keepdim=True)
    spread = (x - mean).square().mean(0)
    return (x - mean) / (spread + eps).sqrt()


def batches(x: Tensor, size: int) -> Iterator[Tensor]:
    for begin in range(0, x.size(0), size):
        yield x[begin:begin + size]


def sizes(x: Tensor) -> tuple[int, ...]:
    return tuple(x.shape) + (x.numel(), x.dim(), x.size(-1))


def reduce(x: Tensor) -> float:
    values, indices = torch.max(x, dim=1)
    total: Tensor = values.sum() + indices.float().sum()
    return float(total.item())


def device_of(name: str) -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else name)


def train(x: Tensor, y: Tensor, steps: int) -> list[float]:
    w = torch.zeros(x.size(1), 1, requires_grad=True)
    losses: list[float] = []
    for _ in range(steps):
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            if w.grad is not None:
                w -= 0.1 * w.grad
                w.grad = None
        losses.append(loss.item())
    return losses


class Scale(torch.autograd.Function):
    pass


def kinds() -> list[torch.dtype]:
    return [torch.float32, torch.int64, torch.zeros(2, dtype=torch.bool).dtype]


def files(path: str) -> Tensor:
    torch.save({"x": torch.ones(2)}, path)
    loaded: Tensor = torch.load(path)["x"]
    return loaded


generator = torch.Generator().manual_seed(0)
random: Tensor = torch.randn(2, 3, generator=generator)
joined: Tensor = torch.cat([random, torch.ones_like(random)], dim=0)
parts: tuple[Tensor, ...] = tuple(joined.split(2))
mask: Tensor = (joined > 0) & ~(joined == 1)
chosen: Tensor = joined[mask]
