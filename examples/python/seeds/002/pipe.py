"""Multiple GPUs with PyTorch: a pipeline of two stages. It wants three devices, because the second rank uses 1 and 2."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim
from torch.distributed.pipeline.sync import Pipe


# Define a simple model with two stages
class Stage1(nn.Module):
    def __init__(self):
        super(Stage1, self).__init__()
        self.fc = nn.Linear(10, 10)

    def forward(self, x):
        return self.fc(x)


class Stage2(nn.Module):
    def __init__(self):
        super(Stage2, self).__init__()
        self.fc = nn.Linear(10, 10)

    def forward(self, x):
        return self.fc(x)


# Initialize the process group
def setup(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


# Clean up the process group
def cleanup():
    dist.destroy_process_group()


# Define the training loop
def train(rank, world_size):
    setup(rank, world_size)
    # Create the model stages and move them to the appropriate devices
    stage1 = Stage1().to(rank)
    stage2 = Stage2().to(rank + 1)
    # Create a pipeline model
    model = Pipe(torch.nn.Sequential(stage1, stage2), chunks=2)
    # Define the loss function and optimizer
    criterion = nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.001)
    # Create dummy input data
    input_data = torch.randn(32, 10).to(rank)
    target = torch.randn(32, 10).to(rank + 1)
    # Forward pass
    output = model(input_data)
    loss = criterion(output, target)
    # Backward pass and optimization
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank}: loss {loss.item():.4f}, gradients on {stage1.fc.weight.grad.device} and "
          f"{stage2.fc.weight.grad.device}", flush=True)
    cleanup()


if __name__ == "__main__":
    # Number of GPUs
    world_size = 2
    # Spawn the processes
    mp.spawn(train, args=(world_size,), nprocs=world_size, join=True)
