import gymnasium
import torch

from .common import copied_by_file, numbers, small_net


def episode(net, seed):
    """The log-probabilities and rewards of one run of a policy."""
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset(seed=seed)
    logs, rewards, done = [], [], False
    while not done and len(logs) < 40:
        chosen = torch.distributions.Categorical(logits=net(torch.from_numpy(state)))
        action = chosen.sample()
        state, reward, terminated, truncated, _ = env.step(action.item())
        logs.append(chosen.log_prob(action))
        rewards.append(reward)
        done = terminated or truncated
    return torch.stack(logs), torch.tensor(rewards)


def forward(folder):
    logs, rewards = episode(small_net(4, 2), 0)
    return numbers(logs, rewards.sum())


def training(folder):
    net, found = small_net(4, 2), []
    optimizer = torch.optim.RMSprop(net.parameters(), lr=0.01)
    for seed in range(4):
        logs, rewards = episode(net, seed)
        loss = -(logs * rewards.flip(0).cumsum(0).flip(0)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def saving(folder):
    net = copied_by_file(small_net(4, 2), small_net(4, 2), folder)
    return numbers(*episode(net, 1))
