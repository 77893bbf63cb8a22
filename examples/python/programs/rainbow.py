"""Distributional Q-learning on a corridor: noisy layers, a dueling head, prioritized replay, returns of several steps and a
target network that follows."""

import collections
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "done"))


class Corridor:
    """Eleven places, the prize at the right end; the wind sometimes blows back."""

    def __init__(self, rng, length=11):
        self.rng, self.length = rng, length

    def reset(self):
        self.at, self.left = 3, 30
        return self._state()

    def _state(self):
        return np.array([self.at / self.length, 1 - self.at / self.length, self.left / 30, math.sin(self.at)], dtype=np.float32)

    def step(self, action):
        self.at = max(0, self.at + (1 if action == 2 else -1 if action == 0 else 0) - (self.rng.random() < 0.1))
        self.left -= 1
        won = self.at >= self.length - 1
        return self._state(), 1.0 if won else -0.01, won or self.left == 0


class NoisyLinear(nn.Module):
    def __init__(self, in_features, out_features, std_init=0.5):
        super().__init__()
        self.in_features, self.out_features, self.std_init = in_features, out_features, std_init
        self.weight_mu = nn.Parameter(torch.FloatTensor(out_features, in_features))
        self.weight_sigma = nn.Parameter(torch.FloatTensor(out_features, in_features))
        self.register_buffer("weight_epsilon", torch.FloatTensor(out_features, in_features))
        self.bias_mu = nn.Parameter(torch.FloatTensor(out_features))
        self.bias_sigma = nn.Parameter(torch.FloatTensor(out_features))
        self.register_buffer("bias_epsilon", torch.FloatTensor(out_features))
        self.reset_parameters()
        self.reset_noise()

    def reset_parameters(self):
        mu_range = 1 / math.sqrt(self.weight_mu.size(1))
        self.weight_mu.data.uniform_(-mu_range, mu_range)
        self.weight_sigma.data.fill_(self.std_init / math.sqrt(self.weight_sigma.size(1)))
        self.bias_mu.data.uniform_(-mu_range, mu_range)
        self.bias_sigma.data.fill_(self.std_init / math.sqrt(self.bias_sigma.size(0)))

    def reset_noise(self):
        epsilon_in, epsilon_out = self._scale_noise(self.in_features), self._scale_noise(self.out_features)
        self.weight_epsilon.copy_(epsilon_out.ger(epsilon_in))
        self.bias_epsilon.copy_(epsilon_out)

    @staticmethod
    def _scale_noise(size):
        x = torch.randn(size)
        return x.sign().mul_(x.abs().sqrt_())

    def forward(self, x):
        if self.training:
            return F.linear(x, self.weight_mu + self.weight_sigma * self.weight_epsilon,
                            self.bias_mu + self.bias_sigma * self.bias_epsilon)
        return F.linear(x, self.weight_mu, self.bias_mu)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}"


class RainbowDQN(nn.Module):
    def __init__(self, num_inputs, num_actions, num_atoms, v_min, v_max, hidden=32):
        super().__init__()
        self.num_actions, self.num_atoms = num_actions, num_atoms
        self.register_buffer("support", torch.linspace(v_min, v_max, num_atoms))
        self.body = nn.Sequential(collections.OrderedDict([("fc", nn.Linear(num_inputs, hidden)), ("act", nn.CELU()),
                                                           ("norm", nn.RMSNorm(hidden))]))
        self.value = nn.ModuleList([NoisyLinear(hidden, hidden), NoisyLinear(hidden, num_atoms)])
        self.advantage = nn.ModuleList([NoisyLinear(hidden, hidden), NoisyLinear(hidden, num_atoms * num_actions)])

    def forward(self, x, log=False):
        h = self.body(x)
        value = self.value[1](F.hardswish(self.value[0](h))).view(-1, 1, self.num_atoms)
        advantage = self.advantage[1](F.hardswish(self.advantage[0](h))).view(-1, self.num_actions, self.num_atoms)
        q = value + advantage - advantage.mean(1, keepdim=True)
        return q.log_softmax(-1) if log else q.softmax(-1)

    def reset_noise(self):
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.reset_noise()

    @torch.no_grad()
    def act(self, state):
        dist = self(torch.from_numpy(state).unsqueeze(0))
        return int((dist * self.support).sum(-1).argmax(1))


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6, n_step=3, gamma=0.98):
        self.memory, self.priorities = deque(maxlen=capacity), deque(maxlen=capacity)
        self.alpha, self.n_step, self.gamma, self.window = alpha, n_step, gamma, deque(maxlen=n_step)

    def push(self, *args):
        self.window.append(Transition(*args))
        if len(self.window) == self.n_step or args[-1]:
            reward = sum(t.reward * self.gamma ** k for k, t in enumerate(self.window))
            first, last = self.window[0], self.window[-1]
            self.memory.append(Transition(first.state, first.action, reward, last.next_state, last.done))
            self.priorities.append(max(self.priorities, default=1.0))
        if args[-1]:
            self.window.clear()

    def sample(self, batch_size, beta):
        probabilities = torch.tensor(self.priorities, dtype=torch.float64).pow(self.alpha)
        probabilities /= probabilities.sum()
        indices = torch.multinomial(probabilities, batch_size, replacement=True)
        weights = (len(self.memory) * probabilities[indices]).pow(-beta)
        batch = Transition(*zip(*[self.memory[i] for i in indices.tolist()]))
        return (torch.as_tensor(np.stack(batch.state)), torch.LongTensor(batch.action), torch.FloatTensor(batch.reward),
                torch.from_numpy(np.array(batch.next_state)), torch.BoolTensor(batch.done), indices,
                (weights / weights.max()).float())

    def update(self, indices, priorities):
        for i, p in zip(indices.tolist(), priorities.tolist()):
            self.priorities[i] = p + 1e-4


