"""Optimizers that PyTorch has not, by their papers."""

import math

import torch


class Lion(torch.optim.Optimizer):
    """By the paper (Chen et al. 2023, algorithm 2): PyTorch has none."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    def step(self, closure):
        loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                b1, b2 = group["betas"]
                for p in group["params"]:
                    m = self.state[p].setdefault("m", torch.zeros_like(p))
                    c = (b1 * m + (1 - b1) * p.grad).sign()
                    p.sub_(group["lr"] * (c + group["weight_decay"] * p))
                    m.copy_(b2 * m + (1 - b2) * p.grad)
        return loss


class AdEMAMix(torch.optim.Optimizer):
    """By the paper (Pagliardini et al. 2024, algorithm 1): PyTorch has none."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999, 0.9999), alpha=5.0, beta3_warmup=0, alpha_warmup=0, eps=1e-8,
                 weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, alpha=alpha, beta3_warmup=beta3_warmup, alpha_warmup=alpha_warmup,
                                      eps=eps, weight_decay=weight_decay))

    def step(self, closure):
        loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                b1, b2, b3 = group["betas"]
                for p in group["params"]:
                    s = self.state[p]
                    t = s["t"] = s.get("t", 0) + 1
                    m1, m2, v = (s.setdefault(n, torch.zeros_like(p)) for n in ("m1", "m2", "v"))
                    alpha, slow = group["alpha"], b3
                    if group["alpha_warmup"]:
                        alpha = min(t * alpha / group["alpha_warmup"], alpha)
                    if group["beta3_warmup"]:
                        part = t / group["beta3_warmup"]
                        slow = min(math.exp(math.log(b1) * math.log(b3) / (
                            (1 - part) * math.log(b3) + part * math.log(b1))), b3) if part < 1 else b3
                    m1.copy_(b1 * m1 + (1 - b1) * p.grad)
                    m2.copy_(slow * m2 + (1 - slow) * p.grad)
                    v.copy_(b2 * v + (1 - b2) * p.grad ** 2)
                    root = (v / (1 - b2 ** t)).sqrt() + group["eps"]
                    p.sub_(group["lr"] * ((m1 / (1 - b1 ** t) + alpha * m2) / root + group["weight_decay"] * p))
        return loss
