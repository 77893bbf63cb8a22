"""Multiple GPUs with PyTorch: DistributedDataParallel with spawn."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim


# Define a simple model
class SimpleModel(nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
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
    # Create the model and move it to the appropriate device
    model = SimpleModel().to(rank)
    ddp_model = nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    # Define the loss function and optimizer
    criterion = nn.MSELoss()
    optimizer = optim.SGD(ddp_model.parameters(), lr=0.001)
    # Create dummy input data
    input_data = torch.randn(32, 10).to(rank)
    target = torch.randn(32, 10).to(rank)
    # Forward pass
    output = ddp_model(input_data)
    loss = criterion(output, target)
    # Backward pass and optimization
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank} of {world_size}: loss {loss.item():.4f}, output on {output.device}", flush=True)
    cleanup()


if __name__ == "__main__":
    # Number of GPUs
    world_size = 2
    # Spawn the processes
    mp.spawn(train, args=(world_size,), nprocs=world_size, join=True)
