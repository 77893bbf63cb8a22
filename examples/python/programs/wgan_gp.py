"""A Wasserstein GAN with gradient penalty, spectral norms, a moving average of the generator and scheduled learning rates."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd, optim
from torch.nn.utils.parametrizations import spectral_norm
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingWarmRestarts, LinearLR, SequentialLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, IterableDataset

LATENT, SIZE, LAMBDA_GP, N_CRITIC = 16, 16, 10.0, 3


class Blobs(IterableDataset):
    """Pictures of one round blob."""

    def __init__(self, count, seed):
        self.count, self.seed = count, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        grid = torch.stack(torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="xy"), dim=0).float()
        for _ in range(self.count):
            middle = torch.rand(2, 1, 1, generator=g) * (SIZE - 8) + 4
            distance = torch.linalg.vector_norm(grid - middle, dim=0, keepdim=True)
            yield torch.exp(-distance.square() / 8).mul(2).sub(1)


class ResidualUp(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, 4 * out, 3, padding=1, bias=False)
        self.shuffle = nn.PixelShuffle(2)
        self.skip = nn.Conv2d(channels, out, 1)

    def forward(self, x):
        y = self.shuffle(self.conv(F.relu(self.norm(x), inplace=True)))
        return y + self.skip(F.interpolate(x, scale_factor=2, mode="nearest"))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Sequential(nn.Linear(LATENT, 4 * 4 * 24), nn.Unflatten(1, (24, 4, 4)))
        self.blocks = nn.Sequential(ResidualUp(24, 16), ResidualUp(16, 8))
        self.to_picture = nn.Sequential(nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1), nn.Tanh())

    def forward(self, z):
        return self.to_picture(self.blocks(self.project(z)))


class MinibatchStd(nn.Module):
    def forward(self, x):
        spread = torch.sqrt(x.var(dim=0, unbiased=False) + 1e-8).mean()
        return torch.cat([x, spread.expand(x.size(0), 1, *x.shape[2:])], dim=1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 16, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1),
            nn.InstanceNorm2d(32, affine=True), nn.LeakyReLU(0.2), MinibatchStd(), nn.Conv2d(33, 32, 4, 2, 1), nn.SELU())
        self.score = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), spectral_norm(nn.Linear(32, 1), n_power_iterations=2))

    def forward(self, x):
        return self.score(self.features(x)).squeeze(1)


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.Linear)) and not hasattr(m, "parametrizations"):
        nn.init.kaiming_normal_(m.weight, a=0.2, nonlinearity="leaky_relu")
        if m.bias is not None:
            nn.init.zeros_(m.bias)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight, 1.0, 0.02)


def compute_gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    interpolates = torch.lerp(real, fake, alpha).requires_grad_(True)
    scores = critic(interpolates)
    (gradients,) = autograd.grad(outputs=scores, inputs=interpolates, grad_outputs=torch.ones_like(scores), create_graph=True,
                                 retain_graph=True)
    return ((gradients.flatten(1).norm(2, dim=1) - 1) ** 2).mean()


def main():
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator, critic = Generator().to(device).apply(weights_init), Critic().to(device).apply(weights_init)
    ema = AveragedModel(generator, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
    opt_g = optim.Adam(generator.parameters(), lr=5e-4, betas=(0.0, 0.9))
    opt_c = optim.Adam([{"params": critic.features.parameters()}, {"params": critic.score.parameters(), "lr": 2e-4}], lr=5e-4,
                       betas=(0.0, 0.9), weight_decay=1e-5)
    sched_g = SequentialLR(opt_g, [LinearLR(opt_g, 0.1, total_iters=4), CosineAnnealingWarmRestarts(opt_g, T_0=6, T_mult=2)],
                           milestones=[4])
    sched_c = optim.lr_scheduler.ChainedScheduler([ConstantLR(opt_c, 0.5, total_iters=3),
                                                   optim.lr_scheduler.ExponentialLR(opt_c, gamma=0.98)])
    fixed = torch.randn(8, LATENT, device=device)
    before = copy.deepcopy(generator.state_dict())
    for i, real in enumerate(DataLoader(Blobs(16 * 12, seed=7), batch_size=16)):
        real = real.to(device)
        z = torch.randn(real.size(0), LATENT, device=device)
        with torch.no_grad():
            fake = generator(z)
        loss_c = critic(fake).mean() - critic(real).mean() + LAMBDA_GP * compute_gradient_penalty(critic, real, fake)
        opt_c.zero_grad(set_to_none=True)
        loss_c.backward()
        norm = nn.utils.clip_grad_norm_(critic.parameters(), max_norm=50.0, error_if_nonfinite=True)
        opt_c.step()
        sched_c.step()
        if i % N_CRITIC == N_CRITIC - 1:
            critic.requires_grad_(False)
            loss_g = -critic(generator(torch.randn(16, LATENT, device=device))).mean()
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
            sched_g.step()
            critic.requires_grad_(True)
            ema.update_parameters(generator)
            print(f"step {i} critic {loss_c.item():.4f} generator {loss_g.item():.4f} norm {norm.item():.3f} "
                  f"lr {sched_g.get_last_lr()[0]:.6f} {sched_c.get_last_lr()[1]:.6f}")
    update_bn([torch.randn(16, LATENT, device=device) for _ in range(3)], ema)
    with torch.inference_mode():
        pictures = ema.eval()(fixed)
    moved = torch.stack([(before[k] - v).abs().mean() for k, v in generator.state_dict().items() if v.is_floating_point()])
    print(f"averaged {ema.n_averaged.item()} mean {pictures.mean().item():.4f} std {pictures.std().item():.4f} "
          f"moved {moved.mean().item():.4f}")


if __name__ == "__main__":
    main()
