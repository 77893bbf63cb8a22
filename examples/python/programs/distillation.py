"""Distillation into a small student, with mixup, an average of weights, warm-up and cosine, AMP, accumulated gradients."""

import contextlib
import math
import warnings
from copy import deepcopy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.filterwarnings("ignore")
torch.manual_seed(23)


def mixup_data(x, y, alpha=0.4):
    lam = torch.distributions.Beta(alpha, alpha).sample().item() if alpha > 0 else 1.
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index, :], y, y[index], lam


class Block(nn.Module):
    def __init__(self, channels, expand=2):
        super().__init__()
        self.norm = nn.GroupNorm(2, channels)
        self.body = nn.Sequential(nn.Conv2d(channels, channels * expand, 1, bias=False), nn.SiLU(),
                                  nn.Conv2d(channels * expand, channels * expand, 3, padding="same", groups=channels * expand),
                                  nn.Hardswish(), nn.Conv2d(channels * expand, channels, 1))
        self.gamma = nn.Parameter(1e-1 * torch.ones(channels))

    def forward(self, x):
        return x + self.body(self.norm(x)) * self.gamma[:, None, None]


def make(width, depth):
    return nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.BatchNorm2d(width),
                         *[Block(width) for _ in range(depth)], nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Dropout(0.1), nn.Linear(width, 3))


x = torch.randn(60, 1, 8, 8)
y = torch.arange(60).remainder(3)
x[y == 1, :, ::2] += 1.5
x[y == 2, :, :, 1::2] -= 1.5
train_set, valid_set = random_split(TensorDataset(x, y), [0.8, 0.2], generator=torch.Generator().manual_seed(0))
loader = DataLoader(train_set, batch_size=12, shuffle=True, drop_last=True, pin_memory=False)
teacher, student = make(12, 2), make(4, 1)
optimizer = torch.optim.AdamW([{"params": [p for p in teacher.parameters() if p.ndim > 1]},
                               {"params": [p for p in teacher.parameters() if p.ndim <= 1], "weight_decay": 0.0}], lr=0.02)
for epoch in range(3):
    for xb, yb in loader:
        mixed, ya, yb, lam = mixup_data(xb, yb)
        out = teacher(mixed)
        loss = lam * F.cross_entropy(out, ya, label_smoothing=0.1) + (1 - lam) * F.cross_entropy(out, yb, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"teacher epoch {epoch} loss {loss.item():.4f}")
teacher.eval().requires_grad_(False)
T, accumulation = 2.0, 2
optimizer = torch.optim.SGD(student.parameters(), lr=0.2, momentum=0.9)
warm_up = LinearLR(optimizer, start_factor=0.1, total_iters=4)
scheduler = SequentialLR(optimizer, [warm_up, CosineAnnealingLR(optimizer, T_max=8)], milestones=[4])
ema = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.8), use_buffers=False)
scaler = torch.amp.GradScaler("cpu", enabled=False)
step = 0
for epoch in range(6):
    student.train()
    for i, (xb, yb) in enumerate(loader):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=epoch < 3):
            logits = student(xb)
            with torch.no_grad():
                soft = F.softmax(teacher(xb) / T, dim=-1)
            loss = F.kl_div(F.log_softmax(logits / T, dim=-1).float(), soft.float(), reduction="batchmean") * T * T
            loss = (0.7 * loss + 0.3 * F.cross_entropy(logits.float(), yb)) / accumulation
        scaler.scale(loss).backward()
        if (i + 1) % accumulation == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(student.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()
            ema.update_parameters(student)
            step += 1
    print(f"student epoch {epoch} step {step} lr {scheduler.get_last_lr()[0]:.5f}")
update_bn(loader, ema)
xv, yv = (torch.stack(t) if t[0].ndim else torch.tensor(t) for t in zip(*valid_set))
for name, model in (("teacher", teacher), ("student", student), ("average", ema.module)):
    with torch.no_grad(), contextlib.nullcontext():
        model.eval()
        right = (model(xv).argmax(1) == yv).sum().item()
    print(name, f"{right / len(yv):.2f}", sum(p.numel() for p in model.parameters()))
assert ema.n_averaged.item() == step and math.isclose(sum(g["lr"] for g in optimizer.param_groups), scheduler.get_last_lr()[0])
restored = AveragedModel(deepcopy(student))
restored.load_state_dict(ema.state_dict())
print("restored", all(torch.equal(a, b) for a, b in zip(restored.parameters(), ema.parameters())))
