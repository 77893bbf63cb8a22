"""What the programs share: numbers to compare, data, and a loop of training."""

import torch


def numbers(*tensors, each=4):
    """The first few values of each tensor, and numbers as they are, as one list."""
    found = []
    for value in tensors:
        found += value.detach().double().flatten()[:each].tolist() if isinstance(value, torch.Tensor) else [float(value)]
    return found


def points(n=32, features=4, classes=3):
    """Random points and their classes."""
    return torch.randn(n, features), torch.randint(0, classes, (n,))


def small_net(features=4, classes=3):
    return torch.nn.Sequential(torch.nn.Linear(features, 16), torch.nn.Tanh(), torch.nn.Linear(16, classes))


def losses(parameters, loss_of, steps=5, lr=0.05, optimizer=torch.optim.Adam):
    """The loss of each step of an optimizer."""
    optimizer, found = optimizer(parameters, lr=lr), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def copied_by_file(module, other, folder):
    """`other` with the state of `module`, by way of a file."""
    torch.save(module.state_dict(), f"{folder}/state.pt")
    other.load_state_dict(torch.load(f"{folder}/state.pt"))
    return other.eval()
