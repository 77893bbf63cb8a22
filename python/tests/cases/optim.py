"""Optimizers and schedulers."""

import warnings

CURVES = {
    "SGD": ["lr=0.1", "lr=0.1, momentum=0.9", "lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01",
            "lr=0.1, momentum=0.9, dampening=0.1", "lr=0.01, maximize=True"],
    "Adam": ["lr=0.1", "lr=0.05, betas=(0.8, 0.9), weight_decay=0.1", "lr=0.1, amsgrad=True", "lr=0.1, maximize=True",
             "lr=0.1, decoupled_weight_decay=True, weight_decay=0.1"],
    "AdamW": ["lr=0.1", "lr=0.1, weight_decay=0.3, amsgrad=True"],
    "NAdam": ["lr=0.1", "lr=0.1, weight_decay=0.1, momentum_decay=0.1",
              "lr=0.1, weight_decay=0.1, decoupled_weight_decay=True"],
    "RAdam": ["lr=0.1", "lr=0.1, weight_decay=0.1", "lr=0.1, weight_decay=0.1, decoupled_weight_decay=True, betas=(0.9, 0.9)"],
    "Adamax": ["lr=0.1", "lr=0.1, weight_decay=0.1", "lr=0.02, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1"],
    "Adadelta": ["lr=1.0", "lr=1.0, rho=0.5, weight_decay=0.1", "lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.05, maximize=True"],
    "Adagrad": ["lr=0.1", "lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5", "lr=0.1, maximize=True"],
    "RMSprop": ["lr=0.01", "lr=0.01, momentum=0.9", "lr=0.01, momentum=0.5, centered=True, weight_decay=0.1",
                "lr=0.01, maximize=True"],
    "Rprop": ["lr=0.01", "lr=0.1, etas=(0.3, 1.5), step_sizes=(1e-3, 0.5)"],
    "ASGD": ["lr=0.1", "lr=0.1, t0=5, weight_decay=0.01, lambd=0.01", "lr=0.1, lambd=0.05, alpha=0.5, t0=5"],
    "LBFGS": ["lr=0.5, max_iter=4", "lr=1, max_iter=5, line_search_fn='strong_wolfe'", "lr=0.1, max_iter=3, history_size=2",
              "lr=1, max_iter=20, max_eval=7, tolerance_grad=1e-2, tolerance_change=1e-4"],
    "Adafactor": ["lr=0.1", "lr=0.1, weight_decay=0.1, d=2.0, eps=(1e-10, 1e-2)",
                  "lr=0.2, beta2_decay=-0.5, eps=(1e-3, 0.2), d=1.5, weight_decay=0.1"],
    "Muon": ["lr=0.02", "lr=0.02, nesterov=False, adjust_lr_fn='match_rms_adamw'",
             "lr=0.02, weight_decay=0, ns_steps=3, adjust_lr_fn='spectral_unclamped'"],
}
PAPERS = {  # which PyTorch has not: golden/papers.py
    "Lion": ["lr=0.02", "lr=0.02, betas=(0.7, 0.9), weight_decay=0.3"],
    "AdEMAMix": ["lr=0.02", "lr=0.02, betas=(0.8, 0.9, 0.95), alpha=2, beta3_warmup=10, alpha_warmup=15, eps=1e-6, "
                 "weight_decay=0.1"],
}
STEPS = 20


def _model(torch, matrix_only):
    """Two parameters and a loss of theirs that is neither convex nor separable."""
    def numbers(*shape):
        n = 1
        for s in shape:
            n *= s
        return torch.tensor([((7 * i) % 11 - 5) / 5 for i in range(n)], dtype=torch.float64).reshape(shape)
    weight = torch.nn.Parameter(numbers(4, 3))
    bias = torch.nn.Parameter(numbers(4))
    x, y = numbers(8, 3), numbers(8, 4)

    def loss():
        return ((torch.tanh(x @ weight.t() + (0 if matrix_only else bias)) - y) ** 2).mean()
    return ([weight] if matrix_only else [weight, bias]), loss


def curve(torch, name, options):
    """The losses of 20 steps."""
    params, loss = _model(torch, name == "Muon")
    optimizer = getattr(torch.optim, name)(params, **eval(f"dict({options})"))
    out = []

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value
    for _ in range(STEPS):
        out.append(float(optimizer.step(closure).detach()))
    return out


