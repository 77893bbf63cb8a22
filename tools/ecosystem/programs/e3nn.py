import torch
from e3nn import o3
from e3nn.nn import Gate

from .common import copied_by_file, losses, numbers


def product():
    return o3.FullyConnectedTensorProduct("2x0e + 1x1o", "1x0e + 1x1o", "2x0e + 1x1o")


def forward(folder):
    x = torch.randn(3, 3)
    turned = o3.Irreps("1x1o").D_from_angles(*torch.tensor([0.1, 0.2, 0.3]))
    gate = Gate("4x0e", [torch.relu], "1x0e", [torch.sigmoid], "1x1o")
    return numbers(o3.spherical_harmonics([0, 1, 2], x, normalize=True), turned, gate(torch.randn(2, 8)))


def training(folder):
    module, x, y = product(), torch.randn(5, 5), torch.randn(5, 4)
    return losses(module.parameters(), lambda: (module(x, y) - 1).square().mean())


def saving(folder):
    return numbers(copied_by_file(product(), product(), folder)(torch.ones(2, 5), torch.ones(2, 4)))
