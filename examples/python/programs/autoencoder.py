"""A denoising convolutional autoencoder that reports to TensorBoard, saves checkpoints and goes on from the best one."""

import os
import tempfile

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.LeakyReLU(0.1, True),
            nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.PReLU(8), nn.Flatten(start_dim=1), nn.Linear(8 * 4 * 4, 6))
        self.decoder = nn.Sequential(
            nn.Linear(6, 8 * 4 * 4), nn.ELU(), nn.Unflatten(dim=1, unflattened_size=(8, 4, 4)),
            nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1), nn.ReLU(True),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(4, 1, 3, padding=1), nn.Sigmoid())
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)
        elif type(m) == nn.Linear:
            nn.init.trunc_normal_(m.weight, std=.2)

    def forward(self, x):
        return self.decoder(self.encoder(x))


torch.manual_seed(9)
grid = torch.stack(torch.meshgrid(torch.linspace(-1, 1, 16), torch.linspace(-1, 1, 16), indexing="ij"))
centers = torch.rand(32, 2, 1, 1) - 0.5
images = torch.exp(-((grid - centers) ** 2).sum(1, keepdim=True) / 0.1)
loader = DataLoader(TensorDataset(images), batch_size=8, shuffle=True)
model = Autoencoder()
optimizer = torch.optim.Adamax(model.parameters(), lr=0.01, betas=(0.9, 0.99))
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=0, threshold=0.5)
with tempfile.TemporaryDirectory() as folder:
    writer = SummaryWriter(log_dir=os.path.join(folder, "run"))
    best, global_step = float("inf"), 0
    for epoch in range(5):
        running = 0.0
        for img, in loader:
            noisy = torch.clamp(img + 0.1 * torch.randn_like(img), 0., 1.)
            recon = model(noisy)
            loss = nn.functional.binary_cross_entropy(recon, img) + 1e-4 * sum(p.abs().sum() for p in model.parameters())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * img.size(0)
            writer.add_scalar("train/loss", loss.item(), global_step)
            global_step += 1
        running /= len(loader.dataset)
        scheduler.step(running)
        writer.add_histogram("latent", model.encoder(images), epoch)
        writer.add_images("reconstruction", recon.detach()[:2], epoch)
        writer.add_scalars("losses", {"epoch": running, "best": min(best, running)}, epoch)
        print(f"epoch {epoch} loss {running:.5f} lr {optimizer.param_groups[0]['lr']:.5f}")
        if running < best:
            best = running
            torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "scheduler": scheduler.state_dict(), "loss": best}, os.path.join(folder, "best.pt"))
    writer.add_hparams({"lr": 0.01, "latent": 6}, {"hparam/loss": best})
    writer.flush()
    writer.close()
    print(sorted(n for n in os.listdir(os.path.join(folder, "run")) if n.startswith("losses")))
    checkpoint = torch.load(os.path.join(folder, "best.pt"), map_location="cpu")
    again = Autoencoder()
    print(again.load_state_dict(checkpoint["model"]))
    other = torch.optim.Adamax(again.parameters())
    other.load_state_dict(checkpoint["optimizer"])
    print(checkpoint["epoch"], sorted(checkpoint), other.param_groups[0]["betas"], sorted(other.state_dict()["state"][0]))
    with torch.no_grad():
        print(f"psnr {10 * torch.log10(1 / nn.MSELoss()(again(images), images)):.3f}")
print(again)
