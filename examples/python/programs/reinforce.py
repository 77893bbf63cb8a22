"""REINFORCE on a corridor: walk to the right end; rewards come at the end only."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical


class Corridor:
    def reset(self):
        self.at, self.steps = 0, 0
        return self.state()

    def state(self):
        return torch.tensor([self.at / 5.0, self.steps / 20.0])

    def step(self, action):
        self.at = max(0, self.at + (1 if action == 1 else -1))
        self.steps += 1
        done = self.at == 5 or self.steps == 20
        return self.state(), 1.0 if self.at == 5 else -0.05, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2), nn.Softmax(dim=-1))
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return self.net(x)


def select_action(policy, state):
    m = Categorical(policy(state.unsqueeze(0)))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = torch.cat([-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    policy.rewards.clear()
    return loss.item()


torch.manual_seed(8)
env, policy = Corridor(), Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(15):
    state, done, total = env.reset(), False, 0.0
    while not done:
        state, reward, done = env.step(select_action(policy, state))
        policy.rewards.append(reward)
        total += reward
    loss = finish_episode(policy, optimizer)
    if episode % 3 == 2:
        print(f"episode {episode} steps {env.steps} reward {total:.3f} loss {loss:.6f}")
