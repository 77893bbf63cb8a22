"""linalg, fft, special, distributions."""
from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.distributions import Categorical, Normal


def whiten(x: Tensor) -> Tensor:
    u, s, vh = torch.linalg.svd(x - x.mean(0), full_matrices=False)
    return u * math.sqrt(x.shape[0]) + 0 * s.sum() + 0 * vh.sum()


def solve(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    q, r = torch.linalg.qr(a)
    x = torch.linalg.solve(a, b)
    return x, q @ r


def norm(a: Tensor) -> float:
    return float(torch.linalg.norm(a) + torch.linalg.det(a))


def spectrum(x: Tensor) -> Tensor:
    return torch.fft.rfft(x).abs()


def act(logits: Tensor) -> tuple[Tensor, Tensor]:
    policy = Categorical(logits=logits)
    action = policy.sample()
    return action, policy.log_prob(action)


def entropy(mean: Tensor) -> Tensor:
    out: Tensor = Normal(mean, 1.0).entropy() + torch.special.erf(mean)
    return out


def grads(x: Tensor) -> tuple[Tensor, ...]:
    y = (x ** 3).sum()
    return torch.autograd.grad(y, x, create_graph=True)


values, indices = torch.topk(torch.randn(5), 2)
top: Tensor = values + indices
hessian = torch.func.hessian(lambda x: (x ** 2).sum())(torch.ones(2))
print(whiten(torch.randn(4, 3)), solve(torch.eye(2), torch.ones(2)), norm(torch.eye(2)), spectrum(torch.ones(8)), top, hessian)
print(act(torch.zeros(3)), entropy(torch.zeros(2)), grads(torch.ones(2, requires_grad=True)))
