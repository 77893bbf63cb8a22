import torch
from torchinfo import summary

from .common import copied_by_file, losses, numbers, points, small_net


def told(net, *shape):
    found = summary(net, input_size=shape, verbose=0)
    return [found.total_params, found.trainable_params, found.total_mult_adds, found.total_output_bytes, len(str(found))]


def forward(folder):
    conv = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(8 * 36, 2))
    return told(conv, 2, 3, 8, 8) + told(torch.nn.LSTM(4, 8, 2), 5, 2, 4)


def training(folder):
    (x, y), net = points(), small_net()
    before = told(net, 2, 4)
    return before + losses(net.parameters(), lambda: torch.nn.functional.cross_entropy(net(x), y))


def saving(folder):
    net = copied_by_file(small_net(), small_net(), folder)
    return told(net, 3, 4) + numbers(net(torch.ones(1, 4)))
