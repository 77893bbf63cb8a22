"""A diffusion model (Ho, Jain, Abbeel, arXiv:2006.11239) of small pictures of bars, sampled step by step."""

import math

import torch
import torch.nn.functional as F
from torch import einsum, nn


class TimeEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, time):
        half = self.width // 2
        steps = torch.exp(torch.arange(half, device=time.device) * -(math.log(10000) / (half - 1)))
        steps = time[:, None] * steps[None, :]
        return torch.cat((steps.sin(), steps.cos()), dim=-1)


class StandardizedConv2d(nn.Conv2d):
    """Its weights have mean 0 and variance 1 in each output channel."""

    def forward(self, x):
        mean = self.weight.mean(dim=(1, 2, 3), keepdim=True)
        var = torch.var(self.weight, dim=(1, 2, 3), unbiased=False, keepdim=True)
        weight = (self.weight - mean) * (var + 1e-5).rsqrt()
        return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Block(nn.Module):
    def __init__(self, channels, out, time_width):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_width, out * 2))
        self.first, self.second = StandardizedConv2d(channels, out, 3, padding=1), StandardizedConv2d(out, out, 3, padding=1)
        self.norms = nn.ModuleList([nn.GroupNorm(4, out), nn.GroupNorm(4, out)])
        self.skip = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()

    def forward(self, x, time):
        scale, shift = self.mlp(time)[:, :, None, None].chunk(2, dim=1)
        h = F.silu(self.norms[0](self.first(x)) * (scale + 1) + shift)
        return F.silu(self.norms[1](self.second(h))) + self.skip(x)


class LinearAttention(nn.Module):
    def __init__(self, channels, heads=2, width=8):
        super().__init__()
        self.heads, self.scale = heads, width ** -0.5
        self.to_qkv = nn.Conv2d(channels, heads * width * 3, 1, bias=False)
        self.to_out = nn.Conv2d(heads * width, channels, 1)

    def forward(self, x):
        n, _, h, w = x.shape
        q, k, v = (t.reshape(n, self.heads, -1, h * w) for t in self.to_qkv(x).chunk(3, dim=1))
        q, k = q.softmax(dim=-2) * self.scale, k.softmax(dim=-1)
        context = einsum("b h d n, b h e n -> b h d e", k, v / (h * w))
        out = einsum("b h d e, b h d n -> b h e n", context, q)
        return x + self.to_out(out.reshape(n, -1, h, w))


class Unet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        time_width = width * 4
        self.time = nn.Sequential(TimeEmbedding(width), nn.Linear(width, time_width), nn.GELU(),
                                  nn.Linear(time_width, time_width))
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.down = Block(width, width, time_width)
        self.smaller = nn.Conv2d(width, width * 2, 4, 2, 1)
        self.middle, self.attend = Block(width * 2, width * 2, time_width), LinearAttention(width * 2)
        self.larger = nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(width * 2, width, 3, padding=1))
        self.up = Block(width * 2, width, time_width)
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x, time):
        t = self.time(time)
        kept = self.down(self.first(x), t)
        h = self.attend(self.middle(self.smaller(kept), t))
        return self.last(self.up(torch.cat((self.larger(h), kept), dim=1), t))


class Diffusion(nn.Module):
    def __init__(self, model, steps=30):
        super().__init__()
        self.model, self.steps = model, steps
        at = torch.linspace(0, steps, steps + 1, dtype=torch.float64) / steps
        products = torch.cos((at + 0.008) / 1.008 * math.pi * 0.5) ** 2
        betas = torch.clip(1 - products[1:] / products[:-1], 0, 0.999)
        products = torch.cumprod(1 - betas, dim=0)
        before = F.pad(products[:-1], (1, 0), value=1.0)
        for name, value in {"root": products.sqrt(), "noise": (1 - products).sqrt(),
                            "spread": (betas * (1 - before) / (1 - products)).clamp(min=1e-20).log(),
                            "of_start": betas * before.sqrt() / (1 - products),
                            "of_now": (1 - before) * (1 - betas).sqrt() / (1 - products)}.items():
            self.register_buffer(name, value.to(torch.float32))

    def at(self, name, t):
        return getattr(self, name).gather(-1, t)[:, None, None, None]

    def forward(self, x):
        t = torch.randint(0, self.steps, (len(x),), device=x.device)
        noise = torch.randn_like(x)
        return F.mse_loss(self.model(self.at("root", t) * x + self.at("noise", t) * noise, t), noise)

    @torch.inference_mode()
    def sample(self, count):
        x = torch.randn(count, 1, 8, 8)
        for step in reversed(range(self.steps)):
            t = torch.full((count,), step, dtype=torch.long)
            start = ((x - self.at("noise", t) * self.model(x, t)) / self.at("root", t)).clamp_(-1.0, 1.0)
            x = self.at("of_start", t) * start + self.at("of_now", t) * x
            if step > 0:
                x = x + (0.5 * self.at("spread", t)).exp() * torch.randn_like(x)
        return x


def bars(count):
    """Pictures with one bright row or column."""
    pictures = torch.full((count, 1, 8, 8), -1.0)
    for picture, place, across in zip(pictures, torch.randint(0, 8, (count,)), torch.rand(count) < 0.5):
        if across:
            picture[0, place] = 1.0
        else:
            picture[0, :, place] = 1.0
    return pictures


def main():
    torch.manual_seed(0)
    diffusion = Diffusion(Unet())
    average = {name: value.clone() for name, value in diffusion.state_dict().items()}
    optimizer = torch.optim.Adam(diffusion.parameters(), lr=4e-3, betas=(0.9, 0.99))
    for step in range(300):
        loss = diffusion(bars(32))
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        for name, value in diffusion.state_dict().items():
            average[name].lerp_(value, 0.05)
        if step < 4:
            print(f"step {step}: loss {loss.item():.4f}, norm {norm:.3f}")
    print("noise is told from bars" if loss < 0.4 else f"loss {loss.item():.3f}")
    diffusion.load_state_dict(average)
    pictures = diffusion.eval().sample(16)
    bright = (pictures > 0).float()
    lines = torch.maximum(bright.sum(2).amax(-1), bright.sum(3).amax(-1))
    print("most samples have a bar" if (lines >= 6).float().mean() > 0.5 else f"longest lines {lines.flatten().tolist()}")


if __name__ == "__main__":
    main()
