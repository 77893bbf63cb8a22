"""Proximal policy optimization of continuous actions: clipped ratios, generalized advantages, minibatches, entropy."""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Independent, Normal
from torch.distributions.kl import kl_divergence
from torch.utils.data.sampler import BatchSampler, SubsetRandomSampler


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(obs, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(obs, 16)), nn.Tanh(), layer_init(nn.Linear(16, act), std=0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, np.prod((act,))))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        action_mean = self.actor_mean(x)
        action_std = torch.exp(self.actor_logstd.expand_as(action_mean))
        probs = Normal(action_mean, action_std)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x), Independent(probs, 1)


class Points:
    """Eight points that a force pushes towards the origin, as a vector of environments."""

    def __init__(self, n, rng):
        self.rng, self.x = rng, rng.standard_normal((n, 2)).astype(np.float32)

    def step(self, action):
        self.x = (self.x + 0.3 * np.clip(action, -1, 1)).astype(np.float32)
        reward = -np.linalg.norm(self.x, axis=1).astype(np.float32)
        done = self.rng.random(len(self.x)) < 0.1
        self.x[done] = self.rng.standard_normal((int(done.sum()), 2))
        return self.x, reward, done


torch.manual_seed(1)
torch.backends.cudnn.deterministic = True
envs = Points(8, np.random.default_rng(1))
agent = Agent(2, 2)
optimizer = optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
steps, n = 16, 8
obs, actions = torch.zeros((steps, n, 2)), torch.zeros((steps, n) + (2,))
logprobs, rewards, dones, values = (torch.zeros((steps, n)) for _ in range(4))
next_obs, next_done = torch.Tensor(envs.x), torch.zeros(n)
for update in range(1, 5):
    frac = 1.0 - (update - 1.0) / 4
    optimizer.param_groups[0]["lr"] = frac * 3e-3
    for step in range(steps):
        obs[step], dones[step] = next_obs, next_done
        with torch.no_grad():
            action, logprob, _, value, _ = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step], logprobs[step] = action, logprob
        o, reward, done = envs.step(action.cpu().numpy())
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs, next_done = torch.Tensor(o), torch.Tensor(done)
    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages, lastgaelam = torch.zeros_like(rewards), 0
        for t in reversed(range(steps)):
            nextnonterminal = 1.0 - (next_done if t == steps - 1 else dones[t + 1])
            nextvalues = next_value if t == steps - 1 else values[t + 1]
            delta = rewards[t] + 0.99 * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + 0.99 * 0.95 * nextnonterminal * lastgaelam
        returns = advantages + values
    b_obs, b_actions = obs.reshape((-1, 2)), actions.reshape((-1,) + (2,))
    b_logprobs, b_advantages, b_returns, b_values = (t.reshape(-1) for t in (logprobs, advantages, returns, values))
    old = agent.get_action_and_value(b_obs)[-1]
    old = Independent(Normal(old.base_dist.loc.detach(), old.base_dist.scale.detach()), 1)
    clipfracs = []
    for epoch in range(2):
        for mb_inds in BatchSampler(SubsetRandomSampler(range(steps * n)), 32, drop_last=True):
            _, newlogprob, entropy, newvalue, _ = agent.get_action_and_value(b_obs[mb_inds], b_actions[mb_inds])
            logratio = newlogprob - b_logprobs[mb_inds]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clipfracs += [((ratio - 1.0).abs() > 0.2).float().mean().item()]
            mb_advantages = b_advantages[mb_inds]
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
            newvalue = newvalue.view(-1)
            v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -0.2, 0.2)
            v_loss = 0.5 * torch.max((newvalue - b_returns[mb_inds]) ** 2, (v_clipped - b_returns[mb_inds]) ** 2).mean()
            loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    new = agent.get_action_and_value(b_obs)[-1]
    y_pred, y_true = b_values.cpu().numpy(), b_returns.cpu().numpy()
    explained_var = 1 - np.var(y_true - y_pred) / np.var(y_true)
    print(f"update {update} policy {pg_loss.item():.4f} value {v_loss.item():.4f} entropy {entropy.mean().item():.4f} "
          f"kl {kl_divergence(old, new).mean().item():.5f} reward {rewards.mean().item():.4f} explained {explained_var:.3f}")
