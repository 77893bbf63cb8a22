"""A GAN that learns a ring of points."""

import math

import torch
import torch.nn as nn

torch.manual_seed(1)
generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.2)
        nn.init.constant_(m.bias, 0)


generator.apply(weights_init)
discriminator.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(30):
    angle = torch.rand(32) * 2 * math.pi
    real = torch.stack([angle.cos(), angle.sin()], dim=1)
    fake = generator(torch.randn(32, 4))
    d_optimizer.zero_grad()
    d_loss = criterion(discriminator(real), torch.ones(32, 1)) + criterion(discriminator(fake.detach()), torch.zeros(32, 1))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = criterion(discriminator(fake), torch.ones(32, 1))
    g_loss.backward()
    g_optimizer.step()
    if step % 6 == 5:
        print(f"step {step} d_loss {d_loss.item():.6f} g_loss {g_loss.item():.6f}")
