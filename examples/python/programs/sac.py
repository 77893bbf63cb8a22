"""Soft actor-critic: a squashed normal by a transform of its own, twin critics, a temperature that learns, Polyak averages."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import distributions as pyd


class TanhTransform(pyd.transforms.Transform):
    domain = pyd.constraints.real
    codomain = pyd.constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def __init__(self, cache_size=1):
        super().__init__(cache_size=cache_size)

    @staticmethod
    def atanh(x):
        return 0.5 * (x.log1p() - (-x).log1p())

    def __eq__(self, other):
        return isinstance(other, TanhTransform)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return self.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2. * (math.log(2.) - x - F.softplus(-2. * x))


class SquashedNormal(pyd.transformed_distribution.TransformedDistribution):
    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale
        self.base_dist = pyd.Normal(loc, scale)
        super().__init__(self.base_dist, [TanhTransform()])

    @property
    def mean(self):
        mu = self.loc
        for tr in self.transforms:
            mu = tr(mu)
        return mu


def mlp(input_dim, hidden_dim, output_dim, hidden_depth, output_mod=None):
    mods = [nn.Linear(input_dim, hidden_dim), nn.ReLU(inplace=True)]
    for i in range(hidden_depth - 1):
        mods += [nn.Linear(hidden_dim, hidden_dim), nn.ReLU(inplace=True)]
    mods.append(nn.Linear(hidden_dim, output_dim))
    if output_mod is not None:
        mods.append(output_mod)
    return nn.Sequential(*mods)


def weight_init(m):
    if isinstance(m, nn.Linear):
        nn.init.orthogonal_(m.weight.data)
        if hasattr(m.bias, "data"):
            m.bias.data.fill_(0.0)


class Actor(nn.Module):
    def __init__(self, obs_dim, action_dim):
        super().__init__()
        self.trunk = mlp(obs_dim, 16, 2 * action_dim, 1)
        self.apply(weight_init)

    def forward(self, obs):
        mu, log_std = self.trunk(obs).chunk(2, dim=-1)
        log_std = torch.tanh(log_std)
        log_std = -5 + 0.5 * (2 + 5) * (log_std + 1)
        return SquashedNormal(mu, log_std.exp())


class DoubleQCritic(nn.Module):
    def __init__(self, obs_dim, action_dim):
        super().__init__()
        self.Q1 = mlp(obs_dim + action_dim, 16, 1, 1)
        self.Q2 = mlp(obs_dim + action_dim, 16, 1, 1)
        self.apply(weight_init)

    def forward(self, obs, action):
        assert obs.size(0) == action.size(0)
        obs_action = torch.cat([obs, action], dim=-1)
        return self.Q1(obs_action), self.Q2(obs_action)


def soft_update_params(net, target_net, tau):
    for param, target_param in zip(net.parameters(), target_net.parameters()):
        target_param.data.copy_(tau * param.data + (1 - tau) * target_param.data)


torch.manual_seed(3)
rng = np.random.default_rng(3)
actor, critic, target = Actor(3, 2), DoubleQCritic(3, 2), DoubleQCritic(3, 2)
target.load_state_dict(critic.state_dict())
log_alpha = torch.tensor(np.log(0.1), dtype=torch.float32)
log_alpha.requires_grad = True
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2, betas=[0.9, 0.999])
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=[0.9, 0.999])
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-2)
for step in range(20):
    obs = torch.as_tensor(rng.standard_normal((32, 3)), dtype=torch.float32)
    with torch.no_grad():
        action = actor(obs).sample()
    reward = -(action - obs[:, :2].tanh()).pow(2).sum(-1, keepdim=True)
    next_obs = torch.as_tensor(rng.standard_normal((32, 3))).float()
    not_done = torch.from_numpy((rng.random((32, 1)) > 0.1).astype(np.float32))
    dist = actor(next_obs)
    next_action = dist.rsample()
    log_prob = dist.log_prob(next_action).sum(-1, keepdim=True)
    target_V = torch.min(*target(next_obs, next_action)) - log_alpha.exp().detach() * log_prob
    target_Q = (reward + (not_done * 0.9 * target_V)).detach()
    current_Q1, current_Q2 = critic(obs, action)
    critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    dist = actor(obs)
    action = dist.rsample()
    log_prob = dist.log_prob(action).sum(-1, keepdim=True)
    actor_loss = (log_alpha.exp().detach() * log_prob - torch.min(*critic(obs, action))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    alpha_loss = (log_alpha.exp() * (-log_prob + 2).detach()).mean()
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
    soft_update_params(critic, target, 0.05)
    if step % 5 == 4:
        print(f"step {step} critic {critic_loss.item():.4f} actor {actor_loss.item():.4f} alpha {log_alpha.exp().item():.5f}")
dist = pyd.Independent(actor(obs[:4]), 1)
print(dist.batch_shape, dist.event_shape, f"{dist.log_prob(action[:4]).mean().item():.4f}",
      f"{actor(obs).mean.abs().max().item():.4f}")
saturated = SquashedNormal(torch.tensor([20.0]), torch.tensor([0.1])).sample()
print(saturated.item(), SquashedNormal(torch.tensor([0.5]), torch.tensor([1.0])).log_prob(torch.tensor([0.3])).shape)
