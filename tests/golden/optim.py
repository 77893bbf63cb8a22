"""Writes tests/optim/golden.inc: parameters after steps, from PyTorch 1.13.

Run: python3 -P tests/golden/optim.py | clang-format --assume-filename=x.h > tests/optim/golden.inc
"""
import torch


def numbers(values):
    return ", ".join(repr(float(v)) for v in values)


def row(name, values):
    print(f'    {{"{name}", {{{numbers(values)}}}}},')


def run_optimizer(make):
    """Two parameters (2x3 and 4), gradients from a formula in the step and the element's number."""
    params = [torch.arange(6.0).div(4).sub(0.5).reshape(2, 3), torch.arange(4.0).mul(-0.25).add(0.3)]
    for p in params:
        p.requires_grad_()
    optimizer = make(params)
    for step in range(5):
        for k, p in enumerate(params):
            # The second parameter has no gradient in step 1: its own step count falls behind.
            if k == 1 and step == 1:
                p.grad = None
                continue
            i = torch.arange(float(p.numel())).reshape(p.shape)
            p.grad = (i - 2 + k) * 0.125 * (step + 1) - 0.0625 * i * i
        optimizer.step()
    return [v for p in params for v in p.detach().flatten().tolist()]


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "sgd_dampening_decay": lambda p: torch.optim.SGD(p, 0.1, momentum=0.8, dampening=0.3, weight_decay=0.05),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd_maximize": lambda p: torch.optim.SGD(p, 0.1, momentum=0.5, maximize=True, weight_decay=0.1),
    "adam": lambda p: torch.optim.Adam(p, 0.01),
    "adam_decay": lambda p: torch.optim.Adam(p, 0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adam_amsgrad": lambda p: torch.optim.Adam(p, 0.05, amsgrad=True),
    "adam_maximize": lambda p: torch.optim.Adam(p, 0.05, maximize=True, weight_decay=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, 0.01),
    "adamw_amsgrad": lambda p: torch.optim.AdamW(p, 0.03, weight_decay=0.2, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.01),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, 0.01, centered=True, weight_decay=0.1),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, 0.01, alpha=0.9, momentum=0.8),
    "rmsprop_all": lambda p: torch.optim.RMSprop(p, 0.01, centered=True, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, 0.1),
    "adagrad_all": lambda p: torch.optim.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.05,
                                                 initial_accumulator_value=0.2, eps=1e-4),
}

print("// Written by tests/golden/optim.py from PyTorch", torch.__version__.split("a")[0] + ".")
print("inline const std::map<std::string, std::vector<double>> golden_parameters = {")
for name, make in OPTIMIZERS.items():
    row(name, run_optimizer(make))
print("};")