def projection(target, online, next_state, rewards, dones, gamma):
    with torch.no_grad():
        support, atoms = target.support, target.num_atoms
        delta_z = (support[-1] - support[0]) / (atoms - 1)
        best = (online(next_state) * support).sum(2).max(1)[1]
        best = best.view(-1, 1, 1).expand(-1, 1, atoms)
        dist = target(next_state).gather(1, best).squeeze(1)
        tz = rewards.unsqueeze(1) + (~dones).unsqueeze(1) * gamma * support
        b = (tz.clamp(min=support[0].item(), max=support[-1].item()) - support[0]) / delta_z
        low, high = b.floor().long(), b.ceil().long()
        low[(high > 0) & (low == high)] -= 1
        high[(low < atoms - 1) & (low == high)] += 1
        offset = torch.arange(0, dist.numel(), atoms).unsqueeze(1).expand_as(low)
        proj = torch.zeros_like(dist)
        proj.view(-1).index_add_(0, (low + offset).view(-1), (dist * (high.float() - b)).view(-1))
        proj.view(-1).index_add_(0, (high + offset).view(-1), (dist * (b - low.float())).view(-1))
    return proj


def main():
    random.seed(0)
    torch.manual_seed(1)
    rng = random.Random(2)
    env, replay = Corridor(rng), PrioritizedReplay(500)
    online, target = (RainbowDQN(4, 3, 21, -1.0, 1.0) for _ in range(2))
    target.load_state_dict(online.state_dict())
    for p in target.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(online.parameters(), lr=5e-3, eps=1e-4, amsgrad=True)
    state, losses = env.reset(), []
    for frame in range(400):
        action = rng.randrange(3)  # so that what is learned from does not hang on the last bits of values
        next_state, reward, done = env.step(action)
        replay.push(state, action, reward, next_state, done)
        state = env.reset() if done else next_state
        if frame < 100 or frame % 4:
            continue
        s, a, r, s2, d, indices, weights = replay.sample(32, beta=min(1.0, 0.4 + frame / 400))
        proj = projection(target, online, s2, r, d, 0.98 ** 3)
        log_p = online(s, log=True).gather(1, a.view(-1, 1, 1).expand(-1, 1, online.num_atoms)).squeeze(1)
        per_sample = -(proj * log_p).sum(1)
        loss = (per_sample * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(online.parameters(), 0.5)
        optimizer.step()
        replay.update(indices, torch.ones_like(per_sample) + d.float())
        online.reset_noise()
        target.reset_noise()
        with torch.no_grad():
            for old, new in zip(target.parameters(), online.parameters()):
                old.lerp_(new, 0.1)
        losses.append(loss.item())
        if len(losses) % 25 == 0:
            print(f"frame {frame} loss {sum(losses[-25:]) / 25:.4f} value {(proj * target.support).sum(1).mean().item():.4f}")
    online.eval()
    values = (online(torch.from_numpy(np.stack([env.reset() for _ in range(2)]))) * online.support).sum(-1)
    print(f"values {' '.join(f'{v:.3f}' for v in values[0].tolist())}, {online.value[0]}")
    assert 0 <= online.act(env.reset()) < 3


if __name__ == "__main__":
    main()
