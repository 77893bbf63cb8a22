"""Writes tests/optim/curves.inc: rates of schedules, and averages.

Run: python3 -B tests/golden/optim_curves.py > tests/optim/curves.inc
"""
import textwrap

import torch
from torch import optim
from torch.optim import lr_scheduler as sched
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn

torch.set_default_dtype(torch.double)


def row(name, values):
    numbers = ", ".join(f"{float(torch.as_tensor(v).detach()):.12g}" for v in values)
    print(textwrap.fill(f'{{"{name}", {{{numbers}}}}},', 98, initial_indent="    ", subsequent_indent="     "))


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
print("inline const std::map<std::string, std::vector<double>> golden_cycles = {")
for name, make in RATES.items():
    row(name, rates(make))
row("cyclic_adam", rates(RATES["cyclic"], adam=True))
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_averages = {")
row("swa", averages(None))
row("ema", averages(get_ema_multi_avg_fn(0.9)))
print("};")
