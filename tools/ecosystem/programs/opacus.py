import torch
from opacus import GradSampleModule, PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

from .common import numbers, points, small_net


def private():
    net = small_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(*points()), batch_size=8)
    engine = PrivacyEngine()
    return engine, *engine.make_private(module=net, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0,
                                        max_grad_norm=1.0, poisson_sampling=False)


def run(engine, net, optimizer, loader):
    found = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def forward(folder):
    net = GradSampleModule(torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3), torch.nn.GroupNorm(1, 3), torch.nn.Flatten(),
                                               torch.nn.Linear(18, 2)))
    net(torch.randn(4, 2, 8)).square().sum().backward()
    return [x for p in net.parameters() for x in numbers(p.grad_sample)]


def training(folder):
    all_ = private()
    return run(*all_) + [all_[0].get_epsilon(1e-5)]


def saving(folder):
    engine, net, optimizer, loader = private()
    run(engine, net, optimizer, loader)
    engine.save_checkpoint(path=f"{folder}/all.pt", module=net, optimizer=optimizer)
    engine, net, optimizer, loader = private()
    engine.load_checkpoint(path=f"{folder}/all.pt", module=net, optimizer=optimizer)
    return numbers(*net.parameters(), engine.get_epsilon(1e-5))
