"""A U-Net that segments discs."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def double(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
                         nn.Conv2d(outside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = double(1, 8), double(8, 16), double(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up2, self.join2 = nn.ConvTranspose2d(32, 16, 2, stride=2), double(32, 16)
        self.up1, self.join1 = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True), double(24, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.bottom(self.pool(b))
        b = self.join2(torch.cat([self.up2(c), b], dim=1))
        a = self.join1(torch.cat([self.up1(b), a], dim=1))
        return self.out(a)


def dice(pred, target):
    pred = torch.sigmoid(pred).flatten(1)
    target = target.flatten(1)
    return 1 - ((2 * (pred * target).sum(1) + 1) / (pred.sum(1) + target.sum(1) + 1)).mean()


torch.manual_seed(5)
yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing='ij')
centers = torch.rand(8, 2) * 8 + 4
masks = (((yy - centers[:, 0, None, None]) ** 2 + (xx - centers[:, 1, None, None]) ** 2) < 12).float().unsqueeze(1)
images = masks + 0.2 * torch.randn(8, 1, 16, 16)
model = UNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
for step in range(6):
    pred = model(images)
    loss = F.binary_cross_entropy_with_logits(pred, masks) + dice(pred, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
