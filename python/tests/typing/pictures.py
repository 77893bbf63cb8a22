"""Pictures: data sets, transforms, models, TensorBoard, AMP."""
from __future__ import annotations

import torch
import torchvision
from torch import Tensor, nn
from torch.amp import GradScaler, autocast
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torch.utils.tensorboard import SummaryWriter
from torchvision import transforms
from torchvision.datasets import FakeData, ImageFolder


def loaders(root: str) -> tuple[DataLoader[tuple[Tensor, int]], int]:
    steps = transforms.Compose([transforms.RandomResizedCrop(32), transforms.ToTensor(),
                                transforms.Normalize((0.5,), (0.5,))])
    data = FakeData(8, (3, 40, 40), 3, transform=steps) if not root else ImageFolder(root, transform=steps)
    return DataLoader(data, batch_size=4, shuffle=True, pin_memory=False), 3


def share(folder: ImageFolder, rank: int) -> tuple[DataLoader[tuple[Tensor, int]], float]:
    sampler: DistributedSampler[int] = DistributedSampler(folder, num_replicas=2, rank=rank)
    print(len(folder.classes), folder.class_to_idx)
    return DataLoader(folder, sampler=sampler), torch.finfo(torch.float32).eps


def epoch(model: nn.Module, loader: DataLoader[tuple[Tensor, int]], optimizer: torch.optim.Optimizer,
          schedule: LRScheduler, scaler: GradScaler, writer: SummaryWriter) -> None:
    for step, (x, y) in enumerate(loader):
        with autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), torch.as_tensor(y))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        writer.add_scalar("loss", loss.item(), step)
    schedule.step()
    print(schedule.get_last_lr()[0], optimizer.param_groups[0]["lr"])


if __name__ == "__main__":
    loader, classes = loaders("")
    model = torchvision.models.resnet18(num_classes=classes)
    model.fc = nn.Linear(model.fc.in_features, classes)
    for p in model.layer1.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with SummaryWriter("runs") as writer:
        epoch(model, loader, optimizer, CosineAnnealingLR(optimizer, 5), GradScaler("cpu", enabled=False), writer)
    grid = torchvision.utils.make_grid(torch.rand(4, 3, 8, 8))
    print(grid.shape)
