import torch
from stable_baselines3 import DQN, PPO, SAC

from .common import numbers


def small(algorithm, environment, **more):
    """An algorithm with small networks."""
    return algorithm("MlpPolicy", environment, seed=0, device="cpu", policy_kwargs={"net_arch": [16, 16]}, **more)


def forward(folder):
    model = small(PPO, "CartPole-v1")
    actions, values, log_prob = model.policy(torch.ones(2, 4), deterministic=True)
    return numbers(actions, values, log_prob)


def training(folder):
    ppo = small(PPO, "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2).learn(128)
    sac = small(SAC, "Pendulum-v1", learning_starts=20, batch_size=16).learn(40)
    return numbers(*list(ppo.policy.parameters())[:4], *list(sac.actor.parameters())[:4])


def saving(folder):
    small(DQN, "CartPole-v1", learning_starts=20, batch_size=16, train_freq=4).learn(60).save(f"{folder}/dqn")
    return numbers(*DQN.load(f"{folder}/dqn", device="cpu").q_net.parameters())
