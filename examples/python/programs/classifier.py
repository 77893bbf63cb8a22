"""An image classifier: a small ResNet on drawn shapes, Adam, a schedule, accuracy."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential()
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.layers = nn.Sequential(Block(8, 8), Block(8, 16, 2))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def shapes(n):
    """Images of horizontal lines, vertical lines and squares."""
    images, labels = torch.rand(n, 1, 12, 12) * 0.3, torch.arange(n) % 3
    for i, kind in enumerate(labels.tolist()):
        at = i % 5 + 3
        if kind == 0:
            images[i, 0, at] = 1
        elif kind == 1:
            images[i, 0, :, at] = 1
        else:
            images[i, 0, at:at + 4, at:at + 4] = 1
    return images, labels


torch.manual_seed(0)
images, labels = shapes(48)
model = ResNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for epoch in range(4):
    model.train()
    for begin in range(0, 48, 16):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[begin:begin + 16]), labels[begin:begin + 16])
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean()
    print(f"epoch {epoch} loss {loss.item():.6f} lr {scheduler.get_last_lr()[0]:.6f}")
assert right > 0.3