def state_dict(torch, name):
    """What an optimizer's state dict says after two steps: keys in order, types, shapes, options."""
    params, loss = _model(torch, name == "Muon")
    optimizer = getattr(torch.optim, name)(params, lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step(*([loss] if name == "LBFGS" else []))
    saved = optimizer.state_dict()

    def described(value):
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype).split('.')[-1]} {list(value.shape)}"
        return type(value).__name__
    return {"groups": repr(saved["param_groups"]), "repr": repr(optimizer),
            "state": {str(k): [[n, described(v)] for n, v in s.items()] for k, s in saved["state"].items()}}


SCHEDULERS = {
    "StepLR": ["step_size=3", "step_size=2, gamma=0.5"],
    "MultiStepLR": ["milestones=[3, 3, 7]"],
    "LambdaLR": ["lr_lambda=lambda e: 0.9 ** e", "lr_lambda=[lambda e: 1 / (1 + e), lambda e: e]"],
    "MultiplicativeLR": ["lr_lambda=lambda e: 0.9 if e % 2 else 1.1"],
    "ConstantLR": ["", "factor=0.5, total_iters=4"],
    "LinearLR": ["", "start_factor=0.1, end_factor=0.7, total_iters=7"],
    "ExponentialLR": ["gamma=0.9"],
    "PolynomialLR": ["", "total_iters=8, power=2.0"],
    "CosineAnnealingLR": ["T_max=5", "T_max=4, eta_min=0.01"],
    "CosineAnnealingWarmRestarts": ["T_0=4", "T_0=2, T_mult=2, eta_min=0.01"],
    "CyclicLR": ["base_lr=0.1, max_lr=0.3, step_size_up=3", "base_lr=[0.1, 0.2], max_lr=0.3, step_size_up=3, step_size_down=2, "
                 "mode='triangular2'", "base_lr=0.1, max_lr=0.3, step_size_up=3, mode='exp_range', gamma=0.9, "
                 "cycle_momentum=False", "base_lr=0.1, max_lr=0.3, step_size_up=3, scale_fn=lambda x: 1 / x"],
    "OneCycleLR": ["max_lr=0.5, total_steps=16", "max_lr=[0.5, 0.1], epochs=4, steps_per_epoch=4, anneal_strategy='linear'",
                   "max_lr=0.5, total_steps=16, three_phase=True, div_factor=5.0",
                   "max_lr=0.3, total_steps=16, pct_start=0.4, anneal_strategy='linear', div_factor=10.0, "
                   "final_div_factor=100.0, base_momentum=0.8, max_momentum=0.9, three_phase=True"],
    "ReduceLROnPlateau": ["patience=1", "mode='max', patience=2, threshold_mode='abs', cooldown=1, min_lr=[0.01, 0.02]"],
}
METRICS = [1.0, 0.9, 0.91, 0.92, 0.93, 0.8, 0.8, 0.8, 0.79999, 0.8, 0.7, 0.9, 0.9, 0.9, 0.9, 0.6]


def _optimizer(torch, adam=False):
    params = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    groups = [{"params": [params[0]]}, {"params": [params[1]], "lr": 0.3}]
    return torch.optim.Adam(groups, lr=0.1) if adam else torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def _followed(optimizer, scheduler, metrics=False):
    out = []
    for i in range(15):
        momenta = [g["betas"][0] if "betas" in g else g["momentum"] for g in optimizer.param_groups]
        out.append([[g["lr"], m] for g, m in zip(optimizer.param_groups, momenta)] + [scheduler.get_last_lr()])
        optimizer.step()
        scheduler.step(*([METRICS[i]] if metrics else []))
    return out


def rates(torch, name, options):
    """Learning rates and momenta over 15 epochs."""
    optimizer = _optimizer(torch)
    scheduler = eval(f"getattr(torch.optim.lr_scheduler, name)(optimizer, {options})", {
        "torch": torch, "name": name, "optimizer": optimizer})
    return _followed(optimizer, scheduler, name == "ReduceLROnPlateau")


