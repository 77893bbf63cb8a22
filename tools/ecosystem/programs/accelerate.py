import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

from .common import numbers, points, small_net


def prepared(**more):
    set_seed(0)
    accelerator, net = Accelerator(cpu=True, **more), small_net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
    loader = DataLoader(TensorDataset(*points()), batch_size=8, shuffle=True)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)
    return (accelerator, *accelerator.prepare(net, optimizer, loader, scheduler))


def run(accelerator, net, optimizer, loader, scheduler):
    found = []
    for x, y in loader:
        with accelerator.accumulate(net):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        found.append(loss.item())
    return found


def forward(folder):
    accelerator, net, *_ = prepared()
    return numbers(accelerator.gather_for_metrics(net(torch.ones(2, 4))), accelerator.unwrap_model(net)[0].weight)


def training(folder):
    return run(*prepared(gradient_accumulation_steps=2))


def saving(folder):
    all_ = prepared()
    run(*all_)
    all_[0].save_state(folder)
    first = run(*all_)
    all_[0].load_state(folder)
    return first + run(*all_)
