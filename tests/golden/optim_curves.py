"""Writes tests/optim/curves.inc: losses of a small network under every optimizer, and rates of schedules.

Run: python3 -B tests/golden/optim_curves.py > tests/optim/curves.inc
"""
import math
import textwrap

import torch
from torch import optim
from torch.optim import lr_scheduler as sched
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn

STEPS = 25
torch.set_default_dtype(torch.double)


def row(name, values):
    numbers = ", ".join(f"{float(torch.as_tensor(v).detach()):.12g}" for v in values)
    print(textwrap.fill(f'{{"{name}", {{{numbers}}}}},', 98, initial_indent="    ", subsequent_indent="     "))


def waves(rows, columns, a, b):
    i, j = torch.arange(rows).reshape(-1, 1), torch.arange(columns)
    return torch.sin(a * i + b * j + 0.3)


class Problem:
    """Three parameters, and their loss."""

    def __init__(self):
        self.x, self.y = waves(8, 4, 0.7, 1.3), waves(8, 2, 1.1, 0.4)
        self.params = [waves(3, 4, 0.9, 2.1), waves(1, 3, 1, 0.8)[0], waves(2, 3, 1.7, 0.6)]
        for p in self.params:
            p.requires_grad_()

    def loss(self):
        w1, b1, w2 = self.params
        return ((torch.tanh(self.x @ w1.t() + b1) @ w2.t() - self.y) ** 2).mean()


def curve(make, steps=STEPS, matrices_only=False):
    problem = Problem()
    optimizer = make(problem.params[::2] if matrices_only else problem.params)
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = problem.loss()
        loss.backward()
        return loss

    for _ in range(steps):
        losses.append(optimizer.step(closure))
    return losses + [problem.loss()]


class Lion(optim.Optimizer):
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


class AdEMAMix(optim.Optimizer):
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