def composed_rates(torch, name):
    optimizer = _optimizer(torch, adam=name.endswith("of beta1"))
    s = torch.optim.lr_scheduler
    if name == "SequentialLR":
        scheduler = s.SequentialLR(optimizer, [s.LinearLR(optimizer, total_iters=3), s.CosineAnnealingWarmRestarts(optimizer,
                                               3), s.ExponentialLR(optimizer, 0.9)], milestones=[3, 8])
    elif name == "SequentialLR of cosine":
        scheduler = s.SequentialLR(optimizer, [s.ConstantLR(optimizer), s.CosineAnnealingLR(optimizer, 5)], milestones=[4])
    elif name == "ChainedScheduler":
        scheduler = s.ChainedScheduler([s.ConstantLR(optimizer, total_iters=4), s.StepLR(optimizer, 3),
                                         s.ExponentialLR(optimizer, 0.9)])
    elif name == "resumed":
        optimizer.param_groups[0]["initial_lr"], optimizer.param_groups[1]["initial_lr"] = 0.2, 0.5
        scheduler = s.ExponentialLR(optimizer, 0.9, last_epoch=4)
    elif name == "resumed cosine":
        optimizer.param_groups[0]["initial_lr"], optimizer.param_groups[1]["initial_lr"] = 0.2, 0.5
        scheduler = s.CosineAnnealingLR(optimizer, 6, last_epoch=4)
    elif name == "SWALR":
        scheduler = torch.optim.swa_utils.SWALR(optimizer, [0.05, 0.5], anneal_epochs=5)
    elif name == "OneCycleLR of beta1":
        scheduler = s.OneCycleLR(optimizer, 0.01, epochs=3, steps_per_epoch=6)
    elif name == "CyclicLR of beta1":
        scheduler = s.CyclicLR(optimizer, 0.01, 0.2, step_size_up=4)
    elif name == "SWALR linear":
        scheduler = torch.optim.swa_utils.SWALR(optimizer, 0.05, anneal_epochs=3, anneal_strategy="linear")
    return _followed(optimizer, scheduler)


COMPOSED = ["SequentialLR", "SequentialLR of cosine", "ChainedScheduler", "resumed", "resumed cosine", "SWALR",
            "SWALR linear", "OneCycleLR of beta1", "CyclicLR of beta1"]


def averages(torch, name):
    """The sum of all averages after each of 5 updates of parameters that walk along a line."""
    utils = torch.optim.swa_utils
    model = torch.nn.Linear(3, 2, dtype=torch.float64)
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_(torch.arange(p.numel(), dtype=torch.float64).reshape(p.shape) * 0.25 - k)
    averaged = utils.AveragedModel(model, **{"swa": {}, "ema": {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.9)}}[name])
    out = []
    for step in range(5):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.5 * (step + 1) ** 2)
        averaged.update_parameters(model)
        out.append(float(sum(p.detach().sum() for p in averaged.module.parameters())))
    return out


AVERAGES = ["swa", "ema"]


def scheduler_states(torch):
    """The state dicts of schedulers, as text."""
    out = {}
    for name, options in SCHEDULERS.items():
        if "lambda" not in options[0]:
            optimizer = _optimizer(torch)
            scheduler = eval(f"torch.optim.lr_scheduler.{name}(optimizer, {options[0]})", {
                "torch": torch, "optimizer": optimizer})
            optimizer.step()
            scheduler.step(*([1.0] if name == "ReduceLROnPlateau" else []))
            out[name] = repr(scheduler.state_dict())
    return out


