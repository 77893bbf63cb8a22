import kornia
import torch

from .common import copied_by_file, losses, numbers


def forward(folder):
    x = torch.rand(1, 3, 16, 16)
    return numbers(kornia.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)), kornia.color.rgb_to_hsv(x),
                   kornia.geometry.rotate(x, torch.tensor([30.0])), kornia.filters.sobel(x),
                   kornia.losses.ssim_loss(x, x * 0.8, 5))


def training(folder):
    x, angle = torch.rand(1, 1, 16, 16), torch.nn.Parameter(torch.tensor([10.0]))
    wanted = kornia.geometry.rotate(x, torch.tensor([25.0]))
    augment = kornia.augmentation.RandomHorizontalFlip(p=0.5)
    found = losses([angle], lambda: (kornia.geometry.rotate(x, angle) - wanted).square().mean(), lr=1.0)
    return found + numbers(augment(x), kornia.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1)(x.expand(2, 3, 16, 16)))


def saving(folder):
    made = [kornia.feature.HardNet(False) for _ in range(2)]
    return numbers(copied_by_file(*made, folder)(torch.ones(1, 1, 32, 32).cumsum(-1)))