CURVES = {
    "sgd": lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: optim.Adam(p, 0.05),
    "adamw": lambda p: optim.AdamW(p, 0.05, weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, 0.02, centered=True, momentum=0.5),
    "adagrad": lambda p: optim.Adagrad(p, 0.1),
    "adadelta": lambda p: optim.Adadelta(p),
    "adadelta_all": lambda p: optim.Adadelta(p, 0.5, rho=0.8, eps=1e-4, weight_decay=0.05, maximize=True),
    "adamax": lambda p: optim.Adamax(p, 0.02),
    "adamax_decay": lambda p: optim.Adamax(p, 0.02, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1),
    "nadam": lambda p: optim.NAdam(p, 0.02),
    "nadam_decay": lambda p: optim.NAdam(p, 0.02, weight_decay=0.1, momentum_decay=0.01),
    "nadam_decoupled": lambda p: optim.NAdam(p, 0.02, weight_decay=0.1, decoupled_weight_decay=True),
    "radam": lambda p: optim.RAdam(p, 0.05),
    "radam_decay": lambda p: optim.RAdam(p, 0.05, betas=(0.8, 0.9), weight_decay=0.1),
    "radam_decoupled": lambda p: optim.RAdam(p, 0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "rprop": lambda p: optim.Rprop(p),
    "rprop_all": lambda p: optim.Rprop(p, 0.05, etas=(0.4, 1.5), step_sizes=(0.02, 0.1)),
    "asgd": lambda p: optim.ASGD(p, 0.1),
    "asgd_all": lambda p: optim.ASGD(p, 0.1, lambd=0.05, alpha=0.5, t0=5, weight_decay=0.01),
    "adafactor": lambda p: optim.Adafactor(p, 0.1),
    "adafactor_all": lambda p: optim.Adafactor(p, 0.2, beta2_decay=-0.5, eps=(1e-3, 0.2), d=1.5, weight_decay=0.1),
    "lion": lambda p: Lion(p, 0.02),
    "lion_decay": lambda p: Lion(p, 0.02, betas=(0.7, 0.9), weight_decay=0.3),
    "ademamix": lambda p: AdEMAMix(p, 0.02),
    "ademamix_all": lambda p: AdEMAMix(p, 0.02, (0.8, 0.9, 0.95), 2, 10, 15, 1e-6, 0.1),
    "lbfgs": lambda p: optim.LBFGS(p, max_iter=3),
    "lbfgs_history": lambda p: optim.LBFGS(p, 0.5, max_iter=4, history_size=2),
    "lbfgs_search": lambda p: optim.LBFGS(p, max_iter=3, line_search_fn="strong_wolfe"),
    "lbfgs_tolerance": lambda p: optim.LBFGS(p, max_iter=20, max_eval=7, tolerance_grad=1e-2, tolerance_change=1e-4),
}
MUON = {
    "muon": lambda p: optim.Muon(p, 0.02),
    "muon_adamw": lambda p: optim.Muon(p, 0.05, momentum=0.8, nesterov=False, adjust_lr_fn="match_rms_adamw"),
    "muon_spectral": lambda p: optim.Muon(p, 0.02, weight_decay=0, ns_steps=3, adjust_lr_fn="spectral_unclamped"),
}


def rates(make, adam=False):
    """The rate, and the momentum, before each of 30 steps."""
    p = torch.zeros(1, requires_grad=True)
    optimizer = optim.Adam([p], 0.1) if adam else optim.SGD([p], 0.1, momentum=0.9)
    schedule, out = make(optimizer), []
    group = optimizer.param_groups[0]
    for _ in range(30):
        out += [group["lr"], group["betas"][0] if adam else group["momentum"]]
        optimizer.step()
        schedule.step()
    return out


RATES = {
    "constant": lambda o: sched.ConstantLR(o, 0.25, 7),
    "polynomial": lambda o: sched.PolynomialLR(o, 12, 1.5),
    "multiplicative": lambda o: sched.MultiplicativeLR(o, lambda e: 1 - 0.01 * e),
    "restarts": lambda o: sched.CosineAnnealingWarmRestarts(o, 6, eta_min=0.01),
    "longer_restarts": lambda o: sched.CosineAnnealingWarmRestarts(o, 4, 2),
    "cyclic": lambda o: sched.CyclicLR(o, 0.01, 0.2, 4),
    "cyclic_halved": lambda o: sched.CyclicLR(o, 0.01, 0.2, 4, 6, mode="triangular2"),
    "cyclic_exp": lambda o: sched.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.95),
    "swa": lambda o: SWALR(o, 0.01, 8),
    "swa_linear": lambda o: SWALR(o, 0.01, 8, "linear"),
}


def averages(multi_avg_fn):
    """The mean of all averages after each of 5 updates of parameters that walk along a line."""
    model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_(torch.arange(float(p.numel())).reshape(p.shape) * 0.25 - k)
    averaged, out = AveragedModel(model, multi_avg_fn=multi_avg_fn), []
    for step in range(5):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.5 * (step + 1) ** 2)
        averaged.update_parameters(model)
        out.append(sum(p.sum() for p in averaged.module.parameters()))
    return out


print("// Written by tests/golden/optim_curves.py from PyTorch", torch.__version__.split("+")[0] + ".")
print("inline const std::map<std::string, std::vector<double>> golden_curves = {")
for name, make in CURVES.items():
    # L-BFGS makes several iterations a step, and what is rounded otherwise grows.
    row(name, curve(make, 10 if name.startswith("lbfgs") else STEPS))
for name, make in MUON.items():
    row(name, curve(make, matrices_only=True))
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_cycles = {")
for name, make in RATES.items():
    row(name, rates(make))
row("cyclic_adam", rates(RATES["cyclic"], adam=True))
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_averages = {")
row("swa", averages(None))
row("ema", averages(get_ema_multi_avg_fn(0.9)))
print("};")