_WRONG = """
torch.optim.{0}(m(), lr=-1)
torch.optim.{0}(m(), eps=-1)
torch.optim.{0}(m(), betas=(1.5, 0.9))
torch.optim.{0}(m(), betas=(0.9, -1))
torch.optim.{0}(m(), weight_decay=-1)
torch.optim.{0}(m(), momentum=-1)
torch.optim.{0}(m(), rho=2)
torch.optim.{0}(m(), lr_decay=-1)
torch.optim.{0}(m(), initial_accumulator_value=-1)
torch.optim.{0}(m(), alpha=-1)
torch.optim.{0}(m(), etas=(2, 1))
torch.optim.{0}(m(), momentum_decay=-1)
torch.optim.{0}(m(), nesterov=True)
torch.optim.{0}(m(), beta2_decay=1)
torch.optim.{0}(m(), d=0.5)
torch.optim.{0}(m(), foreach=True, fused=True)
torch.optim.{0}(m(), lr=torch.ones(2))
torch.optim.{0}(m(), lambd=-1)
torch.optim.{0}(m(), adjust_lr_fn='q')
"""
_OTHERS = """
torch.optim.SGD([], lr=1)
torch.optim.SGD(torch.ones(2), lr=1)
torch.optim.SGD([1], lr=1)
torch.optim.SGD([torch.ones(2, requires_grad=True) * 2], lr=1)
torch.optim.SGD([{'params': m()}, {'params': {1, 2}}], lr=1)
torch.optim.SGD([{'params': p}, {'params': p}], lr=1)
o.load_state_dict({'param_groups': [], 'state': {}})
o.load_state_dict({'param_groups': [{'params': [1, 2]}], 'state': {}})
o.add_param_group(3)
torch.optim.LBFGS([{'params': m()}, {'params': m()}])
torch.optim.Muon([torch.nn.Parameter(torch.ones(2))])
torch.optim.Optimizer(m(), {}).step()
torch.optim.lr_scheduler.StepLR(3, 1)
torch.optim.lr_scheduler.StepLR(o, 1, last_epoch=1)
torch.optim.lr_scheduler.LinearLR(o, start_factor=0)
torch.optim.lr_scheduler.LinearLR(o, end_factor=2)
torch.optim.lr_scheduler.ConstantLR(o, factor=2)
torch.optim.lr_scheduler.OneCycleLR(o, 0.1)
torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=-1)
torch.optim.lr_scheduler.OneCycleLR(o, 0.1, epochs=1)
torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=2, pct_start=3)
torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=2, anneal_strategy='x')
torch.optim.lr_scheduler.OneCycleLR(o, [0.1, 0.2], total_steps=2)
torch.optim.lr_scheduler.CyclicLR(o, 0.1, 0.2, mode='x')
torch.optim.lr_scheduler.CyclicLR(o, [0.1, 0.2], 0.2)
torch.optim.lr_scheduler.CyclicLR(torch.optim.Adagrad(m()), 0.1, 0.2)
torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 0)
torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 1, T_mult=0.5)
torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 1).step(-1)
torch.optim.lr_scheduler.ReduceLROnPlateau(o, factor=1)
torch.optim.lr_scheduler.ReduceLROnPlateau(o, mode='x')
torch.optim.lr_scheduler.ReduceLROnPlateau(o, threshold_mode='x')
torch.optim.lr_scheduler.ReduceLROnPlateau(o, min_lr=[1, 2])
torch.optim.lr_scheduler.LambdaLR(o, [lambda x: x] * 2)
torch.optim.lr_scheduler.SequentialLR(o, [], [])
torch.optim.lr_scheduler.SequentialLR(o, [torch.optim.lr_scheduler.ConstantLR(o)], [1])
torch.optim.lr_scheduler.ChainedScheduler([])
torch.optim.lr_scheduler.LRScheduler(o)
torch.optim.swa_utils.SWALR(o, 0.1, anneal_strategy='x')
torch.optim.swa_utils.SWALR(o, 0.1, anneal_epochs=-1)
torch.optim.swa_utils.SWALR(o, [0.1, 0.2])
torch.optim.swa_utils.get_ema_multi_avg_fn(2.0)
"""


def errors(torch):
    """{statement: type and text of what it raises}; "fine" where nothing is."""
    out = {}
    statements = [line.format(name) for name in CURVES for line in _WRONG.strip().splitlines()] + _OTHERS.strip().splitlines()
    for statement in statements:
        p = [torch.nn.Parameter(torch.ones(2))]
        scope = {"torch": torch, "m": lambda: [torch.nn.Parameter(torch.ones(2, 2))], "p": p, "o": torch.optim.SGD(p, lr=1)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                eval(statement, scope)
                out[statement] = "fine"
            except Exception as error:
                out[statement] = f"{type(error).__name__}: {error}"
    return out


def all_results(torch):
    return {"curves": {f"{n}({o})": curve(torch, n, o) for n, options in {**CURVES, **PAPERS}.items() for o in options},
            "state_dicts": {n: state_dict(torch, n) for n in CURVES},
            "rates": {f"{n}({o})": rates(torch, n, o) for n, options in SCHEDULERS.items() for o in options},
            "composed_rates": {n: composed_rates(torch, n) for n in COMPOSED},
            "averages": {n: averages(torch, n) for n in AVERAGES},
            "scheduler_states": scheduler_states(torch), "errors": errors(torch)}
