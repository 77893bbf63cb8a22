import lightning
import torch
from lightning.fabric import Fabric
from torch.utils.data import DataLoader, TensorDataset

from .common import numbers, points, small_net


def prepared():
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    net = small_net()
    net, optimizer = fabric.setup(net, torch.optim.AdamW(net.parameters(), lr=0.05))
    return fabric, net, optimizer


def forward(folder):
    lightning.seed_everything(0)
    fabric, net, _ = prepared()
    return numbers(net(torch.randn(2, 4)), each=6)


def training(folder):
    lightning.seed_everything(0)
    fabric, net, optimizer = prepared()
    found = []
    for x, y in fabric.setup_dataloaders(DataLoader(TensorDataset(*points()), batch_size=8)):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        fabric.backward(loss)
        fabric.clip_gradients(net, optimizer, max_norm=0.5)
        optimizer.step()
        found.append(loss.item())
    return found


def saving(folder):
    lightning.seed_everything(0)
    fabric, net, optimizer = prepared()
    fabric.save(f"{folder}/all.ckpt", {"net": net, "optimizer": optimizer, "step": 3})
    lightning.seed_everything(1)
    fabric, again, optimizer = prepared()
    rest = fabric.load(f"{folder}/all.ckpt", {"net": again, "optimizer": optimizer})
    return numbers(*again.parameters(), rest["step"])
