"""A neural radiance field of a sphere: rays, samples along them, alpha compositing, and finer samples where the weight is."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Embedder(nn.Module):
    def __init__(self, num_freqs, include_input=True):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.linspace(0.0, num_freqs - 1, num_freqs))
        self.include_input = include_input

    def forward(self, x):
        scaled = (x[..., None, :] * self.freqs[:, None]).flatten(-2)
        return torch.cat([x, scaled.sin(), scaled.cos()] if self.include_input else [scaled.sin(), scaled.cos()], -1)


class NeRF(nn.Module):
    def __init__(self, depth=4, width=48, freqs=4, freqs_views=2, skips=(2,)):
        super().__init__()
        self.embed, self.embed_views, self.skips = Embedder(freqs), Embedder(freqs_views), skips
        points, views = 3 + 6 * freqs, 3 + 6 * freqs_views
        self.pts_linears = nn.ModuleList([nn.Linear(points, width)] + [
            nn.Linear(width + points if i in skips else width, width) for i in range(depth - 1)])
        self.alpha_linear = nn.Linear(width, 1)
        self.feature_linear = nn.Linear(width, width)
        self.views_linears = nn.ModuleList([nn.Linear(views + width, width // 2)])
        self.rgb_linear = nn.Linear(width // 2, 3)

    def forward(self, points, directions):
        x = self.embed(points)
        h = x
        for i, layer in enumerate(self.pts_linears):
            h = F.relu(layer(h))
            if i in self.skips:
                h = torch.cat([x, h], -1)
        alpha, h = self.alpha_linear(h), self.feature_linear(h)
        h = torch.cat([h, self.embed_views(directions).unsqueeze(-2).expand(*h.shape[:-1], -1)], -1)
        for layer in self.views_linears:
            h = F.relu(layer(h))
        return torch.cat([self.rgb_linear(h), alpha], -1)


def get_rays(height, width, focal, c2w):
    i, j = torch.meshgrid(torch.linspace(0, width - 1, width), torch.linspace(0, height - 1, height), indexing="ij")
    i, j = i.t(), j.t()
    dirs = torch.stack([(i - width * 0.5) / focal, -(j - height * 0.5) / focal, -torch.ones_like(i)], -1)
    rays_d = torch.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    return c2w[:3, -1].expand(rays_d.shape), rays_d


def pose_spherical(theta, phi, radius):
    t, p = math.radians(theta), math.radians(phi)
    move = torch.eye(4)
    move[2, 3] = radius
    rot_phi = torch.tensor([[1, 0, 0, 0], [0, math.cos(p), -math.sin(p), 0], [0, math.sin(p), math.cos(p), 0], [0, 0, 0, 1]])
    rot_theta = torch.tensor([[math.cos(t), 0, -math.sin(t), 0], [0, 1, 0, 0], [math.sin(t), 0, math.cos(t), 0], [0, 0, 0, 1]])
    return rot_theta @ rot_phi @ move


def raw2outputs(raw, z_vals, rays_d, noise_std=0.0, white_bkgd=True):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.Tensor([1e10]).expand(dists[..., :1].shape)], -1) * torch.norm(rays_d[..., None, :], dim=-1)
    noise = torch.randn(raw[..., 3].shape) * noise_std if noise_std > 0 else 0.0
    alpha = 1.0 - torch.exp(-F.relu(raw[..., 3] + noise) * dists)
    through = torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * through
    rgb_map = torch.sum(weights[..., None] * torch.sigmoid(raw[..., :3]), -2)
    depth_map, acc_map = torch.sum(weights * z_vals, -1), torch.sum(weights, -1)
    if white_bkgd:
        rgb_map = rgb_map + (1.0 - acc_map[..., None])
    disp_map = 1.0 / torch.max(1e-10 * torch.ones_like(depth_map), depth_map / acc_map.clamp_min(1e-10))
    return rgb_map, disp_map, weights, depth_map


def sample_pdf(bins, weights, n_samples, det=False):
    weights = weights + 1e-5
    cdf = torch.cumsum(weights / torch.sum(weights, -1, keepdim=True), -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    if det:
        u = torch.linspace(0.0, 1.0, steps=n_samples).expand(list(cdf.shape[:-1]) + [n_samples])
    else:
        u = torch.rand(list(cdf.shape[:-1]) + [n_samples])
    u = u.contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below, above = torch.max(torch.zeros_like(inds - 1), inds - 1), torch.min((cdf.shape[-1] - 1) * torch.ones_like(inds), inds)
    inds_g = torch.stack([below, above], -1)
    shape = [inds_g.shape[0], inds_g.shape[1], cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(1).expand(shape), 2, inds_g)
    bins_g = torch.gather(bins.unsqueeze(1).expand(shape), 2, inds_g)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    return bins_g[..., 0] + (u - cdf_g[..., 0]) / denom * (bins_g[..., 1] - bins_g[..., 0])


def render_rays(coarse, fine, rays_o, rays_d, near=1.0, far=5.0, n_samples=12, n_importance=12, perturb=True):
    viewdirs = F.normalize(rays_d, dim=-1)
    z_vals = torch.lerp(torch.tensor(near), torch.tensor(far), torch.linspace(0.0, 1.0, steps=n_samples))
    z_vals = z_vals.expand([rays_o.shape[0], n_samples])
    if perturb:
        mids = 0.5 * (z_vals[..., 1:] + z_vals[..., :-1])
        upper, lower = torch.cat([mids, z_vals[..., -1:]], -1), torch.cat([z_vals[..., :1], mids], -1)
        z_vals = lower + (upper - lower) * torch.rand_like(z_vals)
    raw = coarse(rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None], viewdirs)
    rgb0, _, weights, _ = raw2outputs(raw, z_vals, rays_d)
    mids = 0.5 * (z_vals[..., 1:] + z_vals[..., :-1])
    z_samples = sample_pdf(mids, weights[..., 1:-1], n_importance, det=not perturb).detach()
    z_vals, _ = torch.sort(torch.cat([z_vals, z_samples], -1), -1)
    raw = fine(rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None], viewdirs)
    rgb, disp, weights, depth = raw2outputs(raw, z_vals, rays_d)
    return rgb, rgb0, depth


def sphere(rays_o, rays_d):
    """What a red sphere of radius 1 looks like, lit from above."""
    d = F.normalize(rays_d, dim=-1)
    b = (rays_o * d).sum(-1)
    disc = b * b - (rays_o.pow(2).sum(-1) - 1.0)
    hit = disc > 0
    normal = rays_o + (-b - disc.clamp(min=0).sqrt())[..., None] * d
    light = 0.4 + 0.6 * normal[..., 1].clamp(0, 1)
    return torch.where(hit[..., None], light[..., None] * torch.tensor([0.9, 0.2, 0.1]), torch.ones(3))


def img2mse(x, y):
    return torch.mean((x - y) ** 2)


def mse2psnr(x):
    return -10.0 * torch.log(x) / torch.log(torch.Tensor([10.0]))


def main():
    torch.manual_seed(3)
    coarse, fine = NeRF(), NeRF()
    grad_vars = [*coarse.parameters(), *fine.parameters()]
    optimizer = torch.optim.Adam(params=grad_vars, lr=3e-3, betas=(0.9, 0.999))
    height = width = 12
    views = [get_rays(height, width, 14.0, pose_spherical(angle, -25.0, 3.0)) for angle in (-120.0, 0.0, 120.0)]
    rays = torch.cat([torch.stack(view, -2).reshape(-1, 2, 3) for view in views])
    colours = sphere(rays[:, 0], rays[:, 1])
    for step in range(30):
        chosen = torch.randperm(len(rays))[:96]
        rgb, rgb0, _ = render_rays(coarse, fine, rays[chosen, 0], rays[chosen, 1])
        loss_fine = img2mse(rgb, colours[chosen])
        loss = loss_fine + img2mse(rgb0, colours[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * 0.1 ** (step / 100)
        if step % 10 == 9:
            print(f"step {step} loss {loss.item():.4f} psnr {mse2psnr(loss_fine.detach()).item():.3f}")
    with torch.no_grad():
        rays_o, rays_d = get_rays(height, width, 14.0, pose_spherical(60.0, -25.0, 3.0))
        parts = [render_rays(coarse, fine, o, d, perturb=False)
                 for o, d in zip(torch.split(rays_o.reshape(-1, 3), 50), torch.split(rays_d.reshape(-1, 3), 50))]
        rgb, _, depth = (torch.cat(each) for each in zip(*parts))
    wanted = sphere(rays_o.reshape(-1, 3), rays_d.reshape(-1, 3))
    picture = rgb.view(height, width, 3).clamp(0, 1).mul(255).add(0.5).to(torch.uint8)
    print(picture.shape, f"mse {img2mse(rgb, wanted).item():.4f} depth {depth.mean().item():.3f} "
          f"brightness {picture.float().mean().item() / 255:.3f}")


if __name__ == "__main__":
    main()
