"""A variational autoencoder of small binary patterns."""

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(36, 24)
        self.fc21 = nn.Linear(24, 4)
        self.fc22 = nn.Linear(24, 4)
        self.fc3 = nn.Linear(4, 24)
        self.fc4 = nn.Linear(24, 36)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 36))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 36), reduction='sum')
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


torch.manual_seed(2)
data = (torch.rand(64, 1, 6, 6) > 0.5).float().cummax(dim=3).values
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    total = 0.0
    for batch in data.split(16):
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        loss = loss_function(recon, batch, mu, logvar)
        loss.backward()
        total += loss.item()
        optimizer.step()
    print(f"epoch {epoch} loss {total / len(data):.6f}")
with torch.no_grad():
    print(f"sample {model.decode(torch.randn(8, 4)).mean().item():.6f}")
