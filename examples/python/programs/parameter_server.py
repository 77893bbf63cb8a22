"""A parameter server over RPC: the trainer keeps no weights of its own, gradients travel by distributed autograd."""

import os

import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp
import torch.nn as nn
from torch.distributed.optim import DistributedOptimizer


class Server(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(10)
        self.net = nn.Linear(4, 1)

    def forward(self, x):
        return self.net(x)

    def parameter_rrefs(self):
        return [rpc.RRef(p) for p in self.parameters()]


def call(method, rref, *args):
    return method(rref.local_value(), *args)


def remote(method, rref, *args):
    return rpc.rpc_sync(rref.owner(), call, args=(method, rref, *args))


def trainer():
    server = rpc.remote("server", Server)
    optimizer = DistributedOptimizer(torch.optim.SGD, remote(Server.parameter_rrefs, server), lr=0.1)
    torch.manual_seed(11)
    x = torch.randn(16, 4)
    y = x.sum(1, keepdim=True)
    for step in range(5):
        with dist_autograd.context() as context_id:
            loss = nn.functional.mse_loss(remote(Server.forward, server, x), y)
            dist_autograd.backward(context_id, [loss])
            optimizer.step(context_id)
        print(f"step {step} loss {loss.item():.6f}", flush=True)


def run(rank, world_size):
    rpc.init_rpc("server" if rank == 0 else "trainer", rank=rank, world_size=world_size)
    if rank == 1:
        trainer()
    rpc.shutdown()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29513")
    mp.spawn(run, args=(2,), nprocs=2, join=True)
