import torch
from torchdiffeq import odeint, odeint_adjoint

from .common import copied_by_file, losses, numbers, small_net

T = torch.linspace(0, 1, 5)


class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = small_net(2, 2)

    def forward(self, t, y):
        return self.net(y) - y * t


def forward(folder):
    flow, start = Flow(), torch.randn(3, 2)
    return numbers(odeint(flow, start, T)[-1], odeint(flow, start, T, method="rk4")[-1])


def training(folder):
    flow, start = Flow(), torch.randn(3, 2)
    return losses(flow.parameters(), lambda: odeint_adjoint(flow, start, T, rtol=1e-5, atol=1e-6).square().mean())


def saving(folder):
    return numbers(odeint(copied_by_file(Flow(), Flow(), folder), torch.ones(3, 2), T)[-1])
