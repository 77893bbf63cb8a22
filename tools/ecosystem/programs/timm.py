import timm
import torch
from timm.optim import create_optimizer_v2

from .common import copied_by_file, losses, numbers


def forward(folder):
    return numbers(timm.create_model("resnet18", num_classes=5).eval()(torch.randn(2, 3, 64, 64)), each=10)


def training(folder):
    model = timm.create_model("vit_tiny_patch16_224", num_classes=3, img_size=32, depth=2)
    x, y = torch.randn(4, 3, 32, 32), torch.arange(4) % 3
    return losses(model, lambda: torch.nn.functional.cross_entropy(model(x), y), lr=1e-3,
                  optimizer=lambda m, lr: create_optimizer_v2(m, opt="adamw", lr=lr, weight_decay=0.05))


def saving(folder):
    model, other = (timm.create_model("mobilenetv3_small_050", num_classes=4) for _ in range(2))
    return numbers(copied_by_file(model, other, folder)(torch.ones(1, 3, 64, 64)))
