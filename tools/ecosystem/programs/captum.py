import torch
from captum.attr import DeepLift, FeatureAblation, IntegratedGradients, LayerConductance, NoiseTunnel, Saliency

from .common import copied_by_file, losses, numbers, points, small_net


def forward(folder):
    (x, y), net = points(4), small_net()
    return numbers(IntegratedGradients(net).attribute(x, target=y), Saliency(net).attribute(x, target=y),
                   FeatureAblation(net).attribute(x, target=1), DeepLift(net).attribute(x, target=2),
                   LayerConductance(net, net[0]).attribute(x, target=0))


def training(folder):
    (x, y), net = points(), small_net()
    found = losses(net.parameters(), lambda: torch.nn.functional.cross_entropy(net(x), y))
    torch.manual_seed(1)
    return found + numbers(NoiseTunnel(Saliency(net)).attribute(x, target=y, nt_samples=3))


def saving(folder):
    net = copied_by_file(small_net(), small_net(), folder)
    found, error = IntegratedGradients(net).attribute(torch.ones(2, 4), target=1, return_convergence_delta=True)
    return numbers(found, each=8) + [round(error.abs().max().item(), 3)]
