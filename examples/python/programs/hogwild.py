"""Hogwild: processes that train one model in shared memory, without locks."""

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F


def train(rank, model):
    torch.manual_seed(100 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(40):
        x = torch.randn(16, 4)
        loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    model.share_memory()
    x = torch.randn(64, 4)
    before = F.mse_loss(model(x), x.sum(1, keepdim=True)).item()
    print(f"before {before:.6f}")
    processes = []
    for rank in range(2):
        p = mp.Process(target=train, args=(rank, model))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
    after = F.mse_loss(model(x), x.sum(1, keepdim=True)).item()
    print("trained", after < before / 3, "exit codes", [p.exitcode for p in processes])
